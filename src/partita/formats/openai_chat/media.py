"""Sounds and pictures that a model made."""

import base64
import binascii
from typing import Final

from partita.formats.answers.outlet import Outlet
from partita.types.chunks import FileChunk
from partita.types.json import Json, JsonObject, is_object

from .looking import is_empty, word

AUDIO: Final = "audio"
"""The media type of a sound: an answer does not say its format, only the request did."""

IMAGE: Final = "image/*"
"""The media type of a picture that does not say its own."""


class Audio:
    """A sound while its pieces come, with its transcript."""

    def __init__(self) -> None:
        self._data: list[str] = []
        self._transcript: list[str] = []
        self._facts: JsonObject = {}

    def take(self, piece: JsonObject) -> None:
        """The next piece."""
        self._data.append(word(piece, "data"))
        self._transcript.append(word(piece, "transcript"))
        self._facts |= {key: value for key, value in piece.items() if key not in ("data", "transcript")}

    def settle(self, outlet: Outlet) -> JsonObject:
        """Tell the sound, if there is one, and give what else was said of it."""
        transcript = "".join(self._transcript)
        facts = {**self._facts, **({"transcript": transcript} if transcript else {})}
        if not any(self._data):
            return facts
        url = f"data:{AUDIO};base64,{_joined(self._data)}"
        outlet.emit(FileChunk(url, AUDIO, {outlet.namespace: {"audio": facts}} if facts else None))
        return {}


def picture(outlet: Outlet, item: Json) -> bool:
    """Tell a picture; whether `item` is one."""
    image = item.get("image_url") if is_object(item) else None
    url = image if isinstance(image, str) else word(image, "url")
    if url and is_object(item):
        rest = {
            key: value
            for key, value in item.items()
            if key not in ("type", "image_url") and not is_empty(value)
        }
        outlet.emit(FileChunk(url, media_type_of(url) or IMAGE, {outlet.namespace: rest} if rest else None))
    return bool(url)


def media_type_of(url: str) -> str:
    """The media type that a `data:` url says; an empty string if it says none."""
    head, comma, _ = url.partition(",")
    return head.removeprefix("data:").split(";")[0] if comma and head.startswith("data:") else ""


def _joined(pieces: list[str]) -> str:
    """Base64 of all pieces. A piece that is padded was encoded by itself."""
    if not any(piece.endswith("=") for piece in pieces[:-1]):
        return "".join(pieces)
    try:
        return base64.b64encode(b"".join(base64.b64decode(piece, validate=True) for piece in pieces)).decode()
    except (binascii.Error, ValueError):
        return "".join(pieces)
