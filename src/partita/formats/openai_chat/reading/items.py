"""Items of a content → parts. What is not understood, or could not be written again, is kept whole."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from partita.formats.openai_chat.attachments import PDF, media_item
from partita.formats.openai_chat.dialects import Dialect
from partita.formats.openai_chat.looking import word
from partita.formats.openai_chat.media import media_type_of
from partita.formats.openai_chat.notes import FIELDS, ITEM, THINKING, WITHIN
from partita.formats.openai_chat.owning import format_of
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import FilePart, ForeignPart, ImagePart, ReasoningPart, TextPart

MediaPart: TypeAlias = ImagePart | FilePart

ANY_TYPE: Final = "application/octet-stream"
"""The media type of a file that the server keeps."""

SOUNDS: Final[Mapping[str, str]] = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def read_item(item: Json, dialect: Dialect) -> TextPart | ImagePart | FilePart | ForeignPart:
    """An item of what a user, a tool or the instructions say."""
    match item:
        case {"type": "text", "text": str(text)}:
            return TextPart(text, provider_metadata=_named(dialect, _kept(item, "text")))
        case {"type": "image_url" | "input_audio" | "file" as kind} if is_object(item):
            return _media(item, kind, dialect)
        case _:
            return foreign(item, dialect)


def read_said(item: Json, dialect: Dialect) -> TextPart | ReasoningPart | ForeignPart:
    """An item of what a model says."""
    match item:
        case {"type": "text", "text": str(text)}:
            return TextPart(text, provider_metadata=_named(dialect, _kept(item, "text")))
        case {"type": "refusal", "refusal": str(text)}:
            own = {"refusal": True, ITEM: True, **_kept(item, "refusal")}
            return TextPart(text, provider_metadata=_named(dialect, own))
        case {"type": "thinking", "thinking": thinking} if dialect.reasoning == "thinking":
            return _thought(item, thinking, dialect)
        case _:
            return foreign(item, dialect)


def foreign(value: Json, dialect: Dialect, within: str | None = None) -> ForeignPart:
    """A value that is kept as it is, in the content or within another list of the message."""
    own = {} if within is None else {WITHIN: within}
    return ForeignPart(format_of(dialect), value, provider_metadata=_named(dialect, own))


def _thought(item: JsonObject, thinking: Json, dialect: Dialect) -> ReasoningPart | ForeignPart:
    texts = [_piece(piece) for piece in ([thinking] if isinstance(thinking, str) else _array(thinking))]
    signature = item.get("signature")
    if not texts or None in texts or not isinstance(signature, str | None) or signature == "":
        return foreign(item, dialect)
    text = "".join(filter(None, texts))
    own: JsonObject = {"field": "thinking"}
    if "signature" in item and signature is None:
        return foreign(item, dialect)
    if signature:
        own["signature"] = signature
    if thinking != [{"type": "text", "text": text}]:
        own[THINKING] = thinking
    own |= _kept(item, "thinking", "signature")
    return ReasoningPart(text, provider_metadata=_named(dialect, own))


def _piece(piece: Json) -> str | None:
    match piece:
        case str(text) | {"type": "text", "text": str(text)}:
            return text
        case _:
            return None


def _array(value: Json) -> list[Json]:
    return value if is_array(value) else [None]


def _media(item: JsonObject, kind: str, dialect: Dialect) -> MediaPart | ForeignPart:
    """A picture, a sound or a file; kept whole if writing it would give something else."""
    said = item.get(kind)
    part = READERS[kind](said, _kept(item, kind), dialect) if is_object(said) else None
    if part is None or media_item(part, dialect) != item:
        return foreign(item, dialect)
    return part


def _picture(said: JsonObject, kept: JsonObject, dialect: Dialect) -> MediaPart | None:
    url, detail = word(said, "url"), word(said, "detail")
    own = {"imageDetail": detail, **kept} if detail else kept
    return ImagePart(url, media_type_of(url) or None, provider_metadata=_named(dialect, own))


def _sound(said: JsonObject, kept: JsonObject, dialect: Dialect) -> MediaPart | None:
    media_type = SOUNDS.get(word(said, "format"))
    if media_type is None:
        return None
    url = f"data:{media_type};base64,{word(said, 'data')}"
    return FilePart(url, media_type, provider_metadata=_named(dialect, kept))


def _file(said: JsonObject, kept: JsonObject, dialect: Dialect) -> MediaPart | None:
    metadata = _named(dialect, kept)
    if file_id := word(said, "file_id"):
        reference = {dialect.namespace: file_id}
        return FilePart("", ANY_TYPE, provider_reference=reference, provider_metadata=metadata)
    url = word(said, "file_data")
    media_type = media_type_of(url) or PDF
    return FilePart(url, media_type, word(said, "filename") or None, provider_metadata=metadata)


READERS: Final[Mapping[str, Callable[[JsonObject, JsonObject, Dialect], MediaPart | None]]] = {
    "image_url": _picture,
    "input_audio": _sound,
    "file": _file,
}


def _kept(item: JsonObject, *read: str) -> JsonObject:
    """The members of an item that are not understood, to go back with it."""
    rest = {key: value for key, value in item.items() if key != "type" and key not in read}
    return {FIELDS: rest} if rest else {}


def _named(dialect: Dialect, own: JsonObject) -> JsonObject | None:
    return {dialect.namespace: own} if own else None
