"""`store.logs`: the logs of runs."""

from asyncio import Future
from collections.abc import AsyncIterator, Sequence

from partita.store.context import Namespace, StoreContext

from . import maintenance, run_log
from .appender import Appender
from .maintenance import Retention, RetentionReport, SealReport
from .run_log import LogEntry, LogRecord
from .timings import with_timings


class Logs(Namespace):
    """Append to, read, follow, seal and drop the logs of runs."""

    def __init__(self, context: StoreContext, appender: Appender) -> None:
        super().__init__(context)
        self._appender = appender

    async def append(self, run_id: str, entries: Sequence[LogEntry]) -> int:
        """Append entries and return the number of the last one, once all are durable."""
        return await self._appender.append(self._context.owner, run_id, entries)

    def submit(self, run_id: str, entries: Sequence[LogEntry]) -> Future[int]:
        """Append entries without waiting. The future is done when they are durable."""
        return self._appender.submit(self._context.owner, run_id, entries)

    async def read(self, run_id: str, *, after: int = 0, limit: int | None = None) -> Sequence[LogRecord]:
        """The entries after a number."""
        return await self._read(run_log.read_log, run_id, after=after, limit=limit)

    def follow(
        self, run_id: str, *, after: int = 0, idle: float | None = None
    ) -> AsyncIterator[Sequence[LogRecord]]:
        """The entries after a number, and those that any process appends later, until the run ends.

        With `idle`, an empty sequence is yielded after about so many seconds without an entry.
        """
        return run_log.follow(self._context.engine, self._context.owner, run_id, after=after, idle=idle)

    async def seal(self, run_id: str) -> SealReport:
        """Rewrite the log of an ended run as compressed blocks, without loss."""
        return await self._write(with_timings, maintenance.seal_run, run_id)

    async def seal_ended(self, *, limit: int = 100) -> Sequence[SealReport]:
        """Seal the logs of ended runs, one transaction each."""
        waiting = await self._read(maintenance.runs_to_seal, limit)
        return [await self.seal(run_id) for run_id in waiting]

    async def drop(self, policy: Retention, *, dry_run: bool = False, limit: int = 1000) -> RetentionReport:
        """Delete the logs of ended runs by age or size. Messages stay."""
        return await self._write(maintenance.drop_logs, policy, dry_run=dry_run, limit=limit)
