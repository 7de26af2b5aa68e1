"""Stored messages made again from the raw bytes of their runs, after a decoder has got better.

Here are the runs of our own; `imported` has the sessions that were read from logs of their agents. Ids,
numbers, parents and times of messages stay, and so do answers to questions, which no log holds. Nothing that
a stored message has is given up: a message that would lose something is left alone, and told.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace
from sqlalchemy import update

from partita.errors import ConflictError, NotFoundError, PartitaError, UnavailableError
from partita.logs.pricing.prices import price_of
from partita.store import messages as stored_messages
from partita.store import saving, threads
from partita.store.facade.store import Store
from partita.store.prepared import prepare
from partita.store.runs import AT_WORK
from partita.store.tables import threads as thread_table
from partita.store.transaction import Transaction
from partita.types.chunks import Chunk
from partita.types.codec import encode, to_json
from partita.types.json import is_object
from partita.types.messages import AssistantMessage
from partita.types.runs import Run

from .differences import differences
from .imported import reproject_session
from .kept_session import Skipped, sources_of_threads
from .lineage import Recorded, fold_recorded, get_run, lineage, recorded, with_answers
from .losses import lost
from .redecoding import Redecoding
from .reprojection import Changed, Outcome, Reprojected, ReprojectReport
from .retelling import is_imported

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
        page = await store.list_runs(limit=RUNS_AT_ONCE, cursor=cursor)
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
    if run.status in AT_WORK:
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
        stored = await store.get_message(runs[0].thread_id, message_id)
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
        stored = await store.get_message(log.run.thread_id, one.id)
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
        await store.save_run(replace(run, usage=usage, cost=run.cost if priced is None else priced.cost))


def _replace(tx: Transaction, made: Sequence[Anew]) -> None:
    for one in made:
        thread_id, owner = one.stored.thread_id or "", one.stored.resource_id or ""
        mine = Transaction(tx.connection, owner, tx.now)
        thread = threads.find(mine, thread_id, lock=True)
        there = stored_messages.get(mine, thread_id, one.stored.id, "inline")
        if there is None or encode(there.content) != encode(one.stored.content):
            raise ConflictError(
                f"message {one.stored.id!r} was changed meanwhile", hint="do it again: it is read anew"
            )
        saving.save(mine, [prepare(one.new, thread_id)])
        own = (thread_table.c.owner == thread.owner, thread_table.c.id == thread.id)
        # That we read it anew today does not make it a thread of today.
        mine.run(update(thread_table).where(*own).values(updated_at=thread.updated_at))
