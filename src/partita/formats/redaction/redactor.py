"""Finds, numbers and replaces the secrets in texts. The same secret has the same number everywhere.

It works in two passes. The first collects the secrets; the second replaces them, also in places where neither
a format nor a name shows that they are secrets.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice, pairwise
from typing import Final, NamedTuple, Self

from partita.errors import ConfigError, DecodeError

from .custom import Custom
from .defaults import default_customs, default_kinds
from .detectors import AUTHORIZATION_SCHEME
from .encoded_text import data_urls, without_content
from .kinds import BY_NAME, COOKIE, CUSTOM, CUSTOM_LABEL, HOME, PASSWORD, Span
from .names import is_secret_value, strength_of
from .scanner import HEAD, Literals, Scanner
from .user_names import UserNames

PLACES: Final = 20
"""The most paths of one secret that are reported."""

MOST_SPREADING: Final = 1000
"""The most secrets that are searched for in places where neither a format nor a name shows them."""

LIMIT: Final = 128_000_000
"""The most characters that are searched, unless the rules or `LIMIT_VARIABLE` set another number."""

LIMIT_VARIABLE: Final = "PARTITA_REDACT_LIMIT"

LONGEST_MEMBER: Final = 8192
COOKIES: Final = ("cookie", "set-cookie")
SEAM_REACH: Final = 64
"""How far after the end of a part a secret may start whose name is at that end."""


class Piece(NamedTuple):
    """A replacement for a part of a text."""

    start: int
    end: int
    mark: str


@dataclass
class Finding:
    """A secret that was found."""

    id: str
    kind: str
    mark: str
    preview: str
    kept: bool
    times: int = 0
    places: list[str] = field(default_factory=list[str])


class RedactionLimitError(DecodeError):
    """More text than is searched at once."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"more than {limit:,} characters to search for secrets",
            hint=f"take fewer messages, leave out tool outputs, or set {LIMIT_VARIABLE} to another number",
        )
        self.limit = limit

    def __reduce__(self) -> tuple[type[Self], tuple[int]]:
        return type(self), (self.limit,)


def limit_from_environment() -> int:
    """Return the most characters that are searched at once."""
    text = os.environ.get(LIMIT_VARIABLE) or str(LIMIT)
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(
            f"{text!r} is not a number of characters", where=LIMIT_VARIABLE, hint=f"such as {LIMIT}"
        )
    return int(text)


@dataclass(frozen=True)
class Rules:
    """The kinds and custom texts to search for, the secrets to keep, and the most characters to search."""

    kinds: frozenset[str] = field(default_factory=default_kinds)
    custom: tuple[Custom, ...] = field(default_factory=default_customs)
    keep: frozenset[str] = frozenset()
    limit: int = field(default_factory=limit_from_environment)


