"""`parse_log_file` and `parse_log_stream`: the messages of an agent's log, whichever agent it is."""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Iterator, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path

import msgspec

from partita.errors import FormatError
from partita.formats.detection.agent_logs import CERTAIN, is_session_state
from partita.formats.log.diagnostics import Finding
from partita.logs.lines.blocks import AsyncReadable, open_log, read_blocks_async
from partita.logs.lines.heads import LIMIT, WINDOW, has_whole_line, head_of, values_of
from partita.logs.lines.recovery import is_blank
from partita.logs.places.detection import AGENT_OF, Detected, detect
from partita.types.json import Json, is_array, is_object
from partita.types.messages import Message
from partita.types.threads import Thread

from .agents import Agents, agent_files
from .facts import thread_of
from .formats import EMPTY_LOG, log_format
from .identity import session_id_of, thread_id_of
from .log_format import LogFormat
from .reading import Batch, LogReading


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
        """What was not understood or is damaged, by kind, with line numbers."""
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

    def read_whole(self) -> tuple[LogReading, Batch]:
        """Everything at once: messages, turns with their raw lines, and what was consumed."""
        reading, agents = self._begin(keep_lines=True)
        if (document := self._document()) is not None:
            reading.read_records(document)
        else:
            for block in open_log(self.path):
                reading.feed(block)
        agents.read_rest(reading)
        return reading, reading.finish()

    def _document(self) -> dict[str, Json] | None:
        may_be = _may_be_document(self._format, self.path)
        return _document(b"".join(open_log(self.path))) if may_be else None

    def _begin(self, *, keep_lines: bool = False) -> tuple[LogReading, Agents]:
        wanted = self._agents and self._format.has_agents
        agents = Agents(agent_files(self.path) if wanted else ())
        reading = LogReading(self._format, self._thread_id, elsewhere=agents.names, keep_lines=keep_lines)
        agents.attend(reading)
        return reading, agents


def parse_log_file(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    agents: bool = True,
    thread_id: str | None = None,
) -> ParsedLog:
    """The log at `path`; the agent is found out unless `format` names one.

    `agents=False` leaves out sub-agents that have files of their own. `thread_id` is the thread of the
    messages; without it, that of the session.
    """
    file = Path(path)
    head = head_of(file)
    values = _values(head, cut=False)
    kind = _format_of(format, values, file, head)
    return ParsedLog(file, kind, thread_id or thread_id_of(file, kind.name, values), agents=agents)


class LogStream:
    """The messages of a log that arrives in pieces. Iterate over it once; `findings` grows meanwhile."""

    def __init__(self, blocks: AsyncIterator[bytes], format: str | None, path: Path) -> None:
        self._feeder = _Feeder(format, path)
        self._messages = self._read(blocks)

    def __aiter__(self) -> AsyncIterator[Message]:
        return self._messages

    def __anext__(self) -> Awaitable[Message]:
        return self._messages.__anext__()

    async def aclose(self) -> None:
        """Stop reading, and close the source."""
        await self._messages.aclose()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was not understood or is damaged so far, by kind, with line numbers."""
        return self._feeder.findings

    async def _read(self, blocks: AsyncIterator[bytes]) -> AsyncGenerator[Message, None]:
        async for block in blocks:
            for message in self._feeder.feed(block):
                yield message
        for message in self._feeder.finish():
            yield message


def parse_log_stream(
    source: AsyncIterable[bytes] | AsyncReadable, *, format: str | None = None, name: str = ""
) -> LogStream:
    """The messages of a log that arrives in pieces, each as soon as it is whole.

    With `format` they come from the first line on; otherwise as soon as the records leave no doubt about the
    format. `name` is the file name: it may give the agent and the thread, and is named in errors.
    """
    return LogStream(read_blocks_async(source, name), format, Path(name))


class _Feeder:
    """Bytes in, messages out. Bytes are held until the format is certain, or to the end of a document."""

    def __init__(self, format: str | None, path: Path) -> None:
        self._format = format
        self._path = path
        self._held: list[bytes] = []
        self._bytes = self._lines = 0
        self._reading: LogReading | None = None
        self._is_document = False

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of what was read so far."""
        return () if self._reading is None else self._reading.findings

    def feed(self, block: bytes) -> list[Message]:
        """The messages that have become whole."""
        if self._reading is not None:
            self._reading.feed(block)
        elif not self._hold(block):
            return []
        return [] if self._reading is None else self._reading.take().messages

    def finish(self) -> list[Message]:
        """The messages that are left."""
        reading = self._reading
        if reading is None:
            data = b"".join(self._held)
            values = _values(data, cut=False)
            reading = self._reading = self._begin(values, _format_of(self._format, values, self._path, data))
            document = _document(data) if _may_be_document(reading.format, self._path) else None
            if document is None:
                reading.feed(data)
            else:
                reading.read_records(document)
        return reading.finish().messages

    def _hold(self, block: bytes) -> bool:
        """Keep bytes until it is known how to read them; whether it is."""
        self._held.append(block)
        self._bytes += len(block)
        lines, self._lines = self._lines, self._lines + block.count(b"\n")
        enough = self._lines >= LIMIT or self._bytes >= WINDOW
        if self._is_document or (self._lines == lines and not enough):
            return False
        data = b"".join(self._held)
        self._held = [data]
        if not has_whole_line(data[:WINDOW].decode(errors="replace")) and self._bytes < WINDOW:
            return False  # one record over many lines
        values = _values(data[: data.rfind(b"\n") + 1] if not enough else data, cut=enough)
        kind = self._decided(values, enough=enough)
        if kind is None:
            return False
        if _may_be_document(kind, self._path) and _begins_document(data):
            self._is_document = True
            return False
        self._held.clear()
        self._reading = self._begin(values, kind)
        self._reading.feed(data)
        return True

    def _decided(self, values: Sequence[Json], *, enough: bool) -> LogFormat | None:
        """The format, if it is certain and so is the session; or, after enough records, the likeliest."""
        if enough:
            return log_format(self._format or _detected(values, self._path).format)
        records = list(filter(is_object, values))
        if self._format is not None:
            name = self._format
            named = bool(records) and not all(map(is_session_state, records))
        else:
            found = detect(records, self._path.name) if records else None
            if found is None or found.confidence < CERTAIN:
                return None
            name, named = found.format, False
        is_settled = named or session_id_of(self._path, name, records) is not None
        return log_format(name) if is_settled else None

    def _begin(self, values: Sequence[Json], format: LogFormat) -> LogReading:
        return LogReading(format, thread_id_of(self._path, format.name, values))


def _values(data: bytes, *, cut: bool) -> list[Json]:
    return values_of(data[:WINDOW].decode(errors="replace"), cut=cut or len(data) >= WINDOW)


def _begins_document(data: bytes) -> bool:
    """Whether the first line may be a whole document, or the first of one over many lines."""
    first = _document(data[: data.find(b"\n") + 1])
    return first is None or is_array(first.get("messages"))


def _format_of(format: str | None, values: Sequence[Json], path: Path, data: bytes) -> LogFormat:
    """The named format, else that of the records. A log without any record needs none."""
    if format is None and is_blank(data) and detect(values, path.name) is None:
        return EMPTY_LOG
    return log_format(format or _detected(values, path).format)


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
