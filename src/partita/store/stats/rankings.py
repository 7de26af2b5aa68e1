"""The tools, runs and threads at the top: the most called, the most expensive, the slowest."""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from sqlalchemy import RowMapping

from partita.store.runs.rows import SECONDS
from partita.store.schema import from_microseconds, known_time
from partita.store.sql.transaction import Transaction
from partita.store.threads.lists import display_titles, first_words
from partita.store.values import StatFilter
from partita.types.threads import RunStatus
from partita.types.times import Timestamp
from partita.types.value import Value
from partita.views.prompts import clean_title

from .measures import (
    Group,
    add_measure,
    all_measures,
    calls_measure,
    gathered,
    keys_in,
    runs_measure,
    thread_ids,
    thread_rows,
    where,
)

# Tools

MICROSECONDS = {
    True: "p.ended_at - p.started_at",
    False: "CAST(EXTRACT(EPOCH FROM p.ended_at - p.started_at) * 1000000 AS BIGINT)",
}
"""The duration of a call."""

TOOLS = """
WITH calls AS (
    SELECT p.tool_name AS tool, t.key AS thread, p.state, p.interruption,
        p.error IS NOT NULL AND p.interruption IS NULL AS failed,
        CASE WHEN p.ended_at >= p.started_at THEN {microseconds} END AS duration
    FROM {tables} WHERE {where}
), ranked AS (
    SELECT calls.*, row_number() OVER (PARTITION BY tool ORDER BY duration NULLS LAST) AS place,
        count(duration) OVER (PARTITION BY tool) AS timed
    FROM calls
)
SELECT tool, count(*) AS calls,
    count(*) FILTER (WHERE failed) AS errors,
    count(*) FILTER (WHERE state = 'output-denied') AS denied,
    count(*) FILTER (WHERE interruption IS NOT NULL) AS interrupted,
    max(timed) AS timed,
    CAST(sum(duration) AS BIGINT) AS total,
    max(duration) FILTER (WHERE place = (timed * 50 + 99) / 100) AS median,
    max(duration) FILTER (WHERE place = (timed * 95 + 99) / 100) AS p95,
    max(duration) AS longest,
    {threads} AS threads,
    {failing} AS failing
FROM ranked GROUP BY tool
"""
"""A percentile is the shortest duration that so many calls of a hundred did not exceed."""


class ToolStat(Value, kw_only=True):
    """A tool. Times are in seconds, of calls whose start and end are known; `None` if there are none."""

    tool: str | None
    calls: int
    errors: int  # without interrupted calls
    denied: int
    interrupted: int
    timed: int  # calls whose duration is known
    total_seconds: float | None = None
    median_seconds: float | None = None
    p95_seconds: float | None = None
    longest_seconds: float | None = None
    threads: int
    failing_threads: int  # threads in which it failed
    thread_ids: tuple[str, ...] | None = None  # `None` if there are too many
    failing_thread_ids: tuple[str, ...] | None = None


def tool_stats(tx: Transaction, filter: StatFilter | None = None) -> tuple[ToolStat, ...]:
    """Results and durations of each tool, the most called first."""
    selected = filter or StatFilter()
    measure = calls_measure(tx, whole_thread=False, by_model=selected.model is not None)
    condition, values = where(tx, measure, selected)
    query = TOOLS.format(
        microseconds=MICROSECONDS[tx.is_sqlite],
        tables=measure.tables,
        where=condition,
        threads=gathered(tx, "thread"),
        failing=gathered(tx, "CASE WHEN failed THEN thread END"),
    )
    rows = tx.sql(query, values).mappings().all()
    threads = [(frozenset(keys_in(row["threads"])), frozenset(keys_in(row["failing"]))) for row in rows]
    ids = thread_ids(tx, [keys for pair in threads for keys in pair])
    found = [
        ToolStat(
            tool=row["tool"],
            calls=row["calls"],
            errors=row["errors"],
            denied=row["denied"],
            interrupted=row["interrupted"],
            timed=row["timed"],
            total_seconds=_seconds(row["total"]),
            median_seconds=_seconds(row["median"]),
            p95_seconds=_seconds(row["p95"]),
            longest_seconds=_seconds(row["longest"]),
            threads=len(every),
            failing_threads=len(failing),
            thread_ids=ids.get(every),
            failing_thread_ids=ids.get(failing),
        )
        for row, (every, failing) in zip(rows, threads, strict=True)
    ]
    return tuple(sorted(found, key=lambda stat: (-stat.calls, stat.tool or "")))


