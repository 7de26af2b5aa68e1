"""Secrets in texts: found, numbered, replaced. The same secret bears the same number everywhere.

It works in two passes. The first learns which secrets there are; the second replaces them, those too that
stand somewhere without what gave them away.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from partita.types.json import dumps

from .custom import Custom, compiled
from .kinds import (
    BY_NAME,
    CUSTOM,
    CUSTOM_LABEL,
    PASSWORD,
    SCHEME,
    SECRET_NAME,
    WANTED,
    is_plausible,
)

PLACES: Final = 20
"""How many places of one secret are told."""

SPREADS: Final = 8
"""A secret of so many characters is no word: it is replaced wherever it stands."""

DATA_URL: Final = re.compile(
    r"data:(?P<type>(?:text/|application/(?:json|xml|javascript|x-sh|yaml|x-yaml|toml|sql|x-ndjson)|"
    r"image/svg\+xml)[^,;]{0,100})(?P<options>(?:;[^,;]{0,100}){0,5}),",
    re.IGNORECASE,
)


class Span(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str
    secret: str


class Piece(NamedTuple):
    """What stands for a part of a text."""

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


@dataclass(frozen=True)
class Rules:
    """Which kinds are looked for, what besides, and which findings stay."""

    kinds: frozenset[str] = WANTED
    custom: tuple[Custom, ...] = ()
    keep: frozenset[str] = frozenset()


class Redactor:
    """Texts in, texts without secrets out."""

    def __init__(self, rules: Rules) -> None:
        self._kinds = [kind for name, kind in BY_NAME.items() if name in rules.kinds]
        self._custom = compiled(list(rules.custom))
        self._keep = rules.keep
        self._known: dict[tuple[str, str], Finding] = {}
        self._numbers: dict[str, int] = {}
        self._spreading: re.Pattern[str] | None = None
        self._meant: dict[str, tuple[str, str]] = {}
        self.learning = True

    @property
    def findings(self) -> list[Finding]:
        """What was found where something was replaced, or would have been."""
        return [finding for finding in self._known.values() if finding.times]

    @property
    def has_custom(self) -> bool:
        """Whether anything may be a secret, numbers too."""
        return bool(self._custom)

    def learned(self) -> None:
        """All texts were seen once: from here on they are replaced."""
        self.learning = False
        for kind, secret in self._known:
            spreads = kind == CUSTOM or (len(secret) >= SPREADS and BY_NAME[kind].spreads)
            for form in _forms(secret) if spreads else ():
                self._meant.setdefault(form, (kind, secret))
        longest_first = sorted(self._meant, key=len, reverse=True)
        self._spreading = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def text(self, text: str, path: str) -> str:
        """A text without its secrets."""
        opened = DATA_URL.match(text)
        if opened is not None:
            return self._data_url(text, opened, path)
        return self.joined([text], path)[0]

    def joined(self, texts: Sequence[str], path: str) -> list[str]:
        """Pieces of one text without its secrets; of one across pieces, the mark stands in the first."""
        whole = "".join(texts)
        pieces = self.pieces(whole, path)
        if not pieces:
            return list(texts)
        cut: list[str] = []
        start = 0
        for text in texts:
            cut.append(_within(whole, start, start + len(text), pieces))
            start += len(text)
        return cut

    def pieces(self, text: str, path: str) -> list[Piece]:
        """What stands for which part of a text."""
        spans = self._spans(text)
        if self.learning:
            for span in spans:
                self._finding(span.kind, span.secret)
            return []
        return self._replaced(spans, path)

    def member(self, name: str, value: str, path: str) -> str:
        """The value of a member, which may be a secret because of its name."""
        wanted = any(kind.name == PASSWORD for kind in self._kinds)
        if not wanted or len(value) < 3 or len(value) > 8192 or not SECRET_NAME.fullmatch(name):
            return self.text(value, path)
        scheme = SCHEME.match(value)
        start = scheme.end() if scheme else 0
        if not is_plausible(value[start:], named_password=True):
            return self.text(value, path)
        span = Span(start, len(value), PASSWORD, value[start:])
        if self.learning:
            self.text(value, path)
            self._finding(span.kind, span.secret)
            return value
        pieces = self._replaced([span], path)
        return _within(value, 0, len(value), pieces) if pieces else value

    def _spans(self, text: str) -> list[Span]:
        found: list[Span] = []
        for kind in self._kinds:
            for match in kind.pattern.finditer(text):
                start, end = _place(match)
                secret = text[start:end]
                if kind.name != PASSWORD or is_plausible(secret):
                    found.append(Span(start, end, kind.name, secret))
        for pattern in self._custom:
            found.extend(
                Span(*match.span(), CUSTOM, match[0]) for match in pattern.finditer(text) if match[0]
            )
        if self._spreading is not None:
            spread = self._spreading.finditer(text)
            found.extend(Span(*match.span(), *self._meant[match[0]]) for match in spread)
        return found

    def _replaced(self, spans: Iterable[Span], path: str) -> list[Piece]:
        """The pieces for spans; where they overlap, one mark stands for all that they cover."""
        pieces: list[Piece] = []
        for span in sorted(spans, key=lambda span: (span.start, -span.end)):
            finding = self._finding(span.kind, span.secret)
            overlaps = bool(pieces) and span.start < pieces[-1].end
            if not overlaps:
                finding.times += 1
                if len(finding.places) < PLACES:
                    finding.places.append(path)
            if finding.kept:
                continue
            if overlaps:
                pieces[-1] = pieces[-1]._replace(end=max(span.end, pieces[-1].end))
            else:
                pieces.append(Piece(span.start, span.end, finding.mark))
        return pieces

    def _finding(self, kind: str, secret: str) -> Finding:
        known = self._known.get((kind, secret))
        if known is None:
            label = CUSTOM_LABEL if kind == CUSTOM else BY_NAME[kind].label
            number = self._numbers[label] = self._numbers.get(label, 0) + 1
            id_ = sha256(f"{kind}:{secret}".encode(errors="surrogatepass")).hexdigest()[:16]
            known = Finding(id_, kind, f"[redacted: {label} {number}]", _masked(secret), id_ in self._keep)
            self._known[(kind, secret)] = known
        return known

    def _data_url(self, url: str, opened: re.Match[str], path: str) -> str:
        """A data URL of a text, whose text bears no secrets."""
        body = url[opened.end() :]
        try:
            packed = ";base64" in opened["options"].lower()
            text = base64.b64decode(unquote(body)).decode() if packed else unquote(body, errors="strict")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            return self.joined([url], path)[0]
        plain = self.joined([text], path)[0]
        if plain == text:
            return self.joined([url], path)[0]
        written = base64.b64encode(plain.encode()).decode() if packed else quote(plain)
        return url[: opened.end()] + written


def _place(match: re.Match[str]) -> tuple[int, int]:
    for name in match.re.groupindex:
        if match[name] is not None:
            return match.span(name)
    return match.span()


def _forms(secret: str) -> set[str]:
    """How a secret may be written: as it is, in JSON, in an address."""
    try:
        return {secret, dumps(secret).decode()[1:-1], quote(secret, safe="")}
    except UnicodeEncodeError:
        return {secret}


def _within(text: str, start: int, end: int, pieces: Sequence[Piece]) -> str:
    """A part of a text, with the marks of what begins in it."""
    written: list[str] = []
    at = start
    for piece in pieces:
        if piece.end <= start or piece.start >= end:
            continue
        written.append(text[at : max(piece.start, at)])
        if piece.start >= start:
            written.append(piece.mark)
        at = min(max(piece.end, at), end)
    written.append(text[at:end])
    return "".join(written)


def _masked(secret: str) -> str:
    """As much of a secret as tells its owner which one it is."""
    shown = 4 if len(secret) >= 20 else 2 if len(secret) >= 10 else 1
    return f"{secret[:shown]}…{secret[-2:] if len(secret) >= 20 else ''}"
