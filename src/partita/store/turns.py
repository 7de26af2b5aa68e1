"""Turns: a run and the messages it is about, begun and ended together. A thread has one run at work.

What another process wants of a run (stop, an answer to its question) is left with the run as a signal; who
holds the run's lease takes it up when renewing it.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from sqlalchemy import Row, and_, bindparam, func, or_, select, update

from partita.errors import BudgetError, BusyError, ConflictError
from partita.types.codec import MESSAGES, to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.messages import AssistantMessage, Message
from partita.types.runs import Run, RunStatus
from partita.types.threads import Thread
from partita.types.usage import Usage

from . import messages, runs, saving, threads
from .endings import with_timings
from .engines.channel import CHANNEL
from .log.run_log import LogRecord, read_log
from .prepared import Prepared, check, prepare
from .statement import Statement
from .tables import runs as run_table
from .transaction import Transaction

QUEUED = "queued"
"""Where the metadata of a run that waits keeps the messages it will begin with."""

BEHIND = "behind"
"""Where the metadata of a run keeps messages to save once it has ended: of runs that waited and gave up."""

SIGNALS = "signals"
"""Where the metadata of a run keeps what others want of it."""

_BY_STATUS = or_(*(run_table.c.status == status for status in runs.AT_WORK))
_AT_WORK = Statement(
    select(run_table.c.id, run_table.c.status, run_table.c.created_at)
    .where(run_table.c.owner == bindparam("of_owner"), run_table.c.thread_id == bindparam("of_thread"))
    .where(_BY_STATUS, runs.IS_OURS)
    .order_by(run_table.c.created_at, run_table.c.id)
)

_UNFINISHED = Statement(
    select(func.count().label("number"))
    .select_from(run_table)
    .where(run_table.c.owner == bindparam("of_owner"), _BY_STATUS, runs.IS_OURS)
)

_SIGNALLED = run_table.c.metadata.like(f'%"{SIGNALS}":[%')

TICK = timedelta(microseconds=1)
"""What tells two moments apart."""

Busy: TypeAlias = Literal["refuse", "queue"]
"""What becomes of a turn when its thread has a run at work."""


class Ending(NamedTuple):
    """How a run ended, and what it cost."""

    status: RunStatus
    reason: str | None = None
    usage: Usage | None = None
    cost: float | None = None
    agent_result: Json | UnsetType = UNSET
    """What the agent returned, if it completed."""


class Begun(NamedTuple):
    """A turn that was begun, or waits in line."""

    run: Run
    key: int | None
    """By which the log of SQLite knows the run."""
    history: tuple[Message, ...] | None = None
    """The talk of the thread, the turn's own messages included; `None` while the run waits."""
    recalled: str | None = None
    """What the last run of the thread with the same agent noted under the name that was asked for."""
    owner: str | None = None
    """The owner of the thread."""


class Signal(NamedTuple):
    """What somebody wants of a run."""

    run_id: str
    signal: JsonObject


Fold: TypeAlias = Callable[[Run, AssistantMessage | None, Sequence[LogRecord]], Sequence[Message]]
"""The messages that a run amounts to, by its log and by the message it went on with."""


def begin(
    tx: Transaction,
    run: Run,
    prepared: Sequence[Prepared],
    *,
    busy: Busy = "refuse",
    resource_id: str | None = None,
    lease_owner: str | None = None,
    lease_seconds: float | None = None,
) -> Begun:
    """Save what a turn begins with and open its run; behind another run, refuse or wait in line."""
    thread = threads.find(tx, run.thread_id, resource_id, lock=True)
    return _begin(tx, thread, run, prepared, busy, runs.lease(tx, lease_owner, lease_seconds))


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
) -> Begun:
    """Begin a turn, in a new thread if there is none; with it, all that is needed to work on it."""
    thread = threads.find_or_create(tx, Thread(id=run.thread_id, agent=run.agent))
    if concurrent is not None:
        _refuse_more_than(tx, thread.owner, concurrent)
    if fresh:
        saving.refuse_known(tx, thread, [one.message.id for one in prepared])
    begun = _begin(tx, thread, run, prepared, busy, runs.lease(tx, lease_owner, lease_seconds))
    if begun.run.status == "pending":
        return begun._replace(owner=thread.owner or None)
    recalled = None if recall is None else _recall(tx, thread, begun.run, recall)
    return begun._replace(history=messages.talk(tx, thread), recalled=recalled, owner=thread.owner or None)


def _refuse_more_than(tx: Transaction, owner: str, most: int) -> None:
    """Refuse a run of an owner that has so many unfinished ones already."""
    if tx.connection.dialect.name == "postgresql":  # others count at the same time
        tx.connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"runs of {owner}"))))
    found = _UNFINISHED.row(tx, of_owner=owner)
    if found is not None and found.number >= most:
        raise BudgetError(
            f"{found.number} runs are running or waiting, and at most {most} may at once",
            hint="wait until one has ended, or stop one",
        )


