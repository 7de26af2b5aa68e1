"""UI messages to model messages, exactly as the SDK's `convertToModelMessages` gives them.

Works on plain JSON. A member that is absent here is undefined there; `None` is `null`. Values are
shared with the input, not copied. What the SDK stumbles over is a `ConversionError`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from msgspec import UNSET

from partita.errors import ConversionError
from partita.formats.ai_sdk.versions import check_version
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of

from .fields import Fields
from .parts import is_data, is_tool, no_part, part_type, present
from .rules import COMPLETE_STATES, RULES, Rules
from .tools import ModelTool, ToolCall, answers, said, tool_call
from .values import is_nullish, joined, spread

__all__ = ["ConvertDataPart", "ModelTool", "convert_to_model_messages"]

ConvertDataPart: TypeAlias = Callable[[JsonObject], JsonObject | None]
"""Gives the text or file part that a data part is to the model; `None` leaves it out."""


@dataclass(frozen=True, slots=True)
class _Conversion:
    rules: Rules
    tools: Mapping[str, ModelTool | None]
    ignore_incomplete: bool
    convert_data_part: ConvertDataPart | None
    last_user: int
    """Index of the last user message that supersedes earlier requests for approval; 0 if none does."""
    output: list[JsonObject] = field(default_factory=list[JsonObject])

    @property
    def filters(self) -> bool:
        """Whether some tool calls are left out before anything is converted."""
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
    """The model messages that the SDK of that version makes of UI messages."""
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
    """Whether an assistant message has no parts, and the SDK passes it over.

    Version 7 looks at all parts for a `rawInput` first, and breaks on a message without parts unless
    it found one before.
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
    """The assistant message of one step, and the tool message that answers it."""
    if not step:
        return
    content: list[JsonObject] = []
    calls: list[ToolCall] = []
    for part in step:
        type_ = part_type(part)
        if is_tool(type_):
            calls.append(tool_call(part, conversion.rules, conversion.tools))
            content.extend(said(calls[-1]))
        elif is_data(type_):
            content.extend(_convert_data(part, conversion))
        else:
            content.append(conversion.rules.assistant_parts[type_](part))
    if content or conversion.rules.empty_messages:
        conversion.emit("assistant", content)
    answered = [call for call in calls if call.answered]
    results = [result for call in answered for result in answers(call)]
    if results or (answered and conversion.rules.empty_messages):
        conversion.emit("tool", results)


def _convert_steering(part: Fields, conversion: _Conversion) -> JsonObject:
    # whatever is not text is taken for a file
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
