"""Pages of lists: by cursor, and by number for clients of other systems."""

import base64
import binascii
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from sqlalchemy import Select

from partita.errors import StoreError

T = TypeVar("T")


def page_size(limit: int) -> int:
    """The limit of a page, which is 1 or more."""
    if limit < 1:
        raise StoreError(f"a page of {limit}", hint="limit is 1 or more")
    return limit


def to_cursor(*values: datetime | str | int) -> str:
    """The opaque cursor of the values that a page ended with."""
    return base64.urlsafe_b64encode(msgspec.json.encode(values)).decode().rstrip("=")


def from_cursor(cursor: str, *types: type) -> tuple[object, ...]:
    """The values of a cursor."""
    try:
        values = _decode(cursor, types)
        if any(isinstance(value, datetime) and value.tzinfo is None for value in values):
            raise ValueError("a time without a zone")
        return values
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise wrong_cursor(cursor) from None


def _decode(cursor: str, types: tuple[type, ...]) -> tuple[object, ...]:
    padded = cursor + "=" * (-len(cursor) % 4)
    text = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True)
    values: tuple[object, ...] = msgspec.json.decode(text, type=tuple.__class_getitem__(types))
    return values


def time_and_id(cursor: str) -> tuple[datetime, str]:
    """The time and the id that a page ended with."""
    time, row_id = from_cursor(cursor, datetime, str)
    assert isinstance(time, datetime), "msgspec checked the types"
    assert isinstance(row_id, str), "msgspec checked the types"
    return time, row_id


def wrong_cursor(cursor: str) -> StoreError:
    """The error that a cursor is not one of this list."""
    return StoreError(
        "this is not a cursor of this list", where=cursor[:80], hint="pass on `page.next`, unchanged"
    )


class NumberedPage(NamedTuple):
    """A page by its number, counted from 0. With `size=None` everything is on it."""

    number: int = 0
    size: int | None = None

    @property
    def offset(self) -> int:
        """The number of items before the page."""
        return 0 if self.size is None else self.number * self.size

    def has_more(self, total: int) -> bool:
        """Whether there are items after the page."""
        return self.size is not None and self.offset + self.size < total

    def limit(self, query: Select[Any]) -> Select[Any]:
        """A query for the rows of this page."""
        return query if self.size is None else query.limit(self.size).offset(self.offset)


@dataclass(frozen=True, slots=True)
class Numbered(Generic[T]):
    """The items of a numbered page, and the number of items on all pages."""

    items: tuple[T, ...]
    total: int
