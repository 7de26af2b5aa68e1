"""A message told rightly: one start, one finish, steps around what is said, and nothing left open."""

from typing import Final

from msgspec import UNSET

from partita.formats.agent_decoder import AGENT_MESSAGE
from partita.formats.answers.outlet import INTERRUPTED
from partita.runtime.agent.calls import CUT
from partita.runtime.agent.loop import WAITING
from partita.runtime.agent.stitching import Stitching
from partita.types.chunks import (
    Chunk,
    CustomChunk,
    FileChunk,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    SourceDocumentChunk,
    SourceUrlChunk,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage

CONTENT: Final = (
    TextStart,
    ReasoningStart,
    ToolInputStart,
    ToolInputAvailable,
    ToolInputError,
    FileChunk,
    ReasoningFileChunk,
    SourceUrlChunk,
    SourceDocumentChunk,
    CustomChunk,
)
"""What a model says: it stands in a step."""

OUTPUTS: Final = (ToolOutputError, ToolOutputDenied, ToolOutputAvailable, ToolOutputChunk)


class Narration:
    """Takes what an agent says, and gives the chunks of one message."""

    def __init__(self) -> None:
        self._stitching = Stitching()
        self._in_step = False
        self._text: str | None = None  # the id of the text that bare words go to
        self._texts = 0
        self._blocks: dict[str, type[TextEnd] | type[ReasoningEnd]] = {}
        self._inputs: dict[str, str] = {}
        self._waiting: set[str] = set()
        self._has_last_word = False  # of us: no answer of a model came behind it

    @property
    def usage(self) -> Usage | None:
        """What all answers consumed."""
        return self._stitching.usage

    def words(self, text: str) -> list[Chunk]:
        """Bare words: the next piece of a text, which begins if there is none."""
        chunks: list[Chunk] = []
        if self._text is None:
            self._texts += 1
            self._text = f"words-{self._texts}"
            chunks += [*self._stepped(), TextStart(self._text)]
        self._has_last_word = True
        return self._seen([*chunks, TextDelta(self._text, text)])

    def chunk(self, chunk: Chunk) -> list[Chunk]:
        """A chunk as it fits the message: another start or finish is taken note of, and left out."""
        match chunk:
            case MessageStart():
                return _metadata(chunk)
            case MessageFinish():
                self._stitching.chunk(chunk)
                self._has_last_word = False
                return []
            case StepStart():
                return self._seen([*self._left(), chunk])
            case StepFinish():
                return self._left()
            case _:
                before = [*self.rest(), *self._stepped()] if isinstance(chunk, CONTENT) else []
                return self._seen([*before, chunk])

    def stitched(self, chunk: Chunk) -> Chunk | None:
        """A chunk that a decoder made of a provider's bytes, as the message has it, if it has it."""
        if isinstance(chunk, MessageFinish):
            self._has_last_word = False
        told = self._stitching.chunk(chunk)
        self._seen([] if told is None else [told])
        return told

    def rest(self) -> list[Chunk]:
        """The end of the bare words, if there are any."""
        text, self._text = self._text, None
        return self._seen([] if text is None else [TextEnd(text)])

    def leave(self) -> list[Chunk]:
        """The end of the step, before a provider's answer brings its own."""
        return self._left()

    def finish(self) -> MessageFinish:
        """The end of the message."""
        if self._waiting:
            return self._stitching.finish(WAITING)
        # A log that is read anew takes the reason of an only answer from that answer: so do we.
        is_ours = len(self._stitching.steps) != 1 and (self._has_last_word or not self._stitching.steps)
        return self._stitching.finish("stop" if is_ours else None)

    def close(self) -> list[Chunk]:
        """The ends of all that is open, and of the step."""
        closing = self.rest()
        closing += self._seen([end(block) for block, end in self._blocks.items()])
        closing += self._seen([ToolInputError(call, name, CUT) for call, name in self._inputs.items()])
        return [*closing, *self._left()]

    @property
    def was_cut(self) -> bool:
        """Whether the last word is an answer of a model that broke off."""
        last = self._stitching.steps[-1] if self._stitching.steps else {}
        is_cut = last.get("complete") is False or last.get("finishReason") == INTERRUPTED
        return is_cut and not self._has_last_word

    def _stepped(self) -> list[Chunk]:
        """The beginning of a step, unless one is open."""
        return [] if self._in_step else self._seen([StepStart()])

    def _left(self) -> list[Chunk]:
        """The end of the step, if one is open."""
        return [*self.rest(), *(self._seen([StepFinish()]) if self._in_step else [])]

    def _seen(self, chunks: list[Chunk]) -> list[Chunk]:
        """The same chunks, taken note of."""
        for chunk in list(chunks):
            self._see(chunk)
        return chunks

    def _see(self, chunk: Chunk) -> None:
        match chunk:
            case StepStart() | StepFinish():
                self._in_step = isinstance(chunk, StepStart)
            case TextStart(id=id):
                self._blocks[id] = TextEnd
            case ReasoningStart(id=id):
                self._blocks[id] = ReasoningEnd
            case TextEnd(id=id) | ReasoningEnd(id=id):
                self._blocks.pop(id, None)
            case ToolInputStart(tool_call_id=id):
                self._inputs[id] = chunk.tool_name
            case ToolInputAvailable(tool_call_id=id):
                self._inputs.pop(id, None)
                if not chunk.provider_executed:
                    self._waiting.add(id)
            case ToolInputError(tool_call_id=id):
                self._inputs.pop(id, None)
            case _ if isinstance(chunk, OUTPUTS):
                self._waiting.discard(chunk.tool_call_id)
            case _:
                pass


def _metadata(start: MessageStart) -> list[Chunk]:
    """What a start says that is left out, for the message has begun."""
    said: Json = start.message_metadata
    own: JsonObject = {} if start.message_id is None else {AGENT_MESSAGE: start.message_id}
    if said is UNSET or said is None:
        return [MessageMetadata(own)] if own else []
    return [MessageMetadata({**said, **own} if is_object(said) else said)]
