"""An imported session as the store has it: the lines of its log by run, and what they are decoded to today.

The id of a run says where its lines started in the file: `thread@offset`, or `thread@generation:offset` after
the file was rewritten. The run of a sub-agent is `thread/agent@0`. Blank lines are not stored.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.errors import NotFoundError, PartitaError
from partita.formats.log.sink import Consumption
from partita.formats.log.thread_builder import CallTimes
from partita.importers.logs.plan import HEAD, fingerprint
from partita.logs.lines.heads import WINDOW, values_of
from partita.logs.lines.line import Line
from partita.logs.log_reader import LogReader, lines_in
from partita.logs.sources.registry import SOURCES, log_format
from partita.logs.sources.source import LogFormat
from partita.runtime.replay.message_chunks import is_imported
from partita.runtime.replay.recorded_run import runs_of
from partita.store.logs.run_log import raw_lines
from partita.store.runs.rows import ACTIVE
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import MessageFilter, Source
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.messages import Message, ToolCallPart
from partita.types.threads import Run, Thread

from .changes import Skipped

RUNS_AT_ONCE: Final = 50
POSITION: Final = re.compile(r"(?:(\d+):)?(\d+)")


class RunLines(NamedTuple):
    """The lines of a run, and the position of the first of them in the file of the session."""

    run: Run
    generation: int
    offset: int
    lines: Sequence[bytes]


class AgentLines(NamedTuple):
    """The log of a sub-agent, an `AgentLog`. `call_id` is the call that its messages are nested in."""

    name: str
    stored: Sequence[bytes]
    call_id: str | None = None

    def lines(self) -> Iterator[Line]:
        """Its lines."""
        return lines_in(line + b"\n" for line in self.stored)

    def head(self) -> Sequence[Json]:
        """Its first values, by which its call may be guessed; empty if the call is known."""
        if self.call_id is not None:
            return ()
        data = b"\n".join(self.stored[:WINDOW])[:WINDOW]
        return values_of(data.decode(errors="replace"), cut=len(data) == WINDOW)

    def call(self) -> str | None:
        """The call that started it, by the stored messages: the file that named it is not stored."""
        return self.call_id


class StoredSession(NamedTuple):
    """A thread that was imported from a log, with all lines of the log."""

    thread: Thread
    format: LogFormat
    path: str
    runs: Sequence[RunLines]  # of the session itself, in the order of their lines
    agents: Sequence[AgentLines]
    agent_runs: Sequence[Run]
    messages: Mapping[str, Message]  # all that are stored, by id
    sources: Sequence[Source]  # the files that were read into the thread

    @property
    def all_runs(self) -> list[Run]:
        """The runs that were imported from the log."""
        return [*(one.run for one in self.runs), *self.agent_runs]

    @property
    def is_document(self) -> bool:
        """Whether its file was one document, which an agent rewrites each time."""
        return self.format.records is not None and ".jsonl" not in Path(self.path).name

    @property
    def is_running(self) -> bool:
        """Whether its agent was running when the log was last read: then its last message is not complete."""
        return any(run.status in ACTIVE for run in self.all_runs)

    def generations(self) -> Iterator[tuple[int, list[RunLines]]]:
        """The runs of the file, then those of the file after it was rewritten, and so on."""
        for generation in sorted({one.generation for one in self.runs}):
            yield generation, [one for one in self.runs if one.generation == generation]


async def sources_of_threads(store: Store) -> dict[str, list[Source]]:
    """The files that were read into each thread."""
    found: dict[str, list[Source]] = {}
    for source in await store.sources.list():
        if source.thread_id is not None:
            found.setdefault(source.thread_id, []).append(source)
    return found


async def read_session(
    store: Store, thread_id: str, sources: Sequence[Source], *, lines_only: bool = False
) -> StoredSession:
    """The session that a thread was imported from; `sources` are the files that it was read from.

    With `lines_only`, stored messages are left out, unless they are needed to find the calls of sub-agents.
    """
    thread = await store.threads.get(thread_id)
    if thread is None:
        raise NotFoundError(f"no thread {thread_id!r}", hint="it was deleted")
    imported = [run for run in await runs_of(store, thread_id) if is_imported(run)]
    messages: dict[str, Message] = {}
    if not lines_only or any(agent_of(run.id, thread_id) is not None for run in imported):
        page = await store.messages.list(thread_id, MessageFilter(branch="all", internal=None), limit=None)
        messages = {message.id: message for message in page}
    runs: list[RunLines] = []
    agents: dict[str, AgentLines] = {}
    agent_runs: list[Run] = []
    calls = dict(calls_of_agents(messages.values(), thread_id))
    for run, lines in await _with_lines(store, imported):
        name = agent_of(run.id, thread_id)
        if name is None:
            runs.append(RunLines(run, *position_of(run.id, thread_id), lines))
        else:
            agent_runs.append(run)
            agents[name] = AgentLines(name, lines, calls.get(name))
    if not runs:
        raise Skipped("no run of its session is stored")
    runs.sort(key=lambda one: (one.generation, one.offset))
    log = _log_of(runs[-1].run)
    return StoredSession(
        thread,
        log_format(str(log.get("format"))),
        str(log.get("path")),
        runs,
        [agents[name] for name in sorted(agents)],
        agent_runs,
        messages,
        sources,
    )


async def _with_lines(store: Store, runs: Sequence[Run]) -> list[tuple[Run, Sequence[bytes]]]:
    """Runs with their lines. Most runs have few, so several are read at once."""
    found: list[tuple[Run, Sequence[bytes]]] = []
    for start in range(0, len(runs), RUNS_AT_ONCE):
        some = runs[start : start + RUNS_AT_ONCE]
        found += zip(some, await store.read(_lines, some), strict=True)
    return found


def _lines(tx: Transaction, runs: Sequence[Run]) -> list[Sequence[bytes]]:
    return [list(raw_lines(tx, run.id)) for run in runs]


def _log_of(run: Run) -> JsonObject:
    """The path and the format of the log that a run was imported from."""
    log = (run.metadata or {}).get("log")
    return log if is_object(log) else {}


def agent_of(run_id: str, thread_id: str) -> str | None:
    """The name of the sub-agent that a run is of; `None` for a run of the session itself."""
    name, found, _ = run_id.removeprefix(f"{thread_id}/").rpartition("@")
    return name if found and run_id.startswith(f"{thread_id}/") else None


def position_of(run_id: str, thread_id: str) -> tuple[int, int]:
    """The generation of the file, and the offset in it where the lines of a run started."""
    position = POSITION.fullmatch(run_id.removeprefix(f"{thread_id}@"))
    if position is None:
        raise Skipped("its id has no position in a log")
    return int(position[1] or 1), int(position[2])


def calls_of_agents(messages: Iterable[Message], thread_id: str) -> Iterator[tuple[str, str]]:
    """The sub-agents with logs of their own, each with the call that its messages are nested in."""
    waiting = list(messages)
    while waiting:
        for part in waiting.pop().content.parts:
            if isinstance(part, ToolCallPart):
                names = {agent_of(child.run_id or "", thread_id) for child in part.children}
                yield from ((name, part.id) for name in names if name is not None)
                waiting += part.children


# Whether the stored lines may differ from those that the stored messages were read from. Then a difference
# may come from the lines, and not from a better decoder.

MOVED: Final = "its log had blank lines, or several records on one line, and their positions are not stored"
PACKED: Final = (".gz", ".zst")


def uncertainty_of(session: StoredSession) -> str | None:
    """Why the lines of a session may not be those of its messages, as far as that is known before reading."""
    if session.is_document:
        return f"{session.format.agent} rewrites its records: the stored ones may be older than the messages"
    if sum(not _is_of_sub_agent(source) for source in session.sources) > 1:
        return "several files were read into its thread, and it is not stored which line was in which file"
    agents = {agent.name: agent.stored for agent in session.agents}
    files = SOURCES[session.format.agent].sub_agents
    for source in session.sources:
        path = Path(source.path)
        if not _is_of_sub_agent(source):
            stored: Iterable[bytes] = _lines_of_last_file(session)
        elif path.suffix not in PACKED and files is not None and files.name(path) in agents:
            stored = agents[files.name(path)]
        else:
            continue
        if not _is_content(b"".join(line + b"\n" for line in stored), source):
            return MOVED
    return None


def _lines_of_last_file(session: StoredSession) -> Iterator[bytes]:
    """The lines of the file as it was when it was last read."""
    last = session.runs[-1].generation
    return (line for one in session.runs if one.generation == last for line in one.lines)


def _is_content(data: bytes, source: Source) -> bool:
    """Whether a file had this content when it was read; its last line may have had no line feed."""
    end = source.offset
    if len(data) not in (end, end + 1):
        return False
    ends = data[: min(HEAD, end)], data[max(0, end - HEAD) : end]
    return source.hash is None or source.hash == fingerprint(*ends)


def _is_of_sub_agent(source: Source) -> bool:
    return is_object(source.state) and bool(source.state.get("part"))


# The session as it is decoded today

LINES_AT_ONCE: Final = 64

MAX_BLANK: Final = 4096
"""How many bytes between two lines may have been blank lines. If there are more, lines are missing."""

OnReading: TypeAlias = Callable[[LogReader, Sequence[RunLines]], None]
"""Called with each reading before it starts, and with the runs whose lines it is fed."""


class RereadSession(NamedTuple):
    """The content of a session, as it is decoded today."""

    messages: Mapping[str, Message]  # by id, in the order of the log
    orphans: Mapping[str, Sequence[Message]]  # of sub-agents that no call claims
    consumptions: Sequence[Consumption]
    times: Mapping[str, CallTimes]
    uncertainty: str | None = None  # why a difference may come from the lines, and not from the decoder


def read_again(session: StoredSession, on_reading: OnReading | None = None) -> RereadSession:
    """Decode the lines of a session. If a message was read twice, the last one counts."""
    messages: dict[str, Message] = {}
    orphans: Mapping[str, Sequence[Message]] = {}
    consumptions: list[Consumption] = []
    times: dict[str, CallTimes] = {}
    uncertainty = uncertainty_of(session)
    for generation, runs in session.generations():
        reading = LogReader(session.format, session.thread.id, agents=session.agents, generation=generation)
        if on_reading is not None:
            on_reading(reading, runs)
        if session.is_document:
            _read_records(reading, runs)
        elif not _read_lines(reading, runs):
            uncertainty = uncertainty or MOVED
        reading.read_sub_agents()
        batch = reading.finish(running=session.is_running)
        messages |= {message.id: message for message in batch.messages}
        consumptions += batch.consumptions
        times |= batch.times
        orphans = {} if session.is_running else reading.builder.orphans()
    run_ids = _RunIds(session)
    return RereadSession(
        {one.id: replace(one, run_id=run_ids.stored(one.run_id)) for one in messages.values()},
        orphans,
        [replace(one, run_id=run_ids.stored(one.run_id)) for one in consumptions],
        times,
        uncertainty,
    )


def _read_lines(reading: LogReader, runs: Iterable[RunLines]) -> bool:
    """Feed the lines of a file, each run at its offset. Returns whether there are no gaps between them."""
    position, is_complete = 0, True
    for one in runs:
        gap = one.offset - position
        if gap < 0:
            raise Skipped("its lines overlap: several records were on one line, or two files were read")
        if gap > MAX_BLANK:
            raise Skipped("lines of its log are missing")
        is_complete = is_complete and gap == 0
        reading.feed(b"\n" * gap)
        for start in range(0, len(one.lines), LINES_AT_ONCE):
            reading.feed(b"".join(line + b"\n" for line in one.lines[start : start + LINES_AT_ONCE]))
        position = one.offset + length_of(one.lines)
    return is_complete


def length_of(lines: Iterable[bytes]) -> int:
    """The number of bytes of lines in a file."""
    return sum(len(line) + 1 for line in lines)


def _read_records(reading: LogReader, runs: Iterable[RunLines]) -> None:
    """Feed the records of a document, which are numbered."""
    for number, line in enumerate(_records(runs), 1):
        try:
            record = loads(line)
        except PartitaError as error:
            raise Skipped(f"record {number} is not JSON: {error.what}") from error
        if is_object(record):
            reading.read_record(number, record, line)


def _records(runs: Iterable[RunLines]) -> Iterator[bytes]:
    count = 0
    for one in runs:
        if one.offset != (count + 1 if one.offset else 0):
            raise Skipped("its records do not follow each other: its file was rewritten")
        yield from one.lines
        count += len(one.lines)


class _RunIds:
    """The stored runs, for messages of turns that start elsewhere now."""

    def __init__(self, session: StoredSession) -> None:
        self._thread_id = session.thread.id
        self._known = {run.id for run in session.all_runs}
        self._runs = session.runs

    def stored(self, run_id: str | None) -> str | None:
        """The id of the stored run that has the lines of a run."""
        if run_id is None or run_id in self._known:
            return run_id
        position = position_of(run_id, self._thread_id)
        before = [one for one in self._runs if (one.generation, one.offset) <= position]
        return (before[-1] if before else self._runs[0]).run.id
