"""The store's runs and their logs."""

from asyncio import Future
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Concatenate, Literal, ParamSpec

from msgspec import UNSET, UnsetType

from partita.errors import NotFoundError
from partita.store import runs
from partita.store.endings import with_timings
from partita.store.ids import new_id
from partita.store.log import retention, run_log, sealing
from partita.store.log.following import follow
from partita.store.log.retention import Retention, RetentionReport
from partita.store.log.run_log import LogEntry, LogRecord
from partita.store.log.sealing import SealReport
from partita.store.transaction import Transaction
from partita.store.values import Page
from partita.types.json import Json, JsonObject
from partita.types.runs import Run, RunStatus
from partita.types.usage import Usage

from .facade import Facade, at_least_one

P = ParamSpec("P")


class RunStore(Facade):
    """Runs: opened, held, ended; their logs appended to, read, followed, sealed, dropped."""

    async def open_run(
        self,
        thread_id: str,
        *,
        id: str | None = None,
        status: Literal["pending", "running"] = "running",
        message_id: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        metadata: JsonObject | None = None,
        resource_id: str | None = None,
        lease_owner: str | None = None,
        lease_seconds: float | None = None,
    ) -> Run:
        """A new run of a thread, held by `lease_owner` for so many seconds if one is named."""
        run = Run(
            id=new_id() if id is None else id,
            thread_id=thread_id,
            status=status,
            message_id=message_id,
            agent=agent,
            model=model,
            metadata=metadata,
        )
        return await self.write(
            runs.open_run,
            run,
            resource_id=resource_id,
            lease_owner=lease_owner,
            lease_seconds=lease_seconds,
        )

    async def get_run(self, run_id: str) -> Run | None:
        """The run of that id, or `None`."""
        try:
            return await self.read(runs.get_run, run_id)
        except NotFoundError:
            return None

    async def list_runs(
        self,
        *,
        thread_id: str | None = None,
        status: Sequence[RunStatus] = (),
        agent: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Run]:
        """Runs, newest first."""
        return await self.read(
            runs.list_runs,
            thread_id=thread_id,
            status=status,
            agent=agent,
            limit=at_least_one(limit),
            cursor=cursor,
        )

    async def active_run(self, thread_id: str) -> Run | None:
        """The run at work in a thread, if there is one."""
        return await self.read(runs.running, thread_id)

    async def save_run(self, run: Run) -> Run:
        """Change what a run says of itself; how it ends is told by `finish_run` and its siblings."""
        return await self.write(runs.save_run, run)

    async def append(self, run_id: str, entries: Sequence[LogEntry]) -> int:
        """Add to a run's log; gives the number of the last entry, once all are durable."""
        return await self.appender.append(self.owner, run_id, entries)

    def submit(self, run_id: str, entries: Sequence[LogEntry]) -> Future[int]:
        """Add to a log without waiting for what was added before; the future says when it is durable."""
        return self.appender.submit(self.owner, run_id, entries)

    async def read_log(self, run_id: str, *, after: int = 0, limit: int | None = None) -> Sequence[LogRecord]:
        """What a run's log holds after a number."""
        return await self.read(run_log.read_log, run_id, after=after, limit=limit)

    def follow(
        self, run_id: str, *, after: int = 0, idle: float | None = None
    ) -> AsyncIterator[Sequence[LogRecord]]:
        """What a run's log holds after a number, then what comes, from whichever process, until it ends.

        With `idle`, nothing is given whenever nothing has come for about so many seconds.
        """
        return follow(self.engine, self.owner, run_id, after=after, idle=idle)

    async def finish_run(
        self,
        run_id: str,
        *,
        usage: Usage | None = None,
        cost: float | None = None,
        message_id: str | None = None,
        agent_result: Json | UnsetType = UNSET,
    ) -> Run:
        """The run has done its work. `agent_result` is any JSON value that the agent returned."""
        return await self._end(
            runs.finish_run,
            run_id,
            usage=usage,
            cost=cost,
            message_id=message_id,
            agent_result=agent_result,
        )

    async def fail_run(
        self,
        run_id: str,
        error: str,
        *,
        usage: Usage | None = None,
        cost: float | None = None,
        message_id: str | None = None,
    ) -> Run:
        """The run has failed, and why."""
        return await self._end(runs.fail_run, run_id, error, usage=usage, cost=cost, message_id=message_id)

    async def cancel_run(self, run_id: str, reason: str | None = None) -> Run:
        """Someone stopped the run."""
        return await self._end(runs.cancel_run, run_id, reason)

    async def interrupt_run(self, run_id: str, reason: str) -> Run:
        """The run's owner went away."""
        return await self._end(runs.interrupt_run, run_id, reason)

    async def _end(
        self,
        end: Callable[Concatenate[Transaction, str, P], Run],
        run_id: str,
        *args: P.args,
        **said: P.kwargs,
    ) -> Run:
        run = await self.write(with_timings, end, run_id, *args, **said)
        self.appender.forget(self.owner, run_id)
        self.engine.tell(run_id)  # those who follow it are done
        return run

    async def heartbeat(self, run_id: str, lease_owner: str, seconds: float) -> Run:
        """The run's owner is alive: hold the run for so many seconds more."""
        return await self.write(runs.heartbeat, run_id, lease_owner, seconds)

    async def take_lease(self, run_id: str, lease_owner: str, seconds: float) -> Run:
        """Take a run that nobody holds, or whose owner's time is up."""
        return await self.write(runs.take_lease, run_id, lease_owner, seconds)

    async def release_lease(self, run_id: str, lease_owner: str) -> Run:
        """Let go of a run."""
        return await self.write(runs.release_lease, run_id, lease_owner)

    async def abandoned_runs(self, *, limit: int = 100) -> Sequence[Run]:
        """Runs at work whose owner's time is up."""
        return await self.read(runs.abandoned_runs, limit=limit)

    async def seal_run(self, run_id: str) -> SealReport:
        """Rewrite the log of a run that has ended as compressed blocks; every byte stays."""
        return await self.write(with_timings, sealing.seal_run, run_id)

    async def seal_runs(self, *, limit: int = 100) -> Sequence[SealReport]:
        """Seal runs that have ended and are not sealed yet, one transaction each."""
        waiting = await self.read(sealing.runs_to_seal, limit)
        return [await self.seal_run(run_id) for run_id in waiting]

    async def drop_logs(
        self, policy: Retention, *, dry_run: bool = False, limit: int = 1000
    ) -> RetentionReport:
        """Drop raw logs of ended runs by age or size; messages stay. Nothing is dropped unless asked."""
        return await self.write(retention.drop_logs, policy, dry_run=dry_run, limit=limit)
