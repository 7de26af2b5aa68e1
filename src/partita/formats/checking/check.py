"""What of a value is neither in what was made of it nor among the losses."""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any, Final, NamedTuple

from partita.formats.implied import ANY
from partita.formats.losses import Loss, Severity, shown
from partita.types.json import Json, is_array, is_object, same
from partita.types.older_forms import base64_of

from .held import Held, json_in

COUNTERS: Final = frozenset({"obfuscation", "sequence_number", "index", "output_index", "content_index", "p"})
"""Members of events that count or pad: nobody misses them in a message."""

_INDEX: Final = re.compile(r"\[\d+\]")
_STEP: Final = re.compile(r"\.([^.\[]+)|\[(\d+)\]")


class Missing(NamedTuple):
    """A value that is nowhere to be found, where it was, and under what name."""

    path: str
    name: str
    value: Json


def unaccounted(
    value: Json,
    held: Held,
    losses: Sequence[Loss],
    implied: Mapping[str, frozenset[Any]],
    why: str,
    *,
    counted: bool = False,
    again: Json = None,
) -> list[Loss]:
    """The losses that no format reported, each with the path of the value.

    With `counted`, flags and small numbers must be held as often as they stand in `value`. That is for
    messages: payloads say many things twice. `again` is what the result is read as, to see which are missing.
    """
    search = _Search(held, losses, implied)
    found = search.missing(value, "$", "")
    told = [Loss.of(one.path, one.value, why, _severity(one.name)) for one in found]
    return [*told, *(search.too_few(why, again) if counted else ())]


class _Search:
    def __init__(self, held: Held, losses: Sequence[Loss], implied: Mapping[str, frozenset[Any]]) -> None:
        self._held, self._implied = held, implied
        self._told = {loss.what for loss in losses}
        self._told_at = {(loss.path, loss.what) for loss in losses}
        self._asked: dict[tuple[str, bool, float], list[str]] = {}
        """Where flags and small numbers stand, by name and value."""

    def missing(self, value: Json, path: str, name: str) -> list[Missing]:
        """What is missing of a value; the value itself when all of it is."""
        if is_object(value) and value:
            places = [(f"{path}.{key}", key, inner) for key, inner in value.items()]
        elif is_array(value) and value:
            places = [(f"{path}[{index}]", name, inner) for index, inner in enumerate(value)]
        else:
            return [] if self._is_there(value, path, name) else [Missing(path, name, value)]
        if self._told and shown(value) in self._told:
            return []
        if _may_be_bytes(value) and (text := base64_of(value)) is not None and self._held.has(name, text):
            return []
        found = [self.missing(inner, where, key) for where, key, inner in places]
        if len(found) > 1 and all(one and one[0].path == where for one, (where, *_) in _both(found, places)):
            return [Missing(path, name, value)]
        return [one for some in found for one in some]

    def _is_there(self, leaf: Json, path: str, name: str) -> bool:
        if name in self._implied and self._is_implied(name, leaf):
            return True
        if (path, shown(leaf)) in self._told_at:
            return True
        if isinstance(leaf, bool | int | float):
            times = self._held.times(name, leaf)
            if 0 < times < inf:
                self._asked.setdefault((name, isinstance(leaf, bool), leaf), []).append(path)
            return times > 0
        if self._held.has(name, leaf) or (bool(self._told) and shown(leaf) in self._told):
            return True
        inside = list(json_in(leaf))
        return bool(inside) and not self.missing(inside[0], path, name)

    def _is_implied(self, name: str, leaf: Json) -> bool:
        """Whether a value is understood, or begins with a word that is and goes on with something held."""
        words = self._implied[name]
        if not isinstance(leaf, str):
            return isinstance(leaf, int | float) and leaf in words
        head, dash, rest = leaf.partition("-")
        return leaf in words or (f"{head}{dash}{ANY}" in words and self._held.has(name, rest))

    def too_few(self, why: str, again: Json) -> Iterator[Loss]:
        """Flags and small numbers that stand in more places than they are held in.

        Missing are those that do not stand at the same place when the result is read. Where that does not
        show which they are, the paths are reported as a pattern.
        """
        for (name, _, leaf), paths in self._asked.items():
            lacking = len(paths) - self._held.times(name, leaf)
            if lacking <= 0:
                continue
            moved = [path for path in paths if not same(value_at(again, path), leaf)]
            if len(moved) == lacking:
                yield from (Loss.of(path, leaf, why, _severity(name)) for path in moved)
            else:
                what = f"{lacking:.0f} of {len(paths)} times {shown(leaf)}"
                yield Loss(_INDEX.sub("[*]", paths[0]), what, why, _severity(name))


def value_at(value: Json, path: str) -> Json:
    """The value at a path, `None` if there is none."""
    for key, index in _STEP.findall(path):
        if index and is_array(value) and int(index) < len(value):
            value = value[int(index)]
        elif key and is_object(value):
            value = value.get(key)
        else:
            return None
    return value


def _may_be_bytes(value: Json) -> bool:
    """Whether a value begins as JavaScript writes bytes in JSON."""
    return "0" in value or value.get("type") == "Buffer" if is_object(value) else isinstance(value[0], int)


def _both(found: Sequence[list[Missing]], places: Sequence[tuple[str, str, Json]]) -> Iterator[Any]:
    return zip(found, places, strict=True)


def _severity(name: str) -> Severity:
    return "minor" if name in COUNTERS else "lost"
