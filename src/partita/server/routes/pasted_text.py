"""Parses a pasted text of any format into values and messages, with errors and losses."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.errors import DecodeError, StreamError
from partita.formats.conversion import read as read_payload
from partita.formats.detection.guess import SAMPLE_SIZE
from partita.formats.event_streams import fold_events
from partita.formats.format import Format, Loaded, Request
from partita.formats.losses import Loss
from partita.formats.registry import get_format
from partita.logs.detection import thread_id_of
from partita.logs.log_reader import LogReader
from partita.logs.sources.registry import LOG_FORMATS, log_format
from partita.stream.partial_json import secure_loads
from partita.stream.sse import SseDecoder
from partita.types.json import Json, dumps, is_array, is_object, loads
from partita.types.messages import Message

# Text → values: JSON, JSON lines, server-sent events, lines of a v4 stream, or ChatML

Shape: TypeAlias = Literal["document", "lines", "events", "data-stream-v4", "text"]

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
CHATML_START: Final = b"<|im_start|>"
V4_LINE: Final = re.compile(rb"[0-9a-k]:[\[{\"]")
EVENT_LINE: Final = re.compile(rb"(?:(?:data|event|id|retry):|:)")
LISTS: Final = ("messages", "chunks", "events")
"""The members of requests and responses that contain a list of messages or events."""


class Source(NamedTuple):
    """The values of a text. `path` is their place in it."""

    shape: Shape
    payload: Json
    data: bytes
    path: str = "$"

    @property
    def values(self) -> list[Json]:
        """The values one by one."""
        return self.payload if is_array(self.payload) else [self.payload]

    def inner(self) -> "Source | None":
        """The list that an object contains, as a source."""
        if self.shape != "document" or not is_object(self.payload):
            return None
        for name in LISTS:
            if is_array(values := self.payload.get(name)):
                return self._replace(payload=values, path=f"$.{name}")
        return None


def read_source(data: bytes) -> Source:
    """The values of a text. A `DecodeError` names the place that is invalid."""
    text = data.removeprefix(BYTE_ORDER_MARK)
    first = next((line for line in text.splitlines() if line.strip()), b"")
    if not first:
        raise DecodeError("the text is empty", hint="paste messages, a stream or a log")
    if EVENT_LINE.match(first):
        return Source("events", _events(text), data)
    if V4_LINE.match(first):
        lines = [line.decode(errors="replace") for line in text.splitlines() if line.strip()]
        return Source("data-stream-v4", lines, data)
    if first.lstrip().startswith(CHATML_START):
        return Source("text", text.decode(errors="replace"), data)
    try:
        return Source("document", loads(text), data)
    except DecodeError as error:
        if not _is_json(first):
            raise
        document_error = error
    return Source("lines", _lines(text, document_error), data)


def _is_json(line: bytes) -> bool:
    try:
        loads(line)
    except DecodeError:
        return False
    return True


def _lines(text: bytes, document_error: DecodeError) -> list[Json]:
    """The values of JSON lines. `document_error`: why the text is not one JSON document."""
    values: list[Json] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            values.append(_parsed(line, number))
    if len(values) == 1:  # a document on one line, with something after it
        raise document_error
    return values


def _parsed(line: bytes, number: int) -> Json:
    try:
        return loads(line)
    except DecodeError as error:
        inside = error.where.removeprefix("line 1, ")
        error.where = f"line {number}, {inside}" if inside else f"line {number}"
        raise


def _events(text: bytes) -> list[Json]:
    decoder = SseDecoder(errors="replace")
    values: list[Json] = []
    try:
        values.extend(map(secure_loads, decoder.feed(text)))
        values.extend(map(secure_loads, decoder.finish()))
    except (DecodeError, StreamError) as error:
        inside = error.where.removeprefix("line 1, ")
        error.where = f"event {len(values)}{f', {inside}' if inside else ''}"
        raise
    return values


# Values → messages

LARGEST_COMPARED: Final = 512 * 1024
"""The largest number of bytes of records that are compared with their messages, which may take seconds."""

HINT: Final = "partita convert --losses lists them"

Kind: TypeAlias = Literal["messages", "stream", "log"]


class Note(NamedTuple):
    """Something that was skipped, or that is unknown: what, how often, and where."""

    what: str
    times: int = 1
    path: str | None = None
    lines: Sequence[int] = ()
    detail: str = ""


class MessagesOfText(NamedTuple):
    """The messages of a text, and what was reported about them."""

    kind: Kind
    messages: Sequence[Message]
    losses: Sequence[Loss] = ()
    notes: Sequence[Note] = ()
    errors: Sequence[str] = ()
    request: Request | None = None
    """The request that contained the messages, if there is one."""


def known_format(name: str) -> str:
    """The full name of a format that can be read. Not all formats of logs are in the registry of formats."""
    return name if name in LOG_FORMATS else get_format(name).name


def read(source: Source, format: str) -> MessagesOfText:
    """The messages of a text in that format, with the losses that `convert` reports."""
    if format in LOG_FORMATS and source.shape in ("document", "lines"):
        return _read_log(source, format)
    known = get_format(format)
    loaded = read_payload(source.payload, known)
    is_slow = known.dump is None and not known.is_complete  # its records are compared leaf by leaf
    losses, notes = _losses_or_note(source, loaded) if is_slow else (_losses(source, loaded), [])
    if known.decoder is None or not _is_stream(source, known):
        return MessagesOfText("messages", loaded.messages, losses, notes, request=loaded.request)
    errors = fold_events(known.decoder(), source.values, lenient=True).errors
    return MessagesOfText("stream", loaded.messages, losses, notes, errors, loaded.request)


def _is_stream(source: Source, known: Format) -> bool:
    """Whether the values are events: by their encoding, their format, or their members."""
    if known.load is None or source.shape in ("events", "data-stream-v4"):
        return True
    if not is_array(source.payload):
        return False
    sample = source.values[:SAMPLE_SIZE]
    return not any(is_object(value) and not NOT_IN_EVENTS.isdisjoint(value) for value in sample)


NOT_IN_EVENTS: Final = frozenset({"role", "messages", "contents", "input"})
"""Members of messages and requests that no event has."""


def _losses_or_note(source: Source, loaded: Loaded) -> tuple[list[Loss], list[Note]]:
    """The losses of records; for a text that is too large, a note instead."""
    if len(source.data) > LARGEST_COMPARED:
        return [], [Note(f"losses are not listed: there are more than {LARGEST_COMPARED} bytes", detail=HINT)]
    return _losses(source, loaded), []


def _losses(source: Source, loaded: Loaded) -> list[Loss]:
    """Losses, with their paths in the text."""
    return [loss._replace(path=f"{source.path}{loss.path.removeprefix('$')}") for loss in loaded.losses]


def _read_log(source: Source, format: str) -> MessagesOfText:
    known = log_format(format)
    reading = LogReader(known, thread_id_of(Path("pasted.jsonl"), known, source.values[:20]))
    if source.shape == "lines":
        reading.feed(source.data if source.data.endswith(b"\n") else source.data + b"\n")
    elif reading.format.records is not None and is_object(source.payload):
        reading.read_document(source.payload)
    else:
        reading.feed(b"".join(dumps(value) + b"\n" for value in source.values))
    messages = {message.id: message for message in reading.finish().messages}
    losses, notes = _losses_or_note(source, read_payload(source.payload, get_format(format)))
    noted = {str(one) for one in reading.unknown_records}  # these are also losses
    notes += [
        Note(one.what, one.times, None, [position.line for position in one.positions], one.detail)
        for one in reading.unknown_records
    ]
    losses = [loss for loss in losses if loss.what not in noted]
    return MessagesOfText("log", list(messages.values()), losses, notes)
