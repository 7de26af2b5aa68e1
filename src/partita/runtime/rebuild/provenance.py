"""The provenance of sessions that somebody asked about lately, so that a second question costs no reading."""

import asyncio
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate, groupby
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace
from sqlalchemy import func, select

from partita.errors import PartitaError, UnavailableError
from partita.logs.reading import LogReading
from partita.store.schema import runs
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.codec import encode
from partita.types.messages import Message, ToolCallPart

from .stored_session import KeptRun, KeptSession, Reread, Skipped, agent_of, kept_session, reread

# Which lines of a kept session each of its messages was told by: found by reading it once more.
#
# A line belongs to a message if it said something of it: a piece of an answer, the output of a call however
# late, what was consumed. A line that was held back until another came belongs to what it said itself.

Teller: TypeAlias = tuple[str, str]
"""A message: the name of the sub-agent that it is of (none: of the session itself), and its id."""

Numbers: TypeAlias = "array[int]"


class OfRun(NamedTuple):
    """Entries of a run's log, by their numbers."""

    run_id: str
    seqs: Sequence[int]


class Nested(NamedTuple):
    """Where a message of a sub-agent stands."""

    agent: str
    top_id: str


class Provenance(NamedTuple):
    """The lines of all messages of a session."""

    runs: Sequence[str]
    ends: Sequence[int]  # how many lines there are up to the end of each run
    lines: Mapping[Teller, Numbers]  # by their places among all lines
    nested: Mapping[str, Nested]  # messages of sub-agents by their ids, where those are of one alone
    contents: Mapping[Teller, bytes] | None  # what they come to, where the lines may be older than they are

    def of(self, message: Message, agent: str = "") -> list[OfRun] | None:
        """The entries that a stored message came from; `None` if nobody knows for certain."""
        teller = agent, message.id
        if teller not in self.lines:
            return None
        if self.contents is not None and self.contents.get(teller) != _content(message):
            return None
        return [OfRun(*found) for found in self.by_run(self.lines[teller])]

    def by_run(self, places: Numbers) -> Iterator[tuple[str, list[int]]]:
        """Places among all lines, as numbers in the logs of runs."""
        for run, some in groupby(places, lambda place: bisect_right(self.ends, place)):
            before = self.ends[run - 1] if run else 0
            yield self.runs[run], [place - before + 1 for place in some]


def trace(session: KeptSession) -> Provenance:
    """Read a kept session once more, and see which line tells of which message."""
    tracing = _Tracing(session)
    now = reread(session, tracing.attend)
    told = {teller: array("Q", sorted(places)) for teller, places in tracing.told.items()}
    thread_id = session.thread.id
    return Provenance(
        tracing.runs,
        tracing.ends,
        told,
        _nested(now, thread_id, told),
        None if now.doubt is None else _contents(now, thread_id, told),
    )


class _Tracing:
    """Who is told of messages while a session is read."""

    def __init__(self, session: KeptSession) -> None:
        of_agents = {agent_of(run.id, session.thread.id): run.id for run in session.of_agents}
        logs = [(kept.run.id, kept.lines) for kept in session.runs]
        logs += [(of_agents[agent.name], agent.kept) for agent in session.agents]
        self.runs = [run_id for run_id, _ in logs]
        self.ends = list(accumulate(len(lines) for _, lines in logs))
        self.told: dict[Teller, set[int]] = {}
        self._begins = dict(zip(self.runs, [0, *self.ends], strict=False))
        self._is_document = session.is_document
        self._of_agents = {
            agent.name: dict(_numbered(agent.kept, 1, self._begins[of_agents[agent.name]]))
            for agent in session.agents
        }

    def attend(self, reading: LogReading, runs: Sequence[KeptRun]) -> None:
        """Listen to a reading. What a file says that was written anew is the last word."""
        places = {"": self._places(runs), **self._of_agents}
        told: dict[Teller, set[int]] = {}
        builder = reading.builder

        def touch(agent: str, message_id: str) -> None:
            lines = (builder.line,) if builder.source_lines is None else builder.source_lines
            known = places[builder.log]
            if not all(line in known for line in lines):
                raise Skipped("a line tells of a message that is not kept")
            found = told.get((agent, message_id))
            if found is None:
                found = told[agent, message_id] = self.told[agent, message_id] = set()
            found.update(known[line] for line in lines)

        builder.on_change = touch

    def _places(self, runs: Sequence[KeptRun]) -> dict[int, int]:
        """The places of the lines of a file, by their numbers there."""
        places: dict[int, int] = {}
        number, offset = 1, 0
        for kept in runs:
            if not self._is_document:
                number += kept.offset - offset  # what lies between two runs is blank lines
                offset = kept.offset + sum(len(line) + 1 for line in kept.lines)
            places.update(_numbered(kept.lines, number, self._begins[kept.run.id], whole=self._is_document))
            number += sum(1 if self._is_document else 1 + line.count(b"\n") for line in kept.lines)
        return places


