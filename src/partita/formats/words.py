"""Words that a reader has understood, where some are open: only their beginning is known."""

from collections.abc import Iterable
from typing import Any


class OpenWords(frozenset[Any]):
    """Words, and all others that begin in a certain way: `data-`, say, and the name of the data."""

    beginnings: tuple[str, ...] = ()

    def __contains__(self, word: object) -> bool:
        return super().__contains__(word) or (isinstance(word, str) and word.startswith(self.beginnings))


def open_words(words: Iterable[Any], *beginnings: str) -> OpenWords:
    """These words, and all that begin with one of the beginnings."""
    made = OpenWords(words)
    made.beginnings = beginnings
    return made