def _seconds(microseconds: Any) -> float | None:
    return None if microseconds is None else int(microseconds) / 1_000_000


# Runs

RunOrder: TypeAlias = Literal["cost", "duration", "tokens"]

OWN_USAGE = {
    True: "CAST(coalesce(json_extract(r.usage, '$.{name}'), 0) AS INTEGER)",
    False: "CAST(coalesce(CAST(r.usage AS jsonb) ->> '{name}', '0') AS BIGINT)",
}
"""The usage in the row of a run, for runs without responses in the ledger."""

RUNS = """
WITH chosen AS (
    SELECT DISTINCT r.owner, r.thread_id FROM {tables} WHERE {where}
), spent AS (
    SELECT c.owner, c.thread_id, c.run_id, sum(c.cost) AS cost, sum(c.input_tokens) AS input_tokens,
        sum(c.output_tokens) AS output_tokens
    FROM chosen CROSS JOIN consumptions c
    WHERE c.owner = chosen.owner AND c.thread_id = chosen.thread_id AND c.run_id IS NOT NULL
    GROUP BY c.owner, c.thread_id, c.run_id
), found AS (
    SELECT r.owner, t.key AS thread, r.id, r.thread_id, t.repository AS project,
        coalesce(r.agent, t.agent) AS agent, r.model, r.status, r.created_at,
        coalesce(spent.cost, r.cost) AS cost,
        CAST(coalesce(spent.input_tokens, {input}) AS BIGINT) AS input_tokens,
        CAST(coalesce(spent.output_tokens, {output}) AS BIGINT) AS output_tokens,
        CAST(coalesce(spent.input_tokens + spent.output_tokens, {input} + {output}) AS BIGINT) AS tokens,
        {seconds} AS seconds
    FROM {tables} LEFT JOIN spent
        ON spent.owner = r.owner AND spent.thread_id = r.thread_id AND spent.run_id = r.id
    WHERE {where}
)
SELECT f.*, m.id AS message_id,
    CASE WHEN m.role = 'user' AND m.type <> 'event' THEN m.preview END AS question
FROM (SELECT * FROM found ORDER BY {order} DESC NULLS LAST, created_at DESC, id LIMIT ?) f
LEFT JOIN messages m ON m.key = (
    SELECT q.key FROM messages q WHERE q.run_id = f.id AND q.owner = f.owner AND NOT q.internal
    ORDER BY CASE WHEN q.role = 'user' AND q.type <> 'event' THEN 0 ELSE 1 END, q.seq LIMIT 1
)
ORDER BY f.{order} DESC NULLS LAST, f.created_at DESC, f.id
"""
"""With the first prompt of each run, or else its first message."""

RUN_ORDERS: dict[RunOrder, str] = {
    "cost": "cost",
    "duration": "seconds",
    "tokens": "tokens",
}


class RunStat(Value, kw_only=True):
    """A run, and what it consumed. The duration is known once it has ended."""

    id: str
    thread_id: str
    message_id: str | None = None  # its first prompt, or else its first message
    title: str | None = None  # of the thread, for display
    question: str | None = None  # the start of its first prompt
    project: str | None = None
    agent: str | None = None
    model: str | None = None
    status: RunStatus
    created_at: Timestamp | None = None  # if it is known
    cost: float | None = None
    input_tokens: int
    output_tokens: int
    seconds: float | None = None


