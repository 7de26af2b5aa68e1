"""Smithers: agents with their stream events and tool calls, and the threads of its memory.

An agent becomes a thread, as the format has it: prompts and one answer, folded from the events, which come by
their time and then as they were inserted.
"""

from typing import Final

from partita.formats.format import Loaded
from partita.formats.rows import Row
from partita.formats.smithers import load as smithers
from partita.types.json import JsonObject, is_object
from partita.types.threads import Thread

from .system import Layout, Lookups, Rows, System, Table, origin, taken_moment

NAME: Final = "smithers"
AGENTS = Table("agents", key="id", needs=("prompt", "executionId"), moments=("createdAt", "startedAt"))
EVENTS = Table(
    "agent_stream_events",
    key="agentId",
    needs=("eventType", "content"),
    moments=("timestamp", "createdAt"),
)
CALLS = Table("tool_calls", key="agentId", needs=("toolName",), moments=("startedAt", "createdAt"))
THREADS = Table("_smithers_memory_threads", key="threadId", needs=("namespace",))
MESSAGES = Table(
    "_smithers_memory_messages",
    key="threadId",
    needs=("role", "contentJson"),
    moments=("createdAtMs",),
)

TOLD: Final = ("executionId", "phaseId", "model", "status")
"""What a thread says of its agent; the rest of the row is in its messages."""


def read_agent(row: Row, lookups: Lookups) -> Thread:
    """The thread of an agent."""
    told: JsonObject = {name: row.get(name) for name in TOLD if name in row}
    return Thread(
        id=row.take_text("id") or "",
        agent=NAME,
        metadata=origin(NAME, None, told),
        created_at=taken_moment(row, "createdAt", "startedAt"),
        updated_at=taken_moment(row, "completedAt"),
    )


def load_agent(rows: Rows) -> Loaded:
    """What an agent was told and what it answered."""
    return smithers.load({name: list(found) for name, found in rows.items()})


def read_thread(row: Row, lookups: Lookups) -> Thread:
    """A thread of the memory."""
    row.unpack("metadataJson")
    metadata = row.take("metadataJson") if is_object(row.get("metadataJson")) else None
    return Thread(
        id=row.take_text("threadId") or "",
        title=row.take_text("title"),
        agent=NAME,
        created_at=taken_moment(row, "createdAtMs"),
        updated_at=taken_moment(row, "updatedAtMs"),
        metadata=origin(NAME, metadata, row.left),  # last: what is left by then
    )


def load(rows: Rows) -> Loaded:
    """The messages of rows of `_smithers_memory_messages`."""
    return smithers.load({MESSAGES.name: list(rows[MESSAGES.name])})


SMITHERS = System(
    NAME,
    "Smithers",
    NAME,
    (
        Layout("Smithers memory", THREADS, (MESSAGES,), read_thread, load),
        Layout("Smithers agents", AGENTS, (AGENTS, EVENTS, CALLS), read_agent, load_agent, whole=True),
    ),
)
