"""What statistics are computed from: messages, responses, calls and runs, as a filter selects them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Row

from partita.store.projects import project_condition
from partita.store.runs.rows import OF_SUB_AGENT, SECONDS, STARTED
from partita.store.schema import NEVER
from partita.store.sql.transaction import Transaction
from partita.store.usage import TOTALS
from partita.store.values import GroupBy, MeasureName, StatFilter, UsageStat
from partita.types.times import in_utc

MAX_IDS = 100
"""A row with more threads does not list their ids: a link to so many would be too long."""

KEYS = {True: "SELECT value FROM json_each(?)", False: "SELECT unnest(?::bigint[])"}

CALLS = """count(*) AS tool_calls,
    count(*) FILTER (WHERE p.error IS NOT NULL AND p.interruption IS NULL) AS tool_errors,
    count(*) FILTER (WHERE p.state = 'output-denied') AS denied,
    count(*) FILTER (WHERE p.interruption IS NOT NULL) AS interrupted"""
FIRST_RESPONSE = """SELECT f.{column} FROM consumptions f
    WHERE f.owner = m.owner AND f.thread_id = m.thread_id AND f.message_id = m.id
    ORDER BY f.key COLLATE {binary} LIMIT 1"""
"""Of the responses of a message, the one that decides whether its calls are counted."""


class Measure(NamedTuple):
    """Numbers of one kind: their tables, and the columns to group by.

    The tables are joined by CROSS JOIN, so that SQLite reads them in this order: first a narrow index of the
    messages, never the messages themselves, then what belongs to each of them.
    """

    tables: str
    main: str  # the alias of the table that is counted
    time: str
    columns: Mapping[GroupBy, str]
    totals: str
    conditions: tuple[str, ...] = ()


def messages_measure() -> Measure:
    """The number of messages that are not internal."""
    return Measure(
        "messages m CROSS JOIN threads t",
        "m",
        "m.created_at",
        {"project": "t.repository", "agent": "t.agent", "thread": "t.id"},
        "count(*) AS messages",
        ("NOT m.internal",),
    )


def usage_measure(*, whole_thread: bool) -> Measure:
    """What responses consumed: those that are counted, or all of a thread."""
    return Measure(
        "consumptions c CROSS JOIN threads t",
        "c",
        "c.time",
        {
            "project": "t.repository",
            "agent": "coalesce(c.agent, t.agent)",
            "model": "c.model",
            "thread": "t.id",
        },
        TOTALS,
        () if whole_thread else ("c.counted",),
    )


def calls_measure(tx: Transaction, *, whole_thread: bool, by_model: bool) -> Measure:
    """Tool calls, also of sub-agents: of messages whose response is counted or not in the ledger; or all.

    Their model is that of the response; the ledger does not say which model called inside a sub-agent.
    """
    binary = "BINARY" if tx.is_sqlite else '"C"'
    key, is_counted = (FIRST_RESPONSE.format(column=name, binary=binary) for name in ("key", "counted"))
    response = f"""
        LEFT JOIN consumptions r ON r.owner = m.owner AND r.thread_id = m.thread_id
            AND r.message_id = m.id AND r.key = ({key})"""
    return Measure(
        f"messages m CROSS JOIN threads t {response if by_model else ''} CROSS JOIN parts p",
        "m",
        "m.created_at",
        {
            "project": "t.repository",
            "agent": "t.agent",
            "model": "CASE WHEN p.path LIKE '%.%' THEN NULL ELSE r.model END",
            "tool": "p.tool_name",
            "thread": "t.id",
        },
        CALLS,
        (
            "p.owner = m.owner",
            "p.message = m.key",
            "p.type = 'tool-call'",
            *(() if whole_thread else (f"coalesce(({is_counted}), true)",)),
        ),
    )


def runs_measure(tx: Transaction, *, by_model: bool) -> Measure:
    """The number and results of runs and the sum of their durations, by the time they were created.

    The time of sub-agents counts by model only: otherwise it is part of that of the run which started them.
    """
    timed = f"r.finished_at > {STARTED}" + ("" if by_model else f" AND NOT {OF_SUB_AGENT}")
    seconds = SECONDS[tx.is_sqlite]
    return Measure(
        "runs r CROSS JOIN threads t",
        "r",
        "r.created_at",
        {
            "project": "t.repository",
            "agent": "coalesce(r.agent, t.agent)",
            "model": "r.model",
            "thread": "t.id",
        },
        f"""count(*) AS runs,
    count(*) FILTER (WHERE r.status = 'failed') AS failed_runs,
    count(*) FILTER (WHERE r.status IN ('interrupted', 'cancelled')) AS interrupted_runs,
    coalesce(sum(CASE WHEN {timed} THEN {seconds} END), 0) AS seconds""",
    )


def all_measures(
    tx: Transaction, *, whole_thread: bool = False, by_model: bool
) -> Mapping[MeasureName, Measure]:
    """Messages, usage, calls and runs."""
    return {
        "messages": messages_measure(),
        "usage": usage_measure(whole_thread=whole_thread),
        "calls": calls_measure(tx, whole_thread=whole_thread, by_model=by_model),
        "runs": runs_measure(tx, by_model=by_model),
    }


def where(
    tx: Transaction, measure: Measure, filter: StatFilter, thread: Row[Any] | None = None
) -> tuple[str, tuple[Any, ...]]:
    """The condition on the rows that a filter selects, each joined with its thread, and its parameters."""
    conditions = {
        f"{measure.main}.owner = ?": tx.owner if thread is None else thread.owner,
        f"{measure.main}.thread_id = ?": None if thread is None else thread.id,
        f"{measure.time} >= ?": None if filter.since is None else tx.instant(in_utc(filter.since, "since")),
        f"{measure.time} > ?": None if filter.until is None else tx.instant(NEVER),
        f"{measure.time} < ?": None if filter.until is None else tx.instant(in_utc(filter.until, "until")),
        f"{measure.columns['agent']} = ?": filter.agent,
        f"{measure.columns.get('model')} = ?": filter.model,
    }
    used: dict[str, tuple[Any, ...]] = {
        condition: (value,) for condition, value in conditions.items() if value is not None
    }
    if filter.project is not None:
        in_project, names = project_condition(tx, "t", filter.project)
        used[in_project] = names
    of_thread = (f"t.owner = {measure.main}.owner", f"t.id = {measure.main}.thread_id")
    parameters = tuple(value for values in used.values() for value in values)
    return " AND ".join([*of_thread, *measure.conditions, *used]), parameters


NO_NUMBERS: dict[str, Any] = {
    field: None if field == "cost" else 0
    for field in UsageStat.__struct_fields__
    if field not in ("key", "threads", "thread_ids", "extra")
}


class Group:
    """The numbers of a row of statistics, and the keys of its threads."""

    __slots__ = ("numbers", "threads")

    def __init__(self) -> None:
        self.numbers = dict(NO_NUMBERS)
        self.threads: set[int] = set()


def add_measure(
    tx: Transaction,
    groups: dict[Any, Group],
    measure: Measure,
    columns: Sequence[str],
    filter: StatFilter,
    thread: Row[Any] | None = None,
) -> None:
    """Add the numbers of a measure to their groups."""
    keys = [f"key_{number}" for number in range(len(columns))]
    named = [f"{column} AS {key}" for column, key in zip(columns, keys, strict=True)]
    selected = ", ".join([*named, f"{gathered(tx, 't.key')} AS thread_keys", measure.totals])
    condition, values = where(tx, measure, filter, thread)
    grouping = f" GROUP BY {', '.join(keys)}" if keys else ""
    query = f"SELECT {selected} FROM {measure.tables} WHERE {condition}{grouping}"
    for row in tx.sql(query, values).mappings():
        group = groups.setdefault(tuple(row[key] for key in keys), Group())
        group.threads.update(keys_in(row["thread_keys"]))
        group.numbers.update({name: row[name] for name in row if name in NO_NUMBERS})


def gathered(tx: Transaction, key: str) -> str:
    """The expression for the different keys of a group."""
    return f"group_concat(DISTINCT {key})" if tx.is_sqlite else f"array_agg(DISTINCT {key})"


def keys_in(value: Any) -> Iterable[int]:
    """The keys of a `gathered` value: a text in SQLite, a list with `None` in PostgreSQL."""
    if value is None:
        return ()
    if isinstance(value, str):
        return map(int, value.split(","))
    return (key for key in value if key is not None)


def thread_ids(
    tx: Transaction, groups: Iterable[Collection[int]]
) -> Mapping[frozenset[int], tuple[str, ...]]:
    """The ids of the threads of each group that is small enough, in the order of their keys."""
    small = {frozenset(keys) for keys in groups if len(keys) <= MAX_IDS}
    rows = thread_rows(tx, sorted({key for keys in small for key in keys}))
    return {keys: tuple(rows[key].id for key in sorted(keys)) for keys in small}


def thread_rows(tx: Transaction, keys: Sequence[int]) -> dict[int, Row[Any]]:
    """What statistics show of threads, by key."""
    columns = "key, owner, id, title, agent, repository AS project"
    query = f"SELECT {columns} FROM threads WHERE key IN ({KEYS[tx.is_sqlite]})"
    return {row.key: row for row in tx.sql(query, (tx.list_parameter(keys),))}
