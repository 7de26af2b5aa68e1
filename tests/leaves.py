"""The leaves of a JSON value, and the same value with one of them changed: for tests that nothing is lost."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from partita.types.json import Json, is_array, is_object

Path = tuple[str | int, ...]


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
    """The value with the leaf at `path` turned into another of its kind."""
    if not path:
        return _other(value)
    copy = deepcopy(value)
    place: Any = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = _other(place[path[-1]])
    return copy


MARK = "~zq~"
"""Words that stand in no payload."""


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


@st.composite
def changes(draw: st.DrawFn, value: Json) -> tuple[Path, Json]:
    """One leaf of `value`, and `value` with that leaf changed."""
    path = draw(st.sampled_from(list(leaves(value))))
    return path, changed(value, path)
