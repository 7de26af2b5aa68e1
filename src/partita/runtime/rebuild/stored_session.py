"""A kept session read once more, by the reader of logs: messages, and what they consumed."""

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
from partita.logs.reading import LogReading, lines_in
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

# What a store keeps of a session that was read from a log: its lines, run by run, as its files had them.
#
# The id of a run tells where its lines began (`thread@offset`, `thread@generation:offset` after the file was
# written anew), and that of a sub-agent whose it was (`thread/agent@0`). Blank lines are not kept.

RUNS_AT_ONCE: Final = 50
PLACE: Final = re.compile(r"(?:(\d+):)?(\d+)")


class Skipped(Exception):  # noqa: N818 # no error: a reason
    """Why runs are left alone."""


class KeptRun(NamedTuple):
    """The lines of a run, and where the first of them stood in the session's file."""

    run: Run
    generation: int
    offset: int
    lines: Sequence[bytes]


class KeptAgent(NamedTuple):
    """The log of a sub-agent, as lines; `under` is the call that its messages stand under."""

    name: str
    kept: Sequence[bytes]
    under: str | None = None

    def lines(self) -> Iterator[Line]:
        """Its lines."""
        return lines_in(line + b"\n" for line in self.kept)

    def head(self) -> Sequence[Json]:
        """Its first values, by which a call may be guessed; none when its call is known."""
        if self.under is not None:
            return ()
        data = b"\n".join(self.kept[:WINDOW])[:WINDOW]
        return values_of(data.decode(errors="replace"), cut=len(data) == WINDOW)

    def call(self) -> str | None:
        """The call that started it, as it is stored: what stood beside its file is not kept."""
        return self.under


class KeptSession(NamedTuple):
    """A thread that was read from a log, with all lines of it."""

    thread: Thread
    format: LogFormat
    path: str
    runs: Sequence[KeptRun]  # of the session itself, in the order of their lines
    agents: Sequence[KeptAgent]
    of_agents: Sequence[Run]
    messages: Mapping[str, Message]  # all that are stored, by id
    sources: Sequence[Source]  # the files that were read into the thread

    @property
    def every_run(self) -> list[Run]:
        """The runs that were read from the log."""
        return [*(kept.run for kept in self.runs), *self.of_agents]

    @property
    def is_document(self) -> bool:
        """Whether its file was one document, which an agent writes anew each time."""
        return self.format.records is not None and ".jsonl" not in Path(self.path).name

    @property
    def is_running(self) -> bool:
        """Whether its agent was at work when the log was last read: what is open is open still."""
        return any(run.status in ACTIVE for run in self.every_run)

    def generations(self) -> Iterator[tuple[int, list[KeptRun]]]:
        """The runs of the file, then those of the file as it was written anew, and so on."""
        for generation in sorted({kept.generation for kept in self.runs}):
            yield generation, [kept for kept in self.runs if kept.generation == generation]


async def sources_of_threads(store: Store) -> dict[str, list[Source]]:
    """The files that were read into each thread."""
    found: dict[str, list[Source]] = {}
    for source in await store.sources.list():
        if source.thread_id is not None:
            found.setdefault(source.thread_id, []).append(source)
    return found


async def kept_session(
    store: Store, thread_id: str, sources: Sequence[Source], *, lines_only: bool = False
) -> KeptSession:
    """What is kept of the session that a thread was read from; `sources` are the files it was read from.

    With `lines_only` the stored messages are left out, unless they have to tell which call is whose agent's.
    """
    thread = await store.threads.get(thread_id)
    if thread is None:
        raise NotFoundError(f"no thread {thread_id!r}", hint="its runs are told with it")
    imported = [run for run in await runs_of(store, thread_id) if is_imported(run)]
    messages: dict[str, Message] = {}
    if not lines_only or any(agent_of(run.id, thread_id) is not None for run in imported):
        page = await store.messages.list(thread_id, MessageFilter(branch="all", internal=None), limit=None)
        messages = {message.id: message for message in page}
    runs: list[KeptRun] = []
    agents: dict[str, KeptAgent] = {}
    of_agents: list[Run] = []
    under = dict(calls_of_agents(messages.values(), thread_id))
    for run, lines in await _with_lines(store, imported):
        name = agent_of(run.id, thread_id)
        if name is None:
            runs.append(KeptRun(run, *place_of(run.id, thread_id), lines))
        else:
            of_agents.append(run)
            agents[name] = KeptAgent(name, lines, under.get(name))
    if not runs:
        raise Skipped("no run of its session is kept")
    runs.sort(key=lambda kept: (kept.generation, kept.offset))
    log = log_of(runs[-1].run)
    in_order = [agents[name] for name in sorted(agents)]
    return KeptSession(
        thread,
        log_format(str(log.get("format"))),
        str(log.get("path")),
        runs,
        in_order,
        of_agents,
        messages,
        sources,
    )


