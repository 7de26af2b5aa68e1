"""The difference between two JSON values: the comparison behind loss reports, and JSON Patch for `carry`.

Two values are the same if they are the same JSON: 1 is neither true nor 1.0; the order of members is free.
Arrays of one length are compared item by item. Of others, the items before and after those that were added or
removed are compared.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.types.json import Json, JsonObject, dumps, is_array, is_object, same

JsonPath: TypeAlias = tuple[str | int, ...]


class Change(NamedTuple):
    """A value that is another one. `UNSET`: it is absent. Two arrays: they differ only in their order."""

    path: JsonPath
    before: Json
    after: Json


class Splice(NamedTuple):
    """Items of an array, from an index on, that others replace."""

    path: JsonPath
    start: int
    before: Sequence[Json]
    after: Sequence[Json]


def changes(before: Json, after: Json, path: JsonPath = ()) -> Iterator[Change | Splice]:
    """What turns a value into another.

    All paths are those of `before`, if changes in items of an array are made before the array is spliced.
    """
    if is_object(before) and is_object(after):
        for name, value in before.items():
            other = after.get(name, UNSET)
            if value is not other:
                yield from changes(value, other, (*path, name))
        for name, value in after.items():
            if name not in before:
                yield Change((*path, name), UNSET, value)
    elif is_array(before) and is_array(after):
        yield from _array_changes(before, after, path)
    elif type(before) is not type(after) or before != after or not same(before, after):  # 0.0 and -0.0
        yield Change(path, before, after)


def _array_changes(before: list[Any], after: list[Any], path: JsonPath) -> Iterator[Change | Splice]:
    added = len(after) - len(before)
    start = end = len(before)
    if added:
        start = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(after))
        start = min(start, len(before), len(after))
        pairs = zip(reversed(before[start:]), reversed(after[start:]), strict=False)
        equal = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)) - start)
        end = len(before) - equal
    else:
        old, new = [dumps(item) for item in before], [dumps(item) for item in after]
        if old == new:
            return
        if sorted(old) == sorted(new):
            yield Change(path, before, after)
            return
    for index in (*range(start), *range(end, len(before))):
        other = after[index if index < start else index + added]
        if not same(before[index], other):
            yield from changes(before[index], other, (*path, index))
    if added:
        yield Splice(path, start, before[start:end], after[start : end + added])


def difference(before: Json, after: Json) -> list[JsonObject] | None:
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


def patched(value: Json, patch: Sequence[JsonObject]) -> Json:
    """The value that a JSON Patch turns another into. A patch that does not fit is a `LookupError`."""
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
