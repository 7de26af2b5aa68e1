"""Items that are calls, and items that are outputs of calls ↔ calls and results.

They need a module of their own because each built-in tool has its own item. Inputs and outputs have the shape
that the AI SDK gives them; a call that the client runs has its notes in `callProviderMetadata`, a call that
the provider ran and that holds its output in `resultProviderMetadata`. A call whose output is another item
has both.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.members import inverse, renamed, text_in, without
from partita.formats.core.metadata import RAW_INPUT, notes
from partita.formats.core.rules import Alphabet
from partita.formats.core.tool_text import (
    Outcome,
    as_text,
    bad_input_text,
    parse_input,
    read_tool_text,
    write_tool_text,
)
from partita.formats.core.wire import Wire, to_json
from partita.stream.partial_json import parse_partial_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, kind_of
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    Approval,
    ContentOutput,
    ErrorTextOutput,
    JsonOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
)
from partita.types.tool_results import state_after

from . import wire
from .parts import INPUT
from .wire import NAMESPACE

# "string too long. Expected a string with maximum length 64" for ids, and for names
# "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'" (seen in the API's error messages)
LONGEST: Final = 64
CALL_ID: Final = Alphabet(re.compile(r"(?!)"), LONGEST)
TOOL_NAME: Final = Alphabet(re.compile(r"[^A-Za-z0-9_-]"), LONGEST)

# "Expected an ID that begins with 'msg'" (seen in the API's error messages): other ids are those of other
# servers, and are not sent.
PREFIXES: Final[Mapping[str, str]] = {"message": "msg_", "function_call": "fc_", "custom_tool_call": "ct"}

# Members that have another name in the AI SDK
_CALLER: Final = {"caller_id": "callerId"}
_OUTCOME: Final = {"exit_code": "exitCode"}
_RESULT: Final = {"file_id": "fileId"}
_ACTIONS: Final = {"open_page": "openPage", "find_in_page": "findInPage"}


def item_id(kind: str, own: JsonObject) -> str | UnsetType:
    """The id of an item, if the API accepts it."""
    name = text_in(own, "itemId")
    return name if name and name.startswith(PREFIXES.get(kind, "")) and len(name) <= LONGEST else UNSET


# Inputs


def parse_arguments(arguments: Json) -> Json:
    """The value of arguments. Text that is not JSON stays text."""
    if not isinstance(arguments, str):
        return {} if _is_absent(arguments) else arguments
    try:
        return parse_input(arguments)
    except DecodeError:
        return arguments


def _is_absent(value: Any) -> bool:
    return value is None or value is UNSET


def _json(value: Any) -> Json:
    return None if value is UNSET else value


def text_of_input(call: ToolCallPart, own: JsonObject) -> str:
    """The input of a call as the model wrote it, unless it was edited since."""
    text = own.get(RAW_INPUT)
    if isinstance(text, str) and text and parse_arguments(text) == call.input:
        return text
    bad = call.raw_input if call.input is UNSET or call.state == "input-streaming" else call.input
    if isinstance(bad, str) and (call.state in ("output-error", "input-streaming") or call.input is UNSET):
        return bad  # an input that is not JSON is kept as text
    return "{}" if call.input is UNSET else dumps(call.input).decode()


class _Kind(NamedTuple):
    """A kind of item that is a call."""

    type: Callable[..., Wire]
    name: str | None
    """The name of the tool; `None` if the item has it."""
    read: Callable[[Any], Json]
    """The input."""
    write: Callable[[ToolCallPart, JsonObject, JsonObject], JsonObject]
    """The members of the item that the call, its notes and its output determine."""


def _arguments(item: Any) -> Json:
    return parse_arguments(item.arguments)


def _no_input(item: Any) -> Json:
    return {}


def _action(item: Any) -> Json:
    return next((one for one in (item.action, item.actions) if not _is_absent(one)), {})


def _call_id(call: ToolCallPart) -> JsonObject:
    """The id of a call. A call that had none was given the id of its item."""
    item = text_in(notes(call.call_provider_metadata, NAMESPACE), "itemId")
    return {} if call.id == item else {"call_id": CALL_ID.fit(call.id)}


def _name(call: ToolCallPart) -> JsonObject:
    return {"name": TOOL_NAME.fit(call.name)}


def _scope(own: JsonObject) -> JsonObject:
    """Where a tool is declared, and the program that called it."""
    caller = renamed(own.get("caller"), inverse(_CALLER))
    return {"namespace": text_in(own, "namespace") or UNSET, "caller": caller or UNSET}


def _some(output: JsonObject, name: str) -> JsonObject:
    return {name: output[name]} if output.get(name) is not None else {}


def _write_function(call: ToolCallPart, own: JsonObject, output: JsonObject) -> JsonObject:
    id_ = {"call_id": CALL_ID.fit(call.id)}
    return {**id_, **_name(call), "arguments": text_of_input(call, own), **_scope(own)}


def _write_custom(call: ToolCallPart, own: JsonObject, output: JsonObject) -> JsonObject:
    text = call.input if isinstance(call.input, str) else text_of_input(call, own)
    return {"call_id": CALL_ID.fit(call.id), **_name(call), "input": text, **_scope(own)}


def _input_in(name: str, **more: Json) -> Callable[[ToolCallPart, JsonObject, JsonObject], JsonObject]:
    """A function that writes the input as a member of that name, and other members."""
    return lambda call, own, output: {"call_id": CALL_ID.fit(call.id), name: _json(call.input), **more}


def _write_computer(call: ToolCallPart, own: JsonObject, output: JsonObject) -> JsonObject:
    return _input_in("action" if is_object(call.input) else "actions")(call, own, output)


def _write_tool_search(call: ToolCallPart, own: JsonObject, output: JsonObject) -> JsonObject:
    return {**_call_id(call), "arguments": _json(call.input)}


def _write_program(call: ToolCallPart, own: JsonObject, output: JsonObject) -> JsonObject:
    given = call.input if is_object(call.input) else {}
    return {**_call_id(call), **_some(given, "code"), **_some(given, "fingerprint")}


def _write_mcp(call: ToolCallPart, own: JsonObject, output: JsonObject) -> JsonObject:
    request_notes = notes(call.call_provider_metadata, NAMESPACE)
    arguments = text_of_input(call, request_notes if RAW_INPUT in request_notes else own)
    return {"name": call.name, "arguments": arguments, **_some(output, "output")}


def _write_file_search(call: ToolCallPart, own: JsonObject, output: JsonObject) -> JsonObject:
    found = output.get("results")
    results = [renamed(one, inverse(_RESULT)) for one in found] if is_array(found) else UNSET
    return {**_some(output, "queries"), "results": results}


def _write_code(call: ToolCallPart, own: JsonObject, output: JsonObject) -> JsonObject:
    given = call.input if is_object(call.input) else {}
    about = {"code": given.get("code"), "container_id": given.get("containerId")}
    return {**about, **_some(output, "outputs")}


CALLS: Final[Mapping[str, _Kind]] = {
    "function_call": _Kind(wire.FunctionCall, None, _arguments, _write_function),
    "custom_tool_call": _Kind(wire.CustomToolCall, None, lambda item: _json(item.input), _write_custom),
    # The status is required: https://platform.openai.com/docs/guides/tools-apply-patch
    "apply_patch_call": _Kind(
        wire.ApplyPatchCall,
        "apply_patch",
        lambda item: item.operation,
        _input_in("operation", status="completed"),
    ),
    "local_shell_call": _Kind(
        wire.LocalShellCall, "local_shell", lambda item: item.action, _input_in("action")
    ),
    "shell_call": _Kind(wire.ShellCall, "shell", lambda item: item.action, _input_in("action")),
    "computer_call": _Kind(wire.ComputerCall, "computer", _action, _write_computer),
    "tool_search_call": _Kind(wire.ToolSearchCall, "tool_search", _arguments, _write_tool_search),
    "program": _Kind(
        wire.Program,
        "programmatic_tool_calling",
        lambda item: {"code": _json(item.code), "fingerprint": _json(item.fingerprint)},
        _write_program,
    ),
    "mcp_approval_request": _Kind(wire.McpApprovalRequest, None, _arguments, _write_mcp),
    "mcp_call": _Kind(wire.McpCall, None, _arguments, _write_mcp),
    # The item is in the notes as it came: the output has the action under other names
    "web_search_call": _Kind(wire.WebSearchCall, "web_search", _arguments, lambda call, own, output: {}),
    "file_search_call": _Kind(wire.FileSearchCall, "file_search", _no_input, _write_file_search),
    "code_interpreter_call": _Kind(
        wire.CodeInterpreterCall,
        "code_interpreter",
        lambda item: {"containerId": _json(item.container_id), "code": _json(item.code)},
        _write_code,
    ),
    "image_generation_call": _Kind(
        wire.ImageGenerationCall,
        "image_generation",
        _no_input,
        lambda call, own, output: _some(output, "result"),
    ),
}
"""Calls by the type of their item."""

DYNAMIC: Final = ("mcp_call", "mcp_approval_request")
"""Calls of tools that no request declares by name."""

TEXTUAL: Final = ("function_call", "custom_tool_call")
"""Calls whose input the model writes as text."""


def kind_of_item(item: Wire | JsonObject) -> str:
    """The type of an item, which is a wire value or JSON."""
    return str(item.__struct_config__.tag) if isinstance(item, Wire) else text_in(item, "type")


def runs_at_provider(kind: str, item: JsonObject) -> bool:
    """Whether the provider runs a call. A shell and a search for tools may be on either side."""
    match kind:
        case "function_call" | "custom_tool_call" | "apply_patch_call" | "local_shell_call" | "computer_call":
            return False
        case "tool_search_call":
            return item.get("execution") != "client"
        case "shell_call":
            environment = item.get("environment")
            return is_object(environment) and text_in(environment, "type").startswith("container")
        case _:
            return True


def read_call(item: Any, client_tools: frozenset[str] | None = None) -> ToolCallPart | None:
    """The call of an item; `None` if it has no id. `client_tools`: the tools that the client declared."""
    kind = kind_of_item(item)
    name = CALLS[kind].name or item.name
    id_ = item.call_id or item.id
    if not isinstance(id_, str) or not id_:
        return None
    if kind in TEXTUAL:
        is_provider = kind == "custom_tool_call" and client_tools is not None and name not in client_tools
        return _read_textual(item, kind, id_, is_provider=is_provider)
    about = {"type": kind, **({"itemId": item.id} if item.id else {})}
    is_provider = runs_at_provider(kind, _environment(item))
    call = ToolCallPart(
        id_,
        name,
        "input-available",
        CALLS[kind].read(item),
        dynamic=kind in DYNAMIC,
        provider_executed=True if is_provider else None,
    )
    if kind not in OUTCOMES:
        if kind == "mcp_approval_request":
            approval_id = item.extra.get("approval_request_id") if item.extra else None
            about |= _spelling(item)
            approval = Approval(id=approval_id if isinstance(approval_id, str) and approval_id else id_)
            call = replace(call, state="approval-requested", approval=approval)
        return replace(call, call_provider_metadata={NAMESPACE: about})
    output = provider_output(kind, to_json(item))
    spelling = _spelling(item) if kind == "mcp_call" else {}
    return replace(
        call,
        state=state_after(output),
        output=output,
        call_provider_metadata={NAMESPACE: spelling} if spelling else None,
        result_provider_metadata={NAMESPACE: about},
    )


def _environment(item: Any) -> JsonObject:
    return {name: getattr(item, name, None) for name in ("execution", "environment")}


def _spelling(item: Any) -> JsonObject:
    """The note of arguments that are JSON in another spelling than ours."""
    text = item.arguments
    if not isinstance(text, str):
        return {}
    try:
        return {} if dumps(parse_input(text)).decode() == text else {RAW_INPUT: text}
    except DecodeError:
        return {}


def _read_textual(item: Any, kind: str, id_: str, *, is_provider: bool) -> ToolCallPart:
    """A call of a function or a custom tool. What was cut while it was written is incomplete."""
    own: JsonObject = {"itemId": item.id} if item.id else {}
    if kind != "function_call":
        own["type"] = kind
    own |= {"namespace": item.namespace} if item.namespace else {}
    own |= {"caller": renamed(item.caller, _CALLER)} if item.caller else {}
    text = item.arguments if kind == "function_call" else item.input
    fields: JsonObject = {"state": "input-available", "input": {} if _is_absent(text) else text}
    is_cut = item.status == "incomplete" and isinstance(text, str)
    if kind != "function_call":
        if is_cut:
            fields |= {"state": "input-streaming", "raw_input": text, "input_encoding": "text"}
    elif isinstance(text, str):
        try:
            fields["input"] = parse_input(text)
            own |= _spelling(item)
        except DecodeError as error:
            if is_cut:
                partial = parse_partial_json(text)
                fields |= {"state": "input-streaming", "raw_input": text, "input": partial.value}
            else:
                fields |= {"state": "output-error", "input": text, "output": bad_input(error)}
    metadata: JsonObject | None = {NAMESPACE: own} if own else None
    return ToolCallPart(
        id_,
        item.name,
        provider_executed=True if is_provider else None,
        call_provider_metadata=metadata,
        **fields,
    )


def bad_input(error: DecodeError) -> ToolOutput:
    """The output of a call whose input is not JSON."""
    return ErrorTextOutput(bad_input_text(error))


def write_call(call: ToolCallPart, own: JsonObject) -> Wire:
    """The item of a call, given its notes. A call without the type of its item is a call of a function."""
    kind = text_in(own, "type")
    kind = kind if kind in CALLS else "function_call"
    value = call.output.value if isinstance(call.output, JsonOutput) else None
    entry = CALLS[kind]
    members = entry.write(call, own, value if is_object(value) else {})
    item: Wire = entry.type(id=item_id(kind, own), **members)
    return item


# Outputs of the provider's tools


def _web_search(item: JsonObject) -> Json:
    action, results = item.get("action"), item.get("results")
    found: JsonObject = {"results": results} if is_array(results) and results else {}
    if not is_object(action):
        return found
    shown = without(action, "sources")
    kind = text_in(action, "type")
    sources = {"sources": action["sources"]} if action.get("sources") is not None else {}
    return {"action": {**shown, "type": _ACTIONS.get(kind, kind)}, **sources, **found}


def _file_search(item: JsonObject) -> Json:
    found = item.get("results")
    results = [renamed(one, _RESULT) for one in found if is_object(one)] if is_array(found) else None
    return {"queries": item.get("queries"), "results": results}


def _mcp(item: JsonObject) -> Json:
    about = {
        "type": "call",
        "serverLabel": item.get("server_label"),
        "name": item.get("name"),
        "arguments": item.get("arguments"),
    }
    return about if item.get("output") is None else {**about, "output": item["output"]}


def _shell(item: JsonObject) -> Json:
    found = item.get("output")
    outputs = [one for one in found if is_object(one)] if is_array(found) else []
    return {"output": [_shell_output(one, _OUTCOME) for one in outputs]}


def _shell_output(output: JsonObject, names: Mapping[str, str]) -> JsonObject:
    outcome = output.get("outcome")
    return {**output, "outcome": renamed(outcome, names)} if is_object(outcome) else output


def _program(item: JsonObject) -> Json:
    found = {"result": item.get("result"), "status": item.get("status")}
    return {name: value for name, value in found.items() if value not in (None, "", [], {})}


class _Outcome(NamedTuple):
    """The output in an item, and the members of the item that it comes from."""

    read: Callable[[JsonObject], Json]
    members: tuple[str, ...] = ()


OUTCOMES: Final[Mapping[str, _Outcome]] = {
    "web_search_call": _Outcome(_web_search),
    "file_search_call": _Outcome(_file_search, ("queries", "results")),
    "code_interpreter_call": _Outcome(lambda item: {"outputs": item.get("outputs")}, ("outputs",)),
    "image_generation_call": _Outcome(lambda item: {"result": item.get("result")}, ("result",)),
    "mcp_call": _Outcome(_mcp, ("output",)),
    "shell_call_output": _Outcome(_shell, ("output",)),
    "tool_search_output": _Outcome(lambda item: {"tools": item.get("tools")}, ("tools",)),
    "program_output": _Outcome(_program, ("result", "status")),
}
"""Outputs of the provider's tools, by the type of the item that has them."""

