"""Where statistics come from: messages, responses, calls and runs, and which of them are asked for."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row

from partita.types.times import in_utc

from .consumptions import COUNTS
from .texts import storable
from .transaction import Transaction
from .values import By

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


def ran() -> Told:
    """Runs, by when they were asked for."""
    return Told(
        "runs r CROSS JOIN threads t",
        "r",
        "r.created_at",
        {"project": "t.project", "agent": "coalesce(r.agent, t.agent)", "model": "r.model"},
        "count(*) AS runs",
    )


class Selection(NamedTuple):
    """The rows that are asked for: a condition, and the values in it."""

    where: str
    values: tuple[Any, ...]


def selection(tx: Transaction, told: Told, wanted: StatFilter, thread: Row[Any] | None = None) -> Selection:
    """Those rows of the tables that a filter lets through, each with its thread."""
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
    of_thread = (f"t.owner = {told.main}.owner", f"t.id = {told.main}.thread_id")
    return Selection(" AND ".join([*of_thread, *told.conditions, *given]), tuple(given.values()))