async def _with_lines(store: Store, runs: Sequence[Run]) -> list[tuple[Run, Sequence[bytes]]]:
    """Runs with their lines. Most have few: many are read at once."""
    found: list[tuple[Run, Sequence[bytes]]] = []
    for start in range(0, len(runs), RUNS_AT_ONCE):
        some = runs[start : start + RUNS_AT_ONCE]
        found += zip(some, await store.read(_lines, some), strict=True)
    return found


def _lines(tx: Transaction, runs: Sequence[Run]) -> list[Sequence[bytes]]:
    return [list(raw_lines(tx, run.id)) for run in runs]


def log_of(run: Run) -> JsonObject:
    """What an imported run says of its log: path and format."""
    log = (run.metadata or {}).get("log")
    return log if is_object(log) else {}


def agent_of(run_id: str, thread_id: str) -> str | None:
    """The sub-agent whose run it is, by its id; `None`: one of the session itself."""
    name, found, _ = run_id.removeprefix(f"{thread_id}/").rpartition("@")
    return name if found and run_id.startswith(f"{thread_id}/") else None


def place_of(run_id: str, thread_id: str) -> tuple[int, int]:
    """How often the file had been written anew, and where in it the lines of a run began."""
    place = PLACE.fullmatch(run_id.removeprefix(f"{thread_id}@"))
    if place is None:
        raise Skipped("its id does not say where in the log its lines stood")
    return int(place[1] or 1), int(place[2])


def calls_of_agents(messages: Iterable[Message], thread_id: str) -> Iterator[tuple[str, str]]:
    """The sub-agents with logs of their own, each with the call that its messages stand under."""
    waiting = list(messages)
    while waiting:
        for part in waiting.pop().content.parts:
            if isinstance(part, ToolCallPart):
                names = {agent_of(child.run_id or "", thread_id) for child in part.children}
                yield from ((name, part.id) for name in names if name is not None)
                waiting += part.children


# Why kept lines may not be those that the stored messages were read from, or not where they stood.
#
# What then comes out otherwise may come from the lines, and not from a better reader.

MOVED: Final = "blank lines, or several records on one line, stood in its log: where is not kept"
PACKED: Final = (".gz", ".zst")


def doubt_about(session: KeptSession) -> str | None:
    """What is doubtful about the lines of a session, before they are read."""
    if session.is_document:
        return f"{session.format.agent} writes its records anew: the kept ones may be older than the messages"
    if sum(not _is_part(source) for source in session.sources) > 1:
        return "several files were read into its thread, and which line was whose is not kept"
    agents = {agent.name: agent.kept for agent in session.agents}
    files = SOURCES[session.format.agent].sub_agents
    for source in session.sources:
        path = Path(source.path)
        if not _is_part(source):
            kept: Iterable[bytes] = _last_file(session)
        elif path.suffix not in PACKED and files is not None and files.name(path) in agents:
            kept = agents[files.name(path)]
        else:
            continue
        if not _is_what_was_read(b"".join(line + b"\n" for line in kept), source):
            return MOVED
    return None


def _last_file(session: KeptSession) -> Iterator[bytes]:
    """The lines of the file as it was when it was last read."""
    last = session.runs[-1].generation
    return (line for kept in session.runs if kept.generation == last for line in kept.lines)


def _is_what_was_read(kept: bytes, source: Source) -> bool:
    """Whether the file held these bytes, as far as it was read; its last line may have had no end."""
    end = source.offset
    if len(kept) not in (end, end + 1):
        return False
    ends = kept[: min(HEAD, end)], kept[max(0, end - HEAD) : end]
    return source.hash is None or source.hash == fingerprint(*ends)


def length_of(lines: Iterable[bytes]) -> int:
    """How many bytes lines take in a file."""
    return sum(len(line) + 1 for line in lines)