def _begin(
    tx: Transaction,
    thread: Row[Any],
    run: Run,
    prepared: Sequence[Prepared],
    busy: Busy,
    held: dict[str, Any],
) -> Begun:
    ahead = _at_work(tx, thread)
    if ahead and busy == "refuse":
        raise BusyError(
            f"thread {run.thread_id!r} has a run at work: {ahead[0].id!r}",
            hint="wait for it, stop it, or queue behind it",
        )
    if ahead:
        for one in prepared:
            check(one.message)
        waiting = {QUEUED: [to_json(one.message) for one in prepared]}
        # Clocks differ, and who had to wait for the lock is late: the line is by arrival.
        behind = max(tx.now, ahead[-1].created_at + TICK)
        metadata = {**(run.metadata or {}), **waiting}
        run = replace(run, status="pending", metadata=metadata, created_at=behind)
    else:
        run = replace(run, status="running")
        saving.save_in(tx, thread, prepared)
    row = runs.insert(tx, run, thread.owner, held)
    return Begun(runs.from_row(row), row.key if tx.lite else None)


LOOKED_BACK = 10
"""How many runs are looked at for what one of them noted."""

_NOTES = Statement(
    select(run_table.c.metadata)
    .where(run_table.c.owner == bindparam("of_owner"), run_table.c.thread_id == bindparam("of_thread"))
    .where(run_table.c.agent == bindparam("by_agent"))
    .order_by(run_table.c.created_at.desc(), run_table.c.id.desc())
    .limit(LOOKED_BACK)
)


def _recall(tx: Transaction, thread: Row[Any], run: Run, name: str) -> str | None:
    """What the last run of a thread with the same agent noted under a name."""
    for row in _NOTES.rows(tx, of_owner=thread.owner, of_thread=thread.id, by_agent=run.agent):
        noted = _metadata(row).get(name)
        if isinstance(noted, str):
            return noted
    return None


def begin_queued(tx: Transaction, run_id: str) -> Run | None:
    """Begin a run that waits, once it is the first of its thread; `None` while it is not."""
    tx, thread, row = _locked(tx, run_id)
    if row.status != "pending":
        return runs.from_row(row)
    ahead = _at_work(tx, thread)
    if ahead[0].id != run_id or any(one.status == "running" for one in ahead):
        return None
    _save_queued(tx, row)
    return runs.change(tx, runs.find(tx, run_id), {"status": "running", "started_at": tx.now})


def end_queued(tx: Transaction, run_id: str, ending: Ending) -> Run:
    """End a run that never began; what it would have begun with is saved, behind the run ahead of it."""
    tx, thread, row = _locked(tx, run_id)
    if row.status == "pending":
        _leave_queued(tx, thread, row)
    return _end(tx, run_id, ending, None)


def end(tx: Transaction, run_id: str, prepared: Sequence[Prepared], ending: Ending) -> Run:
    """Save what a run came to, and end it."""
    saving.save(tx, prepared)
    message_id = prepared[-1].message.id if prepared else None
    return _end(tx, run_id, ending, message_id, timed=any(map(_has_calls, prepared)))


def recover(tx: Transaction, run_id: str, fold: Fold, ending: Ending, *, holder: str | None = None) -> Run:
    """End a run whose owner is gone: what its log holds becomes its messages. Nobody adds to it meanwhile.

    The `holder` of a run may do so too, when all it knows for certain is what is stored.
    """
    tx, thread, row = _locked(tx, run_id)
    if row.status not in runs.AT_WORK:
        return runs.from_row(row)
    expired = row.lease_expires_at is not None and row.lease_expires_at <= runs.lease_now(tx)
    if not expired and row.lease_owner not in (None, holder):
        raise ConflictError(f"run {run_id!r} is held by {row.lease_owner!r}", hint="its owner is alive again")
    if row.status == "pending":
        _leave_queued(tx, thread, row)
        return _end(tx, run_id, ending, None)
    known = messages.get(tx, thread.id, row.message_id, "inline") if row.message_id else None
    seed = known if isinstance(known, AssistantMessage) else None
    said = fold(runs.from_row(row), seed, read_log(tx, run_id))
    return end(tx, run_id, [prepare(message, thread.id) for message in said], ending)


def signal(tx: Transaction, run_id: str, wanted: JsonObject) -> Run:
    """Leave word for whoever works on a run."""
    row = runs.find(tx, run_id, lock=True)
    if row.status not in runs.AT_WORK:
        raise ConflictError(f"run {run_id!r} has ended: {row.status}", hint="there is nobody to tell")
    metadata = _metadata(row)
    metadata[SIGNALS] = [*_list(metadata.get(SIGNALS)), wanted]
    changed = runs.change(tx, row, {"metadata": _written(metadata)})
    if row.lease_owner is not None and not tx.lite:
        tx.sql("SELECT pg_notify(?, ?)", (CHANNEL, row.lease_owner))
    return changed


