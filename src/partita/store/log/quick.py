"""Appending to the logs of many runs with one statement of SQLite's, when nothing about them is unusual.

For every statement the writer thread lets go of the interpreter, and has to get it back from a busy event
loop: seven of them took twice as long as one. So all of it is the trigger of a view, `log_append`, and the
statement is its own transaction. It takes runs whose logs end where we believe they do, or nothing at all;
then the long way (`run_log.append_many`) finds out why.

What a run has in the tail is also kept here, so that it is folded by writing it once more, not by looking for
its rows.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import chain
from typing import Generic, TypeVar

from sqlalchemy import Connection

from partita.types.json import dumps

from .blocks import Addition, End
from .tail import LARGE, TOO_MANY

MOST_KNOWN = 4096
"""How many runs are remembered, and so how many tails are held: not all of them end in this process."""

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

    def __len__(self) -> int:
        return len(self.added) + len(self.folded)

    def __iter__(self) -> Iterator[K]:
        """The runs it is about."""
        return chain(self.added, self.folded)

    def done(self) -> dict[K, int]:
        """It was carried out: the number of the last entry of each run."""
        ends: dict[K, int] = {}
        for key, (tail, addition) in self.added.items():
            tail.add(addition)
            ends[key] = tail.last_seq
        for key, (tail, addition) in self.folded.items():
            tail.fold(addition)
            ends[key] = tail.last_seq
        return ends


class Tails(Generic[K]):
    """The runs at work, as far as this process knows them: who asks for one gives it the key he likes."""

    def __init__(self) -> None:
        self._known: OrderedDict[K, Tail] = OrderedDict()  # those used last at the end

    def plan(self, wanted: Mapping[K, Addition]) -> Plan[K]:
        """What can be done the quick way: that of the runs we know."""
        plan: Plan[K] = Plan()
        runs: set[int] = set()
        for key, addition in wanted.items():
            tail = self._known.get(key)
            if tail is None:
                continue
            self._known.move_to_end(key)
            if tail.held is None and (tail.rows >= TOO_MANY or addition.size >= LARGE):
                continue  # only the long way can fold what we do not hold
            runs.add(tail.run)
            large = addition.size >= LARGE  # it would fill a page of its own: it goes where it is to stay
            (plan.folded if large else plan.added)[key] = tail, addition
        if len(runs) < len(plan):
            return Plan()  # one run under two names
        full = [key for key, (tail, _) in plan.added.items() if tail.full]
        for key in nlargest(1 + len(wanted) // PART, full, key=lambda key: plan.added[key][0].rows):
            plan.folded[key] = plan.added.pop(key)
        return plan

    def learn(self, key: K, end: End, newest: Addition) -> None:
        """Remember where a log ends, and what was added to it last."""
        self._known[key] = Tail(end, newest)
        self._known.move_to_end(key)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def forget(self, keys: Iterable[K]) -> None:
        """These have ended, or were not as we believed."""
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
    parameters = (b"".join(pieces), added, len(plan.added), folded, len(plan.folded), 2 * len(plan))
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
