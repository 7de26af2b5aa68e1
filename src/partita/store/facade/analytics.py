"""The store's ledger of what models consumed, and statistics of everything."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from partita.store import consumptions, growth, run_stats, stats, thread_stats, tool_stats
from partita.store.growth import GrowthPoint
from partita.store.run_stats import RunOrder, RunStat
from partita.store.stat_sources import StatFilter
from partita.store.thread_stats import ThreadOrder, ThreadStat
from partita.store.tool_stats import ToolStat
from partita.store.values import By, ConsumptionRecord, Stat, UsageTotals

from .facade import Facade


class AnalyticsStore(Facade):
    """What responses of models consumed: recorded, added up."""

    async def record_consumptions(
        self, records: Sequence[ConsumptionRecord], *, resource_id: str | None = None
    ) -> None:
        """Write what responses consumed, all or none.

        Told again in its thread, the word with more output tokens counts, or else the later one. Told in
        several threads, a response counts once in all totals.
        """
        await self.write(consumptions.record, records, resource_id)

    async def usage_of_thread(self, thread_id: str) -> UsageTotals:
        """What all responses of a thread consumed, those that it shares with other threads included."""
        return await self.read(stats.of_thread, thread_id)

    async def stats(
        self,
        *,
        by: By | Sequence[By] = "total",
        since: datetime | None = None,
        until: datetime | None = None,
        agent: str | None = None,
        project: str | None = None,
        model: str | None = None,
        thread_id: str | None = None,
        zone: tzinfo = UTC,
        with_ids: bool = False,
    ) -> tuple[Stat, ...]:
        """Statistics by one or two things: periods in their order, within them the most expensive first.

        Days begin at midnight in `zone`. `until` itself is outside. With ids, rows of few threads name them.
        """
        wanted = StatFilter(
            since=since, until=until, agent=agent, project=project, model=model, thread_id=thread_id
        )
        asked = (by,) if isinstance(by, str) else by
        return await self.read(stats.stats, asked, wanted, zone, with_ids=with_ids)

    async def tool_stats(self, wanted: StatFilter | None = None) -> tuple[ToolStat, ...]:
        """Every tool that was called, the most called first: how it went, and how long it took."""
        return await self.read(tool_stats.tool_stats, wanted or StatFilter())

    async def run_stats(
        self,
        wanted: StatFilter | None = None,
        *,
        order: RunOrder = "cost",
        limit: int = 20,
    ) -> tuple[RunStat, ...]:
        """The runs that took most money, time or tokens."""
        return await self.read(run_stats.run_stats, order, wanted or StatFilter(), limit)

    async def thread_stats(
        self,
        wanted: StatFilter | None = None,
        *,
        order: ThreadOrder = "cost",
        limit: int = 20,
    ) -> tuple[ThreadStat, ...]:
        """The threads that took most money or tokens, or have most errors or messages."""
        return await self.read(thread_stats.thread_stats, order, wanted or StatFilter(), limit)

    async def growth_of_thread(self, thread_id: str) -> tuple[GrowthPoint, ...]:
        """How the context of a thread grew, response by response."""
        return await self.read(growth.growth, thread_id)
