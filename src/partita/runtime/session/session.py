"""The session message service: runs agents for the threads of a store, so that nothing anyone saw is lost.

A run belongs to the service, not to whoever asked for it: a reader that goes away does not stop it, and any
number of readers, in any process, can follow it from any point.
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
from partita.runtime.budgets import Budgets, Meter, OwnerTotals
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

from .client_replies import ApprovalResponse, ClientOutput, Replies
from .lease_renewer import Keeper
from .live_run import LiveRun, Stop, StoredChunk
from .recovery import AFTER, SoFar, new_lease_owner, so_far
from .run_stream import Showing, follow_live, follow_stored
from .run_task import GRACE, Work
from .turn import Input, turn_of

T = TypeVar("T")

LEASE: Final = 15.0
BEAT: Final = 1.0
SHUTDOWN: Final = "the service was shut down"
PAST_EVERYTHING: Final = 2**62

STOP_MARGIN: Final = 5.0
"""Seconds beyond the grace period and the lease in which a stop must have had its effect."""

LEAVE: Final = 0.5
"""Seconds in which the disconnect of a client that has left a run is noticed."""

LEAVE_ELSEWHERE: Final = 5.0
"""Seconds in which another process stops a run that its client has left."""

DRAIN_TICK: Final = 0.05
"""Seconds between two checks whether the runs of a session that closes can still complete."""


def _now() -> datetime:
    return datetime.now(UTC)


class Session:
    """Starts, follows, stops and recovers the runs of a store: `async with Session(store) as session`."""

    def __init__(
        self,
        store: Store,
        *,
        owner: str | None = None,
        lease: float = LEASE,
        beat: float = BEAT,
        grace: float = GRACE,
        recover: bool = True,
        budgets: Budgets | None = None,
        watch: Callable[[Run], None] | None = None,
        on_error: OnError | None = None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        """`owner` names this process among those that share the store; it holds a run for `lease` seconds.

        An agent that is stopped has `grace` seconds to clean up. With `recover`, runs that other processes
        left behind are ended, at the start and from time to time. `budgets` limit what runs may use. `watch`
        is called with every run of this process when it begins, and when it has ended. `on_error` chooses the
        error texts that end users see.
        """
        self.store = store
        self.owner = owner or new_lease_owner()
        self._lease = lease
        self._grace = grace
        self._clock = clock
        self._watch = watch
        self._on_error = on_error
        self._masks_errors = False
        self.counts = RunCounts()
        """Failures of the runs of this process."""
        self._live: dict[str, LiveRun] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._replies = Replies(store, self._live, clock)
        self._keeper = Keeper(
            store,
            self.owner,
            lease=lease,
            beat=beat,
            hear=self._hear,
            is_at_work=lambda: bool(self._live),
            recover=recover,
            counts=self.counts,
        )
        self._closing = asyncio.Event()
        self._totals = None if budgets is None else OwnerTotals(store, budgets)

    async def __aenter__(self) -> "Session":
        self._keeper.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def scoped(self, resource_id: str) -> "Session":
        """The same session for one owner: what belongs to others is not found. Close the whole one only."""
        own = copy.copy(self)
        own.store = self.store.scoped(resource_id)
        own._replies = Replies(own.store, self._live, self._clock)
        return own

    def with_masked_errors(self) -> "Session":
        """The same session for an end user: the text of exceptions is replaced by a reference.

        Agents and models still see the original. Close the whole session only.
        """
        own = copy.copy(self)
        own._masks_errors = True
        return own

    def view(self, value: T) -> T:
        """A value of the store as the caller may see it: an end user does not see the text of exceptions."""
        return mask_errors(value) if self._masks_errors else value

    def waiting(self) -> int:
        """How many runs of this process wait for another run of their thread."""
        return sum(live.run.status == "pending" for live in self._live.values())

    def working(self) -> int:
        """How many runs of this process have begun and not ended."""
        return len(self._live) - self.waiting()

    async def close(self, reason: str = SHUTDOWN, *, drain: float = 0.0, grace: float | None = None) -> None:
        """Stop all runs of this process, as interrupted, and release them. The store stays open.

        New runs are refused at once. Runs at work have `drain` seconds to complete, except those that wait
        for an approval or in line. Agents that are stopped then have `grace` seconds to clean up.
        """
        self._closing.set()
        await self._drain(drain)
        for live in self._live.values():
            live.stop(Stop("interrupted", reason))
            if grace is not None:
                asyncio.get_running_loop().call_later(grace, live.abandon)
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._keeper.close()
        if self._totals is not None:
            await self._totals.close()

    async def _drain(self, seconds: float) -> None:
        """Wait for the runs that can complete by themselves."""
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
        """Begin a turn of a thread, which is made if there is none, and return once it is stored.

        If a budget is used up this is a `BudgetError`. While the thread has a run at work this is a
        `BusyError`; with `busy="queue"` the turn waits for it.
        With `after`, what stands behind that message is left aside: a new branch begins there. With `fresh`,
        an input that is there already is a `ConflictError`, and so is always a `run_id` that is.
        """
        if self._closing.is_set():
            raise UnavailableError("the session is closed", hint="open another one, or ask again later")
        how = options or InvokeOptions()
        check_client_tools(agent, how.tools)
        self._keeper.start()
        store = self.store if resource_id is None else self.store.scoped(resource_id)
        await self.check_budget(store.owner)
        if not input:
            await _ensure_thread(store, thread_id, agent.name)
        turn = await turn_of(store.memory, thread_id, input, after)
        if turn.after is not None:
            metadata = {**(metadata or {}), AFTER: turn.after}
        begun = await store.runs.start_turn(
            thread_id,
            turn.messages,
            busy=busy,
            message_id=turn.message_id,
            agent=agent.name,
            model=how.model or getattr(agent, "model", None),
            metadata=metadata,
            recall=None if session_id else AGENT_SESSION,
            fresh=fresh,
            concurrent=None if self._totals is None else self._totals.budgets.concurrent_runs,
            id=run_id,
            lease_owner=self.owner,
            lease_seconds=self._lease,
        )
        run = begun.run
        on_client = client_tools(agent) | {tool.name for tool in how.tools}
        live = LiveRun(run, RunFold(turn.message_id, run_id=run.id), store.owner, on_client)
        work = Work(
            store=store,
            live=live,
            agent=agent,
            turn=turn,
            history=begun.history,
            cwd=cwd,
            session_id=session_id or begun.recalled,
            options=how,
            owner=begun.owner,
            meter=self.meter(begun.owner, run.model),
            clock=self._clock,
            grace=self._grace,
            closing=self._closing,
            counts=self.counts,
            on_error=self._on_error,
        )
        self._begin(work)
        return run

    async def check_budget(self, owner: str | None) -> None:
        """Raise a `BudgetError` if the budget of an owner is used up."""
        if self._totals is not None:
            await self._totals.check(owner)

    def meter(self, owner: str | None, model: str | None) -> Meter | None:
        """What counts the usage of a run of an owner, if there are budgets."""
        return None if self._totals is None else Meter(self._totals, owner, model, self._clock)

    def _begin(self, work: Work) -> None:
        run_id = work.live.run.id
        self._live[run_id] = work.live
        self._keeper.wake()
        task = asyncio.create_task(work.do(), name=f"work on run {run_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: self._live.pop(run_id, None))
        if self._watch is not None:
            watch = self._watch
            watch(work.live.run)
            task.add_done_callback(lambda _: watch(work.live.run))
        if self._closing.is_set():  # it was closed while the turn was stored
            work.live.stop(Stop("interrupted", SHUTDOWN))

    async def stop(self, run_id: str, reason: str | None = None, *, wait: bool = True) -> Run:
        """Stop a run, whichever process works on it; with `wait`, return once it has ended.

        That takes at most the grace period of its agent; a run whose process died ends when its lease does.
        If the run still has not ended then, because the store or its process does not respond, it is returned
        as it is: its status is `running`. Stopping a run that has ended does nothing.
        """
        live = await self._at_hand(run_id)
        if live is not None:
            live.stop(Stop("cancelled", reason))
        else:
            with suppress(ConflictError):
                await self.store.runs.signal(run_id, {"kind": "stop", "reason": reason})
        if wait:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.wait(run_id), self._grace + self._lease + STOP_MARGIN)
        return await self._run(run_id)

    async def leave(self, run_id: str, reason: str | None = None) -> Run:
        """Stop a run unless a client reads it in the process that works on it; return once that is settled.

        For a client that sends the next message and does not say what it has of the answer before.
        """
        live = await self._at_hand(run_id)
        if live is not None:
            return await self.stop(run_id, reason, wait=True) if await live.is_unread(LEAVE) else live.run
        with suppress(ConflictError):
            await self.store.runs.signal(run_id, {"kind": "leave", "reason": reason})
            with suppress(TimeoutError):
                await asyncio.wait_for(self.wait(run_id), LEAVE_ELSEWHERE)
        return await self._run(run_id)

    async def wait(self, run_id: str) -> Run:
        """The run, once it has ended and its messages are stored."""
        live = await self._at_hand(run_id)
        if live is not None:
            await live.over.wait()
        else:
            async for _ in self.store.logs.follow(run_id, after=PAST_EVERYTHING):
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
        """The chunks of a run after a number: what is stored, then what comes, until it ends.

        Our own notes in the log, and internal messages, are left out unless everything is asked for. With
        `idle`, nothing is given whenever nothing has come for about so many seconds. With `approvals`, who
        answered an approval, and when, is given as metadata of the message.
        """
        live = await self._at_hand(run_id)
        showing = Showing(approvals, everything=everything, mask=await self._mask(run_id, live))
        await showing.catch_up(self.store, run_id, after)
        stream = (
            follow_stored(self.store, run_id, after, idle)
            if live is None
            else follow_live(self.store, live, after, idle)
        )
        async with aclosing(stream):
            async for seen in stream:
                shown = showing.of(seen)
                if shown or not seen:
                    yield shown

    async def active_run(self, thread_id: str) -> Run | None:
        """The run at work in a thread, if there is one."""
        return await self.store.runs.active(thread_id)

    async def last_seq(self, run_id: str) -> int:
        """The number of the last entry of a run's log, so far."""
        live = await self._at_hand(run_id)
        return live.last_seq if live else (await self.store.read(status_of, run_id)).last_seq

    async def so_far(self, run: Run) -> SoFar:
        """The messages that a run has produced until now, in whichever process it works."""
        live = await self._at_hand(run.id)
        if live is not None and live.ready.is_set() and not live.unstored:
            found = SoFar(live.fold.snapshot(), live.last_seq)
        else:
            found = await so_far(self.store, run)
        return self.view(found)

    def asking(self) -> frozenset[str]:
        """The runs of this process that wait for somebody to allow a call."""
        return frozenset(run_id for run_id, live in self._live.items() if live.approvals.is_waiting)

    async def add_approval_response(self, thread_id: str, response: ApprovalResponse) -> None:
        """Approve or deny a call that needs approval, whether its run still waits for it or has ended."""
        await self._replies.give(thread_id, response)

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
        given = ClientOutput(tool_call_id, output, tool_name, input, server_tools, public=self._masks_errors)
        await self._replies.give(thread_id, given)

    async def _at_hand(self, run_id: str) -> LiveRun | None:
        """The run, if this process works on it and it is this owner's."""
        live, owner = self._live.get(run_id), self.store.owner
        if live is None or owner is None or owner == live.owner:
            return live
        if live.owner is not None:
            return None  # another owner's, under the same id
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
        """What replaces the errors in the chunks of a run, if this session does that."""
        if not self._masks_errors:
            return None
        run = live.run if live is not None else await self._run(run_id)
        return ErrorMask(run.id, run.message_id or run.id)

    def _hear(self, signal: Signal) -> None:
        """Take up what another process wants of a run of ours."""
        live, wanted = self._live.get(signal.run_id), signal.signal
        reason = wanted.get("reason")
        stop = Stop("cancelled", reason if isinstance(reason, str) else None)
        if live is not None and wanted.get("kind") == "stop":
            live.stop(stop)
        elif live is not None and wanted.get("kind") == "leave":
            live.background(_stop_if_unread(live, stop))
        elif live is not None:
            self._replies.hear(live, wanted)


async def _stop_if_unread(live: LiveRun, stop: Stop) -> None:
    if await live.is_unread(LEAVE):
        live.stop(stop)


async def _ensure_thread(store: Store, thread_id: str, agent: str) -> None:
    if await store.threads.get(thread_id) is None:
        with suppress(ConflictError):  # another process was faster
            await store.threads.create(thread_id, agent=agent)
