"""JSON values of which a part is gone, doubled, moved or of another kind than it should be."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from msgspec import UNSET

from partita.types.json import Json, dumps, is_array, is_object, loads
from tests.leaves import Path

WRONG: tuple[Json, ...] = (
    *(None, True, 0, -1, 1.5, 10**25, "", "x", "text", "null", "{}", "[1]", "\ud800"),
    *([], [1], ["x"], [None], [[]], [{"type": "text", "text": "x"}]),
    *({}, {"x": 1}, {"type": "text"}, {"type": 5}, {"type": "text", "text": None}),
    *(10**400, -(10**400), float("inf"), float("nan"), "1e999", "9999-12-31T23:59:59-14:00", "http://["),
    *({"type": []}, [{"type": {}}], {"x": {}}, {"\ud800": 1}, {"id": {}, "name": []}),
)
"""What may stand where it should not: among it numbers that no float holds, and types that have no hash."""

TELLING = ("type", "id", "role", "name", "content", "text", "parts", "state", "status", "metadata", "index")
"""Names of members that mean something in most formats."""


ROOTS = 40
"""How many values of a payload are tried in the place of the payload."""


def misplaced(payload: Json) -> Iterator[Json]:
    """Values of a payload in its place: one of each kind of place, bare, in a list, and as messages."""
    for path in _kinds(payload)[:ROOTS]:
        value: Any = payload
        for step in path:
            value = value[step]
        yield from (value, [value], {"messages": value})


def mistaken(payload: Json, one_in: int) -> Iterator[Json]:
    """Copies of a payload with one damage each: every kind of place is missing, or holds something wrong."""
    damages = [(path, wrong) for path in _kinds(payload) for wrong in (*WRONG, UNSET)]
    for (*path, last), wrong in damages[::one_in]:
        copy = loads(dumps(payload))
        place: Any = copy
        for step in path:
            place = place[step]
        if wrong is UNSET:
            del place[last]
        else:
            place[last] = deepcopy(wrong)
        yield copy


def _kinds(payload: Json) -> list[Path]:
    """One path for each kind of place: items of a list are of one kind."""
    kinds: dict[tuple[str, ...], Path] = {}
    for path in _places(payload):
        kinds.setdefault(tuple(step if isinstance(step, str) else "*" for step in path), path)
    return list(kinds.values())


@st.composite
def damaged(draw: st.DrawFn, payload: Json) -> Json:
    """A copy of a payload with up to three damages."""
    copy = loads(dumps(payload))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(copy))
        if not places:
            return _wrong(draw)
        *path, last = draw(st.sampled_from(places))
        place: Any = copy
        for step in path:
            place = place[step]
        _damage(draw, place, last)
    return copy


def _places(value: Json, path: Path = ()) -> Iterator[Path]:
    """The paths of all that stands in a value."""
    if is_object(value):
        members: list[tuple[str | int, Json]] = list(value.items())
    else:
        members = list(enumerate(value)) if is_array(value) else []
    for key, item in members:
        yield (*path, key)
        yield from _places(item, (*path, key))


def _damage(draw: st.DrawFn, place: Any, key: Any) -> None:
    match draw(st.integers(0, 5)):
        case 0:
            del place[key]
        case 1 if is_array(place):
            place.insert(draw(st.integers(0, len(place))), loads(dumps(place[key])))
        case 2 if is_array(place):
            place.append(place.pop(key))
        case 1 | 2:
            place[draw(st.sampled_from(TELLING))] = _wrong(draw)
        case _:
            place[key] = _wrong(draw)


def _wrong(draw: st.DrawFn) -> Json:
    return deepcopy(draw(st.sampled_from(WRONG)))
