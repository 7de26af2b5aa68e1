"""The work on one run: wait for its turn, call the agent, take what it says, end it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from partita.errors import ConflictError, StoreError
from partita.logs.pricing.prices import price_of
from partita.runtime.folding import RunFold
from partita.runtime.service import AgentService, Options
from partita.store.facade.store import Store
from partita.types.usage import Usage

from .agent_sessions import known_session, note_session
from .driver import Driver
from .live_run import LiveRun
from .turn import Turn, history_of, seed_of

LOOK_AGAIN: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A run and all that is needed to work on it."""

    store: Store
    live: LiveRun
    agent: AgentService
    turn: Turn
    cwd: Path | None
    session_id: str | None
    options: Options
    clock: Callable[[], datetime]
    grace: float

    async def do(self) -> None:
        """Do the work. However it goes, the run has ended when this returns, unless the store is gone."""
        try:
            if self.live.run.status == "running" or await self._wait_in_line():
                await self._answer()
        except Exception as error:  # whatever it is, the run must not stay at work
            with suppress(StoreError):
                await self.store.fail_run(self.live.run.id, f"{type(error).__name__}: {error}")
        finally:
            self.live.end()

    async def _answer(self) -> None:
        store, live, turn = self.store, self.live, self.turn
        history = await history_of(store, live.run.thread_id, turn.after)
        seed = seed_of(history, turn.message_id)
        live.fold = RunFold(turn.message_id, run_id=live.run.id, seed=seed)
        parent_id = history[-1].id if history and seed is None else None
        driver = Driver(store, live, self.clock, parent_id=parent_id, grace=self.grace, priced=self._price)
        events = self.agent.invoke(
            history,
            cwd=self.cwd,
            session_id=self.session_id or await known_session(store, live.run),
            options=replace(
                self.options,
                desk=live.desk,
                thread_id=live.run.thread_id,
                run_id=live.run.id,
                message_id=turn.message_id,
            ),
        )
        await driver.run(events)
        await note_session(store, live.run, driver.result)

    async def _wait_in_line(self) -> bool:
        """Wait until the run may begin; whether it has not been stopped before that."""
        store, live = self.store, self.live
        while not live.stopped.done():
            page = await store.list_runs(thread_id=live.run.thread_id, status=("running",), limit=1)
            with store.engine.listen(page.items[0].id if page.items else live.run.id) as news:
                begun = await store.begin_queued(live.run.id)
                if begun is not None:
                    live.run = begun
                    return begun.status == "running"
                waiting = asyncio.create_task(news.wait(LOOK_AGAIN))
                await live.unless_stopped(waiting)
        await self._give_up()
        return False

    async def _give_up(self) -> None:
        """End a run that never began; what it would have begun with is stored all the same."""
        status, reason = self.live.stopped.result()
        with suppress(ConflictError):
            await self.store.end_queued(self.live.run.id, status, reason)

    def _price(self, model: str | None, usage: Usage | None) -> float | None:
        priced = None if usage is None else price_of(model, None, usage, self.clock())
        return None if priced is None else priced.cost
