"""Items of `content` outputs in model messages, in all the kinds there have been ↔ text, images and files."""

from collections.abc import Callable, Mapping
from typing import assert_never

from msgspec import UNSET

from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart, UnknownPart
from partita.types.tools import ContentItem

from .files import FileData, base64_of, is_reference, read_data, tagged, write_data
from .marks import FORMAT, amended, difference, note_of, options_of, with_note, with_options
from .parts import file_data

UNKNOWN_MEDIA_TYPE = "application/octet-stream"

ITEMS: Mapping[str, tuple[int, ...]] = {
    "text": (4, 5, 6, 7),
    "media": (4, 5, 6),
    "file": (7,),
    "file-data": (6, 7),
    "file-url": (6, 7),
    "file-id": (6, 7),
    "file-reference": (7,),
    "image-data": (6, 7),
    "image-url": (6, 7),
    "image-file-id": (6, 7),
    "image-file-reference": (7,),
    "custom": (6, 7),
}
"""Kinds of items in a `content` output, and the versions that know them."""


def read_item(raw: Json, version: int) -> ContentItem:
    """An item as a part; as a foreign one if it fits nowhere."""
    kind = raw.get("type") if is_object(raw) else None
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    part = reader(raw) if reader else None
    if part is None:
        return ForeignPart(FORMAT, raw)
    written = write_item(part, version)
    if written == raw:
        return part
    note: JsonObject = {"kind": kind}
    if kind == "file" and (data := read_data(raw["data"], raw["mediaType"])):
        note["data"] = data.shape
    note |= difference(write_item(with_note(part, note), version), raw)
    return with_note(part, note)


def write_item(part: ContentItem, version: int) -> Json:
    """An item, or `UNSET` when the version has nothing like it."""
    match part:
        case TextPart(text=text):
            written: JsonObject = {"type": "text", "text": text}
        case FilePart() | ImagePart():
            written = _write_file(part, version)
        case ForeignPart(format=format_, value=value):
            kind = value.get("type") if is_object(value) else None
            known = version in ITEMS[kind] if isinstance(kind, str) and kind in ITEMS else True
            return value if known and format_ == FORMAT else UNSET
        case UnknownPart():
            return UNSET
        case _:
            assert_never(part)
    note = note_of(part) or {}
    piece = with_options(written, part.provider_metadata)
    return amended(piece, note) if note.get("kind") == written["type"] else piece


def _write_file(part: FilePart | ImagePart, version: int) -> JsonObject:
    note = note_of(part) or {}
    file = file_data(part)
    for kind in (note.get("kind"), *_kinds(part, version)):
        if isinstance(kind, str) and kind in _WRITERS and version in ITEMS[kind]:
            written = _WRITERS[kind](part, file, note)
            if written is not None:
                return {"type": kind, **written}
    return {"type": "text", "text": part.url}  # version 5 can only name the address


def _kinds(part: FilePart | ImagePart, version: int) -> tuple[str, ...]:
    """The kinds of items that a version would use, best first."""
    if version != 6:
        return ("file", "media")
    return (
        ("image-data", "image-url") if isinstance(part, ImagePart) else ("file-id", "file-data", "file-url")
    )


def _read_text(raw: JsonObject) -> TextPart | None:
    text = raw.get("text")
    return TextPart(text, provider_metadata=options_of(raw)) if isinstance(text, str) else None


def _read_file(raw: JsonObject) -> FilePart | None:
    media_type, filename = raw.get("mediaType"), raw.get("filename")
    data = read_data(raw.get("data"), media_type) if isinstance(media_type, str) else None
    if data is None or not is_object(raw["data"]):
        return None
    name = filename if isinstance(filename, str) else None
    return FilePart(data.url, raw["mediaType"], name, data.reference, provider_metadata=options_of(raw))


