"""The passage of a text that best shows why it was found."""

import re
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from .query import Phrase, Term
from .tokens import Span, index_text, token_spans

LENGTH = 160
"""The approximate number of characters of a snippet."""

BLOCK = 8192
"""The number of characters of a text that are searched at once."""

MARGIN = 256
"""The number of characters that two blocks share, so that a phrase is not split between them."""

SLACK = 24
"""How far an end of the snippet may move to be between words."""

Marks: TypeAlias = tuple[tuple[int, int], ...]
ELLIPSIS = "…"
BLANK = re.compile(r"[\s\x00-\x1f\x7f]+")
HALF = re.compile("[\ud800-\udfff]")  # half a surrogate pair, which cannot be displayed


class Occurrence(NamedTuple):
    """An occurrence of a term in a text: the number of the term, and start and end."""

    term: int
    start: int
    end: int


class Passage(NamedTuple):
    """Occurrences of terms that are close to each other."""

    terms: int  # the number of different terms
    occurrences: tuple[Occurrence, ...]

    @property
    def rank(self) -> tuple[int, int]:
        """The larger one is the better passage."""
        return self.terms, len(self.occurrences)


NO_PASSAGE = Passage(0, ())


def snippet(text: str, terms: Sequence[Term]) -> tuple[str, Marks]:
    """About 160 characters around the passage with most of the terms, and the terms' positions in them."""
    text = composed(text)
    return draw(text, best_passage(text, terms))


def composed(text: str) -> str:
    """The text in the normal form that positions refer to."""
    return text if text.isascii() else HALF.sub("\N{REPLACEMENT CHARACTER}", normalize("NFC", text))


def best_passage(text: str, terms: Sequence[Term]) -> Passage:
    """The passage of a composed text with the most different terms, then with the most occurrences."""
    best = NO_PASSAGE
    for found in _occurrences_by_block(text, terms):
        passage = _densest(found)
        if passage.rank > best.rank:
            best = passage
        if best.terms == len(terms):
            break
    return best


def occurrences(text: str, terms: Sequence[Term]) -> Marks:
    """Start and end of every occurrence of the terms in a composed text."""
    found = (one for block in _occurrences_by_block(text, terms) for one in block)
    return tuple(merged((one.start, one.end) for one in found))


def _occurrences_by_block(text: str, terms: Sequence[Term]) -> Iterator[list[Occurrence]]:
    """The occurrences in each block that has any, in order."""
    for start in range(0, len(text), BLOCK):
        block = text[start : start + BLOCK + MARGIN]
        if not _may_contain(block, terms):
            continue
        # A token at the start of a block may be the end of a word; the block before has the whole word.
        found = [one for one in _find(block, terms) if bool(start) <= one.start <= BLOCK]
        found.sort(key=itemgetter(1, 2))
        yield [Occurrence(n, a + start, b + start) for n, a, b in found]


def _may_contain(block: str, terms: Sequence[Term]) -> bool:
    plain = index_text(block)
    return any(phrase.tokens[0] in plain for term in terms for phrase in term.phrases)


def _find(block: str, terms: Sequence[Term]) -> Iterator[Occurrence]:
    tokens, subwords = token_spans(block)
    for number, term in enumerate(terms):
        for phrase in term.phrases:
            for spans in (tokens, subwords):
                for start, end in _occurrences(spans, phrase):
                    yield Occurrence(number, start, end)


def _occurrences(spans: Sequence[Span], phrase: Phrase) -> Iterator[tuple[int, int]]:
    *first, last = phrase.tokens
    for index, (token, start, end) in enumerate(spans):
        if token == last or (phrase.prefix and token.startswith(last)):
            before = spans[max(index - len(first), 0) : index]
            if [span[0] for span in before] == first:
                yield before[0][1] if before else start, end


def _densest(found: Sequence[Occurrence]) -> Passage:
    """The window of occurrences with the most different terms, then with the most occurrences."""
    best = NO_PASSAGE
    first = 0
    counts: dict[int, int] = {}
    for number, one in enumerate(found):
        counts[one.term] = counts.get(one.term, 0) + 1
        while found[first].start < one.end - LENGTH and first < number:
            counts[found[first].term] -= 1
            if not counts[found[first].term]:
                del counts[found[first].term]
            first += 1
        if (len(counts), number + 1 - first) > best.rank:
            best = Passage(len(counts), tuple(found[first : number + 1]))
    return best


def draw(text: str, passage: Passage) -> tuple[str, Marks]:
    """A passage of a composed text as a snippet: cut between words, with single spaces."""
    marks = merged((one.start, min(one.end, one.start + LENGTH)) for one in passage.occurrences)
    first, last = (marks[0][0], marks[-1][1]) if marks else (0, 0)
    around = max(LENGTH - (last - first), 0) // 2
    start = _start_of_word(text, max(0, min(first - around, len(text) - LENGTH)), first)
    end = _end_of_word(text, min(len(text), max(last + around, start + LENGTH)), last)
    return _with_single_spaces(text, start, end, marks)


def merged(marks: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Marks in order; those that touch or overlap are joined."""
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
    for index in range(start, min(start + SLACK, first) + 1):
        if text[index - 1].isspace():
            return index
    return start


def _end_of_word(text: str, end: int, last: int) -> int:
    if end == len(text):
        return end
    for index in range(end, max(end - SLACK, last) - 1, -1):
        if text[index].isspace():
            return index
    return end


def _with_single_spaces(
    text: str, start: int, end: int, marks: Sequence[tuple[int, int]]
) -> tuple[str, Marks]:
    result = ELLIPSIS if text[:start].strip() else ""
    highlights: list[tuple[int, int]] = []
    index = start
    for mark_start, mark_end in marks:
        before = BLANK.sub(" ", text[index:mark_start])
        result += before.lstrip() if index == start else before
        marked = BLANK.sub(" ", text[mark_start:mark_end])
        highlights.append((len(result), len(result) + len(marked)))
        result += marked
        index = mark_end
    after = BLANK.sub(" ", text[index:end])
    result += (after.lstrip() if index == start else after).rstrip()
    return result + (ELLIPSIS if text[end:].strip() else ""), tuple(highlights)
