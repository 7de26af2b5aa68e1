"""The messages of a pasted text, whichever kind of format it is in, and what could not be carried."""

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
from partita.logs.reading import LogReading
from partita.logs.sources.registry import LOG_FORMATS, log_format
from partita.stream.partial_json import secure_loads
from partita.stream.sse import SseDecoder
from partita.types.json import Json, dumps, is_array, is_object, loads
from partita.types.messages import Message

# A pasted text as values: JSON, JSON lines, server-sent events, lines of a v4 stream, or ChatML.

Shape: TypeAlias = Literal["document", "lines", "events", "data-stream-v4", "text"]

MARK: Final = b"\xef\xbb\xbf"
MARK_OF_CHATML: Final = b"<|im_start|>"
V4_LINE: Final = re.compile(rb"[0-9a-k]:[\[{\"]")
EVENT_LINE: Final = re.compile(rb"(?:(?:data|event|id|retry):|:)")
HOLDERS: Final = ("messages", "chunks", "events")
"""Members of an object that holds what is meant, as requests and answers do."""


class Source(NamedTuple):
    """What a text holds. `path` is where the values are in it."""

    shape: Shape
    payload: Json
    data: bytes
    path: str = "$"

    @property
    def values(self) -> list[Json]:
        """The values one by one."""
        return self.payload if is_array(self.payload) else [self.payload]

    def inside(self) -> "Source | None":
        """The list that an object holds, as a source of its own."""
        if self.shape != "document" or not is_object(self.payload):
            return None
        for name in HOLDERS:
            if is_array(held := self.payload.get(name)):
                return self._replace(payload=held, path=f"$.{name}")
        return None


def read_source(data: bytes) -> Source:
    """The values of a text; a `DecodeError` that says where it breaks."""
    text = data.removeprefix(MARK)
    first = next((line for line in text.splitlines() if line.strip()), b"")
    if not first:
        raise DecodeError("there is nothing to read", hint="paste messages, a stream or a log")
    if EVENT_LINE.match(first):
        return Source("events", _events(text), data)
    if V4_LINE.match(first):
        lines = [line.decode(errors="replace") for line in text.splitlines() if line.strip()]
        return Source("data-stream-v4", lines, data)
    if first.lstrip().startswith(MARK_OF_CHATML):
        return Source("text", text.decode(errors="replace"), data)
    try:
        return Source("document", loads(text), data)
    except DecodeError as error:
        if not _is_whole(first):
            raise
        whole = error
    return Source("lines", _lines(text, whole), data)


def _is_whole(line: bytes) -> bool:
    try:
        loads(line)
    except DecodeError:
        return False
    return True


def _lines(text: bytes, whole: DecodeError) -> list[Json]:
    values: list[Json] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            values.append(_parsed(line, number))
    if len(values) == 1:  # something stands behind a document on one line
        raise whole
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


LARGEST_COMPARED: Final = 512 * 1024
"""How many bytes of records are compared with their messages, which may take some seconds."""

HINT: Final = "partita convert --losses lists them"

Kind: TypeAlias = Literal["messages", "stream", "log"]


class Note(NamedTuple):
    """Something that was passed over or not understood: what, how often, and where."""

    what: str
    times: int = 1
    path: str | None = None
    lines: Sequence[int] = ()
    detail: str = ""


class Read(NamedTuple):
    """The messages of a text."""

    kind: Kind
    messages: Sequence[Message]
    losses: Sequence[Loss] = ()
    notes: Sequence[Note] = ()
    errors: Sequence[str] = ()
    request: Request | None = None
    """The rest of the request that the messages came in, if they did."""


def known_format(name: str) -> str:
    """The full name of a format that can be read; those of logs are not all in the table of formats."""
    return name if name in LOG_FORMATS else get_format(name).name


def read(source: Source, format: str) -> Read:
    """The messages of a text in that format, with the losses that `convert` reports."""
    if format in LOG_FORMATS and source.shape in ("document", "lines"):
        return _read_log(source, format)
    known = get_format(format)
    loaded = read_payload(source.payload, known)
    is_slow = known.dump is None and not known.is_complete  # its records are compared leaf by leaf
    losses, notes = _losses(source, loaded) if is_slow else (_moved(source, loaded), [])
    if known.decoder is None or not _is_stream(source, known):
        return Read("messages", loaded.messages, losses, notes, request=loaded.request)
    errors = fold_events(known.decoder(), source.values, lenient=True).errors
    return Read("stream", loaded.messages, losses, notes, errors, loaded.request)


def _is_stream(source: Source, known: Format) -> bool:
    """Whether the values are events: by their encoding, their format, or their members."""
    if known.load is None or source.shape in ("events", "data-stream-v4"):
        return True
    if not is_array(source.payload):
        return False
    return not any(is_object(value) and not _SAID.isdisjoint(value) for value in source.values[:SAMPLE_SIZE])


_SAID = frozenset({"role", "messages", "contents", "input"})
"""Members of messages and requests: no event has them."""


def _losses(source: Source, loaded: Loaded) -> tuple[list[Loss], list[Note]]:
    """The losses of records; of too many bytes, a note instead."""
    if len(source.data) > LARGEST_COMPARED:
        return [], [Note(f"losses are not listed: there are more than {LARGEST_COMPARED} bytes", detail=HINT)]
    return _moved(source, loaded), []


def _moved(source: Source, loaded: Loaded) -> list[Loss]:
    """Losses, by their paths in the text."""
    return [loss._replace(path=f"{source.path}{loss.path.removeprefix('$')}") for loss in loaded.losses]


def _read_log(source: Source, format: str) -> Read:
    kind = log_format(format)
    reading = LogReading(kind, thread_id_of(Path("pasted.jsonl"), kind, source.values[:20]))
    if source.shape == "lines":
        reading.feed(source.data if source.data.endswith(b"\n") else source.data + b"\n")
    elif reading.format.records is not None and is_object(source.payload):
        reading.read_document(source.payload)
    else:
        reading.feed(b"".join(dumps(value) + b"\n" for value in source.values))
    messages = {message.id: message for message in reading.finish().messages}
    losses, notes = _losses(source, read_payload(source.payload, get_format(format)))
    noted = {str(one) for one in reading.unknown_records}  # they are among the losses, too
    notes += [
        Note(one.what, one.times, None, [position.line for position in one.positions], one.detail)
        for one in reading.unknown_records
    ]
    return Read("log", list(messages.values()), [loss for loss in losses if loss.what not in noted], notes)
