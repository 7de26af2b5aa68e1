"""What a check is. It is done in steps, so that a large store takes no more memory than a small one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, literal, tuple_

from partita.store.sql.transaction import Transaction

from .report import Finding

Cursor: TypeAlias = tuple[Any, ...]
"""Where a check continues; empty at the start."""

PAGE_SIZE = 200


class Findings(NamedTuple):
    """The findings of one step of a check, and where the next step starts; `None` after the last one."""

    findings: list[Finding]
    next: Cursor | None = None


class Scope(NamedTuple):
    """How much to check: everything, or a sample where a check is slow."""

    full: bool
    every: int = 1  # of so many messages, one
    prefix: str = ""  # of the hashes of the blobs


Find: TypeAlias = Callable[[Transaction, Cursor, Scope], Findings]
Repair: TypeAlias = Callable[[Transaction, Finding], None]


@dataclass(frozen=True, slots=True)
class Check:
    """A check, and the repair of its repairable findings."""

    name: str
    title: str
    find: Find
    repair: Repair | None = None


def page(
    tx: Transaction, query: Any, keys: Sequence[ColumnElement[Any]], after: Cursor, size: int = PAGE_SIZE
) -> tuple[Sequence[Any], Cursor | None]:
    """The next rows of a query in the order of its first columns, the keys, and where to continue."""
    if after:
        bounds = [literal(value, key.type) for value, key in zip(after, keys, strict=True)]
        query = query.where(tuple_(*keys) > tuple_(*bounds))
    rows: Sequence[Any] = tx.rows(query.order_by(*keys).limit(size))
    return rows, tuple(rows[-1][: len(keys)]) if len(rows) == size else None
