"""JSON values and objects as JavaScript reads them: as text, as members, as URLs.

Only invalid messages need most of this: in JavaScript, a number instead of a text is not an error, and the
same input must give the same output here.
"""

import math
import re
from decimal import Decimal
from typing import Final

from msgspec import UNSET

from partita.errors import ConversionError
from partita.types.json import (
    TOO_DEEP,
    TOO_DEEP_HINT,
    Json,
    JsonObject,
    is_array,
    is_object,
    join_surrogates,
    kind_of,
)

DATA: Final = "data:"
# A data URL of only these characters, with no "/" after its scheme, is one opaque path, which the URL
# standard does not change. "?" and "#" would end the path.
OPAQUE: Final = bytes(set(range(0x21, 0x7F)) - set(b"?#"))

_INDEX: Final = re.compile(r"0|[1-9]\d{0,9}")
_HALF: Final = re.compile("[\ud800-\udfff]")
_ESCAPED: Final = {0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r", 0x22: '\\"', 0x5C: "\\\\"}
_ESCAPES: Final = {code: f"\\u{code:04x}" for code in range(0x20)} | _ESCAPED


def is_nullish(value: Json) -> bool:
    """Whether a value is absent or `null`, which JavaScript mostly treats alike."""
    return value is None or value is UNSET


def text_of(value: Json) -> str:
    """Return what `String(value)` returns."""
    if isinstance(value, str):
        return value
    if value is UNSET:
        return "undefined"
    if is_array(value):
        return joined(value, ",")
    return "[object Object]" if is_object(value) else _scalar_text(value)


def joined(values: list[Json], separator: str) -> str:
    """Return what `values.join(separator)` returns: an absent value or `null` is empty."""
    try:
        return join_surrogates(
            separator.join("" if is_nullish(value) else text_of(value) for value in values)
        )
    except RecursionError:
        raise ConversionError(TOO_DEEP, hint=TOO_DEEP_HINT) from None


def json_text(value: Json) -> str:
    """Return what `JSON.stringify(value)` returns."""
    try:
        return _json_text(value)
    except RecursionError:
        raise ConversionError(TOO_DEEP, hint=TOO_DEEP_HINT) from None


def spread(value: Json) -> JsonObject:
    """Return the members of `{...value}`: those of an object, the items of an array or a string."""
    if isinstance(value, str):
        units = value.encode("utf-16-le", "surrogatepass")
        value = [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]
    if is_array(value):
        return {str(index): item for index, item in enumerate(value)}
    return value if is_object(value) else {}


def address(value: Json, where: str) -> str:
    """Return the absolute URL that `new URL(value)` normalizes a value to."""
    text = text_of(value)
    if _is_settled(text):
        return text
    from ada_url import URL

    try:
        return URL(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")).href
    except ValueError:
        shown = text if len(text) <= 60 else text[:60] + "…"
        raise ConversionError(
            f"not an absolute URL: {shown!r}", where=where, hint="use an https: or data: URL"
        ) from None


def _is_settled(text: str) -> bool:
    """Whether a data URL is in its normal form. This is fast, because some have many megabytes."""
    is_opaque = text.startswith(DATA) and not text.startswith("/", len(DATA))
    return is_opaque and text.isascii() and not text.encode().translate(None, OPAQUE)


def _json_text(value: Json) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if is_array(value):
        return f"[{','.join(map(_json_text, value))}]"
    if is_object(value):
        return f"{{{','.join(f'{_quoted(key)}:{_json_text(value[key])}' for key in _in_order(value))}}}"
    text = _scalar_text(value)
    return "null" if text.endswith("Infinity") else text


def _scalar_text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else _number_text(value)


def _quoted(text: str) -> str:
    return f'"{_HALF.sub(_escaped_half, join_surrogates(text).translate(_ESCAPES))}"'


def _escaped_half(half: re.Match[str]) -> str:
    return f"\\u{ord(half[0]):04x}"


def _in_order(members: JsonObject) -> list[str]:
    """Return keys in the order of JavaScript: array indexes by value, then the others in their order."""
    indexes = {key for key in members if _INDEX.fullmatch(key) and int(key) < 2**32 - 1}
    return sorted(indexes, key=int) + [key for key in members if key not in indexes]


def _number_text(value: float) -> str:
    """Return a number as JavaScript writes it: with the fewest digits, and an exponent if far from 0."""
    number = _double(value)
    if math.isinf(number):
        return "-Infinity" if number < 0 else "Infinity"
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)  # only NaN and infinities have letters there
    text = "".join(map(str, digits))
    point = len(text) + exponent
    if len(text) <= point <= 21:
        body = text.ljust(point, "0")
    elif 0 < point <= 21:
        body = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        body = f"0.{'0' * -point}{text}"
    else:
        body = f"{text[0]}{'.' if text[1:] else ''}{text[1:]}e{point - 1:+d}"
    return f"-{body}" if sign else body


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


# Objects


class Fields:
    """An object of the input. An absent member is `UNSET`. Other values have no members."""

    __slots__ = ("value", "where")

    def __init__(self, value: Json, where: str) -> None:
        self.value = value
        self.where = where

    def get(self, key: str) -> Json:
        """Return a member."""
        return self.value.get(key, UNSET) if is_object(self.value) else UNSET

    def first(self, *keys: str) -> Json:
        """Return the first of these members that is neither absent nor `null`."""
        return next((value for value in map(self.get, keys) if not is_nullish(value)), UNSET)

    def inside(self, key: str) -> "Fields":
        """Return a member that is an object."""
        return Fields(self.get(key), f"{self.where}.{key}")

    def items(self, key: str) -> "list[Fields]":
        """Return the items of a member, which must be an array."""
        return [Fields(item, where) for item, where in self._places(key)]

    def _places(self, key: str) -> list[tuple[Json, str]]:
        value = self.get(key)
        where = f"{self.where}.{key}"
        if not is_array(value):
            found = "missing" if value is UNSET else f"{kind_of(value)}, not array"
            raise ConversionError(f"{key} is {found}", where=where, hint=f"send {key} as an array")
        return [(item, f"{where}[{index}]") for index, item in enumerate(value)]