def _read_file_data(raw: JsonObject) -> FilePart | None:
    data, media_type, filename = raw.get("data"), raw.get("mediaType"), raw.get("filename")
    if not isinstance(data, str) or not isinstance(media_type, str):
        return None
    name = filename if isinstance(filename, str) else None
    return FilePart(f"data:{media_type};base64,{data}", media_type, name, provider_metadata=options_of(raw))


def _read_file_url(raw: JsonObject) -> FilePart | None:
    url, media_type = raw.get("url"), raw.get("mediaType")
    known = media_type if isinstance(media_type, str) else UNKNOWN_MEDIA_TYPE
    return FilePart(url, known, provider_metadata=options_of(raw)) if isinstance(url, str) else None


def _read_file_id(raw: JsonObject) -> FilePart | None:
    reference = raw.get("fileId" if raw["type"] == "file-id" else "providerReference")
    if not is_reference(reference):
        return None
    return FilePart("", UNKNOWN_MEDIA_TYPE, provider_reference=reference, provider_metadata=options_of(raw))


def _read_image_data(raw: JsonObject) -> ImagePart | None:
    file = _read_file_data(raw)
    if file is None:
        return None
    return ImagePart(file.url, file.media_type, provider_metadata=file.provider_metadata)


def _read_image_url(raw: JsonObject) -> ImagePart | None:
    url = raw.get("url")
    return ImagePart(url, provider_metadata=options_of(raw)) if isinstance(url, str) else None


_READERS: Mapping[str, Callable[[JsonObject], TextPart | FilePart | ImagePart | None]] = {
    "text": _read_text,
    "media": _read_file_data,
    "file": _read_file,
    "file-data": _read_file_data,
    "file-url": _read_file_url,
    "file-id": _read_file_id,
    "file-reference": _read_file_id,
    "image-data": _read_image_data,
    "image-url": _read_image_url,
}


def _write_tagged(part: FilePart | ImagePart, file: FileData, note: JsonObject) -> JsonObject:
    data = write_data(note.get("data"), file)
    media_type = part.media_type or "image/*"
    return {"data": tagged(file) if data is UNSET else data, "mediaType": media_type, **_filename(part)}


def _write_media(part: FilePart | ImagePart, file: FileData, _: JsonObject) -> JsonObject | None:
    encoded = base64_of(file.url, file.media_type)
    return None if encoded is None else {"data": encoded, "mediaType": part.media_type or "image/*"}


def _write_file_data(part: FilePart | ImagePart, file: FileData, note: JsonObject) -> JsonObject | None:
    written = _write_media(part, file, note)
    return written and {**written, **_filename(part)}


def _write_file_url(part: FilePart | ImagePart, file: FileData, _: JsonObject) -> JsonObject | None:
    media_type = {} if part.media_type is None else {"mediaType": part.media_type}
    return None if file.reference is not None else {"url": file.url, **media_type}


def _write_image_url(part: FilePart | ImagePart, file: FileData, _: JsonObject) -> JsonObject | None:
    return None if file.reference is not None else {"url": file.url}


def _write_file_id(part: FilePart | ImagePart, file: FileData, _: JsonObject) -> JsonObject | None:
    return None if file.reference is None else {"fileId": file.reference}


def _write_reference(part: FilePart | ImagePart, file: FileData, _: JsonObject) -> JsonObject | None:
    return None if file.reference is None else {"providerReference": file.reference}


def _filename(part: FilePart | ImagePart) -> JsonObject:
    name = part.filename if isinstance(part, FilePart) else part.name
    return {} if name is None else {"filename": name}


_WRITERS: Mapping[str, Callable[[FilePart | ImagePart, FileData, JsonObject], JsonObject | None]] = {
    "media": _write_media,
    "file": _write_tagged,
    "file-data": _write_file_data,
    "file-url": _write_file_url,
    "file-id": _write_file_id,
    "file-reference": _write_reference,
    "image-data": _write_media,
    "image-url": _write_image_url,
}
