"""Threads as a list shows them: with what is at work in them, what waits, and what they took."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from sqlalchemy import CursorResult, Row, select

from partita.types.runs import RunStatus
from partita.types.threads import Thread
from partita.types.value import Value

from .runs import AT_WORK
from .tables import runs
from .thread_filter import CHOSEN, PINNED, listed
from .threads import from_row, page_of_rows
from .transaction import Transaction
from .values import Order, Page, ThreadFilter

Key: TypeAlias = tuple[str, str]
"""The owner and the id of a thread."""

CONSUMED: Final = """
SELECT t.owner, t.id, c.model, CAST(sum(c.input_tokens) AS BIGINT) AS input_tokens,
    CAST(sum(c.output_tokens) AS BIGINT) AS output_tokens, sum(c.cost) AS cost
FROM {chosen} CROSS JOIN consumptions c WHERE c.owner = t.owner AND c.thread_id = t.id
GROUP BY t.owner, t.id, c.model ORDER BY sum(c.input_tokens + c.output_tokens) DESC, c.model
"""
ASKING: Final = """
SELECT DISTINCT t.owner, t.id FROM {chosen} CROSS JOIN messages m CROSS JOIN parts p
WHERE m.owner = t.owner AND m.thread_id = t.id AND m.id = t.active_leaf_id
    AND p.owner = m.owner AND p.message = m.key AND p.state = 'approval-requested'
"""
ASKED: Final = """
SELECT t.owner, t.id, (
    SELECT m.preview FROM messages m WHERE m.owner = t.owner AND m.thread_id = t.id AND m.role = 'user'
        AND NOT m.internal AND m.preview <> '' ORDER BY m.seq LIMIT 1
) AS preview FROM {chosen}
"""


class ThreadSummary(Value, kw_only=True):
    """A thread, and what a list says of it."""

    thread: Thread
    preview: str | None = None  # of a thread without a title: how the first question begins
    models: tuple[str, ...] = ()  # who answered, the one that took the most tokens first
    errors: int = 0  # messages with a call that failed
    pinned: bool = False
    run_id: str | None = None  # the run at work, if there is one
    run_status: RunStatus | None = None
    waiting: bool = False  # for somebody to allow a call
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None  # in US dollars, of what has a price


def list_page(
    tx: Transaction, wanted: ThreadFilter, *, limit: int, cursor: str | None, order: Order
) -> Page[ThreadSummary]:
    """Summaries by when something was last said in their threads, newest first unless asked otherwise."""
    rows, more = page_of_rows(tx, wanted, limit=limit, cursor=cursor, order=order)
    if not rows:
        return Page(())
    consumed, at_work, asking = _consumed(tx, rows), _at_work(tx, rows), _asking(tx, rows)
    previews = _previews(tx, [row for row in rows if not row.title])
    summaries = [
        _summary(
            row,
            consumed=consumed.get(_key(row), []),
            run=at_work.get(_key(row)),
            asking=_key(row) in asking,
            preview=previews.get(_key(row)),
        )
        for row in rows
    ]
    return Page(tuple(summaries), more)


def _key(row: Row[Any]) -> Key:
    return (row.owner, row.id)


def _summary(
    row: Row[Any], *, consumed: Sequence[Row[Any]], run: Row[Any] | None, asking: bool, preview: str | None
) -> ThreadSummary:
    thread = from_row(row)
    costs = [one.cost for one in consumed if one.cost is not None]
    return ThreadSummary(
        thread=thread,
        preview=preview,
        models=tuple(one.model for one in consumed if one.model is not None),
        errors=row.error_count,
        pinned=(thread.metadata or {}).get(PINNED) is True,
        run_id=None if run is None else run.id,
        run_status=None if run is None else run.status,
        waiting=asking,
        input_tokens=sum(one.input_tokens for one in consumed),
        output_tokens=sum(one.output_tokens for one in consumed),
        cost=sum(costs) if costs else None,
    )


def _consumed(tx: Transaction, rows: Sequence[Row[Any]]) -> dict[Key, list[Row[Any]]]:
    """What each thread took, by model."""
    found: dict[Key, list[Row[Any]]] = {}
    for row in _looked_up(tx, CONSUMED, rows):
        found.setdefault(_key(row), []).append(row)
    return found


def _looked_up(tx: Transaction, query: str, rows: Sequence[Row[Any]]) -> CursorResult[Any]:
    """What a query gives of the threads of a page."""
    return tx.sql(query.format(chosen=CHOSEN[tx.lite]), (listed(tx, [row.key for row in rows]),))


def _at_work(tx: Transaction, rows: Sequence[Row[Any]]) -> dict[Key, Row[Any]]:
    """The runs at work, the running before the pending."""
    query = (
        select(runs.c.owner, runs.c.thread_id, runs.c.id, runs.c.status)
        .where(runs.c.finished_at.is_(None), runs.c.status.in_(AT_WORK), tx.mine(runs))
        .order_by(runs.c.status)  # of two the last one stays
    )
    wanted = {_key(row) for row in rows}
    keyed = (((row.owner, row.thread_id), row) for row in tx.rows(query))
    return {key: row for key, row in keyed if key in wanted}


def _previews(tx: Transaction, untitled: Sequence[Row[Any]]) -> dict[Key, str]:
    """How threads begin."""
    if not untitled:
        return {}
    return {_key(row): row.preview for row in _looked_up(tx, ASKED, untitled) if row.preview}


def _asking(tx: Transaction, rows: Sequence[Row[Any]]) -> set[Key]:
    """The threads whose last message holds a call that waits for somebody to allow it."""
    return {_key(row) for row in _looked_up(tx, ASKING, rows)}
