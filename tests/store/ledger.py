"""A ledger in plain Python, to compare with that of the store; and records for both."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.usage import COUNTS
from partita.store.values import ConsumptionRecord, UsageTotals

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def record_of(
    thread: str, key: str, output: int = 10, *, minute: int = 0, **fields: Any
) -> ConsumptionRecord:
    """A record of a response, so many minutes after noon."""
    usual: dict[str, Any] = {"input_tokens": 100, "time": NOON + timedelta(minutes=minute)}
    return ConsumptionRecord(thread_id=thread, key=key, output_tokens=output, **usual | fields)


def sums(records: Iterable[ConsumptionRecord]) -> UsageTotals:
    """The totals of records."""
    every = list(records)
    costs = [one.cost for one in every if one.cost is not None]
    counts: dict[str, Any] = {name: sum(getattr(one, name) for one in every) for name in COUNTS}
    return UsageTotals(
        responses=len(every),
        cost=sum(costs) if costs else None,
        unpriced=len(every) - len(costs),
        **counts,
    )


class NaiveLedger:
    """Every rule of the ledger, implemented one by one and slowly."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], ConsumptionRecord] = {}
        self.counted: dict[str, str] = {}  # the thread, by the key of the response

    def record(self, batch: Sequence[ConsumptionRecord]) -> None:
        """Write records one by one."""
        for one in batch:
            known = self.rows.get((one.thread_id, one.key))
            if known is None or one.output_tokens >= known.output_tokens:
                self.rows[one.thread_id, one.key] = one
            self.counted.setdefault(one.key, one.thread_id)
        self._settle()

    def delete(self, thread: str) -> None:
        """Delete a thread."""
        self.rows = {place: one for place, one in self.rows.items() if one.thread_id != thread}
        self._settle()

    def clone(self, thread: str, copy: str) -> None:
        """Copy a thread."""
        for one in [one for one in self.rows.values() if one.thread_id == thread]:
            self.rows[copy, one.key] = replace(one, thread_id=copy)

    def _settle(self) -> None:
        by_key: dict[str, list[ConsumptionRecord]] = {}
        for one in self.rows.values():
            by_key.setdefault(one.key, []).append(one)
        self.counted = {key: min(rows, key=self._place).thread_id for key, rows in by_key.items()}

    def _place(self, one: ConsumptionRecord) -> tuple[Any, ...]:
        first = self.counted.get(one.key) == one.thread_id
        return (-one.output_tokens, one.time, not first, one.thread_id)

    def total(self) -> UsageTotals:
        """The totals of all responses."""
        return sums(self.rows[thread, key] for key, thread in self.counted.items())

    def of_thread(self, thread: str) -> UsageTotals:
        """The totals of the responses of a thread."""
        return sums(one for one in self.rows.values() if one.thread_id == thread)


async def counted(store: Store) -> dict[str, str]:
    """The threads in which responses are counted, by key. Counting one twice is an error."""

    def work(tx: Transaction) -> dict[str, str]:
        rows = tx.sql(
            "SELECT key, thread_id FROM consumptions WHERE counted AND (? OR owner = ?)",
            (store.owner is None, store.owner or ""),
        ).all()
        found = {row.key: row.thread_id for row in rows}
        assert len(found) == len(rows)
        return found

    return await store.read(work)
