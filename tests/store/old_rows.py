"""Rows as other systems write them, and the whole content of a store, for comparison."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select, text

from partita.store import schema
from partita.store.schema import metadata
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.json import Json, JsonObject, dumps
from tests.store.examples import assistant_message, user_message


def network(text: str = "Until six.", id: str = "clerk") -> str:
    """The result of an agent in a network, as its message stores it."""
    result: JsonObject = {
        "isNetwork": True,
        "selectionReason": "knows the hours",
        "primitiveType": "agent",
        "primitiveId": id,
        "input": "Is the library open?",
        "finalResult": {"text": text, "toolCalls": [], "messages": []},
    }
    return dumps(result).decode()


def second(*parts: JsonObject, **members: Json) -> str:
    """A content of format 2."""
    return dumps({"format": 2, "parts": list(parts), **members}).decode()


CALL: JsonObject = {
    "type": "tool-invocation",
    "toolInvocation": {
        "state": "result",
        "toolCallId": "k1",
        "toolName": "hours",
        "args": {"day": "monday"},
        "result": {"until": "18:00"},
    },
}
REASONING: JsonObject = {
    "type": "reasoning",
    "reasoning": "Look it up, then answer.",
    "details": [
        {"type": "text", "text": "Look it up, ", "signature": "c2lnbmVk"},
        {"type": "text", "text": "then answer."},
    ],
}
SOURCE: JsonObject = {
    "type": "source",
    "source": {"sourceType": "url", "id": "s1", "url": "https://library.example/hours", "title": "Hours"},
}
FILE: JsonObject = {"type": "file", "mimeType": "image/png", "data": "iVBORw0KGgo="}


async def with_rows(store: Store, rows: Mapping[str, tuple[str, str]], thread: str = "t1") -> None:
    """Write messages with these texts in the content column, by id: role and text."""
    if await store.threads.get(thread) is None:
        await store.threads.create(thread)
    made = [
        user_message(name, "?") if role == "user" else assistant_message(name, "?")
        for name, (role, _) in rows.items()
    ]
    await store.messages.save(made, thread_id=thread)
    for name, (_, content) in rows.items():
        await set_content(store, name, content, thread)


async def set_content(store: Store, id: str, content: str, thread: str = "t1") -> None:
    """Write a text to the content column of a message."""
    statement = "UPDATE messages SET content = ? WHERE id = ? AND thread_id = ?"
    await store.write(lambda tx: tx.sql(statement, (content, id, thread)) and None)


async def everything(store: Store, *left_out: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, except for the given tables and columns."""

    def dump(tx: Transaction) -> dict[str, list[tuple[Any, ...]]]:
        tables = [
            table for table in metadata.sorted_tables if not tx.is_sqlite or table.name != "write_tokens"
        ]
        found = {
            table.name: sorted(
                (
                    tuple(row)
                    for row in tx.rows(select(*(c for c in table.columns if c.name not in left_out)))
                ),
                key=repr,
            )
            for table in tables
            if table.name not in ("write_tokens", *left_out)
        }
        found["search"] = sorted((tuple(row) for row in tx.rows(text("SELECT * FROM search"))), key=repr)
        return found

    return await store.read(dump)


def without_checks(tx: Transaction, statement: str, parameters: tuple[Any, ...] = ()) -> None:
    """Run a statement without the checks of roles and types, as in an older database."""
    off, on = schema.without_checks(tx.connection.dialect.name)
    tx.sql(off)
    tx.sql(statement, parameters)
    tx.sql(on)