BEHIND: Final[Mapping[str, str]] = {
    "shell_call_output": "shell_call",
    "tool_search_output": "tool_search_call",
    "program_output": "program",
}
"""Outputs of the provider that are items of their own, and the type of their calls."""


def provider_output(kind: str, item: JsonObject) -> ToolOutput:
    """The output that a tool of the provider returned."""
    error, status = item.get("error"), item.get("status")
    entry = OUTCOMES[kind]
    # Some servers do not update the status although the output is there (seen in recordings)
    is_done = status in (None, "completed") or (
        status != "failed" and any(item.get(name) for name in entry.members)
    )
    if error is not None:
        return ErrorTextOutput(error_text(error))
    return JsonOutput(entry.read(item)) if is_done else ErrorTextOutput(as_text({"status": status}))


# Where an error may have its text, the best first (seen in recordings of several servers)
_TEXTS: Final = ("message", "error", "detail", "error_message", "code", "type")


def error_text(error: Json) -> str:
    """The text of an error, whatever its shape."""
    while is_object(error) or is_array(error):
        inner: Json = None
        if is_object(error):
            inner = next((error[name] for name in _TEXTS if error.get(name) not in (None, "", [], {})), None)
        elif is_array(error) and error:
            inner = error[0]
        if inner is None:
            break
        error = inner
    try:
        return error if isinstance(error, str) and error else dumps(error).decode()
    except DecodeError:  # nested too deeply
        return kind_of(error)


