"""Whatever the packages that we plug in hand out, as JSON. All of them bring Pydantic along."""

from typing import Any

from pydantic_core import to_json, to_jsonable_python

from partita.types.json import Json


def as_json(value: Any) -> Json:
    """A value as JSON; what has no such form, as its text."""
    return to_jsonable_python(value, fallback=str, bytes_mode="base64", serialize_unknown=True)


def as_line(value: Any) -> bytes:
    """A value as one line of JSON, without its end."""
    return to_json(value, fallback=str, bytes_mode="base64", serialize_unknown=True)
