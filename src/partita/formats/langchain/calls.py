"""Calls of tools: blocks and the lists beside the content, merged by id ↔ call parts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.framework.members import Members, metadata_of, noted
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import TextPart
from partita.types.tools import (
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .envelope import NAME

SIGNATURES: Final = "__gemini_function_call_thought_signatures__"
"""Where Google's integration keeps the signatures of calls, by id."""

TEXT_ARGUMENT: Final = "__arg1"
"""What LangChain calls the input of a tool that takes text."""

UNSENT: Final = "unsent"
"""What the note of a result says of an error that no tool message tells."""

OWN: Final = ("entry", "block", "apart", "unlisted", "error", "unnamed", "made")
"""What notes of calls say that is no member of a block."""


PLAIN: Final = {"type", "id", "name", "args"}
"""The members that a call has to have."""


class Entry(NamedTuple):
    """A call in one of the lists beside the content."""

    raw: JsonObject
    is_valid: bool


class Entries:
    """The calls beside the content, to be found by id, each once."""

    def __init__(self, calls: Iterable[Json], invalid: Iterable[Json]) -> None:
        self._all: dict[int, Entry] = {}
        self._by_id: defaultdict[Any, list[int]] = defaultdict(list)
        for raws, is_valid in ((calls, True), (invalid, False)):
            for raw in raws:
                self._by_id[_key(raw.get("id"), is_valid)].append(len(self._all))
                self._all[len(self._all)] = Entry(raw, is_valid)

    def take(self, id_: Json, is_valid: bool) -> JsonObject | None:
        """The next call of that id."""
        waiting = self._by_id.get(_key(id_, is_valid))
        return self._all.pop(waiting.pop(0)).raw if waiting else None

    def rest(self) -> list[Entry]:
        """Those that nobody took."""
        return list(self._all.values())


NO_ENTRIES: Final = Entries((), ())


def _key(id_: Json, is_valid: bool) -> tuple[str, bool]:
    return (repr(id_), is_valid)


def read_plain_call(block: Json, entries: Iterator[Json]) -> ToolCallPart | None:
    """The call of a block, if it and the next entry say the same, and no more than has to be said."""
    if not is_object(block) or block.keys() != PLAIN or block["type"] != "tool_call":
        return None
    entry = next(entries, None)
    id_, name, args = block["id"], block["name"], block["args"]
    if not isinstance(id_, str) or not isinstance(name, str) or not is_object(args):
        return None
    if entry != block or not is_object(entry):
        return None
    if entry["args"] is not args and repr(entry["args"]) != repr(args):
        return None
    return ToolCallPart(id_, name, "input-available", args)


def read_call(block: Json, entry: JsonObject | None, made_id: str, *, is_v1: bool) -> ToolCallPart | None:
    """The call of a block, an entry beside the content, or both of them; `None` if it is none."""
    said = entry if entry is not None else block
    if not is_call(said) or (is_object(block) and not is_call(block)):
        return None
    members = Members(block if is_object(block) else {})
    for name in ("type", "id", "name", "args"):
        members.any(name)
    note = members.left
    if entry is None:
        note["unlisted"] = True
    else:
        rest = {k: v for k, v in entry.items() if k not in {"id", "name", "args"} and v != _TYPES.get(k)}
        if is_object(block):
            differing = {
                k: block.get(k) for k in ("name", "args") if repr(block.get(k)) != repr(entry.get(k))
            }
            note |= {"block": differing} if differing else {}
        elif is_v1:
            note["apart"] = True
        note |= {"entry": rest} if rest else {}
    if said.get("id") is None:
        note["made"] = True
    return ToolCallPart(
        said["id"] if said.get("id") is not None else made_id,
        said["name"],
        "input-available",
        said["args"],
        call_provider_metadata=metadata_of(NAME, note),
    )


_TYPES: Final = {"type": "tool_call"}


def is_call(raw: Json) -> bool:
    """Whether something is a call with input that can be run."""
    if not is_object(raw) or not isinstance(raw.get("name"), str) or not is_object(raw.get("args")):
        return False
    return raw.get("id") is None or isinstance(raw["id"], str)


def read_invalid(
    block: Json, entry: JsonObject | None, made_id: str, *, is_answered: bool
) -> ToolCallPart | None:
    """The same for a call whose input could not be read."""
    said: JsonObject = entry if entry is not None else block
    if not _is_invalid(said):
        return None
    note: JsonObject = {}
    if is_object(block):
        note = {k: v for k, v in block.items() if k not in {"type", "id", "name", "args", "error"}}
        differing = {k: block.get(k) for k in ("name", "args", "error") if block.get(k) != said.get(k)}
        note |= {"block": differing} if differing else {}
    if entry is None:
        note["unlisted"] = True
    else:
        known = {"id", "name", "args", "error"}
        rest = {k: v for k, v in entry.items() if k not in known and (k, v) != ("type", "invalid_tool_call")}
        note |= {"entry": rest} if rest else {}
    if said.get("id") is None:
        note["made"] = True
    if said.get("name") is None:
        note["unnamed"] = True
    error = said.get("error")
    call = ToolCallPart(
        said["id"] if said.get("id") is not None else made_id,
        said.get("name") or "",
        "input-available",
        raw_input=said.get("args"),
    )
    if error is not None and not is_answered:
        unsent = {NAME: {UNSENT: True}}
        output = ErrorTextOutput(error)
        call = replace(call, state="output-error", output=output, result_provider_metadata=unsent)
    elif error is not None:
        note["error"] = error
    return replace(call, call_provider_metadata=metadata_of(NAME, note))


