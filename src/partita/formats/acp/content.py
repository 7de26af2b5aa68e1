"""Content blocks of the protocol → parts, chunks and outputs. What is not understood is kept whole."""

from collections.abc import Mapping, Sequence
from typing import Final

from partita.types.chunks import Chunk, DataChunk, FileChunk
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart
from partita.types.tools import (
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

ACP: Final = "acp"
"""The namespace of what we add: in metadata, and in the names of data."""


def text_of(block: Json) -> str | None:
    """The words of a block, if it is one of words."""
    words = block.get("text") if is_object(block) and block.get("type") == "text" else None
    return words if isinstance(words, str) else None


def file_of(block: Json) -> tuple[str, str] | None:
    """Address and media type of a picture or a sound."""
    if not is_object(block) or block.get("type") not in ("image", "audio"):
        return None
    data, media_type = block.get("data"), block.get("mimeType")
    if not isinstance(data, str) or not isinstance(media_type, str):
        return None
    return f"data:{media_type};base64,{data}", media_type


def block_chunk(block: Json) -> Chunk:
    """The chunk of a block of an answer that is no words: a file, or data."""
    file = file_of(block)
    return DataChunk(f"data-{ACP}-content", block) if file is None else FileChunk(file[0], file[1])


def output_of(content: Json, raw: Json, *, failed: bool, terminals: Mapping[str, JsonObject]) -> ToolOutput:
    """What a call gave back: words, raw output, or items. Diffs and terminals stay as they are."""
    items: Sequence[Json] = content if is_array(content) else []
    words = [_words(item) for item in items]
    if words and all(word is not None for word in words):
        text = "\n".join(word for word in words if word is not None)
        return ErrorTextOutput(text) if failed else TextOutput(text)
    if items:
        parts = tuple(_item(item, terminals) for item in items)
        return ErrorJsonOutput(content) if failed else ContentOutput(parts)
    if isinstance(raw, str) or raw is None:
        return ErrorTextOutput(raw or "") if failed else TextOutput(raw or "")
    return ErrorJsonOutput(raw) if failed else JsonOutput(raw)


def _words(item: Json) -> str | None:
    return text_of(item.get("content")) if is_object(item) and item.get("type") == "content" else None


def _item(item: Json, terminals: Mapping[str, JsonObject]) -> ContentItem:
    words = _words(item)
    if words is not None:
        return TextPart(words)
    if not is_object(item):
        return ForeignPart(ACP, item)
    file = file_of(item.get("content")) if item.get("type") == "content" else None
    if file is not None:
        url, media_type = file
        is_image = media_type.startswith("image/")
        return ImagePart(url, media_type) if is_image else FilePart(url, media_type)
    terminal = item.get("terminalId")
    known = terminals.get(terminal, {}) if isinstance(terminal, str) else {}
    return ForeignPart(ACP, {**item, **known})
