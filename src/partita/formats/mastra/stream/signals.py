"""What a user says while an agent is at work: a `data-user-message` → the parts of a steering message."""

from collections.abc import Sequence
from typing import TypeAlias

from partita.formats.ai_sdk.ui.v4_load import file_url, guessed_type
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import FilePart, TextPart

from .said import Said

Piece: TypeAlias = TextPart | FilePart


def steering_of(said: Said) -> tuple[str, tuple[Piece, ...]] | None:
    """The id and the parts of what was said, taken out of the chunk; `None` if it is not as it should be."""
    data = said.around.get("data")
    if not is_object(data):
        return None
    match data:
        case {"id": str(id_), "contents": contents, **rest}:
            parts = _parts(contents)
        case _:
            return None
    if parts is None:
        return None
    del said.around["data"]
    said.about = {"id": id_}
    said.rest |= rest
    return id_, tuple(parts)


def _parts(contents: Json) -> Sequence[Piece] | None:
    """The parts of a text, of a list of pieces, or of whole messages of a user."""
    if isinstance(contents, str):
        return [TextPart(contents)]
    if is_object(contents):
        is_message = contents.keys() == {"role", "content"} and contents["role"] == "user"
        return _parts(contents["content"]) if is_message and not is_object(contents["content"]) else None
    if not is_array(contents) or not contents:
        return None
    found = [_parts(item) if is_object(item) and "role" in item else _piece(item) for item in contents]
    pieces = [piece for some in found if some is not None for piece in some]
    return None if None in found else pieces


def _piece(item: Json) -> Sequence[Piece] | None:
    if not is_object(item):
        return None
    match item:
        case {"type": "text", "text": str(text), **rest} if not rest:
            return [TextPart(text)]
        case {"type": "image", "image": str(data), **rest}:
            return _file(data, rest)
        case {"type": "file", "data": str(data), **rest}:
            return _file(data, rest)
        case _:
            return None


def _file(data: str, rest: JsonObject) -> Sequence[FilePart] | None:
    name = rest.pop("filename", None)
    given = [rest.pop(key) for key in ("mediaType", "mimeType") if isinstance(rest.get(key), str)]
    if rest or len(given) > 1 or not isinstance(name, str | None):
        return None
    media_type = given[0] if given else guessed_type(data, name)
    return [FilePart(file_url(data, media_type), media_type, name)]
