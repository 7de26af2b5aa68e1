"""A log read anew: the bytes of its calls through today's decoders, everything else as it was."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from partita.formats.call_decoder import CallDecoder, facts_of
from partita.runtime.agent.calls import WAITING
from partita.runtime.model_calls import MERGED, ResponseMerger
from partita.runtime.replay.model_calls import TOP, Address, Sorted, decoding_of, sort_records, wrapped
from partita.runtime.replay.recorded_run import Recorded
from partita.types.chunks import AgentStreamEvent, Chunk, ChunkEvent, MessageFinish, MessageStart
from partita.types.json import Json, JsonObject, is_array, is_object

TOTALS: Final = frozenset({"finishReason", "usage", "steps"})
"""What the end of a message tells in any case."""

TALLY: Final = frozenset({"usage", "steps"})
"""What it tells when it is about several answers."""

STOPPED_BY: Final = "stoppedBy"


@dataclass(slots=True)
class Call:
    """One call while it is read."""

    facts: JsonObject
    decoding: CallDecoder | None = None
    """Made with its first byte: a call without bytes stays as it is."""

    @property
    def is_stitched(self) -> bool:
        """Whether it is a step of a longer message."""
        return self.facts.get(MERGED) is True


@dataclass(slots=True)
class Speaker:
    """What is known of the messages under one address."""

    call: Call | None = None
    message: ResponseMerger = field(default_factory=ResponseMerger)
    """The answers of the message at hand."""
    total: ResponseMerger = field(default_factory=ResponseMerger)
    """Those of all messages."""
    is_whole: bool = True
    """Whether all steps of the message at hand were read anew."""


class Redecoding:
    """Reads one run anew."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._speakers: dict[Address, Speaker] = {}
        self.calls = 0
        """How many calls were read anew."""

    def chunks(self) -> Iterator[Chunk]:
        """All chunks of the run. A format that is not known, or bytes nobody can read, are an error."""
        records = self._recorded.records
        for item in sort_records(records, records[-1].seq if records else 0):
            speaker = self._speakers.setdefault(item.address, Speaker())
            for chunk in self._read(item, speaker):
                yield wrapped(item.address, chunk)

    def _read(self, item: Sorted, speaker: Speaker) -> Iterator[Chunk]:
        match item.kind:
            case "begin":
                speaker.call = Call(facts_of(item.chunk) if item.chunk is not None else {})
                yield from _present(item.chunk)
            case "said":
                yield from self._said(item, speaker)
            case "end":
                call, speaker.call = speaker.call, None
                if call is not None and call.decoding is not None:
                    for event in call.decoding.finish()[:-1]:  # the mark that ends it is there
                        yield from self._told(event, speaker, call, item.address)
                yield from _present(item.chunk)
            case "own":
                yield from self._own(item.chunk, speaker)

    def _said(self, item: Sorted, speaker: Speaker) -> Iterator[Chunk]:
        call = speaker.call
        if call is None or (item.raw is None and call.decoding is None):
            speaker.is_whole = False
            yield from _present(item.chunk)
        elif item.raw is not None:
            if call.decoding is None:
                call.decoding = decoding_of(call.facts)
                self.calls += 1
            for event in call.decoding.feed(item.raw):
                yield from self._told(event, speaker, call, item.address)

    def _told(
        self, event: AgentStreamEvent, speaker: Speaker, call: Call, address: Address
    ) -> Iterator[Chunk]:
        """An event of an answer as the message has it."""
        if not isinstance(event, ChunkEvent):
            return
        chunk: Chunk | None = event.chunk
        if call.is_stitched:
            speaker.total.chunk(event.chunk)
            chunk = speaker.message.chunk(event.chunk)
        elif isinstance(chunk, MessageStart) and chunk.message_id is None and address == TOP:
            chunk = replace(chunk, message_id=self._recorded.message_id)
        yield from _present(chunk)

    def _own(self, chunk: Chunk | None, speaker: Speaker) -> Iterator[Chunk]:
        if isinstance(chunk, MessageFinish):
            chunk = _finish(chunk, speaker)
            speaker.message, speaker.is_whole = ResponseMerger(), True
        yield from _present(chunk)


def _present(chunk: Chunk | None) -> Iterator[Chunk]:
    if chunk is not None:
        yield chunk


def _finish(told: MessageFinish, speaker: Speaker) -> MessageFinish:
    """The end of a message, with what its answers say of themselves now."""
    said: Json = told.message_metadata
    if not speaker.is_whole or not is_object(said):
        return told
    if speaker.message.steps:
        reason = told.finish_reason if _is_own(told.finish_reason, said) else None
        return speaker.message.finish(reason, _added(said))
    if speaker.total.steps and not TALLY.isdisjoint(said):  # a network may tell of all turns of its router
        return speaker.total.finish(told.finish_reason, _added(said))
    return told


def _is_own(reason: str | None, said: JsonObject) -> bool:
    """Whether a message says why it ended in words of its own, not in those of its last answer."""
    last = _last_step(said)
    return reason == WAITING or (last is not None and last.get("finishReason") != reason)


def _added(said: JsonObject) -> JsonObject:
    """What the end of a message says that none of its answers said."""
    last = _last_step(said)
    if last is None:
        return {key: value for key, value in said.items() if key == STOPPED_BY}
    return {key: value for key, value in said.items() if key not in last and key not in TOTALS}


def _last_step(said: JsonObject) -> JsonObject | None:
    """What the last of several answers said of itself."""
    steps = said.get("steps")
    return steps[-1] if is_array(steps) and steps and is_object(steps[-1]) else None
