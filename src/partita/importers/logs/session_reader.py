"""Reads sessions for the store, without the database. Runs in other processes."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from time import time_ns
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import FormatError, PartitaError
from partita.formats.log.sink import UnknownRecord
from partita.formats.losses import NO_CALL
from partita.logs.detection import detect, thread_id_of
from partita.logs.files import KNOWN
from partita.logs.lines.heads import first_values
from partita.logs.lines.line import Line
from partita.logs.log_reader import Batch, LogReader, agent_file
from partita.logs.sources.registry import log_format, source_of
from partita.logs.sources.source import LogFile, LogFormat, SessionStore, is_uuid
from partita.store.bulk.rows import ThreadRows, prepare_messages
from partita.store.projects import GIT_ROOT
from partita.store.values import Source
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import Message, UserMessage
from partita.types.threads import Thread

from .plan import COMPRESSED, SECOND, Outcome, Plan, Task, active_until, digest
from .repositories import find_repository
from .runs_builder import RunsBuilder, consumption_records

MAX_BATCH_BYTES: Final = 8 * 1024 * 1024
"""After this many bytes, the rows so far are sent to the store."""

STORES: Final = frozenset({"database", "storage-session"})
"""The kinds of files that are read through a `SessionStore`."""


def read_unit(task: Task) -> Iterator[ThreadRows | Outcome]:
    """Yield the rows of a session, in batches, then the outcome. Damaged files raise no errors."""
    file = task.unit.session
    try:
        if file.kind not in STORES:
            yield from _FileReader(task).rows()
            return
        open_store = source_of(file.agent).open_store
        assert open_store is not None, "an agent with stores opens them"
        with closing(open_store(file.path)) as store:
            yield from _StoreReader(task, store).rows()
    except PartitaError as error:
        yield Outcome(str(file.path), problems=(error,))


class _SessionRows:
    """Makes rows from the batches of a session."""

    def __init__(self, reading: LogReader, task: Task, stored_lines: dict[str, int]) -> None:
        self._reading = reading
        self._task = task
        metadata: JsonObject = {"log": {"path": str(task.unit.session.path), "format": reading.format.name}}
        self._runs = RunsBuilder(reading.thread_id, reading.format.agent, metadata, stored_lines)

    def add(self, batch: Batch) -> JsonObject:
        """Add the runs of a batch; returns how many lines of the last run are known."""
        self._runs.add(batch)
        last = self._reading.builder.run_id
        return {} if last is None else {last: self._runs.lines_of(last)}

    def take(
        self, thread: Thread, batch: Batch, *, until: int | None = None, sources: Sequence[Source] = ()
    ) -> ThreadRows:
        """The rows of a batch that was added. `until`: the last run has not ended, see `active_until`."""
        thread_id = self._reading.thread_id
        thread = self._in_repository(thread)
        messages, failures = prepare_messages(batch.messages, thread_id, batch.times, lite=self._task.lite)
        active = None if until is None else datetime.fromtimestamp(until / SECOND, UTC)
        runs = self._runs.take(last=self._reading.builder.run_id, active_until=active)
        consumptions = consumption_records(batch.consumptions, thread_id)
        return ThreadRows(thread, messages, runs, consumptions, sources, failures)

    def _in_repository(self, thread: Thread) -> Thread:
        """The thread with the git repository of its project, if this machine has it."""
        found = find_repository(thread.project) if self._task.local and thread.project else None
        if found is None:
            return thread
        known = thread.metadata or {}
        url = {"gitRepository": found.url} if found.url and "gitRepository" not in known else {}
        return replace(thread, metadata={**known, GIT_ROOT: found.root, **url})

    def orphans(self, parent: Thread) -> Iterator[ThreadRows]:
        """Return sub-agents without a call as threads."""
        for name, messages in self._reading.builder.orphans().items():
            prompts = [message for message in messages if isinstance(message, UserMessage)]
            if not prompts or not all(message.internal for message in prompts):
                yield self._orphan(parent, name, messages)

    def _orphan(self, parent: Thread, name: str, messages: list[Message]) -> ThreadRows:
        thread_id = f"{parent.id}/{name}"
        own = [replace(message, thread_id=thread_id, run_id=None) for message in messages]
        ready, failures = prepare_messages(own, thread_id, {}, lite=self._task.lite)
        thread = replace(
            parent,
            id=thread_id,
            title=f"{name}: {parent.title}" if parent.title else name,
            metadata={**(parent.metadata or {}), "parentThreadId": parent.id, "agentName": name},
        )
        return ThreadRows(thread, ready, failures=failures)


# Log files


class _FileReader:
    """Reads a session and its sub-agents from their files."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._file = task.unit.session
        self._state = task.plan.state
        more = task.plan.kind == "more"
        self._checkpoint: JsonObject | None = self._state.get("checkpoint") if more else None
        self._format, thread_id = self._identify(more)
        self._generation = self._state.get("generation", 1) + (task.plan.kind == "rewritten")
        sub_agents = source_of(self._format.agent).sub_agents
        files = task.unit.agents if sub_agents is not None else ()
        self._reading = LogReader(
            self._format,
            thread_id,
            agents=[agent_file(sub_agents, file.path) for file in files] if sub_agents is not None else (),
            state=self._checkpoint,
            keep_lines=True,
            generation=self._generation,
        )
        stored: Json = self._state.get("lines") if more else None
        self._rows = _SessionRows(self._reading, task, stored if is_object(stored) else {})
        self._problems: list[PartitaError] = []

    def rows(self) -> Iterator[ThreadRows | Outcome]:
        """Yield the rows to write, in batches."""
        reading = self._reading
        start = reading.offset
        waiting = 0
        try:
            for size in reading.read_file(self._file.path):
                waiting += size
                if waiting >= MAX_BATCH_BYTES:
                    waiting = 0
                    yield self._next_batch()
        except PartitaError as error:  # the rows so far are kept
            self._problems.append(error)
        reading.read_sub_agents()
        if self._checkpoint is not None and self._needs_earlier_records():
            again = self._task._replace(plan=Plan("again", self._task.plan.source))
            yield from _FileReader(again).rows()
            return
        yield from self._end()
        problems = (*self._problems, *reading.problems)
        size = max(reading.offset - start, 0) or self._file.size
        yield Outcome(str(self._file.path), size, reading.lines_read, reading.unknown_records, problems)

    def _needs_earlier_records(self) -> bool:
        """Whether a record refers to one before the place where this reading started."""
        self._reading.decoder.finish()
        return any(unknown.what == NO_CALL for unknown in self._reading.unknown_records)

    def _identify(self, more: bool) -> tuple[LogFormat, str]:
        """The format and the thread: those of the last import, or detected."""
        source = self._task.plan.source
        if more and source is not None and source.thread_id is not None:
            return log_format(str(self._state["format"])), source.thread_id
        file = self._file
        own = source_of(file.agent).formats[0]
        if own.is_session_in_name and file.kind == "session" and is_uuid(file.path.stem):
            return own, file.path.stem
        values = first_values(file.path)
        found = detect(values, file.path.name)
        if found is None:
            raise FormatError("no log of a known agent", where=str(file.path), hint=KNOWN)
        format_ = log_format(found.format)
        return format_, thread_id_of(file.path, format_, values)

    def _next_batch(self) -> ThreadRows:
        """Return the rows that became complete, in the middle of a file."""
        batch = self._reading.take()
        self._rows.add(batch)
        return self._rows.take(self._thread(), batch)

    def _end(self) -> Iterator[ThreadRows]:
        """Return the remaining rows, the state of the files, and sub-agents without a call as threads."""
        checkpoint = self._reading.checkpoint()
        until = _active_until(self._task, self._reading)
        running = until is not None
        batch = self._reading.finish(running=running, followed=running and self._task.followed)
        lines = self._rows.add(batch)
        agents = map(self._agent_source, self._task.unit.agents)
        sources = [self._source(checkpoint, lines, until), *agents]
        yield self._rows.take(self._thread(), batch, until=until, sources=sources)
        if not running:  # else a call may claim them later
            yield from self._rows.orphans(self._thread())

    def _thread(self) -> Thread:
        thread = self._reading.thread
        if thread.created_at is not None:
            return thread
        written = datetime.fromtimestamp(self._file.mtime_ns / 1e9, UTC)  # no other time is known
        return replace(thread, created_at=written, updated_at=written)

    def _source(self, checkpoint: JsonObject | None, lines: JsonObject, until: int | None) -> Source:
        file, offset = self._file, self._reading.offset
        packed = file.path.suffix in COMPRESSED or self._format.records is not None
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
        if until is not None:
            state["activeUntil"] = until
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


