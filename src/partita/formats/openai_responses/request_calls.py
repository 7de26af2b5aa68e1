"""Calls of the model → items of a request: those that the client ran, and those that the provider ran."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final, TypeAlias

from msgspec import UNSET

from partita.errors import DecodeError
from partita.formats.answers.outlet import RAW_INPUT
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.tools import Approval, JsonOutput

from .amending import amended
from .fields import inner, objects, present, text
from .request_content import own
from .request_outputs import shell_output

LONGEST: Final = 64
"""How long an id may be."""

PREFIXES: Final[Mapping[str, str]] = {"message": "msg_", "function_call": "fc_", "custom_tool_call": "ct"}
"""How the id of an item has to begin; one that does not is of another server, and is left out."""

ANSWER: Final = "response"
"""Where what is to be said of the answer to an approval stands in the metadata of its call."""

Build: TypeAlias = Callable[[ToolCallPart, JsonObject], JsonObject]
"""The fields of an item that its call tells: of the call, and of its output as JSON."""


def fit_call_id(call_id: str) -> str:
    """An id that calls and outputs may have: itself, or a digest of one that is too long."""
    if 0 < len(call_id) <= LONGEST:
        return call_id
    return f"call_{sha256(call_id.encode(errors='surrogatepass')).hexdigest()[:32]}"


def item_id(kind: str, metadata: JsonObject) -> JsonObject:
    """The id of an item, if the provider gave it one that it takes back."""
    name = text(metadata, "itemId")
    fits = name.startswith(PREFIXES.get(kind, "")) and len(name) <= LONGEST
    return {"id": name} if name and fits else {}


def client_call(call: ToolCallPart) -> JsonObject:
    """The item of a call that the client ran. A foreign one is a call of a function."""
    metadata = own(call.call_provider_metadata) or own(call.result_provider_metadata)
    if not metadata:
        return {"type": "function_call", **_function(call, {})}
    kind = text(metadata, "type") or "function_call"
    build = FIELDS.get(kind, _function)
    caller = {
        "caller_id" if name == "callerId" else name: said for name, said in inner(metadata, "caller").items()
    }
    item = {
        "type": kind if kind in FIELDS else "function_call",
        **item_id(kind, metadata),
        **build(call, {}),
        **present(namespace=text(metadata, "namespace"), caller=caller),
    }
    return amended(item, metadata)


def hosted_items(call: ToolCallPart, *, waiting: bool = False) -> list[JsonObject]:
    """The items of a call that the provider ran; none if it was another provider, or nothing came of it.

    A call that still is `waiting` for someone to allow it is refused in a request.
    """
    asked, answered = own(call.call_provider_metadata), own(call.result_provider_metadata)
    items = [_hosted(call, metadata) for metadata in (asked, answered) if text(metadata, "type") in FIELDS]
    if text(asked, "type") == "mcp_approval_request":
        if call.approval is None or call.approval.approved is None:
            return items if waiting else []
        return [*items, _approval(call.approval, asked)]
    return items


def _hosted(call: ToolCallPart, metadata: JsonObject) -> JsonObject:
    value = call.output.value if isinstance(call.output, JsonOutput) else None
    kind = text(metadata, "type")
    item = {
        "type": kind,
        **item_id(kind, metadata),
        **FIELDS[kind](call, value if is_object(value) else {}),
    }
    return amended(item, metadata)


def _approval(approval: Approval, asked: JsonObject) -> JsonObject:
    """The item that answers whether a call may run."""
    answer = {
        "type": "mcp_approval_response",
        "approval_request_id": approval.id,
        "approve": approval.approved,
        **present(reason=approval.reason),
    }
    return amended(answer, inner(asked, ANSWER))


def words_of(call: ToolCallPart) -> str:
    """The input of a call as the model wrote it, as long as it says the same."""
    for metadata in (call.call_provider_metadata, call.result_provider_metadata):
        words = text(own(metadata), RAW_INPUT)
        if words and _says(words, call.input):
            return words
    bad = call.raw_input if call.input is UNSET else call.input
    if isinstance(bad, str) and (call.state == "output-error" or call.input is UNSET):
        return bad  # an input that is no JSON is kept as the words it came in
    return "{}" if call.input is UNSET else dumps(call.input).decode()


def _says(words: str, value: Json) -> bool:
    try:
        said = loads(words)
    except DecodeError:
        said = words
    return bool(said == value)


def _input(call: ToolCallPart) -> JsonObject:
    return call.input if is_object(call.input) else {}


def _id(call: ToolCallPart) -> JsonObject:
    """The id of a call. A call that had none was given the id of its item."""
    own_id = own(call.call_provider_metadata).get("itemId")
    return {} if call.id == own_id else {"call_id": fit_call_id(call.id)}


def _function(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return {"call_id": fit_call_id(call.id), "name": call.name, "arguments": words_of(call)}


def _custom(call: ToolCallPart, output: JsonObject) -> JsonObject:
    words = call.input if isinstance(call.input, str) else words_of(call)
    return {"call_id": fit_call_id(call.id), "name": call.name, "input": words}


def _operation(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return {"call_id": fit_call_id(call.id), "status": "completed", "operation": call.input}


def _action(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return {"call_id": fit_call_id(call.id), "action": call.input}


def _computer(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return {"call_id": fit_call_id(call.id), "action" if is_object(call.input) else "actions": call.input}


def _tool_search(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return {**_id(call), "arguments": call.input}


def _program(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return {**_id(call), **_input(call)}


def _mcp(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return {"name": call.name, "arguments": words_of(call), **_some(output, "output")}


def _web_search(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return {}


def _file_search(call: ToolCallPart, output: JsonObject) -> JsonObject:
    found = [
        {"file_id" if name == "fileId" else name: value for name, value in result.items()}
        for result in objects(output, "results")
    ]
    return {**_some(output, "queries"), **({"results": found} if output.get("results") is not None else {})}


def _code(call: ToolCallPart, output: JsonObject) -> JsonObject:
    given = _input(call)
    return {"code": given.get("code"), "container_id": given.get("containerId"), **_some(output, "outputs")}


def _image(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return _some(output, "result")


def _shell_output(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return {**_id(call), "output": [shell_output(one) for one in objects(output, "output")]}


def _tools_found(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return {**_id(call), **_some(output, "tools")}


def _program_output(call: ToolCallPart, output: JsonObject) -> JsonObject:
    return {**_id(call), **_some(output, "result"), **_some(output, "status")}


def _some(output: JsonObject, name: str) -> JsonObject:
    return {name: output[name]} if output.get(name) is not None else {}


FIELDS: Final[Mapping[str, Build]] = {
    "function_call": _function,
    "custom_tool_call": _custom,
    "apply_patch_call": _operation,
    "local_shell_call": _action,
    "shell_call": _action,
    "computer_call": _computer,
    "tool_search_call": _tool_search,
    "program": _program,
    "mcp_call": _mcp,
    "mcp_approval_request": _mcp,
    "web_search_call": _web_search,
    "file_search_call": _file_search,
    "code_interpreter_call": _code,
    "image_generation_call": _image,
    "shell_call_output": _shell_output,
    "tool_search_output": _tools_found,
    "program_output": _program_output,
}
"""By the kind of an item, the fields that the call tells; the others are in its metadata as they came."""
