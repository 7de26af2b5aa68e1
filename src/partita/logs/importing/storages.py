"""OpenCode's storage for the store: the sessions that have changed, each with those of its sub-agents."""

from collections.abc import Iterator
from contextlib import closing

from partita.errors import PartitaError
from partita.formats.log.diagnostics import Finding
from partita.logs.facts import thread_of
from partita.logs.formats import log_format
from partita.logs.opencode.opening import open_storage, records_in
from partita.logs.opencode.storage import Storage
from partita.logs.reading import LogReading
from partita.store.sessions.rows import SessionRows, prepare_messages
from partita.store.values import Source
from partita.types.json import Json, JsonObject, dumps, is_object

from .books import Books, records_of
from .checkpoints import is_recent
from .task import Outcome, Task

FORMAT = "opencode-export"
KINDS = frozenset({"database", "storage-session"})


def read_storage(task: Task) -> Iterator[SessionRows | Outcome]:
    """The rows of every session that has changed, then what came of it."""
    file = task.unit.session
    alone = file.path.stem if file.kind == "storage-session" else None
    path = file.path.parents[2] if alone else file.path
    try:
        with closing(open_storage(path)) as storage:
            yield from _Sessions(task, storage).rows(alone)
    except PartitaError as error:
        yield Outcome(str(file.path), problems=(str(error),))


class _Sessions:
    """The sessions of a storage while they are read."""

    def __init__(self, task: Task, storage: Storage) -> None:
        self._task = task
        self._storage = storage
        self._file = task.unit.session
        known = task.plan.state.get("stamps")
        self._known: JsonObject = known if is_object(known) else {}
        self._stamps: JsonObject = {}
        self._children: dict[str, list[str]] = {}

    def rows(self, alone: str | None) -> Iterator[SessionRows | Outcome]:
        tops = self._tops()
        findings: list[Finding] = []
        last: SessionRows | None = None
        read = 0
        for session in tops if alone is None else [name for name in tops if name == alone]:
            stamp = self._stamp(session)
            self._stamps[session] = stamp
            if self._known.get(session) == stamp:
                continue
            if last is not None:
                yield last
            reading, last = self._read(session)
            findings += reading.findings
            read += reading.lines_read
        source = self._source(last.thread.id if last and alone else None)
        if last is not None:
            yield last._replace(sources=[source])
        problems = tuple(str(problem) for problem in self._storage.problems)
        yield Outcome(str(self._file.path), self._file.size if last else 0, read, tuple(findings), problems)

    def _tops(self) -> list[str]:
        """The sessions that no other session of this storage started."""
        parents: dict[str, Json] = {}
        for info in self._storage.sessions():
            parents[str(info.get("id"))] = info.get("parentID")
        for session, parent in parents.items():
            if isinstance(parent, str) and parent in parents:
                self._children.setdefault(parent, []).append(session)
        below = {child for children in self._children.values() for child in children}
        return [session for session in parents if session not in below]

    def _stamp(self, session: str) -> list[int]:
        """What changes when a session does, or one of its sub-agents'."""
        stamps = [list(self._storage.stamp(session))]
        stamps += [self._stamp(child) for child in self._children.get(session, ())]
        return [
            max(stamp[0] for stamp in stamps),
            *(sum(each) for each in list(zip(*stamps, strict=True))[1:]),
        ]

    def _read(self, session: str) -> tuple[LogReading, SessionRows]:
        reading = LogReading(log_format(FORMAT), session, keep_lines=True)
        reading.assembly.on_link = lambda child: self._read_child(child, session, reading)
        for number, record in enumerate(records_in(self._storage, session), 1):
            reading.read_record(number, record, dumps(record))
        metadata: JsonObject = {"log": {"path": str(self._file.path), "format": FORMAT}}
        books = Books(session, reading.format.agent, metadata, {})
        last = reading.assembly.run_id
        running = not self._task.finished and is_recent(self._file)
        batch = reading.finish(running=running, followed=running and self._task.followed)
        books.add(batch)
        messages, failures = prepare_messages(batch.messages, session, batch.times, lite=self._task.lite)
        rows = SessionRows(
            thread_of(reading),
            messages,
            books.take(last=last, running=running),
            records_of(batch.consumptions, session),
            failures=failures,
        )
        return reading, rows

    def _read_child(self, child: str, session: str, reading: LogReading) -> None:
        """The session of a sub-agent, under the call that started it."""
        if child not in self._children.get(session, ()) and not any(
            child in children for children in self._children.values()
        ):
            return
        decoder = reading.format.decoder(reading.agent(child))
        for number, record in enumerate(records_in(self._storage, child), 1):
            reading.read_agent_record(number, record, decoder, f"{session}/{child}@0", dumps(record))
        decoder.finish()

    def _source(self, thread_id: str | None) -> Source:
        file = self._file
        state: JsonObject = {
            "size": file.size,
            "mtime": file.mtime_ns,
            "stamps": self._stamps,
            "packed": True,
        }
        return Source(
            path=str(file.path),
            identity=file.identity,
            agent=file.agent,
            thread_id=thread_id,
            offset=file.size,
            state=state,
        )
