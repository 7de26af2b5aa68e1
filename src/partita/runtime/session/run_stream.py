"""The chunks of a run for a client, as they are stored: without notes of Partita and internal messages."""

from collections.abc import AsyncGenerator, Sequence
from typing import Final

from partita.formats.ai_sdk.ui.chat import APPROVALS, approval_fact
from partita.runtime.error_mask import ErrorMask
from partita.runtime.run_fold import DECISION, with_decision
from partita.store.logs.run_log import LogRecord, read_log
from partita.store.store import Store
from partita.types.chunks import (
    ChildChunk,
    Chunk,
    DataChunk,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    starts_internal,
)
from partita.types.codec import encode
from partita.types.json import is_object
from partita.types.parts import Approval

from .live_run import BATCH_BYTES, Batch, LiveRun, StoredChunk

READ_AT_ONCE: Final = 200
"""How many records are read at a time for a reader that is far behind."""


async def follow_stored(
    store: Store, run_id: str, after: int, idle: float | None = None
) -> AsyncGenerator[Sequence[StoredChunk], None]:
    """The chunks of a run of another process, or of one that has ended."""
    async for records in store.logs.follow(run_id, after=after, idle=idle):
        chunks = stored_chunks(records)
        if chunks or not records:
            yield chunks


async def follow_live(
    store: Store, live: LiveRun, after: int, idle: float | None = None
) -> AsyncGenerator[Sequence[StoredChunk], None]:
    """The chunks of a run of this process: from memory, and from the store if the reader is far behind."""
    with live.listen() as news:
        while True:
            news.clear()  # before reading, so that no chunk is missed
            ended, last_seq = live.ended.is_set(), live.last_seq
            batch = live.chunks_after(after)
            if batch is None:
                records = await store.read(
                    read_log, live.run.id, after=after, limit=READ_AT_ONCE, max_bytes=BATCH_BYTES
                )
                batch = Batch(stored_chunks(records), records[-1].seq)
            after = max(after, batch.last_seq)
            if batch.chunks:
                yield batch.chunks
            elif after < last_seq:
                continue  # a part of the log without chunks
            elif ended:
                return
            elif idle is None:
                await news.next()
            elif not await news.wait(idle):
                yield ()


def stored_chunks(records: Sequence[LogRecord]) -> list[StoredChunk]:
    """The chunks of log records."""
    return [StoredChunk(r.seq, r.time, r.chunk, encode(r.chunk)) for r in records if r.chunk is not None]


# Which chunks a client receives

FILTERED: Final = frozenset({MessageStart, MessageFinish, DataChunk, ChildChunk})
"""Chunks that may be left out, or that begin or end a message that is left out."""


def decision_of(chunk: Chunk) -> MessageMetadata | None:
    """The metadata that a client receives for the note of a decision on an approval."""
    if not isinstance(chunk, DataChunk) or chunk.type != DECISION or not is_object(chunk.data):
        return None
    approval_id = str(chunk.data.get("approvalId"))
    fact = approval_fact(with_decision(Approval(approval_id), chunk.data))
    return MessageMetadata({APPROVALS: {approval_id: fact}})


class ChunkFilter:
    """Filters the chunks of a run, in order: notes of Partita and internal messages are left out."""

    def __init__(
        self, approvals: bool = False, *, everything: bool = False, mask: ErrorMask | None = None
    ) -> None:
        """With `approvals`, the note of a decision is replaced by metadata of the message.

        With `everything`, no chunk is left out. A `mask` replaces the texts of errors.
        """
        self._everything = everything
        self._mask = mask
        self._internal = False
        self._internal_below: set[tuple[str, ...]] = set()  # paths of sub-agents whose message is internal
        self._approvals = approvals

    async def catch_up(self, store: Store, run_id: str, after: int) -> None:
        """Process the chunks up to a number: the result for later ones depends on them."""
        if after > 0 and not (self._everything and self._mask is None):
            self.apply(stored_chunks(await store.logs.read(run_id, limit=after)))

    def apply(self, chunks: Sequence[StoredChunk]) -> Sequence[StoredChunk]:
        """The chunks that the client receives, in the form in which it receives them."""
        visible = chunks if self._everything else self._visible(chunks)
        return visible if self._mask is None else _masked(visible, self._mask)

    def _visible(self, chunks: Sequence[StoredChunk]) -> Sequence[StoredChunk]:
        if not self._internal and FILTERED.isdisjoint([type(one.chunk) for one in chunks]):
            return chunks
        visible: list[StoredChunk] = []
        for one in chunks:
            chunk = one.chunk
            if type(chunk) not in FILTERED:
                if not self._internal:
                    visible.append(one)
                continue
            if isinstance(chunk, MessageStart):
                self._internal = starts_internal(chunk)
                self._internal_below.clear()
            hidden = isinstance(chunk, ChildChunk) and self._is_internal_below(chunk)
            if not self._internal and not hidden and not one.is_note:
                visible.append(one)
            elif self._approvals and not self._internal and (fact := decision_of(chunk)) is not None:
                visible.append(one._replace(chunk=fact, json=encode(fact)))
            if isinstance(chunk, MessageFinish):
                self._internal = False
        return visible

    def _is_internal_below(self, child: ChildChunk) -> bool:
        """Whether the chunk of a sub-agent belongs to an internal message of it."""
        path, chunk = child.path, child.chunk
        while isinstance(chunk, ChildChunk):
            path, chunk = (*path, *chunk.path), chunk.chunk
        if isinstance(chunk, MessageStart):
            (self._internal_below.add if starts_internal(chunk) else self._internal_below.discard)(path)
        return path in self._internal_below


def _masked(chunks: Sequence[StoredChunk], mask: ErrorMask) -> list[StoredChunk]:
    pairs = [(one, mask.chunk(one.chunk)) for one in chunks]
    return [
        one if chunk is one.chunk else one._replace(chunk=chunk, json=encode(chunk))
        for one, chunk in pairs
        if chunk is not None
    ]
