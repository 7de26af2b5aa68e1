"""Text that a database can hold. Other text of callers is refused; other derived text is sanitized."""

import re

from partita.errors import StoreError

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and half a surrogate pair: no database stores them as text."""


def storable(text: str | None, what: str) -> str | None:
    """The text; a `StoreError` if it cannot be stored."""
    if text is not None and UNSTORABLE.search(text):
        raise StoreError(
            f"{what} holds a NUL or half a surrogate pair", where=repr(text)[:80], hint="choose another text"
        )
    return text


def required(text: str | None, what: str) -> str:
    """The text, which must be storable and not empty."""
    if not text:
        raise StoreError(f"no {what}", hint=f"every row needs its {what}")
    storable(text, what)
    return text


def sanitized(text: str) -> str:
    """The text with a replacement character for every character that cannot be stored."""
    return (
        text if text.isascii() and "\x00" not in text else UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    )
