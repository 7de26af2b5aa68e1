"""Mastra: `mastra_threads` and `mastra_messages`, of any release and under any prefix.

The rows have no sequence number, so they are ordered by `createdAt`. Rows with the same time are in the order
of insertion; where the database does not know it (PostgreSQL), in the order of their ids.

`createdAtZ` and `updatedAtZ` are the times with a zone. The columns without `Z` beside them hold the same in
the local time of the server, and are not stored.
"""

from partita.formats.format import Loaded
from partita.formats.mastra import format as messages_format
from partita.formats.rows import Row
from partita.types.json import JsonObject, is_object
from partita.types.threads import Thread

from .system import Layout, Lookups, Rows, System, Table, import_metadata, take_time

NAME = "mastra"
MESSAGES = Table(
    "mastra_messages",
    key="threadId",
    needs=("role", "content"),
    times=("createdAtZ", "createdAt"),
)
THREADS = Table("mastra_threads", key="id", needs=("resourceId", "title"))


def read_thread(row: Row, lookups: Lookups) -> Thread:
    """The thread of a row of `mastra_threads`."""
    row.unpack("metadata")
    metadata = row.take("metadata") if is_object(row.get("metadata")) else None
    return Thread(
        id=row.take_text("id") or "",
        resource_id=row.take_text("resourceId"),
        title=row.take_text("title"),
        agent=NAME,
        created_at=take_time(row, "createdAtZ", "createdAt"),
        updated_at=take_time(row, "updatedAtZ", "updatedAt"),
        metadata=import_metadata(NAME, metadata, row.left),  # last: with the columns not taken before
    )


def load(rows: Rows) -> Loaded:
    """The messages of rows of `mastra_messages`."""
    return messages_format.load([_with_zone(row) for row in rows[MESSAGES.name]])


def _with_zone(row: JsonObject) -> JsonObject:
    """The row with the value of `createdAtZ` in `createdAt`."""
    rest = {key: value for key, value in row.items() if key != "createdAtZ"}
    return rest if row.get("createdAtZ") is None else {**rest, "createdAt": row["createdAtZ"]}


SYSTEM = System(
    NAME,
    "Mastra",
    NAME,
    (Layout("Mastra", THREADS, (MESSAGES,), read_thread, load, prefixed=True),),
)
