"""The runs of a session while it is read: their lines, and what they consumed."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from partita.formats.log.sink import Consumption
from partita.formats.log.thread_builder import Turn
from partita.logs.log_reader import Batch, RawLine
from partita.logs.pricing.prices import price_of
from partita.store.bulk.rows import RunRows, pack_run
from partita.store.runs.rows import ACTIVE_UNTIL
from partita.store.values import ConsumptionRecord
from partita.types.json import JsonObject
from partita.types.threads import Run, RunStatus
from partita.types.usage import add_usages

MAX_TOKENS: Final = 2**62


class _RunBuilder:
    """One run."""

    def __init__(self, run_id: str, stored: int) -> None:
        self.id = run_id
        self.stored = stored  # how many of its lines were stored before
        self.read = 0  # how many were read
        self.packed = 0  # how many were packed
        self.lines: list[tuple[datetime | None, bytes]] = []
        self.consumptions: dict[str, Consumption] = {}
        self.turn: Turn | None = None
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.last_content: datetime | None = None  # of the lines that are part of messages

    def add(self, line: RawLine) -> None:
        """Add a line; those that are stored are only counted."""
        self.read += 1
        if self.read > self.stored:
            self.lines.append((line.time, line.raw))
        time = line.time
        if time is None:
            return
        if line.has_content and (self.last_content is None or time > self.last_content):
            self.last_content = time
        if time != self.last:
            if self.last is None or time > self.last:
                self.last = time
            if self.first is None or time < self.first:
                self.first = time


class RunsBuilder:
    """The runs of a session."""

    def __init__(self, thread_id: str, agent: str, metadata: JsonObject, stored: dict[str, int]) -> None:
        """`metadata`: of each run; `stored`: how many lines of runs were stored before."""
        self._thread_id = thread_id
        self._agent = agent
        self._metadata = metadata
        self._stored = stored
        self._runs: dict[str, _RunBuilder] = {}

    def add(self, batch: Batch) -> None:
        """Add the lines, the consumption and the turns of a batch."""
        for line in batch.lines:
            self._run(line.run_id).add(line)
        for consumption in batch.consumptions:
            self._run(consumption.run_id or "").consumptions[consumption.key] = consumption
        for turn in batch.turns:
            self._run(turn.id).turn = turn

    def lines_of(self, run_id: str) -> int:
        """How many lines of a run are known."""
        run = self._runs.get(run_id)
        return 0 if run is None else max(run.read, run.stored)

    def take(self, *, last: str | None, active_until: datetime | None) -> list[RunRows]:
        """Runs with the lines since the last call. `last`: the run that may get more of them.

        It is active until a time, unless its log says that it has ended.
        """
        rows: list[RunRows] = []
        for run in list(self._runs.values()):
            if run.lines or run.turn is not None or run.consumptions:
                rows.append(self._rows(run, active_until if run.id == last else None))
            if run.id != last:
                del self._runs[run.id]
        return rows

    def _run(self, run_id: str) -> _RunBuilder:
        run = self._runs.get(run_id)
        if run is None:
            run = self._runs[run_id] = _RunBuilder(run_id, self._stored.get(run_id, 0))
        return run

    def _rows(self, builder: _RunBuilder, active_until: datetime | None) -> RunRows:
        packed = max(builder.stored, builder.packed)
        lines, builder.lines = builder.lines, []
        builder.packed = packed + len(lines)
        return pack_run(self._build(builder, active_until), packed + 1, lines)

    def _build(self, builder: _RunBuilder, active_until: datetime | None) -> Run:
        turn, used = builder.turn, list(builder.consumptions.values())
        models = Counter(one.model for one in used if one.model)
        prices: JsonObject = {}
        cost: float | None = None
        for one in used:
            amount, price = _priced(one)
            if amount is not None:
                cost = amount + (cost or 0.0)
            if price is not None:
                prices[one.model or ""] = price
        status: RunStatus = "completed"
        metadata = self._metadata
        if turn is not None and turn.end is not None:
            status = turn.end
        elif active_until is not None:
            status = "running"
            metadata = {
                **metadata,
                "log": {**metadata.get("log", {}), ACTIVE_UNTIL: active_until.isoformat()},
            }
        return Run(
            id=builder.id,
            thread_id=self._thread_id,
            status=status,
            agent=self._agent,
            model=models.most_common(1)[0][0] if models else None,
            usage=add_usages([one.usage for one in used]) if used else None,
            cost=cost,
            error=None if turn is None else turn.error,
            metadata={**metadata, **({"prices": prices} if prices else {})},
            created_at=builder.first,
            started_at=builder.first,
            finished_at=None if status == "running" else builder.last_content or builder.last,
        )


def _priced(one: Consumption) -> tuple[float | None, JsonObject | None]:
    """The cost of a response, and the rates: those of its day, or the cost in the log."""
    found = price_of(one.model, one.provider, one.usage, one.time)
    if found is not None:
        return found.cost, found.snapshot
    return (one.cost, {"source": "log"}) if one.cost is not None else (None, None)


def consumption_records(consumptions: Iterable[Consumption], thread_id: str) -> list[ConsumptionRecord]:
    """Consumptions as the ledger stores them."""
    records: list[ConsumptionRecord] = []
    for one in consumptions:
        cost, price = _priced(one)
        usage = one.usage
        records.append(
            ConsumptionRecord(
                thread_id=thread_id,
                key=one.key,
                message_id=one.message_id,
                run_id=one.run_id,
                provider=one.provider,
                model=one.model,
                time=one.time,
                input_tokens=_count(usage.input_tokens),
                cached_input_tokens=_count(usage.cached_input_tokens),
                cache_write_tokens=_count(usage.cache_write_tokens),
                output_tokens=_count(usage.output_tokens),
                reasoning_tokens=_count(usage.reasoning_tokens),
                cost=cost,
                price=price,
            )
        )
    return records


def _count(tokens: int | None) -> int:
    """A number of tokens that the ledger accepts; a damaged log may have any."""
    return min(max(tokens or 0, 0), MAX_TOKENS)