_HELD = and_(run_table.c.lease_owner == bindparam("holder"), run_table.c.finished_at.is_(None))
_BY_KEY = (run_table.c.owner, run_table.c.id)
_WANTED = Statement(select(run_table.c.id).where(_HELD, _SIGNALLED).limit(1))
_TOLD = Statement(select(run_table).where(_HELD, _SIGNALLED).order_by(*_BY_KEY))
_HOLD = Statement(select(run_table.c.id).where(_HELD).order_by(*_BY_KEY).with_for_update(key_share=True))
_RENEW = Statement(
    update(run_table)
    .where(_HELD)
    .values(lease_expires_at=bindparam("until", type_=run_table.c.lease_expires_at.type))
)


def is_wanted(tx: Transaction, lease_owner: str) -> bool:
    """Whether somebody wants something of an owner's runs."""
    return _WANTED.row(tx, holder=lease_owner) is not None


def beat(tx: Transaction, lease_owner: str, seconds: float) -> list[Signal]:
    """Renew all leases of an owner, and take up what others want of its runs."""
    if not tx.lite:  # in the order in which logs are written, so that neither waits for the other in a circle
        _HOLD.rows(tx, holder=lease_owner)
    _RENEW.run(tx, holder=lease_owner, until=runs.lease(tx, lease_owner, seconds)["lease_expires_at"])
    taken: list[Signal] = []
    for row in _TOLD.rows(tx, holder=lease_owner):
        metadata = _metadata(row)
        wanted = metadata.pop(SIGNALS, [])
        taken += [Signal(row.id, one) for one in wanted if is_object(one)]
        runs.change(tx, row, {"metadata": _written(metadata)})
    return taken


def _locked(tx: Transaction, run_id: str) -> tuple[Transaction, Row[Any], Row[Any]]:
    """The transaction of a run's owner, its thread and the run itself, both locked: always in that order."""
    owner = runs.find(tx, run_id).owner
    owned = Transaction(tx.connection, owner, tx.now, tx.by_system_clock)
    thread = threads.find(owned, runs.find(owned, run_id).thread_id, lock=True)
    return owned, thread, runs.find(owned, run_id, lock=True)


def _at_work(tx: Transaction, thread: Row[Any]) -> Sequence[Row[Any]]:
    """The runs of a thread that are at work or wait, the oldest first."""
    return _AT_WORK.rows(tx, of_owner=thread.owner, of_thread=thread.id)


def _has_calls(one: Prepared) -> bool:
    """Whether a message may hold calls whose times the log tells."""
    message = one.message
    network = isinstance(message, AssistantMessage) and message.content.network_execution is not None
    return one.derived.has_tool_calls or network


def _end(tx: Transaction, run_id: str, ending: Ending, message_id: str | None, *, timed: bool = False) -> Run:
    """End a run; what others left behind it is saved now. Calls get the times that its log tells."""
    row = runs.find(tx, run_id, lock=True)
    metadata = _metadata(row)
    if BEHIND in metadata:
        _save(tx, row.thread_id, metadata.pop(BEHIND))
        runs.change(tx, row, {"metadata": _written(metadata)})
    said: dict[str, Any] = {"usage": ending.usage, "cost": ending.cost, "message_id": message_id}
    said["agent_result"] = ending.agent_result
    if timed:
        return with_timings(tx, runs.end, run_id, ending.status, ending.reason, **said)
    return runs.end_row(tx, row, ending.status, ending.reason, **said)


def _save_queued(tx: Transaction, row: Row[Any]) -> None:
    """Save what a run that waited begins with; it no longer keeps it."""
    metadata = _metadata(row)
    _save(tx, row.thread_id, metadata.pop(QUEUED, []))
    runs.change(tx, row, {"metadata": _written(metadata)})


def _leave_queued(tx: Transaction, thread: Row[Any], row: Row[Any]) -> None:
    """Save what a run that never begins keeps; behind a run that is at work, once that has ended."""
    metadata = _metadata(row)
    left = [*_list(metadata.pop(QUEUED, [])), *_list(metadata.pop(BEHIND, []))]
    runs.change(tx, row, {"metadata": _written(metadata)})
    line = [one.id for one in _at_work(tx, thread)]
    if line[0] == row.id:
        _save(tx, row.thread_id, left)
        return
    ahead = runs.find(tx, line[line.index(row.id) - 1], lock=True)
    metadata = _metadata(ahead)
    metadata[BEHIND] = [*_list(metadata.get(BEHIND)), *left]
    runs.change(tx, ahead, {"metadata": _written(metadata)})


def _save(tx: Transaction, thread_id: str, said: Json) -> None:
    saving.save(tx, [prepare(message, thread_id) for message in MESSAGES.read(said)])


def _list(value: Json) -> list[Json]:
    return list(value) if is_array(value) else []


def _metadata(row: Row[Any]) -> JsonObject:
    metadata: Json = None if row.metadata is None else loads(row.metadata)
    return metadata if is_object(metadata) else {}


def _written(metadata: JsonObject) -> str | None:
    return dumps(metadata).decode() if metadata else None