def _active_until(task: Task, reading: LogReader) -> int | None:
    """Until when the agent of a session may be running, see `active_until`; `None` if it is not running.

    While a sub-agent is running, its session waits. A log without times that is read for the first time may
    be a copy, so its agent is not running.
    """
    builder = reading.builder
    if builder.last_time is None and task.plan.kind == "new":
        return None
    until = active_until(task.unit.files, builder.last_time, in_call=builder.has_open_calls)
    return None if task.finished or until <= time_ns() else until


# Stores with many sessions


class _StoredAgent(NamedTuple):
    """A session that another one started: its records are the log of a sub-agent."""

    name: str
    store: SessionStore

    def lines(self) -> Iterator[Line]:
        """Its records, numbered."""
        for number, record in enumerate(self.store.records(self.name), 1):
            yield Line(number, number, dumps(record), record)

    def head(self) -> Sequence[Json]:
        """Return nothing, because its call names it."""
        return ()

    def call(self) -> str | None:
        """Return `None`, because only the call names it."""
        return None


class _StoreReader:
    """Reads the sessions of a store that have changed, each with those of its sub-agents."""

    def __init__(self, task: Task, store: SessionStore) -> None:
        self._task = task
        self._store = store
        self._file = task.unit.session
        stamps, opened = task.plan.state.get("stamps"), task.plan.state.get("open")
        self._known: JsonObject = stamps if is_object(stamps) else {}
        self._stamps: JsonObject = {}
        # Sessions that must be read again after a time if nothing is written, though they do not change.
        self._known_open: JsonObject = opened if is_object(opened) else {}
        self._open: JsonObject = {}
        self._children: dict[str, list[str]] = {}

    def rows(self) -> Iterator[ThreadRows | Outcome]:
        """Yield the rows to write, session by session. The last rows have the state of the file."""
        only = self._file.session if self._file.kind == "storage-session" else None
        unknown: list[UnknownRecord] = []
        problems: list[PartitaError] = []
        held: ThreadRows | None = None
        lines = 0
        for session in [name for name in self._top_sessions() if only in (None, name)]:
            stamp = self._stamps[session] = self._stamp(session)
            until = self._known_open.get(session)
            if self._known.get(session) == stamp and (until is None or self._is_active(until)):
                self._open |= {} if until is None else {session: until}
                continue
            reading = self._read(session)
            for rows in self._rows(reading):
                if held is not None:
                    yield held
                held = rows
            unknown += reading.unknown_records
            problems += reading.problems
            lines += reading.lines_read
        if held is not None:
            yield held._replace(sources=[self._source(only)])
        problems += self._store.problems
        size = 0 if held is None else self._file.size
        yield Outcome(
            str(self._file.path), size, lines, tuple(unknown), tuple(problems), is_changed=held is not None
        )

    def _is_active(self, until: Json) -> bool:
        """Whether the agent of an open session may still be running. `until` is stored by the last import."""
        now = active_until([self._file], None, in_call=True)
        return isinstance(until, int) and min(until, now) > time_ns() and not self._task.finished

    def _top_sessions(self) -> list[str]:
        """The sessions that no other session of this store started."""
        parents = {session.id: session.parent_id for session in self._store.list_sessions()}
        for session, parent in parents.items():
            if parent in parents:
                self._children.setdefault(str(parent), []).append(session)
        below = {child for children in self._children.values() for child in children}
        return [session for session in parents if session not in below]

    def _descendants(self, session: str) -> Iterator[str]:
        for child in self._children.get(session, ()):
            yield child
            yield from self._descendants(child)

    def _stamp(self, session: str) -> list[int]:
        """Return a value that differs after each change of a session or its sub-agents."""
        stamps = [self._store.stamp(one) for one in (session, *self._descendants(session))]
        return [
            max(stamp.updated for stamp in stamps),
            sum(stamp.messages for stamp in stamps),
            sum(stamp.parts for stamp in stamps),
        ]

    def _read(self, session: str) -> LogReader:
        agents = [_StoredAgent(child, self._store) for child in self._descendants(session)]
        format_ = source_of(self._file.agent).formats[0]
        reading = LogReader(format_, session, agents=agents, keep_lines=True)
        reading.read_records(self._store.records(session))
        reading.read_sub_agents()
        return reading

    def _rows(self, reading: LogReader) -> Iterator[ThreadRows]:
        """Return the rows of a session."""
        rows = _SessionRows(reading, self._task, {})
        until = _active_until(self._task, reading)
        running = until is not None
        batch = reading.finish(running=running, followed=running and self._task.followed)
        rows.add(batch)
        own = rows.take(reading.thread, batch, until=until)
        orphans = list(rows.orphans(reading.thread))
        if running and (orphans or any(run.run.status == "running" for run in own.runs)):
            self._open[reading.thread_id] = until
        yield own
        if not running:  # else a call may claim them later
            yield from orphans

    def _source(self, thread_id: str | None) -> Source:
        file = self._file
        state: JsonObject = {
            "size": file.size,
            "mtime": file.mtime_ns,
            "stamps": self._stamps,
            "packed": True,
        }
        if self._open:
            state |= {"activeUntil": min(self._open.values()), "open": self._open}
        return Source(
            path=str(file.path),
            identity=file.identity,
            agent=file.agent,
            thread_id=thread_id,
            offset=file.size,
            state=state,
        )
