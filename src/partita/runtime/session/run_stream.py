"""What of a run a client is shown: not our own notes in its log, and no messages that are internal."""

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

# Watching a run: what is stored of it, then what comes, wherever it is at work.

AT_ONCE: Final = 200
"""How many records are read at a time for who is far behind."""


async def follow_stored(
    store: Store, run_id: str, after: int, idle: float | None = None
) -> AsyncGenerator[Sequence[StoredChunk], None]:
    """The chunks of a run that another process works on, or that has ended."""
    async for records in store.logs.follow(run_id, after=after, idle=idle):
        shown = seen_of(records)
        if shown or not records:
            yield shown


async def follow_live(
    store: Store, live: LiveRun, after: int, idle: float | None = None
) -> AsyncGenerator[Sequence[StoredChunk], None]:
    """The chunks of a run of this process: from memory, and from the store for who is far behind."""
    with live.watch() as news:
        while True:
            news.clear()  # before looking, so that what comes in between is not missed
            over, last_seq = live.over.is_set(), live.last_seq
            batch = live.after(after)
            if batch is None:
                records = await store.read(
                    read_log, live.run.id, after=after, limit=AT_ONCE, max_bytes=BATCH_BYTES
                )
                batch = Batch(seen_of(records), records[-1].seq)
            shown, end = batch
            after = max(after, end)
            if shown:
                yield shown
            elif after < last_seq:
                continue  # a stretch of the log without chunks
            elif over:
                return
            elif idle is None:
                await news.next()
            elif not await news.wait(idle):
                yield ()


def seen_of(records: Sequence[LogRecord]) -> list[StoredChunk]:
    """What of a log is to be shown: its chunks."""
    return [StoredChunk(r.seq, r.time, r.chunk, encode(r.chunk)) for r in records if r.chunk is not None]


MATTERS: Final = frozenset({MessageStart, MessageFinish, DataChunk, ChildChunk})
"""Chunks that say whether something is shown, or may themselves not be."""


def decision_of(chunk: Chunk) -> MessageMetadata | None:
    """The metadata that a client receives for the note that an approval was answered."""
    if not isinstance(chunk, DataChunk) or chunk.type != DECISION or not is_object(chunk.data):
        return None
    approval_id = str(chunk.data.get("approvalId"))
    fact = approval_fact(with_decision(Approval(approval_id), chunk.data))
    return MessageMetadata({APPROVALS: {approval_id: fact}})


class Showing:
    """Goes along with a run, and knows whether the message at hand is internal."""

    def __init__(
        self, approvals: bool = False, *, everything: bool = False, mask: ErrorMask | None = None
    ) -> None:
        """With `approvals`, the note of who answered one is shown as metadata of the message.

        With `everything`, nothing is left out. A `mask` replaces the text of errors.
        """
        self._everything = everything
        self._mask = mask
        self._internal = False
        self._internal_below: set[tuple[str, ...]] = set()  # paths of sub-agents whose message is internal
        self._approvals = approvals

    async def catch_up(self, store: Store, run_id: str, after: int) -> None:
        """Read what came up to a number: what is shown after it depends on that."""
        if after > 0 and not (self._everything and self._mask is None):
            self.of(seen_of(await store.logs.read(run_id, limit=after)))

    def of(self, seen: Sequence[StoredChunk]) -> Sequence[StoredChunk]:
        """What of these is shown, as it is shown."""
        shown = seen if self._everything else self._shown(seen)
        return shown if self._mask is None else _masked(shown, self._mask)

    def _shown(self, seen: Sequence[StoredChunk]) -> Sequence[StoredChunk]:
        if not self._internal and MATTERS.isdisjoint([type(one.chunk) for one in seen]):
            return seen
        shown: list[StoredChunk] = []
        for one in seen:
            chunk = one.chunk
            if type(chunk) not in MATTERS:
                if not self._internal:
                    shown.append(one)
                continue
            if isinstance(chunk, MessageStart):
                self._internal = starts_internal(chunk)
                self._internal_below.clear()
            hidden = isinstance(chunk, ChildChunk) and self._is_internal_below(chunk)
            if not self._internal and not hidden and not one.is_note:
                shown.append(one)
            elif self._approvals and not self._internal and (fact := decision_of(chunk)) is not None:
                shown.append(one._replace(chunk=fact, json=encode(fact)))
            if isinstance(chunk, MessageFinish):
                self._internal = False
        return shown

    def _is_internal_below(self, child: ChildChunk) -> bool:
        """Whether the chunk of a sub-agent belongs to a message of it that is internal."""
        path, chunk = child.path, child.chunk
        while isinstance(chunk, ChildChunk):
            path, chunk = (*path, *chunk.path), chunk.chunk
        if isinstance(chunk, MessageStart):
            (self._internal_below.add if starts_internal(chunk) else self._internal_below.discard)(path)
        return path in self._internal_below


def _masked(seen: Sequence[StoredChunk], mask: ErrorMask) -> list[StoredChunk]:
    pairs = [(one, mask.chunk(one.chunk)) for one in seen]
    return [
        one if chunk is one.chunk else one._replace(chunk=chunk, json=encode(chunk))
        for one, chunk in pairs
        if chunk is not None
    ]
