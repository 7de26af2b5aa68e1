"""Files in streams: base64, addresses, or plain text → addresses."""

from typing import NamedTuple
from urllib.parse import quote

from partita.formats.ai_sdk.ui.v4_load import file_url, guessed_type

from .said import Said

UNESCAPED = "!'()*-._~"
"""What JavaScript does not escape in an address, besides letters and digits."""


class Address(NamedTuple):
    """Where a file is, and what."""

    url: str
    media_type: str


def address_of(said: Said) -> Address | None:
    """The address of the file that a chunk brings, taken out of it; `None` if it brings none."""
    data, encoded = said.get("data"), said.get("base64")
    if not isinstance(data, str):
        return None
    media_type = said.take_text("mimeType")
    media_type = guessed_type(data, None) if media_type is None else media_type
    said.take_text("data")
    if "base64" in said.rest and not encoded and encoded is not None:
        del said.rest["base64"]
        return Address(f"data:{media_type},{quote(data, safe=UNESCAPED)}", media_type)
    if encoded is True or encoded == data:
        del said.rest["base64"]
    return Address(file_url(data, media_type), media_type)