def write_provider_output(call: ToolCallPart, own: JsonObject) -> Wire:
    """The item of an output that is not in the item of its call."""
    kind = text_in(own, "type")
    value = call.output.value if isinstance(call.output, JsonOutput) else None
    output: JsonObject = value if is_object(value) else {}
    about: JsonObject = {"id": item_id(kind, own), **_call_id(call)}
    if kind == "shell_call_output":
        found = output.get("output")
        outputs = found if is_array(found) else []
        shown = [_shell_output(one, inverse(_OUTCOME)) for one in outputs if is_object(one)]
        return wire.ShellCallOutput(**about, output=shown)
    if kind == "tool_search_output":
        return wire.ToolSearchOutput(**about, **_some(output, "tools"))
    return wire.ProgramOutput(**about, **_some(output, "result"), **_some(output, "status"))


# Outputs of the client's tools

OUTPUTS_OF: Final[Mapping[str, str]] = {
    "function_call_output": "function_call",
    "custom_tool_call_output": "custom_tool_call",
    "computer_call_output": "computer_call",
    "local_shell_call_output": "local_shell_call",
    "shell_call_output": "shell_call",
    "apply_patch_call_output": "apply_patch_call",
    "tool_search_output": "tool_search_call",
}
"""Outputs of calls that the client ran, and the types of their calls."""

