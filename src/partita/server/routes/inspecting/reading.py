"""The messages of a pasted text, whichever kind of format it is in, and what could not be carried."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from partita.errors import FormatError, PartitaError
from partita.formats.conversion import read as read_payload
from partita.formats.format import Format, Request, losses_of
from partita.formats.losses import Loss
from partita.formats.registry import get_format
from partita.formats.sniff import LOOKED_AT
from partita.logs.formats import log_format
from partita.logs.identity import thread_id_of
from partita.logs.places.detection import AGENT_OF
from partita.logs.reading import LogReading
from partita.stream.messages import MessagesAccumulator
from partita.types.chunks import Chunk
from partita.types.json import Json, dumps, is_array, is_object
from partita.types.messages import Message

from .source import Source

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


@runtime_checkable
class ReadsBody(Protocol):
    """A decoder that takes a whole answer, too."""

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of a whole answer."""
        ...


def known_format(name: str) -> str:
    """The full name of a format that can be read; those of logs are not all in the table of formats."""
    return name if name in AGENT_OF else get_format(name).name


def read(source: Source, format: str) -> Read:
    """The messages of a text in that format."""
    if format in AGENT_OF and source.shape in ("document", "lines"):
        return _read_log(source, format)
    known = get_format(format)
    if known.load is not None and not _is_live(source, known):
        loaded = read_payload(source.payload, known)
        losses = [_moved(loss, source.path) for loss in loaded.losses]
        kind: Kind = "stream" if _are_events(source, known) else "messages"
        return Read(kind, loaded.messages, losses, request=loaded.request)
    if known.decoder is None:
        raise FormatError(f"{known.name} cannot be read", hint="choose another format")
    return _read_stream(source, format)


def _is_live(source: Source, known: Format) -> bool:
    """Whether it is a stream as it was sent: what does not fit is passed over, and noted."""
    return known.decoder is not None and source.shape in ("events", "data-stream-v4")


def _are_events(source: Source, known: Format) -> bool:
    if known.decoder is None or not is_array(source.payload):
        return False
    return not any(is_object(value) and not _SAID.isdisjoint(value) for value in source.values[:LOOKED_AT])


_SAID = frozenset({"role", "messages", "contents", "input"})
"""Members of messages and requests: no event has them."""


def _moved(loss: Loss, path: str) -> Loss:
    return loss if path == "$" else loss._replace(path=f"{path}{loss.path.removeprefix('$')}")


def _read_log(source: Source, format: str) -> Read:
    reading = LogReading(log_format(format), thread_id_of(Path("pasted.jsonl"), format, source.values[:20]))
    if source.shape == "lines":
        reading.feed(source.data if source.data.endswith(b"\n") else source.data + b"\n")
    elif reading.format.records is not None and is_object(source.payload):
        reading.read_records(source.payload)
    else:
        reading.feed(b"".join(dumps(value) + b"\n" for value in source.values))
    messages = {message.id: message for message in reading.finish().messages}
    notes = [
        Note(one.what, one.times, None, [place.line for place in one.places], one.detail)
        for one in reading.findings
    ]
    return Read("log", list(messages.values()), (), notes)


def _read_stream(source: Source, format: str) -> Read:
    make = get_format(format).decoder
    assert make is not None, "a stream has a decoder"
    decoder = make()
    accumulator = MessagesAccumulator(lenient=True)
    notes: list[Note] = []
    kind: Kind = "stream"
    if source.shape == "document" and is_object(source.payload) and isinstance(decoder, ReadsBody):
        kind = "messages"
        _take(accumulator, decoder.read_body(source.payload), "$", notes)
    else:
        for number, event in enumerate(source.values):
            path = f"{source.path}[{number}]"
            try:
                chunks = decoder.feed(event)
            except PartitaError as error:
                error.where = f"event {number}{f', {error.where}' if error.where else ''}"
                raise
            _take(accumulator, chunks, path, notes)
        _take(accumulator, decoder.finish(), None, notes)
    return Read(kind, list(accumulator.finish()), losses_of(decoder), notes, accumulator.errors)


def _take(
    accumulator: MessagesAccumulator, chunks: Sequence[Chunk], path: str | None, notes: list[Note]
) -> None:
    """Chunks in; what does not fit is noted with where it came from."""
    known = len(accumulator.diagnostics)
    for chunk in chunks:
        accumulator.feed(chunk)
    notes.extend(Note(one.what, path=path) for one in accumulator.diagnostics[known:])
