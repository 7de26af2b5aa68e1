"""A run and its log, and the runs that wrote the same messages.

A run may continue the last message of an earlier run. The message as it was then is not stored: it is folded
from the logs again, from the first of these runs on.
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
from partita.store.values import MessageFilter, RunFilter
from partita.types.chunks import Chunk, MessageStart
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart, UserMessage
from partita.types.threads import Run

PAGE_SIZE: Final = 500
HEAD: Final = 20
"""How many records of a log are read to find the message that it starts with."""


class RecordedRun(NamedTuple):
    """A run and its log."""

    run: Run
    records: Sequence[LogRecord]

    @property
    def chunks(self) -> list[Chunk]:
        """Its chunks, with notes."""
        return [record.chunk for record in self.records if record.chunk is not None]

    @property
    def message_id(self) -> str:
        """The id of the message that it starts with."""
        return first_message_id(self.run, self.records)

    @property
    def last_seq(self) -> int:
        """The number of the last record."""
        return self.records[-1].seq if self.records else 0

    def fold(self, chunks: Sequence[Chunk], seed: AssistantMessage | None) -> tuple[AssistantMessage, ...]:
        """The messages of chunks. Those that do not fit are left out, as in the live run."""
        run = self.run
        fold = RunFold(self.message_id, run_id=run.id, seed=seed)
        for chunk in chunks:
            with suppress(StreamError):
                fold.feed(chunk)
        return fold.finish(run.status, run.error) if run.finished_at is not None else fold.snapshot()


async def get_run(store: Store, run_id: str) -> Run:
    """The run with that id; a `NotFoundError` if it does not exist."""
    run = await store.runs.get(run_id)
    if run is None:
        raise NotFoundError(f"no run {run_id!r}", hint="list the runs to see their ids")
    return run


async def read_recorded_run(store: Store, run: Run) -> RecordedRun:
    """A run with its whole log."""
    return RecordedRun(run, await store.logs.read(run.id))


def first_message_id(run: Run, records: Sequence[LogRecord]) -> str:
    """The message that a run starts with. `Run.message_id` is the one that it ends with."""
    starts = (record.chunk for record in records if isinstance(record.chunk, MessageStart))
    named = next((start.message_id for start in starts if start.message_id is not None), None)
    return named or run.message_id or f"{run.id}-message"


async def runs_of(store: Store, thread_id: str) -> list[Run]:
    """The runs of a thread, the oldest first."""
    runs: list[Run] = []
    cursor: str | None = None
    while True:
        page = await store.runs.list(RunFilter(thread_id=thread_id), limit=PAGE_SIZE, cursor=cursor)
        runs += page.items
        cursor = page.next
        if cursor is None:
            return runs[::-1]


# Runs that continue messages of others


async def lineage(store: Store, run: Run) -> list[Run]:
    """The runs that wrote the messages of a run, the oldest first: the run itself, earlier and later ones."""
    all_runs = await runs_of(store, run.thread_id)
    found = [*await _earlier(store, run, all_runs), *await _later(store, run, all_runs)]
    return sorted({one.id: one for one in found}.values(), key=lambda one: _index(all_runs, one))


def _index(all_runs: Sequence[Run], run: Run) -> int:
    return next((index for index, one in enumerate(all_runs) if one.id == run.id), len(all_runs))


async def _earlier(store: Store, run: Run, all_runs: Sequence[Run]) -> list[Run]:
    """The run and those whose message it continued, the newest first."""
    found = [run]
    message_id = await _first_message_id(store, run)
    for earlier in reversed(all_runs[: _index(all_runs, run)]):
        if earlier.message_id == message_id:
            found.append(earlier)
            message_id = await _first_message_id(store, earlier)
    return found


async def _first_message_id(store: Store, run: Run) -> str:
    return first_message_id(run, await store.logs.read(run.id, limit=HEAD))


async def _later(store: Store, run: Run, all_runs: Sequence[Run]) -> list[Run]:
    """The runs that continued its message."""
    if run.message_id is None:
        return []
    stored = await store.messages.get(run.thread_id, run.message_id)
    if stored is None or stored.run_id in (None, run.id):
        return []
    later = all_runs[_index(all_runs, run) + 1 :]
    return [one for one in later if one.message_id == run.message_id or one.id == stored.run_id]


async def question_of(store: Store, run: Run) -> UserMessage | None:
    """The visible message of the user that a run responds to; `None` if it responds to none."""
    if run.message_id is None:  # an imported run, which contains its question
        selected = MessageFilter(branch="all", roles=("user",))
        prompts = await store.messages.list(run.thread_id, selected, limit=None)
        of_run = (one for one in prompts if one.run_id == run.id and one.type != "event")
        first = next(of_run, None)
        return first if isinstance(first, UserMessage) else None
    message_id: str | None = run.message_id
    visited: set[str] = set()
    while message_id is not None and message_id not in visited:
        visited.add(message_id)
        message = await store.messages.get(run.thread_id, message_id)
        if isinstance(message, UserMessage) and not message.internal:
            return message
        message_id = None if message is None else message.parent_id
    return None


async def continued_message(store: Store, run: Run) -> AssistantMessage | None:
    """The message that a run continued, as it was then; `None` if the run started a new one."""
    earlier = (await _earlier(store, run, await runs_of(store, run.thread_id)))[:0:-1]
    message: AssistantMessage | None = None
    for one in earlier:
        past = await read_recorded_run(store, one)
        message = past.fold(past.chunks, message)[-1]
        stored = await store.messages.get(run.thread_id, message.id)
        message = with_decisions(without_ending(message), stored)
    return message


def with_decisions(message: AssistantMessage, stored: Message | None) -> AssistantMessage:
    """A message with later decisions on its approvals: the stored message has them, and no log."""
    if not isinstance(stored, AssistantMessage):
        return message
    calls = {part.id: part for part in stored.parts if isinstance(part, ToolCallPart)}
    parts = tuple(_with_decision(part, calls) for part in message.parts)
    return replace(message, content=replace(message.content, parts=parts))


def _with_decision(part: AssistantPart, calls: dict[str, ToolCallPart]) -> AssistantPart:
    match part:
        case ToolCallPart(id=id, state="approval-requested") if id in calls:
            approval = calls[id].approval
            if approval is None or part.approval is None or approval.id != part.approval.id:
                return part
            if approval.approved is None:
                return part
            return replace(part, state="approval-responded", approval=approval)
        case _:
            return part
