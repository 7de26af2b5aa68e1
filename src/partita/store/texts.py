"""Text that a database can hold: what is the truth is refused when it cannot, what is derived is mended."""

import re

from partita.errors import StoreError

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str | None, what: str) -> str | None:
    """The text itself; an error when it holds what no database can."""
    if text is not None and UNSTORABLE.search(text):
        raise StoreError(
            f"{what} holds a NUL or half a surrogate pair", where=repr(text)[:80], hint="choose another text"
        )
    return text


def required(text: str | None, what: str) -> str:
    """A text that must be there, and not empty."""
    if not text:
        raise StoreError(f"no {what} given", hint=f"every row needs its {what}")
    storable(text, what)
    return text


def mended(text: str) -> str:
    """The text with a replacement character for what no database can hold."""
    return (
        text if text.isascii() and "\x00" not in text else UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    )
