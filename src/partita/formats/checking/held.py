"""Everything that some values hold, to be asked whether a leaf of another value is among it."""

import json
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from math import inf
from typing import Final, TypeAlias
from urllib.parse import unquote

from partita.errors import DecodeError
from partita.types.json import Json, dumps, is_array, is_object, loads
from partita.types.older_forms import USAGE_FIELDS

JOINT: Final = "\0"
"""Stands between the texts that are looked through for pieces."""

TELLING: Final = 10
"""From here on a number says something wherever it stands; below, only under its name."""

MILLISECONDS: Final = 10**11
"""From here on a number that is a moment counts milliseconds, not seconds."""

LATEST: Final = 10**15
"""From here on a number is no moment: it is later than any date that can be written."""

Named: TypeAlias = tuple[str, bool, int | float]
"""The name of a flag or a number, whether it is a flag, and which."""

BARE: Final = "value"
"""The name of what has none of its own, such as the output of a tool."""

WRITTEN: Final = "input"
"""The name of what models write as a text of JSON."""

_ODD: Final = re.compile(r"[_\-. ]")


def plain(name: str) -> str:
    """The name of a member without how it is spelt: `input_tokens` is `inputTokens`."""
    return _ODD.sub("", name).lower()


COUNTS: Final = {plain(name): plain(today) for name, today in USAGE_FIELDS.items()}
"""Older names of token counts, and the names they are read as."""

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_DATA_URL: Final = re.compile(r"data:([^;,]*)[^,]*,(.+)", re.DOTALL)


class Held:
    """The leaves of values: texts, numbers and flags, by name and without."""

    def __init__(self, values: Iterable[Json]) -> None:
        self._texts: dict[str, None] = {}
        self._named: dict[Named, int] = {}
        self._numbers: set[int | float] = set()
        self._moments: set[float] = set()
        for value in values:
            for key, times in self._take(value).items():
                self._named[key] = max(times, self._named.get(key, 0))
        self._joined = JOINT.join(self._texts)
        self._last = 0

    def has(self, name: str, leaf: Json) -> bool:
        """Whether a leaf of that name is held. What is empty says nothing, and always is."""
        match leaf:
            case bool() | int() | float():
                return self.times(name, leaf) > 0
            case str():
                return self._has_text(leaf)
            case _:
                return True

    def times(self, name: str, leaf: float) -> float:
        """How often a flag or a number of that name is held by one of the values, the one that has most."""
        is_telling = not isinstance(leaf, bool) and (abs(leaf) >= TELLING or leaf % 1 != 0)
        if is_telling and (leaf in self._numbers or self._is_moment(leaf)):
            return inf
        is_flag = isinstance(leaf, bool)
        if not is_flag and str(leaf) in self._texts:
            return inf
        word = plain(name)
        return max(self._named.get((one, is_flag, leaf), 0) for one in (word, COUNTS.get(word, word), BARE))

    def _take(self, value: Json) -> Counter[Named]:
        named: Counter[Named] = Counter()
        stack: list[tuple[str, Json]] = [("", value)]
        while stack:
            name, item = stack.pop()
            match item:
                case dict():
                    stack += item.items()
                    if name == WRITTEN:  # a call's input came in pieces of its text
                        self._texts.update(dict.fromkeys(_spellings(item)))
                case _ if is_array(item):
                    if len(pieces := _reasoning_in(item)) > 1:  # which older parts hold in one text
                        self._texts["".join(pieces)] = None
                    stack += [(name, inner) for inner in item]
                case str():
                    self._take_text(item)
                    stack += [(name, inner) for inner in json_in(item)]
                case bool():
                    named[plain(name), True, item] += 1
                case int() | float():
                    named[plain(name), False, item] += 1
                    self._numbers.add(item)
                case _:
                    pass
        return named

    def _take_text(self, text: str) -> None:
        self._texts[text] = None
        if (words := words_in(text)) is not None:
            self._texts[words] = None
        if (moment := moment_of(text)) is not None:
            self._moments.add(moment)

    def _is_moment(self, leaf: float) -> bool:
        return (leaf / 1000 if MILLISECONDS <= leaf < LATEST else leaf) in self._moments

    def _has_text(self, leaf: str) -> bool:
        if not leaf.strip() or leaf in self._texts or self._has_piece(leaf):
            return True
        if (moment := moment_of(leaf)) is not None and self._has_moment(moment):
            return True
        words = words_in(leaf)
        if words is not None and self._has_piece(words):
            return True
        url = _DATA_URL.fullmatch(leaf)
        return url is not None and all(not piece or self._has_piece(piece) for piece in url.groups())

    def _has_moment(self, moment: float) -> bool:
        return moment in self._moments or moment in self._numbers or moment * 1000 in self._numbers

    def _has_piece(self, piece: str) -> bool:
        """Whether a text holds a piece. Pieces mostly come in order, so the search goes on from the last."""
        found = self._joined.find(piece, self._last)
        if found < 0:
            found = self._joined.find(piece, 0, self._last + len(piece))
        if found >= 0:
            self._last = found
        return found >= 0


def json_in(text: str) -> Iterator[Json]:
    """The object or array that a text is, if it is one."""
    if text[:1] in ("{", "["):
        try:
            yield loads(text)
        except DecodeError:
            return


def words_in(address: str) -> str | None:
    """The words of a text that an address holds in itself."""
    if not address.startswith("data:text/"):
        return None
    head, _, data = address.partition(",")
    try:
        return b64decode(data).decode() if head.endswith(";base64") else unquote(data)
    except ValueError:
        return None


def _reasoning_in(items: list[Json]) -> list[str]:
    return [
        item["text"]
        for item in items
        if is_object(item) and item.get("type") == "reasoning" and isinstance(item.get("text"), str)
    ]


def _spellings(value: Json) -> Iterator[str]:
    """A value as models write it: without spaces, or with them."""
    try:
        yield dumps(value).decode()
        yield json.dumps(value, ensure_ascii=False)
    except (DecodeError, RecursionError):
        return


def moment_of(text: str) -> float | None:
    """The moment that a text names, in seconds, if it does."""
    if not _MOMENT.match(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
