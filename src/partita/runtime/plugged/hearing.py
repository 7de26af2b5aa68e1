"""A provider's events as someone passes them on → ours, answer by answer, with the bytes that say them.

An event that comes as a value is kept as a line of JSON. Each answer stands between the two marks of a call,
so that it can be read again later: nothing of ours may stand in the middle of it.
"""

from typing import Final

from msgspec import UNSET, UnsetType

from partita.errors import AgentError
from partita.formats.agent_decoder import Decoding
from partita.stream.records import Framing, Record, RecordReader, reader_of
from partita.types.events import AgentStreamEvent, RawEvent, raw_text
from partita.types.json import Json, JsonObject, dumps, is_object

from .recognition import recognise, sort_of

SSE_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
LONGEST_FIELD: Final = 6
WHITE: Final = b" \t\r\n\xef\xbb\xbf"


class Hearing:
    """Hears the answers of a provider, one after the other."""

    def __init__(self, format_name: str | None) -> None:
        self._given = format_name
        self._format = format_name or ""
        self._framing: Framing = "lines"
        self._reader: RecordReader | None = None  # of bytes
        self._unread: bytes = b""  # bytes so few that their framing cannot be told
        self._before: bytes = b""  # records that say nothing, before the first that does
        self._decoding: Decoding | None = None
        self._is_over = False
        self._torn = 0  # how many bytes came that do not end with a record

    @property
    def is_in_answer(self) -> bool:
        """Whether an answer is not whole yet."""
        is_open = self._decoding is not None and not self._is_over
        return is_open or self._torn > 0 or bool(self._unread)

    @property
    def is_silent(self) -> bool:
        """Whether no answer has begun that has not been ended."""
        return self._decoding is None and self._torn == 0 and not self._unread

    def hear(self, event: JsonObject) -> list[AgentStreamEvent]:
        """The events that an event of the provider amounts to."""
        torn = self._cut_bytes()
        return [*torn, *self._take(Record(dumps(event) + b"\n", event), "lines")]

    def hear_bytes(self, data: bytes) -> list[AgentStreamEvent]:
        """The events that the next bytes of the provider amount to. They may be cut anywhere."""
        if self._reader is None:
            data = self._unread + data
            framing = _framing_of(data)
            self._unread = data if framing is None else b""
            if framing is None:
                return []
            self._framing, self._reader = framing, reader_of(framing)
        records = self._reader.feed(data)
        self._torn += len(data) - sum(len(record.raw) for record in records)
        return [event for record in records for event in self._take(record, self._framing)]

    def end(self) -> list[AgentStreamEvent]:
        """The events that end the answer, if there is one, and its mark."""
        events = self._cut_bytes()
        if self._before:
            events.append(RawEvent(raw_text=raw_text(self._before)))
            self._before = b""
        return [*events, *self._end_call()]

    def _cut_bytes(self) -> list[AgentStreamEvent]:
        """The events of the bytes that are left when no more come."""
        reader, self._reader, self._torn = self._reader, None, 0
        unread, self._unread = self._unread, b""
        if reader is None:
            return [RawEvent(raw_text=raw_text(unread))] if unread else []
        return [event for record in reader.finish() for event in self._take(record, self._framing)]

    def _take(self, record: Record, framing: Framing) -> list[AgentStreamEvent]:
        events: list[AgentStreamEvent] = []
        said = record.event
        if self._decoding is not None and (framing != self._framing or self._is_next(said)):
            events += self._end_call()
        if self._decoding is None:
            if said is UNSET:
                self._before += record.raw
                return events
            self._format = self._given or recognise(said)
            self._framing = framing
            self._decoding = Decoding(self._format, framing)
            events += self._decoding.begin()
        before, self._before = self._before, b""
        events += self._decoding.feed(before + record.raw)
        self._is_over = self._is_over or (is_object(said) and sort_of(self._format).is_last(said))
        return events

    def _is_next(self, said: Json | UnsetType) -> bool:
        return self._is_over and is_object(said) and sort_of(self._format).is_next(said)

    def _end_call(self) -> list[AgentStreamEvent]:
        decoding, self._decoding, self._is_over = self._decoding, None, False
        return [] if decoding is None else decoding.finish()


def _framing_of(data: bytes) -> Framing | None:
    """How bytes are framed, by the first that say something; `None` while they are too few."""
    start = data.lstrip(WHITE)
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
