"""What a person types to search: words, `"phrases"`, `-without`, `prefix*`. Any text is a query.

Words are looked for together. The last one counts as the beginning of a word too: it may still be typed.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from .words import pieces_of, words_of

MOST_TERMS = 32
LONGEST_PHRASE = 64
"""How many terms of a query, and how many words of a phrase, are looked at."""

SHORTEST_PREFIX = 2
ITEM = re.compile(r"""(?P<without>-?)(?:["“”](?P<phrase>[^"“”]*)["“”]?|(?P<word>[^\s"“”]+))""")


class Phrase(NamedTuple):
    """Words one after the other; of the last one maybe the beginning only."""

    words: tuple[str, ...]
    prefix: bool = False


class Term(NamedTuple):
    """One thing to look for, in one of several spellings."""

    phrases: tuple[Phrase, ...]

    @property
    def one_word(self) -> bool:
        """Whether every spelling is a single word."""
        return all(len(phrase.words) == 1 for phrase in self.phrases)


class Query(NamedTuple):
    """What must be there, and what must not."""

    wanted: tuple[Term, ...]
    unwanted: tuple[Term, ...]


def parse(text: str) -> Query:
    """The query of a text. Without a word to look for it finds nothing."""
    wanted: list[Term] = []
    unwanted: list[Term] = []
    items = list(ITEM.finditer(text))
    for number, item in enumerate(items[:MOST_TERMS]):
        word: str | None = item["word"]
        option = word is not None and word.startswith("-")  # --dry-run is no exclusion
        last = number == len(items) - 1
        if item["without"] and not option:
            unwanted.extend(_terms(word, item["phrase"], last=False))
        else:
            wanted.extend(_terms(word, item["phrase"], last=last))
    return Query(tuple(wanted), tuple(unwanted))


def _terms(word: str | None, phrase: str | None, *, last: bool) -> list[Term]:
    """The term of a word or a phrase; none when there is nothing but punctuation."""
    text = word or phrase or ""
    starred = word is not None and word.endswith("*")
    spellings = dict.fromkeys((tuple(words_of(text)), tuple(pieces_of(text))))
    phrases = [
        Phrase(words[:LONGEST_PHRASE], starred or (last and word is not None and _may_go_on(words)))
        for words in spellings
        if words
    ]
    return [Term(tuple(phrases))] if phrases else []


def _may_go_on(words: Sequence[str]) -> bool:
    return len(words) <= LONGEST_PHRASE and len(words[-1]) >= SHORTEST_PREFIX
