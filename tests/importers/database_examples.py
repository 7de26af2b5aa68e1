"""Databases of other systems for tests: their tables, with example rows."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.json import JsonObject, dumps
from partita.types.messages import Message

TABLES: Mapping[str, str] = {
    "mastra_threads": (
        'id TEXT PRIMARY KEY, "resourceId" TEXT, title TEXT NOT NULL, metadata TEXT,'
        ' "createdAt" TEXT, "updatedAt" TEXT'
    ),
    "mastra_messages": (
        "id TEXT PRIMARY KEY, thread_id TEXT, content TEXT, role TEXT, type TEXT,"
        ' "createdAt" TEXT, "resourceId" TEXT'
    ),
    "session_messages": (
        "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT,"
        " agent_session_id TEXT DEFAULT '', metadata TEXT, created_at TEXT, updated_at TEXT"
    ),
    "sessions": (
        "id TEXT PRIMARY KEY, agent_type TEXT, agent_id TEXT, name TEXT, accessible_paths TEXT, model TEXT,"
        " created_at TEXT, updated_at TEXT"
    ),
    "agent_session": (
        "id TEXT PRIMARY KEY, agent_id TEXT, name TEXT, workspace_id TEXT, created_at INTEGER,"
        " updated_at INTEGER"
    ),
    "agent_session_message": (
        "id TEXT PRIMARY KEY, session_id TEXT, role TEXT, data TEXT, status TEXT, stats TEXT,"
        " created_at INTEGER, updated_at INTEGER"
    ),
    "agent": "id TEXT PRIMARY KEY, name TEXT",
    "agent_workspace": "id TEXT PRIMARY KEY, name TEXT, path TEXT",
    "_smithers_memory_threads": (
        "thread_id TEXT PRIMARY KEY, namespace TEXT, title TEXT, metadata_json TEXT,"
        " created_at_ms INTEGER, updated_at_ms INTEGER"
    ),
    "_smithers_memory_messages": (
        "id TEXT PRIMARY KEY, thread_id TEXT, role TEXT, content_json TEXT, run_id TEXT, node_id TEXT,"
        " created_at_ms INTEGER"
    ),
    "agent_stream_events": (
        "id TEXT PRIMARY KEY, agent_id TEXT, event_type TEXT, event_id TEXT, tool_name TEXT, content TEXT,"
        " timestamp INTEGER, created_at TEXT"
    ),
    "tool_calls": (
        "id TEXT PRIMARY KEY, agent_id TEXT, tool_name TEXT, input TEXT, output_inline TEXT,"
        " output_summary TEXT, status TEXT, error TEXT, started_at TEXT, created_at TEXT"
    ),
}
SMITHERS_AGENTS = (
    "id TEXT PRIMARY KEY, execution_id TEXT, model TEXT, system_prompt TEXT, prompt TEXT, status TEXT,"
    " result TEXT, error TEXT, started_at TEXT, completed_at TEXT, created_at TEXT, tokens_input INTEGER,"
    " tokens_output INTEGER"
)
CHERRY_AGENTS = "id TEXT PRIMARY KEY, name TEXT, accessible_paths TEXT"


def v2(text: str, **more: Any) -> str:
    """The content column of a Mastra message."""
    return dumps({"format": 2, "parts": [{"type": "text", "text": text}], **more}).decode()


def at(second: int) -> str:
    """A moment as Mastra writes it."""
    return f"2026-03-01T08:{second // 60:02}:{second % 60:02}.000Z"


def mastra_thread(id: str = "t1", **more: Any) -> JsonObject:
    return {
        "id": id,
        "resourceId": "ada",
        "title": "Bees",
        "metadata": '{"colour": "amber"}',
        "createdAt": at(0),
        "updatedAt": at(50),
        **more,
    }


def mastra_message(id: str, second: int, text: str = "Where is the hive?", **more: Any) -> JsonObject:
    return {
        "id": id,
        "thread_id": "t1",
        "content": v2(text),
        "role": "user",
        "type": "v2",
        "createdAt": at(second),
        "resourceId": "ada",
        **more,
    }


MASTRA: Mapping[str, Sequence[JsonObject]] = {
    "mastra_threads": [mastra_thread(), mastra_thread("t2", title="Wasps", resourceId="bob", metadata=None)],
    "mastra_messages": [
        mastra_message("z-first", 1),
        mastra_message("a-second", 2, "In the old oak.", role="assistant"),
        mastra_message("w1", 3, "And the wasps?", thread_id="t2", resourceId="bob"),
        mastra_message("m-same", 9, "One of two at once."),
        mastra_message("b-same", 9, "The other."),
    ],
}

CHERRY_OLD: Mapping[str, Sequence[JsonObject]] = {
    "agents": [{"id": "ag", "name": "Gardener", "accessible_paths": '["/home/ada/garden"]'}],
    "sessions": [
        {
            "id": "s1",
            "agent_id": "ag",
            "name": "Hedges",
            "created_at": at(0),
            "updated_at": at(20),
        }
    ],
    "session_messages": [
        {
            "id": number,
            "session_id": "s1",
            "role": role,
            "created_at": at(5),
            "content": dumps(
                {
                    "message": {"id": f"m{number}", "role": role, "createdAt": at(5)},
                    "blocks": [{"id": f"b{number}", "type": "main_text", "content": text}],
                }
            ).decode(),
        }
        for number, role, text in (
            (9, "user", "Trim them?"),
            (10, "assistant", "In June."),
            (11, "user", "Ok."),
        )
    ],
}

CHERRY: Mapping[str, Sequence[JsonObject]] = {
    "agent": [{"id": "ag", "name": "Gardener"}],
    "agent_workspace": [{"id": "w", "name": "garden", "path": "/home/ada/garden"}],
    "agent_session": [
        {"id": "s1", "agent_id": "ag", "name": "Hedges", "workspace_id": "w", "created_at": 1_772_000_000_000}
    ],
    "agent_session_message": [
        {
            "id": name,
            "session_id": "s1",
            "role": role,
            "status": "success",
            "data": dumps({"parts": [{"type": "text", "text": text}]}).decode(),
            "created_at": 1_772_000_000_000 + moment,
        }
        for name, role, text, moment in (("b", "assistant", "In June.", 20), ("c", "user", "Trim?", 10))
    ],
}

SMITHERS: Mapping[str, Sequence[JsonObject]] = {
    "_smithers_memory_threads": [
        {
            "thread_id": "t1",
            "namespace": "workflow:greenhouse",
            "title": "Seeds",
            "metadata_json": '{"bed": 3}',
            "created_at_ms": 1_772_000_000_000,
            "updated_at_ms": 1_772_000_009_000,
        }
    ],
    "_smithers_memory_messages": [
        {
            "id": name,
            "thread_id": "t1",
            "role": "user",
            "content_json": dumps({"text": text}).decode(),
            "created_at_ms": moment,
        }
        for name, text, moment in (("b", "Second.", 1_772_000_002_000), ("c", "First.", 1_772_000_001_000))
    ],
}

EVENTS = [
    {"type": "text-start", "id": "x"},
    {"type": "text-delta", "id": "x", "delta": "Lettuce "},
    {"type": "text-delta", "id": "x", "delta": "first."},
    {"type": "text-end", "id": "x"},
]
SMITHERS_OLD: Mapping[str, Sequence[JsonObject]] = {
    "agents": [
        {
            "id": "g1",
            "execution_id": "e1",
            "model": "some-model",
            "system_prompt": "You plan gardens.",
            "prompt": "What first?",
            "status": "completed",
            "result": "Lettuce first.",
            "created_at": at(0),
            "completed_at": at(30),
        },
    ],
    "agent_stream_events": [
        {
            "id": f"{9 - number}",
            "agent_id": agent,
            "event_type": event["type"],
            "content": dumps(event).decode(),
            "timestamp": 1_772_000_000_000,
        }
        for number, (agent, event) in enumerate([*(("g1", event) for event in EVENTS), ("g0", EVENTS[0])])
    ],
    "tool_calls": [
        {
            "id": "c1",
            "agent_id": "g1",
            "tool_name": "dig",
            "input": "{}",
            "output_inline": "dug",
            "status": "completed",
        }
    ],
}


def make_sqlite(path: Path, tables: Mapping[str, Sequence[JsonObject]], *, prefix: str = "") -> Path:
    """A SQLite file with these tables."""
    database = sqlite3.connect(path)
    try:
        with database:
            for name, rows in tables.items():
                database.execute(f'CREATE TABLE IF NOT EXISTS "{prefix}{name}" ({columns_of(name, rows)})')
                for row in rows:
                    database.execute(*insert(prefix + name, row))
    finally:
        database.close()
    return path


def columns_of(name: str, rows: Sequence[JsonObject]) -> str:
    """The columns of a table; two systems have one called `agents`."""
    if name == "agents":
        return SMITHERS_AGENTS if any("prompt" in row for row in rows) else CHERRY_AGENTS
    return TABLES[name]


def insert(table: str, row: JsonObject) -> tuple[str, tuple[Any, ...]]:
    """The statement that inserts a row, with its values."""
    names = ", ".join(f'"{name}"' for name in row)
    return f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(row))})', tuple(row.values())


def add(path: Path, table: str, rows: Iterable[JsonObject]) -> None:
    """Add rows to a table of a SQLite file."""
    database = sqlite3.connect(path)
    try:
        with database:
            for row in rows:
                database.execute(*insert(table, row))
    finally:
        database.close()


def message_texts(messages: Iterable[Message]) -> list[str]:
    """The text of each message."""
    return ["".join(getattr(part, "text", "") for part in message.content.parts) for message in messages]


async def texts_of(store: Store, thread_id: str, owner: str | None = None) -> list[str]:
    """The texts of the messages of a thread, in order."""
    mine = store if owner is None else store.scoped(owner)
    return message_texts(
        (await mine.messages.list(thread_id, MessageFilter(internal=None), limit=None)).items
    )


async def everything(store: Store) -> list[Any]:
    """All threads with their messages."""
    threads = (await store.threads.list(limit=1000, order="asc")).items
    found: list[Any] = []
    for thread in threads:
        mine = store.scoped(thread.resource_id or "")
        page = await mine.messages.list(thread.id, MessageFilter(internal=None, branch="all"), limit=None)
        found.append((thread, page.items))
    return found
