"""Results of tools ↔ typed outputs. A result may have blocks and structured content: both are kept."""

from collections.abc import Iterator
from typing import Final, assert_never

from msgspec import UNSET

from partita.formats.bare import is_bare
from partita.formats.blocks import checked_blocks
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart, UnknownPart
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

from .blocks import block_of, part_of
from .comparing import part_losses
from .words import KEPT, MCP, fields_of, noted, own_of, rest_of

KNOWN: Final = ("type", "toolUseId", "content")
BLOCKS: Final = "make it a list of content blocks"
STRUCTURED: Final = "structuredContent"
STRUCTURES: Final = (JsonOutput, ErrorJsonOutput)
GIVEN: Final = (TextOutput, JsonOutput, ContentOutput)
"""Outputs of calls that went well."""

DENIED: Final = "The user did not allow this call."
CHANGED: Final = "a result is blocks, or structured content"
NOT_TAKEN: Final = "the protocol has no such block"


def result_part(block: JsonObject, call_id: str, name: str, path: str) -> ToolResultPart:
    """A result, of a sampling message or of a call."""
    is_error = block.get("isError") is True
    has_value = block.get(STRUCTURED) is not None
    known = (*KNOWN, *(("isError",) if is_error else ()), *((STRUCTURED,) if has_value else ()))
    own = rest_of(block, known)
    blocks = checked_blocks(block.get("content", []), f"{path}.content", BLOCKS)
    output = _output(block.get(STRUCTURED) if has_value else UNSET, blocks, is_error)
    if written(output) != blocks:
        own[KEPT] = blocks
    return ToolResultPart(call_id, name, output, noted(own))


def result_block(
    output: ToolOutput, metadata: JsonObject | None, path: str, losses: list[Loss]
) -> JsonObject:
    """What a result says, without the id of its call."""
    own = own_of(metadata)
    blocks = own.get(KEPT)
    said: JsonObject = {"content": blocks if is_array(blocks) else written(output)}
    if isinstance(output, STRUCTURES):
        said[STRUCTURED] = output.value
    if not isinstance(output, GIVEN):
        said["isError"] = True
    losses.extend(_losses(output, path))
    return said | fields_of(own) if own else said


def written(output: ToolOutput) -> list[JsonObject]:
    """The blocks of an output."""
    match output:
        case TextOutput(value=text) | ErrorTextOutput(value=text):
            return [_text(text)] if text else []
        case JsonOutput(value=value) | ErrorJsonOutput(value=value):
            return [_text(dumps(value).decode())]
        case ExecutionDeniedOutput(reason=reason):
            return [_text(reason or DENIED)]
        case InterruptedOutput(reason=reason, message=message):
            return [_text(f"This call was interrupted: {reason}{f', {message}' if message else ''}.")]
        case ContentOutput(value=items):
            return [block for item in items if (block := _item(item)) is not None]
        case _:
            assert_never(output)


def _output(value: Json, blocks: list[JsonObject], is_error: bool) -> ToolOutput:
    if value is not UNSET:
        return ErrorJsonOutput(value) if is_error else JsonOutput(value)
    if is_error:
        texts = (block.get("text") for block in blocks if block["type"] == "text")
        return ErrorTextOutput("".join(text for text in texts if isinstance(text, str)))
    return ContentOutput(tuple(map(part_of, blocks)))


def _item(item: TextPart | ImagePart | FilePart | ForeignPart | UnknownPart) -> JsonObject | None:
    match item:
        case TextPart() | ImagePart() | FilePart():
            return block_of(item)
        case ForeignPart(format=format, value={"type": str()}) if format == MCP:
            return dict(item.value)
        case _:
            return None


def _losses(output: ToolOutput, path: str) -> Iterator[Loss]:
    match output:
        case JsonOutput() | ErrorTextOutput() | ErrorJsonOutput():
            pass
        case ContentOutput(value=items):
            for index, item in enumerate(items):
                where = f"{path}.value[{index}]"
                if _item(item) is None:
                    yield Loss.of(where, item, NOT_TAKEN)
                else:
                    yield from part_losses(item, where)
        case _:
            yield Loss.of(path, output, CHANGED, "changed")
            return
    if is_bare(output):
        return
    plain: JsonObject = to_json(output)
    for key, item in plain.items():
        if key not in ("type", "value"):
            yield Loss.of(f"{path}.{key}", item, NOT_TAKEN)


def _text(words: str) -> JsonObject:
    return {"type": "text", "text": words}
