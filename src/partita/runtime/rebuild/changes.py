"""What comes out otherwise in a session, written as the importer of logs writes what is new.

Numbers of stored messages stay; a new one takes a number that is free in its place, or else the next one.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace
from sqlalchemy import update

from partita.errors import ConflictError
from partita.formats.log.sink import Consumption
from partita.formats.log.thread_builder import CallTimes
from partita.importers.logs.runs_builder import RunsBuilder, consumption_records
from partita.logs.reading import Batch
from partita.runtime.compare.differences import Difference, differences
from partita.runtime.compare.message_losses import lost
from partita.store.bulk.agent_sessions import write_sessions
from partita.store.bulk.rows import RunRows, ThreadRows, prepare_message
from partita.store.messages import edits
from partita.store.messages import queries as stored_messages
from partita.store.schema import messages as message_table
from partita.store.schema import threads as thread_table
from partita.store.sql.transaction import Transaction
from partita.store.threads import branches
from partita.store.threads import rows as threads
from partita.types.codec import encode, to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message
from partita.types.threads import Run, Thread

from .report import Changed

# Stored messages beside those that a session comes to now: which are others, new, or gone.


class Change(NamedTuple):
    """A message as it is stored, and as it comes out now; `None` where there is none."""

    run_id: str
    thread_id: str
    stored: Message | None
    new: Message | None
    told: Changed


def changes(
    thread_id: str, run_id: str, stored: Mapping[str, Message], now: Sequence[Message], runs: Collection[str]
) -> Iterator[Change]:
    """What comes out otherwise in a thread.

    `runs` are those of the log: what others have written is left alone. `run_id` is told for messages that
    are of none.
    """
    beside = _by_run(now)
    added = {message.id for message in now if message.id not in stored}
    for message in now:
        there = stored.get(message.id)
        if there is None:
            whole = Difference("$.content", UNSET, to_json(message.content))
            told = Changed(message.id, (whole,))
            yield Change(message.run_id or run_id, thread_id, None, message, told)
        elif there.run_id in runs or there.run_id == message.run_id:
            new = in_place(there, message, added)
            if found := _differences(there, new):
                told = Changed(there.id, tuple(found), _lost(there, new, beside))
                yield Change(there.run_id or run_id, thread_id, there, new, told)
    known = {message.id for message in now}
    for there in stored.values():
        if there.run_id in runs and there.id not in known:
            whole = Difference("$.content", to_json(there.content), UNSET)
            told = Changed(there.id, (whole,), _lost(there, None, beside))
            yield Change(there.run_id or run_id, thread_id, there, None, told)


def in_place(stored: Message, new: Message, added: Collection[str] = ()) -> Message:
    """The message as it comes out now, in the place of the stored one, with what was added to its metadata.

    It follows another one than before only if that is among the `added`.
    """
    kept, said = stored.content.metadata, new.content.metadata
    metadata: Json = said
    if is_object(kept) and is_object(said):
        metadata = {**kept, **said}
    elif said is UNSET:
        metadata = kept
    return replace(
        new,
        thread_id=stored.thread_id,
        created_at=stored.created_at,
        resource_id=stored.resource_id,
        parent_id=new.parent_id if new.parent_id in added else stored.parent_id,
        run_id=stored.run_id,
        seq=stored.seq,
        content=replace(new.content, metadata=metadata),
        extra=stored.extra,
    )


def _differences(stored: Message, new: Message) -> list[Difference]:
    old, now = _envelope(stored), _envelope(new)
    if old == now and encode(stored.content) == encode(new.content):
        return []
    return differences({**old, "content": to_json(stored.content)}, {**now, "content": to_json(new.content)})


def _envelope(message: Message) -> JsonObject:
    return {
        "role": str(message.__struct_config__.tag),
        "type": message.type,
        "internal": message.internal,
        "parentId": message.parent_id,
    }


def _by_run(messages: Sequence[Message]) -> Mapping[str | None, list[Message]]:
    found: dict[str | None, list[Message]] = {}
    for message in messages:
        found.setdefault(message.run_id, []).append(message)
    return found


def _lost(
    stored: Message, new: Message | None, beside: Mapping[str | None, Sequence[Message]]
) -> tuple[str, ...]:
    """What a message would lose, and no other one of its run has."""
    own = () if new is None else (new,)
    if not lost(stored, *own):
        return ()
    return tuple(lost(stored, *own, *beside.get(stored.run_id, ())))


class ThreadChanges(NamedTuple):
    """All that is to be written to a thread."""

    thread: Thread
    changes: Sequence[Change]
    order: Sequence[str]  # the ids of all messages of the log, as they follow each other
    numbers: Mapping[str, int]  # of the stored messages
    times: Mapping[str, CallTimes] = {}
    runs: Sequence[Run] = ()
    consumptions: Sequence[Consumption] = ()


def write_changes(tx: Transaction, many: Sequence[ThreadChanges]) -> None:
    """Write to all threads of a session, unless somebody changed one of the messages meanwhile."""
    for one in many:
        _write(Transaction(tx.connection, one.thread.resource_id or "", tx.now), one)


def _write(tx: Transaction, one: ThreadChanges) -> None:
    row = threads.find(tx, one.thread.id, lock=True)
    _check(tx, one)
    write_sessions(tx, [_rows(tx, one, threads.from_row(row))], one.thread.resource_id)
    added = [change.told.message_id for change in one.changes if change.stored is None]
    own = (message_table.c.owner == row.owner, message_table.c.thread_id == row.id)
    for message_id, number in free_numbers(one.order, one.numbers, added, row.next_seq):
        tx.run(update(message_table).where(*own, message_table.c.id == message_id).values(seq=number))
    if added and row.active_leaf_id is not None:
        branches.set_active_leaf(tx, row, branches.leaf_below(tx, row.owner, row.id, row.active_leaf_id))
    gone = [change.told.message_id for change in one.changes if change.new is None]
    if gone:
        edits.delete_messages(tx, row.id, gone)
    # That we read it anew today does not make it a thread of today.
    thread = (thread_table.c.owner == row.owner, thread_table.c.id == row.id)
    tx.run(update(thread_table).where(*thread).values(updated_at=row.updated_at))


def _check(tx: Transaction, one: ThreadChanges) -> None:
    for change in one.changes:
        message_id = change.told.message_id
        there = stored_messages.get(tx, one.thread.id, message_id)
        if _content(there) != _content(change.stored):
            raise ConflictError(
                f"message {message_id!r} was changed meanwhile", hint="do it again: it is read anew"
            )


def _content(message: Message | None) -> bytes | None:
    return None if message is None else encode(message.content)


def _rows(tx: Transaction, one: ThreadChanges, thread: Thread) -> ThreadRows:
    owner = thread.resource_id
    new = [replace(change.new, resource_id=owner) for change in one.changes if change.new is not None]
    return ThreadRows(
        thread,
        [prepare_message(message, thread.id, one.times, lite=tx.is_sqlite) for message in new],
        [RunRows(run, 1, (), {}) for run in consumed(one.runs, one.consumptions)],
        consumption_records(one.consumptions, thread.id),
    )


def consumed(runs: Sequence[Run], consumptions: Sequence[Consumption]) -> Iterator[Run]:
    """The runs that have consumed something else than was known."""
    stored = {run.id: run for run in runs}
    books = RunsBuilder("", "", {}, {})
    books.add(Batch([], [], [one for one in consumptions if one.run_id in stored], {}, []))
    for rows in books.take(last=None, running=False):
        now, run = rows.run, stored[rows.run.id]
        if now.usage != run.usage:
            metadata = {**(run.metadata or {}), **(now.metadata or {})}
            yield replace(run, usage=now.usage, cost=now.cost, model=now.model, metadata=metadata)


def free_numbers(
    order: Sequence[str], numbers: Mapping[str, int], added: Sequence[str], end: int
) -> Iterator[tuple[str, int]]:
    """Numbers below `end` that no message has, each right after that of the one before it in the log."""
    wanted, taken = set(added), set(numbers.values())
    before = 0
    for message_id in order:
        if message_id in numbers:
            before = numbers[message_id]
        elif message_id in wanted and before + 1 < end and before + 1 not in taken:
            before += 1
            taken.add(before)
            yield message_id, before
