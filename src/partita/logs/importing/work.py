"""Reading one session for the store: all that takes time and no database. It runs in processes of its own."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec.structs import replace

from partita.errors import FormatError, PartitaError
from partita.formats.reasons import NO_CALL
from partita.logs.agents import AgentFile, Agents, agent_name
from partita.logs.facts import thread_of
from partita.logs.formats import log_format
from partita.logs.identity import thread_id_of
from partita.logs.lines.blocks import open_log
from partita.logs.lines.heads import first_values
from partita.logs.log_format import LogFormat
from partita.logs.places.detection import detect
from partita.logs.places.log_file import LogFile, is_uuid
from partita.logs.reading import LogReading
from partita.store.sessions.rows import SessionRows, prepare_messages
from partita.store.values import Source
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message, UserMessage
from partita.types.threads import Thread

from .books import Books, records_of
from .checkpoints import Plan, digest, is_recent
from .storages import KINDS as STORAGES
from .storages import read_storage
from .task import Outcome, Task

PIECE: Final = 8 * 1024 * 1024
"""After so many bytes, what was read so far goes to the store."""


def read_unit(task: Task) -> Iterator[SessionRows | Outcome]:
    """The rows of a session, in pieces, then what came of it. Whatever is in a file, it does not raise."""
    session = task.unit.session
    if session.kind in STORAGES:
        yield from read_storage(task)
        return
    try:
        yield from _Reading(task).rows()
    except PartitaError as error:
        yield Outcome(str(session.path), problems=(str(error),))


class _Reading:
    """A session while it is read for the store."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._file = task.unit.session
        self._state = task.plan.state
        more = task.plan.what == "more"
        self._checkpoint: JsonObject | None = self._state.get("checkpoint") if more else None
        self._format, thread_id = self._identify(more)
        self._generation = self._state.get("generation", 1) + (task.plan.what == "rewritten")
        self._agents = Agents(AgentFile(agent_name(file.path), file.path) for file in task.unit.agents)
        self._reading = LogReading(
            self._format,
            thread_id,
            state=self._checkpoint,
            elsewhere=self._agents.names,
            keep_lines=True,
            generation=self._generation,
        )
        self._agents.attend(self._reading)
        told: Json = self._state.get("lines") if more else None
        metadata: JsonObject = {"log": {"path": str(self._file.path), "format": self._format.name}}
        self._books = Books(thread_id, self._format.agent, metadata, told if is_object(told) else {})
        self._problems: list[str] = []

    def rows(self) -> Iterator[SessionRows | Outcome]:
        """What is to be written, in pieces."""
        reading = self._reading
        start = reading.offset
        waiting = 0
        try:
            if not self._read_document():
                for block in open_log(self._file.path, start):
                    reading.feed(block)
                    waiting += len(block)
                    if waiting >= PIECE:
                        waiting = 0
                        yield self._piece()
        except PartitaError as error:  # what could be read is kept
            self._problems.append(str(error))
        self._agents.read_rest(reading)
        if self._checkpoint is not None and self._misses_its_past():
            again = self._task._replace(plan=Plan("again", self._task.plan.source))
            yield from _Reading(again).rows()
            return
        yield from self._end()
        problems = (*self._problems, *map(str, self._agents.problems))
        size = max(reading.offset - start, 0) or self._file.size
        yield Outcome(str(self._file.path), size, reading.lines_read, reading.findings, problems)

    def _misses_its_past(self) -> bool:
        """Whether words were about something before the place where this reading began."""
        self._reading.decoder.finish()
        return any(finding.what == NO_CALL for finding in self._reading.findings)

    def _identify(self, more: bool) -> tuple[LogFormat, str]:
        """The format and the thread: those of the last time, or found out."""
        source = self._task.plan.source
        if more and source is not None and source.thread_id is not None:
            return log_format(str(self._state["format"])), source.thread_id
        file = self._file
        if file.agent == "claude-code" and file.kind == "session" and is_uuid(file.path.stem):
            return log_format("claude-code-log"), file.path.stem  # its place says it all
        values = first_values(file.path)
        found = detect(values, file.path.name)
        if found is None:
            raise FormatError(
                "this is no log that we know", where=str(self._file.path), hint="is it another program's?"
            )
        return log_format(found.format), thread_id_of(self._file.path, found.format, values)

    def _read_document(self) -> bool:
        """Read a log that is one document; whether it was one."""
        if self._format.records is None or ".jsonl" in self._file.path.name:
            return False
        data = b"".join(open_log(self._file.path))
        try:
            document = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
        if not is_object(document):
            return False
        self._reading.read_records(document)
        return True

    def _piece(self) -> SessionRows:
        """What has become whole, in the middle of a file."""
        batch = self._reading.take()
        self._books.add(batch)
        runs = self._books.take(last=self._reading.assembly.run_id, running=False)
        messages, failures = prepare_messages(
            batch.messages, self._reading.thread_id, batch.times, lite=self._task.lite
        )
        return SessionRows(
            self._thread(),
            messages,
            runs,
            records_of(batch.consumptions, self._reading.thread_id),
            failures=failures,
        )

    def _end(self) -> Iterator[SessionRows]:
        """The rest, how far the files were read, and sub-agents that no call claims, as threads."""
        reading = self._reading
        last = reading.assembly.run_id
        checkpoint = reading.checkpoint()
        # While a sub-agent works, its session waits.
        running = not self._task.finished and any(map(is_recent, self._task.unit.files))
        batch = reading.finish(running=running, followed=running and self._task.followed)
        self._books.add(batch)
        lines = {} if last is None else {last: self._books.lines_of(last)}
        runs = self._books.take(last=last, running=running)
        ready, failures = prepare_messages(
            batch.messages, reading.thread_id, batch.times, lite=self._task.lite
        )
        yield SessionRows(
            self._thread(),
            ready,
            runs,
            records_of(batch.consumptions, reading.thread_id),
            [self._source(checkpoint, lines, running), *map(self._agent_source, self._task.unit.agents)],
            failures,
        )
        if running:  # a call may claim them yet
            return
        for name, messages in reading.assembly.orphans().items():
            asked = [message for message in messages if isinstance(message, UserMessage)]
            if not asked or not all(message.internal for message in asked):
                yield self._orphan(name, messages)

    def _orphan(self, name: str, messages: list[Message]) -> SessionRows:
        parent = self._thread()
        thread_id = f"{parent.id}/{name}"
        own = [replace(message, thread_id=thread_id, run_id=None) for message in messages]
        ready, failures = prepare_messages(own, thread_id, {}, lite=self._task.lite)
        thread = replace(
            parent,
            id=thread_id,
            title=f"{name}: {parent.title}" if parent.title else name,
            metadata={**(parent.metadata or {}), "parentThreadId": parent.id, "agentName": name},
        )
        return SessionRows(thread, ready, failures=failures)

    def _thread(self) -> Thread:
        thread = thread_of(self._reading)
        if thread.created_at is not None:
            return thread
        written = datetime.fromtimestamp(self._file.mtime_ns / 1e9, UTC)  # all that is known of its time
        return replace(thread, created_at=written, updated_at=written)

    def _source(self, checkpoint: JsonObject | None, lines: JsonObject, running: bool) -> Source:
        file, offset = self._file, self._reading.offset
        packed = file.path.suffix in (".gz", ".zst") or self._format.records is not None
        state: JsonObject = {
            "size": file.size,
            "mtime": file.mtime_ns,
            "format": self._format.name,
            "generation": self._generation,
            "checkpoint": None if packed else checkpoint,
            "lines": lines,
        }
        if packed:
            state["packed"] = True
        if running:
            state["running"] = True
        return Source(
            path=str(file.path),
            identity=file.identity,
            agent=file.agent,
            thread_id=self._reading.thread_id,
            offset=offset,
            hash=None if packed else digest(file.path, offset),
            state=state,
        )

    def _agent_source(self, file: LogFile) -> Source:
        return Source(
            path=str(file.path),
            identity=file.identity,
            agent=file.agent,
            thread_id=self._reading.thread_id,
            offset=file.size,
            hash=digest(file.path, file.size),
            state={"size": file.size, "mtime": file.mtime_ns, "checkpoint": None, "part": True},
        )
