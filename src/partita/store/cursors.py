"""Where a page ended, as a text that nobody needs to look into."""

import base64
import binascii
from datetime import datetime

import msgspec

from partita.errors import StoreError


def to_cursor(*values: datetime | str | int) -> str:
    """A cursor of values."""
    return base64.urlsafe_b64encode(msgspec.json.encode(values)).decode().rstrip("=")


def _read(cursor: str, types: tuple[type, ...]) -> tuple[object, ...]:
    padded = cursor + "=" * (-len(cursor) % 4)
    text = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True)
    values: tuple[object, ...] = msgspec.json.decode(text, type=tuple.__class_getitem__(types))
    return values


def from_cursor(cursor: str, *types: type) -> tuple[object, ...]:
    """The values of a cursor."""
    try:
        values = _read(cursor, types)
        if any(isinstance(value, datetime) and value.tzinfo is None for value in values):
            raise ValueError("a moment without a zone")
        return values
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise StoreError(
            "this is no cursor of this list", where=cursor[:80], hint="pass on `page.next`, unchanged"
        ) from None


def time_and_id(cursor: str) -> tuple[datetime, str]:
    """The moment and the id that a page ended with."""
    moment, name = from_cursor(cursor, datetime, str)
    assert isinstance(moment, datetime), "msgspec checked the types"
    assert isinstance(name, str), "msgspec checked the types"
    return moment, name
