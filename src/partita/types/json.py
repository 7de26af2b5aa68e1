"""JSON encoding and decoding with msgspec, and with the standard library for what msgspec refuses.

JavaScript strings may contain lone surrogates, which are escaped in JSON. msgspec can neither read nor
write them.
"""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeAlias, TypeGuard

import msgspec

from partita.errors import DecodeError

Json: TypeAlias = Any
"""Any JSON value. Only used where untyped data enters or leaves."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object."""

TOO_DEEP = "JSON nested too deeply"
TOO_DEEP_HINT = "flatten the value or move it to a file: a few hundred levels are the limit"

_encode = msgspec.json.Encoder().encode


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether `value` is a JSON array."""
    return isinstance(value, list)


@contextmanager
def limited_depth() -> Iterator[None]:
    """Turn a `RecursionError` in the block into the error for values that are nested too deeply."""
    try:
        yield
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None


def loads(text: str | bytes) -> Json:
    """The value of a JSON text. Invalid JSON is a `DecodeError` with its position."""
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None
    except (msgspec.DecodeError, UnicodeError):
        return _loads_slowly(text)


def dumps(value: object) -> bytes:
    """Compact JSON. NaN and infinities become `null`, as in JavaScript; lone surrogates are escaped."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _dumps_slowly(value)
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None


def same_json(a: object, b: object) -> bool:
    """Whether two values are the same JSON. In Python alone, `1` equals `true`."""
    return a is b or dumps(a) == dumps(b)


def indented(value: object) -> bytes:
    """Indented JSON."""
    text = dumps(value)
    try:
        return msgspec.json.format(text, indent=2)
    except msgspec.DecodeError:  # a lone surrogate, which msgspec does not format
        return json.dumps(json.loads(text), indent=2).encode()


def join_surrogates(text: str) -> str:
    """`text` with adjacent surrogates joined into characters, as in JavaScript."""
    if text.isascii() or not has_surrogates(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def has_surrogates(text: str) -> bool:
    """Whether `text` contains a lone surrogate, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def kind_of(value: object) -> str:
    """The JSON type of a value, for error messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case dict():
            return "object"
        case _:
            return type(value).__name__


def _dumps_slowly(value: object) -> bytes:
    try:
        plain = _finite(msgspec.to_builtins(value))
        return json.dumps(plain, separators=(",", ":"), ensure_ascii=True).encode()
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None


def _loads_slowly(text: str | bytes) -> Json:
    try:
        source = text if isinstance(text, str) else text.decode()
        return json.loads(source, parse_constant=_refuse_constant, parse_float=_parse_float)
    except UnicodeDecodeError as error:
        raise DecodeError(
            "text is not UTF-8", where=f"byte {error.start}", hint="send JSON as UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise DecodeError(
            f"invalid JSON: {error.msg}", where=where, hint="check for a cut or a typo"
        ) from None
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None
    except ValueError as error:
        raise DecodeError(f"invalid JSON: {error}", hint="use numbers a double can hold") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _parse_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"number {text[:40]} is out of range")
    return number


def _finite(value: Json) -> Json:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_object(value):
        return {key: _finite(item) for key, item in value.items()}
    if is_array(value):
        return [_finite(item) for item in value]
    return value


def walk(value: Json, path: str = "$") -> Iterator[tuple[str, Json]]:
    """Every leaf of a JSON value with its path; an empty object or array is a leaf."""
    stack: list[tuple[str, Json]] = [(path, value)]
    while stack:
        where, item = stack.pop()
        if is_object(item) and item:
            stack.extend((f"{where}.{key}", inner) for key, inner in reversed(item.items()))
        elif is_array(item) and item:
            stack.extend((f"{where}[{index}]", inner) for index, inner in reversed(list(enumerate(item))))
        else:
            yield where, item
