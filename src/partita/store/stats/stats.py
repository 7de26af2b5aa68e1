"""`store.stats` and `store.usage`: what was consumed and called, by period, project, agent, model and tool.

Tokens and costs come from the ledger, calls from the rows of parts; the database adds them up. A response
counts once, however many threads contain it, and its calls are counted with it. The statistics of one thread
include everything that it contains.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timezone, tzinfo
from typing import Any, TypeAlias, TypeGuard, get_args

from sqlalchemy import ColumnElement, and_, func, select

from partita.errors import StoreError
from partita.store.context import Namespace, reads, writes
from partita.store.schema import NEVER, consumptions, messages, runs
from partita.store.sql.transaction import Transaction
from partita.store.threads import rows as threads
from partita.store.usage import COUNTS, TOTALS, record_usage
from partita.store.values import ConsumptionRecord, GroupBy, MeasureName, StatFilter, UsageStat, UsageTotals
from partita.types.json import loads
from partita.types.times import Timestamp, in_utc
from partita.types.value import Value

from .measures import Group, add_measure, all_measures, thread_ids
from .periods import Change, Period, changes, period_of
from .rankings import run_stats, thread_stats, tool_stats

Key: TypeAlias = tuple[str | None, ...]
PERIODS: tuple[Period, ...] = get_args(Period)
MEASURES: tuple[MeasureName, ...] = get_args(MeasureName)
MAX_GROUPS = 2
"""The number of things that totals can be grouped by at once."""


def usage_of_thread(tx: Transaction, thread_id: str) -> UsageTotals:
    """What all responses of a thread consumed, including those that other threads contain too."""
    thread = threads.find(tx, thread_id)
    query = f"SELECT {TOTALS} FROM consumptions c WHERE c.owner = ? AND c.thread_id = ?"
    totals = tx.sql(query, (thread.owner, thread.id)).mappings().one()
    return UsageTotals(**{str(name): value for name, value in totals.items()})


def responses_of_thread(tx: Transaction, thread_id: str) -> tuple[ConsumptionRecord, ...]:
    """What each response of a thread consumed, oldest first."""
    thread = threads.find(tx, thread_id)
    query = select(consumptions).where(
        consumptions.c.owner == thread.owner, consumptions.c.thread_id == thread.id
    )
    rows = tx.rows(query.order_by(consumptions.c.time, consumptions.c.key))
    return tuple(
        ConsumptionRecord(
            thread_id=row.thread_id,
            key=row.key,
            message_id=row.message_id,
            run_id=row.run_id,
            agent=row.agent,
            provider=row.provider,
            model=row.model,
            time=row.time,
            cost=row.cost,
            price=None if row.price is None else loads(row.price),
            **{name: getattr(row, name) for name in COUNTS},
        )
        for row in rows
    )


def usage_stats(
    tx: Transaction,
    filter: StatFilter | None = None,
    *,
    by: GroupBy | Sequence[GroupBy] = "total",
    zone: tzinfo = UTC,
    with_ids: bool = False,
    measures: Collection[MeasureName] = MEASURES,
) -> tuple[UsageStat, ...]:
    """Totals, grouped by one or two things: periods in order of time, in each the most expensive first.

    Days begin at midnight in `zone`. With ids, rows of few threads have their ids. Numbers of other measures
    are 0: to count calls takes the longest.
    """
    selected, names = filter or StatFilter(), _checked([by] if isinstance(by, str) else by)
    thread = None if selected.thread_id is None else threads.find(tx, selected.thread_id)
    clock = _clock_changes(tx, selected, zone) if any(map(_is_period, names)) else ()
    by_model = "model" in names or selected.model is not None
    groups: dict[Key, Group] = {} if names else {(): Group()}
    for name, measure in all_measures(tx, whole_thread=thread is not None, by_model=by_model).items():
        if name not in measures:
            continue
        known = {*measure.columns, *PERIODS}
        if known.issuperset(names) and (selected.model is None or "model" in known):
            columns = [
                period_of(tx, key, measure.time, clock) if _is_period(key) else measure.columns[key]
                for key in names
            ]
            add_measure(tx, groups, measure, columns, selected, thread)
    ids = thread_ids(tx, [group.threads for group in groups.values()] if with_ids else [])
    found = [
        UsageStat(
            key=key,
            threads=len(group.threads),
            thread_ids=ids.get(frozenset(group.threads)),
            **group.numbers,
        )
        for key, group in groups.items()
    ]
    return tuple(sorted(found, key=lambda stat: _order(stat, names)))


def _checked(by: Sequence[GroupBy]) -> tuple[GroupBy, ...]:
    every = get_args(GroupBy)
    for name in by:
        if name not in every:
            raise StoreError(
                f"statistics cannot be grouped by {name!r}", hint=f"choose from {', '.join(every)}"
            )
    names: tuple[GroupBy, ...] = tuple(dict.fromkeys(name for name in by if name != "total"))
    if len(names) > MAX_GROUPS:
        raise StoreError(f"statistics by {', '.join(names)}", hint=f"group by {MAX_GROUPS} things at most")
    return names


def _is_period(name: GroupBy) -> TypeGuard[Period]:
    return name in PERIODS


def _clock_changes(tx: Transaction, filter: StatFilter, zone: tzinfo) -> list[Change]:
    """The changes of the clock in a time zone, between the first and the last selected time."""
    if isinstance(zone, timezone):  # its offset from UTC never changes
        return changes(zone, tx.now, tx.now)
    first = _times(tx, func.min) if filter.since is None else [in_utc(filter.since, "since")]
    last = _times(tx, func.max) if filter.until is None else [in_utc(filter.until, "until")]
    return changes(zone, min([*first, *last]), max([*first, *last]))


def _times(tx: Transaction, end: Callable[..., ColumnElement[Any]]) -> list[datetime]:
    """The first or the last time of each kind in the store."""
    found = [
        tx.run(select(end(column)).where(tx.owned(column.table), column > NEVER)).scalar()
        for column in (consumptions.c.time, messages.c.created_at, runs.c.created_at)
    ]
    return [time for time in found if time is not None] or [tx.now]


def _order(stat: UsageStat, names: Sequence[GroupBy]) -> tuple[Any, ...]:
    periods = [
        (value is not None, value or "")  # an unknown time is before all others, as in lists
        for value, name in zip(stat.key, names, strict=True)
        if _is_period(name)
    ]
    sizes = (-(stat.cost or 0), -stat.input_tokens - stat.output_tokens, -stat.tool_calls, -stat.messages)
    return (*periods, *sizes, *((value is None, value or "") for value in stat.key))


class GrowthPoint(Value, kw_only=True):
    """A response. Its input includes cached tokens; `total_*` add up this and all earlier responses."""

    message_id: str | None = None
    seq: int | None = None  # of its message; `None` for a sub-agent, or a message that was deleted
    time: Timestamp | None = None  # if it is known
    agent: str | None = None
    model: str | None = None
    input_tokens: int
    cached_input_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cost: float | None = None
    total_tokens: int
    total_cost: float | None = None  # of responses with a price


OF_RESPONSE = (
    *("message_id", "seq", "time", "agent", "model", "input_tokens", "cached_input_tokens"),
    *("cache_write_tokens", "output_tokens", "reasoning_tokens", "cost"),
)


def context_growth(tx: Transaction, thread_id: str) -> tuple[GrowthPoint, ...]:
    """The size of the context of a thread, response by response."""
    thread = threads.find(tx, thread_id)
    c, m = consumptions.c, messages.c
    of_message = and_(m.owner == c.owner, m.thread_id == c.thread_id, m.id == c.message_id)
    query = (
        select(consumptions, m.seq)
        .outerjoin(messages, of_message)
        .where(c.owner == thread.owner, c.thread_id == thread.id)
        .order_by(c.time, m.seq, c.key)
    )
    points: list[GrowthPoint] = []
    tokens, cost = 0, None
    for row in tx.rows(query):
        tokens += row.input_tokens + row.output_tokens
        cost = cost if row.cost is None else (cost or 0.0) + row.cost
        fields = {name: getattr(row, name) for name in OF_RESPONSE}
        points.append(GrowthPoint(**fields, total_tokens=tokens, total_cost=cost))
    return tuple(points)


class UsageLedger(Namespace):
    """Record what responses of models consumed."""

    record = writes(record_usage)
    of_thread = reads(usage_of_thread)
    responses = reads(responses_of_thread)


class Stats(Namespace):
    """Statistics."""

    totals = reads(usage_stats)
    tools = reads(tool_stats)
    runs = reads(run_stats)
    threads = reads(thread_stats)
    growth = reads(context_growth)
