"""Stored messages made again from the raw bytes of their runs, after a decoder has got better.

Here are the runs of our own; `imported` has the sessions that were read from logs of their agents. Ids,
numbers, parents and times of messages stay, and so do answers to questions, which no log holds. Nothing that
a stored message has is given up: a message that would lose something is left alone, and told.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace
from sqlalchemy import update

from partita.errors import ConflictError, NotFoundError, PartitaError, UnavailableError
from partita.logs.pricing.prices import price_of
from partita.runtime.compare.differences import differences
from partita.runtime.compare.message_losses import lost
from partita.runtime.replay.message_chunks import is_imported
from partita.runtime.replay.recorded_run import (
    Recorded,
    fold_recorded,
    get_run,
    lineage,
    recorded,
    runs_of,
    with_answers,
)
from partita.store.messages import queries as stored_messages
from partita.store.messages import writer as saving
from partita.store.messages.prepared import prepare
from partita.store.runs.rows import ACTIVE
from partita.store.schema import threads as thread_table
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.threads import rows as threads
from partita.store.values import MessageFilter, Source
from partita.types.chunks import Chunk
from partita.types.codec import encode, to_json
from partita.types.json import is_object
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import Run, Thread

from .changes import Change, ThreadChanges, changes, write_changes
from .report import Changed, Outcome, Reprojected, ReprojectReport
from .run_decoder import Redecoding
from .stored_session import KeptSession, Reread, Skipped, kept_session, reread, sources_of_threads

# Imported sessions made again from the lines that are kept of their logs; the files may be gone.
#
# A session is read as a whole, and told run by run: a run that would lose something is left alone. What the
# log does not tell stays: titles, messages of other runs, which branch is the active one.


class ReadThread(NamedTuple):
    """A thread as it is stored, and the messages that its log comes to now."""

    thread: Thread
    run_id: str  # of messages that are of none: those of a sub-agent that has a thread of its own
    stored: Mapping[str, Message]
    now: Sequence[Message]
    runs: Sequence[Run] = ()

    def changes(self) -> Iterator[Change]:
        """What comes out otherwise."""
        runs = {run.id for run in self.runs}
        return changes(self.thread.id, self.run_id, self.stored, self.now, runs)


async def reproject_session(
    store: Store, thread_id: str, sources: Sequence[Source], *, dry_run: bool, force: bool
) -> list[Reprojected]:
    """What came of the session that a thread was read from, run by run."""
    runs = [run for run in await runs_of(store, thread_id) if is_imported(run)]
    try:
        session = await kept_session(store, thread_id, sources)
        now = reread(session)
        threads = [_main(session, now), *await _orphans(store, session, now)]
        found = [change for thread in threads for change in thread.changes()]
        if found and now.doubt is not None:
            raise Skipped(now.doubt)
        written: set[str] = (
            set() if dry_run else {run.id for run in runs if _is_written(run, found, force=force)}
        )
        if written:
            await store.write(write_changes, _to_write(threads, found, now, written))
    except (Skipped, ConflictError) as reason:
        return _skipped(runs, str(reason))
    except UnavailableError:
        raise
    except NotFoundError as error:
        return _skipped(runs, error.what)
    except PartitaError as error:
        return _skipped(runs, str(error))
    return [_told(run, found, run.id in written) for run in runs]


def _skipped(runs: Sequence[Run], why: str) -> list[Reprojected]:
    return [Reprojected(run.id, run.thread_id, "skipped", why, imported=True) for run in runs]


def _main(session: KeptSession, now: Reread) -> ReadThread:
    return ReadThread(
        session.thread,
        session.runs[0].run.id,
        session.messages,
        list(now.messages.values()),
        session.every_run,
    )


async def _orphans(store: Store, session: KeptSession, now: Reread) -> list[ReadThread]:
    """The sub-agents that no call claims and that have threads of their own."""
    found: list[ReadThread] = []
    for name, messages in now.orphans.items():
        thread_id = f"{session.thread.id}/{name}"
        thread = await store.threads.get(thread_id)
        if thread is not None:
            page = await store.messages.list(
                thread_id, MessageFilter(branch="all", internal=None), limit=None
            )
            own = [replace(message, thread_id=thread_id, run_id=None) for message in messages]
            stored = {message.id: message for message in page}
            found.append(ReadThread(thread, f"{thread_id}@0", stored, own))
    return found


def _outcome(run: Run, found: Sequence[Change]) -> Outcome:
    own = [change.told for change in found if change.run_id == run.id]
    if any(told.lost for told in own):
        return "would-lose"
    return "changed" if own else "unchanged"


def _is_written(run: Run, found: Sequence[Change], *, force: bool) -> bool:
    outcome = _outcome(run, found)
    return outcome == "changed" or (outcome == "would-lose" and force)


def _told(run: Run, found: Sequence[Change], written: bool) -> Reprojected:
    own = tuple(change.told for change in found if change.run_id == run.id)
    return Reprojected(run.id, run.thread_id, _outcome(run, found), None, own, written, imported=True)


def _to_write(
    threads: Sequence[ReadThread], found: Sequence[Change], now: Reread, written: Collection[str]
) -> list[ThreadChanges]:
    """The changes of runs that are written, by thread."""
    return [
        ThreadChanges(
            one.thread,
            own,
            [message.id for message in one.now],
            {message.id: message.seq for message in one.stored.values() if message.seq is not None},
            now.times,
            [run for run in one.runs if run.id in written],
            [some for some in now.consumptions if one.runs and some.run_id in written],
        )
        for one in threads
        if (own := [c for c in found if c.thread_id == one.thread.id and c.run_id in written])
    ]


RUNS_AT_ONCE: Final = 200


class Anew(NamedTuple):
    """A message as it is stored, and as it comes out now."""

    stored: AssistantMessage
    new: AssistantMessage
    run_id: str

    @property
    def changed(self) -> Changed:
        """How the two differ."""
        old, new = to_json(self.stored.content), to_json(self.new.content)
        found = differences(old, new, "$.content")
        return Changed(self.stored.id, tuple(found), tuple(lost(self.stored, self.new)))


async def reproject(
    store: Store,
    run_ids: Sequence[str] | None = None,
    *,
    dry_run: bool = False,
    force: bool = False,
    tell: Callable[[int], None] | None = None,
) -> ReprojectReport:
    """Make the messages of runs anew, of all runs if none is named; with `dry_run` only tell how they differ.

    Runs that went on with each other's messages are made together, and so are those of an imported session.
    `tell` hears how many runs are done.
    """
    report = ReprojectReport()
    done: set[str] = set()
    sources = await sources_of_threads(store)
    async for run in _runs(store, run_ids):
        if run.id not in done:
            if is_imported(run):
                read = sources.get(run.thread_id, ())
                found = await reproject_session(store, run.thread_id, read, dry_run=dry_run, force=force)
            else:
                found = await _reproject(store, run, dry_run=dry_run, force=force)
            report.runs += [one for one in found if one.run_id not in done]
            done |= {one.run_id for one in found}
            if tell is not None:
                tell(len(done))
    return report


async def _runs(store: Store, run_ids: Sequence[str] | None) -> AsyncIterator[Run]:
    for run_id in run_ids or ():
        yield await get_run(store, run_id)
    cursor: str | None = None
    while run_ids is None:
        page = await store.runs.list(limit=RUNS_AT_ONCE, cursor=cursor)
        for run in page:
            yield run
        cursor = page.next
        if cursor is None:
            return


async def _reproject(store: Store, run: Run, *, dry_run: bool, force: bool) -> list[Reprojected]:
    """What came of a run and of those that tell of the same messages."""
    runs = [run]
    try:
        _check(run)
        runs = await lineage(store, run)
        made = await _made_anew(store, runs)
    except Skipped as reason:
        return [Reprojected(one.id, one.thread_id, "skipped", str(reason)) for one in runs]
    except UnavailableError:
        raise
    except NotFoundError as error:
        return [Reprojected(one.id, one.thread_id, "skipped", error.what) for one in runs]
    except PartitaError as error:
        return [Reprojected(one.id, one.thread_id, "skipped", str(error)) for one in runs]
    changed = [(anew, found) for anew in made if (found := anew.changed).differences]
    outcome: Outcome = "changed" if changed else "unchanged"
    if any(found.lost for _, found in changed):
        outcome = "would-lose"
    written = bool(changed) and not dry_run and (outcome == "changed" or force)
    why: str | None = None
    if written:
        try:
            await _write(store, runs, [anew for anew, _ in changed])
        except ConflictError as error:
            outcome, written, why = "skipped", False, str(error)
    return [
        Reprojected(
            one.id,
            one.thread_id,
            outcome,
            why,
            tuple(found for anew, found in changed if anew.run_id == one.id),
            written,
        )
        for one in runs
    ]


def _check(run: Run) -> None:
    """Leave alone what cannot be made anew."""
    if run.status in ACTIVE:
        raise Skipped("it is at work")


async def _made_anew(store: Store, runs: Sequence[Run]) -> list[Anew]:
    """The messages of runs, each folded on from those before it: as the log has them, and anew."""
    then: dict[str, AssistantMessage] = {}
    now: dict[str, AssistantMessage] = {}
    last: dict[str, str] = {}
    calls = 0
    for run in runs:
        _check(run)
        log = await recorded(store, run)
        redecoding = Redecoding(log)
        anew = list(redecoding.chunks())
        calls += redecoding.calls
        for old, new in await _pairs(store, log, anew, then, now):
            then[old.id], now[old.id], last[old.id] = old, new, run.id
    if calls == 0:
        raise Skipped("its log holds no bytes of an agent")
    made: list[Anew] = []
    for message_id, old in then.items():
        stored = await store.messages.get(runs[0].thread_id, message_id)
        if isinstance(stored, AssistantMessage):  # what was deleted stays deleted
            if stored.run_id not in last.values():
                raise Skipped(f"message {message_id} was written by another run: {stored.run_id}")
            made.append(Anew(stored, merged(stored, old, now[message_id]), last[message_id]))
    return made


async def _pairs(
    store: Store,
    log: Recorded,
    anew: Sequence[Chunk],
    then: dict[str, AssistantMessage],
    now: dict[str, AssistantMessage],
) -> list[tuple[AssistantMessage, AssistantMessage]]:
    """The messages of a run as its log has them, each beside what it is now."""
    first = log.message_id
    old = fold_recorded(log, log.chunks, then.get(first))
    new = fold_recorded(log, anew, now.get(first))
    if len(old) != len(new):
        raise Skipped(f"it comes to {len(new)} messages, and {len(old)} are stored")
    pairs: list[tuple[AssistantMessage, AssistantMessage]] = []
    for one, other in zip(old, new, strict=True):
        stored = await store.messages.get(log.run.thread_id, one.id)
        pairs.append((with_answers(one, stored), with_answers(other, stored)))
    return pairs


def merged(stored: AssistantMessage, then: AssistantMessage, now: AssistantMessage) -> AssistantMessage:
    """The message as it is now, in the place of the stored one, with what was added to its metadata since."""
    content = now.content
    kept, was = stored.content.metadata, then.content.metadata
    if is_object(kept) and is_object(content.metadata):
        before = was if is_object(was) else {}
        added = {key: value for key, value in kept.items() if key not in before}
        content = replace(content, metadata={**content.metadata, **added})
    return replace(
        now,
        id=stored.id,
        thread_id=stored.thread_id,
        type=stored.type if stored.type == "event" else now.type,
        created_at=stored.created_at,
        resource_id=stored.resource_id,
        parent_id=stored.parent_id,
        run_id=stored.run_id,
        seq=stored.seq,
        internal=stored.internal,
        content=content,
        extra=stored.extra,
    )


async def _write(store: Store, runs: Sequence[Run], made: Sequence[Anew]) -> None:
    """Put new messages in the place of those that are stored, unless somebody changed these meanwhile."""
    await store.write(_replace, made)
    for run in runs:
        ends = next((one for one in made if one.stored.id == run.message_id and one.run_id == run.id), None)
        usage = None if ends is None else ends.new.content.usage
        if ends is None or usage is None or run.usage != ends.stored.content.usage or usage == run.usage:
            continue  # the run was told otherwise what it consumed
        priced = price_of(run.model, None, usage, run.finished_at)
        await store.runs.save(replace(run, usage=usage, cost=run.cost if priced is None else priced.cost))


def _replace(tx: Transaction, made: Sequence[Anew]) -> None:
    for one in made:
        thread_id, owner = one.stored.thread_id or "", one.stored.resource_id or ""
        mine = Transaction(tx.connection, owner, tx.now)
        thread = threads.find(mine, thread_id, lock=True)
        there = stored_messages.get(mine, thread_id, one.stored.id)
        if there is None or encode(there.content) != encode(one.stored.content):
            raise ConflictError(
                f"message {one.stored.id!r} was changed meanwhile", hint="do it again: it is read anew"
            )
        saving.save(mine, [prepare(one.new, thread_id)])
        own = (thread_table.c.owner == thread.owner, thread_table.c.id == thread.id)
        # That we read it anew today does not make it a thread of today.
        mine.run(update(thread_table).where(*own).values(updated_at=thread.updated_at))
