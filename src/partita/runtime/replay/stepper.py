"""A run step by step, back and forth, with its messages as they were at any point.

On the way marks are set from which a fold can go on, so that a step back costs no more than the way from
the last mark.
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

from .message_chunks import is_imported, retold_run
from .recorded_run import first_message_id, get_run, recorded, seed_of

EVERY: Final = 200
"""How many chunks lie between two marks."""


class Mark(NamedTuple):
    """A place in a run, and the state of the fold there."""

    place: int
    messages: MessagesCheckpoint
    decisions: dict[str, JsonObject]
    internal: frozenset[str]


class MarkedFold(RunFold):
    """A fold that can return to an earlier state."""

    def mark(self, place: int) -> Mark:
        """The state now, and the place it belongs to."""
        return Mark(place, self._messages.checkpoint(), dict(self._decisions), frozenset(self._internal))

    def go_back(self, mark: Mark) -> None:
        """Return to the state of a mark."""
        self._messages.restore(mark.messages)
        self._decisions, self._internal = dict(mark.decisions), set(mark.internal)


class Stepper:
    """Stands between two chunks of a run: `next`, `back`, `seek`, and the messages there."""

    def __init__(
        self,
        run: Run,
        seen: Sequence[StoredChunk],
        *,
        message_id: str | None = None,
        seed: AssistantMessage | None = None,
        every: int = EVERY,
    ) -> None:
        """`seen` are all chunks of the run, notes included; `seed` is the message that it went on with."""
        self.run = run
        self._seen = list(seen)
        self._numbers = [one.seq for one in seen]
        self._every = max(every, 1)
        self._fold = MarkedFold(message_id or run.message_id or "", run_id=run.id, seed=seed)
        self._place = 0
        self._marks = [self._fold.mark(0)]

    @classmethod
    async def open(cls, store: Store, run_id: str, *, every: int = EVERY) -> "Stepper":
        """A stepper before the first chunk of a run, as far as its log goes now."""
        run = await get_run(store, run_id)
        if is_imported(run):
            return cls(run, await retold_run(store, run), every=every)
        log = await recorded(store, run)
        return cls(
            run,
            stored_chunks(log.records),
            message_id=first_message_id(run, log.records),
            seed=await seed_of(store, log),
            every=every,
        )

    def add(self, seen: StoredChunk) -> None:
        """One more chunk at the end, of a run that is at work; one that is known is passed over."""
        if not self._numbers or seen.seq > self._numbers[-1]:
            self._seen.append(seen)
            self._numbers.append(seen.seq)

    def __len__(self) -> int:
        return len(self._seen)

    @property
    def place(self) -> int:
        """How many chunks lie behind."""
        return self._place

    @property
    def seq(self) -> int:
        """The number of the last chunk that lies behind; 0 before the first."""
        return self._numbers[self._place - 1] if self._place else 0

    @property
    def last(self) -> StoredChunk | None:
        """The last chunk that lies behind."""
        return self._seen[self._place - 1] if self._place else None

    @property
    def began(self) -> datetime | None:
        """When the first chunk came."""
        return self._seen[0].time if self._seen else None

    def next(self) -> StoredChunk | None:
        """Step over the next chunk; `None` at the end."""
        if self._place == len(self._seen):
            return None
        seen = self._seen[self._place]
        with suppress(StreamError):  # it was passed over when it was told, too
            self._fold.feed(seen.chunk)
        self._place += 1
        if self._place % self._every == 0 and self._place > self._marks[-1].place:
            self._marks.append(self._fold.mark(self._place))
        return seen

    def back(self) -> StoredChunk | None:
        """Step back over the last chunk; `None` at the beginning."""
        if self._place == 0:
            return None
        self.go_to(self._place - 1)
        return self._seen[self._place]

    def seek(self, seq: int) -> None:
        """Stand behind the chunk of that number, or behind the last one before it."""
        self.go_to(bisect_right(self._numbers, seq))

    def go_to(self, place: int) -> None:
        """Stand where so many chunks lie behind."""
        place = min(max(place, 0), len(self._seen))
        mark = self._marks[bisect_right(self._marks, place, key=lambda mark: mark.place) - 1]
        if place < self._place or mark.place > self._place:
            self._fold.go_back(mark)
            self._place = mark.place
        while self._place < place:
            self.next()

    def snapshot(self) -> tuple[AssistantMessage, ...]:
        """The messages as they were here."""
        return self._fold.snapshot()

    def ended(self) -> tuple[AssistantMessage, ...]:
        """The messages at the end, where the stepper then stands; closed, if the run has ended."""
        self.go_to(len(self._seen))
        if self.run.finished_at is None:
            return self._fold.snapshot()
        return self._fold.finish(self.run.status, self.run.error)
