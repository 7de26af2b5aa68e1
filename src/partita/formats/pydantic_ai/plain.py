"""Plain parts ↔ parts of requests and responses, without a detour."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from partita.formats.framework.plain import Said
from partita.types.json import JsonObject, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import ReasoningPart, TextPart

from .shapes import DEFAULTS

_TEXT, _THINKING = DEFAULTS["text"], DEFAULTS["thinking"]
_CALL, _RETURN = DEFAULTS["tool-call"], DEFAULTS["tool-return"]
_RETURN_OF_TEXT = {key: value for key, value in _RETURN.items() if key != "content_file_digests"}


_PLAIN: Final = {
    "text": {**_TEXT, "part_kind": "text"},
    "thinking": {**_THINKING, "part_kind": "thinking"},
    "tool-call": {**_CALL, "part_kind": "tool-call"},
}
"""By kind: what a part says that says no more than it has to."""


def read_plain(raw: JsonObject) -> Said | None:
    """Words, a thought, or a call with input by name; `None` if a part is or says anything else."""
    kind: str = raw["part_kind"]
    if kind == "tool-call":
        name, args, id_ = raw.get("tool_name"), raw.get("args"), raw.get("tool_call_id")
        if not isinstance(name, str) or not is_object(args) or not isinstance(id_, str):
            return None
        if raw != {**_PLAIN[kind], "tool_name": name, "args": args, "tool_call_id": id_}:
            return None
        return ToolCallPart(id_, name, "input-available", args)
    text = raw.get("content")
    if (
        not isinstance(text, str)
        or kind not in ("text", "thinking")
        or raw != {**_PLAIN[kind], "content": text}
    ):
        return None
    return TextPart(text) if kind == "text" else ReasoningPart(text)


def write_plain(part: Said) -> JsonObject:
    """The part of a response."""
    return _WRITERS[type(part)](part)


def _write_text(part: TextPart) -> JsonObject:
    return {**_TEXT, "content": part.text, "part_kind": "text"}


def _write_thought(part: ReasoningPart) -> JsonObject:
    return {**_THINKING, "content": part.text, "part_kind": "thinking"}


def _write_call(call: ToolCallPart) -> JsonObject:
    said = {"tool_name": call.name, "args": call.input, "part_kind": "tool-call"}
    return {**_CALL, **said, "tool_call_id": call.id}


_WRITERS: Final[Mapping[type, Callable[[Any], JsonObject]]] = {
    TextPart: _write_text,
    ReasoningPart: _write_thought,
    ToolCallPart: _write_call,
}


def write_plain_return(call: ToolCallPart, value: Any) -> JsonObject:
    """The part of a request that says what came of a call."""
    about = _RETURN_OF_TEXT if isinstance(value, str) else _RETURN
    said = {"tool_name": call.name, "tool_call_id": call.id, "part_kind": "tool-return"}
    return {**about, "content": value, "outcome": "success", **said}
