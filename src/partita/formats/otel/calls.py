"""Calls and what came of them ↔ calls. Whether a call failed, these conventions do not tell."""

from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.framework.members import Members, metadata_of, noted
from partita.types.fold import state_after
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolResultPart,
)

from .parts import read_plain, write_plain
from .wrapping import NAME

SERVER: Final = "server_tool_call"
BACK: Final = "server_tool_call_response"
PLAIN_CALL: Final = {"type", "id", "name", "arguments"}
PLAIN_RESULT: Final = {"type", "id", "response"}
"""The members that a call and a result have when they say no more than they have to."""

VALUES: Final = ("response", "result")


def read_call(raw: JsonObject, made_id: str) -> ToolCallPart | None:
    """A call, of the application or of the provider."""
    if raw.keys() == PLAIN_CALL and raw["type"] == "tool_call" and is_object(raw["arguments"]):
        own, told = raw["id"], raw["name"]
        if isinstance(own, str) and isinstance(told, str):
            return ToolCallPart(own, told, "input-available", raw["arguments"])
    members = Members(raw)
    type_ = members.any("type")
    name = members.text("name")
    id_ = members.left.get("id")
    if name is None or not (id_ is None or isinstance(id_, str)):
        return None
    if id_ is None:
        members.left["made"] = "id" in members.left
    members.any("id")
    if type_ == SERVER:
        given = members.object(SERVER)
        if given is None:
            return None
        input_: Json = _untyped(given, name)
        raw_input: Json = UNSET
    else:
        input_, raw_input = _read_arguments(members)
    return ToolCallPart(
        made_id if id_ is None else id_,
        name,
        "input-available",
        input_,
        raw_input=raw_input,
        provider_executed=True if type_ == SERVER else None,
        call_provider_metadata=metadata_of(NAME, members.left),
    )


def _read_arguments(members: Members) -> tuple[Json, Json]:
    if "arguments" not in members.left:
        members.left["bare"] = True
        return UNSET, UNSET
    arguments = members.any("arguments")
    if not isinstance(arguments, str):
        return arguments, UNSET
    try:
        value = loads(arguments)
    except DecodeError:
        return UNSET, arguments
    members.left["args"] = True if dumps(value).decode() == arguments else arguments
    return value, UNSET


def write_call(call: ToolCallPart) -> JsonObject:
    """The part that holds a call."""
    note = dict(noted(call.call_provider_metadata, NAME))
    made = note.pop("made", None)
    note.pop("of", None)
    spelt, bare = note.pop("args", None), note.pop("bare", False)
    id_: JsonObject = {"id": call.id} if made is None else {"id": None} if made else {}
    if is_server(call):
        given: Json = {} if call.input is UNSET else call.input
        return {"type": SERVER, **note, **id_, "name": call.name, SERVER: _typed(given, call.name, "input")}
    said: JsonObject = {"type": "tool_call", **note, **id_, "name": call.name}
    if call.input is UNSET and call.raw_input is UNSET:
        return said if bare else {**said, "arguments": None}
    if call.input is UNSET:
        return {**said, "arguments": call.raw_input}
    if spelt is None and not isinstance(call.input, str):
        return {**said, "arguments": call.input}
    text = dumps(call.input).decode()
    same = isinstance(spelt, str) and _is_same(spelt, text)
    return {**said, "arguments": spelt if same else text}


def is_server(call: ToolCallPart) -> bool:
    """Whether a call is written as one of the provider's."""
    return (
        call.provider_executed is True and noted(call.call_provider_metadata, NAME).get("of") != "tool_call"
    )


def _is_same(spelt: str, text: str) -> bool:
    try:
        return dumps(loads(spelt)).decode() == text
    except DecodeError:
        return False


def _typed(value: Json, name: str, key: str) -> JsonObject:
    return {"type": name, **value} if is_object(value) else {"type": name, key: value}


def _untyped(value: JsonObject, name: str) -> Json:
    return {k: v for k, v in value.items() if k != "type"} if value.get("type") == name else value


