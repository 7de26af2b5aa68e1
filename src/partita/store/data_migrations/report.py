"""The report of a data migration: what it changed, or would change."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, TypeVar

import msgspec

from partita.types.json import dumps, loads

T = TypeVar("T")

State: TypeAlias = Literal["pending", "running", "done"]

EXAMPLES = 3
FAILURES = 20
LOSSES = 20
THREADS = 50
"""The number of each that a report lists; all of them are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageNote:
    """A message, and what happened to it."""

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
    """The number of changed messages of a thread."""

    thread_id: str
    changed: int
    resource_id: str | None = None


Listed = TypeVar("Listed", MessageNote, Example, ThreadCount)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many messages were read, changed and not changed, with examples."""

    seen: int = 0
    changed: int = 0
    failed: int = 0
    lost: int = 0
    done: dict[str, int] = field(default_factory=dict[str, int])
    threads: tuple[ThreadCount, ...] = ()
    elsewhere: int = 0  # changed messages of threads that are not listed
    examples: tuple[Example, ...] = ()
    failures: tuple[MessageNote, ...] = ()
    losses: tuple[MessageNote, ...] = ()
    verified: int = 0  # messages that were reread
    wrong: int = 0
    faults: tuple[MessageNote, ...] = ()  # what is wrong with them

    def plus(self, other: "Tally", *, limited: bool = True) -> "Tally":
        """The sum of both. If it is not limited, it lists all threads, failures and losses."""
        threads, elsewhere = _threads_of([*self.threads, *other.threads], THREADS if limited else None)
        failures, losses = (FAILURES, LOSSES) if limited else (None, None)
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
            examples=tuple(varied([*self.examples, *other.examples], lambda one: one.done)),
            failures=(*self.failures, *other.failures)[:failures],
            losses=(*self.losses, *other.losses)[:losses],
            verified=self.verified + other.verified,
            wrong=self.wrong + other.wrong,
            faults=(*self.faults, *other.faults)[:failures],
        )

    def without_thread(self, owner: str, thread_id: str | None = None) -> "Tally":
        """The same numbers, without what is listed about a thread; without an id, about any of an owner."""

        def others(listed: Sequence[Listed]) -> tuple[Listed, ...]:
            return tuple(
                one
                for one in listed
                if (one.resource_id or "") != owner or thread_id not in (None, one.thread_id)
            )

        threads = others(self.threads)
        return replace(
            self,
            threads=threads,
            elsewhere=self.elsewhere + sum(one.changed for one in self.threads if one not in threads),
            examples=others(self.examples),
            failures=others(self.failures),
            losses=others(self.losses),
            faults=others(self.faults),
        )


def varied(items: Sequence[T], kind: Callable[[T], str]) -> list[T]:
    """A few examples of items, of as many kinds as possible."""
    seen = Counter[str]()
    ranks: list[int] = []
    for item in items:
        ranks.append(seen[kind(item)])
        seen[kind(item)] += 1
    order = sorted(range(len(items)), key=ranks.__getitem__)
    return [items[index] for index in order[:EXAMPLES]]


def _threads_of(counts: Sequence[ThreadCount], limit: int | None) -> tuple[tuple[ThreadCount, ...], int]:
    """The counts of the listed threads, and the number of messages of the other threads."""
    merged: dict[tuple[str | None, str], ThreadCount] = {}
    elsewhere = 0
    for count in counts:
        key = (count.resource_id, count.thread_id)
        known = merged.get(key)
        if known is not None:
            merged[key] = replace(known, changed=known.changed + count.changed)
        elif limit is None or len(merged) < limit:
            merged[key] = count
        else:
            elsewhere += count.changed
    return tuple(merged.values()), elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport(Tally):
    """A migration, its state, and what it changed; with `dry_run` what it would change."""

    name: str
    title: str
    state: State
    dry_run: bool = False

    @property
    def ok(self) -> bool:
        """Whether every message could be changed, and no verification failed."""
        return self.failed == 0 and self.wrong == 0


def to_text(tally: Tally) -> str:
    """A tally as it is stored."""
    return dumps(tally).decode()


def from_text(text: str | None) -> Tally:
    """The tally of a stored text."""
    return Tally() if text is None else msgspec.convert(loads(text), Tally)
