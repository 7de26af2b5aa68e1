"""Where two JSON values differ: paths, what was there, what is there now."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from partita.types.json import Json, JsonObject, dumps, is_array, is_object

SHOWN: Final = 80
"""How much of a value is shown on a line."""


class Difference(NamedTuple):
    """A place where two values differ; `UNSET` where there is nothing."""

    path: str
    old: Json | UnsetType
    new: Json | UnsetType

    def __str__(self) -> str:
        return f"{self.path}: {shown(self.old)} → {shown(self.new)}"

    def to_json(self) -> JsonObject:
        """Path, old and new; what is not there is left out."""
        said: JsonObject = {"path": self.path}
        if self.old is not UNSET:
            said["old"] = self.old
        if self.new is not UNSET:
            said["new"] = self.new
        return said


def differences(old: Json | UnsetType, new: Json | UnsetType, path: str = "$") -> list[Difference]:
    """All places where two values differ, in order."""
    found: list[Difference] = []
    waiting = [Difference(path, old, new)]
    while waiting:  # no recursion: values may nest as deep as they like
        one = waiting.pop()
        inner = _inner(one)
        if inner is not None:
            waiting.extend(reversed(list(inner)))
        elif not _same(one.old, one.new):
            found.append(one)
    return found


def _inner(one: Difference) -> Iterator[Difference] | None:
    """What is to be compared inside two values; `None` when they are no two objects or arrays."""
    if is_object(one.old) and is_object(one.new):
        return _members(one.path, one.old, one.new)
    if is_array(one.old) and is_array(one.new):
        return _items(one.path, one.old, one.new)
    return None


def _members(path: str, old: JsonObject, new: JsonObject) -> Iterator[Difference]:
    for key in {**old, **new}:
        name = f".{key}" if key.isidentifier() else f"[{dumps(key).decode()}]"
        yield Difference(path + name, old.get(key, UNSET), new.get(key, UNSET))


def _items(path: str, old: list[Json], new: list[Json]) -> Iterator[Difference]:
    """Items side by side; what both end with is not compared with what came in between."""
    start = 0
    while start < min(len(old), len(new)) and _same(old[start], new[start]):
        start += 1
    rest = min(len(old), len(new)) - start
    end = 0
    while end < rest and _same(old[-1 - end], new[-1 - end]):
        end += 1
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    for place in range(max(len(before), len(after))):
        yield Difference(
            f"{path}[{start + place}]",
            before[place] if place < len(before) else UNSET,
            after[place] if place < len(after) else UNSET,
        )


def _same(one: Json | UnsetType, other: Json | UnsetType) -> bool:
    if one is UNSET or other is UNSET:
        return one is other
    return dumps(one) == dumps(other)  # 1 is not true, and 1.0 is not 1


def shown(value: Json | UnsetType) -> str:
    """A value on one line, cut where it is long."""
    if value is UNSET:
        return "nothing"
    text = dumps(value).decode()
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