def _is_part(source: Source) -> bool:
    """Whether it is the file of a sub-agent."""
    return is_object(source.state) and bool(source.state.get("part"))


LINES_AT_ONCE: Final = 64

BLANK: Final = 4096
"""So many bytes between two lines may have been blank ones; where there are more, lines are missing."""


Attend: TypeAlias = Callable[[LogReading, Sequence[KeptRun]], None]
"""Who is told of each reading before it begins, with the runs whose lines it gets."""


class Reread(NamedTuple):
    """What a session comes to now."""

    messages: Mapping[str, Message]  # by id, in the order of the log
    orphans: Mapping[str, Sequence[Message]]  # of sub-agents that no call claims
    consumptions: Sequence[Consumption]
    times: Mapping[str, CallTimes]
    doubt: str | None = None  # why a difference may come from the lines, and not from the reader


def reread(session: KeptSession, attend: Attend | None = None) -> Reread:
    """The session as it is read today. Of a message that was read twice the last word counts."""
    messages: dict[str, Message] = {}
    orphans: Mapping[str, Sequence[Message]] = {}
    consumptions: list[Consumption] = []
    times: dict[str, CallTimes] = {}
    doubt = doubt_about(session)
    for generation, runs in session.generations():
        reading = LogReading(session.format, session.thread.id, agents=session.agents, generation=generation)
        if attend is not None:
            attend(reading, runs)
        if session.is_document:
            _read_records(reading, runs)
        elif not _read_lines(reading, runs):
            doubt = doubt or MOVED
        reading.read_sub_agents()
        batch = reading.finish(running=session.is_running)
        messages |= {message.id: message for message in batch.messages}
        consumptions += batch.consumptions
        times |= batch.times
        orphans = {} if session.is_running else reading.builder.orphans()
    at_home = _Homes(session)
    return Reread(
        {one.id: at_home.message(one) for one in messages.values()},
        orphans,
        [at_home.consumption(one) for one in consumptions],
        times,
        doubt,
    )


def _read_lines(reading: LogReading, runs: Iterable[KeptRun]) -> bool:
    """Feed the lines of a file, each run where it began; whether they fill it without a gap."""
    at, whole = 0, True
    for kept in runs:
        gap = kept.offset - at
        if gap < 0:
            raise Skipped("its lines overlap: several records stood on one line, or two files were read")
        if gap > BLANK:
            raise Skipped("lines of its log are missing")
        whole = whole and gap == 0
        reading.feed(b"\n" * gap)
        for start in range(0, len(kept.lines), LINES_AT_ONCE):
            reading.feed(b"".join(line + b"\n" for line in kept.lines[start : start + LINES_AT_ONCE]))
        at = kept.offset + length_of(kept.lines)
    return whole


def _read_records(reading: LogReading, runs: Iterable[KeptRun]) -> None:
    """Feed the records of a document, which are numbered."""
    for number, line in enumerate(_numbered(runs), 1):
        try:
            record = loads(line)
        except PartitaError as error:
            raise Skipped(f"record {number} is no JSON: {error.what}") from error
        if is_object(record):
            reading.read_record(number, record, line)


def _numbered(runs: Iterable[KeptRun]) -> Iterator[bytes]:
    count = 0
    for kept in runs:
        if kept.offset != (count + 1 if kept.offset else 0):
            raise Skipped("its records do not follow each other: its file was written anew")
        yield from kept.lines
        count += len(kept.lines)


class _Homes:
    """The runs that are kept, for messages of turns that begin elsewhere now."""

    def __init__(self, session: KeptSession) -> None:
        self._thread_id = session.thread.id
        self._known = {run.id for run in session.every_run}
        self._runs = session.runs

    def message(self, message: Message) -> Message:
        """A message in a run that there is."""
        return replace(message, run_id=self._home(message.run_id))

    def consumption(self, one: Consumption) -> Consumption:
        """A consumption of a run that there is."""
        return replace(one, run_id=self._home(one.run_id))

    def _home(self, run_id: str | None) -> str | None:
        if run_id is None or run_id in self._known:
            return run_id
        place = place_of(run_id, self._thread_id)
        before = [kept for kept in self._runs if (kept.generation, kept.offset) <= place]
        return (before[-1] if before else self._runs[0]).run.id
