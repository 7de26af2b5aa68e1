"""Pictures and files → the items of a user message that carry them; or why none does."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from partita.types.json import JsonObject
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart

from .dialects import Dialect
from .looking import word
from .owning import own_of
from .texts import fields_in

SOUNDS: Final[Mapping[str, str]] = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}
"""Formats of `input_audio` by media type."""

PDF: Final = "application/pdf"
UNREADABLE: Final = "its bytes cannot be read"
IN_A_STORE: Final = "its bytes are in a store"


class Data(NamedTuple):
    """What a `data:` url holds."""

    media_type: str
    content: bytes


def media_item(part: ImagePart | FilePart | ReasoningFilePart, dialect: Dialect) -> JsonObject | str:
    """The item for a picture or a file; or why there is none."""
    item = _item(part, dialect)
    return item if isinstance(item, str) else {**item, **fields_in(own_of(part.provider_metadata, dialect))}


def _item(part: ImagePart | FilePart | ReasoningFilePart, dialect: Dialect) -> JsonObject | str:
    reference = part.provider_reference if isinstance(part, FilePart) else None
    if reference is not None and dialect.namespace in reference:
        return {"type": "file", "file": {"file_id": reference[dialect.namespace]}}
    scheme = part.url.partition(":")[0].lower()
    if scheme == "data":
        data = _data_in(part.url, part.media_type or "")
        return UNREADABLE if data is None else _given(part, data, dialect)
    if scheme not in ("https", "http"):
        return (
            IN_A_STORE if scheme == "blob" else f"no server takes an address that begins with {scheme[:20]!r}"
        )
    if _is_picture(part, part.media_type or ""):
        return _picture(part, part.url, dialect)
    if dialect.fetches_files and not isinstance(part, ImagePart):
        return {"type": "file", "file": {"filename": part.filename or _name(part.url), "file_data": part.url}}
    return f"the server fetches pictures, no {part.media_type}"


def _given(part: ImagePart | FilePart | ReasoningFilePart, data: Data, dialect: Dialect) -> JsonObject | str:
    encoded = b64encode(data.content).decode()
    url = f"data:{data.media_type};base64,{encoded}"
    name = None if isinstance(part, ImagePart) else part.filename
    if _is_picture(part, data.media_type):
        return _picture(part, url, dialect)
    if data.media_type in SOUNDS:
        return {"type": "input_audio", "input_audio": {"data": encoded, "format": SOUNDS[data.media_type]}}
    if data.media_type == PDF:
        return {"type": "file", "file": {"filename": name or "document.pdf", "file_data": url}}
    if not data.media_type.startswith("text/"):
        return f"servers take pictures, PDF, WAV and MP3, no {data.media_type}"
    try:
        words = data.content.decode()
    except UnicodeDecodeError:
        return UNREADABLE
    return {"type": "text", "text": f"{name}:\n{words}" if name else words}


def _picture(part: ImagePart | FilePart | ReasoningFilePart, url: str, dialect: Dialect) -> JsonObject:
    detail = word(own_of(part.provider_metadata, dialect), "imageDetail")
    return {"type": "image_url", "image_url": {"url": url, **({"detail": detail} if detail else {})}}


def _is_picture(part: ImagePart | FilePart | ReasoningFilePart, media_type: str) -> bool:
    return isinstance(part, ImagePart) or media_type.partition("/")[0] == "image"


def _name(url: str) -> str:
    return url.partition("?")[0].rstrip("/").rpartition("/")[2]


def _data_in(url: str, media_type: str) -> Data | None:
    head, comma, written = url.partition(",")
    kind, *parameters = head[len("data:") :].split(";")
    if not comma:
        return None
    try:
        is_encoded = parameters[-1:] == ["base64"]
        content = b64decode(written, validate=True) if is_encoded else unquote_to_bytes(written)
    except ValueError:
        return None
    return Data(kind or media_type or "text/plain", content)
