"""The declaration of a source of logs, which each module of this package exports as `SOURCE`.

A source declares where an agent keeps its logs, what each file is, which formats the files have, and how the
files of sub-agents are found. The rest is shared: finding and following files, reading lines and documents
with their damage, building messages, nesting sub-agents, resuming, importing.

The `LogDecoder` of a format is in a module in `partita.formats`. The module is imported when the
first log of its format is read, because every command that looks for logs imports all declarations.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeAlias

from partita.errors import DecodeError, PartitaError
from partita.formats.log.sink import LogDecoder, LogSink
from partita.lazy import lazy_function
from partita.types.json import Json, JsonObject

# Files

Kind: TypeAlias = Literal["session", "subagent", "document", "database", "storage-session", "stream"]
"""What a file contains. A stream is the recorded output of an agent; all others are its logs.

`database` and `storage-session` belong to a `SessionStore`: a database, or one session in a folder of files.
"""

Folders: TypeAlias = tuple[str, ...]
"""The names of the folders from the home of an agent down to a file."""

WRITE_AHEAD = "-wal"
"""The suffix of the file with changes that SQLite has not written to the database yet."""


class PathInfo(NamedTuple):
    """The kind of a file, by its path. `session` of a sub-agent is the session that it belongs to."""

    kind: Kind
    session: str | None = None


class LogFile(NamedTuple):
    """A log on disk. `identity` stays the same when the file is renamed or grows.

    `size` and `mtime_ns` of a database include its write-ahead log.
    """

    path: Path
    agent: str
    kind: Kind
    session: str | None
    size: int
    mtime_ns: int
    identity: str


def log_file(path: Path, agent: str, info: PathInfo, entry: os.DirEntry[str] | None = None) -> LogFile | None:
    """The log at `path`; `None` if no regular file exists there."""
    try:
        # The entry needs half the time; on Windows it does not have the identity of the file.
        found = entry.stat() if entry and os.name != "nt" else path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    size, mtime_ns = found.st_size, found.st_mtime_ns
    if info.kind == "database":
        ahead_size, ahead_mtime_ns = _write_ahead_of(path)
        size, mtime_ns = size + ahead_size, max(mtime_ns, ahead_mtime_ns)
    return LogFile(path, agent, *info, size, mtime_ns, f"{found.st_dev}:{found.st_ino}")


def _write_ahead_of(path: Path) -> tuple[int, int]:
    """Size and time of the write-ahead log of a database; a database may change only there."""
    try:
        found = path.with_name(path.name + WRITE_AHEAD).stat()
    except OSError:
        return 0, 0
    return (found.st_size, found.st_mtime_ns) if found.st_size else (0, 0)  # readers leave it empty


def stem_of(path: Path) -> str:
    """The name of a file before its first dot."""
    return path.name.partition(".")[0]


def is_uuid(text: str) -> bool:
    """Whether `text` looks like a UUID, such as the id of a session."""
    return len(text) == 36 and text.count("-") == 4 and text.replace("-", "").isalnum()


class Environment(NamedTuple):
    """Where agents look for their home: the user's home folder, and environment variables."""

    home: Path
    variables: Mapping[str, str]

    def path(self, variable: str) -> Path | None:
        """The path in a variable, if it is set. `~` is `home`."""
        return self._expanded(self.variables.get(variable, ""))

    def paths(self, variable: str) -> list[Path]:
        """The paths in a variable, separated by commas."""
        found = map(self._expanded, self.variables.get(variable, "").split(","))
        return [path for path in found if path is not None]

    def _expanded(self, text: str) -> Path | None:
        text = text.strip()
        if not text:
            return None
        return self.home / text[2:] if text == "~" or text.startswith(("~/", "~\\")) else Path(text)


# Formats


def session_id_in(stem: str, records: Sequence[JsonObject]) -> str | None:
    """The id of a session: the first `sessionId` or `session_id` in its records."""
    return first_text(records, "sessionId") or first_text(records, "session_id")


def first_text(records: Iterable[JsonObject], name: str) -> str | None:
    """The first text that is a member of that name."""
    return next((record[name] for record in records if isinstance(record.get(name), str)), None)


@dataclass(frozen=True, slots=True)
class LogFormat:
    """A format of logs."""

    name: str
    """The name of the format in `partita.formats` too."""
    agent: str
    decoder: Callable[[LogSink], LogDecoder]
    kind: Kind = "session"
    """The kind of files of this format, if their path does not show it."""
    records: Callable[[JsonObject], Iterator[JsonObject]] | None = None
    """The records in a document, if a file may be one JSON document."""
    session_id: Callable[[str, Sequence[JsonObject]], str | None] = session_id_in
    """The id of the session, by the name of the file (before its first dot) and its first records."""
    is_session_in_name: bool = False
    """Whether a UUID in the name of the file of a session is its id, even if its records have another one."""
    path_info: Callable[[Path], PathInfo | None] = lambda path: None
    """The kind and the session of a file by its path, if the path shows more than the `kind`."""
    agent_keys: Callable[[Sequence[Json]], Sequence[str]] = lambda values: ()
    """The keys of a sub-agent whose call does not name it, such as its prompt, by the first values of its
    file, with the most certain one first. See `LogSink.expect_agent`.
    """

    def info_of(self, path: Path) -> PathInfo:
        """Return the kind and the session of a file of this format, in any folder."""
        stem = stem_of(path)
        session = stem if is_uuid(stem) and self.kind == "session" else None
        return self.path_info(path) or PathInfo(self.kind, session)

    def may_be_document(self, path: Path) -> bool:
        """Whether a file may be one JSON document, by its name."""
        return self.records is not None and ".jsonl" not in path.name


