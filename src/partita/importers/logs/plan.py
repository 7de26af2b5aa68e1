"""The plan of an import of logs, and its report. These values are sent to the reading processes and back."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from time import time_ns
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.log.sink import UnknownRecord
from partita.logs.sources.registry import SOURCES
from partita.logs.sources.source import LogFile
from partita.store.bulk.writer import Counts
from partita.store.values import Source
from partita.types.json import Json, JsonObject, is_object
from partita.types.threads import Thread

# Whether a file has anything new, and from where to read it
#
# A file is known by its path and its identity, and what was read of it by its first and last bytes. A file
# that was renamed is recognized. One that was rewritten or cut is read again; what was read before is kept.

HEAD: Final = 4096
"""How many bytes at each end of what was read identify it."""

SECOND: Final = 10**9

IDLE_AFTER: Final = 5 * 60 * SECOND
"""For so many nanoseconds after its last record, an agent may be running."""

IDLE_AFTER_CALL: Final = 30 * 60 * SECOND
"""The same if the last record is a call without a result: a build or a test may take long."""

COMPRESSED: Final = (".gz", ".zst")

PlanKind: TypeAlias = Literal["nothing", "more", "again", "rewritten", "new"]


class Plan(NamedTuple):
    """What to read of a file; `source` is what is stored about it."""

    kind: PlanKind
    source: Source | None = None

    @property
    def state(self) -> JsonObject:
        """The state that the last import stored."""
        state = None if self.source is None else self.source.state
        return state if is_object(state) else {}


def plan_for(file: LogFile, source: Source | None, *, finished: bool = False) -> Plan:
    """What is new in a file. `finished`: its agent has ended."""
    if source is None or not is_object(source.state):
        return Plan("new")
    state = source.state
    if file.kind == "storage-session":  # its messages are other files: they must be read to know
        return Plan("again", source)
    until: Json = state.get("activeUntil")
    idle_from = min(until, file.mtime_ns + IDLE_AFTER_CALL) if isinstance(until, int) else None
    has_ended = idle_from is not None and (finished or time_ns() >= idle_from)
    if state.get("size") == file.size and state.get("mtime") == file.mtime_ns and not has_ended:
        return Plan("nothing", source)
    if file.path.suffix in COMPRESSED or state.get("packed"):
        return Plan("again", source)
    if file.size < source.offset or digest(file.path, source.offset) != source.hash:
        return Plan("rewritten", source)
    if file.size == state.get("size") and file.size == source.offset and not has_ended:
        return Plan("nothing", source)
    return Plan("more" if state.get("checkpoint") is not None else "again", source)


def active_until(files: Iterable[LogFile], last: datetime | None, *, in_call: bool) -> int:
    """Until when the agent of a session may be running if it writes nothing, in nanoseconds.

    A copied file is new and has old records, so the older of both times counts. `last` is the time of the
    last record, if the log has times.
    """
    written = max(file.mtime_ns for file in files)
    recorded = written if last is None else int(last.timestamp()) * SECOND
    return min(written, recorded) + (IDLE_AFTER_CALL if in_call else IDLE_AFTER)


def digest(path: Path, offset: int) -> str:
    """Identifies the first `offset` bytes of a file by both their ends."""
    try:
        with path.open("rb") as file:
            head = file.read(min(HEAD, offset))
            file.seek(max(0, offset - HEAD))
            tail = file.read(min(HEAD, offset))
    except OSError:
        return ""
    return fingerprint(head, tail)


def fingerprint(head: bytes, tail: bytes) -> str:
    """Identifies bytes by their first and last `HEAD` bytes."""
    return sha256(head + b"\n" + tail).hexdigest()


# Files that belong together: a session and its sub-agents are read as one


class Unit(NamedTuple):
    """A session, with the files of its sub-agents."""

    session: LogFile
    agents: tuple[LogFile, ...] = ()

    @property
    def files(self) -> tuple[LogFile, ...]:
        """All its files."""
        return (self.session, *self.agents)

    @property
    def size(self) -> int:
        """The number of bytes in all files."""
        return sum(file.size for file in self.files)


def units_of(files: Iterable[LogFile]) -> list[Unit]:
    """The sessions among files. A sub-agent whose session is not among them is a separate session."""
    every = list(files)
    owners: dict[LogFile, LogFile] = {}
    for agent, source in SOURCES.items():
        if source.sub_agents is not None:
            owners |= source.sub_agents.owners([file for file in every if file.agent == agent])
    agents: dict[LogFile, list[LogFile]] = {}
    for file, owner in owners.items():
        agents.setdefault(owner, []).append(file)
    sessions = sorted((file for file in every if file not in owners), key=_is_sub_agent)
    return [Unit(file, tuple(agents.get(file, ()))) for file in sessions]


def _is_sub_agent(file: LogFile) -> bool:
    return file.kind == "subagent"


class Task(NamedTuple):
    """A session to be read."""

    unit: Unit
    plan: Plan
    lite: bool  # the store is SQLite, whose search terms are made here
    finished: bool = False  # the agent has reported that it ended, however recent its files are
    followed: bool = False  # the log may grow: a cut last line is not reported while the agent may be running
    local: bool = True  # the log was written on this machine, which has the folder of its project


# Results


class Outcome(NamedTuple):
    """The result of reading a file: counts, unknown records, errors."""

    path: str
    bytes: int = 0
    lines: int = 0
    unknown_records: tuple[UnknownRecord, ...] = ()
    problems: tuple[PartitaError, ...] = ()
    is_changed: bool = True  # false if the file had to be opened to know that nothing in it is new


class Progress(NamedTuple):
    """The progress of an import."""

    files: int
    all_files: int
    bytes: int
    all_bytes: int
    messages: int


OnProgress: TypeAlias = Callable[[Progress], None]


class ImportedSession(NamedTuple):
    """A session that was read: its thread, which always has a title if a user said something, and counts."""

    thread: Thread
    counts: Counts = Counts()

    @property
    def is_changed(self) -> bool:
        """Whether anything of it is new."""
        return bool(self.counts.new_threads or self.counts.new or self.counts.changed)

    def to_json(self) -> JsonObject:
        """The session as plain JSON."""
        return {
            "id": self.thread.id,
            "agent": self.thread.agent,
            "project": self.thread.project,
            "title": self.thread.title,
            "new": bool(self.counts.new_threads),
            "messages": _message_counts(self.counts),
        }


@dataclass
class AgentReport:
    """The part of a report that is about one agent. New sessions are `counts.new_threads`."""

    files: int = 0
    changed: int = 0  # sessions that were stored, with anything new
    unchanged: int = 0
    removed: int = 0  # sessions whose threads were deleted, and which are not imported again
    counts: Counts = field(default_factory=Counts)

    def to_json(self) -> JsonObject:
        """It as plain JSON."""
        sessions = {
            "new": self.counts.new_threads,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "removed": self.removed,
        }
        return {"files": self.files, "sessions": sessions, "messages": _message_counts(self.counts)}


@dataclass
class LogImportReport:
    """The report of an import: files, sessions, new messages, unknown records, errors."""

    dry_run: bool = False
    read: int = 0  # files that had anything new
    bytes: int = 0
    lines: int = 0
    gone: int = 0  # files that were read once and do not exist any more; their threads stay
    counts: Counts = field(default_factory=Counts)
    sessions: dict[str, ImportedSession] = field(default_factory=dict[str, ImportedSession])
    agents: dict[str, AgentReport] = field(default_factory=dict[str, AgentReport])
    unknown_records: dict[str, tuple[UnknownRecord, ...]] = field(
        default_factory=dict[str, tuple[UnknownRecord, ...]]
    )
    problems: dict[str, list[PartitaError]] = field(default_factory=dict[str, list[PartitaError]])

    def add(self, outcome: Outcome) -> None:
        """Add the outcome of a file."""
        self.read += outcome.is_changed
        self.bytes += outcome.bytes
        self.lines += outcome.lines
        if outcome.unknown_records:
            self.unknown_records[outcome.path] = outcome.unknown_records
        for problem in outcome.problems:
            self.problem(outcome.path, problem)

    def add_session(self, thread: Thread, counts: Counts) -> None:
        """Add a session, or another part of it."""
        known = self.sessions.get(thread.id)
        if known is not None:
            thread = replace(thread, title=known.thread.title or thread.title)
            counts = counts._replace(new_threads=0)  # in a dry run, each part is new
        self.counts = self.counts.plus(counts)
        self.sessions[thread.id] = ImportedSession(
            thread, counts if known is None else known.counts.plus(counts)
        )

    def problem(self, path: str, error: PartitaError) -> None:
        """Add an error of a file."""
        self.problems.setdefault(path, []).append(error)

    @property
    def files(self) -> int:
        """How many files there are."""
        return sum(agent.files for agent in self.agents.values())

    @property
    def changed_sessions(self) -> list[ImportedSession]:
        """The sessions with anything new."""
        return [session for session in self.sessions.values() if session.is_changed]

    @property
    def failed(self) -> bool:
        """Whether anything went wrong."""
        return bool(self.problems)

    def to_json(self) -> JsonObject:
        """The report as plain JSON."""
        return {
            "dryRun": self.dry_run,
            "files": self.files,
            "read": self.read,
            "bytes": self.bytes,
            "lines": self.lines,
            "gone": self.gone,
            "threads": {"new": self.counts.new_threads},
            "messages": _message_counts(self.counts),
            "agents": {name: agent.to_json() for name, agent in self.agents.items()},
            "sessions": [session.to_json() for session in self.changed_sessions],
            "findings": [
                {
                    "file": path,
                    "what": unknown.what,
                    "times": unknown.times,
                    "lines": [position.line for position in unknown.positions],
                    "detail": unknown.detail,
                }
                for path, found in sorted(self.unknown_records.items())
                for unknown in found
            ],
            "problems": [
                {"file": path, "what": error.what, "where": error.where, "hint": error.hint}
                for path, errors in sorted(self.problems.items())
                for error in errors
            ],
        }


def _message_counts(counts: Counts) -> JsonObject:
    return {"new": counts.new, "changed": counts.changed, "unchanged": counts.unchanged}
