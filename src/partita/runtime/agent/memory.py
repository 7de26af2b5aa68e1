"""A turn of an agent over a `MemoryStore`: without a session, so without run log, leases and reconnecting.

The turn runs while its chunks are read and stops when the reader stops. The messages are saved after every
step of the model and at the end, whichever way it ends.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, assert_never

from msgspec.structs import replace as changed

from partita.errors import StreamError
from partita.runtime.closing import closed
from partita.runtime.failures import described
from partita.runtime.folding import NO_END, RunFold, ending_chunks
from partita.runtime.service import AgentService, Options
from partita.runtime.session.driver import failure_chunk
from partita.runtime.session.turn import Input, history_of, seed_of, turn_of
from partita.runtime.session.writer import refused_chunk
from partita.store.memory import MemoryStore
from partita.types.chunks import Chunk, MessageStart, StepFinish
from partita.types.events import CancelledEvent, ChunkEvent, CompleteEvent, ErrorEvent, RawEvent
from partita.types.messages import AssistantMessage, Message
from partita.types.runs import RunStatus
from partita.types.threads import Thread

STOPPED: Final = "the reader stopped"


async def stream_turn(
    agent: AgentService,
    store: MemoryStore,
    thread_id: str,
    input: Input,
    options: Options | None = None,
    resource_id: str | None = None,
) -> AsyncGenerator[Chunk, None]:
    """Do a turn of a thread, which is made if there is none, and yield its chunks."""
    turn = await turn_of(store, thread_id, input, None)
    saving = _Saving(store, thread_id, resource_id)
    await saving.begin(turn.messages)
    history = await history_of(store, thread_id)
    seed = seed_of(history, turn.message_id)
    fold = RunFold(turn.message_id, seed=seed)
    saving.parent_id = history[-1].id if history and seed is None else None
    asked = replace(options or Options(), thread_id=thread_id, message_id=turn.message_id)
    status: RunStatus = "failed"
    reason: str | None = NO_END
    try:
        async with closed(agent.invoke(history, options=asked)) as events:
            async for event in events:
                match event:
                    case ChunkEvent(chunk=chunk):
                        yield _applied(fold, chunk, turn.message_id)
                        if isinstance(chunk, StepFinish):
                            await saving.save(fold.snapshot())
                    case ErrorEvent(message=message):
                        yield failure_chunk(event)
                        status, reason = "failed", message
                    case CompleteEvent():
                        status, reason = "completed", None
                    case CancelledEvent(reason=why):
                        status, reason = "cancelled", why
                    case RawEvent():
                        pass
                    case _:
                        assert_never(event)
    except (GeneratorExit, asyncio.CancelledError):
        await saving.save(fold.finish("cancelled", STOPPED))
        raise
    except Exception as error:
        if saving.has_failed:
            raise
        status, reason = "failed", described(error)
    for chunk in ending_chunks(fold, status, reason):
        yield _applied(fold, chunk, turn.message_id)
    await saving.save(fold.finish(status, reason))


def _applied(fold: RunFold, chunk: Chunk, message_id: str) -> Chunk:
    """The chunk, applied to its message; a chunk that does not fit is reported by another one."""
    if isinstance(chunk, MessageStart) and chunk.message_id is None:
        chunk = changed(chunk, message_id=message_id)
    try:
        fold.feed(chunk)
    except StreamError as error:
        return refused_chunk(chunk, error)
    return chunk


class _Saving:
    """Saves the messages of a turn."""

    def __init__(self, store: MemoryStore, thread_id: str, resource_id: str | None) -> None:
        self._store = store
        self._thread_id = thread_id
        self._resource_id = resource_id
        self._now = datetime.now(UTC)
        self.parent_id: str | None = None
        """The message that the first answer follows."""
        self.has_failed = False

    async def begin(self, messages: Sequence[Message]) -> None:
        """Make the thread, unless there is one, and save what the turn begins with."""
        if await self._store.get_thread_by_id(self._thread_id) is None:
            thread = Thread(id=self._thread_id, resource_id=self._resource_id, created_at=self._now)
            await self._store.save_thread(thread)
        if messages:
            await self.save(messages)

    async def save(self, messages: Sequence[Message]) -> None:
        """Save messages of the thread."""
        self.has_failed = True
        await self._store.save_messages([self._placed(index, each) for index, each in enumerate(messages)])
        self.has_failed = False

    def _placed(self, index: int, message: Message) -> Message:
        follows = self.parent_id if index == 0 and isinstance(message, AssistantMessage) else None
        return changed(
            message,
            thread_id=self._thread_id,
            resource_id=message.resource_id or self._resource_id,
            created_at=message.created_at or self._now,
            parent_id=message.parent_id or follows,
        )
