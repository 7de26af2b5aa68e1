"""One agent, the main one or a sub-agent: its steps, and the answer of the model that is coming in."""

from typing import Final

from msgspec import UNSET

from partita.formats.claude_code.wire import CLAUDE_CODE
from partita.types.chunks import MessageMetadata, MessageStart, StepFinish, StepReset, StepStart
from partita.types.json import Json, JsonObject

from .call import Call
from .outlet import Outlet
from .passage import Kind, Passage
from .response import Response

SYNTHETIC: Final = "<synthetic>"
"""The model of a message that no model wrote."""


class Speaker:
    """An agent that speaks: what it says goes into the message, wrapped in the path that leads to it."""

    def __init__(self, outlet: Outlet, path: tuple[str, ...] = ()) -> None:
        self.path = path
        self.outlet = outlet
        self.response: Response | None = None
        self.earlier: Response | None = None
        self.calls: list[Call] = []  # of the step at hand
        self.step = 0
        self.has_spoken = False
        self.knows_model = False  # the message says which model speaks
        self.last_words = ""
        self._in_step = False
        self._next_id = 0

    def answer(
        self, id: str | None, *, streamed: bool, model: Json = None, about: JsonObject | None = None
    ) -> Response:
        """A new answer begins, and a step with it, unless the one before it in the step was taken back."""
        if not self.has_spoken:
            self._introduce(model, about)
        if self.response is not None or not self._in_step:
            self.end_step()
            self.outlet.emit(StepStart(), self.path)
            self._in_step = True
            self.step += 1
            self.calls = []
        self.response = Response(id, streamed=streamed)
        return self.response

    @property
    def has_results(self) -> bool:
        """Whether a call of the current step has its result: what the model writes next is another answer."""
        return any(call.state == "done" for call in self.calls)

    @property
    def is_stuck(self) -> bool:
        """Whether the answer at hand broke off before anything of it was settled: another try may follow."""
        response = self.response
        if response is None or not response.streamed or response.stopped or response.blocks:
            return False
        return all(call.is_open and call.approval is None for call in self.calls)

    def open(self, kind: Kind, fields: JsonObject | None = None) -> Passage:
        """A text or a reasoning begins."""
        passage = Passage(str(self._next_id), kind)
        self._next_id += 1
        passage.fields.update(fields or {})
        self.outlet.emit(passage.start(), self.path)
        if self.response is not None:
            self.response.passages.append(passage)
        return passage

    def say(self, passage: Passage, words: str) -> Passage:
        """Add words to a passage, or to a new one like it when it has ended; the passage they are in."""
        if not words:
            return passage
        if passage.state == "ended":
            passage = self.open(passage.kind)
        self.outlet.emit(passage.tell(words), self.path)
        return passage

    def end(self, passage: Passage, *, aborted: bool = False) -> None:
        """A passage is whole."""
        if passage.kind == "text" and passage.state != "ended":
            self.last_words = passage.words
        chunk = passage.end(aborted=aborted)
        if chunk is not None:
            self.outlet.emit(chunk, self.path)

    def stop(self, passage: Passage) -> None:
        """The model has written all of a passage."""
        if passage.waits and passage.state == "open":
            passage.state = "due"
        elif passage.state == "open":
            self.end(passage)

    def end_passages(self) -> None:
        """Close what is open in the answer."""
        for passage in self.response.passages if self.response else ():
            self.end(passage)

    def end_step(self) -> None:
        """Close the answer, say what is known about it, and end its step."""
        self.end_passages()
        for call in self.calls:
            chunk = call.settle()
            if chunk is not None:
                self.outlet.emit(chunk, call.path)
        if self.response is not None and self.response.facts:
            key = self.response.id or f"step-{self.step}"
            told = {CLAUDE_CODE: {"responses": {key: self.response.facts}}}
            self.outlet.emit(MessageMetadata(told), self.path)
        if self._in_step:
            self.outlet.emit(StepFinish(), self.path)
        self._in_step = False
        self.earlier, self.response = self.response or self.earlier, None

    def take_back(self) -> list[Call]:
        """Forget the answer at hand; another comes in its step. Gives the calls that are gone with it."""
        calls, self.calls, self.response = self.calls, [], None
        self.outlet.emit(StepReset(), self.path)
        return calls

    def _introduce(self, model: Json, about: JsonObject | None) -> None:
        """Begin the message of a sub-agent, and say which model speaks if nobody has said so."""
        metadata: JsonObject = {CLAUDE_CODE: about} if about else {}
        if isinstance(model, str) and model != SYNTHETIC and not self.knows_model:
            metadata["model"] = model
        if self.path:
            self.outlet.emit(MessageStart(None, metadata or UNSET), self.path)
        elif metadata:
            self.outlet.begin(metadata)
        self.has_spoken = True
