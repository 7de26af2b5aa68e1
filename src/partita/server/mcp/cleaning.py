"""Secrets taken out of what an answer may hold, and of no more: to search megabytes takes seconds."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, TypeVar

from partita.formats.redaction.redactor import Redactor, Rules
from partita.formats.redaction.values import redacted

T = TypeVar("T")

Keep: TypeAlias = Callable[[str], str]
"""What of a text may be shown, with a margin."""

MARGIN: Final = 20_000
"""More characters than any secret has: one that begins or ends outside of what is shown is known as one."""

ADDRESS: Final = 100
"""How much of a data URL stays: nobody reads on."""


class Cleaner:
    """Values in, values without secrets out. The same secret bears the same mark in all of them."""

    def __init__(self, *, redact: bool) -> None:
        self._redactor = Redactor(Rules()) if redact else None

    async def clean(self, value: T, keep: Keep | None = None) -> T:
        """The same value. What was found in values before is looked for in it too."""
        if self._redactor is None:
            return value
        return await asyncio.to_thread(_clean, value, self._redactor, keep)

    async def stretch(self, text: str, start: int, end: int) -> str:
        """A stretch of a text. A secret that begins in it, or reaches into it, is seen whole."""
        pieces = [text[max(start - MARGIN, 0) : start], text[start:end], text[end : end + MARGIN]]
        if self._redactor is None:
            return pieces[1]
        return await asyncio.to_thread(_stretch, pieces, self._redactor)


def _clean(value: T, redactor: Redactor, keep: Keep | None) -> T:
    short = value if keep is None else redacted(value, _Cutter(keep))
    redactor.is_collecting = True
    redacted(short, redactor)
    redactor.start_replacing()
    return redacted(short, redactor)


def _stretch(pieces: Sequence[str], redactor: Redactor) -> str:
    redactor.is_collecting = True
    redactor.joined(pieces, "$")
    redactor.start_replacing()
    return redactor.joined(pieces, "$")[1]


class _Cutter(Redactor):
    """Looks for no secrets, and removes what is not kept of each text."""

    def __init__(self, keep: Keep) -> None:
        super().__init__(Rules(frozenset()))
        self._kept = keep

    def text(self, text: str, path: str) -> str:
        return self._kept(text)

    def joined(self, texts: Sequence[str], path: str, seams: Sequence[int] = ()) -> list[str]:
        return [self._kept(text) for text in texts]


def beginning(most: int) -> Keep:
    """Keep so many characters of each text."""

    def keep(text: str) -> str:
        return text[:ADDRESS] if text.startswith("data:") else text[: most + MARGIN]

    return keep
