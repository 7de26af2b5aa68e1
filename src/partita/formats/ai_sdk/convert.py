"""UI messages → model messages, exactly as the SDK's `convertToModelMessages` converts them.

It works on plain JSON. A member that is absent here is undefined there; `None` is `null`. Values are shared
with the input, not copied. What the SDK fails on is a `ConversionError`.

Source: https://github.com/vercel/ai/blob/main/packages/ai/src/ui/convert-to-model-messages.ts
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from msgspec import UNSET

from partita.errors import ConversionError
from partita.stream.targets import DENIED
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of

from .javascript import Fields, address, is_nullish, joined, json_text, spread, text_of
from .versions import check_version

# Parts that become one part each

Converter: TypeAlias = Callable[[Fields], JsonObject]


def present(**members: Json) -> JsonObject:
    """Return an object of the members that are not absent."""
    return {key: value for key, value in members.items() if value is not UNSET}


def part_type(part: Fields) -> str:
    """Return the type of a part, which must be a string."""
    value = part.get("type")
    if not isinstance(value, str):
        raise no_part(part)
    return value


def no_part(part: Fields) -> ConversionError:
    """Return the error for a value that is not a part."""
    if not is_object(part.value):
        what = f"{kind_of(part.value)} instead of a part"
    elif "type" in part.value:
        what = f"a part whose type is {kind_of(part.value['type'])}"
    else:
        what = "a part without type"
    return ConversionError(what, where=part.where, hint="validate the messages first")


def is_tool(type_: str) -> bool:
    """Whether parts of this type are tool calls."""
    return type_ == "dynamic-tool" or type_.startswith("tool-")


def is_data(type_: str) -> bool:
    """Whether parts of this type are data of the application."""
    return type_.startswith("data-")


def text(part: Fields) -> JsonObject:
    """Convert a text."""
    return present(type="text", text=part.get("text"), providerOptions=part.first("providerMetadata"))


def reasoning(part: Fields) -> JsonObject:
    """Convert reasoning of the model."""
    return present(type="reasoning", text=part.get("text"), providerOptions=part.get("providerMetadata"))


def custom(part: Fields) -> JsonObject:
    """Convert content that only one provider knows."""
    return present(type="custom", kind=part.get("kind"), providerOptions=part.first("providerMetadata"))


def bare_file(part: Fields) -> JsonObject:
    """Convert a file by its URL, without provider options."""
    return present(
        type="file", mediaType=part.get("mediaType"), filename=part.get("filename"), data=part.get("url")
    )


def plain_file(part: Fields) -> JsonObject:
    """Convert a file by its URL."""
    return bare_file(part) | present(providerOptions=part.first("providerMetadata"))


def tagged_file(part: Fields) -> JsonObject:
    """Convert a file by the provider's reference to it, or by its normalized URL."""
    return present(
        type="file",
        mediaType=part.get("mediaType"),
        filename=part.get("filename"),
        data=_file_data(part),
        providerOptions=part.first("providerMetadata"),
    )


def reasoning_file(part: Fields) -> JsonObject:
    """Convert a file that the model generated while reasoning."""
    return present(
        type="reasoning-file",
        mediaType=part.get("mediaType"),
        data=_address_data(part),
        providerOptions=part.get("providerMetadata"),
    )


def _file_data(part: Fields) -> JsonObject:
    if is_nullish(part.get("providerReference")):
        return _address_data(part)
    return {"type": "reference", "reference": part.get("providerReference")}


def _address_data(part: Fields) -> JsonObject:
    return {"type": "url", "url": address(part.get("url"), f"{part.where}.url")}


# The differences of versions 5.0.277, 6.0.326 and 7.0.169 of the SDK