def read_result(raw: JsonObject, call_id: str | None, name: str | None) -> ToolResultPart | None:
    """What came of a call of the application; the id and the name of the call, if they are known."""
    if raw.keys() == PLAIN_RESULT and isinstance(raw["id"], str):
        return ToolResultPart(raw["id"], name or "", read_value(raw["response"]))
    members = Members(raw)
    members.any("type")
    key = next((one for one in VALUES if one in members.left), None)
    id_ = members.left.get("id")
    if key is None or not (id_ is None or isinstance(id_, str)):
        return None
    if id_ is None:
        members.left["made"] = "id" in members.left
    members.any("id")
    own_name = members.text("name")
    if own_name is not None:
        members.left["named"] = True
    value = members.any(key)
    if key != VALUES[0]:
        members.left["key"] = key
    output = read_value(value)
    told = id_ if id_ is not None else call_id
    if told is None:
        return None
    return ToolResultPart(told, own_name or name or "", output, metadata_of(NAME, members.left))


def read_value(value: Json) -> ToolOutput:
    """What a call gave, as an output."""
    if isinstance(value, str):
        return TextOutput(value)
    if is_array(value) and any(_is_media(one) for one in value):
        parts = [read_plain(one) for one in value]
        items = tuple(part for part in parts if not hasattr(part, "kind"))
        if len(items) == len(value):
            return ContentOutput(items)  # type: ignore[arg-type]  # reasoning is no medium and not read here
    return JsonOutput(value)


def _is_media(value: Json) -> bool:
    return is_object(value) and value.get("type") in ("blob", "uri", "file")


def write_result(result: ToolResultPart) -> JsonObject:
    """The part that holds what came of a call."""
    note = dict(noted(result.provider_metadata, NAME))
    key = "result" if note.pop("key", None) == "result" else "response"
    named, made = note.pop("named", False), note.pop("made", None)
    id_: JsonObject = {"id": result.id} if made is None else {"id": None} if made else {}
    name = {"name": result.name} if named else {}
    return {"type": "tool_call_response", **note, **id_, **name, key: _value(result.output)}


def _value(output: ToolOutput) -> Json:
    match output:
        case TextOutput() | JsonOutput() | ErrorTextOutput() | ErrorJsonOutput():
            return output.value
        case ExecutionDeniedOutput():
            return output.reason or "The call was denied."
        case InterruptedOutput():
            return output.message or f"The call never ended: {output.reason}."
        case ContentOutput():
            return [item for part in output.value if (item := write_plain(part)) is not None]


def read_back(call: ToolCallPart, raw: JsonObject, at: int | None) -> ToolCallPart | None:
    """A call of the provider with what came of it; `at`: where that stood, unless behind the call."""
    members = Members(raw)
    type_ = members.any("type")
    members.any("id")
    if type_ == BACK:
        value = members.object(BACK)
        if value is None:
            return None
        found = _untyped(value, call.name)
        output: ToolOutput
        if set(found) == {"output"} and found is not value:
            output = read_value(found["output"])
        else:
            output = JsonOutput(found)
        note = members.left
    else:
        result = read_result(raw, call.id, call.name)
        if result is None:
            return None
        output, note = result.output, dict(noted(result.provider_metadata, NAME))
        kept = noted(call.call_provider_metadata, NAME)
        call = replace(
            call, call_provider_metadata=_with(call.call_provider_metadata, {**kept, "of": "tool_call"})
        )
        if result.name != call.name:
            note["name"] = result.name
    if at is not None:
        note["at"] = at
    return replace(
        call,
        state=state_after(output),
        output=output,
        provider_executed=True,
        result_provider_metadata=metadata_of(NAME, note),
    )


def _with(metadata: JsonObject | None, note: JsonObject) -> JsonObject:
    return {**(metadata or {}), NAME: note}


def write_back(call: ToolCallPart) -> JsonObject | None:
    """What came of a call of the provider."""
    if call.output is None:
        return None
    if not is_server(call):
        other = noted(call.result_provider_metadata, NAME).get("name")
        name = other if isinstance(other, str) else call.name
        result = ToolResultPart(call.id, name, call.output, call.result_provider_metadata)
        return write_result(result)
    note = noted(call.result_provider_metadata, NAME)
    return {"type": BACK, **note, "id": call.id, BACK: _typed(_value(call.output), call.name, "output")}
