"""Texts and reasonings. Pieces of one kind that follow each other are one part.

A signature belongs to the part it came with: a signed part is never joined with what comes after it. The
usual last piece of an answer, an empty text that is signed, signs the text before it.
"""

from typing import Literal, TypeAlias

from partita.formats.answers.outlet import Outlet
from partita.types.chunks import ReasoningDelta, TextDelta
from partita.types.json import JsonObject, heal

from .looking import NAMESPACE, SIGNATURE, THOUGHT, marks_of
from .sources import Sources

Kind: TypeAlias = Literal["text", "reasoning"]


class Words:
    """The text or the reasoning that is being written."""

    def __init__(self, outlet: Outlet, sources: Sources) -> None:
        self.parts_are_whole = False
        """A part of a whole body is a part; of a stream it may be a piece of one."""
        self.signatures_stand_alone = False
        """In a request, an empty text that is signed is a part like any other."""
        self._outlet = outlet
        self._sources = sources
        self._count = 0
        self._id = ""
        self._kind: Kind | None = None
        self._marks: JsonObject = {}
        self._pieces: list[str] = []

    def take(self, part: JsonObject, text: str) -> None:
        """The next piece. Without words and without marks it says nothing."""
        kind: Kind = "reasoning" if part.get(THOUGHT) is True else "text"
        marks = marks_of(part, "text")
        if not text and not marks.keys() - {THOUGHT}:
            return
        if not self._goes_on(kind, text):
            self.close()
            self._open(kind, marks)
        self._marks |= marks
        self._pieces.append(text)
        metadata = {NAMESPACE: dict(self._marks)} if marks.keys() - {THOUGHT} else None
        delta = TextDelta if kind == "text" else ReasoningDelta
        self._outlet.emit(delta(self._id, text, metadata))

    def close(self, *, is_last: bool = False) -> None:
        """What is being written is whole: something else follows, or nothing."""
        if self._kind is None:
            return
        text = heal("".join(self._pieces))
        found = self._sources.citations(text, is_last=is_last) if self._kind == "text" else ()
        self._outlet.end(self._id, citations=found or None)
        self._kind = None

    def _goes_on(self, kind: Kind, text: str) -> bool:
        is_signed = SIGNATURE in self._marks
        is_part = self.parts_are_whole and (bool(text) or self.signatures_stand_alone)
        return kind == self._kind and not is_signed and not is_part

    def _open(self, kind: Kind, marks: JsonObject) -> None:
        self._id, self._kind, self._marks, self._pieces = str(self._count), kind, {}, []
        self._count += 1
        start = self._outlet.start_text if kind == "text" else self._outlet.start_reasoning
        start(self._id, dict(marks))
