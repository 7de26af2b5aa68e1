"""Writes threads and messages to the tables and to the index, without the code that saves them."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from sqlalchemy import Connection, insert

from partita.store.engines.engine import Engine
from partita.store.schema import messages, parts, threads
from partita.store.search import index as search_index
from partita.store.search.fields import SearchEntry, SearchFields, fields_of
from partita.store.sql.transaction import Transaction
from partita.store.values import SearchHit
from partita.types.codec import encode
from partita.types.messages import Message, ToolCallPart, UserMessage

T = TypeVar("T")

NOW = datetime(2030, 5, 4, 12, tzinfo=UTC)
NO_FIELDS = SearchFields("", "", "", "")
NO_FLAGS = dict.fromkeys(("internal", "has_tool_calls", "has_reasoning", "has_files", "has_errors"), False)


def put_thread(
    tx: Transaction,
    id: str,
    title: str | None = None,
    *,
    owner: str = "",
    agent: str = "a",
    project: str = "p",
) -> int:
    """Write a thread and index its title; returns its key."""
    (key,) = tx.next_keys("threads", 1)
    row = {"key": key, "owner": owner, "id": id, "title": title, "agent": agent, "project": project}
    counters = {"next_seq": 1, "message_count": 0, "error_count": 0}
    tx.run(insert(threads).values(**row, **counters, created_at=tx.now, updated_at=tx.now))
    if title:
        search_index.add(tx, [SearchEntry(owner, -key, title, NO_FIELDS)])
    return key


def put_message(
    tx: Transaction,
    content: str | Message,
    *,
    thread: str = "t",
    owner: str = "",
    at: datetime = NOW,
    kept: Message | None = None,
    blobs: str | None = None,
) -> int:
    """Write a message and index it; returns its key. The stored message may differ from the indexed one."""
    (key,) = tx.next_keys("messages", 1)
    message = UserMessage(id=f"m{key}", content=content) if isinstance(content, str) else content
    role: str = type(message).__struct_config__.tag  # type: ignore[assignment] # every role is a string
    row = {"key": key, "owner": owner, "thread_id": thread, "seq": key, "id": message.id, "role": role}
    encoded = encode((kept or message).content).decode()
    derived = {"type": message.type, "content": encoded, "blobs": blobs, "active": True, "preview": ""}
    tx.run(insert(messages).values(**row, **derived, **NO_FLAGS, created_at=at, updated_at=at))
    for number, part in enumerate(message.content.parts):
        name = part.name if isinstance(part, ToolCallPart) else None
        place = {"owner": owner, "message": key, "number": number, "path": str(number)}
        tx.run(insert(parts).values(**place, type="part", tool_name=name))
    search_index.add(tx, [SearchEntry(owner, key, "", fields_of(message))])
    return key


async def write(engine: Engine, work: Callable[[Transaction], T], owner: str | None = None) -> T:
    """Run work in a write transaction; returns its result."""
    return await engine.write(lambda connection: work(Transaction(connection, owner, NOW)))


async def read(engine: Engine, work: Callable[[Transaction], T], owner: str | None = None) -> T:
    """Run work in a read transaction; returns its result."""
    return await engine.read(lambda connection: work(Transaction(connection, owner, NOW)))


def undone(connection: Connection, work: Callable[[Transaction], T]) -> T:
    """Run work and roll back; returns its result."""
    savepoint = connection.begin_nested()
    try:
        return work(Transaction(connection, None, NOW))
    finally:
        savepoint.rollback()


def shown(hit: SearchHit) -> list[str]:
    """The highlighted text of a hit."""
    return [hit.snippet[start:end] for start, end in hit.highlights]
