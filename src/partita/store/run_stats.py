"""The runs that took most: money, tokens or time."""

from typing import Any, Literal, TypeAlias

from sqlalchemy import RowMapping

from partita.types.runs import RunStatus
from partita.types.times import Moment
from partita.types.value import Value

from .microseconds import from_microseconds
from .stat_sources import StatFilter, ran, selection
from .transaction import Transaction

RunOrder: TypeAlias = Literal["cost", "duration", "tokens"]

BEGUN = "coalesce(r.started_at, r.created_at)"
SECONDS = {
    True: f"(r.finished_at - {BEGUN}) / 1000000.0",
    False: f"CAST(EXTRACT(EPOCH FROM r.finished_at - {BEGUN}) AS DOUBLE PRECISION)",
}
SAID = {
    True: "CAST(coalesce(json_extract(r.usage, '$.{name}'), 0) AS INTEGER)",
    False: "CAST(coalesce(CAST(r.usage AS jsonb) ->> '{name}', '0') AS BIGINT)",
}
"""What a run says of its own usage, where the ledger knows nothing of it."""

QUERY = """
WITH spent AS (
    SELECT owner, run_id, sum(cost) AS cost, sum(input_tokens) AS input_tokens,
        sum(output_tokens) AS output_tokens
    FROM consumptions WHERE run_id IS NOT NULL {mine} GROUP BY owner, run_id
), told AS (
    SELECT r.id, r.thread_id, t.title, t.project, coalesce(r.agent, t.agent) AS agent, r.model, r.status,
        r.created_at, coalesce(spent.cost, r.cost) AS cost,
        CAST(coalesce(spent.input_tokens, {input}) AS BIGINT) AS input_tokens,
        CAST(coalesce(spent.output_tokens, {output}) AS BIGINT) AS output_tokens,
        {seconds} AS seconds
    FROM {tables} LEFT JOIN spent ON spent.owner = r.owner AND spent.run_id = r.id
    WHERE {where}
)
SELECT * FROM told ORDER BY {order} DESC NULLS LAST, created_at DESC, id LIMIT ?
"""
ORDERS: dict[RunOrder, str] = {
    "cost": "cost",
    "duration": "seconds",
    "tokens": "input_tokens + output_tokens",
}


class RunStat(Value, kw_only=True):
    """A run, and what it took. Its time is known once it has ended."""

    id: str
    thread_id: str
    title: str | None = None
    project: str | None = None
    agent: str | None = None
    model: str | None = None
    status: RunStatus
    created_at: Moment
    cost: float | None = None
    input_tokens: int
    output_tokens: int
    seconds: float | None = None


def run_stats(tx: Transaction, order: RunOrder, wanted: StatFilter, limit: int) -> tuple[RunStat, ...]:
    """The runs that took most."""
    told = ran()
    where, values = selection(tx, told, wanted)
    mine = () if tx.owner is None else (tx.owner,)
    query = QUERY.format(
        mine="AND owner = ?" if mine else "",
        input=SAID[tx.lite].format(name="inputTokens"),
        output=SAID[tx.lite].format(name="outputTokens"),
        seconds=SECONDS[tx.lite],
        tables=told.tables,
        where=where,
        order=ORDERS[order],
    )
    return tuple(map(_stat, tx.sql(query, (*mine, *values, limit)).mappings()))


def _stat(row: RowMapping) -> RunStat:
    fields: dict[str, Any] = dict(row)
    if isinstance(row["created_at"], int):  # SQLite's
        fields["created_at"] = from_microseconds(row["created_at"])
    return RunStat(**fields)
