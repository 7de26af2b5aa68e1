"""`parse_log_file` and `parse_log_stream`: the messages of a log of any agent, and their tool calls."""

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Iterable,
    Iterator,
    Sequence,
)
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from partita.errors import FormatError
from partita.formats.detection.agent_logs import CERTAIN, is_session_state
from partita.formats.log.sink import UnknownRecord
from partita.types.json import Json, is_array, is_object
from partita.types.messages import Message, ToolCallPart
from partita.types.parts import ToolOutput, ToolState
from partita.types.threads import Thread

from .detection import DetectedLog, detect, session_id_of, thread_id_of
from .lines.blocks import AsyncReadable, read_blocks_async
from .lines.heads import LIMIT, WINDOW, has_whole_line, head_of, values_of
from .lines.recovery import is_blank
from .log_reader import Batch, LogReader, agent_files, document_in
from .sources.registry import EMPTY_LOG, LOG_FORMATS, log_format
from .sources.source import LogFormat


class ParsedLog:
    """A log that is read lazily: its messages, its thread, its unknown records.

    Iterating yields each message as soon as it is complete, and keeps only the current turn. A message with a
    late output is yielded a second time, with the same id. `messages` has each one once, in its last state.
    """

    def __init__(self, path: Path, format: LogFormat, thread_id: str, *, agents: bool) -> None:
        self.path = path
        self.format = format.name
        self.agent = format.agent
        self._format = format
        self._thread_id = thread_id
        self._agents = agents
        self._reader: LogReader | None = None

    def __iter__(self) -> Iterator[Message]:
        reader = self._start()
        for _ in reader.read_file(self.path):
            yield from reader.take().messages
        reader.read_sub_agents()
        yield from reader.finish().messages
        self._reader = reader

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """All messages of the conversation, in order, each in its last state."""
        found: dict[str, Message] = {}
        for message in self:
            found[message.id] = message
        return tuple(found.values())

    @property
    def thread(self) -> Thread:
        """The thread of the log, with its title and metadata."""
        return self.reading.thread

    @property
    def unknown_records(self) -> tuple[UnknownRecord, ...]:
        """Unknown and damaged records, by kind, with line numbers."""
        return self.reading.unknown_records

    @property
    def orphans(self) -> dict[str, list[Message]]:
        """The messages of sub-agents that are not under a call, by the name of the agent."""
        return self.reading.builder.orphans()

    @property
    def reading(self) -> LogReader:
        """The reader, after it has read the whole log."""
        if self._reader is None:
            _ = self.messages
        assert self._reader is not None, "iterating sets the reader"
        return self._reader

    def read_whole(self) -> tuple[LogReader, Batch]:
        """Read everything at once: messages, turns with their raw lines, and token usage."""
        reader = self._start(keep_lines=True)
        for _ in reader.read_file(self.path):
            pass
        reader.read_sub_agents()
        return reader, reader.finish()

    def _start(self, *, keep_lines: bool = False) -> LogReader:
        agents = agent_files(self._format, self.path) if self._agents else ()
        return LogReader(self._format, self._thread_id, agents=agents, keep_lines=keep_lines)


def parse_log_file(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    agents: bool = True,
    thread_id: str | None = None,
) -> ParsedLog:
    """The log at `path`; its format is detected unless `format` names it.

    `agents=False` leaves out sub-agents with separate files. `thread_id` is the thread of the
    messages, by default that of the session.
    """
    file = Path(path)
    head = head_of(file)
    values = _values(head, cut=False)
    found = _format_of(format, values, file, head)
    return ParsedLog(file, found, thread_id or thread_id_of(file, found, values), agents=agents)


class LogStream:
    """The messages of a log that arrives in blocks. Iterate once; `unknown_records` grows meanwhile."""

    def __init__(self, blocks: AsyncIterator[bytes], format: str | None, path: Path) -> None:
        self._reader = _StreamReader(format, path)
        self._messages = self._read(blocks)

    def __aiter__(self) -> AsyncIterator[Message]:
        return self._messages

    def __anext__(self) -> Awaitable[Message]:
        return self._messages.__anext__()

    async def aclose(self) -> None:
        """Stop reading, and close the source."""
        await self._messages.aclose()

    @property
    def unknown_records(self) -> tuple[UnknownRecord, ...]:
        """Unknown and damaged records so far, by kind, with line numbers."""
        return self._reader.unknown_records

    async def _read(self, blocks: AsyncIterator[bytes]) -> AsyncGenerator[Message, None]:
        async for block in blocks:
            for message in self._reader.feed(block):
                yield message
        for message in self._reader.finish():
            yield message


def parse_log_stream(
    source: AsyncIterable[bytes] | AsyncReadable, *, format: str | None = None, name: str = ""
) -> LogStream:
    """The messages of a log that arrives in blocks, each as soon as it is complete.

    With `format` they are read from the first line on; otherwise as soon as the format is certain. `name` is
    the file name: it may name the agent and the thread, and errors name it.
    """
    return LogStream(read_blocks_async(source, name), format, Path(name))


