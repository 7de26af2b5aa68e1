"""Statistics: what was consumed, said and called, by period, project, agent, model and tool.

Tokens and costs come from the ledger, calls from the rows of parts; the database adds up. A response is
counted once, however many threads tell of it, and its calls are counted with it. What is asked of one thread
is told of all that stands in it.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, timezone, tzinfo
from typing import Any, TypeAlias, TypeGuard, get_args

from sqlalchemy import Row, RowMapping, func, select

from partita.errors import StoreError

from . import threads
from .periods import Change, Period, changes, name_of
from .stat_sources import TOTALS, StatFilter, Told, called, consumed, ran, said, selection
from .stat_threads import distinct, ids_of, keys_in
from .tables import consumptions, messages, runs
from .transaction import Transaction
from .values import By, Stat, UsageTotals

Key: TypeAlias = tuple[str | None, ...]
PERIODS: tuple[Period, ...] = get_args(Period)
MOST = 2
"""By how many things at once statistics are told."""

NOTHING: dict[str, Any] = {
    field: None if field == "cost" else 0
    for field in Stat.__struct_fields__
    if field not in ("key", "threads", "thread_ids", "extra")
}


def of_thread(tx: Transaction, thread_id: str) -> UsageTotals:
    """What all responses of a thread consumed, those that it shares with other threads included."""
    thread = threads.find(tx, thread_id)
    query = f"SELECT {TOTALS} FROM consumptions c WHERE c.owner = ? AND c.thread_id = ?"
    totals = tx.sql(query, (thread.owner, thread.id)).mappings().one()
    return UsageTotals(**{str(name): value for name, value in totals.items()})


class Group:
    """A row that is being added up: its numbers, and the threads behind them."""

    __slots__ = ("fields", "threads")

    def __init__(self) -> None:
        self.fields = dict(NOTHING)
        self.threads: set[int] = set()

    def add(self, row: RowMapping) -> None:
        """What one source tells."""
        self.threads.update(keys_in(row["thread_keys"]))
        self.fields.update({name: row[name] for name in row if name in NOTHING})


def stats(
    tx: Transaction, by: Sequence[By], wanted: StatFilter, zone: tzinfo = UTC, *, with_ids: bool = False
) -> tuple[Stat, ...]:
    """Statistics: periods in their order, within them the most expensive first."""
    asked = _checked(by)
    thread = None if wanted.thread_id is None else threads.find(tx, wanted.thread_id)
    clock = _clock(tx, zone) if any(map(_is_period, asked)) else ()
    by_model = "model" in asked or wanted.model is not None
    groups: dict[Key, Group] = {} if asked else {(): Group()}
    whole_thread = thread is not None
    for told in (said(), consumed(whole_thread), called(tx, whole_thread, by_model), ran()):
        known = {*told.names, *PERIODS}
        if known.issuperset(asked) and (wanted.model is None or "model" in known):
            names = [name_of(tx, it, told.time, clock) if _is_period(it) else told.names[it] for it in asked]
            for key, row in tell(tx, told, names, wanted, thread):
                groups.setdefault(key, Group()).add(row)
    ids = ids_of(tx, [group.threads for group in groups.values()] if with_ids else [])
    found = [
        Stat(
            key=key, threads=len(group.threads), thread_ids=ids.get(frozenset(group.threads)), **group.fields
        )
        for key, group in groups.items()
    ]
    return tuple(sorted(found, key=lambda stat: _place(stat, asked)))


def _checked(by: Sequence[By]) -> tuple[By, ...]:
    every = get_args(By)
    for name in by:
        if name not in every:
            raise StoreError(f"there are no statistics by {name!r}", hint=f"choose from {', '.join(every)}")
    asked: tuple[By, ...] = tuple(dict.fromkeys(name for name in by if name != "total"))
    if len(asked) > MOST:
        raise StoreError(f"statistics by {', '.join(asked)}", hint=f"by {MOST} things at most")
    return asked


def _is_period(name: By) -> TypeGuard[Period]:
    return name in PERIODS


def _clock(tx: Transaction, zone: tzinfo) -> list[Change]:
    """The changes of the clock in the time that there is something to tell of."""
    if isinstance(zone, timezone):  # always as far from UTC
        return changes(zone, tx.now, tx.now)
    asked = [
        tx.run(select(end(column)).where(tx.mine(column.table))).scalar()
        for column in (consumptions.c.time, messages.c.created_at, runs.c.created_at)
        for end in (func.min, func.max)
    ]
    times = [moment for moment in asked if moment is not None] or [tx.now]
    return changes(zone, min(times), max(times))


def tell(
    tx: Transaction, told: Told, names: Sequence[str], wanted: StatFilter, thread: Row[Any] | None = None
) -> Iterable[tuple[Key, RowMapping]]:
    """The numbers of each group."""
    keys = [f"key_{number}" for number in range(len(names))]
    named = [f"{name} AS {key}" for name, key in zip(names, keys, strict=True)]
    columns = ", ".join([*named, f"{distinct(tx, 't.key')} AS thread_keys", told.columns])
    where, values = selection(tx, told, wanted, thread)
    groups = f" GROUP BY {', '.join(keys)}" if keys else ""
    query = f"SELECT {columns} FROM {told.tables} WHERE {where}{groups}"
    for row in tx.sql(query, values).mappings():
        yield tuple(row[key] for key in keys), row


def _place(stat: Stat, asked: Sequence[By]) -> tuple[Any, ...]:
    """Where a row stands among the others."""
    periods = [name or "" for name, by in zip(stat.key, asked, strict=True) if _is_period(by)]
    sizes = (-(stat.cost or 0), -stat.input_tokens - stat.output_tokens, -stat.tool_calls, -stat.messages)
    return (*periods, *sizes, *((name is None, name or "") for name in stat.key))
