"""The threads that took most: money, tokens, errors or messages."""

from typing import Any, Literal, TypeAlias

from sqlalchemy import Row

from partita.types.value import Value

from .stat_sources import StatFilter, called, consumed, ran, said
from .stat_threads import AMONG
from .stats import Group, tell
from .transaction import Transaction

ThreadOrder: TypeAlias = Literal["cost", "tokens", "errors", "messages"]


class ThreadStat(Value, kw_only=True):
    """A thread, and what it took in the time that was asked for. What it shares with others counts once."""

    id: str
    title: str | None = None
    agent: str | None = None
    project: str | None = None
    messages: int
    runs: int
    input_tokens: int
    output_tokens: int
    cost: float | None = None
    tool_calls: int
    tool_errors: int


KEPT = ("messages", "runs", "input_tokens", "output_tokens", "cost", "tool_calls", "tool_errors")


def thread_stats(
    tx: Transaction, order: ThreadOrder, wanted: StatFilter, limit: int
) -> tuple[ThreadStat, ...]:
    """The threads that took most."""
    groups: dict[Any, Group] = {}
    for told in (said(), consumed(False), called(tx, False, wanted.model is not None), ran()):
        if wanted.model is None or "model" in told.names:
            for (key,), row in tell(tx, told, ["t.key"], wanted):
                groups.setdefault(key, Group()).add(row)
    first = sorted(groups, key=lambda key: (-_size(groups[key].fields, order), key))[:limit]
    named = _named(tx, first)
    return tuple(
        ThreadStat(
            id=named[key].id,
            title=named[key].title,
            agent=named[key].agent,
            project=named[key].project,
            **{name: groups[key].fields[name] for name in KEPT},
        )
        for key in first
    )


def _size(fields: dict[str, Any], order: ThreadOrder) -> float:
    match order:
        case "cost":
            size: float = fields["cost"] or 0
        case "tokens":
            size = fields["input_tokens"] + fields["output_tokens"]
        case "errors":
            size = fields["tool_errors"]
        case "messages":
            size = fields["messages"]
    return size


def _named(tx: Transaction, keys: list[int]) -> dict[int, Row[Any]]:
    listed = f"[{','.join(map(str, keys))}]" if tx.lite else keys
    query = f"SELECT key, id, title, agent, project FROM threads WHERE key IN ({AMONG[tx.lite]})"
    return {row.key: row for row in tx.sql(query, (listed,))}
