"""The many ways in which a model message holds a file, and the one url that stands for all of them.

A shape is the way with the file itself taken out: `"base64"`, or `{"type": "data", "data": "base64"}`.
Put together with the url, it gives back what was read.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec import UNSET

from partita.types.json import Json, JsonObject, is_object

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
"""What a URL begins with."""

_DATA_URL = re.compile(r"data:[^,]*;base64,")

TAGS = ("data", "url", "text", "reference")
"""Kinds of tagged data in version 7; the member of the same name holds the file."""


class FileData(NamedTuple):
    """Where a file is: its url, or its ids by provider; and the shape this was told in."""

    url: str
    media_type: str | None = None
    reference: dict[str, str] | None = None
    shape: Json = "url"


def read_data(raw: Json, media_type: str | None) -> FileData | None:
    """The file that the `data` of a part stands for; `None` when it is none."""
    if isinstance(raw, str):
        return _read_text(raw, media_type)
    if not is_object(raw):
        return None
    tag = raw.get("type")
    if tag not in TAGS:
        return FileData("", media_type, raw, "reference") if is_reference(raw) else None
    inner = _READERS[tag](raw.get(tag), media_type)
    return None if inner is None else inner._replace(shape={**raw, tag: inner.shape})


def write_data(shape: Json, file: FileData) -> Json:
    """The file in that shape; `UNSET` when the shape cannot hold it."""
    if isinstance(shape, str):
        return _WRITERS[shape](file) if shape in _WRITERS else UNSET
    if not is_object(shape) or shape.get("type") not in TAGS:
        return UNSET
    tag: str = shape["type"]
    inner = write_data(shape.get(tag), file) if isinstance(shape.get(tag), str) else UNSET
    return UNSET if inner is UNSET else {**shape, tag: inner}


def base64_of(url: str, media_type: str | None) -> str | None:
    """The base64 text in a data url."""
    prefix = f"data:{media_type or ''};base64,"
    if url.startswith(prefix):
        return url[len(prefix) :]
    found = _DATA_URL.match(url)
    return url[found.end() :] if found else None


def is_reference(value: Json) -> bool:
    """Whether a value can be file ids by provider."""
    return is_object(value) and all(isinstance(item, str) for item in value.values())


def _read_text(raw: Json, media_type: str | None) -> FileData | None:
    if not isinstance(raw, str):
        return None
    if SCHEME.match(raw):
        return FileData(raw, media_type)
    return FileData(f"data:{media_type or ''};base64,{raw}", media_type, shape="base64")


def _read_url(raw: Json, media_type: str | None) -> FileData | None:
    return FileData(raw, media_type) if isinstance(raw, str) else None


def _read_words(raw: Json, media_type: str | None) -> FileData | None:
    if not isinstance(raw, str):
        return None
    encoded = b64encode(raw.encode("utf-8", "surrogatepass")).decode()
    return FileData(f"data:{media_type or ''};base64,{encoded}", media_type, shape="text")


def _read_reference(raw: Json, media_type: str | None) -> FileData | None:
    return FileData("", media_type, raw, "reference") if is_reference(raw) else None


def _write_base64(file: FileData) -> Json:
    encoded = base64_of(file.url, file.media_type)
    return UNSET if encoded is None else encoded


def _write_words(file: FileData) -> Json:
    encoded = base64_of(file.url, file.media_type)
    try:
        return (
            UNSET if encoded is None else b64decode(encoded, validate=True).decode("utf-8", "surrogatepass")
        )
    except ValueError:
        return UNSET


_READERS: Mapping[str, Callable[[Json, str | None], FileData | None]] = {
    "data": _read_text,
    "url": _read_url,
    "text": _read_words,
    "reference": _read_reference,
}
_WRITERS: Mapping[str, Callable[[FileData], Json]] = {
    "url": lambda file: file.url,
    "base64": _write_base64,
    "text": _write_words,
    "reference": lambda file: UNSET if file.reference is None else file.reference,
}


def tagged(file: FileData) -> JsonObject:
    """The file as version 7 likes it best in tool results."""
    if file.reference is not None:
        return {"type": "reference", "reference": file.reference}
    encoded = base64_of(file.url, file.media_type)
    return {"type": "url", "url": file.url} if encoded is None else {"type": "data", "data": encoded}
