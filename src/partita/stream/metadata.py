"""Metadata merging, as the AI SDK does it in JavaScript, odd values included."""

from collections.abc import Iterator

from msgspec import UNSET, UnsetType

from partita.errors import StreamError
from partita.types.json import Json, JsonObject, is_array, is_object

UNSAFE_KEYS = frozenset({"__proto__", "constructor", "prototype"})


def merge_metadata(base: Json | UnsetType, update: Json) -> Json:
    """`update` merged into `base`: objects deeply, all else replaced. The first value is taken as is."""
    if base is UNSET or base is None:
        return update
    return _merge(base, update)


def _merge(base: Json, update: Json) -> JsonObject:
    result = dict(_members(base))
    for key, value in _members(update):
        if key in UNSAFE_KEYS:
            continue
        if not isinstance(base, (dict, list)):
            raise StreamError(
                "metadata is no object, so nothing can be merged into it",
                hint="let the first metadata of a message be an object",
            )
        old = result.get(key)
        result[key] = _merge(old, value) if is_object(old) and is_object(value) else value
    return result


def _members(value: Json) -> Iterator[tuple[str, Json]]:
    """The members JavaScript sees in a value when it spreads it: arrays and strings have numbered ones."""
    if is_object(value):
        yield from value.items()
    elif is_array(value):
        yield from ((str(index), item) for index, item in enumerate(value))
    elif isinstance(value, str):
        # JavaScript counts halves of surrogate pairs.
        halves = value.encode("utf-16-le", "surrogatepass")
        for index in range(0, len(halves), 2):
            yield str(index // 2), halves[index : index + 2].decode("utf-16-le", "surrogatepass")