def stream_decoder(path: str) -> Callable[[LogSink], LogDecoder]:
    """Makes the decoder of a log that is a recorded stream, given the dotted path of the stream's decoder."""
    read_stream = lazy_function("partita.formats.log.stream_log.StreamLogDecoder")
    decoder = lazy_function(path)
    return lambda sink: read_stream(sink, decoder)


# Sub-agents with files of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentFiles:
    """Finds the files of sub-agents and their sessions."""

    name: Callable[[Path], str]
    """The name of a sub-agent, by its file."""
    find: Callable[[Path], Iterable[Path]]
    """The files of all sub-agents of a session, by the file of the session."""
    owners: Callable[[Sequence[LogFile]], Mapping[LogFile, LogFile]]
    """The files of sub-agents among some files, each with its session, if that is among them too."""
    session: Callable[[LogFile], Path | None]
    """The file of the session that a sub-agent's file belongs to; `None` if it cannot be found."""
    call: Callable[[Path], str | None] = lambda path: None
    """The call that started a sub-agent, if the sidecar of its log names it."""
    come_late: bool = False
    """Whether the file may appear after the reader of the session has passed the call."""


# Stores: a database or a folder with many sessions


class Stamp(NamedTuple):
    """The state of a session, to detect changes: the time of its last change, and its number of records."""

    updated: int
    messages: int
    parts: int


class StoredSession(NamedTuple):
    """A session in a store, and the session that started it, if one did."""

    id: str
    parent_id: str | None


class SessionStore(Protocol):
    """A database or folder with many sessions, opened for reading only.

    Open it again for each import, because the agent may be writing to it. A file or a row that is damaged is
    returned as a record that says so, and listed in `problems`; it does not stop the others.
    """

    problems: list[DecodeError]

    def list_sessions(self) -> Iterable[StoredSession]:
        """All sessions."""
        ...

    def records(self, session_id: str) -> Iterator[JsonObject]:
        """The records of a session, in the form that its decoder reads."""
        ...

    def stamp(self, session_id: str) -> Stamp:
        """A value that differs after each change of the session."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


# Sources


def no_paths(environment: Environment) -> Iterable[Path]:
    """No path is named in the environment."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSource:
    """An agent whose logs can be read. Only functions that are documented to do I/O do so."""

    agent: str
    formats: tuple[LogFormat, ...]
    """The format of its log files first."""

    # Where the logs are

    homes: Callable[[Environment], Iterable[Path]]
    """The folders under which the agent keeps its data, whether they exist or not."""
    watched: tuple[str, ...]
    """The files and folders below a home to watch for changes; names may be glob patterns."""
    may_contain: Callable[[Folders], bool]
    """Whether a folder may contain logs, itself or below it."""
    classify: Callable[[Folders, str], PathInfo | None]
    """What a file is, by its folders and its name; `None` if it is not a log."""
    databases: Callable[[Environment], Iterable[Path]] = no_paths
    """Databases that the environment names."""

    # Files outside of the homes

    is_certain: Callable[[PathInfo, str], bool] = lambda info, name: True
    """Whether only this agent gives a file that path. Other programs have folders called `projects` too."""
    is_named: Callable[[str], bool] = lambda name: False
    """Whether the agent gives its log files such names. It decides about files without records."""
    recognize: Callable[[JsonObject, str], str | None] = lambda record, name: None
    """The reason why a record with too few members is of this agent, given the name of its file."""
    is_ignored: Callable[[str], bool] = lambda name: False
    """Whether a file of that name in the folders of logs looks like a log and is not one."""
    log_path: Callable[[Path], Path | None] = lambda path: path
    """The path of the log that a changed file is a part of, such as a sidecar; `None` if it was removed. May
    do I/O.
    """

    resume: tuple[str, ...] = ()
    """The command of the agent that resumes a session, with `{session}` for its id; empty if it has none."""
    sub_agents: SubAgentFiles | None = None
    """Given if sub-agents have files of their own."""
    open_store: Callable[[Path], SessionStore] | None = None
    """Opens a log of kind `database` or `storage-session`."""


OnProblem: TypeAlias = Callable[[PartitaError], None]
"""Called with what could not be read."""
