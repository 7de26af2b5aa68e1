"""One run from its first event to its end, whichever way it ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from typing import Final, assert_never

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import AgentError, StoreError
from partita.runtime.budgets import Meter, tokens_of
from partita.runtime.closing import closed
from partita.runtime.error_mask import failed_call, public_error
from partita.runtime.failures import RunFailures, described
from partita.runtime.folding import DELTAS, NO_END, ending_chunks
from partita.runtime.tools.outputs import ToolError
from partita.store.facade.store import Store
from partita.store.turns import Ending
from partita.types.chunks import ChildChunk, Chunk, DataChunk, MessageStart
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

from .agent_sessions import AgentSession
from .ledger import records_of, responses_in, told_by, with_reported_cost
from .live_run import LiveRun, Stop
from .writer import Writer

FAILURE: Final = "data-partita-error"
"""All that an agent said of its failure."""

GRACE: Final = 10.0
"""How many seconds an agent has to clean up once it is told to stop."""


class Driver:
    """Feeds a run with the events of its agent, and ends it."""

    def __init__(
        self,
        store: Store,
        live: LiveRun,
        clock: Callable[[], datetime],
        *,
        session: AgentSession,
        parent_id: str | None,
        failures: RunFailures,
        grace: float = GRACE,
        meter: Meter | None = None,
        public: Callable[[BaseException], Awaitable[str | None]] | None = None,
    ) -> None:
        """`public` returns the error text that end users see, if it is not the default."""
        self._store = store
        self._live = live
        self._meter = meter
        self._grace = grace
        self._failures = failures
        self._public = public
        self._session = session
        self._parent_id = parent_id
        self._clock = clock
        self._ends: list[JsonObject] = []  # what each message says of itself at its end
        self._responses: dict[str, JsonObject] = {}  # of the model, those that are reported one by one
        self._known_usage = live.fold.current.content.usage  # of earlier runs of the message
        self._ending: Ending | None = None
        self.result: Json = None
        """What the agent said of its work as a whole."""
        self.writer = Writer(store, live, clock)

    async def run(self, invoke: Callable[[], AsyncIterator[AgentStreamEvent]]) -> None:
        """Take all events, then end the run; sooner, when `LiveRun.stopped` says so.

        What the store did not take is raised. A `ConflictError` says that somebody else has ended the run.
        """
        live = self._live
        live.say = self.writer.say
        live.ready.set()
        pump = asyncio.create_task(self._pump(invoke), name=f"run {live.run.id}")
        await self._until_pumped(pump)
        ending = self._ended(pump)
        text = await self._public_error(pump) if ending.status == "failed" else None
        await self._end(ending, text)

    async def _until_pumped(self, pump: "asyncio.Task[None]") -> None:
        """Wait for the pump; one that does not stop within the grace period is left behind."""
        if not await self._live.unless_stopped(pump):
            either: list[asyncio.Future[None]] = [pump, self._live.abandoned]
            await asyncio.wait(either, timeout=self._grace, return_when=asyncio.FIRST_COMPLETED)
        pump.add_done_callback(_look_at)

    async def _pump(self, invoke: Callable[[], AsyncIterator[AgentStreamEvent]]) -> None:
        take = self.writer.take
        async with closed(invoke()) as events:
            async for event in events:
                # Most of what agents say: taken without further ado, unless there is something to wait for.
                if type(event) is ChunkEvent and type(event.chunk) in DELTAS:
                    raw = raw_bytes(event)
                    if take(event.chunk, raw):
                        continue
                await self._take(event)

    async def _take(self, event: AgentStreamEvent) -> None:
        raw = raw_bytes(event)
        match event:
            case ChunkEvent(chunk=chunk):
                refused = None if self._meter is None else self._meter.see(chunk)
                if refused is not None:
                    self._live.stop(Stop("cancelled", refused))
                await self._publish(chunk)
                await self.writer.put(self._identified(chunk), raw)
                await self._session.see(chunk)
                self._responses |= responses_in(chunk)
                if (said := told_by(chunk)) is not None:
                    self._ends.append(said)
            case RawEvent():
                await self.writer.put(None, raw)
            case ErrorEvent():
                await self._fail(event, raw)
            case CompleteEvent():
                await self._keep(raw)
                self._ending = Ending("completed", usage=event.usage, agent_result=event.agent_result)
                self.result = None if event.agent_result is UNSET else event.agent_result
            case CancelledEvent(reason=reason):
                await self._keep(raw)
                self._ending = Ending("cancelled", reason)
            case _:
                assert_never(event)

    async def _keep(self, raw: bytes | None) -> None:
        """Keep the bytes of an event that amounts to no chunk."""
        if raw is not None:
            await self.writer.put(None, raw)

    def _identified(self, chunk: Chunk) -> Chunk:
        """A start always says whose it is: a client that comes back must find the same message."""
        if isinstance(chunk, MessageStart) and chunk.message_id is None:
            return replace(chunk, message_id=self._live.run.message_id)
        return chunk

    async def _publish(self, chunk: Chunk) -> None:
        """Before the error of a tool call: store the text that end users see, unless it is the default."""
        failed = None if self._public is None else failed_call(chunk)
        if failed is None or self._public is None:
            return
        call_id, error = failed
        text = await self._public(self._failures.exceptions.get(call_id) or ToolError(error))
        if text is not None:
            await self.writer.put(_beside(chunk, public_error(call_id, text)))

    async def _public_error(self, pump: "asyncio.Task[None]") -> str | None:
        """Log why the run failed, unless that is done; the text that end users see, if not the default."""
        failures, run_id = self._failures, self._live.run.id
        raised = pump.exception() if pump.done() and not pump.cancelled() else None
        if isinstance(raised, StoreError) or self.writer.failure is not None:  # not of the agent
            return None
        if raised is not None:
            failures.report(raised)
        ending = self._ended(pump)
        failures.report_text(ending.reason or "")
        if self._public is None:
            return None
        error = failures.exceptions.get(run_id) or AgentError(ending.reason or NO_END, run_id=run_id)
        return await self._public(error)

    async def _fail(self, event: ErrorEvent, raw: bytes | None) -> None:
        await self.writer.put(failure_chunk(event), raw)
        self.result = event.details if is_object(event.details) else None
        self._ending = Ending("failed", event.message)

    def _ended(self, pump: "asyncio.Task[None]") -> Ending:
        """How the run ended: as someone wanted, as the agent said, or as it happened."""
        if self._ending is not None:
            return self._ending
        if self._live.stopped.done():
            return Ending(*self._live.stopped.result())
        error = None if pump.cancelled() else pump.exception()
        return Ending("failed", NO_END if error is None else described(error))

    async def _end(self, ending: Ending, public: str | None = None) -> None:
        """Store what came of the run."""
        text = [] if public is None else [public_error(self._live.run.id, public)]
        await self.writer.finish([*text, *self._last_words(ending)])
        messages = self._messages(ending)
        usage = ending.usage or self._own_usage(messages[-1])
        run = self._live.run
        steps = list(self._responses.values())
        own = await self._session.own_part(self.result, usage, messages[-1])
        records = records_of(run, [{"steps": steps}] if steps else self._ends, usage, self._clock())
        records, cost = with_reported_cost(records, own.cost)
        if self._meter is not None:
            self._meter.settle(0 if usage is None else tokens_of(usage), cost)
        full = ending._replace(usage=usage, cost=cost)
        ended = await self._store.end_turn(run.id, messages, full, thread_id=run.thread_id)
        self._live.run = await self._session.end(ended, messages[-1], records, own.totals)

    def _last_words(self, ending: Ending) -> list[Chunk]:
        """What tells those who watch how the run ended, and why the stream ends here."""
        return ending_chunks(self._live.fold, ending.status, ending.reason)

    def _own_usage(self, message: AssistantMessage) -> Usage | None:
        """What a message says that it took, unless it said so before this run."""
        usage = message.content.usage
        return None if usage == self._known_usage else usage

    def _messages(self, ending: Ending) -> list[AssistantMessage]:
        first, *rest = self._live.fold.finish(ending.status, ending.reason)
        if first.parent_id is None and self._parent_id is not None:
            first = replace(first, parent_id=self._parent_id)
        return [first, *rest]


def failure_chunk(event: ErrorEvent) -> DataChunk:
    """All that an agent reports of its failure."""
    said: JsonObject = {"message": event.message}
    if event.name is not None:
        said["name"] = event.name
    if event.details is not UNSET:
        said["details"] = event.details
    return DataChunk(FAILURE, said, transient=True)


def _beside(chunk: Chunk, new: Chunk) -> Chunk:
    """A new chunk for the message, perhaps of a sub-agent, that another chunk belongs to."""
    return ChildChunk(chunk.path, _beside(chunk.chunk, new)) if isinstance(chunk, ChildChunk) else new


def _look_at(pump: "asyncio.Task[None]") -> None:
    """Look at how an agent ended that was left behind, so that asyncio does not complain."""
    if not pump.cancelled():
        pump.exception()
