"""Pages by number, and how many there are in all: for clients that do not go from cursor to cursor."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import ColumnElement, Select, func, select

from partita.types.json import Json
from partita.types.threads import Thread

from .tables import threads
from .thread_filter import has_label
from .threads import from_row
from .transaction import Transaction
from .values import Order

T = TypeVar("T")

ThreadTime: TypeAlias = Literal["created_at", "updated_at"]
"""What threads may be ordered by."""

COLUMNS: Final[Mapping[ThreadTime, ColumnElement[Any]]] = {
    "created_at": threads.c.created_at,
    "updated_at": threads.c.updated_at,
}


class NumberedPage(NamedTuple):
    """A page by its number, counted from 0; with `size` `None` everything is on it."""

    number: int = 0
    size: int | None = None

    @property
    def offset(self) -> int:
        """How many come before it."""
        return 0 if self.size is None else self.number * self.size

    def has_more(self, total: int) -> bool:
        """Whether anything comes after it."""
        return self.size is not None and self.offset + self.size < total

    def cut(self, query: Select[Any]) -> Select[Any]:
        """A query that gives this page of what it gave."""
        return query if self.size is None else query.limit(self.size).offset(self.offset)


@dataclass(frozen=True, slots=True)
class Numbered(Generic[T]):
    """What is on a page, and how many there are on all pages."""

    items: tuple[T, ...]
    total: int


def list_threads(
    tx: Transaction,
    page: NumberedPage,
    *,
    by: ThreadTime,
    order: Order,
    resource_id: str | None,
    metadata: Mapping[str, Json],
) -> Numbered[Thread]:
    """A page of threads."""
    conditions = [tx.mine(threads), *(has_label(name, value) for name, value in metadata.items())]
    if resource_id:
        conditions.append(threads.c.owner == resource_id)
    total = tx.run(select(func.count()).select_from(threads).where(*conditions)).scalar_one()
    columns = (COLUMNS[by], threads.c.key)
    query = select(threads).where(*conditions)
    query = query.order_by(*(columns if order == "asc" else (column.desc() for column in columns)))
    return Numbered(tuple(map(from_row, tx.rows(page.cut(query)))), total)
