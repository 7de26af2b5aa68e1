"""How a model message contains a file, and the URL that canonical parts have for it.

A shape is what a message has, without the file itself: `"base64"`, or `{"type": "data", "data": "base64"}`.
With the URL it gives what was read.
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
"""Kinds of data in version 7; the member of the same name holds the file."""


class FileSource(NamedTuple):
    """Where a file is: its URL, or its ids by provider."""

    url: str
    reference: dict[str, str] | None = None
    shape: Json = "url"


def source_of(part: FilePart | ImagePart | ReasoningFilePart) -> FileSource:
    """Where the file of a part is."""
    return FileSource(part.url, part.provider_reference if isinstance(part, FilePart) else None)


def read_source(raw: Json, media_type: str | None) -> FileSource | None:
    """The file that the data of a block stands for; `None` if it is not one."""
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
    """The file in that shape; `UNSET` if the shape cannot hold it."""
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
    """The data that the SDK's conversion of UI messages writes. It refuses a URL that is not absolute."""
    if version != 7:
        return source.url
    if source.reference is not None:
        return {"type": "reference", "reference": source.reference}
    return {"type": "url", "url": address(source.url, "$.url")}


def output_data(source: FileSource) -> JsonObject:
    """The data of a file in an output of version 7."""
    if source.reference is not None:
        return {"type": "reference", "reference": source.reference}
    encoded = base64_of(source.url)
    return {"type": "url", "url": source.url} if encoded is None else {"type": "data", "data": encoded}


def base64_of(url: str) -> str | None:
    """The data of a data URL in base64."""
    inline = inline_data(url)
    return None if inline is None else inline.data


def is_reference(value: Json) -> bool:
    """Whether a value can be file ids by provider."""
    return is_object(value) and all(isinstance(item, str) for item in value.values())
