"""One run, from its start to its end: wait for its turn, call the agent, store what it emits, end the run."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
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
from partita.runtime.budgets import RunMeter, tokens_of
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
from .live_run import LiveRun, Stop
from .log_writer import LogWriter
from .recovery import end_from_log
from .turn import Turn, check_turn, history_of, seed_of, up_to
from .usage_records import finish_metadata, records_of, responses_in, with_reported_cost

LOG: Final = get_logger("partita.run")

FAILURE: Final = "data-partita-error"
"""The note with all that an agent reported about its failure."""

GRACE: Final = 10.0
"""Seconds that an agent has to clean up once it is stopped."""

RETRY_DELAY: Final = 1.0
"""Seconds between two attempts to end a run, and between two checks of the queue of a thread."""

QUEUE_PAUSE: Final = 0.02
"""Seconds between two checks of the queue at least: every log entry of the run ahead notifies us."""

MAX_QUEUE: Final = 1000
"""How many active runs of a thread are examined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTask:
    """A run, and all that is needed to execute it."""

    store: Store
    live: LiveRun
    agent: AgentService
    turn: Turn
    history: tuple[Message, ...] | None
    """The messages of the thread when the run started; `None` if the run was queued."""
    cwd: Path | None
    session_id: str | None
    options: InvokeOptions
    owner: str | None
    """The owner of the thread."""
    meter: RunMeter | None
    clock: Callable[[], datetime]
    grace: float
    closing: asyncio.Event
    """Set when the service shuts down."""
    counts: RunCounts
    on_error: OnError | None = None
    """Returns the error texts that end users see."""

    async def run(self) -> None:
        """Execute the run. It has ended when this returns, unless the store does not respond."""
        run = self.live.run
        set_log_fields(run_id=run.id, thread_id=run.thread_id, agent=self.agent.name)
        try:
            if run.status == "running" or await self._wait_in_queue():
                await self._call_agent()
        except Exception as error:  # whatever it is, the run must not stay active
            self._log_failure(error)
            with suppress(StoreError):  # another process has ended the run, or the store does not respond
                await self._end_from_log(error_description(error))
        finally:
            self.live.end()

    # The queue of the thread

    async def _wait_in_queue(self) -> bool:
        """Wait until the run is the first of its thread and start it. Returns false if it was stopped."""
        store, live = self.store, self.live
        while not live.stopped.done():
            ahead = await self._run_ahead()
            if live.stopped.done():  # meanwhile, and perhaps together with the run ahead
                break
            started = None if ahead else await store.runs.start_queued(live.run.id)
            if started is not None:
                live.run = started
                return started.status == "running"
            await live.wait_unless_stopped(asyncio.create_task(self._wait_for_change(ahead or live.run)))
        # Its messages are stored all the same.
        status, reason = live.stopped.result()
        with suppress(ConflictError):
            await store.runs.end_queued(live.run.id, status, reason)
        return False

    async def _run_ahead(self) -> Run | None:
        """The run to wait for: the running one, or else the one before this in the queue."""
        page = await self.store.runs.list(
            RunFilter(thread_id=self.live.run.thread_id, status=ACTIVE), limit=MAX_QUEUE
        )
        # Imported runs have no lease. `start_queued` considers any other run without one.
        held = [run for run in page.items if run.lease_owner is not None]
        ids = [run.id for run in held]  # the newest first
        earlier = held[ids.index(self.live.run.id) + 1 :] if self.live.run.id in ids else []
        running = [run for run in held if run.status == "running"]
        return next(iter([*running, *earlier]), None)

    async def _wait_for_change(self, ahead: Run) -> None:
        """Wait until something has happened to a run, or for the next check."""
        # If the store fails, the next check raises the error.
        with suppress(StoreError), self.store.engine.listen(ahead.id) as news:
            run = await self.store.runs.get(ahead.id)
            if run is not None and run.finished_at is None:
                await news.wait(RETRY_DELAY)
                await asyncio.sleep(QUEUE_PAUSE)

    # The call of the agent

    async def _call_agent(self) -> None:
        """Call the agent with the messages of the thread, and end the run when the agent has ended."""
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
        request = AgentRequest(messages=history, options=self._options(), cwd=self.cwd, session_id=session_id)
        await Invocation(self, request, session, parent_id).run()

    async def _history(self) -> tuple[Message, ...]:
        thread_id, after = self.live.run.thread_id, self.turn.after
        if self.history is None:
            return await history_of(self.store.memory, thread_id, after)
        return up_to(self.history, thread_id, after)

    def _options(self) -> InvokeOptions:
        run = self.live.run
        return dataclasses.replace(
            self.options,
            approvals=self.live.approvals,
            thread_id=run.thread_id,
            run_id=run.id,
            message_id=self.turn.message_id,
            owner=self.owner,
            store=self.store,
            meter=self.meter,
        )

    # Failures outside of the agent

    def _log_failure(self, error: Exception) -> None:
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

    async def _end_from_log(self, reason: str) -> None:
        """End the run as failed, with the messages of its log, as soon as the store is available."""
        ending, run = RunEnd("failed", reason), self.live.run
        while True:
            try:
                await end_from_log(self.store, run.id, ending, holder=run.lease_owner)
                return
            except UnavailableError:
                if self.closing.is_set():  # it will be recovered once its lease has expired
                    raise
            with suppress(TimeoutError):
                await asyncio.wait_for(self.closing.wait(), RETRY_DELAY)


