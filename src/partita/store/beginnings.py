"""Threads by the beginning of their id."""

from typing import NamedTuple

from sqlalchemy import select

from .tables import threads
from .transaction import Transaction


class ThreadName(NamedTuple):
    """A thread that was found."""

    id: str
    title: str | None


def threads_beginning_with(tx: Transaction, start: str, limit: int) -> list[ThreadName]:
    """The threads whose id begins so, by id."""
    query = select(threads.c.id, threads.c.title).where(
        tx.mine(threads), threads.c.id.startswith(start, autoescape=True)
    )
    return [ThreadName(row.id, row.title) for row in tx.rows(query.order_by(threads.c.id).limit(limit))]
