"""Rebuild the messages of an imported session: read the lines that the store keeps of its log again.

The files of the log may be deleted. The session is read as a whole, and compared with the stored messages of
the runs of the log. Titles, messages of other runs, and which branch is active do not change.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.log.sink import Consumption
from partita.importers.logs.runs_builder import RunsBuilder, consumption_records
from partita.logs.log_reader import Batch
from partita.runtime.compare.differences import Difference, differences
from partita.runtime.compare.message_losses import lost
from partita.store.store import Store
from partita.store.values import MessageFilter, Source
from partita.types.codec import encode, to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message
from partita.types.threads import Run

from .changes import Change, RebuiltThread, Skipped, in_place
from .report import ChangedMessage
from .stored_session import RereadSession, StoredSession, read_again, read_session


async def rebuild_session(store: Store, thread_id: str, sources: Sequence[Source]) -> list[RebuiltThread]:
    """The changes of a thread that was imported, and of the threads of its sub-agents."""
    session = await read_session(store, thread_id, sources)
    reread = read_again(session)
    rebuilt = [_main_thread(session, reread), *await _sub_agent_threads(store, session, reread)]
    if reread.uncertainty is not None and any(one.changes for one in rebuilt):
        raise Skipped(reread.uncertainty)
    return rebuilt


def _main_thread(session: StoredSession, reread: RereadSession) -> RebuiltThread:
    messages = list(reread.messages.values())
    runs = session.all_runs
    default_run_id = session.runs[0].run.id
    changes = list(compare(default_run_id, session.messages, messages, {run.id for run in runs}))
    return RebuiltThread(
        session.thread,
        changes,
        [message.id for message in messages],
        _numbers(session.messages),
        reread.times,
        list(_with_new_usage(runs, reread.consumptions)) if changes else (),
        consumption_records(reread.consumptions, session.thread.id) if changes else (),
        is_imported=True,
    )


async def _sub_agent_threads(
    store: Store, session: StoredSession, reread: RereadSession
) -> list[RebuiltThread]:
    """The threads of sub-agents that no call claims."""
    rebuilt: list[RebuiltThread] = []
    for name, messages in reread.orphans.items():
        thread_id = f"{session.thread.id}/{name}"
        thread = await store.threads.get(thread_id)
        if thread is None:
            continue
        page = await store.messages.list(thread_id, MessageFilter(branch="all", internal=None), limit=None)
        stored = {message.id: message for message in page}
        own = [replace(message, thread_id=thread_id, run_id=None) for message in messages]
        changes = list(compare(f"{thread_id}@0", stored, own, ()))
        order = [message.id for message in own]
        rebuilt.append(
            RebuiltThread(thread, changes, order, _numbers(stored), reread.times, is_imported=True)
        )
    return rebuilt


def _numbers(stored: Mapping[str, Message]) -> dict[str, int]:
    return {message.id: message.seq for message in stored.values() if message.seq is not None}


def _with_new_usage(runs: Sequence[Run], consumptions: Sequence[Consumption]) -> Iterator[Run]:
    """The runs whose usage has changed."""
    stored = {run.id: run for run in runs}
    builder = RunsBuilder("", "", {}, {})
    builder.add(Batch([], [], [one for one in consumptions if one.run_id in stored], {}, []))
    for rows in builder.take(last=None, active_until=None):
        new, run = rows.run, stored[rows.run.id]
        if new.usage != run.usage:
            metadata = {**(run.metadata or {}), **(new.metadata or {})}
            yield replace(run, usage=new.usage, cost=new.cost, model=new.model, metadata=metadata)


# Comparison with the stored messages


def compare(
    default_run_id: str, stored: Mapping[str, Message], messages: Sequence[Message], runs: Collection[str]
) -> Iterator[Change]:
    """The differences of stored messages and of those that were read again.

    `runs` are the runs of the log: messages of others are left alone. Messages without a run are reported
    with the default run.
    """
    by_run = _by_run(messages)
    added = {message.id for message in messages if message.id not in stored}
    for message in messages:
        old = stored.get(message.id)
        if old is None:
            whole = Difference("$.content", UNSET, to_json(message.content))
            yield Change(
                message.run_id or default_run_id, None, message, ChangedMessage(message.id, (whole,))
            )
        elif old.run_id in runs or old.run_id == message.run_id:
            new = _replacement(old, message, added)
            if found := _differences(old, new):
                report = ChangedMessage(old.id, tuple(found), _lost(old, new, by_run))
                yield Change(old.run_id or default_run_id, old, new, report)
    known = {message.id for message in messages}
    for old in stored.values():
        if old.run_id in runs and old.id not in known:
            whole = Difference("$.content", to_json(old.content), UNSET)
            report = ChangedMessage(old.id, (whole,), _lost(old, None, by_run))
            yield Change(old.run_id or default_run_id, old, None, report)


def _replacement(stored: Message, new: Message, added: Collection[str]) -> Message:
    """The message that replaces the stored one, with metadata that was added to that.

    It has another parent only if that is among the `added` messages.
    """
    current, metadata = stored.content.metadata, new.content.metadata
    if is_object(current) and is_object(metadata):
        metadata = {**current, **metadata}
    elif metadata is UNSET:
        metadata = current
    parent_id = new.parent_id if new.parent_id in added else stored.parent_id
    return in_place(stored, new, parent_id=parent_id, metadata=metadata)


def _differences(stored: Message, new: Message) -> list[Difference]:
    old_envelope, new_envelope = _envelope(stored), _envelope(new)
    if old_envelope == new_envelope and encode(stored.content) == encode(new.content):
        return []
    old: Json = {**old_envelope, "content": to_json(stored.content)}
    return differences(old, {**new_envelope, "content": to_json(new.content)})


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
    stored: Message, new: Message | None, by_run: Mapping[str | None, Sequence[Message]]
) -> tuple[str, ...]:
    """The content of a stored message that neither the new one nor another one of its run has."""
    own = () if new is None else (new,)
    if not lost(stored, *own):
        return ()
    return tuple(lost(stored, *own, *by_run.get(stored.run_id, ())))
