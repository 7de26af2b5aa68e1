"""Runs: what is at work, who holds it, and how it ended.

A run is `pending` or `running` until it ends, once, in one of four ways. Whoever works on it holds a lease
and renews it; when the lease runs out, the owner is gone and somebody else may take the run over.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from msgspec import UNSET, UnsetType
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Row,
    and_,
    bindparam,
    literal,
    literal_column,
    not_,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from partita.errors import ConflictError, StoreError
from partita.types.codec import decode, encode
from partita.types.json import Json, dumps, loads
from partita.types.runs import Run, RunStatus
from partita.types.usage import Usage
from partita.types.value import Extra

from . import threads
from .cursors import time_and_id, to_cursor
from .encoding import encode_json
from .engines.channel import CHANNEL
from .statement import Statement
from .tables import Instant, runs
from .texts import required, storable
from .transaction import Transaction, found
from .values import Page

AT_WORK: tuple[RunStatus, ...] = ("pending", "running")
LONGEST_ID = 255

IS_OURS = not_(and_(runs.c.sealed, runs.c.lease_owner.is_(None)))
"""Of unfinished runs, those that a process works on through this store. An imported run has a sealed log and
no lease: its agent may still be writing, but no process here waits for it, so it does not occupy its thread.
"""


_OF_ANYBODY = select(runs).where(runs.c.id == bindparam("of_id")).limit(2)
_OF_OWNER = select(runs).where(runs.c.owner == bindparam("of_owner"), runs.c.id == bindparam("of_id"))
_FIND_OF_ANYBODY = {False: Statement(_OF_ANYBODY), True: Statement(_OF_ANYBODY.with_for_update())}
_FIND_OF_OWNER = {False: Statement(_OF_OWNER), True: Statement(_OF_OWNER.with_for_update())}
"""By whether the row is locked, which means nothing to SQLite."""


def find(tx: Transaction, id: str, *, lock: bool = False) -> Row[Any]:
    """The row of a run. Without an owner, an id that several owners have is an error."""
    storable(id, "the run id")
    if tx.owner is None:
        rows = _FIND_OF_ANYBODY[lock].rows(tx, of_id=id)
    else:
        rows = _FIND_OF_OWNER[lock].rows(tx, of_owner=tx.owner, of_id=id)
    if len(rows) > 1:
        raise ConflictError(f"several owners have a run {id!r}", hint="ask the store of one of them")
    return found(rows[0] if rows else None, "run", id)


def from_row(row: Row[Any]) -> Run:
    """The run of a row."""
    return Run(
        id=row.id,
        thread_id=row.thread_id,
        status=row.status,
        message_id=row.message_id,
        agent=row.agent,
        model=row.model,
        usage=None if row.usage is None else decode(row.usage, Usage),
        cost=row.cost,
        error=None if row.error is None else loads(row.error),
        metadata=None if row.metadata is None else loads(row.metadata),
        agent_result=UNSET if row.agent_result is None else loads(row.agent_result),
        lease_owner=row.lease_owner,
        lease_expires_at=row.lease_expires_at,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        extra=None if row.extra is None else Extra(loads(row.extra)),
    )


def open_run(
    tx: Transaction,
    run: Run,
    *,
    resource_id: str | None = None,
    lease_owner: str | None = None,
    lease_seconds: float | None = None,
) -> Run:
    """Write a new run, at work from now on unless it is `pending`; an id that is taken is an error."""
    thread = threads.find(tx, required(run.thread_id, "thread id"), resource_id)
    return from_row(insert(tx, run, thread.owner, lease(tx, lease_owner, lease_seconds)))


def insert(tx: Transaction, run: Run, owner: str, held: dict[str, Any]) -> Row[Any]:
    """The row of a new run in a thread of that owner; in SQLite with its key, by which its log knows it."""
    if len(required(run.id, "run id")) > LONGEST_ID:
        raise StoreError("the run id is too long", where=run.id[:80], hint=f"at most {LONGEST_ID} characters")
    pending = run.status == "pending"
    fields: dict[str, Any] = {
        "owner": owner,
        "id": run.id,
        "thread_id": run.thread_id,
        "status": "pending" if pending else "running",
        "last_seq": 0,
        "sealed": False,
        "created_at": run.created_at or tx.now,
        "started_at": run.started_at or (None if pending else tx.now),
        **own_fields(run),
        **held,
    }
    row = _INSERT[tx.lite].row(tx, **{f"new_{name}": value for name, value in fields.items()})
    if row is None:
        raise ConflictError(f"there is a run {run.id!r} already", hint="make a new id for every run")
    return row


_AT_FIRST = (
    *("owner", "id", "thread_id", "status", "last_seq", "sealed", "created_at", "started_at"),
    *("message_id", "agent", "model", "usage", "cost", "error", "metadata", "extra", "agent_result"),
    *("lease_owner", "lease_expires_at"),
)
"""What is known of a run when it is opened."""


def _insert_unless_taken(insert: Any, *more: Any) -> Statement:
    new = {name: bindparam(f"new_{name}", type_=runs.c[name].type) for name in _AT_FIRST}
    return Statement(insert(runs).values(new).on_conflict_do_nothing().returning(runs, *more))


_INSERT = {
    True: _insert_unless_taken(sqlite.insert, literal_column("key", BigInteger)),
    False: _insert_unless_taken(postgresql.insert),
}


def own_fields(run: Run) -> dict[str, Any]:
    """What a run says of itself, as columns."""
    return {
        "message_id": storable(run.message_id, "the message id"),
        "agent": storable(run.agent, "the agent"),
        "model": storable(run.model, "the model"),
        "usage": None if run.usage is None else encode(run.usage).decode(),
        "cost": _amount(run.cost),
        "error": None if run.error is None else encode_json(run.error, "$.error"),
        "metadata": None if run.metadata is None else encode_json(run.metadata, "$.metadata"),
        "extra": None if run.extra is None else encode_json(dict(run.extra), "$"),
        "agent_result": _result(run.agent_result),
    }


def _result(result: Json | UnsetType) -> str | None:
    return None if result is UNSET else encode_json(result, "$.agentResult")


def _amount(cost: float | None) -> float | None:
    if cost is not None and not math.isfinite(cost):
        raise StoreError(f"the cost is {cost}", hint="give a number, or None when it is not known")
    return cost


def get_run(tx: Transaction, id: str) -> Run:
    """A run."""
    return from_row(find(tx, id))


_RUNNING = (
    select(runs)
    .where(runs.c.thread_id == bindparam("of_thread"), runs.c.status == "running", IS_OURS)
    .order_by(runs.c.created_at.desc(), runs.c.id.desc())
    .limit(1)
)
_RUNNING_OF_ANYBODY = Statement(_RUNNING)
_RUNNING_OF_OWNER = Statement(_RUNNING.where(runs.c.owner == bindparam("of_owner")))


def running(tx: Transaction, thread_id: str) -> Run | None:
    """The run at work in a thread, if there is one."""
    storable(thread_id, "the thread id")
    if tx.owner is None:
        row = _RUNNING_OF_ANYBODY.row(tx, of_thread=thread_id)
    else:
        row = _RUNNING_OF_OWNER.row(tx, of_owner=tx.owner, of_thread=thread_id)
    return None if row is None else from_row(row)


def list_runs(
    tx: Transaction,
    *,
    thread_id: str | None = None,
    status: Sequence[RunStatus] = (),
    agent: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Page[Run]:
    """Runs, the newest first."""
    query = select(runs).where(tx.mine(runs)).order_by(runs.c.created_at.desc(), runs.c.id.desc())
    if thread_id is not None:
        query = query.where(runs.c.thread_id == storable(thread_id, "the thread id"))
    if status:
        query = query.where(runs.c.status.in_(status))
    if agent is not None:
        query = query.where(runs.c.agent == storable(agent, "the agent"))
    if cursor is not None:
        query = query.where(_before(*time_and_id(cursor)))
    rows = tx.rows(query.limit(limit + 1))
    items = tuple(from_row(row) for row in rows[:limit])
    more = len(rows) > limit and items
    return Page(items, to_cursor(rows[limit - 1].created_at, items[-1].id) if more else None)


def _before(moment: datetime, id: str) -> ColumnElement[bool]:
    place = tuple_(literal(moment, Instant()), literal(storable(id, "the cursor")))
    return tuple_(runs.c.created_at, runs.c.id) < place


def save_run(tx: Transaction, run: Run) -> Run:
    """Write what a run says of itself. Leases, times and ends have functions of their own."""
    row = find(tx, run.id, lock=True)
    if run.thread_id != row.thread_id:
        raise ConflictError(
            f"run {run.id!r} belongs to thread {row.thread_id!r}", hint="open a new run in the other thread"
        )
    begins = (row.status, run.status) == ("pending", "running")
    if run.status != row.status and not begins:
        raise ConflictError(
            f"run {run.id!r} is {row.status}, it does not become {run.status}",
            hint="end a run with finish_run, fail_run, cancel_run or interrupt_run",
        )
    fields = own_fields(run) | ({"status": "running", "started_at": tx.now} if begins else {})
    return change(tx, row, fields)


def change(tx: Transaction, row: Row[Any], fields: dict[str, Any]) -> Run:
    """The run of a row, after its columns were changed."""
    values = {f"new_{name}": value for name, value in fields.items()}
    changed = _update(tuple(fields)).row(tx, of_owner=row.owner, of_id=row.id, **values)
    return from_row(found(changed, "run", row.id))


@cache
def _update(names: tuple[str, ...]) -> Statement:
    own = (runs.c.owner == bindparam("of_owner"), runs.c.id == bindparam("of_id"))
    new = {name: bindparam(f"new_{name}", type_=runs.c[name].type) for name in names}
    return Statement(update(runs).where(*own).values(new).returning(runs))


def finish_run(
    tx: Transaction,
    id: str,
    *,
    usage: Usage | None = None,
    cost: float | None = None,
    message_id: str | None = None,
    agent_result: Json | UnsetType = UNSET,
) -> Run:
    """End a run that did what it should."""
    return end(
        tx,
        id,
        "completed",
        None,
        usage=usage,
        cost=cost,
        message_id=message_id,
        agent_result=agent_result,
    )


def fail_run(
    tx: Transaction,
    id: str,
    error: str,
    *,
    usage: Usage | None = None,
    cost: float | None = None,
    message_id: str | None = None,
) -> Run:
    """End a run that did not."""
    return end(tx, id, "failed", error, usage=usage, cost=cost, message_id=message_id)


def cancel_run(tx: Transaction, id: str, reason: str | None = None) -> Run:
    """End a run that somebody stopped."""
    return end(tx, id, "cancelled", reason)


def interrupt_run(tx: Transaction, id: str, reason: str | None = None) -> Run:
    """End a run whose owner went away."""
    return end(tx, id, "interrupted", reason)


def end(
    tx: Transaction,
    id: str,
    status: RunStatus,
    error: str | None,
    *,
    usage: Usage | None = None,
    cost: float | None = None,
    message_id: str | None = None,
    agent_result: Json | UnsetType = UNSET,
) -> Run:
    """The ended run. To end it twice in the same way is harmless, in another way an error."""
    row = find(tx, id, lock=True)
    return end_row(
        tx, row, status, error, usage=usage, cost=cost, message_id=message_id, agent_result=agent_result
    )


def end_row(
    tx: Transaction,
    row: Row[Any],
    status: RunStatus,
    error: str | None,
    *,
    usage: Usage | None = None,
    cost: float | None = None,
    message_id: str | None = None,
    agent_result: Json | UnsetType = UNSET,
) -> Run:
    """The ended run of a row that is at hand, locked."""
    if row.status == status:
        return from_row(row)
    if row.status not in AT_WORK:
        raise ConflictError(
            f"run {row.id!r} is {row.status}, it does not become {status}",
            hint="a run ends once: look at get_run",
        )
    said = {
        "error": None if error is None else dumps(error).decode(),
        "usage": None if usage is None else encode(usage).decode(),
        "cost": _amount(cost),
        "message_id": storable(message_id, "the message id"),
        "agent_result": _result(agent_result),
    }
    fields = {name: value for name, value in said.items() if value is not None}
    ended = change(tx, row, {**fields, "status": status, "finished_at": tx.now, **lease(tx, None, None)})
    notify(tx, row.id)
    return ended


def notify(tx: Transaction, id: str) -> None:
    """Tell other processes that there is news of a run, once this is committed. SQLite's look for it."""
    if not tx.lite:
        tx.sql("SELECT pg_notify(?, ?)", (CHANNEL, id))


