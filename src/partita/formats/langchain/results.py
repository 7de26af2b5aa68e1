"""Tool messages ↔ results: text, JSON with the value as its artifact, blocks; and whether the tool failed."""

from types import NoneType
from typing import Final, NamedTuple, TypeGuard

from partita.formats.framework.members import Members, metadata_of, noted
from partita.types.json import Json, JsonObject, dumps, is_array
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart
from partita.types.tools import (
    ContentItem,
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

from .blocks import read_block, write_block
from .envelope import NAME
from .shapes import SHAPE, reshaped, standard

UNNAMED: Final = "unnamed"
LISTED: Final = "listed"
"""What the note of a failed result says whose content is a list."""

ABOUT: Final = ("artifact", "additional_kwargs", "response_metadata")
"""Members of a tool message that are about its result."""


VOID: Final = {
    "name": frozenset({NoneType}),
    "artifact": frozenset({NoneType}),
    "additional_kwargs": frozenset({dict, NoneType}),
    "response_metadata": frozenset({dict, NoneType}),
}
"""By the name of a member, the types whose empty value says no more than absence."""


def read_result(members: Members, name: str | None) -> ToolResultPart | None:
    """The result in the members of a tool message; `name` is that of its call."""
    call_id = members.text("tool_call_id")
    content = members.left.get("content")
    if call_id is None or not (isinstance(content, str) or is_array(content)):
        return None
    members.any("content")
    status = members.left.get("status", "success")
    if status not in ("success", "error"):
        status = "success"
    else:
        members.any("status")
    own_name = members.text("name")
    members.forget(VOID)
    note: JsonObject = {key: members.any(key) for key in ABOUT if key in members.left} if members.left else {}
    if own_name is None:
        note[UNNAMED] = True
    output = read_output(content, status == "error", note)
    called = own_name if own_name is not None else name or ""
    return ToolResultPart(call_id, called, output, metadata_of(NAME, note))


def read_output(content: Json, failed: bool, note: JsonObject) -> ToolOutput:
    """The output that the content of a tool message is. What the note says of it is taken from there."""
    if not isinstance(content, str):
        if failed:
            note[LISTED] = True
            return ErrorJsonOutput(content)
        return ContentOutput(tuple(_read_item(block) for block in content))
    if "artifact" in note and is_artifact(note["artifact"], content):
        value = note.pop("artifact")
        return ErrorJsonOutput(value) if failed else JsonOutput(value)
    return ErrorTextOutput(content) if failed else TextOutput(content)


def is_artifact(value: Json, content: str) -> bool:
    """Whether the content of a tool message is its artifact, written as JSON."""
    return dumps(value).decode() == content


def _read_item(raw: Json) -> ContentItem:
    blocks = standard(raw)
    part = read_block(blocks[0], None) if len(blocks) == 1 else None
    return part if isinstance(part, TextPart | ImagePart | FilePart) else ForeignPart(NAME, raw)


class WrittenResult(NamedTuple):
    """What a tool message says of a result."""

    content: Json
    status: str
    artifact: Json
    name: str | None
    note: JsonObject


def write_result(result: ToolResultPart, *, is_v1: bool) -> WrittenResult:
    """The result of a call as the fields of a tool message."""
    note = dict(noted(result.provider_metadata, NAME))
    name = None if note.pop(UNNAMED, False) else result.name
    is_listed = note.pop(LISTED, False)
    artifact = note.pop("artifact", None)
    status = "success"
    content: Json = None
    match result.output:
        case TextOutput(value=text):
            content = text
        case JsonOutput(value=value):
            content, artifact = dumps(value).decode(), value if artifact is None else artifact
        case ErrorTextOutput(value=text):
            status, content = "error", text
        case ErrorJsonOutput(value=value) if is_listed and is_array(value):
            status, content = "error", value
        case ErrorJsonOutput(value=value):
            status, content = "error", dumps(value).decode()
            artifact = value if artifact is None else artifact
        case ExecutionDeniedOutput(reason=reason):
            status, content = "error", reason or "The call was denied."
        case InterruptedOutput(reason=why, message=message):
            status, content = "error", message or f"The call never ended: {why}."
        case ContentOutput(value=items):
            content = [block for item in items for block in write_item(item, is_v1=is_v1)]
    return WrittenResult(content, status, artifact, name, note)


def write_item(item: ContentItem, *, is_v1: bool) -> list[Json]:
    """The block that holds an item of an output."""
    if isinstance(item, ForeignPart) and item.format == NAME and _is_piece(item.value):
        return [item.value]
    block = write_block(item, None)
    if block is None:
        return []
    if not is_v1 or block.get(SHAPE) == "string":
        return [reshaped(block)]
    return [{key: value for key, value in block.items() if key != SHAPE}]


def _is_piece(value: Json) -> TypeGuard[str | JsonObject]:
    return isinstance(value, (str, dict))
