"""Tools: how often each was called, how that went, and how long it took."""

from typing import Any

from sqlalchemy import RowMapping

from partita.types.value import Value

from .stat_sources import StatFilter, called, selection
from .stat_threads import distinct, ids_of, keys_in
from .transaction import Transaction

SECOND = 1_000_000
TOOK = {
    True: "p.ended_at - p.started_at",
    False: "CAST(EXTRACT(EPOCH FROM p.ended_at - p.started_at) * 1000000 AS BIGINT)",
}
"""Microseconds between the two ends of a call."""

QUERY = """
WITH calls AS (
    SELECT p.tool_name AS tool, t.key AS thread, p.state, p.interruption,
        p.error IS NOT NULL AND p.interruption IS NULL AS failed,
        CASE WHEN p.ended_at >= p.started_at THEN {took} END AS took
    FROM {tables} WHERE {where}
), ranked AS (
    SELECT calls.*, row_number() OVER (PARTITION BY tool ORDER BY took NULLS LAST) AS place,
        count(took) OVER (PARTITION BY tool) AS timed
    FROM calls
)
SELECT tool, count(*) AS calls,
    count(*) FILTER (WHERE failed) AS errors,
    count(*) FILTER (WHERE state = 'output-denied') AS denied,
    count(*) FILTER (WHERE interruption IS NOT NULL) AS interrupted,
    max(timed) AS timed,
    CAST(sum(took) AS BIGINT) AS total,
    max(took) FILTER (WHERE place = (timed * 50 + 99) / 100) AS median,
    max(took) FILTER (WHERE place = (timed * 95 + 99) / 100) AS slow,
    max(took) AS longest,
    {threads} AS threads,
    {failing} AS failing
FROM ranked GROUP BY tool
"""
"""A percentile is the least time that so many calls of a hundred did not exceed."""


class ToolStat(Value, kw_only=True):
    """One tool. Times are in seconds, of calls whose both ends are known; `None` when there are none."""

    tool: str | None
    calls: int
    errors: int  # interrupted calls are no errors here
    denied: int
    interrupted: int
    timed: int  # calls whose time is known
    total_seconds: float | None = None
    median_seconds: float | None = None
    p95_seconds: float | None = None
    longest_seconds: float | None = None
    threads: int
    failing_threads: int  # threads with an error of it
    thread_ids: tuple[str, ...] | None = None  # `None` when they are too many
    failing_thread_ids: tuple[str, ...] | None = None


def tool_stats(tx: Transaction, wanted: StatFilter) -> tuple[ToolStat, ...]:
    """Every tool that was called, the most called first."""
    told = called(tx, whole_thread=False, by_model=wanted.model is not None)
    where, values = selection(tx, told, wanted)
    query = QUERY.format(
        took=TOOK[tx.lite],
        tables=told.tables,
        where=where,
        threads=distinct(tx, "thread"),
        failing=distinct(tx, "CASE WHEN failed THEN thread END"),
    )
    rows = tx.sql(query, values).mappings().all()
    behind = [(frozenset(keys_in(row["threads"])), frozenset(keys_in(row["failing"]))) for row in rows]
    ids = ids_of(tx, [keys for pair in behind for keys in pair])
    found = [
        _stat(row, len(every), len(failing), ids.get(every), ids.get(failing))
        for row, (every, failing) in zip(rows, behind, strict=True)
    ]
    return tuple(sorted(found, key=lambda stat: (-stat.calls, stat.tool or "")))


def _stat(
    row: RowMapping,
    threads: int,
    failing: int,
    thread_ids: tuple[str, ...] | None,
    failing_ids: tuple[str, ...] | None,
) -> ToolStat:
    return ToolStat(
        tool=row["tool"],
        calls=row["calls"],
        errors=row["errors"],
        denied=row["denied"],
        interrupted=row["interrupted"],
        timed=row["timed"],
        total_seconds=_seconds(row["total"]),
        median_seconds=_seconds(row["median"]),
        p95_seconds=_seconds(row["slow"]),
        longest_seconds=_seconds(row["longest"]),
        threads=threads,
        failing_threads=failing,
        thread_ids=thread_ids,
        failing_thread_ids=failing_ids,
    )


def _seconds(microseconds: Any) -> float | None:
    return None if microseconds is None else int(microseconds) / SECOND
