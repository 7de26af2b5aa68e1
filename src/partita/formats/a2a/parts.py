"""Parts of A2A, of protocol 1.0 and of the kinds before it ↔ our parts.

A2A has texts, files and data. Whatever else a message holds goes as data of a media type of ours, and comes
back as it was.
"""

import re
from typing import Final, TypeVar

from msgspec import UNSET

from partita.errors import DecodeError
from partita.types.codec import Codec, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, Part, ToolPart, UserPart
from partita.types.parts import DataPart, FilePart, ForeignPart, ImagePart, TextPart

NAMESPACE: Final = "a2a"
FORMAT: Final = "a2a"
OURS: Final = "application/vnd.partita.part+json"
"""The media type of data that is a part of ours."""

ANY_BYTES: Final = "application/octet-stream"
DATA: Final = "a2a"
"""The name of data that has none in A2A."""

UNTYPED: Final = "untyped"
CONTENT: Final = ("text", "raw", "url", "data")
BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
DATA_URL: Final = re.compile(r"data:([^,]*);base64,(.*)", re.DOTALL)

T = TypeVar("T")
USER_PART: Final[Codec[UserPart]] = Codec(UserPart)
ASSISTANT_PART: Final[Codec[AssistantPart]] = Codec(AssistantPart)
TOOL_PART: Final[Codec[ToolPart]] = Codec(ToolPart)


def read_part(raw: Json, ours: Codec[T]) -> T | TextPart | FilePart | DataPart | ForeignPart:
    """A part. `ours` reads the parts that only we have; what is not understood is kept whole."""
    if is_object(raw) and len(raw) == 1 and isinstance(raw.get("text"), str):
        return TextPart(raw["text"])
    part = _modern(raw)
    held = [key for key in CONTENT if key in part]
    if len(held) != 1:
        return ForeignPart(FORMAT, raw)
    kind, value = held[0], part[held[0]]
    if kind == "data":
        own = _own(part, ours)
        return _data(part) if own is None else own
    if not isinstance(value, str):
        return ForeignPart(FORMAT, raw)
    return _text(part, value) if kind == "text" else _file(part, kind, value)


def own_part(raw: Json, ours: Codec[T]) -> T | None:
    """A part that only we have, if it is one."""
    return _own(raw, ours) if is_object(raw) and "data" in raw else None


def write_part(part: Part) -> JsonObject:
    """A part of a message."""
    match part:
        case TextPart(text=text):
            return {"text": text, **_beside(part.provider_metadata)}
        case FilePart() | ImagePart():
            return _write_file(part) or _as_ours(part)
        case DataPart(name="a2a", id=None, data=data) if data is not UNSET:
            return {"data": data, **_beside(part.provider_metadata)}
        case ForeignPart(format="a2a", value=value) if is_object(value):
            return value
        case _:
            return _as_ours(part)


def is_ours(written: JsonObject) -> bool:
    """Whether a part went as data of ours."""
    return written.get("mediaType") == OURS


def _as_ours(part: Part) -> JsonObject:
    return {"data": to_json(part), "mediaType": OURS}


def _modern(raw: Json) -> JsonObject:
    """A part in the members of protocol 1.0."""
    if not is_object(raw):
        return {}
    kind = raw.get("kind", raw.get("type"))
    file = raw.get("file")
    if kind == "file" and is_object(file):
        names = {"bytes": "raw", "uri": "url", "mimeType": "mediaType", "name": "filename"}
        inner = {names.get(key, key): value for key, value in file.items()}
        return {**inner, **{key: value for key, value in raw.items() if key not in ("kind", "type", "file")}}
    if kind in ("text", "data") and kind in raw:
        return {key: value for key, value in raw.items() if key not in ("kind", "type")}
    return raw


def _own(part: JsonObject, ours: Codec[T]) -> T | None:
    if part.get("mediaType") != OURS or part.keys() - {"data", "mediaType"}:
        return None
    try:
        return ours.read(_whole(part["data"]))
    except DecodeError:
        return None


def _whole(value: Json) -> Json:
    """A value with its whole numbers whole: those who read A2A as protobuf make floats of all."""
    if isinstance(value, str):
        return value
    if is_object(value):
        return {key: _whole(inner) for key, inner in value.items()}
    if is_array(value):
        return [_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _text(part: JsonObject, text: str) -> TextPart:
    return TextPart(text, provider_metadata=_marks(part, "text"))


def _data(part: JsonObject) -> DataPart:
    return DataPart(DATA, part["data"], provider_metadata=_marks(part, "data"))


def _file(part: JsonObject, kind: str, value: str) -> FilePart:
    told, name = part.get("mediaType"), part.get("filename")
    media_type = told if isinstance(told, str) and told else ANY_BYTES
    url = f"data:{media_type};base64,{value}" if kind == "raw" else value
    filename = name if isinstance(name, str) and name else None
    known = [kind, *(["mediaType"] if media_type == told else []), *(["filename"] if filename else [])]
    more = {} if media_type == told else {UNTYPED: True}
    return FilePart(url, media_type, filename, provider_metadata=_marks(part, *known, **more))


def _marks(part: JsonObject, *known: str, **more: Json) -> JsonObject | None:
    marks = {key: value for key, value in part.items() if key not in known and value is not None} | more
    return {NAMESPACE: marks} if marks else None


def _beside(metadata: JsonObject | None) -> JsonObject:
    """What a part of A2A said besides its content."""
    marks = (metadata or {}).get(NAMESPACE)
    return {key: value for key, value in marks.items() if key != UNTYPED} if is_object(marks) else {}


def _write_file(part: FilePart | ImagePart) -> JsonObject | None:
    """A file in the message or at an address; `None` for one that has neither."""
    marks = (part.provider_metadata or {}).get(NAMESPACE)
    is_typed = not is_object(marks) or marks.get(UNTYPED) is not True
    media_type = part.media_type if is_typed else None
    inline = DATA_URL.fullmatch(part.url)
    if inline is not None and BASE64.fullmatch(inline[2]):
        content = {"raw": inline[2]}
        media_type = media_type or (inline[1] if is_typed else None)
    elif part.url.startswith(("https://", "http://")):
        content = {"url": part.url}
    else:
        return None
    name = part.name if isinstance(part, ImagePart) else part.filename
    typed = {"mediaType": media_type} if media_type else {}
    named = {"filename": name} if name else {}
    return {**content, **typed, **named, **_beside(part.provider_metadata)}
