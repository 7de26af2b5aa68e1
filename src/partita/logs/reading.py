"""A log that is being read: bytes in, messages out, with their runs, their raw lines, what they consumed.

One engine for all: a file read at once, a file that grows, a stream. It knows nothing of files or stores.
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from msgspec import UNSET

from partita.formats.log.diagnostics import CUT_LAST_LINE, Diagnostics, Finding, Place
from partita.formats.log.sink import Consumption, Fact, LinkChecker, LogDecoder
from partita.formats.log.thread_builder import CallTimes, LogBuilder, SubAgentBuilder, Turn
from partita.logs.lines.reader import UNFINISHED, Line, LineReader
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import Message

from .log_format import LogFormat, Resumable

AT_ONCE = 256
"""After so many lines, what has become whole is taken out."""

NO_OBJECT = "a line that is no object"


class RawLine(NamedTuple):
    """A line as it was, the run it belongs to, and when it was written."""

    run_id: str
    time: datetime | None
    raw: bytes


class Batch(NamedTuple):
    """What reading has brought since the last time."""

    messages: list[Message]
    turns: list[Turn]
    consumptions: list[Consumption]
    times: dict[str, CallTimes]
    lines: list[RawLine]


class Checkpoint(NamedTuple):
    """The last place between two turns: where to go on when more has come, and what must be known there."""

    offset: int
    line: int
    tail: str | None
    mark: Any


class LogReading:
    """The reading of one log, with the sub-agents that it names."""

    def __init__(
        self,
        format: LogFormat,
        thread_id: str,
        *,
        state: JsonObject | None = None,
        elsewhere: frozenset[str] = frozenset(),
        keep_lines: bool = False,
        generation: int = 1,
    ) -> None:
        """`state` is what `checkpoint` gave: the bytes then begin at its offset.

        `generation` grows when a file was rewritten: its runs are then others than those read before.
        """
        self.format = format
        self.assembly = LogBuilder(thread_id, tail=None if state is None else state["tail"])
        self.assembly.generation = generation
        self.decoder: LogDecoder = (
            format.decoder(self.assembly, elsewhere=elsewhere)
            if format.tells_agents
            else format.decoder(self.assembly)
        )
        offset, line = (0, 0) if state is None else (state["offset"], state["line"])
        self._reader = LineReader(offset, line)
        self._keep_lines = keep_lines
        self._lines: list[RawLine] = []
        self._messages: list[Message] = []
        self.known_agents: frozenset[str] = frozenset(() if state is None else state["agents"])
        self.unfinished = False
        self._cut: list[tuple[Place, str]] = []  # last lines that are cut, and the sub-agent whose they are
        self._chained: list[tuple[LinkChecker, str]] = []
        self.lines_read = 0
        self.assembly.offset, self.assembly.line = offset, line + 1  # of the first line to come
        if state is not None and isinstance(self.decoder, Resumable):
            self.decoder.restore(state["decoder"])
            self.assembly.facts.update(state["facts"])
            self.assembly.first_time, self.assembly.last_time = map(_moment, state["times"])
        self._resumable = self.decoder if isinstance(self.decoder, Resumable) else None
        self._note_chain(self.decoder, "")
        self.assembly.on_turn = self._mark
        self.assembly.begin_turn()

    # What is known of the log so far

    @property
    def thread_id(self) -> str:
        """The thread that the messages belong to."""
        return self.assembly.thread_id or ""

    @property
    def facts(self) -> dict[Fact, Json]:
        """What the log says about its thread."""
        return self.assembly.facts

    @property
    def diagnostics(self) -> Diagnostics:
        """What was not understood."""
        return self.assembly.diagnostics

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was not understood, by kind."""
        return tuple(self.assembly.diagnostics)

    @property
    def offset(self) -> int:
        """How far the log has been read: the beginning of the first line that is not whole."""
        return self._reader.offset

    # Bytes in

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self._take(self._reader.feed(data))

    def finish(self, *, running: bool = False, followed: bool = False) -> Batch:
        """There are no more bytes: everything that is left.

        While the agent is running, what is open stays open; else calls without an output are lost.
        `followed`: more bytes may come, so that a cut last line or a missing parent is no finding yet.
        """
        self._take(self._reader.finish())
        with self.assembly.as_of():
            self.decoder.finish()
        if not followed:
            self._report_ends()
        if running:
            self._messages += self.assembly.take() + self.assembly.pending()
        else:
            self._messages += self.assembly.finish()
        return self.take()

    def _report_ends(self) -> None:
        """Report what is known to be wrong once nothing more comes."""
        for place, log in self._cut:
            self.assembly.diagnostics.add(CUT_LAST_LINE, place, log)
        for decoder, log in self._chained:
            with self._in(log, None):
                decoder.check_links()
        self._cut.clear()

    def _note_chain(self, decoder: LogDecoder, log: str) -> None:
        if isinstance(decoder, LinkChecker):
            self._chained.append((decoder, log))

    def read_records(self, document: JsonObject) -> None:
        """Take a whole document: the records in it, one after the other."""
        records = self.format.records
        assert records is not None, "only a format of documents is given one"
        for number, record in enumerate(records(document), 1):
            self.read_record(number, record, dumps(record))

    def read_record(self, number: int, record: JsonObject, raw: bytes) -> None:
        """Take a record that is no line of a file."""
        self.assembly.line = self.assembly.offset = number
        self.lines_read += 1
        self._record(record, raw)

    def read_agent(self, name: str, lines: Iterable[Line], decoder: LogDecoder, run_id: str) -> None:
        """Take the lines of a sub-agent's own file, in a run of their own."""
        for line in lines:
            if line.problem is UNFINISHED:
                self._cut.append((line.place, name))
            elif line.problem is not None:
                self.assembly.diagnostics.add(line.problem, line.place, name)
            value = line.value if is_object(line.value) else None
            if value is None and line.value is not UNSET:
                self.assembly.diagnostics.add(NO_OBJECT, line.place, name)
            self.read_agent_record(
                line.number, value, decoder, run_id, line.raw, offset=line.offset, log=name
            )
        self._note_chain(decoder, name)
        with self._in(name, ()):
            decoder.finish()

    def read_agent_record(
        self,
        number: int,
        record: JsonObject | None,
        decoder: LogDecoder,
        run_id: str,
        raw: bytes,
        *,
        offset: int | None = None,
        log: str = "",
    ) -> None:
        """Take a record of a sub-agent, in a run of its own, and come back to the one at hand."""
        assembly = self.assembly
        here = assembly.run_id, assembly.line, assembly.offset, assembly.time
        assembly.run_id, assembly.line = run_id, number
        assembly.offset = number if offset is None else offset
        if record is not None:
            with self._in(log, None):
                decoder.feed(record)
        if self._keep_lines:
            self._lines.append(RawLine(run_id, assembly.time, raw))
        assembly.run_id, assembly.line, assembly.offset, assembly.time = here

    @contextmanager
    def _in(self, log: str, source_lines: tuple[int, ...] | None) -> Generator[None, None, None]:
        """While records of a sub-agent's own log are told, whatever is told of the one that called it."""
        assembly = self.assembly
        here = assembly.log, assembly.source_lines
        assembly.log, assembly.source_lines = log, source_lines
        try:
            yield
        finally:
            assembly.log, assembly.source_lines = here

    def agent(self, name: str) -> SubAgentBuilder:
        """The sink for a sub-agent."""
        return self.assembly.agent(name)

    # Messages out

    def take(self) -> Batch:
        """What has become whole since the last time."""
        assembly = self.assembly
        messages, self._messages = self._messages + assembly.take(), []
        lines, self._lines = self._lines, []
        return Batch(messages, assembly.take_turns(), assembly.take_ledger(), assembly.take_times(), lines)

    def checkpoint(self) -> JsonObject | None:
        """Where to go on later, and what must be known there; `None`: only from the start."""
        decoder = self.decoder
        if not isinstance(decoder, Resumable):
            return None
        last = self._checkpoint
        return {
            "offset": last.offset,
            "line": last.line,
            "tail": last.tail,
            "facts": dict(self.facts),
            "times": [_stamp(self.assembly.first_time), _stamp(self.assembly.last_time)],
            "agents": sorted(self.known_agents | self.assembly.linked_agents),
            "decoder": decoder.state(last.mark),
        }

    def _mark(self) -> None:
        assembly = self.assembly
        mark = None if self._resumable is None else self._resumable.mark()
        self._checkpoint = Checkpoint(assembly.offset, assembly.line - 1, assembly.tail, mark)

    def _take(self, lines: Iterable[Line]) -> None:
        assembly, feed, keep = self.assembly, self.decoder.feed, self._keep_lines
        number = 0
        for number, line in enumerate(lines, 1):
            assembly.line = line.number
            assembly.offset = line.offset
            value = line.value
            if line.problem is None and is_object(value):
                feed(value)
                if keep:
                    self._lines.append(RawLine(assembly.run_id or "", assembly.time, line.raw))
            else:
                self._take_with_care(line)
            if number % AT_ONCE == 0:
                self._messages += assembly.take()
        self.lines_read += number

    def _take_with_care(self, line: Line) -> None:
        """A line with which something is wrong, or that is no object."""
        if line.problem is UNFINISHED:
            self.unfinished = True
            self._cut.append((line.place, ""))
            return
        if line.problem is not None:
            self.assembly.report_unknown(line.problem)
        self._record(line.value, line.raw)

    def _record(self, value: Json, raw: bytes) -> None:
        assembly = self.assembly
        if is_object(value):
            self.decoder.feed(value)
        elif value is not UNSET:
            assembly.report_unknown("a line that is no object")
            assembly.note(f"{self.format.agent}-line", value)
        if self._keep_lines:
            self._lines.append(RawLine(assembly.run_id or "", assembly.time, raw))


def _stamp(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _moment(stamp: str | None) -> datetime | None:
    return None if stamp is None else datetime.fromisoformat(stamp)
