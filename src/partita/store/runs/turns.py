"""Turns: a run and its messages, started and ended together. A thread has one active run.

A signal for a run (stop, the response to an approval) is stored with the run. The process that holds the
lease of the run takes it when it renews the lease.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace
from sqlalchemy import Row, and_, bindparam, func, or_, select, update

from partita.errors import BudgetError, BusyError, ConflictError
from partita.store.logs.run_log import LogRecord, read_log
from partita.store.logs.timings import with_timings
from partita.store.messages import queries as messages
from partita.store.messages import writer as saving
from partita.store.messages.prepared import Prepared, check, prepare
from partita.store.schema import NEVER
from partita.store.schema import runs as run_table
from partita.store.sql.statement import Statement
from partita.store.sql.transaction import Transaction
from partita.store.threads import rows as threads
from partita.types.codec import MESSAGES, to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import Run, Thread

from . import rows as runs
from .rows import RunEnd

QUEUED = "queued"
"""The member of the metadata of a pending run that holds the messages it will start with."""

SAVE_AFTER = "behind"
"""The member of the metadata of a run that holds messages of runs that never started, saved at its end."""

SIGNALS = "signals"
"""The member of the metadata of a run that holds its signals."""

_ACTIVE = or_(*(run_table.c.status == status for status in runs.ACTIVE))
_ACTIVE_IN_THREAD = Statement(
    select(run_table.c.id, run_table.c.status, run_table.c.created_at)
    .where(run_table.c.owner == bindparam("of_owner"), run_table.c.thread_id == bindparam("of_thread"))
    .where(_ACTIVE, runs.OCCUPIES_THREAD)
    .order_by(run_table.c.created_at, run_table.c.id)
)

_NUMBER_OF_ACTIVE = Statement(
    select(func.count().label("number"))
    .select_from(run_table)
    .where(run_table.c.owner == bindparam("of_owner"), _ACTIVE, runs.OCCUPIES_THREAD)
)

_HAS_SIGNALS = run_table.c.metadata.like(f'%"{SIGNALS}":[%')

TICK = timedelta(microseconds=1)
"""The smallest difference between two times."""

Busy: TypeAlias = Literal["refuse", "queue"]
"""What happens to a turn if its thread has an active run."""


class StartedTurn(NamedTuple):
    """A turn that was started, or is queued."""

    run: Run
    history: tuple[Message, ...] | None = None
    """The messages of the thread, including those of the turn; `None` while the run is queued."""
    recalled: str | None = None
    """The text that the last run with the same agent has under the requested name."""
    owner: str | None = None
    """The owner of the thread."""


class Signal(NamedTuple):
    """A signal for a run."""

    run_id: str
    signal: JsonObject


Fold: TypeAlias = Callable[[Run, AssistantMessage | None, Sequence[LogRecord]], Sequence[Message]]
"""Makes the messages of a run from its log and from the message that it continued."""


def start(
    tx: Transaction,
    run: Run,
    prepared: Sequence[Prepared],
    *,
    busy: Busy = "refuse",
    recall: str | None = None,
    fresh: bool = False,
    concurrent: int | None = None,
    lease_owner: str | None = None,
    lease_seconds: float | None = None,
) -> StartedTurn:
    """Save the messages of a turn and open its run, in a new thread if there is none, or queue the run."""
    thread = threads.find_or_create(tx, Thread(id=run.thread_id, agent=run.agent))
    if concurrent is not None:
        _refuse_more_than(tx, thread.owner, concurrent)
    if fresh:
        saving.refuse_known(tx, thread, [one.message.id for one in prepared])
    lease = runs.lease(tx, lease_owner, lease_seconds)
    ahead = _active(tx, thread)
    if ahead and busy == "refuse":
        raise BusyError(
            f"thread {run.thread_id!r} has an active run: {ahead[0].id!r}",
            hint="wait for it, stop it, or queue behind it",
        )
    if ahead:
        row = runs.insert(tx, _queued(tx, run, prepared, ahead[-1]), thread.owner, lease)
    else:
        saving.save_in(tx, thread, prepared)
        row = runs.insert(tx, replace(run, status="running"), thread.owner, lease)
    turn = StartedTurn(runs.from_row(row), owner=thread.owner or None)
    if ahead:
        return turn
    recalled = None if recall is None else _recall(tx, thread, turn.run, recall)
    return turn._replace(history=messages.history(tx, thread), recalled=recalled)


def _queued(tx: Transaction, run: Run, prepared: Sequence[Prepared], last: Row[Any]) -> Run:
    """A run that waits for the last one in the queue, and keeps its messages until it starts."""
    for one in prepared:
        check(one.message)
    metadata = {**(run.metadata or {}), QUEUED: [to_json(one.message) for one in prepared]}
    # The order is that of arrival: clocks differ, and a process that waited for the lock is late.
    created = max(tx.now, (last.created_at or NEVER) + TICK)
    return replace(run, status="pending", metadata=metadata, created_at=created)


def _refuse_more_than(tx: Transaction, owner: str, limit: int) -> None:
    """Refuse a run if the owner has as many active runs already."""
    if not tx.is_sqlite:  # other processes count at the same time
        tx.connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"runs of {owner}"))))
    row = _NUMBER_OF_ACTIVE.row(tx, of_owner=owner)
    if row is not None and row.number >= limit:
        raise BudgetError(
            f"{row.number} runs are running or waiting, and at most {limit} may at once",
            hint="wait until one has ended, or stop one",
        )


RECALLED_RUNS = 10
"""The number of earlier runs whose metadata is searched."""

_METADATA_OF_AGENT = Statement(
    select(run_table.c.metadata)
    .where(run_table.c.owner == bindparam("of_owner"), run_table.c.thread_id == bindparam("of_thread"))
    .where(run_table.c.agent == bindparam("by_agent"))
    .order_by(run_table.c.created_at.desc(), run_table.c.id.desc())
    .limit(RECALLED_RUNS)
)


def _recall(tx: Transaction, thread: Row[Any], run: Run, name: str) -> str | None:
    """The text under a name in the metadata of the last run of a thread with the same agent."""
    for row in _METADATA_OF_AGENT.rows(tx, of_owner=thread.owner, of_thread=thread.id, by_agent=run.agent):
        text = _metadata(row).get(name)
        if isinstance(text, str):
            return text
    return None


def start_queued(tx: Transaction, run_id: str) -> Run | None:
    """Start a pending run if it is the first of its thread, else return `None`."""
    tx, thread, row = _locked(tx, run_id)
    if row.status != "pending":
        return runs.from_row(row)
    ahead = _active(tx, thread)
    if ahead[0].id != run_id or any(one.status == "running" for one in ahead):
        return None
    metadata = _metadata(row)
    _save(tx, row.thread_id, metadata.pop(QUEUED, []))
    fields = {"metadata": _column(metadata), "status": "running", "started_at": tx.now}
    return runs.change(tx, runs.find(tx, run_id), fields)


def end_queued(tx: Transaction, run_id: str, ending: RunEnd) -> Run:
    """End a run that never started. Its messages are saved, after the run ahead of it has ended."""
    tx, thread, row = _locked(tx, run_id)
    if row.status == "pending":
        _keep_messages(tx, thread, row)
    return _end(tx, run_id, ending, None)


def end(tx: Transaction, run_id: str, prepared: Sequence[Prepared], ending: RunEnd) -> Run:
    """Save the messages of a run and end it."""
    saving.save(tx, prepared)
    message_id = prepared[-1].message.id if prepared else None
    if any(map(_has_calls, prepared)):
        return with_timings(tx, _end, run_id, ending, message_id)
    return _end(tx, run_id, ending, message_id)


def recover(tx: Transaction, run_id: str, fold: Fold, ending: RunEnd, *, holder: str | None = None) -> Run:
    """End a run whose lease has expired with the messages that `fold` makes of its log.

    The `holder` of the lease may do so too, if only the store knows what was saved.
    """
    tx, thread, row = _locked(tx, run_id)
    if row.status not in runs.ACTIVE:
        return runs.from_row(row)
    expired = row.lease_expires_at is not None and row.lease_expires_at <= runs.lease_now(tx)
    if not expired and row.lease_owner not in (None, holder):
        raise ConflictError(
            f"run {run_id!r} is held by {row.lease_owner!r}", hint="its owner has renewed the lease"
        )
    if row.status == "pending":
        _keep_messages(tx, thread, row)
        return _end(tx, run_id, ending, None)
    known = messages.get(tx, thread.id, row.message_id) if row.message_id else None
    continued = known if isinstance(known, AssistantMessage) else None
    folded = fold(runs.from_row(row), continued, read_log(tx, run_id))
    return end(tx, run_id, [prepare(message, thread.id) for message in folded], ending)


def signal(tx: Transaction, run_id: str, signal: JsonObject) -> Run:
    """Leave a signal for the process that holds a run."""
    row = runs.find(tx, run_id, lock=True)
    if row.status not in runs.ACTIVE:
        raise ConflictError(f"run {run_id!r} has ended: {row.status}", hint="no process would receive it")
    metadata = _metadata(row)
    metadata[SIGNALS] = [*_list(metadata.get(SIGNALS)), signal]
    changed = runs.change(tx, row, {"metadata": _column(metadata)})
    if row.lease_owner is not None:
        runs.notify(tx, row.lease_owner)
    return changed


_HELD = and_(run_table.c.lease_owner == bindparam("holder"), run_table.c.finished_at.is_(None))
_BY_KEY = (run_table.c.owner, run_table.c.id)
_FIRST_SIGNALLED = Statement(select(run_table.c.id).where(_HELD, _HAS_SIGNALS).limit(1))
_SIGNALLED = Statement(select(run_table).where(_HELD, _HAS_SIGNALS).order_by(*_BY_KEY))
_LOCK_HELD = Statement(select(run_table.c.id).where(_HELD).order_by(*_BY_KEY).with_for_update(key_share=True))
_RENEW = Statement(
    update(run_table)
    .where(_HELD)
    .values(lease_expires_at=bindparam("until", type_=run_table.c.lease_expires_at.type))
)


def has_signals(tx: Transaction, lease_owner: str) -> bool:
    """Whether there are signals for runs of a lease owner."""
    return _FIRST_SIGNALLED.row(tx, holder=lease_owner) is not None


def renew_leases(tx: Transaction, lease_owner: str, seconds: float) -> list[Signal]:
    """Renew all leases of an owner, and take the signals for its runs."""
    if not tx.is_sqlite:  # in the order in which logs are written: no deadlock
        _LOCK_HELD.rows(tx, holder=lease_owner)
    _RENEW.run(tx, holder=lease_owner, until=runs.lease(tx, lease_owner, seconds)["lease_expires_at"])
    taken: list[Signal] = []
    for row in _SIGNALLED.rows(tx, holder=lease_owner):
        metadata = _metadata(row)
        taken += [Signal(row.id, one) for one in metadata.pop(SIGNALS, []) if is_object(one)]
        runs.change(tx, row, {"metadata": _column(metadata)})
    return taken


def _locked(tx: Transaction, run_id: str) -> tuple[Transaction, Row[Any], Row[Any]]:
    """The transaction of a run's owner, its thread and the run, both locked, always in this order."""
    owner = runs.find(tx, run_id).owner
    owned = Transaction(tx.connection, owner, tx.now, tx.by_system_clock)
    thread = threads.find(owned, runs.find(owned, run_id).thread_id, lock=True)
    return owned, thread, runs.find(owned, run_id, lock=True)