COMPLETE_STATES: Final = frozenset(
    {"approval-responded", "output-available", "output-error", "output-denied"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of one version."""

    version: int
    user_parts: Mapping[str, Converter]
    assistant_parts: Mapping[str, Converter]
    incomplete_states: frozenset[str] | None
    """The states of incomplete calls; `None`: all that are not in `COMPLETE_STATES`."""
    empty_messages: bool
    """Whether a step without content becomes messages without content."""
    dynamic_is_static: bool
    """Whether dynamic tools are converted like static ones, also if the provider ran them."""
    result_options: bool
    """Whether `resultProviderMetadata` is used."""
    approvals: bool
    """Whether approval requests and the responses to them are sent."""
    automatic_approvals: bool
    """Whether a request has its reason, and whether a policy responds to it."""
    refusal_results: bool
    """Whether a call that was denied before it ran gets a result that states this."""
    user_supersedes: bool
    """Whether an approval request is dropped if a later user message ignored it."""
    steering: bool
    """Whether user messages may be between the steps of an assistant message."""
    needs_parts: bool
    """Whether an assistant message without parts is an error."""


_5: Final = Rules(
    version=5,
    user_parts={"text": text, "file": plain_file},
    assistant_parts={"text": text, "reasoning": reasoning, "file": bare_file},
    incomplete_states=frozenset({"input-streaming", "input-available"}),
    empty_messages=True,
    dynamic_is_static=False,
    result_options=False,
    approvals=False,
    automatic_approvals=False,
    refusal_results=False,
    user_supersedes=False,
    steering=False,
    needs_parts=False,
)
_6: Final = replace(
    _5,
    version=6,
    assistant_parts={"text": text, "reasoning": reasoning, "file": plain_file},
    incomplete_states=None,
    empty_messages=False,
    dynamic_is_static=True,
    result_options=True,
    approvals=True,
)
_7: Final = replace(
    _6,
    version=7,
    user_parts={"text": text, "file": tagged_file},
    assistant_parts={
        "text": text,
        "reasoning": reasoning,
        "file": tagged_file,
        "reasoning-file": reasoning_file,
        "custom": custom,
    },
    automatic_approvals=True,
    refusal_results=True,
    user_supersedes=True,
    steering=True,
    needs_parts=True,
)
RULES: Final[Mapping[int, Rules]] = {5: _5, 6: _6, 7: _7}


# Tool parts, which become several parts of the assistant and of the tool

OMITTED: Final = "Tool output omitted because the tool is no longer available."
UNKNOWN_ERROR: Final = "unknown error"


@dataclass(frozen=True, slots=True)
class ModelTool:
    """A tool, and how its output is shown to the model. `None`: unchanged.

    `to_model_output(tool_call_id, input, output)` returns the output of a tool result, such as `{"type":
    "text", "value": "done"}`. An absent value is `None`.
    """

    to_model_output: Callable[[Json, Json, Json], JsonObject] | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool part that is being converted."""

    part: Fields
    rules: Rules
    tools: Mapping[str, ModelTool | None]
    state: Json
    dynamic: bool  # the tool is named in a member, not in the type
    like_static: bool
    provider_executed: bool
    approval: Fields | None
    approved: Json

    @property
    def in_tool_message(self) -> bool:
        """Whether the call may have blocks in the tool message."""
        return not self.provider_executed or not is_nullish(self.approved)

    @property
    def name(self) -> Json:
        """The name of the tool."""
        if self.dynamic:
            return self.part.get("toolName")
        return self.part.get("type").partition("-")[2]


def tool_call(part: Fields, rules: Rules, tools: Mapping[str, ModelTool | None]) -> ToolCall:
    """Read a tool part for conversion."""
    dynamic = bool(part.get("type") == "dynamic-tool")
    like_static = rules.dynamic_is_static or not dynamic
    approval = part.inside("approval") if rules.approvals and not is_nullish(part.get("approval")) else None
    return ToolCall(
        part,
        rules,
        tools,
        state=part.get("state"),
        dynamic=dynamic,
        like_static=like_static,
        provider_executed=like_static and part.get("providerExecuted") is True,
        approval=approval,
        approved=UNSET if approval is None else approval.get("approved"),
    )


def assistant_blocks(call: ToolCall) -> list[JsonObject]:
    """Return the blocks of a tool part in the assistant message."""
    if call.state == "input-streaming":
        return []
    found = [_call(call)]
    if call.approval is not None:
        found.append(_request(call))
    if call.provider_executed and call.state == "output-available":
        found.append(_own_result(call, _shown_output(call)))
    if call.provider_executed and call.state == "output-error":
        found.append(_own_result(call, {"type": "error-json", "value": _or_null(call.part.get("errorText"))}))
    return found


def tool_blocks(call: ToolCall) -> list[JsonObject]:
    """Return the blocks of a tool part in the tool message after it."""
    found: list[JsonObject] = []
    if not is_nullish(call.approved):
        found.append(_response(call))
    if call.rules.refusal_results and call.state == "approval-responded" and call.approved is False:
        found.append(_refusal(call))
    if call.provider_executed:
        return found
    if call.state == "output-denied" and call.rules.approvals:
        found.append(_denial(call))
    elif call.state == "output-available":
        found.append(_result(call, _shown_output(call)))
    elif call.state == "output-error":
        found.append(_error(call))
    return found


def _call(call: ToolCall) -> JsonObject:
    part = call.part
    failed = call.state == "output-error"
    from_result = ("resultProviderMetadata",) if call.rules.result_options and failed else ()
    return present(
        type="tool-call",
        toolCallId=part.get("toolCallId"),
        toolName=call.name,
        input=_failed_input(part) if failed and call.like_static else part.get("input"),
        providerExecuted=part.get("providerExecuted") if call.like_static else UNSET,
        providerOptions=part.first("callProviderMetadata", *from_result),
    )


def _failed_input(part: Fields) -> Json:
    return part.get("rawInput") if is_nullish(part.get("input")) else part.get("input")


def _request(call: ToolCall) -> JsonObject:
    approval = call.part.inside("approval")
    extras = (
        present(isAutomatic=approval.get("isAutomatic"), reason=approval.first("requestReason"))
        if call.rules.automatic_approvals
        else {}
    )
    return extras | present(
        type="tool-approval-request",
        approvalId=approval.get("id"),
        toolCallId=call.part.get("toolCallId"),
        inputSchemaInput=approval.get("inputSchemaInput"),
        signature=approval.first("signature"),
    )


def _response(call: ToolCall) -> JsonObject:
    approval = call.part.inside("approval")
    return present(
        type="tool-approval-response",
        approvalId=approval.get("id"),
        approved=approval.get("approved"),
        reason=approval.get("reason"),
        providerExecuted=call.part.get("providerExecuted"),
    )


def _refusal(call: ToolCall) -> JsonObject:
    reason = call.part.inside("approval").get("reason")
    return _result(call, present(type="execution-denied", reason=reason))


def _denial(call: ToolCall) -> JsonObject:
    reason = UNSET if call.approval is None else call.approval.first("reason")
    return _result(call, {"type": "error-text", "value": DENIED if reason is UNSET else reason})


def _error(call: ToolCall) -> JsonObject:
    error = call.part.first("errorText")
    if error is UNSET:
        error = UNKNOWN_ERROR
    value = error if isinstance(error, str) else json_text(error)
    return _result(call, {"type": "error-text", "value": value})


def _shown_output(call: ToolCall) -> JsonObject:
    part = call.part
    name = text_of(part.get("toolName") if call.dynamic else call.name)
    if name not in call.tools and call.dynamic and part.get("dynamic") is False:
        return {"type": "text", "value": OMITTED}
    tool = call.tools.get(name)
    if tool is not None and tool.to_model_output is not None:
        return tool.to_model_output(
            _or_null(part.get("toolCallId")), _or_null(part.get("input")), _or_null(part.get("output"))
        )
    output = part.get("output")
    return {"type": "text" if isinstance(output, str) else "json", "value": _or_null(output)}


def _result(call: ToolCall, output: JsonObject, *options: str) -> JsonObject:
    return present(
        type="tool-result",
        toolCallId=call.part.get("toolCallId"),
        toolName=call.name,
        output=output,
        providerOptions=call.part.first(*options, "callProviderMetadata"),
    )


def _own_result(call: ToolCall, output: JsonObject) -> JsonObject:
    return _result(call, output, *(("resultProviderMetadata",) if call.rules.result_options else ()))


def _or_null(value: Json) -> Json:
    return None if value is UNSET else value


# Messages

ConvertDataPart: TypeAlias = Callable[[JsonObject], JsonObject | None]
"""Returns the text or file part for a data part; `None` leaves it out."""


@dataclass(frozen=True, slots=True)
class _Conversion:
    rules: Rules
    tools: Mapping[str, ModelTool | None]
    ignore_incomplete: bool
    convert_data_part: ConvertDataPart | None
    last_user: int
    """The index of the last user message, before which approval requests are dropped; 0 if none are."""
    output: list[JsonObject] = field(default_factory=list[JsonObject])

    @property
    def filters(self) -> bool:
        """Whether some tool calls are left out before the conversion."""
        return self.ignore_incomplete or self.last_user > 0

    def emit(self, role: str, content: Json, **members: Json) -> None:
        self.output.append(present(role=role, content=content, **members))


def convert_to_model_messages(
    messages: Sequence[JsonObject],
    *,
    version: int = 7,
    tools: Mapping[str, ModelTool | None] | None = None,
    ignore_incomplete_tool_calls: bool = False,
    convert_data_part: ConvertDataPart | None = None,
) -> list[JsonObject]:
    """Convert UI messages as the SDK of that version does."""
    sources = _sources(messages)
    conversion = _conversion(sources, version, tools, ignore_incomplete_tool_calls, convert_data_part)
    return _convert(sources, conversion)


def _sources(messages: Sequence[JsonObject]) -> list[Fields]:
    if not isinstance(messages, (list, tuple)):
        raise ConversionError(f"messages is {kind_of(messages)}", where="messages", hint="give a list")
    return [Fields(message, f"messages[{index}]") for index, message in enumerate(messages)]


def _conversion(
    sources: Sequence[Fields],
    version: int,
    tools: Mapping[str, ModelTool | None] | None,
    ignore_incomplete: bool,
    convert_data_part: ConvertDataPart | None,
) -> _Conversion:
    rules = RULES[check_version(version)]
    users = (index for index, message in enumerate(sources) if message.get("role") == "user")
    last_user = max(users, default=0) if rules.user_supersedes else 0
    return _Conversion(rules, tools or {}, ignore_incomplete, convert_data_part, last_user)


def _convert(sources: Sequence[Fields], conversion: _Conversion) -> list[JsonObject]:
    for index, message in enumerate(sources):
        role = message.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            raise ConversionError(
                f"no such role: {role!r}" if isinstance(role, str) else "no message with a role",
                where=message.where,
                hint="use system, user or assistant",
            )
        if conversion.filters:
            parts = _complete_parts(message, index, conversion)
        elif role == "assistant" and _may_lack_parts(sources, index, conversion):
            parts = []
        else:
            parts = message.items("parts")
        _ROLES[role](message, parts, conversion)
    return conversion.output


def _may_lack_parts(sources: Sequence[Fields], index: int, conversion: _Conversion) -> bool:
    """Whether an assistant message has no parts, and the SDK skips it.

    Version 7 first searches all parts for a `rawInput`, and fails at a message without parts unless it has
    found one before.
    """
    parts = sources[index].get("parts")
    if not is_nullish(parts) and parts != "":
        return False
    return not conversion.rules.needs_parts or any(_has_raw_input(message) for message in sources[:index])


def _has_raw_input(message: Fields) -> bool:
    parts = message.get("parts")
    return is_array(parts) and any(
        is_object(part)
        and isinstance(part.get("type"), str)
        and is_tool(part["type"])
        and part.get("state") == "output-error"
        and "rawInput" in part
        for part in parts
    )


def _complete_parts(message: Fields, index: int, conversion: _Conversion) -> list[Fields]:
    kept: list[Fields] = []
    for part in message.items("parts"):
        state = part.get("state")
        is_call = is_tool(part_type(part))
        is_superseded = index < conversion.last_user and state == "approval-requested"
        is_ignored = conversion.ignore_incomplete and _is_incomplete(part, state, conversion.rules)
        if not is_call or not (is_superseded or is_ignored):
            kept.append(part)
    return kept


def _is_incomplete(part: Fields, state: Json, rules: Rules) -> bool:
    if state == "output-available" and part.get("preliminary") is True:
        return True
    if rules.incomplete_states is not None:
        return state in tuple(rules.incomplete_states)
    return state not in tuple(COMPLETE_STATES)


def _convert_system(message: Fields, parts: Sequence[Fields], conversion: _Conversion) -> None:
    texts: list[Json] = []
    options: JsonObject = {}
    for part in parts:
        if part.value is None:
            raise no_part(part)
        if part.get("type") == "text":
            texts.append(part.get("text"))
            options |= spread(part.get("providerMetadata"))
    conversion.emit("system", joined(texts, ""), providerOptions=options or UNSET)


def _convert_user(message: Fields, parts: Sequence[Fields], conversion: _Conversion) -> None:
    content: list[JsonObject] = []
    for part in parts:
        type_ = part_type(part)
        if type_ in conversion.rules.user_parts:
            content.append(conversion.rules.user_parts[type_](part))
        elif is_data(type_):
            content.extend(_convert_data(part, conversion))
    conversion.emit("user", content)


def _convert_assistant(message: Fields, parts: Sequence[Fields], conversion: _Conversion) -> None:
    step: list[Fields] = []
    for part in parts:
        type_ = part_type(part)
        if type_ in conversion.rules.assistant_parts or is_tool(type_) or is_data(type_):
            step.append(part)
        elif type_ == "step-start":
            _convert_step(step, conversion)
            step = []
        elif type_ == "steering-message" and conversion.rules.steering:
            _convert_step(step, conversion)
            step = []
            conversion.emit("user", [_convert_steering(item, conversion) for item in part.items("parts")])
    _convert_step(step, conversion)


def _convert_step(step: Sequence[Fields], conversion: _Conversion) -> None:
    """Emit the assistant message of a step, and the tool message after it."""
    if not step:
        return
    content: list[JsonObject] = []
    calls: list[ToolCall] = []
    for part in step:
        type_ = part_type(part)
        if is_tool(type_):
            calls.append(tool_call(part, conversion.rules, conversion.tools))
            content.extend(assistant_blocks(calls[-1]))
        elif is_data(type_):
            content.extend(_convert_data(part, conversion))
        else:
            content.append(conversion.rules.assistant_parts[type_](part))
    if content or conversion.rules.empty_messages:
        conversion.emit("assistant", content)
    tool_calls = [call for call in calls if call.in_tool_message]
    results = [result for call in tool_calls for result in tool_blocks(call)]
    if results or (tool_calls and conversion.rules.empty_messages):
        conversion.emit("tool", results)


def _convert_steering(part: Fields, conversion: _Conversion) -> JsonObject:
    # anything that is not text is treated as a file
    return conversion.rules.user_parts["text" if part.get("type") == "text" else "file"](part)


def _convert_data(part: Fields, conversion: _Conversion) -> list[JsonObject]:
    if conversion.convert_data_part is None:
        return []
    converted = conversion.convert_data_part(part.value)
    return [] if converted is None else [converted]


_ROLES: Final[dict[str, Callable[[Fields, Sequence[Fields], _Conversion], None]]] = {
    "system": _convert_system,
    "user": _convert_user,
    "assistant": _convert_assistant,
}