def lease_now(tx: Transaction) -> datetime:
    """The time that decides about leases: of the database, for the clocks of several machines differ."""
    if tx.lite or not tx.by_system_clock:
        return tx.now
    now: datetime = tx.sql("SELECT clock_timestamp()").scalar_one()
    return now


def lease(tx: Transaction, lease_owner: str | None, seconds: float | None) -> dict[str, Any]:
    """Who holds the run, and until when; a lease without an end is held until it is given back."""
    expires = None if seconds is None or lease_owner is None else lease_now(tx) + timedelta(seconds=seconds)
    return {"lease_owner": storable(lease_owner, "the lease owner"), "lease_expires_at": expires}


def heartbeat(tx: Transaction, id: str, lease_owner: str, seconds: float) -> Run:
    """Renew one's own lease, late or not, unless somebody else has taken the run over."""
    row = _at_work(tx, id)
    if row.lease_owner != lease_owner:
        free = row.lease_owner is None
        raise ConflictError(
            f"nobody holds run {id!r}" if free else f"run {id!r} is held by {row.lease_owner!r}",
            hint="take_lease() takes what is free" if free else "stop working on it: it was taken over",
        )
    return change(tx, row, lease(tx, lease_owner, seconds))


def take_lease(tx: Transaction, id: str, lease_owner: str, seconds: float) -> Run:
    """Take a run that nobody holds, or whose owner let the lease run out."""
    row = _at_work(tx, id)
    expired = row.lease_expires_at is not None and row.lease_expires_at <= lease_now(tx)
    if row.lease_owner not in (None, lease_owner) and not expired:
        until = "it is given back" if row.lease_expires_at is None else row.lease_expires_at.isoformat()
        raise ConflictError(
            f"run {id!r} is held by {row.lease_owner!r}", hint=f"wait until {until}, or cancel the run"
        )
    return change(tx, row, lease(tx, required(lease_owner, "lease owner"), seconds))


