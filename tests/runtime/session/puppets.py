"""Agents that do what a test tells them to, and a look at what a run of them left behind."""

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

COMPLETE = CompleteEvent(agent_type="puppet")


class Puppet:
    """Says what it is given, when it is given it."""

    supports_client_tools = True

    def __init__(self, *said: AgentStreamEvent | Chunk | BaseException, name: str = "puppet") -> None:
        self.name = name
        self.asked: list[Sequence[Message]] = []
        self.options = InvokeOptions()
        self.begun = asyncio.Event()
        self.left = asyncio.Event()
        self._lines: asyncio.Queue[AgentStreamEvent | BaseException | None] = asyncio.Queue()
        self.say(*said)

    def say(self, *said: AgentStreamEvent | Chunk | BaseException) -> None:
        """Let it say more."""
        for one in said:
            if isinstance(one, BaseException | AgentStreamEvent):
                self._lines.put_nowait(one)
            else:
                self._lines.put_nowait(ChunkEvent(chunk=one))

    def end(self, *said: AgentStreamEvent | Chunk) -> None:
        """Let it say more, and that it is done."""
        self.say(*said, COMPLETE)
        self._lines.put_nowait(None)

    def stop(self) -> None:
        """Let it go away without another word."""
        self._lines.put_nowait(None)

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        assert not isinstance(prompt, str)
        self.asked.append(prompt)
        self.options = options or InvokeOptions()
        self.begun.set()
        try:
            while (line := await self._lines.get()) is not None:
                if isinstance(line, BaseException):
                    raise line
                yield line
        finally:
            self.left.set()


def talk(*pieces: str, id: str = "t") -> list[Chunk]:
    """A text in pieces that goes on."""
    return [MessageStart(), TextStart(id), *(TextDelta(id, piece) for piece in pieces)]


def answer(*pieces: str, id: str = "t") -> list[Chunk]:
    """A whole answer in words."""
    return [*talk(*pieces, id=id), TextEnd(id), MessageFinish("stop")]


async def speak(session: Session, thread_id: str, words: str = "Yes.", input: str = "Well?") -> Run:
    """A whole turn."""
    puppet = Puppet()
    puppet.end(*answer(words))
    return await session.wait((await session.start(puppet, thread_id, input)).id)


class Watcher:
    """Follows a run, and has what it saw."""

    def __init__(self, session: Session, run_id: str, *, after: int = 0, everything: bool = False) -> None:
        self.seen: list[StoredChunk] = []
        self._news = asyncio.Condition()
        self._session, self._run_id, self._after, self._everything = session, run_id, after, everything
        self.task = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        stream = self._session.follow(self._run_id, after=self._after, everything=self._everything)
        async for seen in stream:
            async with self._news:
                self.seen += seen
                self._news.notify_all()

    async def until(self, chunk: Chunk) -> None:
        """Wait until it has seen a chunk."""
        async with self._news:
            await self._news.wait_for(lambda: any(one.chunk == chunk for one in self.seen))

    @property
    def chunks(self) -> list[Chunk]:
        return [one.chunk for one in self.seen]


class Left(NamedTuple):
    """What a run left behind."""

    run: Run
    message: AssistantMessage

    @property
    def words(self) -> str:
        return text_of(self.message)

    @property
    def ended(self) -> Json:
        said = self.message.content.metadata
        return said.get(ENDED) if is_object(said) else None


async def left_by(store: Store, run_id: str, seed: AssistantMessage | None = None) -> Left:
    """What a run left behind; its log must amount to it, and nothing in it is open."""
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
    return Left(run, message)


async def raw_of(store: Store, run_id: str) -> bytes:
    """The bytes of a run's log."""
    return b"".join(record.raw for record in await store.logs.read(run_id) if record.raw is not None)


def notes(chunks: Sequence[Chunk], kind: str) -> list[DataChunk]:
    """Our own notes of a kind."""
    return [chunk for chunk in chunks if isinstance(chunk, DataChunk) and chunk.type == kind]
