"""A turn of an agent over a `MemoryStore`: without a session, and so without run log, leases and
reconnection.

The turn runs while its chunks are read, and stops when the reader stops. The messages are saved after every
step and at the end, however the turn ends.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, assert_never

from msgspec.structs import replace as changed

from partita.errors import StreamError
from partita.runtime.failures import error_description
from partita.runtime.run_fold import NO_END, RunFold, ending_chunks
from partita.runtime.service import AgentService, InvokeOptions, closed
from partita.runtime.session.log_writer import refused_chunk
from partita.runtime.session.run_task import failure_note
from partita.runtime.session.turn import Input, history_of, seed_of, turn_of
from partita.store.memory import MemoryStore
from partita.types.chunks import (
    CancelledEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
    MessageStart,
    RawEvent,
    StepFinish,
)
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import RunStatus, Thread

STOPPED: Final = "the reader stopped"


async def stream_turn(
    agent: AgentService,
    store: MemoryStore,
    thread_id: str,
    input: Input,
    options: InvokeOptions | None = None,
    resource_id: str | None = None,
) -> AsyncGenerator[Chunk, None]:
    """Do a turn of a thread, which is created if it does not exist, and yield its chunks."""
    turn = await turn_of(store, thread_id, input, None)
    writer = _TurnWriter(store, thread_id, resource_id)
    await writer.start(turn.messages)
    history = await history_of(store, thread_id)
    seed = seed_of(history, turn.message_id)
    fold = RunFold(turn.message_id, seed=seed)
    writer.parent_id = history[-1].id if history and seed is None else None
    own_options = replace(options or InvokeOptions(), thread_id=thread_id, message_id=turn.message_id)
    status: RunStatus = "failed"
    reason: str | None = NO_END
    try:
        async with closed(agent.invoke(history, options=own_options)) as events:
            async for event in events:
                match event:
                    case ChunkEvent(chunk=chunk):
                        yield _applied(fold, chunk, turn.message_id)
                        if isinstance(chunk, StepFinish):
                            await writer.save(fold.snapshot())
                    case ErrorEvent(message=message):
                        yield failure_note(event)
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
        await writer.save(fold.finish("cancelled", STOPPED))
        raise
    except Exception as error:
        if writer.has_failed:
            raise
        status, reason = "failed", error_description(error)
    for chunk in ending_chunks(fold, status, reason):
        yield _applied(fold, chunk, turn.message_id)
    await writer.save(fold.finish(status, reason))


def _applied(fold: RunFold, chunk: Chunk, message_id: str) -> Chunk:
    """The chunk, applied to its message; a chunk that does not fit is reported by another one."""
    if isinstance(chunk, MessageStart) and chunk.message_id is None:
        chunk = changed(chunk, message_id=message_id)
    try:
        fold.feed(chunk)
    except StreamError as error:
        return refused_chunk(chunk, error)
    return chunk


class _TurnWriter:
    """Saves the messages of a turn."""

    def __init__(self, store: MemoryStore, thread_id: str, resource_id: str | None) -> None:
        self._store = store
        self._thread_id = thread_id
        self._resource_id = resource_id
        self._now = datetime.now(UTC)
        self.parent_id: str | None = None
        """The parent of the first message of the response."""
        self.has_failed = False

    async def start(self, messages: Sequence[Message]) -> None:
        """Create the thread if it does not exist, and save the input of the turn."""
        if await self._store.get_thread_by_id(self._thread_id) is None:
            thread = Thread(id=self._thread_id, resource_id=self._resource_id, created_at=self._now)
            await self._store.save_thread(thread)
        if messages:
            await self.save(messages)

    async def save(self, messages: Sequence[Message]) -> None:
        """Save messages of the thread."""
        self.has_failed = True
        await self._store.save_messages([self._complete(index, each) for index, each in enumerate(messages)])
        self.has_failed = False

    def _complete(self, index: int, message: Message) -> Message:
        parent_id = self.parent_id if index == 0 and isinstance(message, AssistantMessage) else None
        return changed(
            message,
            thread_id=self._thread_id,
            resource_id=message.resource_id or self._resource_id,
            created_at=message.created_at or self._now,
            parent_id=message.parent_id or parent_id,
        )
