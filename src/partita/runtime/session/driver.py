"""One run from its first event to its end, whichever way it ends."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import datetime
from typing import Final, assert_never

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConflictError, PartitaError
from partita.runtime.closing import closed
from partita.store.facade.store import Store
from partita.store.turns import Ending
from partita.types.chunks import Chunk, DataChunk, ErrorChunk, MessageAbort, MessageStart
from partita.types.events import (
    AgentStreamEvent,
    CancelledEvent,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
    RawEvent,
    raw_bytes,
)
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage
from partita.types.usage import Usage

from .live_run import LiveRun
from .writer import Writer

FAILURE: Final = "data-partita-error"
"""All that an agent said of its failure."""

GRACE: Final = 10.0
"""How many seconds an agent has to clean up once it is told to stop."""

NO_END: Final = "the agent stopped without saying how it ended"


class Driver:
    """Feeds a run with the events of its agent, and ends it."""

    def __init__(
        self,
        store: Store,
        live: LiveRun,
        clock: Callable[[], datetime],
        *,
        parent_id: str | None,
        grace: float = GRACE,
        priced: Callable[[str | None, Usage | None], float | None] | None = None,
    ) -> None:
        self._store = store
        self._live = live
        self._grace = grace
        self._parent_id = parent_id
        self._priced = priced
        self._ending: Ending | None = None
        self.result: Json = None
        """What the agent said of its work as a whole."""
        self.writer = Writer(store, live, clock)

    async def run(self, events: AsyncIterator[AgentStreamEvent]) -> None:
        """Take all events, then end the run; sooner, when `LiveRun.stopped` says so."""
        live = self._live
        live.note = self.writer.put
        pump = asyncio.create_task(self._pump(events), name=f"run {live.run.id}")
        try:
            await self._until_pumped(pump)
            await self._end(self._ended(pump))
        finally:
            live.end()

    async def _until_pumped(self, pump: "asyncio.Task[None]") -> None:
        """Wait for the pump; one that was told to stop and does not, is left behind."""
        if not await self._live.unless_stopped(pump):
            await asyncio.wait([pump], timeout=self._grace)

    async def _pump(self, events: AsyncIterator[AgentStreamEvent]) -> None:
        async with closed(events):
            async for event in events:
                await self._take(event)

    async def _take(self, event: AgentStreamEvent) -> None:
        raw = raw_bytes(event)
        match event:
            case ChunkEvent(chunk=chunk):
                await self.writer.put(self._identified(chunk), raw)
            case RawEvent():
                await self.writer.put(None, raw)
            case ErrorEvent():
                await self._fail(event, raw)
            case CompleteEvent():
                self._ending = Ending("completed", usage=event.usage)
                self.result = None if event.agent_result is UNSET else event.agent_result
            case CancelledEvent(reason=reason):
                self._ending = Ending("cancelled", reason)
            case _:
                assert_never(event)

    def _identified(self, chunk: Chunk) -> Chunk:
        """A start always says whose it is: a client that comes back must find the same message."""
        if isinstance(chunk, MessageStart) and chunk.message_id is None:
            return replace(chunk, message_id=self._live.run.message_id)
        return chunk

    async def _fail(self, event: ErrorEvent, raw: bytes | None) -> None:
        said: JsonObject = {"message": event.message}
        if event.name is not None:
            said["name"] = event.name
        if event.details is not UNSET:
            said["details"] = event.details
        await self.writer.put(DataChunk(FAILURE, said, transient=True), raw)
        self.result = event.details if is_object(event.details) else None
        self._ending = Ending("failed", event.message)

    def _ended(self, pump: "asyncio.Task[None]") -> Ending:
        """How the run ended: as someone wanted, as the agent said, or as it happened."""
        if self._ending is not None:
            return self._ending
        if self._live.stopped.done():
            return Ending(*self._live.stopped.result())
        error = None if pump.cancelled() else pump.exception()
        if error is not None:
            return Ending("failed", str(error) if isinstance(error, PartitaError) else _named(error))
        return Ending("failed", NO_END)

    async def _end(self, ending: Ending) -> None:
        """Store what came of the run. A run that somebody else has ended is theirs."""
        if isinstance(self.writer.failure, ConflictError):
            return
        with suppress(ConflictError):
            await self._say(ending)
            await self.writer.drain()
            messages = self._messages(ending)
            usage = ending.usage or messages[-1].content.usage
            cost = None if self._priced is None else self._priced(self._live.run.model, usage)
            full = ending._replace(usage=usage, cost=cost)
            await self._store.end_turn(self._live.run.id, messages, full, thread_id=self._live.run.thread_id)

    async def _say(self, ending: Ending) -> None:
        """Tell those who watch why the stream ends here."""
        if ending.status == "failed" and ending.reason not in self._live.fold.errors:
            await self.writer.put(ErrorChunk(ending.reason or NO_END))
        elif ending.status in ("cancelled", "interrupted"):
            await self.writer.put(MessageAbort(ending.reason))

    def _messages(self, ending: Ending) -> list[AssistantMessage]:
        first, *rest = self._live.fold.finish(ending.status, ending.reason)
        if first.parent_id is None and self._parent_id is not None:
            first = replace(first, parent_id=self._parent_id)
        return [first, *rest]


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