def _active(tx: Transaction, thread: Row[Any]) -> Sequence[Row[Any]]:
    """The active runs of a thread, oldest first."""
    return _ACTIVE_IN_THREAD.rows(tx, of_owner=thread.owner, of_thread=thread.id)


def _has_calls(one: Prepared) -> bool:
    """Whether a message may have calls, whose times are in the log."""
    message = one.message
    network = isinstance(message, AssistantMessage) and message.content.network_execution is not None
    return one.derived.has_tool_calls or network


def _end(tx: Transaction, run_id: str, ending: RunEnd, message_id: str | None) -> Run:
    """End a run, and save the messages of queued runs that never started."""
    row = runs.find(tx, run_id, lock=True)
    metadata = _metadata(row)
    if SAVE_AFTER in metadata:
        _save(tx, row.thread_id, metadata.pop(SAVE_AFTER))
        runs.change(tx, row, {"metadata": _column(metadata)})
    return runs.end_row(tx, row, ending, message_id=message_id)


def _keep_messages(tx: Transaction, thread: Row[Any], row: Row[Any]) -> None:
    """Save the messages of a run that never starts; behind an active run, when that has ended."""
    metadata = _metadata(row)
    kept = [*_list(metadata.pop(QUEUED, [])), *_list(metadata.pop(SAVE_AFTER, []))]
    runs.change(tx, row, {"metadata": _column(metadata)})
    queue = [one.id for one in _active(tx, thread)]
    if queue[0] == row.id:
        _save(tx, row.thread_id, kept)
        return
    ahead = runs.find(tx, queue[queue.index(row.id) - 1], lock=True)
    metadata = _metadata(ahead)
    metadata[SAVE_AFTER] = [*_list(metadata.get(SAVE_AFTER)), *kept]
    runs.change(tx, ahead, {"metadata": _column(metadata)})


def _save(tx: Transaction, thread_id: str, kept: Json) -> None:
    saving.save(tx, [prepare(message, thread_id) for message in MESSAGES.read(kept)])


def _list(value: Json) -> list[Json]:
    return list(value) if is_array(value) else []


def _metadata(row: Row[Any]) -> JsonObject:
    metadata: Json = None if row.metadata is None else loads(row.metadata)
    return metadata if is_object(metadata) else {}


def _column(metadata: JsonObject) -> str | None:
    return dumps(metadata).decode() if metadata else None