SCREENSHOT: Final = "computer_screenshot"


def called_id(item: Any) -> str:
    """The id of the call that an item is the output of. That of a local shell is in `id`.

    https://platform.openai.com/docs/api-reference/responses/create (local shell call output)
    """
    return item.call_id or item.id or ""


def read_result(item: Any, name: str) -> ToolResultPart:
    """The result that an item has."""
    return ToolResultPart(called_id(item), name, _read_output(item))


def _read_output(item: Any) -> ToolOutput:
    output = _json(item.output)
    match item:
        case wire.ComputerCallOutput():
            if is_object(output) and output.get("type") == SCREENSHOT:
                return JsonOutput(without(output, "type"))
            return JsonOutput(output)
        case wire.ShellCallOutput():
            return JsonOutput({"output": output})
        case wire.ToolSearchOutput():
            return JsonOutput({"tools": _json(item.tools)})
        case wire.ApplyPatchCallOutput():
            outcome: Outcome = "failed" if item.status == "failed" else "success"
            return read_tool_text(outcome, output if isinstance(output, str) else "")
        case _ if is_array(output):
            return ContentOutput(tuple(INPUT.read(one, None) for one in wire.CONTENT.read(output)))
        case _:
            return read_tool_text("success", output)


def write_result(result: ToolResultPart, kind: str) -> Wire | None:
    """The item with the output of a call of a kind; `None` if such a call cannot have this output."""
    outcome, value, items = write_tool_text(result.output)
    is_failed = outcome != "success"
    about: JsonObject = {"call_id": CALL_ID.fit(result.id)}
    match kind:
        case "apply_patch_call":
            status = "failed" if is_failed else "completed"
            return wire.ApplyPatchCallOutput(**about, status=status, output=_text(value, items))
        case "shell_call":
            return wire.ShellCallOutput(
                **about, output=_commands(value, _text(value, items), is_failed=is_failed)
            )
        case "local_shell_call":
            return wire.LocalShellCallOutput(**about, output=_text(value, items))
        case "tool_search_call":
            found = value.get("tools") if is_object(value) else value
            tools: Json = found if is_array(found) else []
            return wire.ToolSearchOutput(**about, execution="client", status="completed", tools=tools)
        case "computer_call":
            screen = _screen(value, items)
            return None if screen is None else wire.ComputerCallOutput(**about, output=screen)
        case "custom_tool_call":
            return wire.CustomToolCallOutput(**about, output=_shown(value, items))
        case _:
            return wire.FunctionCallOutput(**about, output=_shown(value, items))


