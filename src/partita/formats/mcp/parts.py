"""Codecs for content blocks and results of tools."""

from base64 import b64decode, b64encode
from typing import Any, Final
from urllib.parse import quote

from msgspec import UNSET

from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.files import FILES, AnyFile, file_name
from partita.formats.core.metadata import notes
from partita.formats.core.tool_text import as_text, object_input, write_tool_text
from partita.formats.core.wire import Wire
from partita.types.data_url import OCTETS, data_url, parse_data_url
from partita.types.json import JsonObject
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    FilePart,
    ImagePart,
    JsonOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
)

from . import wire
from .wire import NAME

AS_TEXT: Final = "text"
"""The note of a resource whose contents are text."""

OLD_NOTES: Final = frozenset({"fields", "type", "uri", "blocks"})
"""Notes that older versions wrote. They are ignored."""


# Text and calls


def read_text(block: wire.Text, context: Any) -> TextPart:
    return TextPart(block.text)


def write_text(part: TextPart) -> Wire:
    return wire.Text(text=part.text)


def read_call(block: wire.ToolUse, context: Any) -> ToolCallPart:
    return ToolCallPart(block.id, block.name, "input-available", block.input)


def is_cut(part: ToolCallPart) -> bool:
    """Whether the input of a call was cut off."""
    return part.state == "input-streaming"


def write_call(part: ToolCallPart) -> Wire | None:
    """Write a call. The protocol requires an object as input; calls that were cut off are not written."""
    if is_cut(part):
        return None
    return wire.ToolUse(id=part.id, name=part.name, input=object_input(part))


# Files


def read_image(block: wire.Image, context: Any) -> ImagePart:
    return ImagePart(data_url(block.data, block.mime_type), block.mime_type)


def read_audio(block: wire.Audio, context: Any) -> FilePart:
    return FilePart(data_url(block.data, block.mime_type), block.mime_type)


def write_image(part: AnyFile) -> Wire | None:
    media_type, data = _data(part.url) or ("", "")
    return wire.Image(data=data, mime_type=media_type) if media_type.startswith("image/") else None


def write_audio(part: AnyFile) -> Wire | None:
    media_type, data = _data(part.url) or ("", "")
    return wire.Audio(data=data, mime_type=media_type) if media_type.startswith("audio/") else None


def read_link(block: wire.ResourceLink, context: Any) -> FilePart:
    return FilePart(block.uri, block.mime_type or OCTETS, block.name)


def write_link(part: AnyFile) -> Wire | None:
    if _data(part.url) is not None:
        return None
    tail = part.url.rstrip("/").rpartition("/")[2].partition("?")[0]
    media_type = UNSET if part.media_type in (None, OCTETS) else part.media_type
    return wire.ResourceLink(uri=part.url, name=file_name(part) or tail or part.url, mime_type=media_type)


def read_resource(block: wire.EmbeddedResource, context: Any) -> FilePart | None:
    resource = block.resource
    media_type = resource.get("mimeType")
    media_type = media_type if isinstance(media_type, str) else OCTETS
    match resource:
        case {"uri": str(), "text": str(text)}:
            data = b64encode(text.encode("utf-8", "surrogatepass")).decode()
            url = data_url(data, media_type)
            return FilePart(url, media_type, provider_metadata={NAME: {AS_TEXT: True}})
        case {"uri": str(), "blob": str(data)}:
            return FilePart(data_url(data, media_type), media_type)
        case _:
            return None


def write_resource(part: AnyFile) -> Wire | None:
    found = _data(part.url)
    if found is None:
        return None
    media_type, data = found
    resource: JsonObject = {
        "uri": f"file:///{quote(file_name(part) or 'file')}",
        "mimeType": media_type or part.media_type or OCTETS,
    }
    is_text = notes(part.provider_metadata, NAME).get(AS_TEXT) is True
    text = _decoded(data) if is_text else None
    return wire.EmbeddedResource(resource=resource | ({"blob": data} if text is None else {"text": text}))


