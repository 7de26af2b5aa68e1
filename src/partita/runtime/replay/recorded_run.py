"""The runs that a message is the work of: one, or several that went on with each other's.

A run goes on with the last message of the run before it. What that message was like then is not stored: it
is folded again, from the first run on.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import NotFoundError, StreamError
from partita.runtime.run_fold import RunFold
from partita.runtime.session.turn import without_ending
from partita.store.logs.run_log import LogRecord
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.chunks import Chunk, MessageStart
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart
from partita.types.threads import Run

RUNS_AT_ONCE: Final = 500
HEAD: Final = 20
"""How many records of a log are looked at to learn which message it begins with."""


class Recorded(NamedTuple):
    """A run and its log."""

    run: Run
    records: Sequence[LogRecord]

    @property
    def chunks(self) -> list[Chunk]:
        """Its chunks, notes included."""
        return [record.chunk for record in self.records if record.chunk is not None]

    @property
    def message_id(self) -> str:
        """The id of the message that it begins with."""
        return first_message_id(self.run, self.records)


async def get_run(store: Store, run_id: str) -> Run:
    """The run of that id; an error if there is none."""
    run = await store.runs.get(run_id)
    if run is None:
        raise NotFoundError(f"no run {run_id!r}", hint="list the runs to see their ids")
    return run


async def recorded(store: Store, run: Run) -> Recorded:
    """A run with all of its log."""
    return Recorded(run, await store.logs.read(run.id))


def first_message_id(run: Run, records: Sequence[LogRecord]) -> str:
    """The message that a run begins with. The run itself names the one that it ends with."""
    starts = (record.chunk for record in records if isinstance(record.chunk, MessageStart))
    named = next((start.message_id for start in starts if start.message_id is not None), None)
    return named or run.message_id or f"{run.id}-message"


async def lineage(store: Store, run: Run) -> list[Run]:
    """The runs of the messages that a run tells of, this one among them, in order."""
    every = await runs_of(store, run.thread_id)
    return sorted(
        {
            one.id: one for one in (*await _before(store, run, every), *await _after(store, run, every))
        }.values(),
        key=lambda one: _place(every, one),
    )


async def runs_of(store: Store, thread_id: str) -> list[Run]:
    """The runs of a thread, in the order in which they were made."""
    runs: list[Run] = []
    cursor: str | None = None
    while True:
        page = await store.runs.list(RunFilter(thread_id=thread_id), limit=RUNS_AT_ONCE, cursor=cursor)
        runs += page.items
        cursor = page.next
        if cursor is None:
            return runs[::-1]


def _place(every: Sequence[Run], run: Run) -> int:
    return next((place for place, one in enumerate(every) if one.id == run.id), len(every))


async def _before(store: Store, run: Run, every: Sequence[Run]) -> list[Run]:
    """The run and those whose message it went on with, the last one first."""
    found = [run]
    begins_with = await _first_message_id(store, run)
    for earlier in reversed(every[: _place(every, run)]):
        if earlier.message_id == begins_with:
            found.append(earlier)
            begins_with = await _first_message_id(store, earlier)
    return found


async def _first_message_id(store: Store, run: Run) -> str:
    return first_message_id(run, await store.logs.read(run.id, limit=HEAD))


async def _after(store: Store, run: Run, every: Sequence[Run]) -> list[Run]:
    """Those that went on with its message."""
    if run.message_id is None:
        return []
    stored = await store.messages.get(run.thread_id, run.message_id)
    if stored is None or stored.run_id in (None, run.id):
        return []
    later = every[_place(every, run) + 1 :]
    return [one for one in later if one.message_id == run.message_id or one.id == stored.run_id]


def fold_recorded(
    recorded: Recorded, chunks: Sequence[Chunk], seed: AssistantMessage | None
) -> tuple[AssistantMessage, ...]:
    """The messages that a run came to. What does not fit is passed over, as it was when it was told."""
    run = recorded.run
    fold = RunFold(recorded.message_id, run_id=run.id, seed=seed)
    for chunk in chunks:
        with suppress(StreamError):
            fold.feed(chunk)
    return fold.finish(run.status, run.error) if run.finished_at is not None else fold.snapshot()


async def seed_of(store: Store, recorded_run: Recorded) -> AssistantMessage | None:
    """The message that a run went on with, as it was then; `None` when it began one."""
    run = recorded_run.run
    earlier = (await _before(store, run, await runs_of(store, run.thread_id)))[:0:-1]
    seed: AssistantMessage | None = None
    for one in earlier:
        past = await recorded(store, one)
        seed = fold_recorded(past, past.chunks, seed)[-1]
        seed = with_answers(without_ending(seed), await store.messages.get(run.thread_id, seed.id))
    return seed


def with_answers(message: AssistantMessage, stored: Message | None) -> AssistantMessage:
    """A message with the answers that its questions got later. They stand in the stored one, in no log."""
    if not isinstance(stored, AssistantMessage):
        return message
    known = {part.id: part for part in stored.parts if isinstance(part, ToolCallPart)}
    parts = tuple(_answered(part, known) for part in message.parts)
    return replace(message, content=replace(message.content, parts=parts))


def _answered(part: AssistantPart, known: dict[str, ToolCallPart]) -> AssistantPart:
    match part:
        case ToolCallPart(id=id, state="approval-requested") if id in known:
            approval = known[id].approval
            if approval is None or part.approval is None or approval.id != part.approval.id:
                return part
            if approval.approved is None:
                return part
            return replace(part, state="approval-responded", approval=approval)
        case _:
            return part
