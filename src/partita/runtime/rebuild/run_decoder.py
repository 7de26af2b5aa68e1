"""Decode the log of a run again: the bytes of its calls with today's decoders, other chunks as they are."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from partita.formats.call_decoder import CallDecoder, facts_of
from partita.runtime.agent.calls import WAITING
from partita.runtime.model_calls import MERGED, ResponseMerger
from partita.runtime.replay.model_calls import TOP, Address, CallRecord, decoder_for, sort_records, wrapped
from partita.runtime.replay.recorded_run import RecordedRun
from partita.runtime.session.turn import STOPPED_BY
from partita.types.chunks import AgentStreamEvent, Chunk, ChunkEvent, MessageFinish, MessageStart
from partita.types.json import Json, JsonObject, is_array, is_object

RESPONSE_MEMBERS: Final = frozenset({"finishReason", "usage", "steps"})
"""Members of the metadata of a message that come from its responses."""

TOTAL_MEMBERS: Final = frozenset({"usage", "steps"})
"""Those of them that are totals of several responses."""


@dataclass(slots=True)
class _Call:
    """A call while it is decoded."""

    facts: JsonObject
    decoder: CallDecoder | None = None
    """Created with the first byte: a call without bytes does not change."""

    @property
    def is_merged(self) -> bool:
        """Whether its response is a step of a longer message."""
        return self.facts.get(MERGED) is True


@dataclass(slots=True)
class _Messages:
    """The state of the messages with one address."""

    call: _Call | None = None
    current: ResponseMerger = field(default_factory=ResponseMerger)
    """The responses of the current message."""
    total: ResponseMerger = field(default_factory=ResponseMerger)
    """The responses of all messages."""
    is_complete: bool = True
    """Whether all responses of the current message were decoded again."""


class RunDecoder:
    """Decodes the log of one run again."""

    def __init__(self, recorded: RecordedRun) -> None:
        self._recorded = recorded
        self._messages: dict[Address, _Messages] = {}
        self.calls = 0
        """The number of calls that were decoded again."""

    def chunks(self) -> Iterator[Chunk]:
        """All chunks of the run. An unknown format, or bytes that cannot be decoded, raise an error."""
        for record in sort_records(self._recorded.records, self._recorded.last_seq):
            messages = self._messages.setdefault(record.address, _Messages())
            for chunk in self._decode(record, messages):
                yield wrapped(record.address, chunk)

    def _decode(self, record: CallRecord, messages: _Messages) -> Iterator[Chunk]:
        match record.kind:
            case "start":
                messages.call = _Call(facts_of(record.chunk) if record.chunk is not None else {})
                yield from _present(record.chunk)
            case "output":
                yield from self._output(record, messages)
            case "end":
                call, messages.call = messages.call, None
                if call is not None and call.decoder is not None:
                    for event in call.decoder.finish()[:-1]:  # the log has the marker that ends the call
                        yield from self._chunk_of(event, messages, call, record.address)
                yield from _present(record.chunk)
            case "other":
                chunk = record.chunk
                if isinstance(chunk, MessageFinish):
                    chunk = _finish(chunk, messages)
                    messages.current, messages.is_complete = ResponseMerger(), True
                yield from _present(chunk)

    def _output(self, record: CallRecord, messages: _Messages) -> Iterator[Chunk]:
        call = messages.call
        if call is None or (record.raw is None and call.decoder is None):
            messages.is_complete = False
            yield from _present(record.chunk)
        elif record.raw is not None:
            if call.decoder is None:
                call.decoder = decoder_for(call.facts)
                self.calls += 1
            for event in call.decoder.feed(record.raw):
                yield from self._chunk_of(event, messages, call, record.address)

    def _chunk_of(
        self, event: AgentStreamEvent, messages: _Messages, call: _Call, address: Address
    ) -> Iterator[Chunk]:
        """The chunk of an event of a response, as the message has it."""
        if not isinstance(event, ChunkEvent):
            return
        chunk: Chunk | None = event.chunk
        if call.is_merged:
            messages.total.chunk(event.chunk)
            chunk = messages.current.chunk(event.chunk)
        elif isinstance(chunk, MessageStart) and chunk.message_id is None and address == TOP:
            chunk = replace(chunk, message_id=self._recorded.message_id)
        yield from _present(chunk)


def _present(chunk: Chunk | None) -> Iterator[Chunk]:
    if chunk is not None:
        yield chunk


def _finish(stored: MessageFinish, messages: _Messages) -> MessageFinish:
    """The finish of a message, with the metadata of its responses as they are decoded now."""
    metadata: Json = stored.message_metadata
    if not messages.is_complete or not is_object(metadata):
        return stored
    if messages.current.steps:
        reason = stored.finish_reason if _is_own_reason(stored.finish_reason, metadata) else None
        return messages.current.finish(reason, _own_members(metadata))
    if messages.total.steps and not TOTAL_MEMBERS.isdisjoint(metadata):  # a network: all turns of its router
        return messages.total.finish(stored.finish_reason, _own_members(metadata))
    return stored


def _is_own_reason(reason: str | None, metadata: JsonObject) -> bool:
    """Whether a finish reason is that of the message itself, and not that of its last response."""
    last = _last_step(metadata)
    return reason == WAITING or (last is not None and last.get("finishReason") != reason)


def _own_members(metadata: JsonObject) -> JsonObject:
    """The members of the metadata of a finish that come from none of the responses."""
    last = _last_step(metadata)
    if last is None:
        return {key: value for key, value in metadata.items() if key == STOPPED_BY}
    return {key: value for key, value in metadata.items() if key not in last and key not in RESPONSE_MEMBERS}


def _last_step(metadata: JsonObject) -> JsonObject | None:
    """The metadata of the last of several responses."""
    steps = metadata.get("steps")
    return steps[-1] if is_array(steps) and steps and is_object(steps[-1]) else None
