"""The times at which tool calls started and ended, from the log of their run."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar

from sqlalchemy import select

from partita.errors import StoreError
from partita.store.runs.rows import find
from partita.store.schema import from_microseconds, messages, parts
from partita.store.sql.texts import sanitized
from partita.store.sql.transaction import Transaction
from partita.types import chunks as c
from partita.types.chunks import Chunk
from partita.types.codec import decode_chunk

from .run_log import stored_entries

T = TypeVar("T")
P = ParamSpec("P")

CallPath: TypeAlias = tuple[str, ...]
"""The id of a call, after the ids of the calls of the agents that it is nested in."""

CHILDREN = ".children."
"""Separates the path of a sub-agent's part from the path of the call that started the sub-agent."""

UPDATE = """
UPDATE parts SET started_at = coalesce(?, started_at), ended_at = coalesce(?, ended_at)
WHERE owner = ? AND message = ? AND number = ?
"""


class Timing(NamedTuple):
    """When a call started and ended; `None` if the log does not say."""

    started: datetime | None = None
    ended: datetime | None = None


def timings(chunks: Iterable[tuple[datetime, Chunk]]) -> dict[CallPath, Timing]:
    """The times of every call: from the start of its input to its output, preliminary outputs left out."""
    calls: dict[CallPath, Timing] = {}
    for time, chunk in chunks:
        path: CallPath = ()
        while isinstance(chunk, c.ChildChunk):
            path, chunk = (*path, *chunk.path), chunk.chunk  # noqa: PLW2901 # the nested chunk
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
    """Write the times of a run's calls to the part rows of its messages; returns the number of parts."""
    run = find(tx, run_id)
    calls = {
        tuple(map(sanitized, path)): timing for path, timing in timings(_tool_chunks(tx, run_id)).items()
    }
    if not calls:
        return 0
    rows = [
        (tx.instant(timing.started), tx.instant(timing.ended), run.owner, message, number)
        for message, number, path in _call_parts(tx, run.owner, run_id)
        if (timing := calls.get(path)) is not None
    ]
    tx.many(UPDATE, rows)
    return len(rows)


def with_timings(
    tx: Transaction,
    function: Callable[Concatenate[Transaction, str, P], T],
    run_id: str,
    /,
    *args: P.args,
    **options: P.kwargs,
) -> T:
    """Call a function that ends or seals a run, and write the times of its calls."""
    result = function(tx, run_id, *args, **options)
    with suppress(StoreError):  # a run with a damaged or dropped log can end, too: the doctor reports it
        record_timings(tx, run_id)
    return result


def _tool_chunks(tx: Transaction, run_id: str) -> Iterator[tuple[datetime, Chunk]]:
    for _, entry in stored_entries(tx, run_id):
        if entry.chunk is not None and b'"tool-' in entry.chunk:
            yield from_microseconds(entry.time), decode_chunk(entry.chunk)


def _call_parts(tx: Transaction, owner: str, run_id: str) -> Iterator[tuple[int, int, CallPath]]:
    """The parts of a run's messages that belong to a call: key of the message, number, path of the call."""
    query = (
        select(parts.c.message, parts.c.number, parts.c.path, parts.c.call_id)
        .join(messages, (messages.c.key == parts.c.message) & (messages.c.owner == parts.c.owner))
        .where(messages.c.run_id == run_id, messages.c.owner == owner, parts.c.call_id.is_not(None))
    )
    rows = tx.rows(query)
    ids = {(row.message, row.path): row.call_id for row in rows}
    for row in rows:
        steps = row.path.split(CHILDREN)
        parents = [CHILDREN.join(steps[:depth]) for depth in range(1, len(steps))]
        yield row.message, row.number, (*(ids.get((row.message, path), "") for path in parents), row.call_id)
