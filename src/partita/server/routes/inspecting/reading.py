"""The messages of a pasted text, whichever kind of format it is in, and what could not be carried."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.formats.conversion import read as read_payload
from partita.formats.events import fold_events
from partita.formats.format import Format, Loaded, Request
from partita.formats.losses import Loss
from partita.formats.registry import get_format
from partita.formats.sniff import LOOKED_AT
from partita.logs.formats import log_format
from partita.logs.identity import thread_id_of
from partita.logs.places.detection import AGENT_OF
from partita.logs.reading import LogReading
from partita.types.json import dumps, is_array, is_object
from partita.types.messages import Message

from .source import Source

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
    return name if name in AGENT_OF else get_format(name).name


def read(source: Source, format: str) -> Read:
    """The messages of a text in that format, with the losses that `convert` reports."""
    if format in AGENT_OF and source.shape in ("document", "lines"):
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
    return not any(is_object(value) and not _SAID.isdisjoint(value) for value in source.values[:LOOKED_AT])


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
    reading = LogReading(log_format(format), thread_id_of(Path("pasted.jsonl"), format, source.values[:20]))
    if source.shape == "lines":
        reading.feed(source.data if source.data.endswith(b"\n") else source.data + b"\n")
    elif reading.format.records is not None and is_object(source.payload):
        reading.read_records(source.payload)
    else:
        reading.feed(b"".join(dumps(value) + b"\n" for value in source.values))
    messages = {message.id: message for message in reading.finish().messages}
    losses, notes = _losses(source, read_payload(source.payload, get_format(format)))
    noted = {str(one) for one in reading.findings}  # they are among the losses, too
    notes += [
        Note(one.what, one.times, None, [place.line for place in one.places], one.detail)
        for one in reading.findings
    ]
    return Read("log", list(messages.values()), [loss for loss in losses if loss.what not in noted], notes)