def _is_invalid(raw: JsonObject) -> bool:
    texts = (raw.get("id"), raw.get("name"), raw.get("args"), raw.get("error"))
    return all(one is None or isinstance(one, str) for one in texts)


class Written(NamedTuple):
    """A call as it is written: a block for the content, an entry beside it, and whether that was there."""

    block: JsonObject | None
    entry: JsonObject
    is_valid: bool
    is_listed: bool


def write_call(call: ToolCallPart) -> Written:
    """A call that the application runs."""
    note = dict(noted(call.call_provider_metadata, NAME))
    own = {name: note.pop(name) for name in OWN if name in note}
    id_ = None if own.get("made") else call.id
    is_valid = call.raw_input is UNSET or call.input is not UNSET
    said: JsonObject = {"name": None if own.get("unnamed") and not call.name else call.name}
    said |= {"args": _arguments(call.input) if is_valid else _text(call.raw_input), "id": id_}
    if not is_valid:
        output = call.output if is_unsent(call) else None
        error = output.value if isinstance(output, ErrorTextOutput) else own.get("error")
        said["error"] = error if isinstance(error, str) else None
    entry = {**said, "type": "tool_call" if is_valid else "invalid_tool_call", **_object(own.get("entry"))}
    block = {"type": entry["type"], **note, **said, **_object(own.get("block"))}
    return Written(None if own.get("apart") else block, entry, is_valid, not own.get("unlisted"))


def is_unsent(call: ToolCallPart) -> bool:
    """Whether the error of a call is told by the call alone."""
    return noted(call.result_provider_metadata, NAME).get(UNSENT) is True and call.raw_input is not UNSET


def _arguments(value: Json) -> JsonObject:
    if is_object(value):
        return value
    return {} if value is UNSET else {TEXT_ARGUMENT: value}


def _text(value: Json) -> Json:
    return value if value is None or isinstance(value, str) else str(value)


def _object(value: Json) -> JsonObject:
    return value if is_object(value) else {}


def read_server_call(block: JsonObject) -> ToolCallPart | None:
    """A call that the provider runs."""
    if not is_call(block) or block.get("id") is None:
        return None
    left = {key: value for key, value in block.items() if key not in {"type", "id", "name", "args"}}
    return ToolCallPart(
        block["id"],
        block["name"],
        "input-available",
        block["args"],
        provider_executed=True,
        call_provider_metadata=metadata_of(NAME, left),
    )


def write_server_call(call: ToolCallPart) -> list[JsonObject]:
    """A call that the provider ran, and its result. A note in the result says where that stood."""
    note = {k: v for k, v in noted(call.call_provider_metadata, NAME).items() if k not in OWN}
    args = _arguments(call.input if call.input is not UNSET else call.raw_input)
    said = {"type": "server_tool_call", **note, "id": call.id, "name": call.name, "args": args}
    return [said] if call.output is None else [said, _server_result(call, call.output)]


def read_server_result(call: ToolCallPart, block: JsonObject) -> ToolCallPart | None:
    """A call of the provider with its result."""
    members = Members(block)
    for name in ("type", "tool_call_id"):
        members.any(name)
    status = members.any("status")
    has_output = "output" in members.left
    value = members.any("output")
    if status not in ("success", "error"):
        return None
    if not has_output:
        members.left["silent"] = True
    output: ToolOutput
    if status == "error":
        output = ErrorTextOutput(value) if isinstance(value, str) else ErrorJsonOutput(value)
    else:
        output = TextOutput(value) if isinstance(value, str) else JsonOutput(value)
    return replace(
        call,
        state="output-error" if status == "error" else "output-available",
        output=output,
        result_provider_metadata=metadata_of(NAME, members.left),
    )


def _server_result(call: ToolCallPart, output: ToolOutput) -> JsonObject:
    note = dict(noted(call.result_provider_metadata, NAME))
    is_silent = note.pop("silent", False)
    result = {"type": "server_tool_result", **note, "tool_call_id": call.id, **_server_output(output)}
    if is_silent:
        result.pop("output", None)
    return result


def _server_output(output: ToolOutput) -> JsonObject:
    match output:
        case TextOutput() | JsonOutput():
            return {"status": "success", "output": output.value}
        case ErrorTextOutput() | ErrorJsonOutput():
            return {"status": "error", "output": output.value}
        case ExecutionDeniedOutput():
            return {"status": "error", "output": output.reason or "denied"}
        case InterruptedOutput():
            return {"status": "error", "output": output.message or output.reason}
        case _:
            texts = [item.text for item in output.value if isinstance(item, TextPart)]
            return {"status": "success", "output": "\n".join(texts)}


def signed(call: ToolCallPart, signatures: Mapping[str, Any]) -> ToolCallPart:
    """A call with the signature that Google's integration keeps elsewhere."""
    signature = signatures.get(call.id) if signatures else None
    if not isinstance(signature, str):
        return call
    metadata = {**(call.call_provider_metadata or {}), "google": {"thoughtSignature": signature}}
    return replace(call, call_provider_metadata=metadata)
