"""Equality of our results and results of the real package."""

from partita.types.json import Json, JsonObject, is_array, is_object


def same(ours: Json, theirs: Json) -> bool:
    """Return whether values are equal as JSON: members in any order, numbers by value, `true` is not `1`."""
    return bool(canonical(ours) == canonical(theirs))


def canonical(value: Json) -> Json:
    """Return a value that compares as in JSON."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return ("number", float(value))
    if is_object(value):
        return {key: canonical(item) for key, item in value.items()}
    if is_array(value):
        return [canonical(item) for item in value]
    raise TypeError(f"{value!r} is not JSON")


def difference(ours: JsonObject, theirs: JsonObject) -> str:
    """Return the difference of two results, if any. Errors are equal if they are at the same position."""
    for key in sorted((ours.keys() | theirs.keys()) - {"id", "error"}):
        if not same(ours.get(key), theirs.get(key)) or (key in ours) != (key in theirs):
            return f"{key}:\n  ours   {ours.get(key)!r}\n  theirs {theirs.get(key)!r}"
    mine, real = ours.get("error"), theirs.get("error")
    return "" if _same_error(mine, real) else f"error:\n  ours   {mine!r}\n  theirs {real!r}"


def _same_error(ours: JsonObject | None, theirs: JsonObject | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    facts = ("name", "chunkType", "chunkId") if theirs["name"] == "AI_UIMessageStreamError" else ()
    return all(ours.get(fact) == theirs.get(fact) for fact in facts)
