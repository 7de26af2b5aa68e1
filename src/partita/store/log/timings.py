"""When a tool call began and when it ended, as the log of its run tells."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple, TypeAlias

from sqlalchemy import select

from partita.store.microseconds import from_microseconds
from partita.store.runs import find
from partita.store.tables import messages, parts
from partita.store.texts import mended
from partita.store.transaction import Transaction
from partita.types import chunks as c
from partita.types.chunks import Chunk
from partita.types.codec import decode_chunk

from .run_log import stored_entries

CallPath: TypeAlias = tuple[str, ...]
"""A call: the ids of the calls that lead to it, and its own."""

CHILDREN = ".children."
"""What stands in the path of a sub-agent's part, behind the path of the call that started it."""

UPDATE = """
UPDATE parts SET started_at = coalesce(?, started_at), ended_at = coalesce(?, ended_at)
WHERE owner = ? AND message = ? AND number = ?
"""


class Timing(NamedTuple):
    """When a call began and when it ended; `None` is what the log does not tell."""

    started: datetime | None = None
    ended: datetime | None = None


def timings(told: Iterable[tuple[datetime, Chunk]]) -> dict[CallPath, Timing]:
    """The times of every call: from the first word of its input to the output that is not preliminary."""
    calls: dict[CallPath, Timing] = {}
    for time, chunk in told:
        path: CallPath = ()
        while isinstance(chunk, c.ChildChunk):
            path, chunk = (*path, *chunk.path), chunk.chunk  # noqa: PLW2901 # what is inside
        match chunk:
            case c.ToolInputStart(tool_call_id=id) | c.ToolInputAvailable(tool_call_id=id):
                _, ended = calls.get((*path, id), Timing())
                calls.setdefault((*path, id), Timing(time, ended))
            case c.ToolOutputAvailable(preliminary=True) | c.ToolOutputChunk(preliminary=True):
                pass
            case (
                c.ToolOutputAvailable(tool_call_id=id)
                | c.ToolOutputError(tool_call_id=id)
                | c.ToolOutputDenied(tool_call_id=id)
                | c.ToolOutputChunk(tool_call_id=id)
                | c.ToolInputError(tool_call_id=id)
            ):
                calls[*path, id] = Timing(calls.get((*path, id), Timing()).started, time)
            case _:
                pass
    return calls


def record_timings(tx: Transaction, run_id: str) -> int:
    """Write the times of a run's calls beside the parts of its messages; how many parts got theirs."""
    run = find(tx, run_id)
    calls = {tuple(map(mended, path)): timing for path, timing in timings(_of_tools(tx, run_id)).items()}
    if not calls:
        return 0
    rows = [
        (tx.instant(timing.started), tx.instant(timing.ended), run.owner, message, number)
        for message, number, path in _calls(tx, run.owner, run_id)
        if (timing := calls.get(path)) is not None
    ]
    tx.many(UPDATE, rows)
    return len(rows)


def _of_tools(tx: Transaction, run_id: str) -> Iterator[tuple[datetime, Chunk]]:
    for _, entry in stored_entries(tx, run_id):
        if entry.chunk is not None and b'"tool-' in entry.chunk:
            yield from_microseconds(entry.time), decode_chunk(entry.chunk)


def _calls(tx: Transaction, owner: str, run_id: str) -> Iterator[tuple[int, int, CallPath]]:
    """The parts of a run's messages that are about a call: message, number, and which call."""
    query = (
        select(parts.c.message, parts.c.number, parts.c.path, parts.c.call_id)
        .join(messages, (messages.c.key == parts.c.message) & (messages.c.owner == parts.c.owner))
        .where(messages.c.run_id == run_id, messages.c.owner == owner, parts.c.call_id.is_not(None))
    )
    rows = tx.rows(query)
    ids = {(row.message, row.path): row.call_id for row in rows}
    for row in rows:
        steps = row.path.split(CHILDREN)
        above = [CHILDREN.join(steps[:depth]) for depth in range(1, len(steps))]
        yield row.message, row.number, (*(ids.get((row.message, path), "") for path in above), row.call_id)
