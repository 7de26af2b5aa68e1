"""The passage of a text that shows best why it was found."""

import re
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from .query import Phrase, Term
from .words import Span, indexed, spans_of

LENGTH = 160
"""About how many characters a snippet has."""

BLOCK = 8192
"""How much of a text is looked at in one go."""

MARGIN = 256
"""How much two blocks share, so that no phrase falls between them."""

SLACK = 24
"""How far a cut may move to fall between words."""

Marks: TypeAlias = tuple[tuple[int, int], ...]
ELLIPSIS = "…"
BLANK = re.compile(r"[\s\x00-\x1f\x7f]+")
HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: nothing can show it


class Found(NamedTuple):
    """One of the terms in a text: which one, from where to where."""

    term: int
    start: int
    end: int


class Passage(NamedTuple):
    """A stretch of a text with terms in it."""

    terms: int  # how many different ones
    found: tuple[Found, ...]

    @property
    def worth(self) -> tuple[int, int]:
        """What makes one passage better than another."""
        return self.terms, len(self.found)


NOTHING = Passage(0, ())


def snippet(text: str, words: Sequence[Term]) -> tuple[str, Marks]:
    """About 160 characters around the place where most of the words are, and where in them the words are."""
    text = composed(text)
    return shown(text, best_passage(text, words))


def composed(text: str) -> str:
    """The text in the form that places of words refer to."""
    return text if text.isascii() else HALF.sub("\N{REPLACEMENT CHARACTER}", normalize("NFC", text))


def best_passage(text: str, words: Sequence[Term]) -> Passage:
    """The first passage of a composed text that has as many different words as any, and as many of them."""
    best = NOTHING
    for start in range(0, len(text), BLOCK):
        block = text[start : start + BLOCK + MARGIN]
        if not _may_hold(block, words):
            continue
        # What begins where the block does may be the rest of a word; the block before has it whole.
        own = [found for found in _find(block, words) if bool(start) <= found.start <= BLOCK]
        passage = _densest([Found(n, a + start, b + start) for n, a, b in sorted(own, key=itemgetter(1, 2))])
        if passage.worth > best.worth:
            best = passage
        if best.terms == len(words):
            break
    return best


def _may_hold(block: str, words: Sequence[Term]) -> bool:
    plain = indexed(block)
    return any(phrase.words[0] in plain for term in words for phrase in term.phrases)


def _find(block: str, words: Sequence[Term]) -> Iterator[Found]:
    whole, pieces = spans_of(block)
    for number, term in enumerate(words):
        for phrase in term.phrases:
            for spans in (whole, pieces):
                for start, end in _occurrences(spans, phrase):
                    yield Found(number, start, end)


def _occurrences(spans: Sequence[Span], phrase: Phrase) -> Iterator[tuple[int, int]]:
    *first, last = phrase.words
    for place, (word, start, end) in enumerate(spans):
        if word == last or (phrase.prefix and word.startswith(last)):
            before = spans[max(place - len(first), 0) : place]
            if [span[0] for span in before] == first:
                yield before[0][1] if before else start, end


def _densest(found: Sequence[Found]) -> Passage:
    """The window with the most different terms in it, then with the most of them."""
    best = NOTHING
    first = 0
    counts: dict[int, int] = {}
    for number, one in enumerate(found):
        counts[one.term] = counts.get(one.term, 0) + 1
        while found[first].start < one.end - LENGTH and first < number:
            counts[found[first].term] -= 1
            if not counts[found[first].term]:
                del counts[found[first].term]
            first += 1
        if (len(counts), number + 1 - first) > best.worth:
            best = Passage(len(counts), tuple(found[first : number + 1]))
    return best


def shown(text: str, passage: Passage) -> tuple[str, Marks]:
    """A passage of a composed text as it is shown: cut between words, blanks drawn together."""
    marks = merged((one.start, min(one.end, one.start + LENGTH)) for one in passage.found)
    first, last = (marks[0][0], marks[-1][1]) if marks else (0, 0)
    around = max(LENGTH - (last - first), 0) // 2
    start = _start_of_word(text, max(0, min(first - around, len(text) - LENGTH)), first)
    end = _end_of_word(text, min(len(text), max(last + around, start + LENGTH)), last)
    return _drawn(text, start, end, marks)


def merged(marks: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Marks in order, those that touch or overlap made one."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(marks):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def _start_of_word(text: str, start: int, first: int) -> int:
    if start == 0:
        return 0
    for place in range(start, min(start + SLACK, first) + 1):
        if text[place - 1].isspace():
            return place
    return start


def _end_of_word(text: str, end: int, last: int) -> int:
    if end == len(text):
        return end
    for place in range(end, max(end - SLACK, last) - 1, -1):
        if text[place].isspace():
            return place
    return end


def _drawn(text: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> tuple[str, Marks]:
    drawn = ELLIPSIS if text[:start].strip() else ""
    highlights: list[tuple[int, int]] = []
    place = start
    for mark_start, mark_end in marks:
        before = BLANK.sub(" ", text[place:mark_start])
        drawn += before.lstrip() if place == start else before
        marked = BLANK.sub(" ", text[mark_start:mark_end])
        highlights.append((len(drawn), len(drawn) + len(marked)))
        drawn += marked
        place = mark_end
    rest = BLANK.sub(" ", text[place:end])
    drawn += (rest.lstrip() if place == start else rest).rstrip()
    return drawn + (ELLIPSIS if text[end:].strip() else ""), tuple(highlights)
