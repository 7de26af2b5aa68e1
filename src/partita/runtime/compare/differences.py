"""Differences of JSON values and of texts, and values cut to a size that can be shown."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.json_diff import JsonPath, value_changes

MAX_SHOWN: Final = 80
"""The longest text of a value that is shown on a line."""


class Difference(NamedTuple):
    """A place where two JSON values differ; `UNSET` if a value has no member or item there."""

    path: str
    old: Json | UnsetType
    new: Json | UnsetType

    def __str__(self) -> str:
        return f"{self.path}: {show_value(self.old)} → {show_value(self.new)}"

    def to_json(self) -> JsonObject:
        """An object with `path`, `old` and `new`, without those that are `UNSET`."""
        members: JsonObject = {"path": self.path}
        if self.old is not UNSET:
            members["old"] = self.old
        if self.new is not UNSET:
            members["new"] = self.new
        return members


def differences(old: Json | UnsetType, new: Json | UnsetType, path: str = "$") -> list[Difference]:
    """All places where two values differ, in order. `path` is that of the values themselves."""
    return [
        Difference(path + _path_text(change.path), change.before, change.after)
        for change in value_changes(old, new)
    ]


def _path_text(path: JsonPath) -> str:
    return "".join(
        f".{step}" if isinstance(step, str) and step.isidentifier() else f"[{dumps(step).decode()}]"
        for step in path
    )


def show_value(value: Json | UnsetType) -> str:
    """A value as JSON on one line, truncated if it is long."""
    if value is UNSET:
        return "nothing"
    text = dumps(value).decode()
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


# Ids and times, which differ in every run

VOLATILE: Final = (
    r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|\b(?:agent|call|chatcmpl|fc|msg|prt|req|resp|rs|ses|srvtoolu|toolu)[-_](?=[\w-]*\d)[\w-]{16,}"
    r"|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
)
"""UUIDs, ids of messages and calls, and times of day with a date."""

TIME_NAME: Final = re.compile(r"[tT]ime|[dD]ate|[cC]reated|(?:[a-z]At|_at)$")
DURATION_NAME: Final = re.compile(r"(?i)duration|elapsed")
EPOCH: Final = 1_000_000_000
"""The smallest number that counts as a time: seconds or milliseconds since 1970."""

_VOLATILE: Final = re.compile(VOLATILE)


def without_ids(text: str) -> str:
    """A text with a placeholder for each id and time."""
    return _VOLATILE.sub("…", text)


def is_id_or_time(difference: Difference) -> bool:
    """Whether two values differ only in ids and times."""
    old, new = difference.old, difference.new
    if isinstance(old, str) and isinstance(new, str):
        return without_ids(old) == without_ids(new)
    if not (isinstance(old, int | float) and isinstance(new, int | float)):
        return False
    name = difference.path.rpartition(".")[2]
    is_duration = difference.path.startswith("$.output") and DURATION_NAME.search(name) is not None
    return is_duration or (min(old, new) >= EPOCH and TIME_NAME.search(name) is not None)


# Texts

WORDS: Final = re.compile(rf"{VOLATILE}|\w+|\s+|[^\w\s]")
LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")
MAX_WORDS: Final = 4000
"""Texts with more words are compared by lines, because the time grows with the square of the number."""

MAX_LINES: Final = 5000

Mark: TypeAlias = Literal["=", "-", "+"]


class TextPiece(NamedTuple):
    """Some words that both texts have (`=`), only the old one (`-`) or only the new one (`+`)."""

    mark: Mark
    text: str


def diff_words(old: str, new: str) -> tuple[TextPiece, ...]:
    """The pieces of two texts: those with `=` or `-` are the old one, those with `=` or `+` the new one.

    Ids and times count as equal.
    """
    if without_ids(old) == without_ids(new):
        return (TextPiece("=", old),) if old else ()
    before, after = _split(old, new)
    keys = [[without_ids(word) for word in words] for words in (before, after)]
    matcher = SequenceMatcher(None, *keys, autojunk=False)
    pieces: list[TextPiece] = []
    removed = added = ""
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        left, right = "".join(before[old_start:old_end]), "".join(after[new_start:new_end])
        if kind != "equal" or (left.isspace() and removed and added and old_end < len(before)):
            # White space between two changed words belongs to the change.
            removed, added = removed + left, added + right
            continue
        pieces += _changed(removed, added)
        pieces.append(TextPiece("=", left))
        removed = added = ""
    return (*pieces, *_changed(removed, added))


def _changed(removed: str, added: str) -> list[TextPiece]:
    pieces = [TextPiece("-", removed), TextPiece("+", added)]
    return [piece for piece in pieces if piece.text]


def _split(old: str, new: str) -> tuple[Sequence[str], Sequence[str]]:
    """Two texts in words, in lines if there are too many words, or whole."""
    for pattern, limit in ((WORDS, MAX_WORDS), (LINES, MAX_LINES)):
        before, after = pattern.findall(old), pattern.findall(new)
        if max(len(before), len(after)) <= limit:
            return before, after
    return ([old] if old else []), ([new] if new else [])


def format_pieces(pieces: Sequence[TextPiece]) -> str:
    """The pieces as one text, with `[-removed-]` and `{+added+}` words."""
    brackets = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}
    return "".join(brackets[piece.mark].format(piece.text) for piece in pieces)


# Values that are shown

MAX_TEXT: Final = 20_000
MAX_ITEMS: Final = 500
MAX_DEPTH: Final = 24
ELLIPSIS: Final = "…"


class Shortener:
    """Truncates long texts, long arrays and deep values, within a budget of characters for all of them."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def __call__(self, value: Json) -> Json:
        """The value, with an ellipsis for everything that is left out."""
        return self._shortened(value, MAX_DEPTH)

    def _shortened(self, value: Json, depth: int) -> Json:
        if isinstance(value, str):
            return self._text(value)
        if is_object(value):
            return self._object(value, depth) if depth else ELLIPSIS
        if is_array(value):
            return self._array(value, depth) if depth else ELLIPSIS
        self._left -= 8
        return value

    def _text(self, text: str) -> str:
        kept = text[: max(min(MAX_TEXT, self._left), 0)]
        self._left -= len(kept)
        return kept if len(kept) == len(text) else kept + ELLIPSIS

    def _array(self, items: list[Json], depth: int) -> list[Json]:
        kept = [self._shortened(item, depth - 1) for item in items[:MAX_ITEMS]]
        return kept if len(items) <= MAX_ITEMS else [*kept, ELLIPSIS]

    def _object(self, members: JsonObject, depth: int) -> JsonObject:
        kept: JsonObject = {}
        for key, value in list(members.items())[:MAX_ITEMS]:
            self._left -= len(key)
            kept[key] = self._shortened(value, depth - 1)
        return kept if len(members) <= MAX_ITEMS else {**kept, ELLIPSIS: ELLIPSIS}