def run_stats(
    tx: Transaction, filter: StatFilter | None = None, *, order: RunOrder = "cost", limit: int = 20
) -> tuple[RunStat, ...]:
    """The runs with the highest cost, duration or number of tokens."""
    measure = runs_measure(tx, by_model=False)
    condition, values = where(tx, measure, filter or StatFilter())
    query = RUNS.format(
        input=OWN_USAGE[tx.is_sqlite].format(name="inputTokens"),
        output=OWN_USAGE[tx.is_sqlite].format(name="outputTokens"),
        seconds=SECONDS[tx.is_sqlite],
        tables=measure.tables,
        where=condition,
        order=RUN_ORDERS[order],
    )
    rows = tx.sql(query, (*values, *values, limit)).mappings().all()
    titles = _titles(tx, {row["thread"] for row in rows})
    return tuple(_run_stat(row, titles[row["thread"]]) for row in rows)


def _run_stat(row: RowMapping, title: str | None) -> RunStat:
    fields: dict[str, Any] = {name: row[name] for name in row if name in RunStat.__struct_fields__}
    created = row["created_at"]
    fields["created_at"] = known_time(from_microseconds(created) if isinstance(created, int) else created)
    fields["question"] = first_words(clean_title(row["question"] or "")) or None
    return RunStat(title=title, **fields)


def _titles(tx: Transaction, keys: Iterable[int]) -> dict[int, str | None]:
    """The titles of threads for display, by key."""
    rows = thread_rows(tx, sorted(keys))
    titles = display_titles(tx, list(rows.values()))
    return {key: titles.get((row.owner, row.id)) for key, row in rows.items()}


# Threads

ThreadOrder: TypeAlias = Literal["cost", "tokens", "duration", "errors", "messages"]


class ThreadStat(Value, kw_only=True):
    """A thread, and what it consumed in the requested time. What it shares with others counts once."""

    id: str
    title: str | None = None  # for display
    agent: str | None = None
    project: str | None = None
    messages: int
    runs: int
    seconds: float  # of runs that have ended; that of sub-agents only if a model is selected
    input_tokens: int
    output_tokens: int
    cost: float | None = None
    tool_calls: int
    tool_errors: int


def thread_stats(
    tx: Transaction, filter: StatFilter | None = None, *, order: ThreadOrder = "cost", limit: int = 20
) -> tuple[ThreadStat, ...]:
    """The threads with the highest cost, number of tokens, duration, or number of errors or messages."""
    selected = filter or StatFilter()
    groups: dict[tuple[int], Group] = {}
    for measure in all_measures(tx, by_model=selected.model is not None).values():
        if selected.model is None or "model" in measure.columns:
            add_measure(tx, groups, measure, ["t.key"], selected)
    first = sorted(groups, key=lambda key: (-_size(groups[key].numbers, order), key))[:limit]
    rows = thread_rows(tx, [key for (key,) in first])
    titles = display_titles(tx, list(rows.values()))
    return tuple(
        ThreadStat(
            id=rows[key].id,
            title=titles.get((rows[key].owner, rows[key].id)),
            agent=rows[key].agent,
            project=rows[key].project,
            **{name: groups[key,].numbers[name] for name in THREAD_NUMBERS},
        )
        for (key,) in first
    )


THREAD_NUMBERS = (
    *("messages", "runs", "seconds", "input_tokens", "output_tokens", "cost"),
    *("tool_calls", "tool_errors"),
)


def _size(numbers: dict[str, Any], order: ThreadOrder) -> float:
    match order:
        case "cost":
            size: float = numbers["cost"] or 0
        case "tokens":
            size = numbers["input_tokens"] + numbers["output_tokens"]
        case "duration":
            size = numbers["seconds"]
        case "errors":
            size = numbers["tool_errors"]
        case "messages":
            size = numbers["messages"]
    return size
