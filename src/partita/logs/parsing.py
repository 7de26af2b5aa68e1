"""`parse_log_file` and `parse_log_stream`: the messages of an agent's log, whichever agent it is."""

from collections.abc import AsyncIterable, AsyncIterator, Iterator, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path

import msgspec

from partita.errors import FormatError
from partita.formats.diagnostics import Finding
from partita.logs.lines.blocks import AsyncReadable, open_log, read_blocks_async
from partita.logs.lines.heads import WINDOW, first_values, has_whole_line, values_of
from partita.logs.places.detection import AGENT_OF, Detected, detect
from partita.types.json import Json, is_object
from partita.types.messages import Message
from partita.types.threads import Thread

from .agents import Agents, agent_files
from .facts import thread_of
from .formats import log_format
from .identity import thread_id_of
from .log_format import LogFormat
from .reading import LogReading


class ParsedLog:
    """A log that is read when somebody looks: its messages, its thread, what was not understood.

    Iterating gives each message as soon as it is whole, and holds no more than the turn at hand; a message
    whose last call ended late comes again, under the same id. `messages` gives each once, as it ends up.
    """

    def __init__(self, path: Path, format: LogFormat, thread_id: str, *, agents: bool) -> None:
        self.path = path
        self.format = format.name
        self.agent = format.agent
        self._format = format
        self._thread_id = thread_id
        self._agents = agents
        self._reading: LogReading | None = None

    def __iter__(self) -> Iterator[Message]:
        reading, agents = self._begin()
        if (document := self._document()) is not None:
            reading.read_records(document)
        else:
            for block in open_log(self.path):
                reading.feed(block)
                yield from reading.take().messages
        agents.read_rest(reading)
        yield from reading.finish().messages
        self._reading = reading

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """All messages of the conversation, in order, each as it is in the end."""
        found: dict[str, Message] = {}
        for message in self:
            found[message.id] = message
        return tuple(found.values())

    @property
    def thread(self) -> Thread:
        """What the log says about its conversation."""
        return thread_of(self.reading)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was not understood, by kind, with the places."""
        return self.reading.findings

    @property
    def orphans(self) -> dict[str, list[Message]]:
        """The messages of sub-agents that no call claims, by the agent's name."""
        return self.reading.assembly.orphans()

    @property
    def reading(self) -> LogReading:
        """The reading, once all was read."""
        if self._reading is None:
            _ = self.messages
        assert self._reading is not None, "reading everything leaves a reading"
        return self._reading

    def _document(self) -> dict[str, Json] | None:
        may_be = _may_be_document(self._format, self.path)
        return _document(b"".join(open_log(self.path))) if may_be else None

    def _begin(self) -> tuple[LogReading, Agents]:
        wanted = self._agents and self._format.has_agents
        agents = Agents(agent_files(self.path) if wanted else ())
        reading = LogReading(self._format, self._thread_id, elsewhere=agents.names)
        agents.attend(reading)
        return reading, agents


def parse_log_file(path: str | PathLike[str], *, format: str | None = None, agents: bool = True) -> ParsedLog:
    """The log at `path`; the agent is found out unless `format` names one.

    `agents=False` leaves out sub-agents that have files of their own.
    """
    file = Path(path)
    values = first_values(file)
    name = format or _detected(values, file).format
    return ParsedLog(file, log_format(name), thread_id_of(file, name, values), agents=agents)


async def parse_log_stream(
    source: AsyncIterable[bytes] | AsyncReadable, *, format: str | None = None, name: str = ""
) -> AsyncIterator[Message]:
    """The messages of a log that comes in pieces, each as soon as it is whole.

    `name` is what the log is called: it may tell the agent and the thread, and stands in errors.
    """
    stream = _Stream(format, Path(name))
    async for block in read_blocks_async(source, name):
        for message in stream.feed(block):
            yield message
    for message in stream.finish():
        yield message


ENOUGH_LINES = 20


class _Stream:
    """A log that comes in pieces: held until it shows what it is, or to its end if it is one document."""

    def __init__(self, format: str | None, path: Path) -> None:
        self._format = format
        self._path = path
        self._held: list[bytes] = []
        self._bytes = self._lines = 0
        self._enough = ENOUGH_LINES
        self._reading: LogReading | None = None
        self._flows = False  # whether lines are read as they come

    def feed(self, block: bytes) -> list[Message]:
        """The messages that have become whole."""
        if self._reading is None or not self._flows:
            self._hold(block)
        else:
            self._reading.feed(block)
        return self._reading.take().messages if self._reading is not None and self._flows else []

    def finish(self) -> list[Message]:
        """The messages that are left."""
        reading = self._reading or self._begin(b"".join(self._held), cut=False)
        if not self._flows:
            data = b"".join(self._held)
            document = _document(data) if _may_be_document(reading.format, self._path) else None
            if document is None:
                reading.feed(data)
            else:
                reading.read_records(document)
        return reading.finish().messages

    def _hold(self, block: bytes) -> None:
        self._held.append(block)
        self._bytes += len(block)
        self._lines += block.count(b"\n")
        if self._reading is not None or (self._lines < self._enough and self._bytes < WINDOW):
            return
        data = b"".join(self._held)
        has_lines = has_whole_line(data[:WINDOW].decode(errors="replace"))
        if not has_lines and self._bytes < WINDOW:
            self._enough = WINDOW  # a document over many lines: as many bytes are needed as are looked at
            return
        reading = self._begin(data, cut=True)
        self._flows = has_lines or not _may_be_document(reading.format, self._path)
        if self._flows:
            self._held.clear()
            reading.feed(data)

    def _begin(self, data: bytes, *, cut: bool) -> LogReading:
        values = values_of(data[:WINDOW].decode(errors="replace"), cut=cut or len(data) >= WINDOW)
        chosen = self._format or _detected(values, self._path).format
        self._reading = LogReading(log_format(chosen), thread_id_of(self._path, chosen, values))
        return self._reading


def _detected(values: Sequence[Json], path: Path) -> Detected:
    found = detect(values, path.name)
    if found is None:
        raise FormatError(
            "this is no log that we know",
            where=str(path),
            hint=f"name its format: {', '.join(AGENT_OF)}",
        )
    return found


def _may_be_document(format: LogFormat, path: Path) -> bool:
    """Whether a log may be one document; the name tells when it is not."""
    return format.records is not None and ".jsonl" not in path.name


def _document(data: bytes) -> dict[str, Json] | None:
    """The one document that a log is, or `None` if it is JSON lines."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if is_object(found) else None