class _StreamReader:
    """Reads blocks of bytes, which are pending until the format is certain, or until a document ends."""

    def __init__(self, format: str | None, path: Path) -> None:
        self._format = format
        self._path = path
        self._pending: list[bytes] = []
        self._bytes = self._lines = 0
        self._reader: LogReader | None = None
        self._is_document = False

    @property
    def unknown_records(self) -> tuple[UnknownRecord, ...]:
        """Unknown records so far."""
        return () if self._reader is None else self._reader.unknown_records

    def feed(self, block: bytes) -> list[Message]:
        """Read a block; return the messages that became complete."""
        if self._reader is not None:
            self._reader.feed(block)
        elif not self._add_pending(block):
            return []
        return [] if self._reader is None else self._reader.take().messages

    def finish(self) -> list[Message]:
        """The remaining messages."""
        reader = self._reader
        if reader is None:
            data = b"".join(self._pending)
            values = _values(data, cut=False)
            reader = self._reader = self._start(values, _format_of(self._format, values, self._path, data))
            reader.read_data(data, self._path)
        return reader.finish().messages

    def _add_pending(self, block: bytes) -> bool:
        """Add a pending block; return whether the format is known now."""
        self._pending.append(block)
        self._bytes += len(block)
        lines, self._lines = self._lines, self._lines + block.count(b"\n")
        enough = self._lines >= LIMIT or self._bytes >= WINDOW
        if self._is_document or (self._lines == lines and not enough):
            return False
        data = b"".join(self._pending)
        self._pending = [data]
        if not has_whole_line(data[:WINDOW].decode(errors="replace")) and self._bytes < WINDOW:
            return False  # one record over many lines
        values = _values(data[: data.rfind(b"\n") + 1] if not enough else data, cut=enough)
        found = self._decide(values, enough=enough)
        if found is None:
            return False
        if found.may_be_document(self._path) and _starts_document(data):
            self._is_document = True
            return False
        self._pending.clear()
        self._reader = self._start(values, found)
        self._reader.feed(data)
        return True

    def _decide(self, values: Sequence[Json], *, enough: bool) -> LogFormat | None:
        """Return the format if it and the session are certain, or if there are `enough` records."""
        if enough:
            return log_format(self._format or _detect(values, self._path).format)
        records = list(filter(is_object, values))
        if self._format is not None:
            name = self._format
            named = bool(records) and not all(map(is_session_state, records))
        else:
            found = detect(records, self._path.name) if records else None
            if found is None or found.confidence < CERTAIN:
                return None
            name, named = found.format, False
        format_ = log_format(name)
        is_certain = named or session_id_of(self._path, format_, records) is not None
        return format_ if is_certain else None

    def _start(self, values: Sequence[Json], format: LogFormat) -> LogReader:
        return LogReader(format, thread_id_of(self._path, format, values))


def _values(data: bytes, *, cut: bool) -> list[Json]:
    return values_of(data[:WINDOW].decode(errors="replace"), cut=cut or len(data) >= WINDOW)


def _starts_document(data: bytes) -> bool:
    """Whether the first line may be a whole document, or the first line of one."""
    first = document_in(data[: data.find(b"\n") + 1])
    return first is None or is_array(first.get("messages"))


def _format_of(format: str | None, values: Sequence[Json], path: Path, data: bytes) -> LogFormat:
    """Return the named format, else that of the records. A log without records does not need one."""
    if format is None and is_blank(data) and detect(values, path.name) is None:
        return EMPTY_LOG
    return log_format(format or _detect(values, path).format)


def _detect(values: Sequence[Json], path: Path) -> DetectedLog:
    found = detect(values, path.name)
    if found is None:
        raise FormatError(
            "this is not a log of a known agent",
            where=str(path),
            hint=f"name its format: {', '.join(LOG_FORMATS)}",
        )
    return found


# Tool calls


class ToolCall(NamedTuple):
    """A call in a message. `path` has the calls that it is nested under, the outermost first."""

    message_id: str
    path: tuple[str, ...]
    id: str
    name: str
    state: ToolState
    part: ToolCallPart

    @property
    def input(self) -> object:
        """The arguments of the tool."""
        return self.part.input

    @property
    def output(self) -> ToolOutput | None:
        """The result of the tool."""
        return self.part.output

    @property
    def failed(self) -> bool:
        """Whether the call failed or was denied."""
        return self.state in ("output-error", "output-denied")


def extract_tool_calls(messages: Iterable[Message]) -> Iterator[ToolCall]:
    """The calls of messages in order, each before the calls of the sub-agent that it started."""
    return _calls(messages, ())


def _calls(messages: Iterable[Message], path: tuple[str, ...]) -> Iterator[ToolCall]:
    for message in messages:
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                yield ToolCall(message.id, path, part.id, part.name, part.state, part)
                yield from _calls(part.children, (*path, part.id))
