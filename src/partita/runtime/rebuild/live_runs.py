"""Rebuild the messages of our own runs: decode their logs again and fold the chunks.

Runs that continued each other's messages are rebuilt together, the oldest first.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from partita.errors import NotFoundError
from partita.logs.pricing.prices import price_of
from partita.runtime.compare.differences import differences
from partita.runtime.compare.message_losses import lost
from partita.runtime.replay.recorded_run import read_recorded_run, with_decisions
from partita.store.runs.rows import ACTIVE
from partita.store.store import Store
from partita.types.codec import to_json
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import Run

from .changes import Change, RebuiltThread, Skipped, in_place
from .report import ChangedMessage
from .run_decoder import RunDecoder


class _Rebuilt(NamedTuple):
    """A message of the log, as it was decoded then and now, and the last run that wrote it."""

    run: Run
    then: AssistantMessage
    now: AssistantMessage


def check_ended(run: Run) -> None:
    """Skip a run that has not ended."""
    if run.status in ACTIVE:
        raise Skipped("it is active")


async def rebuild_runs(store: Store, runs: Sequence[Run]) -> RebuiltThread:
    """The changes of the messages of runs that wrote the same messages."""
    thread = await store.threads.get(runs[0].thread_id)
    if thread is None:
        raise NotFoundError(f"no thread {runs[0].thread_id!r}", hint="it was deleted")
    messages = await _fold_again(store, runs)
    writers = {one.run.id for one in messages.values()}
    changes: list[Change] = []
    for message_id, rebuilt in messages.items():
        stored = await store.messages.get(thread.id, message_id)
        if not isinstance(stored, AssistantMessage):
            continue  # it was deleted
        if stored.run_id not in writers:
            raise Skipped(f"message {message_id} was written by another run: {stored.run_id}")
        new = _replacement(stored, rebuilt)
        found = differences(to_json(stored.content), to_json(new.content), "$.content")
        if found:
            report = ChangedMessage(stored.id, tuple(found), tuple(lost(stored, new)))
            changes.append(Change(rebuilt.run.id, stored, new, report))
    return RebuiltThread(thread, changes, runs=list(_with_new_usage(runs, changes)))


async def _fold_again(store: Store, runs: Sequence[Run]) -> dict[str, _Rebuilt]:
    """The messages of the logs of runs, by id. Each run continues the messages of those before it."""
    messages: dict[str, _Rebuilt] = {}
    calls = 0
    for run in runs:
        check_ended(run)
        recorded = await read_recorded_run(store, run)
        decoder = RunDecoder(recorded)
        chunks = list(decoder.chunks())
        calls += decoder.calls
        seed = messages.get(recorded.message_id)
        then = recorded.fold(recorded.chunks, None if seed is None else seed.then)
        now = recorded.fold(chunks, None if seed is None else seed.now)
        if len(then) != len(now):
            raise Skipped(f"its log is decoded to {len(now)} messages, and {len(then)} are stored")
        for old, new in zip(then, now, strict=True):
            stored = await store.messages.get(run.thread_id, old.id)
            messages[old.id] = _Rebuilt(run, with_decisions(old, stored), with_decisions(new, stored))
    if calls == 0:
        raise Skipped("its log has no bytes of an agent")
    return messages


def _replacement(stored: AssistantMessage, rebuilt: _Rebuilt) -> Message:
    """The message that replaces the stored one, with the metadata that was added to that since."""
    then, now = rebuilt.then.content.metadata, rebuilt.now.content.metadata
    current, metadata = stored.content.metadata, now
    if is_object(current) and is_object(now):
        original: JsonObject = then if is_object(then) else {}
        metadata = {**now, **{key: value for key, value in current.items() if key not in original}}
    type_ = stored.type if stored.type == "event" else rebuilt.now.type
    new = replace(rebuilt.now, type=type_, internal=stored.internal)
    return in_place(stored, new, parent_id=stored.parent_id, metadata=metadata)


def _with_new_usage(runs: Sequence[Run], changes: Sequence[Change]) -> Iterator[Run]:
    """The runs whose usage has changed, unless it was reported by the agent and not by the message."""
    for run in runs:
        for change in changes:
            stored, new = change.stored, change.new
            if not isinstance(stored, AssistantMessage) or not isinstance(new, AssistantMessage):
                continue
            if stored.id != run.message_id or change.run_id != run.id:
                continue
            usage = new.content.usage
            if usage is not None and run.usage == stored.content.usage and usage != run.usage:
                priced = price_of(run.model, None, usage, run.finished_at)
                yield replace(run, usage=usage, cost=run.cost if priced is None else priced.cost)
