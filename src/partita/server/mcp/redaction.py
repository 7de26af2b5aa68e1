"""Replaces secrets in values. Only text that may be shown is searched: megabytes would take seconds."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, TypeVar

from partita.formats.redaction.redactor import Redactor, Rules
from partita.formats.redaction.values import redacted

T = TypeVar("T")

Cut: TypeAlias = Callable[[str], str]
"""Returns the part of a text that may be shown, with a margin."""

MARGIN: Final = 20_000
"""Longer than any secret, so a secret that is only partly shown is still recognized."""

DATA_URL_CHARS: Final = 100
"""How much of a data URL is kept."""


class ResultRedactor:
    """Redacts the values of one result. The same secret is replaced by the same mark in all of them."""

    def __init__(self, *, enabled: bool) -> None:
        self._redactor = Redactor(Rules()) if enabled else None

    async def redact(self, value: T, cut: Cut | None = None) -> T:
        """The value without secrets, including those found in earlier values."""
        if self._redactor is None:
            return value
        return await asyncio.to_thread(_redact, value, self._redactor, cut)

    async def redact_slice(self, text: str, start: int, end: int) -> str:
        """A slice of a text without secrets. Secrets that are partly outside of it are recognized."""
        pieces = [text[max(start - MARGIN, 0) : start], text[start:end], text[end : end + MARGIN]]
        if self._redactor is None:
            return pieces[1]
        return await asyncio.to_thread(_redact_middle, pieces, self._redactor)


def _redact(value: T, redactor: Redactor, cut: Cut | None) -> T:
    short = value if cut is None else redacted(value, _TextCutter(cut))
    redactor.is_collecting = True
    redacted(short, redactor)
    redactor.start_replacing()
    return redacted(short, redactor)


def _redact_middle(pieces: Sequence[str], redactor: Redactor) -> str:
    redactor.is_collecting = True
    redactor.joined(pieces, "$")
    redactor.start_replacing()
    return redactor.joined(pieces, "$")[1]


class _TextCutter(Redactor):
    """Cuts every text of a value, and searches for no secrets."""

    def __init__(self, cut: Cut) -> None:
        super().__init__(Rules(frozenset()))
        self._cut = cut

    def text(self, text: str, path: str) -> str:
        return self._cut(text)

    def joined(self, texts: Sequence[str], path: str, seams: Sequence[int] = ()) -> list[str]:
        return [self._cut(text) for text in texts]


def beginning(max_chars: int) -> Cut:
    """Keep the beginning of each text."""

    def cut(text: str) -> str:
        return text[:DATA_URL_CHARS] if text.startswith("data:") else text[: max_chars + MARGIN]

    return cut
