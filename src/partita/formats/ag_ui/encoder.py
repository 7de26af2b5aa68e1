"""Chunks → AG-UI events.

One stream of chunks is one run, whichever messages it goes through. Texts, calls and results get the ids that
`pieces` gives the same message when it is dumped, unless they came with ids of AG-UI. The end of the run is
told when the chunks end: only then is it known whether calls still wait for somebody.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import UNSET

from partita.formats.ag_ui.encoding.ends import Ends
from partita.formats.ag_ui.encoding.teller import Teller
from partita.formats.ag_ui.encoding.telling import Telling
from partita.formats.losses import Loss
from partita.types.chunks import (
    Chunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
)
from partita.types.json import Json, is_object

from .notes import notes_in

VERSION: Final = "1.0"


class AgUiEncoder:
    """Chunks in, events out. One encoder writes one run."""

    def __init__(
        self,
        thread_id: str | None = None,
        run_id: str | None = None,
        message_id: str | None = None,
        before: Iterable[Chunk] = (),
    ) -> None:
        """Without ids, those that the chunks bring count, or made up ones.

        `before` is what the message said in an earlier run: it is not told again.
        """
        self._losses: list[Loss] = []
        self._telling = Telling(self._losses, message_id or "message-1")
        self._teller = Teller(self._telling)
        self._ends = Ends(thread_id, run_id)
        self._begun = False
        for chunk in before:
            self.feed(chunk)
        if self._begun:
            self._forget()

    def _forget(self) -> None:
        """What was told was told by another run. Only the names that are taken stay so."""
        self._teller.close()
        self._teller.calls.settle()
        self._teller.calls.pieces.step()
        self._telling.take()
        self._telling.number = 0
        self._ends.forget()
        self._losses.clear()
        self._begun = False

    @property
    def losses(self) -> Sequence[Loss]:
        """What could not be told so far; a path begins with the number of the chunk."""
        return self._losses

    def feed(self, chunk: Chunk) -> list[Json]:
        """The events that tell of a chunk."""
        if not self._begun:
            self._begin(chunk)
        match chunk:
            case MessageStart():
                self._teller.message(chunk.message_id)
                self._ends.note(chunk.message_metadata)
                self._ends.goes_on()
            case MessageMetadata():
                self._name_step(chunk)
                self._ends.note(chunk.message_metadata)
            case MessageFinish() | MessageAbort() | ErrorChunk():
                self._ends.hear(chunk, self._telling)
            case _:
                self._teller.tell(chunk)
        self._telling.number += 1
        return self._telling.take()

    def finish(self) -> list[Json]:
        """The events that close what is open when the chunks end."""
        if not self._begun:
            self._begin(None)
        interrupts = self._teller.interrupts()
        self._teller.close()
        self._ends.tell(self._telling, interrupts, self._teller.calls.unanswered())
        return self._telling.take()

    def _begin(self, chunk: Chunk | None) -> None:
        self._begun = True
        said = chunk.message_metadata if isinstance(chunk, MessageStart) else UNSET
        notes = notes_in(said) if is_object(said) else {}
        if isinstance(chunk, MessageStart):
            self._teller.message(chunk.message_id)
        self._ends.begin(notes)
        self._telling.emit(
            "RUN_STARTED",
            threadId=self._ends.thread_id,
            runId=self._ends.run_id,
            protocolVersion=notes.get("protocolVersion", VERSION),
            parentRunId=notes.get("parentRunId"),
            input=notes.get("input"),
            timestamp=notes.get("timestamp"),
        )

    def _name_step(self, chunk: MessageMetadata) -> None:
        """The name of the step that comes, where the metadata bring it."""
        said = chunk.message_metadata
        steps = notes_in(said).get("steps") if is_object(said) else None
        if isinstance(steps, list) and steps and isinstance(steps[-1], str):
            self._teller.steps.next_name = steps[-1]
