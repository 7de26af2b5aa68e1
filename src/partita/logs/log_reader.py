"""Reads a log: bytes in; messages out, with their runs, their raw lines and their token usage.

The same reader is used for files, files that grow, streams, and sessions in a database. It does not depend on
the store. The log of a sub-agent is read as soon as the call that started it is known.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from msgspec import UNSET

from partita.errors import PartitaError
from partita.formats.log.records import NOT_AN_OBJECT
from partita.formats.log.sink import (
    CUT_LAST_LINE,
    Consumption,
    Fact,
    LinkChecker,
    LogDecoder,
    Position,
    ResumableDecoder,
    UnknownRecord,
)
from partita.formats.log.thread_builder import CallTimes, LogBuilder, Turn
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import Message
from partita.types.threads import Thread
from partita.views.prompts import clean_title, is_telling

from .lines.blocks import open_log
from .lines.heads import first_values
from .lines.reader import UNFINISHED, Line, LineReader
from .sources.registry import SOURCES
from .sources.source import LogFormat, SubAgentFiles

TAKE_EVERY: Final = 256
"""After so many lines, complete messages are taken from the builder."""

MAX_DEPTH: Final = 16
"""How deep logs of sub-agents are read inside of each other. Deeper ones are read after them."""


class RawLine(NamedTuple):
    """An unchanged line, the run that it belongs to, and when it was written."""

    run_id: str
    time: datetime | None
    raw: bytes
    has_content: bool
    """Whether it is part of a message, not only a record about the session."""


class Batch(NamedTuple):
    """The results since the last batch."""

    messages: list[Message]
    turns: list[Turn]
    consumptions: list[Consumption]
    times: dict[str, CallTimes]
    lines: list[RawLine]


class Checkpoint(NamedTuple):
    """The last position between two turns, from which reading can continue when the log has grown."""

    offset: int
    line: int
    tail: str | None
    mark: Any


class AgentLog(Protocol):
    """A separate log of a sub-agent."""

    @property
    def name(self) -> str:
        """The name of the sub-agent."""
        ...

    def lines(self) -> Iterable[Line]:
        """The lines of the log."""
        ...

    def head(self) -> Sequence[Json]:
        """The first values of the log."""
        ...

    def call(self) -> str | None:
        """The call that started the sub-agent, if it is known without reading the log."""
        ...


class AgentFile(NamedTuple):
    """The log file of a sub-agent."""

    name: str
    path: Path
    call_id: str | None = None

    def lines(self) -> Iterator[Line]:
        """The lines of the log."""
        return lines_in(open_log(self.path))

    def head(self) -> Sequence[Json]:
        """The first values of the log."""
        return first_values(self.path)

    def call(self) -> str | None:
        """The call that the sidecar of the log names."""
        return self.call_id


def lines_in(blocks: Iterable[bytes]) -> Iterator[Line]:
    """The lines of a whole log."""
    reader = LineReader()
    for block in blocks:
        yield from reader.feed(block)
    yield from reader.finish()


def agent_files(format: LogFormat, session: Path) -> list[AgentFile]:
    """The files of the sub-agents of a session."""
    source = SOURCES.get(format.agent)
    if source is None or source.sub_agents is None or format.kind == "stream":
        return []
    return [agent_file(source.sub_agents, path) for path in source.sub_agents.find(session)]


def agent_file(files: SubAgentFiles, path: Path) -> AgentFile:
    """The file of a sub-agent."""
    return AgentFile(files.name(path), path, files.call(path))


def document_in(data: bytes) -> JsonObject | None:
    """Return the JSON document in a log; `None` if it has JSON lines."""
    try:
        found: Json = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if is_object(found) else None


class LogReader:
    """Reads one log, with the logs of its sub-agents."""

    def __init__(
        self,
        format: LogFormat,
        thread_id: str,
        *,
        agents: Iterable[AgentLog] = (),
        state: JsonObject | None = None,
        keep_lines: bool = False,
        generation: int = 1,
    ) -> None:
        """`state` is what `checkpoint` returned: the bytes then start at its offset.

        `generation` is higher for each time that a file was rewritten, so that its runs get new ids.
        """
        self.format = format
        self.builder = LogBuilder(thread_id, tail=None if state is None else state["tail"])
        self.builder.generation = generation
        self.decoder: LogDecoder = format.decoder(self.builder)
        offset, line = (0, 0) if state is None else (state["offset"], state["line"])
        self._reader = LineReader(offset, line)
        self._keep_lines = keep_lines
        self._lines: list[RawLine] = []
        self._messages: list[Message] = []
        self.known_agents: frozenset[str] = frozenset(() if state is None else state["agents"])
        """The sub-agents that were linked before the state."""
        self.unfinished = False
        self._cut_lines: list[tuple[Position, str]] = []  # last lines that are cut, and their sub-agents
        self._link_checkers: list[tuple[LinkChecker, str]] = []
        self.lines_read = 0
        self.builder.offset, self.builder.line = offset, line + 1  # of the first line to come
        self._resumable = self.decoder if isinstance(self.decoder, ResumableDecoder) else None
        if state is not None and self._resumable is not None:
            self._resumable.restore(state["decoder"])
            self.builder.facts.update(state["facts"])
            self.builder.first_time, self.builder.last_time = map(_read_stamp, state["times"])
        self._add_link_checker(self.decoder, "")
        self._agents = _SubAgentLogs(agents, self)
        self.builder.on_turn = self._mark
        self.builder.start_turn()

    # Facts about the log so far

    @property
    def thread_id(self) -> str:
        """The thread that the messages belong to."""
        return self.builder.thread_id or ""

    @property
    def facts(self) -> dict[Fact, Json]:
        """The facts in the log about its thread."""
        return self.builder.facts

    @property
    def thread(self) -> Thread:
        """The thread of the log, as far as it was read."""
        facts, builder = self.facts, self.builder
        metadata: JsonObject = {
            name: facts[fact] for fact, name in METADATA.items() if facts.get(fact) is not None
        }
        cwd = facts.get("cwd")
        return Thread(
            id=self.thread_id,
            title=title_of(facts),
            agent=self.format.agent,
            project=cwd if isinstance(cwd, str) else None,
            metadata=metadata or None,
            created_at=builder.first_time,
            updated_at=builder.last_time,
        )

    @property
    def unknown_records(self) -> tuple[UnknownRecord, ...]:
        """Unknown and damaged records, by kind."""
        return tuple(self.builder.unknown_records)

    @property
    def problems(self) -> Sequence[PartitaError]:
        """Why logs of sub-agents could not be read."""
        return self._agents.problems

    @property
    def offset(self) -> int:
        """The start of the first line that was not read completely, in bytes."""
        return self._reader.offset

    # Input

    def feed(self, data: bytes) -> None:
        """Read the next bytes."""
        self._read(self._reader.feed(data))

    def read_file(self, path: Path) -> Iterator[int]:
        """Read a file from the current offset. Yields the number of bytes after each block."""
        if self.format.may_be_document(path):
            data = b"".join(open_log(path))
            self.read_data(data, path)
            yield len(data)
            return
        for block in open_log(path, self.offset):
            self.feed(block)
            yield len(block)

    def read_data(self, data: bytes, path: Path) -> None:
        """Read all bytes of a log: one document, or lines."""
        document = document_in(data) if self.format.may_be_document(path) else None
        if document is None:
            self.feed(data)
        else:
            self.read_document(document)

    def read_document(self, document: JsonObject) -> None:
        """Read the records in a whole document."""
        records = self.format.records
        assert records is not None, "the format has documents"
        self.read_records(records(document))

    def read_records(self, records: Iterable[JsonObject]) -> None:
        """Read records that are not lines of a file."""
        for number, record in enumerate(records, 1):
            self.read_record(number, record, dumps(record))

    def read_record(self, number: int, record: JsonObject, raw: bytes) -> None:
        """Read a record that is not a line of a file."""
        self.builder.line = self.builder.offset = number
        self.lines_read += 1
        self._read_value(record, raw)

    def read_sub_agents(self) -> None:
        """Read the logs of sub-agents that no call names. Must be called before `finish`."""
        self._agents.read_remaining()

    def finish(self, *, running: bool = False, followed: bool = False) -> Batch:
        """End the log, and return the remaining results.

        While the agent is `running`, open calls stay open; otherwise they are interrupted as lost.
        `followed`: the log may grow, so that a cut last line or a missing parent is not reported yet.
        """
        self._read(self._reader.finish())
        with self.builder.from_lines():
            self.decoder.finish()
        if not followed:
            self._report_end()
        if running:
            self._messages += self.builder.take() + self.builder.unfinished_messages()
        else:
            self._messages += self.builder.finish()
        return self.take()

    def _read(self, lines: Iterable[Line]) -> None:
        builder, feed, keep = self.builder, self.decoder.feed, self._keep_lines
        number = 0
        for number, line in enumerate(lines, 1):
            builder.line = line.number
            builder.offset = line.offset
            value = line.value
            if line.problem is None and is_object(value):
                builder.has_content = False
                feed(value)
                if keep:
                    self._lines.append(
                        RawLine(builder.run_id or "", builder.time, line.raw, builder.has_content)
                    )
            else:
                self._read_damaged(line)
            if number % TAKE_EVERY == 0:
                self._messages += builder.take()
        self.lines_read += number

    def _read_damaged(self, line: Line) -> None:
        """Read a line that is damaged or not an object."""
        if line.problem is UNFINISHED:
            self.unfinished = True
            self._cut_lines.append((line.position, ""))
            return
        if line.problem is not None:
            self.builder.report_unknown(line.problem)
        self._read_value(line.value, line.raw)

    def _read_value(self, value: Json, raw: bytes) -> None:
        builder = self.builder
        builder.has_content = False
        if is_object(value):
            self.decoder.feed(value)
        elif value is not UNSET:
            builder.report_unknown(NOT_AN_OBJECT)
            builder.add_record(f"{self.format.agent}-line", value)
        if self._keep_lines:
            self._lines.append(RawLine(builder.run_id or "", builder.time, raw, builder.has_content))

    def _report_end(self) -> None:
        """Report problems that are certain when the log has ended."""
        for position, log in self._cut_lines:
            self.builder.unknown_records.add(CUT_LAST_LINE, position, log)
        for decoder, log in self._link_checkers:
            with self._in_log(log, None):
                decoder.check_links()
        self._cut_lines.clear()

    def _add_link_checker(self, decoder: LogDecoder, log: str) -> None:
        if isinstance(decoder, LinkChecker):
            self._link_checkers.append((decoder, log))

    # Logs of sub-agents

    def read_agent(self, log: AgentLog) -> None:
        """Read the log of a sub-agent in a separate run, and continue with the current run."""
        builder, name = self.builder, log.name
        decoder = self.format.decoder(builder.agent(name))
        run_id = f"{self.thread_id}/{name}@0"
        for line in log.lines():
            if line.problem is UNFINISHED:
                self._cut_lines.append((line.position, name))
            elif line.problem is not None:
                builder.unknown_records.add(line.problem, line.position, name)
            if line.value is not UNSET and not is_object(line.value):
                builder.unknown_records.add(NOT_AN_OBJECT, line.position, name)
            current = builder.run_id, builder.line, builder.offset, builder.time
            builder.run_id, builder.line, builder.offset = run_id, line.number, line.offset
            builder.has_content = False
            if is_object(line.value):
                with self._in_log(name, None):
                    decoder.feed(line.value)
            if self._keep_lines:
                self._lines.append(RawLine(run_id, builder.time, line.raw, builder.has_content))
            builder.run_id, builder.line, builder.offset, builder.time = current
        self._add_link_checker(decoder, name)
        with self._in_log(name, ()):
            decoder.finish()

    @contextmanager
    def _in_log(self, log: str, source_lines: tuple[int, ...] | None) -> Generator[None, None, None]:
        """Inside of this context, records are of the log of a sub-agent."""
        builder = self.builder
        current = builder.log, builder.source_lines
        builder.log, builder.source_lines = log, source_lines
        try:
            yield
        finally:
            builder.log, builder.source_lines = current

    # Output

    def take(self) -> Batch:
        """Return what became complete since the last batch."""
        builder = self.builder
        messages, self._messages = self._messages + builder.take(), []
        lines, self._lines = self._lines, []
        return Batch(messages, builder.take_turns(), builder.take_ledger(), builder.take_call_times(), lines)

    def checkpoint(self) -> JsonObject | None:
        """Return the state to continue from later; `None` if the log can only be read from its start."""
        if self._resumable is None:
            return None
        last = self._checkpoint
        return {
            "offset": last.offset,
            "line": last.line,
            "tail": last.tail,
            "facts": dict(self.facts),
            "times": [_stamp(self.builder.first_time), _stamp(self.builder.last_time)],
            "agents": sorted(self.known_agents | self.builder.linked_agents),
            "decoder": self._resumable.state(last.mark),
        }

    def _mark(self) -> None:
        builder = self.builder
        mark = None if self._resumable is None else self._resumable.mark()
        self._checkpoint = Checkpoint(builder.offset, builder.line - 1, builder.tail, mark)


def _stamp(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _read_stamp(stamp: str | None) -> datetime | None:
    return None if stamp is None else datetime.fromisoformat(stamp)


# Threads

TITLES: Final[tuple[Fact, ...]] = ("title", "agentTitle", "summary", "prompt", "opening", "command")
"""The facts that are used as the title of a thread, by preference. A prompt like `y` is used last."""

METADATA: Final[dict[Fact, str]] = {
    "sessionId": "sessionId",
    "version": "agentVersion",
    "gitBranch": "gitBranch",
    "gitCommit": "gitCommit",
    "gitRepository": "gitRepository",
    "entrypoint": "entrypoint",
    "model": "model",
    "provider": "provider",
    "agentName": "agentName",
    "parentSessionId": "parentSessionId",
    "forkedFrom": "forkedFrom",
}
"""The facts that become metadata of the thread, and their names there."""


def title_of(facts: dict[Fact, Json]) -> str | None:
    """Return the title of a thread: that of a person, of the agent, a summary, or the first text."""
    titles = {fact: clean_title(text) for fact in TITLES if isinstance(text := facts.get(fact), str)}
    prompt = titles.get("prompt")
    if prompt is not None and not is_telling(prompt):
        titles["prompt"] = titles.pop("prompt")
    return next(filter(None, titles.values()), None)


# Sub-agents


class _SubAgentLogs:
    """The separate logs of sub-agents. Each is read when the call that started it is known."""

    def __init__(self, logs: Iterable[AgentLog], reader: LogReader) -> None:
        self.problems: list[PartitaError] = []
        self._log_reader = reader
        self._unread = {log.name: log for log in logs}
        self._keys: dict[str, Sequence[str]] = {}  # of unread logs, found when they are needed
        self._depth = 0
        builder = reader.builder
        calls = {name: log.call() for name, log in self._unread.items()}
        builder.agents_with_logs = frozenset(self._unread)
        builder.claims = {call: name for name, call in calls.items() if call is not None}
        builder.on_link = self.read
        builder.on_find_agent = self._find

    def read(self, name: str) -> None:
        """Read the log of a sub-agent, unless it was read before."""
        if self._depth == MAX_DEPTH:
            return
        log = self._unread.pop(name, None)
        if log is None:
            return
        self._depth += 1
        try:
            self._log_reader.read_agent(log)
        except PartitaError as error:
            self.problems.append(error)
            what = "the file of a sub-agent that cannot be read"
            self._log_reader.builder.unknown_records.add(what, Position(0, 0), str(error))
        finally:
            self._depth -= 1

    def read_remaining(self) -> None:
        """Read the logs that no result names, under the call that expects their key, if there is one.

        Those that were linked before the start position of this reader are left out.
        """
        while names := [name for name in self._unread if name not in self._log_reader.known_agents]:
            for name in names:
                if name in self._unread:
                    self._claim(name)
                    self.read(name)

    def _claim(self, name: str) -> None:
        builder = self._log_reader.builder
        if name in builder.linked_agents:
            return
        for key in self._keys_of(name):
            if (call := builder.claim_call(key)) is not None:
                builder.link(name, call)
                return

    def _find(self, key: str) -> str | None:
        return next((name for name in self._unread if key and key in self._keys_of(name)), None)

    def _keys_of(self, name: str) -> Sequence[str]:
        keys = self._keys.get(name)
        if keys is None:
            try:
                keys = self._log_reader.format.agent_keys(self._unread[name].head())
            except PartitaError:
                keys = ()
            self._keys[name] = keys
        return keys
