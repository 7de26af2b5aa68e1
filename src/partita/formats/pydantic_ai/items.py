"""What a user prompt or an output is made of: texts, files by URL, bytes, uploaded files ↔ parts."""

from base64 import b64decode
from binascii import Error
from typing import Any, Final

from partita.formats.framework.media import OCTETS, data_url, inline_of, kind_of_media
from partita.formats.framework.members import metadata_of, noted, present
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart

from .shapes import NAME, members_of, written

URLS: Final = frozenset({"image-url", "audio-url", "video-url", "document-url"})
UPLOADERS: Final = frozenset(
    {"anthropic", "openai", "google", "google-cloud", "google-gla", "google-vertex", "bedrock", "xai"}
)
"""Providers whose uploaded files Pydantic AI knows."""

LONG_TEXT: Final = "text-content"
Item = TextPart | ImagePart | FilePart | ForeignPart


def read_item(raw: Json) -> Item:
    """The part that an item amounts to; what is no text and no file is kept whole."""
    if isinstance(raw, str):
        return TextPart(raw)
    kind = raw.get("kind") if is_object(raw) and isinstance(raw.get("kind"), str) else None
    part: Item | None = None
    if is_object(raw) and kind in URLS:
        part = _read_url(raw, kind)
    elif is_object(raw) and kind == "binary":
        part = read_binary(raw)
    elif is_object(raw) and kind == "uploaded-file":
        part = _read_uploaded(raw)
    elif is_object(raw) and kind == LONG_TEXT and isinstance(raw.get("content"), str):
        left = members_of(raw, LONG_TEXT, "kind", "content").left
        part = TextPart(raw["content"], provider_metadata={NAME: {**left, "kind": LONG_TEXT}})
    return ForeignPart(NAME, raw) if part is None else part


def write_item(part: Any) -> Json:
    """The item that holds a part; `None` if there is none for it."""
    match part:
        case TextPart():
            note = dict(noted(part.provider_metadata, NAME))
            if note.pop("kind", None) != LONG_TEXT:
                return part.text
            return written(LONG_TEXT, note, {"content": part.text, "kind": LONG_TEXT})
        case FilePart(provider_reference=dict() as reference) if UPLOADERS & set(reference):
            provider = next(name for name in reference if name in UPLOADERS)
            note = noted(part.provider_metadata, NAME)
            about = {"file_id": reference[provider], "provider_name": provider, "kind": "uploaded-file"}
            return written("uploaded-file", note, about, {"media_type": part.media_type})
        case ImagePart() | FilePart():
            return write_binary(part) or _write_url(part)
        case ForeignPart(format="pydantic-ai", value=value) if is_object(value) and "kind" in value:
            return value
        case _:
            return None


def is_file(raw: Json) -> bool:
    """Whether an item of an output is a file."""
    return is_object(raw) and raw.get("kind") in (*URLS, "binary", "uploaded-file")


def _read_url(raw: JsonObject, kind: str) -> Item | None:
    url, media_type = raw.get("url"), raw.get("media_type")
    if not isinstance(url, str) or not (media_type is None or isinstance(media_type, str)):
        return None
    left = members_of(raw, kind, "kind", "url", "media_type").left
    if inline_of(url) is not None:
        left["spelt"] = "url"
    if kind == "image-url":
        return ImagePart(url, media_type=media_type, provider_metadata=metadata_of(NAME, left))
    if media_type is None:
        left["untyped"] = True
    if media_type is None or kind_of_media(media_type) != kind.removesuffix("-url"):
        left["of"] = kind
    return FilePart(
        url, OCTETS if media_type is None else media_type, provider_metadata=metadata_of(NAME, left)
    )


def _write_url(part: ImagePart | FilePart) -> JsonObject:
    note = dict(noted(part.provider_metadata, NAME))
    note.pop("spelt", None)
    untyped, of = note.pop("untyped", False), note.pop("of", None)
    media = "image" if isinstance(part, ImagePart) else kind_of_media(part.media_type)
    kind = of if isinstance(of, str) and of in URLS else f"{media}-url"
    typed = {} if untyped else present(media_type=part.media_type)
    return written(kind, note, {"url": part.url, "kind": kind, **typed})


def read_binary(raw: JsonObject) -> ImagePart | FilePart | None:
    """A file whose bytes are in the message."""
    data, media_type = raw.get("data"), raw.get("media_type")
    if not isinstance(data, str) or not isinstance(media_type, str):
        return None
    metadata = metadata_of(NAME, members_of(raw, "binary", "kind", "data", "media_type").left)
    if kind_of_media(media_type) == "image":
        return ImagePart(data_url(data, media_type), media_type=media_type, provider_metadata=metadata)
    return FilePart(data_url(data, media_type), media_type, provider_metadata=metadata)


def write_binary(part: ImagePart | FilePart) -> JsonObject | None:
    """The bytes of a file, if its URL holds them."""
    note = noted(part.provider_metadata, NAME)
    inline = inline_of(part.url)
    if inline is None or note.get("spelt") == "url" or not _is_base64(inline.data):
        return None
    media_type = part.media_type or inline.media_type or OCTETS
    return written("binary", note, {"data": inline.data, "media_type": media_type, "kind": "binary"})


def _read_uploaded(raw: JsonObject) -> Item | None:
    file_id, provider, media_type = raw.get("file_id"), raw.get("provider_name"), raw.get("media_type")
    if not isinstance(file_id, str) or not isinstance(provider, str) or not isinstance(media_type, str):
        return None
    if provider not in UPLOADERS:
        return None
    left = members_of(raw, "uploaded-file", "kind", "file_id", "provider_name", "media_type").left
    return FilePart(
        "", media_type, provider_reference={provider: file_id}, provider_metadata=metadata_of(NAME, left)
    )


def _is_base64(data: str) -> bool:
    try:
        b64decode(data, validate=True)
    except (Error, ValueError):
        return False
    return True
