"""What an import did, told so that nothing goes missing in silence."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from partita.errors import PartitaError
from partita.formats.losses import Loss
from partita.types.json import JsonObject

TOLD = 1000
"""How many failures and losses a report tells one by one; all of them are counted."""


class Failure(NamedTuple):
    """A row that is not in the store, and why."""

    table: str
    id: str
    reason: str

    def __str__(self) -> str:
        return f"{self.table} {self.id}: {self.reason}"


def failure(table: str, id: object, error: PartitaError) -> Failure:
    """The failure that an error amounts to."""
    return Failure(table, str(id), f"{error.what}; {error.hint}" if error.hint else error.what)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What was read, what of it is new, and what did not make it."""

    system: str
    source: str
    tables: tuple[str, ...]
    rows: int
    threads: int
    new_threads: int
    orphans: tuple[str, ...]
    """Threads whose row was missing: they were made from their messages."""
    messages: int
    new: int
    changed: int
    unchanged: int
    failed: int
    failures: tuple[Failure, ...]
    lost: int
    losses: tuple[Loss, ...]
    reasons: Mapping[str, int]
    """How often something was lost for which reason."""
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


class Counts(NamedTuple):
    """What writing some messages came to."""

    new_threads: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0

    def plus(self, other: "Counts") -> "Counts":
        """Both together."""
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


@dataclass(slots=True)
class Tally:
    """The report while it grows."""

    rows: int = 0
    threads: int = 0
    counts: Counts = field(default_factory=Counts)
    failed: int = 0
    lost: int = 0
    orphans: list[str] = field(default_factory=list[str])
    failures: list[Failure] = field(default_factory=list[Failure])
    losses: list[Loss] = field(default_factory=list[Loss])
    reasons: Counter[str] = field(default_factory=Counter[str])

    def fail(self, failures: Iterable[Failure]) -> None:
        """Note rows that did not make it."""
        for one in failures:
            self.failed += 1
            if len(self.failures) < TOLD:
                self.failures.append(one)

    def lose(self, losses: Iterable[Loss]) -> None:
        """Note what was lost."""
        for one in losses:
            self.lost += 1
            if one.why in self.reasons or len(self.reasons) < TOLD:
                self.reasons[one.why] += 1
            if len(self.losses) < TOLD:
                self.losses.append(one)

    def report(self, system: str, source: str, tables: Iterable[str], *, dry_run: bool) -> ImportReport:
        """The report, once all is read."""
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
