"""The runs of a session while it is read: their lines, and what they consumed."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from partita.formats.log.sink import Consumption
from partita.formats.log.thread_builder import Turn
from partita.formats.usages import add_usages
from partita.logs.pricing.prices import price_of
from partita.logs.reading import Batch, RawLine
from partita.store.sessions.rows import RunRows, pack_run
from partita.store.values import ConsumptionRecord
from partita.types.json import JsonObject
from partita.types.runs import Run, RunStatus

MOST_TOKENS = 2**62


class Book:
    """One run."""

    def __init__(self, run_id: str, told: int) -> None:
        self.id = run_id
        self.told = told  # how many of its lines were stored before
        self.read = 0  # how many were read
        self.packed = 0  # how many were packed
        self.lines: list[tuple[datetime | None, bytes]] = []
        self.consumptions: dict[str, Consumption] = {}
        self.turn: Turn | None = None
        self.first: datetime | None = None
        self.last: datetime | None = None

    def add(self, line: RawLine) -> None:
        """One more line; those that are stored are only counted."""
        self.read += 1
        if self.read > self.told:
            self.lines.append((line.time, line.raw))
        time = line.time
        if time is not None and time != self.last:
            if self.last is None or time > self.last:
                self.last = time
            if self.first is None or time < self.first:
                self.first = time


class Books:
    """The runs of a session."""

    def __init__(self, thread_id: str, agent: str, metadata: JsonObject, told: dict[str, int]) -> None:
        self._thread_id = thread_id
        self._agent = agent
        self._metadata = metadata
        self._told = told
        self._books: dict[str, Book] = {}

    def add(self, batch: Batch) -> None:
        """Write down what a batch tells of runs."""
        for line in batch.lines:
            self._book(line.run_id).add(line)
        for consumption in batch.consumptions:
            self._book(consumption.run_id or "").consumptions[consumption.key] = consumption
        for turn in batch.turns:
            self._book(turn.id).turn = turn

    def lines_of(self, run_id: str) -> int:
        """How many lines of a run are known."""
        book = self._books.get(run_id)
        return 0 if book is None else max(book.read, book.told)

    def take(self, *, last: str | None, running: bool) -> list[RunRows]:
        """Runs with the lines that came since the last time. `last`: the one that may go on."""
        rows: list[RunRows] = []
        for book in list(self._books.values()):
            if book.lines or book.turn is not None or book.consumptions:
                rows.append(self._rows(book, running=running and book.id == last))
            if book.id != last:
                del self._books[book.id]
        return rows

    def _book(self, run_id: str) -> Book:
        book = self._books.get(run_id)
        if book is None:
            book = self._books[run_id] = Book(run_id, self._told.get(run_id, 0))
        return book

    def _rows(self, book: Book, *, running: bool) -> RunRows:
        first_seq = max(book.told, book.packed) + 1
        lines, book.lines = book.lines, []
        book.packed = max(book.told, book.packed) + len(lines)
        return pack_run(self._run(book, running=running), first_seq, lines)

    def _run(self, book: Book, *, running: bool) -> Run:
        turn, used = book.turn, list(book.consumptions.values())
        models = Counter(one.model for one in used if one.model)
        prices: JsonObject = {}
        cost: float | None = None
        for one in used:
            amount, price = priced(one)
            if amount is not None:
                cost = amount + (cost or 0.0)
            if price is not None:
                prices[one.model or ""] = price
        status: RunStatus = "completed"
        if turn is not None and turn.end is not None:
            status = turn.end
        elif running:
            status = "running"
        return Run(
            id=book.id,
            thread_id=self._thread_id,
            status=status,
            agent=self._agent,
            model=models.most_common(1)[0][0] if models else None,
            usage=add_usages([one.usage for one in used]) if used else None,
            cost=cost,
            error=None if turn is None else turn.error,
            metadata={**self._metadata, **({"prices": prices} if prices else {})},
            created_at=book.first,
            started_at=book.first,
            finished_at=None if status == "running" else book.last,
        )


def priced(one: Consumption) -> tuple[float | None, JsonObject | None]:
    """What a response cost, and the rates: those that hold for its day, or what the log says itself."""
    found = price_of(one.model, one.provider, one.usage, one.time)
    if found is not None:
        return found.cost, found.snapshot
    return (one.cost, {"source": "log"}) if one.cost is not None else (None, None)


def records_of(consumptions: Iterable[Consumption], thread_id: str) -> list[ConsumptionRecord]:
    """Consumptions as the ledger keeps them."""
    records: list[ConsumptionRecord] = []
    for one in consumptions:
        cost, price = priced(one)
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
    """A number of tokens as the ledger takes it; what a broken log says may be none."""
    return min(max(tokens or 0, 0), MOST_TOKENS)
