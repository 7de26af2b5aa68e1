"""What of a payload is neither in its messages nor among the losses, for readers that do not report it all.

It is only used for formats that are read and not written, and are not complete.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from partita.formats.format import UNREAD, Loaded, Request
from partita.formats.losses import Loss, Severity, shown
from partita.types.codec import to_json
from partita.types.json import Json, is_array, is_object
from partita.types.older_forms import base64_of

from .held import Held, json_in

COUNTERS: Final = frozenset({"obfuscation", "sequence_number", "index", "output_index", "content_index", "p"})
"""Members of events that count or pad: readers of a message do not need them."""


class Missing(NamedTuple):
    """A value that was not found, where it was, and its name."""

    path: str
    name: str
    value: Json


def unaccounted(payload: Json, loaded: Loaded) -> list[Loss]:
    """The losses that the reader did not report."""
    request = loaded.request or Request()
    found = [to_json(loaded.messages), *map(to_json, request.tools), request.settings]
    held = Held([*found, [loss.what for loss in loaded.losses]])
    missing = _Search(held, loaded.losses).missing(payload, "$", "")
    return [Loss.of(one.path, one.value, UNREAD, _severity(one.name)) for one in missing]


class _Search:
    def __init__(self, held: Held, losses: Sequence[Loss]) -> None:
        self._held = held
        self._reported = {loss.what for loss in losses}
        self._reported_at = {(loss.path, loss.what) for loss in losses}

    def missing(self, value: Json, path: str, name: str) -> list[Missing]:
        """What is missing of a value; the value itself if all of it is."""
        if is_object(value) and value:
            places = [(f"{path}.{key}", key, inner) for key, inner in value.items()]
        elif is_array(value) and value:
            places = [(f"{path}[{index}]", name, inner) for index, inner in enumerate(value)]
        else:
            return [] if self._is_there(value, path, name) else [Missing(path, name, value)]
        if self._reported and shown(value) in self._reported:
            return []
        if _may_be_bytes(value) and (text := base64_of(value)) is not None and self._held.has(name, text):
            return []
        found = [self.missing(inner, where, key) for where, key, inner in places]
        if len(found) > 1 and all(one and one[0].path == where for one, (where, *_) in _both(found, places)):
            return [Missing(path, name, value)]
        return [one for some in found for one in some]

    def _is_there(self, leaf: Json, path: str, name: str) -> bool:
        if (path, shown(leaf)) in self._reported_at or self._held.has(name, leaf):
            return True
        if isinstance(leaf, bool | int | float):
            return False
        if self._reported and shown(leaf) in self._reported:
            return True
        inside = list(json_in(leaf))
        return bool(inside) and not self.missing(inside[0], path, name)


def _may_be_bytes(value: Json) -> bool:
    """Whether a value begins as JavaScript writes bytes in JSON."""
    return "0" in value or value.get("type") == "Buffer" if is_object(value) else isinstance(value[0], int)


def _both(found: Sequence[list[Missing]], places: Sequence[tuple[str, str, Json]]) -> Iterator[Any]:
    return zip(found, places, strict=True)


def _severity(name: str) -> Severity:
    return "minor" if name in COUNTERS else "lost"
