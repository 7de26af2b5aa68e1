"""Raw events of a provider, as a function passes them on → our events, with the bytes that they came as.

An event that is passed on as a value is recorded as a line of JSON. Each response is recorded between the two
markers of a call, so that it can be decoded a second time. Nothing else may be recorded between them.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Final, NamedTuple, Protocol, TypeAlias, runtime_checkable

import msgspec
from msgspec import UNSET

from partita.errors import AgentError, DecodeError, FormatError
from partita.formats.call_decoder import CallDecoder
from partita.formats.detection.guess import guess_format
from partita.formats.registry import get_format
from partita.stream.records import Framing, Record, RecordReader, reader_of
from partita.types.chunks import AgentStreamEvent, RawEvent, UnknownChunk, raw_text
from partita.types.codec import read_chunk
from partita.types.json import Json, JsonObject, dumps, is_array, is_object

# Objects of vendors' packages → the JSON that was received.

ANTHROPIC_HELPER_EVENTS: Final = frozenset(
    {"text", "thinking", "signature", "citation", "input_json", "compaction"}
)
"""Types of events that Anthropic's stream helper adds to those of the API."""


@runtime_checkable
class PydanticModel(Protocol):
    """A model of Pydantic, such as the objects of vendors' packages."""

    def model_dump(
        self, *, mode: str = ..., by_alias: bool = ..., exclude_unset: bool = ..., warnings: bool = ...
    ) -> Json:
        """The fields."""
        ...


@runtime_checkable
class Dictionary(Protocol):
    """An object with a `to_dict` method."""

    def to_dict(self) -> Json:
        """The fields."""
        ...


def raw_event(thing: object) -> JsonObject | None:
    """The raw event that an object is; `{}` if it only repeats others, `None` if it is of another kind."""
    kind = getattr(thing, "type", None)
    package, _, module = type(thing).__module__.partition(".")
    if package == "openai" and kind != "chunk" and module.startswith("lib.streaming.chat"):
        return {}
    if package == "anthropic" and kind in ANTHROPIC_HELPER_EVENTS:
        return {}
    # OpenAI's chat helper wraps each event of the API.
    event = _as_json(getattr(thing, "chunk", thing) if kind == "chunk" else thing)
    return event if is_object(event) else None


def _as_json(thing: object) -> Json:
    if is_object(thing):
        return thing
    if isinstance(thing, PydanticModel):
        return thing.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    if isinstance(thing, Dictionary):
        return thing.to_dict()
    if isinstance(thing, msgspec.Struct) or (is_dataclass(thing) and not isinstance(thing, type)):
        return msgspec.to_builtins(thing if isinstance(thing, msgspec.Struct) else asdict(thing))
    return None


# Which format an event is in, whether it ends a response, and whether it begins the next one.

CHUNKS: Final = "ai-sdk-chunks"

CERTAIN: Final = 0.8
"""How certain the detection of a format has to be."""

SHOWN: Final = 100
"""How many characters of an unknown event its error shows."""

Test: TypeAlias = Callable[[JsonObject], bool]


class Boundaries(NamedTuple):
    """Where a response ends, and where the next one begins."""

    is_last: Test
    """Whether a response is complete with an event, except for what may still follow."""
    is_next: Test
    """Whether, after the last, an event belongs to another response."""


def _is_type(*types: str) -> Test:
    return lambda event: event.get("type") in types


def _first(event: JsonObject, name: str) -> JsonObject:
    items: Json = event.get(name)
    return items[0] if is_array(items) and items and is_object(items[0]) else {}


def _is_response_event(event: JsonObject) -> bool:
    return str(event.get("type")).startswith("response.") or event.get("object") == "response"


_ends_response: Final = _is_type(
    "response.completed", "response.incomplete", "response.failed", "response.cancelled"
)

BOUNDARIES: Final[Mapping[str, Boundaries]] = {
    "anthropic": Boundaries(_is_type("message_stop", "message"), _is_type("message_start", "message")),
    "openai-responses": Boundaries(
        lambda event: _ends_response(event) or event.get("object") == "response", _is_response_event
    ),
    # The usage follows the last choice or candidate, in an event without any.
    "openai-chat": Boundaries(
        lambda event: _first(event, "choices").get("finish_reason") is not None,
        lambda event: bool(_first(event, "choices")),
    ),
    "gemini": Boundaries(
        lambda event: _first(event, "candidates").get("finishReason") is not None,
        lambda event: bool(_first(event, "candidates")),
    ),
    CHUNKS: Boundaries(lambda _: True, lambda _: False),  # each chunk is complete by itself
}

NO_BOUNDARIES: Final = Boundaries(lambda _: False, lambda _: False)
"""For formats of which one decoder reads all turns."""


def boundaries_of(format_name: str) -> Boundaries:
    """The boundaries of responses in a format. Those of all chat servers are the same."""
    name = "openai-chat" if format_name.startswith("openai-chat") else format_name
    return BOUNDARIES.get(name, NO_BOUNDARIES)


