"""An agent that a test controls event by event, and what a run of it has stored."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from partita.errors import StreamError
from partita.runtime.run_fold import ENDED, RunFold
from partita.runtime.service import InvokeOptions, Prompt
from partita.runtime.session.live_run import StoredChunk
from partita.runtime.session.session import Session
from partita.runtime.session.turn import without_ending
from partita.store.store import Store
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    DataChunk,
    MessageFinish,
    MessageStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.json import Json, is_object
from partita.types.messages import AssistantMessage, Message, text_of
from partita.types.threads import Run

COMPLETE = CompleteEvent(agent_type="controlled")


class ControlledAgent:
    """Emits the events that a test gives it, when the test gives them."""

    supports_client_tools = True

    def __init__(self, *events: AgentStreamEvent | Chunk | BaseException, name: str = "controlled") -> None:
        self.name = name
        self.prompts: list[Sequence[Message]] = []
        self.options = InvokeOptions()
        self.started = asyncio.Event()
        self.stopped = asyncio.Event()
        self._queue: asyncio.Queue[AgentStreamEvent | BaseException | None] = asyncio.Queue()
        self.emit(*events)

    def emit(self, *events: AgentStreamEvent | Chunk | BaseException) -> None:
        """Emit events. An exception is raised."""
        for event in events:
            if isinstance(event, BaseException | AgentStreamEvent):
                self._queue.put_nowait(event)
            else:
                self._queue.put_nowait(ChunkEvent(chunk=event))

    def complete(self, *events: AgentStreamEvent | Chunk) -> None:
        """Emit events and complete."""
        self.emit(*events, COMPLETE)
        self.end()

    def end(self) -> None:
        """End the stream without a last event."""
        self._queue.put_nowait(None)

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        assert not isinstance(prompt, str)
        self.prompts.append(prompt)
        self.options = options or InvokeOptions()
        self.started.set()
        try:
            while (event := await self._queue.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            self.stopped.set()


def partial_reply(*pieces: str, id: str = "t") -> list[Chunk]:
    """The chunks of a text that is still open."""
    return [MessageStart(), TextStart(id), *(TextDelta(id, piece) for piece in pieces)]


def full_reply(*pieces: str, id: str = "t") -> list[Chunk]:
    """The chunks of a complete text message."""
    return [*partial_reply(*pieces, id=id), TextEnd(id), MessageFinish("stop")]


async def run_turn(session: Session, thread_id: str, text: str = "Yes.", input: str = "Well?") -> Run:
    """Run a whole turn."""
    agent = ControlledAgent()
    agent.complete(*full_reply(text))
    return await session.wait((await session.start(agent, thread_id, input)).id)


class Follower:
    """Follows a run and keeps the chunks that it receives."""

    def __init__(self, session: Session, run_id: str, *, after: int = 0, everything: bool = False) -> None:
        self.received: list[StoredChunk] = []
        self._changed = asyncio.Condition()
        self._session, self._run_id, self._after, self._everything = session, run_id, after, everything
        self.task = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        stream = self._session.follow(self._run_id, after=self._after, everything=self._everything)
        async for chunks in stream:
            async with self._changed:
                self.received += chunks
                self._changed.notify_all()

    async def until(self, chunk: Chunk) -> None:
        """Wait until it has received a chunk."""
        async with self._changed:
            await self._changed.wait_for(lambda: any(one.chunk == chunk for one in self.received))

    @property
    def chunks(self) -> list[Chunk]:
        return [one.chunk for one in self.received]


class StoredRun(NamedTuple):
    """An ended run and its message."""

    run: Run
    message: AssistantMessage

    @property
    def text(self) -> str:
        return text_of(self.message)

    @property
    def ending(self) -> Json:
        metadata = self.message.content.metadata
        return metadata.get(ENDED) if is_object(metadata) else None


async def checked_run(store: Store, run_id: str, seed: AssistantMessage | None = None) -> StoredRun:
    """An ended run and its message. Checks that the log gives the same message, without open parts."""
    run = await store.runs.get(run_id)
    assert run is not None
    assert run.finished_at is not None
    assert run.lease_owner is None
    message = await store.messages.get(run.thread_id, run.message_id or "")
    assert isinstance(message, AssistantMessage)
    fold = RunFold(message.id, run_id=run_id, seed=None if seed is None else without_ending(seed))
    for record in await store.logs.read(run_id):
        if record.chunk is not None:
            with suppress(StreamError):
                fold.feed(record.chunk)
    reason = run.error if isinstance(run.error, str) else None
    assert fold.finish(run.status, reason)[-1].content == message.content
    assert not [
        part for part in message.parts if getattr(part, "state", None) in ("streaming", "input-streaming")
    ]
    return StoredRun(run, message)


async def raw_of(store: Store, run_id: str) -> bytes:
    """The bytes of a run's log."""
    return b"".join(record.raw for record in await store.logs.read(run_id) if record.raw is not None)


def notes(chunks: Sequence[Chunk], kind: str) -> list[DataChunk]:
    """The notes of a type."""
    return [chunk for chunk in chunks if isinstance(chunk, DataChunk) and chunk.type == kind]
