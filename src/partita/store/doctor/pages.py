"""Rows of a table, page by page, so that a large archive takes no more memory than a small one."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, literal, tuple_

from partita.store.sql.transaction import Transaction

from .report import Cursor

PAGE = 200


def page(
    tx: Transaction, query: Any, keys: Sequence[ColumnElement[Any]], after: Cursor, size: int = PAGE
) -> tuple[Sequence[Any], Cursor | None]:
    """The next rows of a query in the order of its keys, which it selects first, and where to go on."""
    if after:
        bounds = [literal(value, key.type) for value, key in zip(after, keys, strict=True)]
        query = query.where(tuple_(*keys) > tuple_(*bounds))
    rows: Sequence[Any] = tx.rows(query.order_by(*keys).limit(size))
    return rows, tuple(rows[-1][: len(keys)]) if len(rows) == size else None
