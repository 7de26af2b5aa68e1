"""`Session`: starts, follows, stops and recovers the runs of agents in the threads of a store.

A run belongs to the session, not to the request that started it: it continues when its reader disconnects,
and any number of readers, in any process, can follow it from any point. Readers receive only what is stored.
"""

import asyncio
import copy
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, TypeVar

from msgspec import UNSET, UnsetType

from partita.errors import ConflictError, NotFoundError, UnavailableError
from partita.runtime.budgets import Budgets, OwnerTotals, RunMeter
from partita.runtime.error_mask import ErrorMask, mask_errors
from partita.runtime.failures import OnError, RunCounts
from partita.runtime.run_fold import RunFold
from partita.runtime.service import AgentService, InvokeOptions
from partita.runtime.tools.tool import check_client_tools, client_tools
from partita.store.bulk.agent_sessions import AGENT_SESSION
from partita.store.logs.run_log import status_of
from partita.store.runs.turns import Busy, Signal
from partita.store.store import Store
from partita.types.json import Json, JsonObject
from partita.types.parts import ToolOutput
from partita.types.threads import Run

from .client_replies import ApprovalResponse, ClientOutput, ClientReplies
from .lease_renewer import LeaseRenewer
from .live_run import LiveRun, Stop, StoredChunk
from .recovery import AFTER, RunProgress, new_lease_owner, run_progress
from .run_stream import ChunkFilter, follow_live, follow_stored
from .run_task import GRACE, RunTask
from .turn import Input, turn_of

T = TypeVar("T")

LEASE: Final = 15.0
HEARTBEAT: Final = 1.0
SHUTDOWN: Final = "the service was shut down"

AFTER_ALL: Final = 2**62
"""A number greater than that of any log entry."""

STOP_MARGIN: Final = 5.0
"""Seconds beyond the grace period and the lease within which a stopped run must have ended."""

DISCONNECT: Final = 0.5
"""Seconds within which the disconnect of a client is noticed."""

STOP_UNREAD_ELSEWHERE: Final = 5.0
"""Seconds within which another process stops a run that no client reads."""

DRAIN_TICK: Final = 0.05
"""Seconds between two checks whether the runs of a session that closes can still complete."""


def _now() -> datetime:
    return datetime.now(UTC)


