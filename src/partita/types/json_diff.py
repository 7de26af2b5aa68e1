"""The differences of two JSON values, as changes and as a JSON Patch.

Loss reports, the comparison of runs and of recorded requests, and `carry` use it.

Two values are the same if they are the same JSON: 1 is neither true nor 1.0; the order of members is free.
Arrays of one length are compared item by item. Of others, the items before and after those that were added or
removed are compared.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.types.json import Json, JsonObject, dumps, is_array, is_object, same_json

JsonPath: TypeAlias = tuple[str | int, ...]

MAX_ALIGNED: Final = 4000
"""Longer arrays are compared by their indices, because the time to align them grows with the square."""


class Change(NamedTuple):
    """A value that was replaced; `UNSET` if it is absent. Two arrays differ only in their order."""

    path: JsonPath
    before: Json
    after: Json


class Splice(NamedTuple):
    """Consecutive items of an array that were replaced by others."""

    path: JsonPath
    start: int
    before: Sequence[Json]
    after: Sequence[Json]


def changes(before: Json, after: Json) -> Iterator[Change | Splice]:
    """The changes that turn `before` into `after`.

    Paths refer to `before`; changes of items must be applied before the splice of their array.
    """
    pending: list[Change | Splice] = [Change((), before, after)]
    while pending:  # a loop, because values may be nested deeper than Python can recurse
        pair = pending.pop()
        path, old, new = pair.path, pair.before, pair.after
        if isinstance(pair, Splice):
            yield pair
        elif is_object(old) and is_object(new):
            pending.extend(
                Change((*path, name), UNSET, value)
                for name, value in reversed(new.items())
                if name not in old
            )
            pending.extend(
                Change((*path, name), value, other)
                for name, value in reversed(old.items())
                if value is not (other := new.get(name, UNSET))
            )
        elif is_array(old) and is_array(new):
            if len(old) != len(new):
                pending.extend(reversed(list(_item_changes(old, new, path))))
                continue
            texts, others = [dumps(item) for item in old], [dumps(item) for item in new]
            if texts == others:
                continue
            if sorted(texts) == sorted(others):
                yield pair
                continue
            pending.extend(
                Change((*path, index), old[index], new[index])
                for index in range(len(old) - 1, -1, -1)
                if texts[index] != others[index]
            )
        elif type(old) is not type(new) or old != new or not same_json(old, new):  # 0.0 and -0.0
            yield pair


def _item_changes(before: list[Any], after: list[Any], path: JsonPath) -> Iterator[Change | Splice]:
    """The changes between arrays of different lengths: changed items, then the added or removed ones."""
    shorter, added = min(len(before), len(after)), len(after) - len(before)
    start = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    rest = shorter - start
    end = len(before) - next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    for index in (*range(start), *range(end, len(before))):
        other = after[index if index < start else index + added]
        if not same_json(before[index], other):  # 1 and true, which are equal in Python
            yield Change((*path, index), before[index], other)
    yield Splice(path, start, before[start:end], after[start : end + added])


def value_changes(before: Json, after: Json) -> Iterator[Change]:
    """The values that differ, one by one. Items of arrays are aligned, so that one more item is one change.

    The index of an item that was removed is that in the array before, of all others that in the array after.
    """
    pending: list[Change | Splice] = [*changes(before, after)][::-1]
    while pending:
        change = pending.pop()
        if isinstance(change, Change) and not (is_array(change.before) and is_array(change.after)):
            yield change
            continue
        start = change.start if isinstance(change, Splice) else 0
        found = [
            inner._replace(path=(*change.path, start + index, *inner.path))
            for index, old, new in _aligned(change.before, change.after)
            for inner in changes(old, new)
        ]
        pending.extend(reversed(found))


def _aligned(before: Sequence[Json], after: Sequence[Json]) -> Iterator[tuple[int, Json, Json]]:
    """Pairs of items to compare, with an index; `UNSET` if an item has no counterpart."""
    if len(before) == len(after) or len(before) + len(after) > MAX_ALIGNED:
        for index, (old, new) in enumerate(zip_longest(before, after, fillvalue=UNSET)):
            yield index, old, new
        return
    matcher = SequenceMatcher(None, [*map(dumps, before)], [*map(dumps, after)], autojunk=False)
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if kind != "equal":
            pairs = zip_longest(before[old_start:old_end], after[new_start:new_end], fillvalue=UNSET)
            for offset, (old, new) in enumerate(pairs):
                yield (old_start if new is UNSET else new_start) + offset, old, new


def json_patch(before: Json, after: Json) -> list[JsonObject] | None:
    """A JSON Patch (RFC 6902) that turns `before` into `after`; `None` if they are the same."""
    patch: list[JsonObject] = []
    for change in changes(before, after):
        pointer = "".join(f"/{_escaped(step)}" for step in change.path)
        if isinstance(change, Splice):
            patch += [{"op": "remove", "path": f"{pointer}/{change.start}"}] * len(change.before)
            for index, item in enumerate(change.after, change.start):
                patch.append({"op": "add", "path": f"{pointer}/{index}", "value": item})
        elif change.after is UNSET:
            patch.append({"op": "remove", "path": pointer})
        else:
            op = "add" if change.before is UNSET else "replace"
            patch.append({"op": op, "path": pointer, "value": change.after})
    return patch or None


def apply_patch(value: Json, patch: Sequence[JsonObject]) -> Json:
    """Apply a JSON Patch and return the new value. A patch that cannot be applied is a `LookupError`."""
    root: JsonObject = {"": deepcopy(value)}
    for operation in patch:
        holder: Any = root
        *steps, last = [_unescaped(step) for step in operation["path"].split("/")]
        for step in steps:
            holder = holder[int(step) if is_array(holder) else step]
        key: Any = int(last) if is_array(holder) else last
        match operation["op"]:
            case "add" if is_array(holder):
                holder.insert(key, operation["value"])
            case "add" | "replace":
                holder[key] = operation["value"]
            case "remove":
                del holder[key]
            case other:
                raise LookupError(f"no operation {other!r}")
    return root[""]


def _escaped(step: str | int) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
