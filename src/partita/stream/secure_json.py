"""JSON from outside, without the keys that could reach a JavaScript prototype."""

import re

from partita.errors import DecodeError
from partita.types.json import Json, has_surrogates, is_array, is_object, loads

_HALF = re.compile(r"\\.|[\ud800-\udfff]", re.DOTALL)
# Letters of the forbidden words, written as escapes. Hardly anything else escapes these.
_ESCAPED_LETTER = re.compile(r"\\u00(?:5f|6[3ef]|7[02345])", re.IGNORECASE)


def secure_loads(text: str) -> Json:
    """The value of a JSON text, unless it holds a key that could reach a JavaScript prototype."""
    value = loads(_spell_out_halves(text))
    if may_be_forbidden(text):
        _refuse_forbidden_keys(value)
    return value


def _spell_out_halves(text: str) -> str:
    """`text` with lone surrogates as escapes, so that they join an escaped other half, as in JavaScript."""
    if text.isascii() or not has_surrogates(text):
        return text
    return _HALF.sub(lambda match: match[0] if len(match[0]) == 2 else f"\\u{ord(match[0]):04x}", text)


def may_be_forbidden(text: str) -> bool:
    """Whether a JSON text needs a closer look: nearly none does."""
    return (
        "__proto__" in text
        or "constructor" in text
        or ("\\u00" in text and _ESCAPED_LETTER.search(text) is not None)
    )


def _refuse_forbidden_keys(value: Json) -> None:
    pending = [("$", value)]
    while pending:
        path, node = pending.pop()
        if is_object(node):
            _refuse_forbidden_members(node, path)
            pending.extend((f"{path}.{key}", item) for key, item in node.items())
        elif is_array(node):
            pending.extend((f"{path}[{index}]", item) for index, item in enumerate(node))


def _refuse_forbidden_members(node: dict[str, Json], path: str) -> None:
    constructor = node.get("constructor")
    if "__proto__" in node:
        key = "__proto__"
    elif is_object(constructor) and "prototype" in constructor:
        key = "constructor.prototype"
    else:
        return
    raise DecodeError(
        f"forbidden key {key!r}",
        where=f"{path}.{key}",
        hint="rename it: JavaScript readers refuse it, as it could change every object",
    )
