"""Finds secrets in a text, in linear time.

Searching for literals in bytes is about fifty times as fast as a regular expression of many alternatives. So
a text is first searched for signs of a secret: runs of characters that are as long as a token, and words such
as `password`. Regular expressions are only matched there.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from .custom import Custom, compiled
from .detectors import DETECTORS
from .encoded_text import View, view_of
from .kinds import CUSTOM, Span
from .token_formats import BOUNDARY, LONG_RUN, PREFIX_REACH, RUN, TOKEN_FORMATS, TokenFormat


class Scanner:
    """Finds the secrets of some kinds, and custom texts and patterns."""

    def __init__(self, kinds: frozenset[str], customs: Sequence[Custom] = ()) -> None:
        self._kinds = kinds
        self._tokens = _token_scanner(kinds)
        self._literals = [one.text for one in customs if not one.is_pattern]
        self._patterns = compiled(customs)
        self._views: dict[str, View] = {}
        self.has_custom = bool(customs)

    def view(self, text: str) -> View:
        """Return the decoded text."""
        known = self._views.get(text)
        if known is None:
            known = view_of(text, text.encode("ascii", "replace"))
            if known.places:
                self._views[text] = known
        return known

    def spans(self, text: str) -> list[Span]:
        """The secrets of a text."""
        view = self.view(text)
        found = [
            Span(*view.span(span.start, span.end), span.kind, span.secret)
            for span in self._in_view(view.text)
        ]
        if self.has_custom:
            found.extend(self._custom_spans(text, view))
        return found

    def _in_view(self, text: str) -> Iterator[Span]:
        data = text.encode("ascii", "replace")
        low = data.lower()
        yield from self._tokens.spans(text, data)
        for kinds, literals, detector in DETECTORS:
            if not self._kinds.isdisjoint(kinds):
                done = 0
                for place in _places(low, literals):
                    if place < done:
                        continue
                    outcome = detector(text, place)
                    if outcome is not None:
                        done = outcome.done
                        if outcome.span is not None and outcome.span.kind in self._kinds:
                            yield outcome.span

    def _custom_spans(self, text: str, view: View) -> Iterator[Span]:
        """Custom texts and patterns, in the text itself and in its view."""
        for seen in (text, view.text) if view.places else (text,):
            for literal in self._literals:
                for start, end in _literal_places(seen, literal):
                    yield _custom_span(view if seen is not text else None, start, end, literal)
            for pattern in self._patterns:
                for match in pattern.finditer(seen):
                    if match[0]:
                        yield _custom_span(view if seen is not text else None, *match.span(), match[0])


def _custom_span(view: View | None, start: int, end: int, secret: str) -> Span:
    if view is not None:
        start, end = view.span(start, end)
    return Span(start, end, CUSTOM, secret)


def _literal_places(text: str, literal: str) -> Iterator[tuple[int, int]]:
    """The spans of a literal. Where it overlaps itself, they are one."""
    start = text.find(literal)
    while start >= 0:
        last, end = start, start + len(literal)
        while (further := text.rfind(literal, last + 1, end + len(literal) - 1)) > last:
            last, end = further, further + len(literal)
        yield start, end
        start = text.find(literal, end)


def _places(data: bytes, literals: Iterable[bytes]) -> list[int]:
    """The places of literals, in order."""
    found: list[int] = []
    for literal in literals:
        place = data.find(literal)
        while place >= 0:
            found.append(place)
            place = data.find(literal, place + len(literal))
    found.sort()
    return found


# Tokens, by their formats

_IN_RUN: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_RUNS: Final = bytes(97 if code in _IN_RUN else 32 for code in range(256))
_LONG_ENOUGH: Final = b"a" * RUN
_DISCORD: Final = re.compile(
    r"(?<![A-Za-z0-9_.-])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_.-])"
)


class _Matcher(NamedTuple):
    """Matches a format at the place of one of its prefixes."""

    kind: str
    pattern: re.Pattern[str]
    before: re.Pattern[str] | None

    def span(self, text: str, place: int) -> Span | None:
        match = self.pattern.match(text, place)
        if match is None:
            return None
        start, end = match.span("secret" if "secret" in self.pattern.groupindex else 0)
        if self.before is not None:
            before = self.before.search(text, max(0, place - PREFIX_REACH), place)
            if before is None:
                return None
            start = before.start()
        return Span(start, end, self.kind, text[start:end])


@lru_cache(maxsize=512)
def _matcher(token: TokenFormat, prefix: str) -> _Matcher:
    rest = f"{re.escape(prefix)}{token.body}"
    if token.before:
        return _Matcher(token.kind, re.compile(rest), re.compile(rf"{token.before}\Z"))
    return _Matcher(token.kind, re.compile(token.boundary + rest), None)


class _TokenScanner:
    """Finds tokens by their formats, where a text has a run of characters that is long enough."""

    def __init__(self, kinds: frozenset[str]) -> None:
        rows = [
            (prefix, token) for token in TOKEN_FORMATS if token.kind in kinds for prefix in token.prefixes
        ]
        beginnings = {prefix for prefix, token in rows if not token.before}
        others = {prefix for prefix, token in rows if token.before}
        self._formats = {
            prefix: [
                (token, short)
                for short, token in rows
                if short == prefix or (not token.before and prefix.startswith(short))
            ]
            for prefix in beginnings | others
        }
        first = f"{BOUNDARY}{any_of(sorted(beginnings))}" if beginnings else ""
        self._prefix = re.compile("|".join(filter(None, (first, any_of(sorted(others))))))
        self._anywhere = sorted({prefix for prefix, token in rows if token.anywhere})
        self._has_discord = "chat-token" in kinds

    def spans(self, text: str, data: bytes) -> Iterator[Span]:
        """The tokens of a text; `data` is the text in ASCII."""
        if not self._formats:
            return
        runs = data.translate(_RUNS)
        start = runs.find(_LONG_ENOUGH)
        searched = done = 0
        while start >= 0:
            end = runs.find(b" ", start)
            end = len(runs) if end < 0 else end
            if self._has_discord and (match := _DISCORD.match(text, start)):
                yield Span(*match.span(), "chat-token", match[0])
            last = min(end, start + RUN) if end - start > LONG_RUN else end
            for found in self._prefix.finditer(text, max(searched, start - PREFIX_REACH), last):
                if found.start() >= done and (span := self._span(text, found[0], found.start())) is not None:
                    yield span
                    done = span.end
            searched = end
            start = runs.find(_LONG_ENOUGH, end)
        for prefix in self._anywhere:
            for place in _places(data, [prefix.encode()]):
                if (span := self._span(text, prefix, place)) is not None:
                    yield span

    def _span(self, text: str, found: str, place: int) -> Span | None:
        for token, prefix in self._formats[found]:
            if (span := _matcher(token, prefix).span(text, place)) is not None:
                return span
        return None


@lru_cache(maxsize=512)
def _token_scanner(kinds: frozenset[str]) -> _TokenScanner:
    return _TokenScanner(kinds)


# Literals, searched at once

HEAD: Final = 8
"""The number of characters of each literal that the first search compares; no literal is shorter."""

Trie = dict[str, "Trie"]
END: Final = ""


def any_of(literals: Iterable[str]) -> str:
    """A regular expression for any of some literals, the longest that fits. Each character is read once."""
    trie: Trie = {}
    for literal in literals:
        node = trie
        for character in literal:
            node = node.setdefault(character, {})
        node[END] = {}
    return _expression(trie)


def _expression(node: Trie) -> str:
    branches = [
        re.escape(character) + _expression(below) for character, below in node.items() if character != END
    ]
    if not branches:
        return ""
    if len(branches) == 1 and END not in node:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'?+' if END in node else ''}"


class Literals:
    """Finds texts of at least `HEAD` characters in any place."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._by_head: dict[str, dict[int, set[str]]] = {}
        for literal in literals:
            self._by_head.setdefault(literal[:HEAD], {}).setdefault(len(literal), set()).add(literal)
        for head, by_length in self._by_head.items():
            self._by_head[head] = dict(sorted(by_length.items(), reverse=True))
        self._head = re.compile(any_of(sorted(self._by_head))) if self._by_head else None

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """The place of each literal, and the literal; the longest where several begin."""
        place = 0
        while self._head is not None and (match := self._head.search(text, place)) is not None:
            place = match.start()
            for length, literals in self._by_head[match[0]].items():
                if (literal := text[place : place + length]) in literals:
                    yield place, literal
                    place += length - 1
                    break
            place += 1
