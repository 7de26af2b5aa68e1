"""Appending to the logs of many runs with one statement of SQLite's, when nothing about them is unusual.

For every statement the writer thread lets go of the interpreter, and has to get it back from a busy event
loop: seven of them took twice as long as one. So all of it is the trigger of a view, `log_append`, and the
statement is its own transaction. It takes runs whose logs end where we believe they do, or nothing at all;
then the long way (`run_log.append_many`) finds out why.

What a run has in the tail is also kept here, so that it is folded by writing it once more, not by looking for
its rows.
"""

import sqlite3
from collections.abc import Collection, Hashable, Mapping, Sequence
from heapq import nlargest
from typing import Generic, TypeVar

from sqlalchemy import Connection

from partita.types.json import dumps

from .blocks import Addition, End
from .tail import LARGE

MOST_KNOWN = 10_000
"""How many runs are remembered: those that ended are not told apart."""

FULL_ROWS, FULL_BYTES = 48, 16 * 1024
"""When the tail of a run is worth folding."""

PART = 24
"""Of so many runs in a group, one may be folded: a little more than it takes, so that no group takes long."""

APPEND = "INSERT INTO log_append (data, added, adds, folded, folds, swept) VALUES (?, ?, ?, ?, ?, ?)"

K = TypeVar("K", bound=Hashable)


class Tail:
    """What is known of a run at work: where its log ends, and what of it is in the tail."""

    __slots__ = ("first_seq", "held", "last_seq", "rows", "run")

    def __init__(self, end: End, newest: Addition) -> None:
        self.run = end.run
        self.last_seq = end.last_seq
        self.rows = end.rows
        self.first_seq = end.tail_seq
        self.held: Addition | None = None  # everything in the tail, if we know all of it
        if self.first_seq is None:
            self.held = Addition()
        elif self.first_seq == end.last_seq - newest.count + 1:
            self.held = Addition()
            self.held.join(newest)

    @property
    def full(self) -> bool:
        """Whether it is time to fold it."""
        return self.held is not None and (self.rows >= FULL_ROWS or self.held.size >= FULL_BYTES)

    def add(self, addition: Addition) -> None:
        """A row was added."""
        if self.first_seq is None:
            self.first_seq = self.last_seq + 1
        self.last_seq += addition.count
        self.rows += 1
        if self.held is not None:
            self.held.join(addition)

    def fold(self, addition: Addition) -> None:
        """All was folded, and this with it."""
        self.last_seq += addition.count
        self.rows = 0
        self.first_seq = None
        self.held = Addition()


class Plan(Generic[K]):
    """What one statement does: it adds a row to the tails of some runs, and folds others."""

    def __init__(self) -> None:
        self.added: dict[K, tuple[Tail, Addition]] = {}
        self.folded: dict[K, tuple[Tail, Addition]] = {}

    @property
    def keys(self) -> list[K]:
        """The runs it is about."""
        return [*self.added, *self.folded]

    def done(self) -> dict[K, int]:
        """It was carried out: the number of the last entry of each run."""
        for tail, addition in self.added.values():
            tail.add(addition)
        for tail, addition in self.folded.values():
            tail.fold(addition)
        return {key: tail.last_seq for key, (tail, _) in [*self.added.items(), *self.folded.items()]}


class Tails(Generic[K]):
    """The runs at work, as far as this process knows them: who asks for one gives it the key he likes."""

    def __init__(self) -> None:
        self._known: dict[K, Tail] = {}

    def plan(self, wanted: Mapping[K, Addition]) -> Plan[K]:
        """What can be done the quick way: that of the runs we know."""
        plan: Plan[K] = Plan()
        for key, addition in wanted.items():
            tail = self._known.get(key)
            if tail is None:
                continue
            if addition.size < LARGE:
                plan.added[key] = tail, addition
            elif tail.held is not None:  # it would fill a page of its own: it goes where it is to stay
                plan.folded[key] = tail, addition
        if len({tail.run for tail, _ in [*plan.added.values(), *plan.folded.values()]}) < len(plan.keys):
            return Plan()  # one run under two names
        full = [key for key, (tail, _) in plan.added.items() if tail.full]
        for key in nlargest(1 + len(wanted) // PART, full, key=lambda key: plan.added[key][0].rows):
            plan.folded[key] = plan.added.pop(key)
        return plan

    def learn(self, key: K, end: End, newest: Addition) -> None:
        """Remember where a log ends, and what was added to it last."""
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[key] = Tail(end, newest)

    def forget(self, keys: Collection[K]) -> None:
        """These were not as we believed."""
        for key in keys:
            self._known.pop(key, None)


def append(connection: Connection, *, plan: Plan[K]) -> bool:
    """Carry out a plan; false when a run has moved on or ended: then nothing was done."""
    pieces: list[bytes | bytearray] = []
    added = _given([(tail, [addition]) for tail, addition in plan.added.values()], 1, pieces)
    folded = _given(
        [(tail, [tail.held or Addition(), addition]) for tail, addition in plan.folded.values()],
        1 + sum([addition.size for _, addition in plan.added.values()]),
        pieces,
    )
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    parameters = (b"".join(pieces), added, len(plan.added), folded, len(plan.folded), 2 * len(plan.keys))
    try:
        driver.execute(APPEND, parameters)
    except sqlite3.IntegrityError:
        return False
    return True


def _given(
    tails: Sequence[tuple[Tail, Sequence[Addition]]], start: int, pieces: list[bytes | bytearray]
) -> str:
    """In JSON: the runs, where they end, how many entries they get and where, and where their tails begin."""
    rows: list[tuple[int, int, int, int, int, int | None]] = []
    for tail, additions in tails:
        size = 0
        for addition in additions:
            pieces += addition.pieces
            size += addition.size
        rows.append((tail.run, tail.last_seq, additions[-1].count, start, size, tail.first_seq))
        start += size
    return dumps(rows).decode()
