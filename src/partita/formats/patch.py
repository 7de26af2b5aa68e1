"""The difference between two JSON values, as JSON: what to do to the one to have the other.

`{"is": value}` puts a value in place; `{"of": {name: patch}, "without": [name]}` goes into an object;
`{"at": {index: patch}, "length": n, "more": [value]}` goes into an array, which is cut before it grows.
"""

from typing import Any

from partita.types.json import Json, JsonObject, is_array, is_object


def difference(before: Json, after: Json) -> JsonObject | None:
    """The patch that makes `after` of `before`, or `None` when they are the same."""
    if is_object(before) and is_object(after):
        return _object_difference(before, after)
    if is_array(before) and is_array(after):
        return _array_difference(before, after)
    return None if _is_same(before, after) else {"is": after}


def patched(value: Json, patch: JsonObject) -> Json:
    """The value that a patch makes of another. A patch that does not fit is an error of its own kind."""
    if "is" in patch:
        return patch["is"]
    if is_object(value):
        kept = {key: inner for key, inner in value.items() if key not in patch.get("without", ())}
        inside: JsonObject = patch.get("of", {})
        return kept | {key: patched(kept.get(key), one) for key, one in inside.items()}
    if is_array(value):
        items: list[Any] = [*value[: patch.get("length", len(value))]]
        for index, one in patch.get("at", {}).items():
            items[int(index)] = patched(items[int(index)], one)
        return [*items, *patch.get("more", ())]
    raise ValueError("the patch is for another value")


def _object_difference(before: JsonObject, after: JsonObject) -> JsonObject | None:
    patch: JsonObject = {}
    gone = [key for key in before if key not in after]
    inside = {
        key: difference(before[key], value) if key in before else {"is": value}
        for key, value in after.items()
    }
    if changed := {key: one for key, one in inside.items() if one is not None}:
        patch["of"] = changed
    if gone:
        patch["without"] = gone
    return patch or None


def _array_difference(before: list[Any], after: list[Any]) -> JsonObject | None:
    patch: JsonObject = {}
    inside = {
        str(index): difference(old, new) for index, (old, new) in enumerate(zip(before, after, strict=False))
    }
    if changed := {index: one for index, one in inside.items() if one is not None}:
        patch["at"] = changed
    if len(after) < len(before):
        patch["length"] = len(after)
    if len(after) > len(before):
        patch["more"] = after[len(before) :]
    return patch or None


def _is_same(before: Json, after: Json) -> bool:
    """Equal, and of one kind: 1 is neither true nor 1.0."""
    return type(before) is type(after) and before == after
