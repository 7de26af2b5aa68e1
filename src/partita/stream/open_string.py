"""The string at the end of a value while more of it comes: the rest of the value need not be parsed again."""

import re
from typing import Any

from partita.types.json import Json, is_array, is_object, loads

# What may stand in a string, whole: plain characters, and escapes but for the halves of surrogate pairs.
_INSIDE = re.compile(
    r"""(?:[^"\\\x00-\x1f\ud800-\udfff]+|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*"""
)


class OpenString:
    """Where the open string is in a value, and what has been added to it."""

    def __init__(self, root: Json, path: list[Any]) -> None:
        self._root = root
        self._path = path  # keys and indices, from the root to the string
        self._added: list[str] = []

    @classmethod
    def find(cls, root: Json, strings: int) -> "OpenString | None":
        """The open string of a value whose text holds that many strings and keys.

        It is the last one, unless a key came twice: then the value holds fewer strings than its text, and its
        members are not in the order of the text.
        """
        path: list[Any] = []
        place = root
        while is_object(place) or is_array(place):
            if not place:
                return None
            path.append(next(reversed(place)) if is_object(place) else len(place) - 1)
            place = place[path[-1]]
        return cls(root, path) if isinstance(place, str) and _strings(root) == strings else None

    def take(self, added: str) -> bool:
        """Take more text, if all of it belongs to the string."""
        if not _INSIDE.fullmatch(added):
            return False
        self._added.append(added)
        return True

    def value(self) -> Json:
        """The value with all that was taken; the containers around the string are made anew."""
        if self._added:
            added = "".join(self._added)
            self._added.clear()
            self._root = _extended(self._root, self._path, loads(f'"{added}"') if "\\" in added else added)
        return self._root


def _extended(value: Json, path: list[Any], added: str) -> Json:
    if not path:
        return value + added
    copy = value.copy()
    copy[path[0]] = _extended(value[path[0]], path[1:], added)
    return copy


def _strings(value: Json) -> int:
    """How many strings and keys a value holds."""
    count, stack = 0, [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            count += 1
        elif is_object(item):
            count += len(item)
            stack.extend(item.values())
        elif is_array(item):
            stack.extend(item)
    return count
