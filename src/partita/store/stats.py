"""Statistics: what was consumed, said and called, by period, project, agent, model and tool.

Tokens and costs come from the ledger, calls from the rows of parts; the database adds up. A response is
counted once, however many threads tell of it, and its calls are counted with it. What is asked of one thread
is told of all that stands in it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timezone, tzinfo
from typing import Any, NamedTuple, TypeAlias, TypeGuard, get_args

from sqlalchemy import Row, RowMapping, func, select

from partita.errors import StoreError
from partita.types.times import in_utc

from . import threads
from .consumptions import COUNTS
from .periods import Change, Period, changes, name_of
from .tables import consumptions, messages
from .texts import storable
from .transaction import Transaction
from .values import By, Stat, UsageTotals

Key: TypeAlias = tuple[str | None, ...]
PERIODS: tuple[Period, ...] = get_args(Period)
MOST = 2
"""By how many things at once statistics are told."""

TOTALS = ", ".join(
    [
        "count(*) AS responses",
        *(f"CAST(coalesce(sum(c.{name}), 0) AS BIGINT) AS {name}" for name in COUNTS),
        "sum(c.cost) AS cost",
        "count(*) - count(c.cost) AS unpriced",
    ]
)
CALLS = """count(*) AS tool_calls,
    count(*) FILTER (WHERE p.error IS NOT NULL AND p.interruption IS NULL) AS tool_errors,
    count(*) FILTER (WHERE p.state = 'output-denied') AS denied,
    count(*) FILTER (WHERE p.interruption IS NOT NULL) AS interrupted"""
FIRST_RESPONSE = """SELECT f.{column} FROM consumptions f
    WHERE f.owner = m.owner AND f.thread_id = m.thread_id AND f.message_id = m.id
    ORDER BY f.key COLLATE {binary} LIMIT 1"""
"""Of the responses that a message is made of, the one that decides for its calls."""

NOTHING: dict[str, Any] = {
    field: None if field == "cost" else 0 for field in Stat.__struct_fields__ if field not in ("key", "extra")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatFilter:
    """What to tell statistics of. What is not given does not narrow; `until` itself is outside."""

    since: datetime | None = None
    until: datetime | None = None
    agent: str | None = None
    project: str | None = None
    model: str | None = None
    thread_id: str | None = None

    def __post_init__(self) -> None:
        for value in (self.agent, self.project, self.model, self.thread_id):
            storable(value, "a filter of the statistics")


class Told(NamedTuple):
    """Where numbers come from: the tables, and what each thing to tell by is called there.

    The tables are joined by CROSS JOIN, by which SQLite takes them in this order: first a narrow index of the
    messages, never the messages themselves, then what belongs to each of them.
    """

    tables: str
    main: str  # the short name of the table that is told of
    time: str
    names: dict[By, str]
    columns: str
    conditions: tuple[str, ...] = ()


def said() -> Told:
    """Messages that are shown."""
    return Told(
        "messages m CROSS JOIN threads t",
        "m",
        "m.created_at",
        {"project": "t.project", "agent": "t.agent"},
        "count(*) AS messages",
        ("NOT m.internal",),
    )


def consumed(whole_thread: bool) -> Told:
    """Responses: those that are counted, or all of a thread."""
    return Told(
        "consumptions c CROSS JOIN threads t",
        "c",
        "c.time",
        {"project": "t.project", "agent": "coalesce(c.agent, t.agent)", "model": "c.model"},
        TOTALS,
        () if whole_thread else ("c.counted",),
    )


def called(tx: Transaction, whole_thread: bool, by_model: bool) -> Told:
    """Calls, those of sub-agents too, of messages whose response is counted or not in the ledger; or all.

    Their model is that of the response; the ledger does not say which one called inside a sub-agent.
    """
    binary = "BINARY" if tx.lite else '"C"'
    key, is_counted = (FIRST_RESPONSE.format(column=name, binary=binary) for name in ("key", "counted"))
    response = f"""
        LEFT JOIN consumptions r ON r.owner = m.owner AND r.thread_id = m.thread_id
            AND r.message_id = m.id AND r.key = ({key})"""
    return Told(
        f"messages m CROSS JOIN threads t {response if by_model else ''} CROSS JOIN parts p",
        "m",
        "m.created_at",
        {
            "project": "t.project",
            "agent": "t.agent",
            "model": "CASE WHEN p.path LIKE '%.%' THEN NULL ELSE r.model END",
            "tool": "p.tool_name",
        },
        CALLS,
        (
            "p.owner = m.owner",
            "p.message = m.key",
            "p.type = 'tool-call'",
            *(() if whole_thread else (f"coalesce(({is_counted}), true)",)),
        ),
    )


def of_thread(tx: Transaction, thread_id: str) -> UsageTotals:
    """What all responses of a thread consumed, those that it shares with other threads included."""
    thread = threads.find(tx, thread_id)
    query = f"SELECT {TOTALS} FROM consumptions c WHERE c.owner = ? AND c.thread_id = ?"
    return UsageTotals(**tx.sql(query, (thread.owner, thread.id)).mappings().one())


def stats(tx: Transaction, by: Sequence[By], wanted: StatFilter, zone: tzinfo = UTC) -> tuple[Stat, ...]:
    """Statistics: periods in their order, within them the most expensive first."""
    asked = _checked(by)
    thread = None if wanted.thread_id is None else threads.find(tx, wanted.thread_id)
    clock = _clock(tx, zone) if any(map(_is_period, asked)) else ()
    by_model = "model" in asked or wanted.model is not None
    rows: dict[Key, dict[str, Any]] = {} if asked else {(): dict(NOTHING)}
    whole_thread = thread is not None
    for told in (said(), consumed(whole_thread), called(tx, whole_thread, by_model)):
        known = {*told.names, *PERIODS}
        if known.issuperset(asked) and (wanted.model is None or "model" in known):
            names = [name_of(tx, it, told.time, clock) if _is_period(it) else told.names[it] for it in asked]
            _add(rows, _tell(tx, told, names, wanted, thread))
    found = [Stat(key=key, **fields) for key, fields in rows.items()]
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
        for column in (consumptions.c.time, messages.c.created_at)
        for end in (func.min, func.max)
    ]
    times = [moment for moment in asked if moment is not None] or [tx.now]
    return changes(zone, min(times), max(times))


def _tell(
    tx: Transaction, told: Told, names: Sequence[str], wanted: StatFilter, thread: Row[Any] | None
) -> Iterable[tuple[Key, RowMapping]]:
    """The numbers of each group."""
    conditions = {
        f"{told.main}.owner = ?": tx.owner if thread is None else thread.owner,
        f"{told.main}.thread_id = ?": None if thread is None else thread.id,
        f"{told.time} >= ?": None if wanted.since is None else tx.instant(in_utc(wanted.since, "since")),
        f"{told.time} < ?": None if wanted.until is None else tx.instant(in_utc(wanted.until, "until")),
        f"{told.names['agent']} = ?": wanted.agent,
        f"{told.names['project']} = ?": wanted.project,
        f"{told.names.get('model')} = ?": wanted.model,
    }
    given = {condition: value for condition, value in conditions.items() if value is not None}
    keys = [f"key_{number}" for number in range(len(names))]
    named = [f"{name} AS {key}" for name, key in zip(names, keys, strict=True)]
    columns = ", ".join([*named, "count(DISTINCT t.key) AS threads", told.columns])
    of_thread = (f"t.owner = {told.main}.owner", f"t.id = {told.main}.thread_id")
    where = " AND ".join([*of_thread, *told.conditions, *given])
    groups = f" GROUP BY {', '.join(keys)}" if keys else ""
    query = f"SELECT {columns} FROM {told.tables} WHERE {where}{groups}"
    for row in tx.sql(query, tuple(given.values())).mappings():
        yield tuple(row[key] for key in keys), row


def _add(rows: dict[Key, dict[str, Any]], told: Iterable[tuple[Key, RowMapping]]) -> None:
    for key, row in told:
        fields = rows.setdefault(key, dict(NOTHING))
        threads = max(fields["threads"], row["threads"])  # what began before midnight may go on after it
        fields.update({name: row[name] for name in row if name in NOTHING}, threads=threads)


def _place(stat: Stat, asked: Sequence[By]) -> tuple[Any, ...]:
    """Where a row stands among the others."""
    periods = [name or "" for name, by in zip(stat.key, asked, strict=True) if _is_period(by)]
    sizes = (-(stat.cost or 0), -stat.input_tokens - stat.output_tokens, -stat.tool_calls, -stat.messages)
    return (*periods, *sizes, *((name is None, name or "") for name in stat.key))
