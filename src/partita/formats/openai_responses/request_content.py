"""What a user shows a model, or a tool gives back → content parts of a request."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, assert_never

from partita.formats.losses import Loss
from partita.types.json import JsonObject, is_object
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    TextPart,
    UnknownPart,
)

from .amending import PART, amended
from .fields import FORMAT, NAMESPACE, present, text

Shown: TypeAlias = TextPart | ImagePart | FilePart | ReasoningFilePart | DataPart | ForeignPart | UnknownPart

SOUNDS: Final[Mapping[str, str]] = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}
"""Sounds that a model may be sent, and what they are called there."""

NO_DATA: Final = "data of the application is not for a model"
NO_PLACE: Final = "a request has no place for it"
NO_URL: Final = "the provider cannot fetch that url: give data: or https:"
NO_SOUND: Final = "only wav and mp3 are taken, as data:"


def content_of(parts: Sequence[Shown], where: str, losses: list[Loss]) -> list[JsonObject]:
    """The content parts of a request, and what cannot be shown."""
    shown = ((part, _part(part, f"{where}[{place}]", losses)) for place, part in enumerate(parts))
    return [_amended(part, written) for part, written in shown if written is not None]


def own(metadata: JsonObject | None) -> JsonObject:
    """What the provider itself left in the metadata of a part."""
    space = metadata.get(NAMESPACE) if metadata else None
    return space if is_object(space) else {}


def _amended(part: Shown, written: JsonObject) -> JsonObject:
    if isinstance(part, ForeignPart | UnknownPart):
        return written
    return amended(written, own(part.provider_metadata), PART)


def _part(part: Shown, where: str, losses: list[Loss]) -> JsonObject | None:
    match part:
        case TextPart():
            return {"type": "input_text", "text": part.text}
        case ImagePart():
            return _image(part.url, None, part.provider_metadata, where, losses)
        case FilePart():
            return _file(part, where, losses)
        case DataPart():
            losses.append(Loss.of(where, part.name, NO_DATA))
        case ForeignPart(format=format_, value=value) if format_ == FORMAT and is_object(value):
            return value
        case ReasoningFilePart() | ForeignPart() | UnknownPart():
            losses.append(Loss.of(where, part, NO_PLACE))
        case _:
            assert_never(part)
    return None


def _file(part: FilePart, where: str, losses: list[Loss]) -> JsonObject | None:
    file_id = (part.provider_reference or {}).get(NAMESPACE)
    kind = part.media_type.partition("/")[0]
    if kind == "image":
        return _image(part.url, file_id, part.provider_metadata, where, losses)
    if file_id:
        return {"type": "input_file", "file_id": file_id}
    if kind == "audio":
        return _sound(part, where, losses)
    if kind == "video":
        return _lost(part.url, NO_PLACE, where, losses)
    if part.url.startswith("data:"):
        name = part.filename or ("file.pdf" if part.media_type == "application/pdf" else "file")
        return {"type": "input_file", "filename": name, "file_data": part.url}
    if part.url.startswith(("https:", "http:")):
        return {"type": "input_file", "file_url": part.url}
    return _lost(part.url, NO_URL, where, losses)


def _image(
    url: str, file_id: str | None, metadata: JsonObject | None, where: str, losses: list[Loss]
) -> JsonObject | None:
    detail = present(detail=text(own(metadata), "imageDetail"))
    if file_id:
        return {"type": "input_image", "file_id": file_id, **detail}
    if url.startswith(("data:", "https:", "http:")):
        return {"type": "input_image", "image_url": url, **detail}
    return _lost(url, NO_URL, where, losses)


def _sound(part: FilePart, where: str, losses: list[Loss]) -> JsonObject | None:
    sound = SOUNDS.get(part.media_type)
    head, found, data = part.url.partition(";base64,")
    if sound is None or not found or not head.startswith("data:"):
        return _lost(part.url, NO_SOUND, where, losses)
    return {"type": "input_audio", "input_audio": {"data": data, "format": sound}}


def _lost(url: str, why: str, where: str, losses: list[Loss]) -> JsonObject | None:
    losses.append(Loss.of(where, url, why))
    return None