class Invocation:
    """The invocation of the agent in a run: stores the events of the agent, and ends the run."""

    def __init__(
        self, task: RunTask, request: AgentRequest, session: AgentSession, parent_id: str | None
    ) -> None:
        """`parent_id` is the message that the response follows, if it is a new message."""
        self._task = task
        self._live = task.live
        self._meter = task.meter
        self._request = request
        self._session = session
        self._parent_id = parent_id
        self._failures = RunFailures(
            run_id=task.live.run.id,
            agent=task.agent.name,
            message_id=lambda: task.live.fold.current_id,
            count=task.counts.add,
        )
        self._public_text: Callable[[BaseException], Awaitable[str | None]] | None = (
            None if task.on_error is None else partial(public_text, task.on_error, request)
        )
        """Returns the error text that end users see, or `None` for the default text."""
        self._writer = LogWriter(task.store, task.live, task.clock)
        self._finish_metadata: list[JsonObject] = []  # of each message
        self._responses: dict[str, JsonObject] = {}  # of the model, those that are reported one by one
        self._earlier_usage = task.live.fold.current.content.usage  # of earlier runs of the message
        self._ending: RunEnd | None = None
        self._result: Json = None

    async def run(self) -> None:
        """Store all events of the agent and end the run; earlier if the run is stopped.

        An error of the store is raised. A `ConflictError` means that another process has ended the run.
        """
        CURRENT.set(self._failures)
        self._live.add_chunks = self._writer.add_stored
        self._live.ready.set()
        events = asyncio.create_task(self._store_events(), name=f"run {self._live.run.id}")
        await self._wait_until_stored(events)
        ending = self._ending_after(events)
        text = await self._report_failure(events, ending) if ending.status == "failed" else None
        await self._end(ending, text)

    async def _wait_until_stored(self, events: "asyncio.Task[None]") -> None:
        """Wait for the events. A stopped agent that does not end within the grace period is abandoned."""
        if not await self._live.wait_unless_stopped(events):
            either: list[asyncio.Future[None]] = [events, self._live.abandoned]
            await asyncio.wait(either, timeout=self._task.grace, return_when=asyncio.FIRST_COMPLETED)
        events.add_done_callback(_retrieve_exception)

    # Events

    async def _store_events(self) -> None:
        try_add, request = self._writer.try_add, self._request
        stream = self._task.agent.invoke(
            request.messages, cwd=request.cwd, session_id=request.session_id, options=request.options
        )
        async with closed(stream) as events:
            async for event in events:
                # Most events are deltas. They need no handling, and usually no waiting.
                if type(event) is ChunkEvent and type(event.chunk) in DELTAS:
                    raw = raw_bytes(event)
                    if try_add(event.chunk, raw):
                        continue
                await self._store_event(event)

    async def _store_event(self, event: AgentStreamEvent) -> None:
        raw = raw_bytes(event)
        match event:
            case ChunkEvent(chunk=chunk):
                await self._store_chunk(chunk, raw)
            case RawEvent():
                await self._writer.add(None, raw)
            case ErrorEvent():
                await self._writer.add(failure_note(event), raw)
                self._result = event.details if is_object(event.details) else None
                self._ending = RunEnd("failed", event.message)
            case CompleteEvent():
                await self._store_raw(raw)
                self._ending = RunEnd("completed", usage=event.usage, agent_result=event.agent_result)
                self._result = None if event.agent_result is UNSET else event.agent_result
            case CancelledEvent(reason=reason):
                await self._store_raw(raw)
                self._ending = RunEnd("cancelled", reason)
            case _:
                assert_never(event)

    async def _store_chunk(self, chunk: Chunk, raw: bytes | None) -> None:
        refusal = None if self._meter is None else self._meter.count_chunk(chunk)
        if refusal is not None:
            self._live.stop(Stop("cancelled", refusal))
        await self._store_public_error(chunk)
        if isinstance(chunk, MessageStart) and chunk.message_id is None:
            # A client that reconnects must find the same message.
            chunk = replace(chunk, message_id=self._live.run.message_id)
        await self._writer.add(chunk, raw)
        await self._session.handle(chunk)
        self._responses |= responses_in(chunk)
        if (metadata := finish_metadata(chunk)) is not None:
            self._finish_metadata.append(metadata)

    async def _store_raw(self, raw: bytes | None) -> None:
        """Store the bytes of an event that has no chunk."""
        if raw is not None:
            await self._writer.add(None, raw)

    async def _store_public_error(self, chunk: Chunk) -> None:
        """Before the error of a tool call: store the text that end users see, unless it is the default."""
        failed = None if self._public_text is None else failed_call(chunk)
        if failed is None or self._public_text is None:
            return
        call_id, error = failed
        text = await self._public_text(self._failures.exceptions.get(call_id) or ToolError(error))
        if text is not None:
            await self._writer.add(_in_same_message(chunk, public_error(call_id, text)))

    # The end

    def _ending_after(self, events: "asyncio.Task[None]") -> RunEnd:
        """How the run ended: as the agent reported, as it was stopped, or as the stream of events ended."""
        if self._ending is not None:
            return self._ending
        if self._live.stopped.done():
            return RunEnd(*self._live.stopped.result())
        error = None if events.cancelled() else events.exception()
        return RunEnd("failed", NO_END if error is None else error_description(error))

    async def _report_failure(self, events: "asyncio.Task[None]", ending: RunEnd) -> str | None:
        """Log the failure, unless that was done. Returns the text for end users, `None` for the default."""
        failures = self._failures
        raised = events.exception() if events.done() and not events.cancelled() else None
        if isinstance(raised, StoreError) or self._writer.failure is not None:  # not of the agent
            return None
        if raised is not None:
            failures.report(raised)
        failures.report_text(ending.reason or "")
        if self._public_text is None:
            return None
        run_id = self._live.run.id
        error = failures.exceptions.get(run_id) or AgentError(ending.reason or NO_END, run_id=run_id)
        return await self._public_text(error)

    async def _end(self, ending: RunEnd, public: str | None) -> None:
        """Store the last chunks, the messages, the usage and the end of the run."""
        live, task = self._live, self._task
        text = [] if public is None else [public_error(live.run.id, public)]
        await self._writer.finish([*text, *ending_chunks(live.fold, ending.status, ending.reason)])
        messages = self._messages(ending)
        usage = ending.usage or self._new_usage(messages[-1])
        run = live.run
        responses = list(self._responses.values())
        own = await self._session.turn_cost(self._result, usage, messages[-1])
        reported = [{"steps": responses}] if responses else self._finish_metadata
        records, cost = with_reported_cost(records_of(run, reported, usage, task.clock()), own.cost)
        if self._meter is not None:
            self._meter.count_totals(0 if usage is None else tokens_of(usage), cost)
        full = ending._replace(usage=usage, cost=cost)
        ended = await task.store.runs.end_turn(run.id, messages, full, thread_id=run.thread_id)
        live.run = await self._session.end(ended, messages[-1], records, own.totals)

    def _messages(self, ending: RunEnd) -> list[AssistantMessage]:
        first, *rest = self._live.fold.finish(ending.status, ending.reason)
        if first.parent_id is None and self._parent_id is not None:
            first = replace(first, parent_id=self._parent_id)
        return [first, *rest]

    def _new_usage(self, message: AssistantMessage) -> Usage | None:
        """The usage of a message, unless it is that of an earlier run."""
        usage = message.content.usage
        return None if usage == self._earlier_usage else usage


def failure_note(event: ErrorEvent) -> DataChunk:
    """The note with all that an agent reported about its failure."""
    data: JsonObject = {"message": event.message}
    if event.name is not None:
        data["name"] = event.name
    if event.details is not UNSET:
        data["details"] = event.details
    return DataChunk(FAILURE, data, transient=True)


def _in_same_message(chunk: Chunk, new: Chunk) -> Chunk:
    """A new chunk for the message, perhaps of a sub-agent, that another chunk belongs to."""
    return (
        ChildChunk(chunk.path, _in_same_message(chunk.chunk, new)) if isinstance(chunk, ChildChunk) else new
    )


def _retrieve_exception(events: "asyncio.Task[None]") -> None:
    """Retrieve the exception of an abandoned agent, so that asyncio does not log it."""
    if not events.cancelled():
        events.exception()
