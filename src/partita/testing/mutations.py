"""Changed and damaged copies of a JSON value, to test the laws of formats with."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final, TypeAlias

from msgspec import UNSET

from partita.types.json import Json, is_array, is_object

Path: TypeAlias = tuple[str | int, ...]

MARK: Final = "~zq~"
"""A text that no payload contains."""

UNKNOWN: Final = "x-unknown"
"""The name of a member that no payload has."""

WRONG: Final[tuple[Json, ...]] = (
    *(None, True, 0, -1, 1.5, 10**25, "", "x", "text", "null", "{}", "[1]", "\ud800"),
    *([], [1], ["x"], [None], [[]], [{"type": "text", "text": "x"}]),
    *({}, {"x": 1}, {"type": "text"}, {"type": 5}, {"type": "text", "text": None}),
    *(10**400, -(10**400), float("inf"), float("nan"), "1e999", "9999-12-31T23:59:59-14:00", "http://["),
    *({"type": []}, [{"type": {}}], {"x": {}}, {"\ud800": 1}, {"id": {}, "name": []}),
)
"""Values for places where they do not belong: numbers too large for a float, unhashable types, …"""

MOST_ROOTS: Final = 40
"""How many values of a payload `misplaced` uses as a payload."""


def leaves(value: Json, path: Path = ()) -> Iterator[Path]:
    """The paths of all leaves; an empty object or array is one."""
    if is_object(value) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif is_array(value) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path


def changed(value: Json, path: Path) -> Json:
    """A copy of the value whose leaf at `path` is another value of the same type."""
    return with_value(value, path, _other(value_at(value, path)))


def value_at(value: Json, path: Path) -> Json:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value


def with_value(value: Json, path: Path, new: Any) -> Json:
    """A copy with another value at a path; without that member if the new value is `UNSET`."""
    if not path:
        return deepcopy(new)
    copy = deepcopy(value)
    *above, last = path
    place: Any = value_at(copy, tuple(above))
    if new is UNSET:
        del place[last]
    else:
        place[last] = deepcopy(new)
    return copy


def misplaced(payload: Json) -> Iterator[Json]:
    """Inner values of a payload as payloads, one for each kind of path: alone, in a list, and as messages."""
    for path in _kinds(payload)[:MOST_ROOTS]:
        value = value_at(payload, path)
        yield from (value, [value], {"messages": value})


def mistaken(payload: Json, one_in: int = 1) -> Iterator[Json]:
    """Copies of a payload, each with one member or item missing or replaced, for each kind of path."""
    damages = [(path, wrong) for path in _kinds(payload) for wrong in (*WRONG, UNSET)]
    return (with_value(payload, path, wrong) for path, wrong in damages[::one_in])


def extended(payload: Json) -> Iterator[tuple[Path, Json]]:
    """Copies of a payload with an unknown member in one object, for each kind of path, with its path."""
    for path in ((), *_kinds(payload)):
        if is_object(found := value_at(payload, path)):
            yield (*path, UNKNOWN), with_value(payload, path, {**found, UNKNOWN: MARK})


def places(value: Json, path: Path = ()) -> Iterator[Path]:
    """The paths of all members and items, at any depth."""
    if is_object(value):
        members: list[tuple[str | int, Json]] = list(value.items())
    else:
        members = list(enumerate(value)) if is_array(value) else []
    for key, item in members:
        yield (*path, key)
        yield from places(item, (*path, key))


def _kinds(payload: Json) -> list[Path]:
    """One path of each kind: all items of a list are of the same kind."""
    kinds: dict[tuple[str, ...], Path] = {}
    for path in places(payload):
        kinds.setdefault(tuple(step if isinstance(step, str) else "*" for step in path), path)
    return list(kinds.values())


def _other(leaf: Json) -> Json:
    match leaf:
        case bool():
            return not leaf
        case str():
            return leaf + MARK
        case int() | float():
            return leaf * 2 + 7919
        case None:
            return MARK
        case list():
            return [MARK]
        case _:
            return {MARK: MARK}
