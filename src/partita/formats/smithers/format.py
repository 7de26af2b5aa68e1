"""Rows of Smithers → canonical messages.

A payload is one row, a list of rows, or an object of lists by table: `agents`, `events`, `toolCalls`,
`messages`, or the names of the tables in the database. Each agent becomes a thread: its system prompt,
its prompt and its response. Events and calls are assigned to the agent they name, even if
its row is missing. Columns without a place in a message are kept in its metadata, except those that are null.
Losses are ids and times of stream events, and values that later events replaced.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from partita.errors import ConversionError
from partita.formats.format import Format, Loaded
from partita.formats.losses import IN_CALLS, UNREAD, Loss
from partita.formats.rows import Row, rows_of
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message
from partita.types.tool_results import expand, fold

from .agents import Agent, load_agent
from .memory import load_memory

TABLES: Final[Mapping[str, str]] = {
    "agents": "agents",
    "events": "events",
    "agentStreamEvents": "events",
    "agent_stream_events": "events",
    "toolCalls": "toolCalls",
    "tool_calls": "toolCalls",
    "messages": "messages",
    "memoryMessages": "messages",
    "_smithers_memory_messages": "messages",
}
"""Names of lists in a payload, and their tables."""

SIGNS: Final[Mapping[str, tuple[str, ...]]] = {
    "messages": ("contentJson",),
    "events": ("agentId", "eventType"),
    "toolCalls": ("agentId", "toolName"),
    "agents": ("prompt",),
}
"""The columns that identify a table."""


def load(payload: Json) -> Loaded:
    """Read rows of any of the tables: agents first, then memory messages."""
    losses: list[Loss] = []
    tables: dict[str, list[Row]] = {name: [] for name in SIGNS}
    for table, row in _sorted(payload, losses):
        tables[table].append(row)
    messages: list[Message] = []
    for index, agent in enumerate(_agents(tables)):
        messages.extend(load_agent(agent, index, losses))
    messages.extend(
        _joined([load_memory(row, i, losses) for i, row in enumerate(tables["messages"])], losses)
    )
    return Loaded(tuple(messages), tuple(losses))


def _joined(messages: list[Message], losses: list[Loss]) -> list[Message]:
    """Return memory messages, with the results of tools in their calls."""
    joined = fold(messages)
    if expand(joined) != messages:
        losses.append(Loss("$", "the place of tool results", IN_CALLS, "changed"))
    return joined


def _sorted(payload: Json, losses: list[Loss]) -> Iterator[tuple[str, Row]]:
    """Yield the rows, each with its table."""
    if not is_object(payload) or not TABLES.keys() & payload.keys():
        yield from ((_table_of(row), row) for row in rows_of(payload))
        return
    for name, rows in payload.items():
        if name in TABLES:
            yield from ((TABLES[name], row) for row in rows_of(rows, f"$.{name}"))
        else:
            losses.append(Loss.of(f"$.{name}", rows, UNREAD))


def _table_of(row: Row) -> str:
    for table, columns in SIGNS.items():
        if all(column in row for column in columns):
            return table
    raise ConversionError(
        "a row of an unknown table",
        where=row.path,
        hint="use rows of agents, agent_stream_events, tool_calls or _smithers_memory_messages",
    )


def _agents(tables: Mapping[str, list[Row]]) -> Iterator[Agent]:
    """Yield the agents with their rows; agents that have no row come last."""
    events = _by_agent(tables["events"])
    calls = _by_agent(tables["toolCalls"])
    for row in tables["agents"]:
        id_ = _id_text(row.get("id"))
        if id_ is None:
            yield Agent(row, (), ())
        else:
            yield Agent(row, events.pop(id_, []), calls.pop(id_, []))
    for id_ in [*events, *(other for other in calls if other not in events)]:
        raw: JsonObject = {} if id_ is None else {"id": id_}
        yield Agent(Row(raw, "$"), events.get(id_, []), calls.get(id_, []))


def _by_agent(rows: list[Row]) -> dict[str | None, list[Row]]:
    found: dict[str | None, list[Row]] = {}
    for row in rows:
        found.setdefault(_id_text(row.get("agentId")), []).append(row)
    return found


def _id_text(id_: Json) -> str | None:
    """Return an id as text, or `None` if the value is not an id."""
    return str(id_) if isinstance(id_, str | int) and not isinstance(id_, bool) and id_ != "" else None


FORMAT: Final = Format("smithers", "Smithers agents, events and memory (rows)", load, is_complete=True)