class Redactor:
    """Removes the secrets from texts."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._scanner = Scanner(rules.kinds, rules.custom)
        self._users = UserNames() if HOME in rules.kinds else None
        self._known: dict[tuple[str, str], Finding] = {}
        self._numbers: dict[str, int] = {}
        self._spans_of: dict[str, list[Span]] = {}
        self._known_elsewhere: dict[str, str] = {}
        self._literals = Literals(())
        self._clean: set[str] = set()
        self._searched = 0
        self.is_collecting = True

    @property
    def findings(self) -> list[Finding]:
        """The secrets that were replaced, or are kept by the rules."""
        return [finding for finding in self._known.values() if finding.times]

    @property
    def has_custom(self) -> bool:
        """Whether custom texts are searched for. Then numbers may be secrets, too."""
        return self._scanner.has_custom

    def start_replacing(self) -> None:
        """Start the second pass: all texts were collected, and secrets are replaced from now on."""
        self.is_collecting = False
        self._clean.clear()
        spreading = (
            (secret, kind)
            for kind, secret in self._known
            if kind != CUSTOM and len(secret) >= HEAD and BY_NAME[kind].spreads
        )
        self._known_elsewhere = dict(islice(spreading, MOST_SPREADING))
        self._literals = Literals(self._known_elsewhere)
        if self._users is not None:
            self._users.finish()

    def text(self, text: str, path: str) -> str:
        """Return a text without its secrets."""
        if text in self._clean:
            return text
        pieces = self._pieces(text, path)
        return _cut(text, [text], pieces)[0] if pieces else text

    def joined(self, texts: Sequence[str], path: str, seams: Sequence[int] = ()) -> list[str]:
        """Return pieces of one text without its secrets. The mark of a secret across pieces is in the first.

        `seams`: the indices of pieces that begin another part. Each part is also searched alone. A piece that
        was only part of a secret becomes its mark, because parts must not be empty.
        """
        whole = texts[0] if len(texts) == 1 else "".join(texts)
        pieces = self._pieces(whole, path, parts=_starts(texts, seams))
        return _cut(whole, texts, pieces, keep_filled=bool(seams)) if pieces else list(texts)

    def member(self, name: str, value: str, path: str) -> str:
        """Return the value of a member, which may be a secret because of its name."""
        named = self._named(name, value)
        if named is None:
            return self.text(value, path)
        pieces = self._pieces(value, path, named=(named,))
        return _cut(value, [value], pieces)[0] if pieces else value

    def _named(self, name: str, value: str) -> Span | None:
        if len(value) > LONGEST_MEMBER or len(value) < 3 or not name:
            return None
        if name.lower() in COOKIES and COOKIE in self._rules.kinds:
            return Span(0, len(value), COOKIE, value) if "=" in value else None
        strength = strength_of(name)
        if strength is None or PASSWORD not in self._rules.kinds:
            return None
        scheme = AUTHORIZATION_SCHEME.match(value)
        start = scheme.end() if scheme else 0
        if not is_secret_value(value[start:], strength):
            return None
        return Span(start, len(value), PASSWORD, value[start:])

    def _pieces(
        self, text: str, path: str, *, parts: Sequence[int] = (), named: Sequence[Span] = ()
    ) -> list[Piece]:
        """Return the replacements for parts of a text."""
        encoded: list[Piece] = []
        urls = list(data_urls(text)) if "data:" in text else []
        for url in urls:
            if url.text is not None and (inner := self._pieces(url.text, path)):
                plain = _cut(url.text, [url.text], inner)[0]
                encoded.append(Piece(url.start, url.end, url.encoded(plain)))
        if self.is_collecting and text not in self._spans_of:
            self._searched += len(text) - sum(url.end - url.start for url in urls)
            if self._searched > self._rules.limit:
                raise RedactionLimitError(self._rules.limit)
        spans = _outermost([*self._spans(without_content(text, urls) if urls else text, parts), *named])
        if not spans and not urls:
            self._clean.add(text)
            return []
        if self.is_collecting:
            for span in spans:
                self._finding(span.kind, span.secret)
            return []
        pieces = self._replaced(spans, path)
        return sorted([*pieces, *encoded]) if encoded else pieces

    def _spans(self, text: str, parts: Sequence[int]) -> list[Span]:
        """Return the secrets of a text, or of each of several parts and across their seams."""
        found = self._scanned(text)
        if parts:
            found = [
                span
                for span in found
                if any(span.start - SEAM_REACH <= seam < span.end for seam in parts[1:])
            ]
            for start, end in pairwise((*parts, len(text))):
                alone = self._scanned(text[start:end])
                found += [span._replace(start=span.start + start, end=span.end + start) for span in alone]
        if self._users is not None and self.is_collecting:
            self._users.collect(text)
        if not self.is_collecting:
            found = [*found, *self._known_secrets(text)]
        return found

    def _scanned(self, text: str) -> list[Span]:
        known = self._spans_of.get(text)
        if known is None:
            known = self._spans_of[text] = self._scanner.spans(text)
        return known

    def _known_secrets(self, text: str) -> list[Span]:
        """Return secrets that are known from other places."""
        found: list[Span] = []
        if self._known_elsewhere:
            view = self._scanner.view(text)
            for start, secret in self._literals.find(view.text):
                end = start + len(secret)
                if not secret.isalpha() or _is_word(view.text, start, end):
                    found.append(Span(*view.span(start, end), self._known_elsewhere[secret], secret))
        if self._users is not None:
            found += [Span(start, end, HOME, name) for start, end, name in self._users.find(text)]
        return found

    def _replaced(self, spans: Iterable[Span], path: str) -> list[Piece]:
        """Return the replacements for spans. Spans that overlap have one mark."""
        pieces: list[Piece] = []
        for span in spans:
            finding = self._finding(span.kind, span.secret)
            overlaps = bool(pieces) and span.start < pieces[-1].end
            if not overlaps:
                finding.times += 1
                if len(finding.places) < PLACES:
                    finding.places.append(path)
            if finding.kept:
                continue
            if overlaps:
                pieces[-1] = pieces[-1]._replace(end=span.end)
            else:
                pieces.append(Piece(span.start, span.end, finding.mark))
        return pieces

    def _finding(self, kind: str, secret: str) -> Finding:
        known = self._known.get((kind, secret))
        if known is None:
            label = CUSTOM_LABEL if kind == CUSTOM else BY_NAME[kind].label
            number = self._numbers[label] = self._numbers.get(label, 0) + 1
            id_ = sha256(f"{kind}:{secret}".encode(errors="surrogatepass")).hexdigest()[:16]
            kept = id_ in self._rules.keep
            known = Finding(id_, kind, f"[redacted: {label} {number}]", _masked(secret), kept)
            self._known[(kind, secret)] = known
        return known


def _outermost(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, without those that are inside another; of equal ones, the first."""
    outermost: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.end > span.start and (not outermost or span.end > outermost[-1].end):
            outermost.append(span)
    return outermost


def _is_word(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def _starts(texts: Sequence[str], seams: Sequence[int]) -> list[int]:
    """Where parts begin in the joined text; empty if there is one part."""
    if not seams:
        return []
    starts = [0]
    begins = frozenset(seams)
    length = 0
    for index, text in enumerate(texts):
        if index in begins and index:
            starts.append(length)
        length += len(text)
    return starts


def _cut(
    whole: str, texts: Sequence[str], pieces: Sequence[Piece], *, keep_filled: bool = False
) -> list[str]:
    """The pieces of a text with marks. Each mark is in the piece where its secret begins."""
    cut: list[str] = []
    start = index = 0
    for text in texts:
        end = start + len(text)
        written: list[str] = []
        at = start
        mark = ""
        while index < len(pieces) and pieces[index].start < end:
            piece = pieces[index]
            mark = piece.mark
            if piece.start >= start:
                written += (whole[at : piece.start], mark)
            at = min(piece.end, end)
            if piece.end > end:
                break
            index += 1
        written.append(whole[at:end])
        result = "".join(written)
        cut.append(mark if keep_filled and text and not result else result)
        start = end
    return cut


def _masked(secret: str) -> str:
    """The characters of a secret by which its owner can recognize it."""
    shown = 4 if len(secret) >= 20 else 2 if len(secret) >= 10 else 1
    return f"{secret[:shown]}…{secret[-2:] if len(secret) >= 20 else ''}"
