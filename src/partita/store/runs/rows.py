"""The rows of runs: their status, their lease, and their end.

A run is `pending` or `running` until it ends, once, in one of four ways. The process that works on it holds a
lease and renews it; when the lease expires, the process is gone and another one may take over the run.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType
from sqlalchemy import (
    ColumnElement,
    Row,
    and_,
    bindparam,
    exists,
    literal,
    not_,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from partita.errors import ConflictError, StoreError
from partita.store.encoding import encode_json
from partita.store.engines.engine import CHANNEL
from partita.store.projects import matches_project
from partita.store.schema import NEVER, Instant, is_before, runs
from partita.store.schema import threads as thread_table
from partita.store.sql.pages import page_size, time_and_id, to_cursor
from partita.store.sql.statement import Statement
from partita.store.sql.texts import required, storable
from partita.store.sql.transaction import Transaction, require_row
from partita.store.threads import rows as threads
from partita.store.values import Page, RunFilter
from partita.types.codec import decode, encode
from partita.types.json import Json, dumps, is_object, loads
from partita.types.threads import Run, RunStatus
from partita.types.usage import Usage
from partita.types.value import Extra

ACTIVE: tuple[RunStatus, ...] = ("pending", "running")
"""The statuses of runs that have not ended."""

STARTED: Final = "coalesce(r.started_at, r.created_at)"
SECONDS: Final = {
    True: f"(r.finished_at - {STARTED}) / 1000000.0",
    False: f"CAST(EXTRACT(EPOCH FROM r.finished_at - {STARTED}) AS DOUBLE PRECISION)",
}
"""The duration of a run `r` in SQL, by whether the engine is SQLite."""

OF_SUB_AGENT: Final = "substr(r.id, 1, length(r.thread_id) + 1) = r.thread_id || '/'"
"""The condition in SQL that a run `r` was read from the log of a sub-agent: another run waited for it.

