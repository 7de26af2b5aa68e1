"""The calls in a log: which records are a model's own words, and which of them are ours.

Calls of sub-agents stand in envelopes. Those of one address follow each other; those of several may overlap.
"""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.errors import StreamError
from partita.formats.agent_decoder import CALL, CALL_END, is_mark
from partita.runtime.folding import tells_ending
from partita.runtime.session.live_run import NOTES
from partita.runtime.session.writer import REFUSED
from partita.store.log.run_log import LogRecord
from partita.types.chunks import ChildChunk, Chunk, DataChunk, ErrorChunk, MessageAbort

Address: TypeAlias = tuple[tuple[str, ...], ...]
"""The paths on the envelopes around a chunk, the outermost first; none for the run's own message."""

TOP: Final[Address] = ()


class Sorted(NamedTuple):
    """A record, the call it belongs to, and its chunk without envelopes."""

    kind: Literal["begin", "said", "end", "own"]
    address: Address
    chunk: Chunk | None
    raw: bytes | None


def unwrapped(chunk: Chunk) -> tuple[Address, Chunk]:
    """A chunk without its envelopes, and what stood on them."""
    address: list[tuple[str, ...]] = []
    while isinstance(chunk, ChildChunk):
        address.append(chunk.path)
        chunk = chunk.chunk
    return tuple(address), chunk


def wrapped(address: Address, chunk: Chunk) -> Chunk:
    """A chunk in the same envelopes."""
    for path in reversed(address):
        chunk = ChildChunk(path, chunk)
    return chunk


def sort_records(records: Iterable[LogRecord], last_seq: int) -> Iterable[Sorted]:
    """The records of a log, whose last one has that number, each with the call it belongs to."""
    at_work: set[Address] = set()
    for record in records:
        address, chunk = (TOP, None) if record.chunk is None else unwrapped(record.chunk)
        if chunk is None:
            yield Sorted(*_heard_in(at_work, record), None, record.raw)
        elif is_mark(chunk, CALL):
            at_work.add(address)
            yield Sorted("begin", address, chunk, record.raw)
        elif is_mark(chunk, CALL_END):
            at_work.discard(address)
            yield Sorted("end", address, chunk, record.raw)
        elif address not in at_work or _is_ours(chunk) or _is_last_word(record, last_seq):
            yield Sorted("own", address, chunk, record.raw)
        else:
            yield Sorted("said", address, chunk, record.raw)


def _heard_in(at_work: set[Address], record: LogRecord) -> tuple[Literal["said", "own"], Address]:
    """The call that bytes without a chunk came in: they have no envelope."""
    if len(at_work) > 1:
        raise StreamError(
            "several calls were at work at once, and their bytes cannot be told apart",
            where=f"entry {record.seq}",
            hint="its chunks are there",
        )
    return ("said", next(iter(at_work))) if at_work else ("own", TOP)


def _is_ours(chunk: Chunk) -> bool:
    """Whether a chunk comes from us, though a call is at work. What was refused comes from the model."""
    return isinstance(chunk, DataChunk) and chunk.type.startswith(NOTES) and chunk.type != REFUSED


def _is_last_word(record: LogRecord, last_seq: int) -> bool:
    """Whether it is what a run that was cut is ended with."""
    if record.chunk is None or record.raw is not None:
        return False
    is_end = isinstance(record.chunk, MessageAbort | ErrorChunk)
    return (is_end and record.seq == last_seq) or tells_ending(record.chunk)