def release_lease(tx: Transaction, id: str, lease_owner: str) -> Run:
    """Give a run back. What is free already stays free."""
    row = find(tx, id, lock=True)
    if row.lease_owner not in (None, lease_owner):
        raise ConflictError(
            f"run {id!r} is held by {row.lease_owner!r}", hint="only who holds a run can give it back"
        )
    return change(tx, row, lease(tx, None, None))


def _at_work(tx: Transaction, id: str) -> Row[Any]:
    row = find(tx, id, lock=True)
    if row.status not in AT_WORK:
        raise ConflictError(f"run {id!r} has ended: {row.status}", hint="open a new run")
    return row


def lease_owners(tx: Transaction) -> list[str]:
    """Who holds runs at work."""
    query = select(runs.c.lease_owner).where(runs.c.lease_owner.is_not(None), runs.c.finished_at.is_(None))
    return [row.lease_owner for row in tx.rows(query.where(tx.mine(runs)).distinct())]


def abandoned_runs(tx: Transaction, *, limit: int = 100, dead: Sequence[str] = ()) -> list[Run]:
    """Runs at work whose owner let the lease run out, or is `dead`, the longest abandoned first."""
    query = (
        select(runs)
        .where(
            tx.mine(runs),
            runs.c.finished_at.is_(None),
            or_(*(runs.c.status == status for status in AT_WORK)),
            or_(runs.c.lease_expires_at <= lease_now(tx), tx.among(runs.c.lease_owner, dead)),
        )
        .order_by(runs.c.lease_expires_at, runs.c.id)
        .limit(limit)
    )
    return [from_row(row) for row in tx.rows(query)]
