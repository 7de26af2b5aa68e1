"""All that an agent may say, mixed freely → events of one message: words, chunks, events, raw events."""

from typing import Final, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import AgentError
from partita.runtime.failures import described
from partita.types.chunks import (
    Chunk,
    ChunkBase,
    DataChunk,
    ErrorChunk,
    MessageAbort,
    MessageStart,
    UnknownChunk,
)
from partita.types.events import (
    AgentStreamEvent,
    CancelledEvent,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
    EventBase,
    RawEvent,
)
from partita.types.json import Json, JsonObject, is_object, kind_of

from .hearing import Hearing
from .narration import Narration
from .wire import event_of

Own: TypeAlias = str | Chunk | AgentStreamEvent
"""What is ours already, or nobody's."""

Ending: TypeAlias = ErrorEvent | CompleteEvent | CancelledEvent

CUT: Final = "the answer was cut"
ACCEPTED: Final = "text, chunks, events, or raw events of a provider: dicts, bytes, objects of its package"


class Telling:
    """Takes what an agent says, one thing after the other, and gives events."""

    def __init__(self, name: str, message_id: str | None, format_name: str | None) -> None:
        self._name = name
        self._message_id = message_id
        self._narration = Narration()
        self._hearing = Hearing(format_name)
        self._held: list[Own] = []  # said in the middle of a provider's answer, which must stay in one piece
        self._failure: ErrorEvent | None = None  # of the provider, unless more came behind it
        self.ending: Ending | None = None
        """How the agent says that it ended, once it does."""

    def begin(self) -> list[AgentStreamEvent]:
        """The start of the message."""
        return [ChunkEvent(chunk=MessageStart(self._message_id))]

    def take(self, said: object) -> list[AgentStreamEvent]:
        """The events that one thing amounts to."""
        if isinstance(said, str | ChunkBase | DataChunk | UnknownChunk | EventBase):
            return self._own(said)  # type: ignore[arg-type]  # every chunk and event has one of these bases
        if isinstance(said, bytes | bytearray):
            return self._raw(bytes(said))
        event = event_of(said)
        if event is None:
            raise AgentError(f"an agent cannot say {kind_of(said)}", hint=f"yield {ACCEPTED}")
        return self._raw(event) if event else []

    def end(self) -> list[AgentStreamEvent]:
        """The events that end the message, the last of them the end of the answer."""
        events = self._hush()
        match self.ending or self._failure or self._cut():
            case ErrorEvent() | CancelledEvent() as ending:
                return [*events, ending]
            case None | CompleteEvent() as ending:
                return [*events, *self._complete(ending)]

    def fail(self, error: Exception) -> list[AgentStreamEvent]:
        """The events that end an answer which failed."""
        return [*self._hush(), ErrorEvent(message=described(error), name=type(error).__name__)]

    def _complete(self, told: CompleteEvent | None) -> list[AgentStreamEvent]:
        finish = self._narration.finish()
        chunks = [*self._narration.close(), finish]
        ending = told or CompleteEvent()
        result: JsonObject = {"finishReason": finish.finish_reason}
        said: Json = {} if ending.agent_result is UNSET else ending.agent_result
        whole = replace(
            ending,
            agent_type=ending.agent_type or self._name,
            agent_result=result | said if is_object(said) else said,
            usage=ending.usage or self._narration.usage,
        )
        return [*map(_event, chunks), whole]

    def _own(self, said: Own) -> list[AgentStreamEvent]:
        if self._hearing.is_in_answer:
            self._held.append(said)
            return []
        return [*self._heard(self._hearing.end()), *self._say(said)]

    def _say(self, said: Own) -> list[AgentStreamEvent]:
        self._failure = None
        match said:
            case str():
                return [_event(chunk) for chunk in self._narration.words(said)] if said else []
            case ChunkEvent(chunk=chunk):
                return _with_raw(said, self._narration.chunk(chunk))
            case RawEvent():
                return [said]
            case ErrorEvent() | CompleteEvent() | CancelledEvent():
                self.ending = said
                return []
            case _:
                return [_event(chunk) for chunk in self._narration.chunk(said)]

    def _raw(self, said: bytes | JsonObject) -> list[AgentStreamEvent]:
        self._failure = None
        before = self._narration.leave() if self._hearing.is_silent else []
        heard = self._hearing.hear_bytes(said) if isinstance(said, bytes) else self._hearing.hear(said)
        events = [*map(_event, before), *self._heard(heard)]
        if self._held and not self._hearing.is_in_answer:
            events += self._hush()
        return events

    def _hush(self) -> list[AgentStreamEvent]:
        """The end of the provider's answer, and what was said in the middle of it."""
        events = self._heard(self._hearing.end())
        held, self._held = self._held, []
        return [*events, *(event for said in held for event in self._say(said))]

    def _heard(self, events: list[AgentStreamEvent]) -> list[AgentStreamEvent]:
        """Events of a provider's answer as the message has them."""
        told: list[AgentStreamEvent] = []
        for event in events:
            if not isinstance(event, ChunkEvent):
                told.append(event)
                continue
            if isinstance(event.chunk, ErrorChunk):
                self._failure = ErrorEvent(message=event.chunk.error_text, name="provider")
            elif isinstance(event.chunk, MessageAbort):
                self._failure = ErrorEvent(message=f"{CUT}: {event.chunk.reason}", name="cut")
            chunk = self._narration.stitched(event.chunk)
            told += _with_raw(event, [] if chunk is None else [chunk])
        return told

    def _cut(self) -> ErrorEvent | None:
        return ErrorEvent(message=CUT, name="cut") if self._narration.was_cut else None


def _event(chunk: Chunk) -> ChunkEvent:
    return ChunkEvent(chunk=chunk)


def _with_raw(event: ChunkEvent, chunks: list[Chunk]) -> list[AgentStreamEvent]:
    """Chunks as events, the first of them with what the event carried; without chunks it is kept alone."""
    is_bare = event.raw_text is None and event.raw_agent_message is UNSET
    if not chunks:
        raw = RawEvent(raw_agent_message=event.raw_agent_message, raw_text=event.raw_text)
        return [] if is_bare else [raw]
    return [replace(event, chunk=chunks[0]), *map(_event, chunks[1:])]