def _numbered(
    lines: Iterable[bytes], number: int, place: int, *, whole: bool = False
) -> Iterator[tuple[int, int]]:
    """Numbers of lines and their places; several lines that are one value have the number of the first."""
    for line in lines:
        yield number, place
        number += 1 if whole else 1 + line.count(b"\n")
        place += 1


def _nested(now: Reread, thread_id: str, told: Iterable[Teller]) -> dict[str, Nested]:
    agents: dict[str, list[str]] = {}
    for agent, message_id in told:
        if agent:
            agents.setdefault(message_id, []).append(agent)
    found: dict[str, Nested | None] = {}
    for top in now.messages.values():
        for child in _below(top):
            names = agents.get(child.id, ())
            own = agent_of(child.run_id or "", thread_id)
            name = own if own in names else names[0] if len(names) == 1 else None
            is_clear = name is not None and child.id not in found
            found[child.id] = Nested(name or "", top.id) if is_clear else None
    return {message_id: nested for message_id, nested in found.items() if nested is not None}


def _contents(now: Reread, thread_id: str, told: Iterable[Teller]) -> dict[Teller, bytes]:
    """What messages come to."""
    nested = _nested(now, thread_id, told)
    found: dict[Teller, bytes] = {}
    for top in now.messages.values():
        found["", top.id] = _content(top)
        for child in _below(top):
            if child.id in nested:
                found[nested[child.id].agent, child.id] = _content(child)
    for agent, messages in now.orphans.items():
        found |= {(agent, message.id): _content(message) for message in messages}
    return found


def _content(message: Message) -> bytes:
    """What tells a message from what it was before; others may have added to its metadata."""
    said = replace(message.content, metadata=UNSET)
    return blake2b(encode(said), digest_size=16).digest()


def _below(message: Message) -> Iterator[Message]:
    """The messages of sub-agents below one, however deep."""
    waiting = [message]
    while waiting:
        for part in waiting.pop().content.parts:
            if isinstance(part, ToolCallPart):
                yield from part.children
                waiting += part.children


def message_below(message: Message, message_id: str) -> Message | None:
    """The message of that id below another one."""
    return next((child for child in _below(message) if child.id == message_id), None)


MOST: Final = 8
"""How many sessions are remembered."""

Mark: TypeAlias = tuple[Any, ...]
"""What changes when more of a session was read, or lines of it are dropped."""


Key: TypeAlias = tuple[str | None, str]


class Provenances:
    """Reads sessions when they are asked for, one at a time, and remembers the last ones."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[Key, tuple[Mark, Provenance | None]] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    async def get(self, store: Store, thread_id: str) -> Provenance | None:
        """The provenance of the session that a thread was read from; `None` if it cannot be read anew."""
        key = store.owner, thread_id
        mark = await store.read(_mark, thread_id)
        if not self._knows(key, mark):
            async with self._one_at_a_time:
                if not self._knows(key, mark):  # nor did anybody ask the same meanwhile
                    self._known[key] = mark, await _read(store, thread_id)
        self._known.move_to_end(key)
        found = self._known[key][1]
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return found

    def _knows(self, key: Key, mark: Mark) -> bool:
        known = self._known.get(key)
        return known is not None and known[0] == mark


async def _read(store: Store, thread_id: str) -> Provenance | None:
    try:
        files = await store.sources.list(thread_id=thread_id)
        session = await kept_session(store, thread_id, files, lines_only=True)
        return await asyncio.to_thread(trace, session)
    except UnavailableError:
        raise
    except (Skipped, PartitaError):
        return None


def _mark(tx: Transaction, thread_id: str) -> Mark:
    counted = func.count(), func.sum(runs.c.last_seq), func.count(runs.c.log_dropped_at)
    mine = select(runs.c.status, *counted).where(tx.owned(runs), runs.c.thread_id == thread_id)
    return tuple(tuple(row) for row in tx.rows(mine.group_by(runs.c.status).order_by(runs.c.status)))
