"""Files in model messages: their URLs, and the shapes in which messages contain them.

A shape is the data of a block without the file itself: `"base64"`, or `{"type": "data", "data": "base64"}`.
The shape and the URL together result in the data that was read.
"""

from base64 import b64decode
from typing import Final, NamedTuple

from msgspec import UNSET

from partita.formats.ai_sdk.javascript import address
from partita.formats.core.files import has_scheme
from partita.types.data_url import data_url, inline_data, text_url
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart

TAGS: Final = ("data", "url", "text", "reference")
"""Types of data in version 7. The member of the same name has the file."""


class FileSource(NamedTuple):
    """A file: its URL, or its ids by provider, and the shape of its data."""

    url: str
    reference: dict[str, str] | None = None
    shape: Json = "url"


def source_of(part: FilePart | ImagePart | ReasoningFilePart) -> FileSource:
    """Return the file of a part."""
    return FileSource(part.url, part.provider_reference if isinstance(part, FilePart) else None)


def read_source(raw: Json, media_type: str | None) -> FileSource | None:
    """Return the file of a block's data, or `None` if the data is not one."""
    if isinstance(raw, str):
        if has_scheme(raw):
            return FileSource(raw)
        return FileSource(data_url(raw, media_type), shape="base64")
    if not is_object(raw):
        return None
    tag = raw.get("type")
    if tag not in TAGS:
        return FileSource("", raw, "reference") if is_reference(raw) else None
    source = _read_tagged(tag, raw.get(tag), media_type)
    return None if source is None else source._replace(shape={**raw, tag: source.shape})


def _read_tagged(tag: str, value: Json, media_type: str | None) -> FileSource | None:
    if tag == "reference":
        return FileSource("", value, "reference") if is_reference(value) else None
    if not isinstance(value, str):
        return None
    if tag == "url":
        return FileSource(value)
    if tag == "data":
        return read_source(value, media_type)
    return FileSource(text_url(value, media_type or ""), shape="text")


def write_source(shape: Json, source: FileSource) -> Json:
    """Return the data of a file in a shape, or `UNSET` if the shape cannot contain it."""
    if is_object(shape) and shape.get("type") in TAGS:
        tag: str = shape["type"]
        inner = write_source(shape.get(tag), source) if isinstance(shape.get(tag), str) else UNSET
        return UNSET if inner is UNSET else {**shape, tag: inner}
    match shape:
        case "url":
            return source.url
        case "reference" if source.reference is not None:
            return source.reference
        case "base64" if (encoded := base64_of(source.url)) is not None:
            return encoded
        case "text" if (encoded := base64_of(source.url)) is not None:
            try:
                return b64decode(encoded, validate=True).decode("utf-8", "surrogatepass")
            except ValueError:
                return UNSET
        case _:
            return UNSET


def sdk_data(source: FileSource, version: int) -> Json:
    """Return the data that the SDK's conversion of UI messages writes.

    It refuses a URL that is not absolute.
    """
    if version != 7:
        return source.url
    if source.reference is not None:
        return {"type": "reference", "reference": source.reference}
    return {"type": "url", "url": address(source.url, "$.url")}


def output_data(source: FileSource) -> JsonObject:
    """Return the data of a file in an output of version 7."""
    if source.reference is not None:
        return {"type": "reference", "reference": source.reference}
    encoded = base64_of(source.url)
    return {"type": "url", "url": source.url} if encoded is None else {"type": "data", "data": encoded}


def base64_of(url: str) -> str | None:
    """Return the data of a data URL in base64."""
    inline = inline_data(url)
    return None if inline is None else inline.data


def is_reference(value: Json) -> bool:
    """Whether a value can be the ids of a file by provider."""
    return is_object(value) and all(isinstance(item, str) for item in value.values())
