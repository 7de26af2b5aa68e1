"""The store's ledger of what models consumed, and statistics of everything."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from partita.store import consumptions, stats
from partita.store.stats import StatFilter
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
    ) -> tuple[Stat, ...]:
        """Statistics by one or two things: periods in their order, within them the most expensive first.

        Days begin at midnight in `zone`. `until` itself is outside.
        """
        wanted = StatFilter(
            since=since, until=until, agent=agent, project=project, model=model, thread_id=thread_id
        )
        return await self.read(stats.stats, (by,) if isinstance(by, str) else by, wanted, zone)
