"""The work on one run: wait for its turn, call the agent, take what it says, end it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from partita.errors import ConflictError, StoreError, UnavailableError
from partita.runtime.budgets import Meter
from partita.runtime.failures import CURRENT, OnError, RunFailures, described, public_text
from partita.runtime.folding import RunFold
from partita.runtime.log_context import get_logger, set_log_fields
from partita.runtime.plugged.agent_request import AgentRequest
from partita.runtime.service import AgentService, Options
from partita.store.facade.store import Store
from partita.store.runs import AT_WORK
from partita.store.turns import Ending
from partita.types.messages import Message
from partita.types.runs import Run

from .agent_sessions import AgentSession, known_session
from .driver import Driver
from .live_run import LiveRun
from .recovery import end_by_log
from .run_counts import RunCounts
from .turn import Turn, check_turn, history_of, seed_of, up_to

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
    options: Options
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
                await self._fail(described(error))
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
        ending, run = Ending("failed", reason), self.live.run
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
            page = await store.list_messages(live.run.thread_id, limit=None, internal=None)
            history = up_to(page.items, live.run.thread_id, turn.after)
        options = replace(
            self.options,
            desk=live.desk,
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
            return await history_of(self.store, thread_id, after)
        return up_to(self.history, thread_id, after)

    async def _wait_in_line(self) -> bool:
        """Wait until the run may begin; whether it has not been stopped before that."""
        store, live = self.store, self.live
        while not live.stopped.done():
            ahead = await self._ahead()
            if live.stopped.done():  # meanwhile, and perhaps with the one ahead
                break
            begun = None if ahead else await store.begin_queued(live.run.id)
            if begun is not None:
                live.run = begun
                return begun.status == "running"
            await live.unless_stopped(asyncio.create_task(self._wait_for(ahead or live.run)))
        await self._give_up()
        return False

    async def _ahead(self) -> Run | None:
        """The run to wait for: the one at work, or else the one before this in line."""
        page = await self.store.list_runs(
            thread_id=self.live.run.thread_id, status=AT_WORK, limit=LONGEST_LINE
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
            run = await self.store.get_run(ahead.id)
            if run is not None and run.finished_at is None:
                await news.wait(LOOK_AGAIN)
                await asyncio.sleep(BREATH)  # all that it says is news

    async def _give_up(self) -> None:
        """End a run that never began; what it would have begun with is stored all the same."""
        status, reason = self.live.stopped.result()
        with suppress(ConflictError):
            await self.store.end_queued(self.live.run.id, status, reason)
