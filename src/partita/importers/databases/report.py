"""The report of a database import: counts, rows that failed, values that were lost."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from partita.errors import PartitaError
from partita.formats.losses import Loss
from partita.store.bulk.writer import Counts
from partita.types.json import JsonObject

MAX_LISTED: Final = 1000
"""How many failures and losses a report lists one by one; all of them are counted."""


class Failure(NamedTuple):
    """A row that was not imported, and why."""

    table: str
    id: str
    reason: str

    def __str__(self) -> str:
        return f"{self.table} {self.id}: {self.reason}"

    @classmethod
    def of(cls, table: str, id: object, error: PartitaError) -> "Failure":
        """The failure of a row, with the text and the hint of an error."""
        return cls(table, str(id), f"{error.what}; {error.hint}" if error.hint else error.what)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What was read, how much of it is new, and what could not be imported."""

    system: str
    source: str
    tables: tuple[str, ...]
    rows: int
    threads: int
    new_threads: int
    orphans: tuple[str, ...]
    """Threads without a row of their own, created for their messages."""
    messages: int
    new: int
    changed: int
    unchanged: int
    failed: int
    failures: tuple[Failure, ...]
    lost: int
    losses: tuple[Loss, ...]
    reasons: Mapping[str, int]
    """The number of losses by reason."""
    dry_run: bool

    def to_json(self) -> JsonObject:
        """The report as plain JSON."""
        return {
            "system": self.system,
            "source": self.source,
            "tables": list(self.tables),
            "rows": self.rows,
            "threads": self.threads,
            "newThreads": self.new_threads,
            "orphans": list(self.orphans),
            "messages": self.messages,
            "new": self.new,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "failed": self.failed,
            "failures": [one._asdict() for one in self.failures],
            "lost": self.lost,
            "losses": [one._asdict() for one in self.losses],
            "reasons": dict(self.reasons),
            "dryRun": self.dry_run,
        }


@dataclass(slots=True)
class Tally:
    """Collects the numbers of a report during an import."""

    rows: int = 0
    threads: int = 0
    counts: Counts = field(default_factory=Counts)
    failed: int = 0
    lost: int = 0
    orphans: list[str] = field(default_factory=list[str])
    failures: list[Failure] = field(default_factory=list[Failure])
    losses: list[Loss] = field(default_factory=list[Loss])
    reasons: Counter[str] = field(default_factory=Counter[str])

    def add_failures(self, failures: Iterable[Failure]) -> None:
        """Count rows that were not imported."""
        for one in failures:
            self.failed += 1
            if len(self.failures) < MAX_LISTED:
                self.failures.append(one)

    def add_losses(self, losses: Iterable[Loss]) -> None:
        """Count values that were lost."""
        for one in losses:
            self.lost += 1
            if one.why in self.reasons or len(self.reasons) < MAX_LISTED:
                self.reasons[one.why] += 1
            if len(self.losses) < MAX_LISTED:
                self.losses.append(one)

    def report(self, system: str, source: str, tables: Iterable[str], *, dry_run: bool) -> ImportReport:
        """The report of the finished import."""
        counts = self.counts
        return ImportReport(
            system=system,
            source=source,
            tables=tuple(tables),
            rows=self.rows,
            threads=self.threads,
            new_threads=counts.new_threads,
            orphans=tuple(self.orphans),
            messages=counts.new + counts.changed + counts.unchanged,
            new=counts.new,
            changed=counts.changed,
            unchanged=counts.unchanged,
            failed=self.failed,
            failures=tuple(self.failures),
            lost=self.lost,
            losses=tuple(self.losses),
            reasons=dict(self.reasons),
            dry_run=dry_run,
        )
