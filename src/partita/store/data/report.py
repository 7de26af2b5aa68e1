"""What a data migration did, or would do."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import msgspec

from partita.types.json import dumps, loads

State: TypeAlias = Literal["pending", "running", "done"]

EXAMPLES = 3
FAILURES = 20
LOSSES = 20
THREADS = 50
"""How many of each a report names; all of them are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A message, and what is to be said of it."""

    thread_id: str
    message_id: str
    what: str
    resource_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A message before and after."""

    thread_id: str
    message_id: str
    before: str
    after: str
    done: str
    resource_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCount:
    """How many messages of a thread were changed."""

    thread_id: str
    changed: int
    resource_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What was seen, changed and not changed: of some messages, or of all."""

    seen: int = 0
    changed: int = 0
    failed: int = 0
    lost: int = 0
    done: dict[str, int] = field(default_factory=dict[str, int])
    threads: tuple[ThreadCount, ...] = ()
    elsewhere: int = 0  # changed messages of threads that are not named
    examples: tuple[Example, ...] = ()
    failures: tuple[Place, ...] = ()
    losses: tuple[Place, ...] = ()
    verified: int = 0  # messages that were read again
    wrong: int = 0
    faults: tuple[Place, ...] = ()  # what was wrong with them

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        threads, elsewhere = _threads_of([*self.threads, *other.threads])
        return Tally(
            seen=self.seen + other.seen,
            changed=self.changed + other.changed,
            failed=self.failed + other.failed,
            lost=self.lost + other.lost,
            done={
                what: self.done.get(what, 0) + other.done.get(what, 0)
                for what in dict.fromkeys((*self.done, *other.done))
            },
            threads=threads,
            elsewhere=self.elsewhere + other.elsewhere + elsewhere,
            examples=(*self.examples, *other.examples)[:EXAMPLES],
            failures=(*self.failures, *other.failures)[:FAILURES],
            losses=(*self.losses, *other.losses)[:LOSSES],
            verified=self.verified + other.verified,
            wrong=self.wrong + other.wrong,
            faults=(*self.faults, *other.faults)[:FAILURES],
        )


def _threads_of(counts: Sequence[ThreadCount]) -> tuple[tuple[ThreadCount, ...], int]:
    """Counts by thread, as many as are named, and how many messages the other threads had."""
    merged: dict[tuple[str | None, str], ThreadCount] = {}
    elsewhere = 0
    for count in counts:
        key = (count.resource_id, count.thread_id)
        known = merged.get(key)
        if known is not None:
            merged[key] = replace(known, changed=known.changed + count.changed)
        elif len(merged) < THREADS:
            merged[key] = count
        else:
            elsewhere += count.changed
    return tuple(merged.values()), elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport(Tally):
    """A migration, how far it has come, and what it did; `dry_run`: what it would do."""

    name: str
    title: str
    state: State
    dry_run: bool = False

    @property
    def ok(self) -> bool:
        """Whether every message could be changed, and every change is there."""
        return self.failed == 0 and self.wrong == 0


def to_text(tally: Tally) -> str:
    """A tally as a row keeps it."""
    return dumps(tally).decode()


def from_text(text: str | None) -> Tally:
    """The tally that a row keeps."""
    return Tally() if text is None else msgspec.convert(loads(text), Tally)
