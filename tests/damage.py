"""Hypothesis strategies for damaged JSON: values removed, repeated, moved or replaced by another type."""

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from partita.testing.mutations import WRONG, places
from partita.types.json import Json, dumps, is_array, loads

MEANINGFUL = (
    "type",
    "id",
    "role",
    "name",
    "content",
    "text",
    "parts",
    "state",
    "status",
    "metadata",
    "index",
)
"""Names of members that have a meaning in most formats."""


@st.composite
def damaged(draw: st.DrawFn, payload: Json) -> Json:
    """A copy of a payload with up to three damages."""
    copy = loads(dumps(payload))
    for _ in range(draw(st.integers(1, 3))):
        paths = list(places(copy))
        if not paths:
            return _wrong(draw)
        *path, last = draw(st.sampled_from(paths))
        place: Any = copy
        for step in path:
            place = place[step]
        _damage(draw, place, last)
    return copy


def _damage(draw: st.DrawFn, place: Any, key: Any) -> None:
    match draw(st.integers(0, 5)):
        case 0:
            del place[key]
        case 1 if is_array(place):
            place.insert(draw(st.integers(0, len(place))), loads(dumps(place[key])))
        case 2 if is_array(place):
            place.append(place.pop(key))
        case 1 | 2:
            place[draw(st.sampled_from(MEANINGFUL))] = _wrong(draw)
        case _:
            place[key] = _wrong(draw)


def _wrong(draw: st.DrawFn) -> Json:
    return deepcopy(draw(st.sampled_from(WRONG)))