def detect_format(event: Json) -> str:
    """The format of the first event of a response; an `AgentError` if it is not certain."""
    try:
        guess = guess_format([event])
    except FormatError:
        guess = None
    if guess is not None and guess.confidence >= CERTAIN and not guess.rivals:
        is_stream = get_format(guess.format).decoder is not None
        if is_stream and (guess.format != CHUNKS or _is_chunk(event)):
            return guess.format
    raise AgentError(
        f"the format of this event is not known: {dumps(event).decode()[:SHOWN]}",
        hint=f'as_agent(f, format="…"), such as {", ".join(BOUNDARIES)}; or yield text or chunks',
    )


def _is_chunk(event: Json) -> bool:
    try:
        return not isinstance(read_chunk(event), UnknownChunk)
    except DecodeError:
        return False


SSE_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
LONGEST_FIELD: Final = 6
WHITE_SPACE: Final = b" \t\r\n\xef\xbb\xbf"


class RawEventReader:
    """Reads the responses of a provider, one after the other."""

    def __init__(self, format_name: str | None) -> None:
        self._given_format = format_name
        self._format = format_name or ""
        self._framing: Framing = "lines"
        self._reader: RecordReader | None = None  # of bytes
        self._head: bytes = b""  # bytes before their framing is known
        self._blank: bytes = b""  # records without an event, before the first that has one
        self._decoder: CallDecoder | None = None
        self._is_complete = False
        self._pending = 0  # how many bytes are not part of a complete record yet

    @property
    def is_in_response(self) -> bool:
        """Whether a response has begun and is not complete."""
        is_open = self._decoder is not None and not self._is_complete
        return is_open or self._pending > 0 or bool(self._head)

    @property
    def is_idle(self) -> bool:
        """Whether no response has begun that was not ended."""
        return self._decoder is None and self._pending == 0 and not self._head

    def feed(self, event: JsonObject) -> list[AgentStreamEvent]:
        """The events for an event of the provider."""
        before = self._finish_bytes()
        return [*before, *self._take(Record(dumps(event) + b"\n", event), "lines")]

    def feed_bytes(self, data: bytes) -> list[AgentStreamEvent]:
        """The events for the next bytes of the provider. They may be cut anywhere."""
        if self._reader is None:
            data = self._head + data
            framing = _framing_of(data)
            self._head = data if framing is None else b""
            if framing is None:
                return []
            self._framing, self._reader = framing, reader_of(framing)
        records = self._reader.feed(data)
        self._pending += len(data) - sum(len(record.raw) for record in records)
        return [event for record in records for event in self._take(record, self._framing)]

    def end(self) -> list[AgentStreamEvent]:
        """The events that end the response, if there is one."""
        events = self._finish_bytes()
        if self._blank:
            events.append(RawEvent(raw_text=raw_text(self._blank)))
            self._blank = b""
        return [*events, *self._end_call()]

    def _finish_bytes(self) -> list[AgentStreamEvent]:
        """The events of the remaining bytes when no more follow."""
        reader, self._reader, self._pending = self._reader, None, 0
        head, self._head = self._head, b""
        if reader is None:
            return [RawEvent(raw_text=raw_text(head))] if head else []
        return [event for record in reader.finish() for event in self._take(record, self._framing)]

    def _take(self, record: Record, framing: Framing) -> list[AgentStreamEvent]:
        events: list[AgentStreamEvent] = []
        event = record.event
        is_next = self._is_complete and is_object(event) and boundaries_of(self._format).is_next(event)
        if self._decoder is not None and (framing != self._framing or is_next):
            events += self._end_call()
        if self._decoder is None:
            if event is UNSET:
                self._blank += record.raw
                return events
            self._format = self._given_format or detect_format(event)
            self._framing = framing
            self._decoder = CallDecoder(self._format, framing)
            events += self._decoder.start()
        blank, self._blank = self._blank, b""
        events += self._decoder.feed(blank + record.raw)
        if is_object(event) and boundaries_of(self._format).is_last(event):
            self._is_complete = True
        return events

    def _end_call(self) -> list[AgentStreamEvent]:
        decoder, self._decoder, self._is_complete = self._decoder, None, False
        return [] if decoder is None else decoder.finish()


def _framing_of(data: bytes) -> Framing | None:
    """How bytes are framed, by the first that are not blank; `None` while they are too few."""
    start = data.lstrip(WHITE_SPACE)
    if start.startswith((b"{", b"[")):
        return "lines"
    if start.startswith(SSE_FIELDS):
        return "sse"
    if len(start) < LONGEST_FIELD and (not start or any(field.startswith(start) for field in SSE_FIELDS)):
        return None
    raise AgentError(
        f"bytes that begin with {start[:20]!r} are neither server-sent events nor lines of JSON",
        hint="yield text as str; bytes are a provider's stream",
    )