`LogReader.read_agent` gives such runs an id that begins with the id of their thread and a slash.
"""

MAX_ID = 255

ACTIVE_UNTIL: Final = "activeUntil"
"""The member of `log` in the metadata of an imported run: when its agent is idle if it writes nothing."""

OCCUPIES_THREAD = not_(and_(runs.c.sealed, runs.c.lease_owner.is_(None)))
"""The condition that an active run blocks its thread. An imported run, whose log is sealed and which has no
lease, does not: its agent may still be writing, but no process works on it through this store.
"""


_OF_ANY_OWNER = select(runs).where(runs.c.id == bindparam("of_id")).limit(2)
_OF_OWNER = select(runs).where(runs.c.owner == bindparam("of_owner"), runs.c.id == bindparam("of_id"))
_FIND_OF_ANY_OWNER = {False: Statement(_OF_ANY_OWNER), True: Statement(_OF_ANY_OWNER.with_for_update())}
_FIND_OF_OWNER = {False: Statement(_OF_OWNER), True: Statement(_OF_OWNER.with_for_update())}
"""By whether the row is locked, which SQLite ignores."""


class RunEnd(NamedTuple):
    """How a run ended, and what it consumed."""

    status: RunStatus
    reason: str | None = None
    usage: Usage | None = None
    cost: float | None = None
    agent_result: Json | UnsetType = UNSET
    """What the agent returned, if it completed."""


def find(tx: Transaction, id: str, *, lock: bool = False) -> Row[Any]:
    """The row of a run. Without an owner, an id that several owners have is an error."""
    return require_row(find_or_none(tx, id, lock=lock), "run", id)


def find_or_none(tx: Transaction, id: str, *, lock: bool = False) -> Row[Any] | None:
    """The row of a run, or `None`."""
    storable(id, "the run id")
    if tx.owner is not None:
        return _FIND_OF_OWNER[lock].row(tx, of_owner=tx.owner, of_id=id)
    rows = _FIND_OF_ANY_OWNER[lock].rows(tx, of_id=id)
    if len(rows) > 1:
        raise ConflictError(
            f"several owners have a run {id!r}", hint="use the store of one: store.scoped(owner)"
        )
    return rows[0] if rows else None


def is_idle(row: Row[Any], now: datetime) -> bool:
    """Whether an imported run that is `running` by its row has written nothing for long.

    The import that read its log knew until when the agent was expected to write the next record.
    """
    metadata: Json = None if row.metadata is None else loads(row.metadata)
    log: Json = metadata.get("log") if is_object(metadata) else None
    until: Json = log.get(ACTIVE_UNTIL) if is_object(log) else None
    return isinstance(until, str) and datetime.fromisoformat(until) < now


def end_idle(tx: Transaction) -> int:
    """End imported runs that have written nothing for long; returns how many there were."""
    query = select(runs).where(tx.owned(runs), runs.c.status == "running", runs.c.finished_at.is_(None))
    rows = [row for row in tx.rows(query.where(not_(OCCUPIES_THREAD))) if is_idle(row, tx.now)]
    for row in rows:
        last = tx.run(
            select(thread_table.c.updated_at).where(
                thread_table.c.owner == row.owner, thread_table.c.id == row.thread_id
            )
        ).scalar()
        change(tx, row, {"status": "completed", "finished_at": last or tx.now})
    return len(rows)


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
    """Write a new run, `running` unless it is `pending`. An id that exists already is a `ConflictError`."""
    thread = threads.find(tx, required(run.thread_id, "thread id"), resource_id)
    return from_row(insert(tx, run, thread.owner, lease(tx, lease_owner, lease_seconds)))


def insert(tx: Transaction, run: Run, owner: str, held: dict[str, Any]) -> Row[Any]:
    """Insert a run in a thread of that owner, and return its row."""
    if len(required(run.id, "run id")) > MAX_ID:
        raise StoreError("the run id is too long", where=run.id[:80], hint=f"at most {MAX_ID} characters")
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
    row = _INSERT[tx.is_sqlite].row(tx, **{f"new_{name}": value for name, value in fields.items()})
    if row is None:
        raise ConflictError(f"run {run.id!r} exists already", hint="use a new id for every run")
    return row


_INSERTED = (
    *("owner", "id", "thread_id", "status", "last_seq", "sealed", "created_at", "started_at"),
    *("message_id", "agent", "model", "usage", "cost", "error", "metadata", "extra", "agent_result"),
    *("lease_owner", "lease_expires_at"),
)
"""The columns of a new run."""


def _insert_unless_taken(insert: Any) -> Statement:
    new = {name: bindparam(f"new_{name}", type_=runs.c[name].type) for name in _INSERTED}
    return Statement(insert(runs).values(new).on_conflict_do_nothing().returning(runs))


_INSERT = {True: _insert_unless_taken(sqlite.insert), False: _insert_unless_taken(postgresql.insert)}


def own_fields(run: Run) -> dict[str, Any]:
    """The columns that describe a run; status, times and lease have functions of their own."""
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
        raise StoreError(f"the cost is {cost}", hint="use a number, or None if it is unknown")
    return cost


def get(tx: Transaction, run_id: str) -> Run | None:
    """The run with that id, or `None`."""
    row = find_or_none(tx, run_id)
    return None if row is None else from_row(row)


_RUNNING = (
    select(runs)
    .where(runs.c.thread_id == bindparam("of_thread"), runs.c.status == "running", OCCUPIES_THREAD)
    .order_by(runs.c.created_at.desc(), runs.c.id.desc())
    .limit(1)
)
_RUNNING_OF_ANY_OWNER = Statement(_RUNNING)
_RUNNING_OF_OWNER = Statement(_RUNNING.where(runs.c.owner == bindparam("of_owner")))


def running(tx: Transaction, thread_id: str) -> Run | None:
    """The active run of a thread, or `None`."""
    storable(thread_id, "the thread id")
    if tx.owner is None:
        row = _RUNNING_OF_ANY_OWNER.row(tx, of_thread=thread_id)
    else:
        row = _RUNNING_OF_OWNER.row(tx, of_owner=tx.owner, of_thread=thread_id)
    return None if row is None else from_row(row)


def list_runs(
    tx: Transaction, filter: RunFilter | None = None, *, limit: int = 50, cursor: str | None = None
) -> Page[Run]:
    """A page of runs, newest first."""
    selected, limit = filter or RunFilter(), page_size(limit)
    query = select(runs).where(tx.owned(runs)).order_by(runs.c.created_at.desc(), runs.c.id.desc())
    if selected.thread_id is not None:
        query = query.where(runs.c.thread_id == storable(selected.thread_id, "the thread id"))
    if selected.status:
        query = query.where(runs.c.status.in_(selected.status))
    if selected.agent is not None:
        query = query.where(runs.c.agent == storable(selected.agent, "the agent"))
    if selected.since is not None:
        query = query.where(runs.c.created_at >= selected.since)
    if selected.until is not None:
        query = query.where(is_before(runs.c.created_at, selected.until))
    if selected.project is not None:
        of_run = (thread_table.c.owner == runs.c.owner, thread_table.c.id == runs.c.thread_id)
        in_project = matches_project(tx, thread_table, selected.project)
        query = query.where(exists().where(*of_run, in_project))
    if cursor is not None:
        query = query.where(_before(*time_and_id(cursor)))
    rows = tx.rows(query.limit(limit + 1))
    more = to_cursor(rows[limit - 1].created_at or NEVER, rows[limit - 1].id) if len(rows) > limit else None
    return Page(tuple(map(from_row, rows[:limit])), more)


def _before(time: datetime, id: str) -> ColumnElement[bool]:
    end = tuple_(literal(time, Instant()), literal(storable(id, "the cursor")))
    return tuple_(runs.c.created_at, runs.c.id) < end


def save_run(tx: Transaction, run: Run) -> Run:
    """Update what describes a run. Status and lease have methods of their own."""
    row = find(tx, run.id, lock=True)
    if run.thread_id != row.thread_id:
        raise ConflictError(
            f"run {run.id!r} belongs to thread {row.thread_id!r}", hint="open a new run in the other thread"
        )
    starts = (row.status, run.status) == ("pending", "running")
    if run.status != row.status and not starts:
        raise ConflictError(
            f"run {run.id!r} is {row.status}, it does not become {run.status}",
            hint="end a run with finish(), fail(), cancel() or interrupt() of store.runs",
        )
    fields = own_fields(run) | ({"status": "running", "started_at": tx.now} if starts else {})
    return change(tx, row, fields)


def change(tx: Transaction, row: Row[Any], fields: dict[str, Any]) -> Run:
    """Change columns of a run, and return it."""
    values = {f"new_{name}": value for name, value in fields.items()}
    changed = _update(tuple(fields)).row(tx, of_owner=row.owner, of_id=row.id, **values)
    return from_row(require_row(changed, "run", row.id))


@cache
def _update(names: tuple[str, ...]) -> Statement:
    same = (runs.c.owner == bindparam("of_owner"), runs.c.id == bindparam("of_id"))
    new = {name: bindparam(f"new_{name}", type_=runs.c[name].type) for name in names}
    return Statement(update(runs).where(*same).values(new).returning(runs))


def end(tx: Transaction, run_id: str, ending: RunEnd, *, message_id: str | None = None) -> Run:
    """End a run. Ending it again in the same way does nothing, in another way is a `ConflictError`."""
    return end_row(tx, find(tx, run_id, lock=True), ending, message_id=message_id)


def end_row(tx: Transaction, row: Row[Any], ending: RunEnd, *, message_id: str | None = None) -> Run:
    """End the run of a locked row."""
    if row.status == ending.status:
        return from_row(row)
    if row.status not in ACTIVE:
        raise ConflictError(
            f"run {row.id!r} is {row.status}, it does not become {ending.status}",
            hint="a run ends once: get it to see how",
        )
    described = {
        "error": None if ending.reason is None else dumps(ending.reason).decode(),
        "usage": None if ending.usage is None else encode(ending.usage).decode(),
        "cost": _amount(ending.cost),
        "message_id": storable(message_id, "the message id"),
        "agent_result": _result(ending.agent_result),
    }
    fields = {name: value for name, value in described.items() if value is not None}
    fields |= {"status": ending.status, "finished_at": tx.now, **lease(tx, None, None)}
    ended = change(tx, row, fields)
    notify(tx, row.id)
    return ended


def notify(tx: Transaction, name: str) -> None:
    """Notify other processes about a run or a lease owner once this is committed. SQLite is polled."""
    if not tx.is_sqlite:
        tx.sql("SELECT pg_notify(?, ?)", (CHANNEL, name))


# Leases


def lease_now(tx: Transaction) -> datetime:
    """The time that leases are compared with: that of the database, since the clocks of machines differ."""
    if tx.is_sqlite or not tx.by_system_clock:
        return tx.now
    now: datetime = tx.sql("SELECT clock_timestamp()").scalar_one()
    return now


def lease(tx: Transaction, lease_owner: str | None, seconds: float | None) -> dict[str, Any]:
    """The columns of a lease. Without seconds it does not expire."""
    expires = None if seconds is None or lease_owner is None else lease_now(tx) + timedelta(seconds=seconds)
    return {"lease_owner": storable(lease_owner, "the lease owner"), "lease_expires_at": expires}


def renew_lease(tx: Transaction, run_id: str, lease_owner: str, seconds: float) -> Run:
    """Renew the lease of a run, also after it has expired, unless another owner has taken it."""
    row = _find_active(tx, run_id)
    if row.lease_owner != lease_owner:
        free = row.lease_owner is None
        raise ConflictError(
            f"run {run_id!r} has no lease" if free else f"run {run_id!r} is held by {row.lease_owner!r}",
            hint="take_lease() takes one" if free else "stop working on it: it was taken over",
        )
    return change(tx, row, lease(tx, lease_owner, seconds))


def take_lease(tx: Transaction, run_id: str, lease_owner: str, seconds: float) -> Run:
    """Take the lease of a run that has none, or whose lease has expired."""
    row = _find_active(tx, run_id)
    expired = row.lease_expires_at is not None and row.lease_expires_at <= lease_now(tx)
    if row.lease_owner not in (None, lease_owner) and not expired:
        until = "it is released" if row.lease_expires_at is None else row.lease_expires_at.isoformat()
        raise ConflictError(
            f"run {run_id!r} is held by {row.lease_owner!r}", hint=f"wait until {until}, or cancel the run"
        )
    return change(tx, row, lease(tx, required(lease_owner, "lease owner"), seconds))


def release_lease(tx: Transaction, run_id: str, lease_owner: str) -> Run:
    """Release the lease of a run. A run without a lease stays as it is."""
    row = find(tx, run_id, lock=True)
    if row.lease_owner not in (None, lease_owner):
        raise ConflictError(
            f"run {run_id!r} is held by {row.lease_owner!r}", hint="only the owner of a lease can release it"
        )
    return change(tx, row, lease(tx, None, None))


def _find_active(tx: Transaction, run_id: str) -> Row[Any]:
    row = find(tx, run_id, lock=True)
    if row.status not in ACTIVE:
        raise ConflictError(f"run {run_id!r} has ended: {row.status}", hint="open a new run")
    return row


def lease_owners(tx: Transaction) -> list[str]:
    """The owners of leases of active runs."""
    query = select(runs.c.lease_owner).where(runs.c.lease_owner.is_not(None), runs.c.finished_at.is_(None))
    return [row.lease_owner for row in tx.rows(query.where(tx.owned(runs)).distinct())]


def abandoned_runs(tx: Transaction, *, limit: int = 100, dead: Sequence[str] = ()) -> list[Run]:
    """Active runs whose lease has expired, or has a `dead` owner; the one that expired first comes first."""
    query = (
        select(runs)
        .where(
            tx.owned(runs),
            runs.c.finished_at.is_(None),
            or_(*(runs.c.status == status for status in ACTIVE)),
            or_(runs.c.lease_expires_at <= lease_now(tx), tx.among(runs.c.lease_owner, dead)),
        )
        .order_by(runs.c.lease_expires_at, runs.c.id)
        .limit(limit)
    )
    return [from_row(row) for row in tx.rows(query)]
