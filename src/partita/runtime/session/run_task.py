"""The work on one run: wait for its turn, call the agent, take what it says, end it."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, assert_never

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import AgentError, ConflictError, StoreError, UnavailableError
from partita.runtime.adapters.agent_request import AgentRequest
from partita.runtime.budgets import Meter, tokens_of
from partita.runtime.error_mask import failed_call, public_error
from partita.runtime.failures import CURRENT, OnError, RunCounts, RunFailures, error_description, public_text
from partita.runtime.log_context import get_logger, set_log_fields
from partita.runtime.run_fold import DELTAS, NO_END, RunFold, ending_chunks
from partita.runtime.service import AgentService, InvokeOptions, closed
from partita.runtime.tools.outputs import ToolError
from partita.store.runs.rows import ACTIVE, RunEnd
from partita.store.store import Store
from partita.store.values import MessageFilter, RunFilter
from partita.types.chunks import (
    AgentStreamEvent,
    CancelledEvent,
    ChildChunk,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    DataChunk,
    ErrorEvent,
    MessageStart,
    RawEvent,
    raw_bytes,
)
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import Run
from partita.types.usage import Usage

from .agent_session import AgentSession, known_session
from .live_run import LiveRun, Stop, Writer
from .recovery import end_by_log
from .turn import Turn, check_turn, history_of, seed_of, up_to
from .usage_records import records_of, responses_in, told_by, with_reported_cost

# One run from its first event to its end, whichever way it ends.

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
        self._ending: RunEnd | None = None
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
                refused = None if self._meter is None else self._meter.count_chunk(chunk)
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
                self._ending = RunEnd("completed", usage=event.usage, agent_result=event.agent_result)
                self.result = None if event.agent_result is UNSET else event.agent_result
            case CancelledEvent(reason=reason):
                await self._keep(raw)
                self._ending = RunEnd("cancelled", reason)
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
        self._ending = RunEnd("failed", event.message)

    def _ended(self, pump: "asyncio.Task[None]") -> RunEnd:
        """How the run ended: as someone wanted, as the agent said, or as it happened."""
        if self._ending is not None:
            return self._ending
        if self._live.stopped.done():
            return RunEnd(*self._live.stopped.result())
        error = None if pump.cancelled() else pump.exception()
        return RunEnd("failed", NO_END if error is None else error_description(error))

    async def _end(self, ending: RunEnd, public: str | None = None) -> None:
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
            self._meter.count_totals(0 if usage is None else tokens_of(usage), cost)
        full = ending._replace(usage=usage, cost=cost)
        ended = await self._store.runs.end_turn(run.id, messages, full, thread_id=run.thread_id)
        self._live.run = await self._session.end(ended, messages[-1], records, own.totals)

    def _last_words(self, ending: RunEnd) -> list[Chunk]:
        """What tells those who watch how the run ended, and why the stream ends here."""
        return ending_chunks(self._live.fold, ending.status, ending.reason)

    def _own_usage(self, message: AssistantMessage) -> Usage | None:
        """What a message says that it took, unless it said so before this run."""
        usage = message.content.usage
        return None if usage == self._known_usage else usage

    def _messages(self, ending: RunEnd) -> list[AssistantMessage]:
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


LOG: Final = get_logger("partita.run")

LOOK_AGAIN: Final = 1.0
BREATH: Final = 0.02
LONGEST_LINE: Final = 1000
"""How many runs that wait in one thread are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A run and all that is needed to work on it."""

    store: Store
    live: LiveRun
    agent: AgentService
    turn: Turn
    history: tuple[Message, ...] | None
    """The talk of the thread, as it was when the run began; `None` if that was later."""
    cwd: Path | None
    session_id: str | None
    options: InvokeOptions
    owner: str | None
    """The owner of the thread."""
    meter: Meter | None
    clock: Callable[[], datetime]
    grace: float
    closing: asyncio.Event
    """Set when the service shuts down."""
    counts: RunCounts
    on_error: OnError | None = None
    """Chooses the error texts that end users see."""

    async def do(self) -> None:
        """Do the work. However it goes, the run has ended when this returns, unless the store is gone."""
        run = self.live.run
        set_log_fields(run_id=run.id, thread_id=run.thread_id, agent=self.agent.name)
        try:
            if self.live.run.status == "running" or await self._wait_in_line():
                await self._answer()
        except Exception as error:  # whatever it is, the run must not stay at work
            self._log(error)
            with suppress(StoreError):  # somebody else has it, or nobody can
                await self._fail(error_description(error))
        finally:
            self.live.end()

    def _log(self, error: Exception) -> None:
        """Log why the run could not be worked on to its end."""
        run_id = self.live.run.id
        if isinstance(error, ConflictError):
            LOG.warning("run %s is no longer held by this process: another one ended it", run_id)
            self.counts.add("lease")
        elif isinstance(error, StoreError):
            LOG.error("run %s could not be stored: %s", run_id, error)
            self.counts.add("store")
        else:
            LOG.error("run %s failed", run_id, exc_info=error)
            self.counts.add("agent")

    async def _fail(self, reason: str) -> None:
        """End the run by what is stored of it, as soon as the store can be used again."""
        ending, run = RunEnd("failed", reason), self.live.run
        while True:
            try:
                await end_by_log(self.store, run.id, ending, holder=run.lease_owner)
                return
            except UnavailableError:
                if self.closing.is_set():  # whoever recovers runs will find it
                    raise
            with suppress(TimeoutError):
                await asyncio.wait_for(self.closing.wait(), LOOK_AGAIN)

    async def _answer(self) -> None:
        store, live, turn = self.store, self.live, self.turn
        history = await self._history()
        check_turn(turn, history)
        seed = seed_of(history, turn.message_id)
        live.fold = RunFold(turn.message_id, run_id=live.run.id, seed=seed)
        parent_id = history[-1].id if history and seed is None else None
        session_id = self.session_id
        if not session_id and self.history is None:
            session_id = await known_session(store, live.run)
        session = AgentSession(store, live.run, self.cwd, history, session_id)
        if seed is not None and getattr(self.agent, "reads_internal", False):
            page = await store.messages.list(live.run.thread_id, MessageFilter(internal=None), limit=None)
            history = up_to(page.items, live.run.thread_id, turn.after)
        options = dataclasses.replace(
            self.options,
            approvals=live.approvals,
            thread_id=live.run.thread_id,
            run_id=live.run.id,
            message_id=turn.message_id,
            owner=self.owner,
            store=store,
            meter=self.meter,
        )
        request = AgentRequest(messages=history, options=options, cwd=self.cwd, session_id=session_id)
        failures = RunFailures(
            run_id=live.run.id,
            agent=self.agent.name,
            message_id=lambda: live.fold.current_id,
            count=self.counts.add,
        )
        CURRENT.set(failures)
        driver = Driver(
            store,
            live,
            self.clock,
            session=session,
            parent_id=parent_id,
            failures=failures,
            grace=self.grace,
            public=None if (on_error := self.on_error) is None else partial(public_text, on_error, request),
            meter=self.meter,
        )
        await driver.run(
            lambda: self.agent.invoke(history, cwd=self.cwd, session_id=session_id, options=options)
        )

    async def _history(self) -> tuple[Message, ...]:
        thread_id, after = self.live.run.thread_id, self.turn.after
        if self.history is None:
            return await history_of(self.store.memory, thread_id, after)
        return up_to(self.history, thread_id, after)

    async def _wait_in_line(self) -> bool:
        """Wait until the run may begin; whether it has not been stopped before that."""
        store, live = self.store, self.live
        while not live.stopped.done():
            ahead = await self._ahead()
            if live.stopped.done():  # meanwhile, and perhaps with the one ahead
                break
            begun = None if ahead else await store.runs.start_queued(live.run.id)
            if begun is not None:
                live.run = begun
                return begun.status == "running"
            await live.unless_stopped(asyncio.create_task(self._wait_for(ahead or live.run)))
        await self._give_up()
        return False

    async def _ahead(self) -> Run | None:
        """The run to wait for: the one at work, or else the one before this in line."""
        page = await self.store.runs.list(
            RunFilter(thread_id=self.live.run.thread_id, status=ACTIVE), limit=LONGEST_LINE
        )
        # Imported runs have no lease; what else has none is found by `begin_queued`.
        held = [run for run in page.items if run.lease_owner is not None]
        ids = [run.id for run in held]  # the newest first
        earlier = held[ids.index(self.live.run.id) + 1 :] if self.live.run.id in ids else []
        at_work = [run for run in held if run.status == "running"]
        return next(iter([*at_work, *earlier]), None)

    async def _wait_for(self, ahead: Run) -> None:
        """Wait until a run has ended, or something else has happened to it."""
        # What is wrong with the store is told by the next look.
        with suppress(StoreError), self.store.engine.listen(ahead.id) as news:
            run = await self.store.runs.get(ahead.id)
            if run is not None and run.finished_at is None:
                await news.wait(LOOK_AGAIN)
                await asyncio.sleep(BREATH)  # all that it says is news

    async def _give_up(self) -> None:
        """End a run that never began; what it would have begun with is stored all the same."""
        status, reason = self.live.stopped.result()
        with suppress(ConflictError):
            await self.store.runs.end_queued(self.live.run.id, status, reason)
