"""Values as databases give them → JSON; moments in one spelling, or as numbers to sort by."""

import base64
from typing import Any

from partita.errors import DecodeError
from partita.formats.core.members import parsed
from partita.formats.rows import read_moment
from partita.store.microseconds import to_microseconds
from partita.types.json import Json, is_array, is_object
from partita.types.times import iso_text

from .jsonb import decode_jsonb


def to_json(value: object) -> Json:
    """A value as JSON has it. Bytes that are no text become base64."""
    return _from_bytes(value) if isinstance(value, bytes) else value


def to_moment(value: Json) -> Json:
    """A moment as JavaScript writes it; what is none, and what that cannot write, stays as it is."""
    moment = read_moment(value)
    return value if moment is None or moment.microsecond % 1000 else iso_text(moment, "milliseconds")


def _from_bytes(data: bytes) -> Json:
    """What a BLOB holds: text, SQLite's binary JSON, or just bytes."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and (is_object(parsed(text)) or is_array(parsed(text))):
        return text
    try:
        return decode_jsonb(data)
    except DecodeError:
        return text if text is not None else {"base64": base64.b64encode(data).decode()}


def instant(value: Any) -> int | None:
    """The moment that a column names, in microseconds; `None` if it names none."""
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    moment = read_moment(value)
    return None if moment is None else to_microseconds(moment)
