"""Several answers of a model, stitched to one message. Used live, and again when a log is read anew.

Each answer brings its own `start` and `finish`; the message has one of each, with what all of them consumed.
"""

from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.agent_decoder import CALL, is_mark
from partita.formats.usages import add_usages
from partita.runtime.folding import read_usage
from partita.runtime.requests import REQUEST, Shortening
from partita.types.chunks import Chunk, DataChunk, MessageFinish, MessageStart
from partita.types.codec import to_json
from partita.types.events import AgentStreamEvent, ChunkEvent, RawEvent
from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage

STITCHED: Final = "stitched"
"""In the mark of a call: its answer is a step of a longer message."""


class Stitching:
    """The answers of one message."""

    def __init__(self) -> None:
        self.steps: list[JsonObject] = []
        """What each answer said of itself."""
        self._requests = Shortening()

    def answer(self, event: AgentStreamEvent) -> AgentStreamEvent | None:
        """An event of an answer as the message has it: its own start and finish are left out."""
        if not isinstance(event, ChunkEvent):
            return event
        chunk = self.chunk(event.chunk)
        if chunk is not None:
            return event if chunk is event.chunk else replace(event, chunk=chunk)
        if event.raw_text is None and event.raw_agent_message is UNSET:
            return None
        return RawEvent(raw_agent_message=event.raw_agent_message, raw_text=event.raw_text)

    def chunk(self, chunk: Chunk) -> Chunk | None:
        """A chunk of an answer as the message has it."""
        if isinstance(chunk, MessageStart):
            return None
        if isinstance(chunk, MessageFinish):
            said: Json = chunk.message_metadata
            self.steps.append(said if is_object(said) else {"finishReason": chunk.finish_reason})
            return None
        if isinstance(chunk, DataChunk) and is_mark(chunk, CALL) and is_object(chunk.data):
            return replace(chunk, data={**chunk.data, STITCHED: True})
        if isinstance(chunk, DataChunk) and is_mark(chunk, REQUEST):
            return self._requests.shortened(chunk)
        return chunk

    @property
    def usage(self) -> Usage | None:
        """What all answers consumed."""
        known = [usage for step in self.steps if (usage := read_usage(step.get("usage"))) is not None]
        return None if not known else known[0] if len(known) == 1 else add_usages(known)

    def finish(self, reason: str | None = None, more: JsonObject | None = None) -> MessageFinish:
        """The end of the message: the last answer's reason unless another is given, and all usage."""
        last: JsonObject = self.steps[-1] if self.steps else {}
        usage = self.usage
        said = {**last, **({} if usage is None else {"usage": to_json(usage)})}
        if len(self.steps) > 1:
            said["steps"] = self.steps
        own = reason or last.get("finishReason")
        said["finishReason"] = own if isinstance(own, str) else "other"
        return MessageFinish(said["finishReason"], {**said, **(more or {})})
