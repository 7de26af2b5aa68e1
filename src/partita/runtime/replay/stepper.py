"""A run chunk by chunk, forward and back, with its messages as they were at any point.

The state of the fold is saved at regular intervals, so that a step back repeats only the chunks since then.
"""

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, NamedTuple

from partita.errors import StreamError
from partita.runtime.run_fold import RunFold
from partita.runtime.session.live_run import StoredChunk
from partita.runtime.session.run_stream import stored_chunks
from partita.store.store import Store
from partita.stream.accumulator import MessagesCheckpoint
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage
from partita.types.threads import Run

from .message_chunks import chunks_of_imported_run, is_imported
from .recorded_run import continued_message, get_run, read_recorded_run

CHECKPOINT_EVERY: Final = 200
"""How many chunks there are between two checkpoints."""


class FoldCheckpoint(NamedTuple):
    """The state of a fold after a number of chunks."""

    position: int
    messages: MessagesCheckpoint
    decisions: dict[str, JsonObject]
    internal: frozenset[str]


class RestorableFold(RunFold):
    """A fold that can return to an earlier state."""

    def checkpoint(self, position: int) -> FoldCheckpoint:
        """The current state, after that number of chunks."""
        return FoldCheckpoint(
            position, self._messages.checkpoint(), dict(self._decisions), frozenset(self._internal)
        )

    def restore(self, checkpoint: FoldCheckpoint) -> None:
        """Return to an earlier state."""
        self._messages.restore(checkpoint.messages)
        self._decisions, self._internal = dict(checkpoint.decisions), set(checkpoint.internal)


class Stepper:
    """A position in the chunks of a run, and the messages there: `next`, `back`, `seek`, `snapshot`."""

    def __init__(
        self,
        run: Run,
        chunks: Sequence[StoredChunk],
        *,
        message_id: str | None = None,
        seed: AssistantMessage | None = None,
        every: int = CHECKPOINT_EVERY,
    ) -> None:
        """`chunks` are all chunks of the run, with notes; `seed` is the message that the run continued."""
        self.run = run
        self._chunks = list(chunks)
        self._numbers = [one.seq for one in chunks]
        self._every = max(every, 1)
        self._fold = RestorableFold(message_id or run.message_id or "", run_id=run.id, seed=seed)
        self._position = 0
        self._checkpoints = [self._fold.checkpoint(0)]

    @classmethod
    async def open(cls, store: Store, run_id: str, *, every: int = CHECKPOINT_EVERY) -> "Stepper":
        """A stepper before the first chunk of a run, with the chunks that are stored now."""
        run = await get_run(store, run_id)
        if is_imported(run):
            return cls(run, await chunks_of_imported_run(store, run), every=every)
        recorded = await read_recorded_run(store, run)
        return cls(
            run,
            stored_chunks(recorded.records),
            message_id=recorded.message_id,
            seed=await continued_message(store, run),
            every=every,
        )

    def add(self, chunk: StoredChunk) -> None:
        """Add a chunk of an active run at the end, unless it is known."""
        if not self._numbers or chunk.seq > self._numbers[-1]:
            self._chunks.append(chunk)
            self._numbers.append(chunk.seq)

    def __len__(self) -> int:
        return len(self._chunks)

    @property
    def position(self) -> int:
        """The number of chunks before the current position."""
        return self._position

    @property
    def seq(self) -> int:
        """The log number of the chunk before the current position; 0 at the start."""
        return self._numbers[self._position - 1] if self._position else 0

    @property
    def last(self) -> StoredChunk | None:
        """The chunk before the current position; `None` at the start."""
        return self._chunks[self._position - 1] if self._position else None

    @property
    def started_at(self) -> datetime | None:
        """The time of the first chunk."""
        return self._chunks[0].time if self._chunks else None

    def next(self) -> StoredChunk | None:
        """Go over the next chunk and return it; `None` at the end."""
        if self._position == len(self._chunks):
            return None
        chunk = self._chunks[self._position]
        with suppress(StreamError):  # a chunk that does not fit was left out of the live run, too
            self._fold.feed(chunk.chunk)
        self._position += 1
        if self._position % self._every == 0 and self._position > self._checkpoints[-1].position:
            self._checkpoints.append(self._fold.checkpoint(self._position))
        return chunk

    def back(self) -> StoredChunk | None:
        """Go back over the last chunk and return it; `None` at the start."""
        if self._position == 0:
            return None
        self.go_to(self._position - 1)
        return self._chunks[self._position]

    def seek(self, seq: int) -> None:
        """Go to the position after the chunk with that log number, or after the last one before it."""
        self.go_to(bisect_right(self._numbers, seq))

    def go_to(self, position: int) -> None:
        """Go to the position after that number of chunks."""
        position = min(max(position, 0), len(self._chunks))
        index = bisect_right(self._checkpoints, position, key=lambda checkpoint: checkpoint.position) - 1
        checkpoint = self._checkpoints[index]
        if position < self._position or checkpoint.position > self._position:
            self._fold.restore(checkpoint)
            self._position = checkpoint.position
        while self._position < position:
            self.next()

    def snapshot(self) -> tuple[AssistantMessage, ...]:
        """The messages at the current position."""
        return self._fold.snapshot()

    def finish(self) -> tuple[AssistantMessage, ...]:
        """Go to the end and return the messages there, closed if the run has ended."""
        self.go_to(len(self._chunks))
        if self.run.finished_at is None:
            return self._fold.snapshot()
        return self._fold.finish(self.run.status, self.run.error)