class Session:
    """Runs agents in the threads of a store: `async with Session(store) as session`."""

    def __init__(
        self,
        store: Store,
        *,
        owner: str | None = None,
        lease: float = LEASE,
        heartbeat: float = HEARTBEAT,
        grace: float = GRACE,
        recover: bool = True,
        budgets: Budgets | None = None,
        on_run_change: Callable[[Run], None] | None = None,
        on_error: OnError | None = None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        """`owner` identifies this process among those that share the store.

        It holds its runs by leases of `lease` seconds, which it renews every `heartbeat` seconds. A stopped
        agent has `grace` seconds to clean up. With `recover`, runs of dead processes are ended, at the start
        and from time to time. `budgets` limit the usage of runs. `on_run_change` is called with every run of
        this process when it starts and when it has ended. `on_error` returns the error texts that end users
        see.
        """
        self.store = store
        self.owner = owner or new_lease_owner()
        self._lease = lease
        self._grace = grace
        self._clock = clock
        self._on_run_change = on_run_change
        self._on_error = on_error
        self._masks_errors = False
        self.counts = RunCounts()
        """Failures of the runs of this process."""
        self._live: dict[str, LiveRun] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._replies = ClientReplies(store, self._live, clock)
        self._leases = LeaseRenewer(
            store,
            self.owner,
            lease=lease,
            heartbeat=heartbeat,
            on_signal=self._on_signal,
            has_runs=lambda: bool(self._live),
            recover=recover,
            counts=self.counts,
        )
        self._closing = asyncio.Event()
        self._totals = None if budgets is None else OwnerTotals(store, budgets)

    async def __aenter__(self) -> "Session":
        self._leases.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def scoped(self, resource_id: str) -> "Session":
        """The same session for one owner: data of others is not found. Close only the original session."""
        own = copy.copy(self)
        own.store = self.store.scoped(resource_id)
        own._replies = ClientReplies(own.store, self._live, self._clock)
        return own

    def with_masked_errors(self) -> "Session":
        """The same session for an end user: the text of exceptions is replaced by a reference.

        Agents and models still see the original. Close only the original session.
        """
        own = copy.copy(self)
        own._masks_errors = True
        return own

    def view(self, value: T) -> T:
        """A value of the store, without the text of exceptions if this session masks them."""
        return mask_errors(value) if self._masks_errors else value

    def queued_count(self) -> int:
        """The number of runs of this process that wait for another run of their thread."""
        return sum(live.run.status == "pending" for live in self._live.values())

    def running_count(self) -> int:
        """The number of runs of this process that have started and not ended."""
        return len(self._live) - self.queued_count()

    async def close(self, reason: str = SHUTDOWN, *, drain: float = 0.0, grace: float | None = None) -> None:
        """Stop all runs of this process, as interrupted, and release them. The store stays open.

        New runs are refused at once. Running ones have `drain` seconds to complete, except those that wait
        for an approval. The agents that are then stopped have `grace` seconds to clean up.
        """
        self._closing.set()
        await self._drain(drain)
        for live in self._live.values():
            live.stop(Stop("interrupted", reason))
            if grace is not None:
                asyncio.get_running_loop().call_later(grace, live.abandon)
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._leases.close()
        if self._totals is not None:
            await self._totals.close()

    async def _drain(self, seconds: float) -> None:
        """Wait for the runs that can complete without a client."""
        deadline = asyncio.get_running_loop().time() + seconds
        while any(
            live.run.status == "running" and not live.approvals.is_waiting for live in self._live.values()
        ):
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return
            await asyncio.wait(self._tasks, timeout=min(left, DRAIN_TICK), return_when=FIRST_COMPLETED)

    async def start(
        self,
        agent: AgentService,
        thread_id: str,
        input: Input = None,
        *,
        after: str | None = None,
        busy: Busy = "refuse",
        fresh: bool = False,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
        resource_id: str | None = None,
        metadata: JsonObject | None = None,
        run_id: str | None = None,
    ) -> Run:
        """Start a turn of a thread, which is created if it does not exist, and return once it is stored.

        If a budget is used up, a `BudgetError` is raised. If the thread has an active run, a `BusyError` is
        raised, or with `busy="queue"` the turn waits for it. With `after`, a new branch starts after that
        message. An existing `run_id` raises a `ConflictError`, and so does an existing input with `fresh`.
        """
        if self._closing.is_set():
            raise UnavailableError("the session is closed", hint="open another one, or try again later")
        options = options or InvokeOptions()
        check_client_tools(agent, options.tools)
        self._leases.start()
        store = self.store if resource_id is None else self.store.scoped(resource_id)
        await self.check_budget(store.owner)
        if not input:
            await _ensure_thread(store, thread_id, agent.name)
        turn = await turn_of(store.memory, thread_id, input, after)
        if turn.after is not None:
            metadata = {**(metadata or {}), AFTER: turn.after}
        started = await store.runs.start_turn(
            thread_id,
            turn.messages,
            busy=busy,
            message_id=turn.message_id,
            agent=agent.name,
            model=options.model or getattr(agent, "model", None),
            metadata=metadata,
            recall=None if session_id else AGENT_SESSION,
            fresh=fresh,
            concurrent=None if self._totals is None else self._totals.budgets.concurrent_runs,
            id=run_id,
            lease_owner=self.owner,
            lease_seconds=self._lease,
        )
        run = started.run
        tools = client_tools(agent) | {tool.name for tool in options.tools}
        live = LiveRun(run, RunFold(turn.message_id, run_id=run.id), store.owner, tools)
        task = RunTask(
            store=store,
            live=live,
            agent=agent,
            turn=turn,
            history=started.history,
            cwd=cwd,
            session_id=session_id or started.recalled,
            options=options,
            owner=started.owner,
            meter=self.meter(started.owner, run.model),
            clock=self._clock,
            grace=self._grace,
            closing=self._closing,
            counts=self.counts,
            on_error=self._on_error,
        )
        self._execute(task)
        return run

    def _execute(self, run_task: RunTask) -> None:
        live = run_task.live
        run_id = live.run.id
        self._live[run_id] = live
        self._leases.wake()
        task = asyncio.create_task(run_task.run(), name=f"task of run {run_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: self._live.pop(run_id, None))
        if self._on_run_change is not None:
            on_run_change = self._on_run_change
            on_run_change(live.run)
            task.add_done_callback(lambda _: on_run_change(live.run))
        if self._closing.is_set():  # the session was closed while the turn was being stored
            live.stop(Stop("interrupted", SHUTDOWN))

    async def check_budget(self, owner: str | None) -> None:
        """Raise a `BudgetError` if the budget of an owner is used up."""
        if self._totals is not None:
            await self._totals.check(owner)

    def meter(self, owner: str | None, model: str | None) -> RunMeter | None:
        """The meter for a run of an owner; `None` if there are no budgets."""
        return None if self._totals is None else RunMeter(self._totals, owner, model, self._clock)

    async def stop(self, run_id: str, reason: str | None = None, *, wait: bool = True) -> Run:
        """Stop a run of any process. With `wait`, return once it has ended.

        That takes at most the grace period of its agent; the run of a dead process ends when its lease
        expires. If the store or the process does not respond, the run is returned with the status `running`.
        Stopping a run that has ended does nothing.
        """
        live = await self._find_live(run_id)
        if live is not None:
            live.stop(Stop("cancelled", reason))
        else:
            with suppress(ConflictError):
                await self.store.runs.signal(run_id, {"kind": "stop", "reason": reason})
        if wait:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.wait(run_id), self._grace + self._lease + STOP_MARGIN)
        return await self._run(run_id)

    async def stop_unread(self, run_id: str, reason: str | None = None) -> Run:
        """Stop a run of any process unless a client reads it. Returns once it has ended or is being read.

        For clients that send the next message without the response so far: they have stopped reading.
        """
        live = await self._find_live(run_id)
        if live is not None:
            return (
                await self.stop(run_id, reason, wait=True) if await live.is_unread(DISCONNECT) else live.run
            )
        with suppress(ConflictError):
            await self.store.runs.signal(run_id, {"kind": "leave", "reason": reason})
            with suppress(TimeoutError):
                await asyncio.wait_for(self.wait(run_id), STOP_UNREAD_ELSEWHERE)
        return await self._run(run_id)

    async def wait(self, run_id: str) -> Run:
        """The run, once it has ended and its messages are stored."""
        live = await self._find_live(run_id)
        if live is not None:
            await live.ended.wait()
        else:
            async for _ in self.store.logs.follow(run_id, after=AFTER_ALL):
                pass
        return await self._run(run_id)

    async def follow(
        self,
        run_id: str,
        *,
        after: int = 0,
        everything: bool = False,
        idle: float | None = None,
        approvals: bool = False,
    ) -> AsyncGenerator[Sequence[StoredChunk], None]:
        """The chunks of a run after a number, as they are stored, until it ends.

        Notes of Partita and internal messages are left out, unless `everything` is requested. With `idle`, an
        empty sequence is yielded after about so many seconds without a chunk. With `approvals`, the note of
        who decided an approval, and when, is sent as metadata of the message.
        """
        live = await self._find_live(run_id)
        filter_ = ChunkFilter(approvals, everything=everything, mask=await self._mask(run_id, live))
        await filter_.catch_up(self.store, run_id, after)
        stream = (
            follow_stored(self.store, run_id, after, idle)
            if live is None
            else follow_live(self.store, live, after, idle)
        )
        async with aclosing(stream):
            async for chunks in stream:
                visible = filter_.apply(chunks)
                if visible or not chunks:
                    yield visible

    async def active_run(self, thread_id: str) -> Run | None:
        """The running run of a thread, if there is one."""
        return await self.store.runs.active(thread_id)

    async def last_seq(self, run_id: str) -> int:
        """The number of the last entry of a run's log so far."""
        live = await self._find_live(run_id)
        return live.last_seq if live else (await self.store.read(status_of, run_id)).last_seq

    async def progress(self, run: Run) -> RunProgress:
        """The messages of a run of any process so far."""
        live = await self._find_live(run.id)
        if live is not None and live.ready.is_set() and not live.unstored:
            found = RunProgress(live.fold.snapshot(), live.last_seq)
        else:
            found = await run_progress(self.store, run)
        return self.view(found)

    def awaiting_approval(self) -> frozenset[str]:
        """The ids of the runs of this process that wait for an approval."""
        return frozenset(run_id for run_id, live in self._live.items() if live.approvals.is_waiting)

    async def add_approval_response(self, thread_id: str, response: ApprovalResponse) -> None:
        """Approve or deny a call that needs approval, whether its run still waits for it or has ended."""
        await self._replies.submit(thread_id, response)

    async def add_tool_output(
        self,
        thread_id: str,
        tool_call_id: str,
        output: ToolOutput,
        *,
        tool_name: str | None = None,
        input: Json | UnsetType = UNSET,
        server_tools: frozenset[str] = frozenset(),
    ) -> None:
        """Add the output of a call that the client ran. `tool_name` and `input` must match the stored call.

        Calls of `server_tools` are refused. Once no call of the message is pending, a turn without input
        continues it.
        """
        reply = ClientOutput(tool_call_id, output, tool_name, input, server_tools, public=self._masks_errors)
        await self._replies.submit(thread_id, reply)

    async def _find_live(self, run_id: str) -> LiveRun | None:
        """The run, if it is active in this process and belongs to the owner of this session."""
        live, owner = self._live.get(run_id), self.store.owner
        if live is None or owner is None or owner == live.owner:
            return live
        if live.owner is not None:
            return None  # a run of another owner with the same id
        await self._run(run_id)
        return live

    async def _run(self, run_id: str) -> Run:
        run = await self.get_run(run_id)
        if run is None:
            raise NotFoundError(f"no run {run_id!r}", hint="it may belong to another owner")
        return run

    async def get_run(self, run_id: str) -> Run | None:
        """The run, or `None`."""
        run = await self.store.runs.get(run_id)
        return self.view(run)

    async def _mask(self, run_id: str, live: LiveRun | None) -> ErrorMask | None:
        """The mask for the errors of a run, if this session masks errors."""
        if not self._masks_errors:
            return None
        run = live.run if live is not None else await self._run(run_id)
        return ErrorMask(run.id, run.message_id or run.id)

    def _on_signal(self, signal: Signal) -> None:
        """Handle a signal of another process for a run of this one."""
        live, fields = self._live.get(signal.run_id), signal.signal
        if live is None:
            return
        reason = fields.get("reason")
        stop = Stop("cancelled", reason if isinstance(reason, str) else None)
        match fields.get("kind"):
            case "stop":
                live.stop(stop)
            case "leave":
                live.start_background(_stop_if_unread(live, stop))
            case _:
                self._replies.receive(live, fields)


async def _stop_if_unread(live: LiveRun, stop: Stop) -> None:
    if await live.is_unread(DISCONNECT):
        live.stop(stop)


async def _ensure_thread(store: Store, thread_id: str, agent: str) -> None:
    if await store.threads.get(thread_id) is None:
        with suppress(ConflictError):  # another process was faster
            await store.threads.create(thread_id, agent=agent)
