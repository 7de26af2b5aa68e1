"""Blocks of turns that are not the model's → parts: words, pictures, documents, results of tools."""

from typing import Final

from partita.errors import ConversionError
from partita.formats.blocks import checked_blocks
from partita.types.json import Json, JsonObject, is_array, kind_of
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart
from partita.types.tools import (
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    TextOutput,
    ToolOutput,
    ToolResultPart,
)

from .media import media_part
from .words import ANTHROPIC, BLOCKS, FIELDS, FORM, noted, rest_of

KNOWN: Final = ("type", "tool_use_id", "content", "is_error")


def text_part(block: JsonObject) -> TextPart | None:
    """A text; `None` when the block has none."""
    if not isinstance(block.get("text"), str):
        return None
    citations = block.get("citations")
    cited: JsonObject = {"citations": citations} if is_array(citations) and citations else {}
    known = ("type", "text", *(["citations"] if is_array(citations) else []))
    return TextPart(block["text"], provider_metadata=noted({**cited, **rest_of(block, known)}))


def part_of(block: JsonObject) -> TextPart | ImagePart | FilePart | ForeignPart:
    """A block that holds no result; one that is unknown is kept whole."""
    match block["type"]:
        case "text":
            return text_part(block) or ForeignPart(ANTHROPIC, block)
        case "image" | "document":
            return media_part(block)
        case _:
            return ForeignPart(ANTHROPIC, block)


def result_part(block: JsonObject, names: dict[str, str], path: str) -> ToolResultPart:
    """A `tool_result` block. `names` are those of the calls before it, by id."""
    call_id = block.get("tool_use_id")
    if not isinstance(call_id, str):
        raise ConversionError(
            "a tool_result names no call", where=f"{path}.tool_use_id", hint="give the id of its tool_use"
        )
    is_error = block.get("is_error")
    own = rest_of(block, KNOWN if is_error is True else KNOWN[:3])
    content = block.get("content")
    if is_array(content) and is_error is True:
        own[FORM] = BLOCKS
    return ToolResultPart(
        call_id, names.get(call_id, ""), _output(content, is_error is True, path), noted(own)
    )


def _output(content: Json, is_error: bool, path: str) -> ToolOutput:
    match content:
        case None | str():
            return ErrorTextOutput(content or "") if is_error else TextOutput(content or "")
        case [{"type": "text", "text": str(words), **rest}] if is_error and not rest:
            return ErrorTextOutput(words)
        case list():
            blocks = checked_blocks(content, f"{path}.content")
            return ErrorJsonOutput(blocks) if is_error else ContentOutput(tuple(map(_item, blocks)))
        case _:
            raise ConversionError(
                f"the content of a result is {kind_of(content)}",
                where=f"{path}.content",
                hint="make it a string or a list of blocks",
            )


def _item(block: JsonObject) -> ContentItem:
    return part_of(block)


def with_fields(own: JsonObject, fields: JsonObject) -> JsonObject:
    """Our metadata with members of a message that have no name here."""
    return {**own, FIELDS: fields} if fields else own
