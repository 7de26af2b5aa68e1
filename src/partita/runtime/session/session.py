"""The session message service: runs agents for the threads of a store, so that nothing anyone saw is lost.

A run belongs to the service, not to whoever asked for it: a reader that goes away does not stop it, and any
number of readers, in any process, can follow it from any point.
"""

import asyncio
import copy
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final

from msgspec import UNSET, UnsetType

from partita.errors import ConflictError, NotFoundError, StoreError
from partita.runtime.folding import RunFold
from partita.runtime.service import AgentService, Options
from partita.store.facade.store import Store
from partita.store.ids import new_id
from partita.store.log.run_log import status_of
from partita.store.sessions.driven import AGENT_SESSION
from partita.store.turns import Busy, Signal
from partita.types.json import Json, JsonObject
from partita.types.runs import Run
from partita.types.tools import ToolOutput

from .approvals import Answer
from .client_outputs import ClientOutput
from .driver import GRACE
from .following import follow_live, follow_stored
from .keeper import Keeper
from .live_run import LiveRun, Seen, Stop
from .recovery import AFTER, SoFar, so_far
from .replies import Replies
from .showing import Showing
from .turn import Input, turn_of
from .work import Work

LEASE: Final = 15.0
BEAT: Final = 1.0
SHUTDOWN: Final = "the service was shut down"
PAST_EVERYTHING: Final = 2**62


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
        watch: Callable[[Run], None] | None = None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        """`owner` names this process among those that share the store; it holds a run for `lease` seconds.

        An agent that is stopped has `grace` seconds to clean up. With `recover`, runs that other processes
        left behind are ended, at the start and from time to time. `watch` sees every run of this process
        when it begins, and when it has ended.
        """
        self.store = store
        self.owner = owner or new_id()
        self._lease = lease
        self._grace = grace
        self._clock = clock
        self._watch = watch
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
        )
        self._closing = asyncio.Event()

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

    async def close(self, reason: str = SHUTDOWN) -> None:
        """Stop all runs of this process, as interrupted, and let go of them. The store stays open."""
        self._closing.set()
        for live in self._live.values():
            live.stop(Stop("interrupted", reason))
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._keeper.close()

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
        options: Options | None = None,
        resource_id: str | None = None,
        metadata: JsonObject | None = None,
    ) -> Run:
        """Begin a turn of a thread, which is made if there is none, and return once it is stored.

        While the thread has a run at work this is a `BusyError`; with `busy="queue"` the turn waits for it.
        With `after`, what stands behind that message is left aside: a new branch begins there. With `fresh`,
        an input that is there already is a `ConflictError`.
        """
        if self._closing.is_set():
            raise StoreError("the session is closed", hint="open another one")
        self._keeper.start()
        store = self.store if resource_id is None else self.store.scoped(resource_id)
        if not input:
            await _ensure_thread(store, thread_id, agent.name)
        turn = await turn_of(store, thread_id, input, after)
        how = options or Options()
        if turn.after is not None:
            metadata = {**(metadata or {}), AFTER: turn.after}
        begun = await store.start_turn(
            thread_id,
            turn.messages,
            busy=busy,
            message_id=turn.message_id,
            agent=agent.name,
            model=how.model or getattr(agent, "model", None),
            metadata=metadata,
            recall=None if session_id else AGENT_SESSION,
            fresh=fresh,
            lease_owner=self.owner,
            lease_seconds=self._lease,
        )
        run = begun.run
        live = LiveRun(run, RunFold(turn.message_id, run_id=run.id), store.owner)
        work = Work(
            store=store,
            live=live,
            agent=agent,
            turn=turn,
            history=begun.history,
            cwd=cwd,
            session_id=session_id or begun.recalled,
            options=how,
            clock=self._clock,
            grace=self._grace,
            closing=self._closing,
        )
        self._begin(work)
        return run

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

        To stop what has ended is harmless, so a stop that comes late never hits another run.
        """
        live = await self._at_hand(run_id)
        if live is not None:
            live.stop(Stop("cancelled", reason))
            if wait:
                await live.over.wait()
        else:
            with suppress(ConflictError):
                await self.store.signal_run(run_id, {"kind": "stop", "reason": reason})
                if wait:
                    await self.wait(run_id)
        return await self._run(run_id)

    async def wait(self, run_id: str) -> Run:
        """The run, once it has ended and its messages are stored."""
        live = await self._at_hand(run_id)
        if live is not None:
            await live.over.wait()
        else:
            async for _ in self.store.follow(run_id, after=PAST_EVERYTHING):
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
    ) -> AsyncGenerator[Sequence[Seen], None]:
        """The chunks of a run after a number: what is stored, then what comes, until it ends.

        Our own notes in the log, and internal messages, are left out unless everything is asked for. With
        `idle`, nothing is given whenever nothing has come for about so many seconds. With `approvals`, who
        answered an approval, and when, is given as metadata of the message.
        """
        showing = Showing(approvals) if everything else await Showing.at(self.store, run_id, after, approvals)
        live = await self._at_hand(run_id)
        stream = (
            follow_stored(self.store, run_id, after, idle)
            if live is None
            else follow_live(self.store, live, after, idle)
        )
        async with aclosing(stream):
            async for seen in stream:
                shown = seen if everything else showing.of(seen)
                if shown or not seen:
                    yield shown

    async def active_run(self, thread_id: str) -> Run | None:
        """The run at work in a thread, if there is one."""
        return await self.store.active_run(thread_id)

    async def last_seq(self, run_id: str) -> int:
        """The number of the last entry of a run's log, so far."""
        live = await self._at_hand(run_id)
        return live.last_seq if live else (await self.store.read(status_of, run_id)).last_seq

    async def so_far(self, run: Run) -> SoFar:
        """The messages that a run has produced until now, in whichever process it works."""
        live = await self._at_hand(run.id)
        if live is not None and live.ready.is_set() and not live.unstored:
            return SoFar(live.fold.snapshot(), live.last_seq)
        return await so_far(self.store, run)

    def asking(self) -> frozenset[str]:
        """The runs of this process that wait for somebody to allow a call."""
        return frozenset(run_id for run_id, live in self._live.items() if live.desk.is_asked)

    async def answer(self, thread_id: str, answer: Answer) -> None:
        """Allow or refuse a call that asked, whether its run waits for it or has long ended."""
        await self._replies.give(thread_id, answer)

    async def give_output(
        self,
        thread_id: str,
        tool_call_id: str,
        output: ToolOutput,
        *,
        tool_name: str | None = None,
        input: Json | UnsetType = UNSET,
    ) -> None:
        """Give the output of a call that the client has run. What is shown of it must be what is stored.

        Once no call of the message waits any more, a turn without input goes on with it.
        """
        await self._replies.give(thread_id, ClientOutput(tool_call_id, output, tool_name, input))

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
        run = await self.store.get_run(run_id)
        if run is None:
            raise NotFoundError(f"no run {run_id!r}", hint="it may belong to another owner")
        return run

    def _hear(self, signal: Signal) -> None:
        """Take up what another process wants of a run of ours."""
        live, wanted = self._live.get(signal.run_id), signal.signal
        reason = wanted.get("reason")
        if live is not None and wanted.get("kind") == "stop":
            live.stop(Stop("cancelled", reason if isinstance(reason, str) else None))
        elif live is not None:
            self._replies.hear(live, wanted)


async def _ensure_thread(store: Store, thread_id: str, agent: str) -> None:
    if await store.get_thread_by_id(thread_id) is None:
        with suppress(ConflictError):  # another process was faster
            await store.create_thread(thread_id, agent=agent)
