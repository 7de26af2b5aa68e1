"""Values that several formats share with Anthropic's API: images and documents, stop reasons, usage.

Source: https://docs.claude.com/en/docs/build-with-claude/vision and …/pdf-support
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType

from partita.types.data_url import OCTETS, PDF, PLAIN, data_url, parse_data_url, text_url
from partita.types.json import Json, JsonObject
from partita.types.parts import FilePart, ImagePart
from partita.types.usage import UsageNames

from .codec import PartCodec
from .files import ANY_IMAGE, FILES, AnyFile, file_name, is_image
from .wire import Wire

NAME: Final = "anthropic"
"""The namespace of provider metadata, the key of provider references, and the format of unknown blocks."""

IMAGES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


class Block(Wire, tag_field="type", kw_only=True):
    """Members that all blocks may have."""

    cache_control: Json | UnsetType = UNSET


class Image(Block, tag="image"):
    """An image, by `base64`, `url` or `file` id."""

    source: JsonObject


class Document(Block, tag="document"):
    """A PDF or a text, by `base64`, `text`, `url`, `file` id or `content` blocks."""

    source: JsonObject
    title: str | UnsetType | None = UNSET


def read_image(block: Image, context: Any) -> ImagePart | FilePart | None:
    """Return the part of an image."""
    match block.source:
        case {"type": "base64", "media_type": str(media_type), "data": str(data)}:
            return ImagePart(data_url(data, media_type), media_type)
        case {"type": "url", "url": str(url)}:
            return ImagePart(url)
        case {"type": "file", "file_id": str(file_id)}:
            return FilePart("", ANY_IMAGE, provider_reference={NAME: file_id})
        case _:
            return None


def read_document(block: Document, context: Any) -> FilePart | None:
    """Return the part of a document."""
    filename = block.title if isinstance(block.title, str) and block.title else None
    match block.source:
        case {"type": "base64", "media_type": str(media_type), "data": str(data)}:
            return FilePart(data_url(data, media_type), media_type, filename)
        case {"type": "text", "media_type": str(media_type), "data": str(text)}:
            return FilePart(text_url(text, media_type), media_type, filename)
        case {"type": "url", "url": str(url)}:
            return FilePart(url, PDF, filename)
        case {"type": "file", "file_id": str(file_id)}:
            return FilePart("", OCTETS, filename, provider_reference={NAME: file_id})
        case _:
            return None


def write_image(part: AnyFile) -> Wire | None:
    """Return the block of a part that is an image."""
    source = _source(part) if is_image(part) else None
    return None if source is None else Image(source=source)


def write_document(part: AnyFile) -> Wire | None:
    """Return the block of a part that is not an image."""
    source = None if is_image(part) else _source(part)
    if source is None:
        return None
    return Document(source=source, title=file_name(part) or UNSET)


def _source(part: AnyFile) -> JsonObject | None:
    reference = part.provider_reference if isinstance(part, FilePart) else None
    if reference is not None and NAME in reference:
        return {"type": "file", "file_id": reference[NAME]}
    scheme = part.url.partition(":")[0].lower()
    if scheme in ("http", "https") and (is_image(part) or part.media_type == PDF):
        return {"type": "url", "url": part.url}
    inline = parse_data_url(part.url)
    if inline is None:
        return None
    media_type = inline.media_type or part.media_type or PLAIN
    if inline.is_base64 and media_type in (IMAGES if is_image(part) else {PDF}):
        return {"type": "base64", "media_type": media_type, "data": inline.data}
    if is_image(part) or not media_type.startswith("text/"):
        return None
    text = inline.text()
    return None if text is None else {"type": "text", "media_type": PLAIN, "data": text}


IMAGE: Final[PartCodec[Any]] = PartCodec(Image, FILES, read_image, write_image)
DOCUMENT: Final[PartCodec[Any]] = PartCodec(Document, FILES, read_document, write_document)


# Responses

# https://docs.claude.com/en/api/handling-stop-reasons
FINISH_REASONS: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
}
"""Finish reasons by stop reason; any other is `other`."""


def usage_names(template: JsonObject | None = None) -> UsageNames:
    """Return the names of the counts. `template`: members that are always written.

    The three counts of input are disjoint: https://docs.claude.com/en/api/messages#response-usage
    """
    return UsageNames(
        input=("input_tokens",),
        output=("output_tokens",),
        reasoning=("output_tokens_details.thinking_tokens",),
        cached=("cache_read_input_tokens",),
        cache_write=("cache_creation_input_tokens",),
        excludes_cache=True,
        template=template,
    )
