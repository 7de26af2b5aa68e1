"""What a store keeps of a session that was read from a log: its lines, run by run, as its files had them.

The id of a run tells where its lines began (`thread@offset`, `thread@generation:offset` after the file was
written anew), and that of a sub-agent whose it was (`thread/agent@0`). Blank lines are not kept.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from partita.errors import NotFoundError
from partita.logs.formats import log_format
from partita.logs.lines.heads import WINDOW, values_of
from partita.logs.log_format import LogFormat
from partita.store.facade.store import Store
from partita.store.log.run_log import raw_lines
from partita.store.runs import AT_WORK
from partita.store.transaction import Transaction
from partita.store.values import Source
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message, ToolCallPart
from partita.types.runs import Run
from partita.types.threads import Thread

from .lineage import runs_of
from .retelling import is_imported

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
    lines: Sequence[bytes]
    under: str | None = None

    def blocks(self) -> Iterator[bytes]:
        """Its bytes, in order."""
        return (line + b"\n" for line in self.lines)

    def head(self) -> Sequence[Json]:
        """Its first values, by which a call may be guessed; none when its call is known."""
        if self.under is not None:
            return ()
        data = b"\n".join(self.lines[:WINDOW])[:WINDOW]
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
        return any(run.status in AT_WORK for run in self.every_run)

    def generations(self) -> Iterator[tuple[int, list[KeptRun]]]:
        """The runs of the file, then those of the file as it was written anew, and so on."""
        for generation in sorted({kept.generation for kept in self.runs}):
            yield generation, [kept for kept in self.runs if kept.generation == generation]


async def sources_of_threads(store: Store) -> dict[str, list[Source]]:
    """The files that were read into each thread."""
    found: dict[str, list[Source]] = {}
    for source in await store.list_sources():
        if source.thread_id is not None:
            found.setdefault(source.thread_id, []).append(source)
    return found


async def kept_session(
    store: Store, thread_id: str, sources: Sequence[Source], *, lines_only: bool = False
) -> KeptSession:
    """What is kept of the session that a thread was read from; `sources` are the files it was read from.

    With `lines_only` the stored messages are left out, unless they have to tell which call is whose agent's.
    """
    thread = await store.get_thread_by_id(thread_id)
    if thread is None:
        raise NotFoundError(f"no thread {thread_id!r}", hint="its runs are told with it")
    imported = [run for run in await runs_of(store, thread_id) if is_imported(run)]
    messages: dict[str, Message] = {}
    if not lines_only or any(agent_of(run.id, thread_id) is not None for run in imported):
        page = await store.list_messages(thread_id, limit=None, branch="all", internal=None)
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