def _data(url: str) -> tuple[str, str] | None:
    """Return the media type of a data URL, and its data in base64."""
    found = parse_data_url(url)
    return None if found is None else (found.media_type or "", found.in_base64())


def _decoded(data: str) -> str | None:
    try:
        return b64decode(data, validate=True).decode("utf-8", "surrogatepass")
    except ValueError:
        return None


def write_as_text(part: AnyFile) -> Wire | None:
    """Write a file as its text or its URL: messages can only have text, images and audio."""
    if part.url.lower().startswith(("https:", "http:")):
        return wire.Text(text=part.url)
    found = parse_data_url(part.url)
    is_text = found is not None and (found.media_type or "").startswith("text/")
    text = found.text() if found is not None and is_text else None
    return None if text is None else wire.Text(text=text)


# Results


def read_result(block: wire.ToolResult, name: str) -> ToolResultPart:
    """Read a result. The output is its structured content, else its blocks, or the text of an error."""
    is_error, value = block.is_error is True, block.structured_content
    output: ToolOutput
    if value is not UNSET and value is not None:
        output = ErrorJsonOutput(value) if is_error else JsonOutput(value)
    elif is_error:
        output = ErrorTextOutput("".join(one.text for one in block.content if isinstance(one, wire.Text)))
    else:
        output = ContentOutput(tuple(CONTENT.read(one, None) for one in block.content))
    return ToolResultPart(block.tool_use_id, name, output)


def write_result(part: ToolResultPart) -> Wire:
    """Write a result. Structured content is also written as text, for clients that do not read it.

    Source: https://modelcontextprotocol.io/specification/2025-11-25/server/tools#structured-content
    """
    outcome, value, items = write_tool_text(part.output)
    content: Any = () if value == "" else (wire.Text(text=as_text(value)),)
    if items is not None:
        content = tuple(block for item in items if (block := CONTENT.write(item)) is not None)
    return wire.ToolResult(
        tool_use_id=part.id,
        content=content,
        structured_content=value if isinstance(part.output, JsonOutput | ErrorJsonOutput) else UNSET,
        is_error=UNSET if outcome == "success" else True,
    )


# Tables of codecs


def _never(part: Any) -> bool:
    return False


TEXT: Final[PartCodec[Any]] = PartCodec(wire.Text, TextPart, read_text, write_text)
IMAGE: Final[PartCodec[Any]] = PartCodec(wire.Image, FILES, read_image, write_image)
AUDIO: Final[PartCodec[Any]] = PartCodec(wire.Audio, FILES, read_audio, write_audio)
NOTES: Final = OLD_NOTES | {AS_TEXT}

CONTENT: Final[PartCodecs[Any]] = PartCodecs(
    NAME,
    TEXT,
    IMAGE,
    AUDIO,
    PartCodec(wire.ResourceLink, FILES, read_link, write_link),
    PartCodec(wire.EmbeddedResource, FILES, read_resource, write_resource),
    reserved=NOTES,
)
"""The blocks of results."""

BLOCKS: Final[PartCodecs[Any]] = PartCodecs(
    NAME,
    TEXT,
    IMAGE,
    AUDIO,
    # Prompts have resources, sampling does not: they are only written if they were read from a resource
    PartCodec(wire.ResourceLink, FILES, read_link, write_link, suits=_never),
    PartCodec(wire.EmbeddedResource, FILES, read_resource, write_resource, suits=_never),
    PartCodec(wire.ToolUse, ToolCallPart, read_call, write_call, metadata="call_provider_metadata"),
    reserved=NOTES,
)
"""The blocks of messages, except results."""

RESULTS: Final[PartCodecs[str]] = PartCodecs(
    NAME, PartCodec(wire.ToolResult, ToolResultPart, read_result, write_result), reserved=OLD_NOTES
)


def write_block(part: Any) -> Wire | JsonObject | None:
    """Return the block of a part in a message, or `None` if no block can hold it."""
    block = BLOCKS.write(part)
    return write_as_text(part) if block is None and isinstance(part, FILES) else block