def _text(value: Json, items: Any) -> str:
    if items is None:
        return as_text(value)
    return "\n".join(item.text for item in items if isinstance(item, TextPart))


def _shown(value: Json, items: Any) -> Json:
    """An output as a function has it: text, or content."""
    if items is None:
        return as_text(value)
    content = [block for item in items if (block := INPUT.write(item)) is not None]
    return to_json(content) if content else ""


def _commands(value: Json, text: str, *, is_failed: bool) -> Json:
    """The outputs of the commands of a shell. Any other output is that of one command."""
    found = value.get("output") if is_object(value) else value
    if is_array(found) and not is_failed:
        return [_shell_output(one, inverse(_OUTCOME)) if is_object(one) else one for one in found]
    outcome = {"type": "exit", "exit_code": 1 if is_failed else 0}
    return [{"stdout": "" if is_failed else text, "stderr": text if is_failed else "", "outcome": outcome}]


def _screen(value: Json, items: Any) -> JsonObject | None:
    """A picture of the screen, from the provider's own object or from content."""
    if is_object(value) and ("image_url" in value or "file_id" in value):
        return {"type": SCREENSHOT, **value}
    for item in items or ():
        block: Json = to_json(INPUT.write(item))
        if is_object(block) and block.get("type") == "input_image":
            return {**block, "type": SCREENSHOT}
    return None
