"""Mastra: `mastra_threads` and `mastra_messages`, of any release and under any prefix.

The rows have no number, so `createdAt` decides their order: the one place where a clock does, because the
source has nothing better. Of rows with the same time the one that was inserted first goes first; where the
database does not know (PostgreSQL), the id decides.

`createdAtZ` and `updatedAtZ` are the moments; the columns without `Z` beside them say the same by the clock
of the server that wrote them, and are not kept.
"""

from partita.formats.format import Loaded
from partita.formats.mastra import format as messages_format
from partita.formats.rows import Row
from partita.types.json import JsonObject, is_object
from partita.types.threads import Thread

from .system import Layout, Lookups, Rows, System, Table, origin, taken_moment

NAME = "mastra"
MESSAGES = Table(
    "mastra_messages",
    key="threadId",
    needs=("role", "content"),
    moments=("createdAtZ", "createdAt"),
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
        created_at=taken_moment(row, "createdAtZ", "createdAt"),
        updated_at=taken_moment(row, "updatedAtZ", "updatedAt"),
        metadata=origin(NAME, metadata, row.left),  # last: what is left by then
    )


def load(rows: Rows) -> Loaded:
    """The messages of rows of `mastra_messages`."""
    return messages_format.load([_settled(row) for row in rows[MESSAGES.name]])


def _settled(row: JsonObject) -> JsonObject:
    """A row whose `createdAt` is the moment."""
    rest = {key: value for key, value in row.items() if key != "createdAtZ"}
    return rest if row.get("createdAtZ") is None else {**rest, "createdAt": row["createdAtZ"]}


MASTRA = System(
    NAME,
    "Mastra",
    NAME,
    (Layout("Mastra", THREADS, (MESSAGES,), read_thread, load, prefixed=True),),
)
