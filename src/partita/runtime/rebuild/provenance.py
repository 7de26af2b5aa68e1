"""The provenance of imported messages: the lines of the log that each message was decoded from.

It is found by decoding the session again. A line belongs to a message if it changed it: it has a part of a
response, the output of a call however late, or usage. A line that is decoded later than it was read, together
with another one, belongs to the message that it changes itself.
"""

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
from partita.logs.log_reader import LogReader
from partita.store.schema import runs
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.codec import encode
from partita.types.messages import Message, ToolCallPart

from .changes import Skipped
from .stored_session import (
    RereadSession,
    RunLines,
    StoredSession,
    agent_of,
    length_of,
    read_again,
    read_session,
)

MessageKey: TypeAlias = tuple[str, str]
"""The sub-agent that a message is of (empty for the session itself), and the id of the message."""

Numbers: TypeAlias = "array[int]"


class LogEntries(NamedTuple):
    """Entries of a run's log, by their numbers."""

    run_id: str
    seqs: Sequence[int]


class NestedMessage(NamedTuple):
    """The sub-agent that a nested message is of, and the message of the thread that it is nested in."""

    agent: str
    top_id: str


class Provenance(NamedTuple):
    """The lines of all messages of a session. The lines of all runs are numbered from 0."""

    runs: Sequence[str]
    ends: Sequence[int]  # the number of lines up to the end of each run
    lines: Mapping[MessageKey, Numbers]
    nested: Mapping[str, NestedMessage]  # messages of sub-agents by id, without ids of several ones
    contents: Mapping[MessageKey, bytes] | None  # hashes, if lines may be older than the messages

    def entries_of(self, message: Message, agent: str = "") -> list[LogEntries] | None:
        """The log entries that a stored message was decoded from; `None` if that is not certain."""
        key = agent, message.id
        if key not in self.lines:
            return None
        if self.contents is not None and self.contents.get(key) != _content_hash(message):
            return None
        return [LogEntries(*found) for found in self.by_run(self.lines[key])]

    def by_run(self, lines: Numbers) -> Iterator[tuple[str, list[int]]]:
        """Lines as numbers of entries in the logs of runs."""
        for index, some in groupby(lines, lambda line: bisect_right(self.ends, line)):
            before = self.ends[index - 1] if index else 0
            yield self.runs[index], [line - before + 1 for line in some]


def trace(session: StoredSession) -> Provenance:
    """Decode a session again, and record which line changes which message."""
    tracer = _Tracer(session)
    reread = read_again(session, tracer.on_reading)
    lines = {key: array("Q", sorted(numbers)) for key, numbers in tracer.lines.items()}
    thread_id = session.thread.id
    return Provenance(
        tracer.runs,
        tracer.ends,
        lines,
        _nested(reread, thread_id, lines),
        None if reread.uncertainty is None else _contents(reread, thread_id, lines),
    )


class _Tracer:
    """Records the lines of messages while a session is decoded."""

    def __init__(self, session: StoredSession) -> None:
        agent_runs = {agent_of(run.id, session.thread.id): run.id for run in session.agent_runs}
        logs = [(one.run.id, one.lines) for one in session.runs]
        logs += [(agent_runs[agent.name], agent.stored) for agent in session.agents]
        self.runs = [run_id for run_id, _ in logs]
        self.ends = list(accumulate(len(lines) for _, lines in logs))
        self.lines: dict[MessageKey, set[int]] = {}
        self._starts = dict(zip(self.runs, [0, *self.ends], strict=False))
        self._is_document = session.is_document
        self._lines_of_agents = {
            agent.name: dict(_numbered(agent.stored, 1, self._starts[agent_runs[agent.name]]))
            for agent in session.agents
        }

    def on_reading(self, reading: LogReader, runs: Sequence[RunLines]) -> None:
        """Record a reading. If the file was rewritten, the lines of the last reading of a message count."""
        known_lines = {"": self._lines_of_file(runs), **self._lines_of_agents}
        recorded: dict[MessageKey, set[int]] = {}
        builder = reading.builder

        def on_change(agent: str, message_id: str) -> None:
            lines = (builder.line,) if builder.source_lines is None else builder.source_lines
            known = known_lines[builder.log]
            if not all(line in known for line in lines):
                raise Skipped("a line of a message is not stored")
            found = recorded.get((agent, message_id))
            if found is None:
                found = recorded[agent, message_id] = self.lines[agent, message_id] = set()
            found.update(known[line] for line in lines)

        builder.on_change = on_change

    def _lines_of_file(self, runs: Sequence[RunLines]) -> dict[int, int]:
        """The lines of a file, by their numbers in the file."""
        lines: dict[int, int] = {}
        number, offset = 1, 0
        for one in runs:
            if not self._is_document:
                number += one.offset - offset  # between two runs there are only blank lines
                offset = one.offset + length_of(one.lines)
            start = self._starts[one.run.id]
            lines.update(_numbered(one.lines, number, start, is_document=self._is_document))
            number += sum(1 if self._is_document else 1 + line.count(b"\n") for line in one.lines)
        return lines


def _numbered(
    lines: Iterable[bytes], number: int, index: int, *, is_document: bool = False
) -> Iterator[tuple[int, int]]:
    """Line numbers and indexes. Several lines that are one value have the number of the first."""
    for line in lines:
        yield number, index
        number += 1 if is_document else 1 + line.count(b"\n")
        index += 1


def _nested(reread: RereadSession, thread_id: str, keys: Iterable[MessageKey]) -> dict[str, NestedMessage]:
    agents: dict[str, list[str]] = {}
    for agent, message_id in keys:
        if agent:
            agents.setdefault(message_id, []).append(agent)
    found: dict[str, NestedMessage | None] = {}
    for top in reread.messages.values():
        for child in _nested_messages(top):
            names = agents.get(child.id, ())
            own = agent_of(child.run_id or "", thread_id)
            name = own if own in names else names[0] if len(names) == 1 else None
            is_clear = name is not None and child.id not in found
            found[child.id] = NestedMessage(name or "", top.id) if is_clear else None
    return {message_id: nested for message_id, nested in found.items() if nested is not None}


def _contents(reread: RereadSession, thread_id: str, keys: Iterable[MessageKey]) -> dict[MessageKey, bytes]:
    """The hashes of the contents of messages."""
    nested = _nested(reread, thread_id, keys)
    found: dict[MessageKey, bytes] = {}
    for top in reread.messages.values():
        found["", top.id] = _content_hash(top)
        for child in _nested_messages(top):
            if child.id in nested:
                found[nested[child.id].agent, child.id] = _content_hash(child)
    for agent, messages in reread.orphans.items():
        found |= {(agent, message.id): _content_hash(message) for message in messages}
    return found


def _content_hash(message: Message) -> bytes:
    """A hash of the content without metadata, which may have been added to."""
    content = replace(message.content, metadata=UNSET)
    return blake2b(encode(content), digest_size=16).digest()


def _nested_messages(message: Message) -> Iterator[Message]:
    """The messages of sub-agents that are nested in a message, at any depth."""
    waiting = [message]
    while waiting:
        for part in waiting.pop().content.parts:
            if isinstance(part, ToolCallPart):
                yield from part.children
                waiting += part.children


def find_nested(message: Message, message_id: str) -> Message | None:
    """The message with that id that is nested in another one."""
    return next((child for child in _nested_messages(message) if child.id == message_id), None)


# The last sessions that were requested

CACHE_SIZE: Final = 8

Version: TypeAlias = tuple[Any, ...]
"""A value that changes when more of a session is imported, or when lines of it are dropped."""

CacheKey: TypeAlias = tuple[str | None, str]


class ProvenanceCache:
    """Traces sessions on request, one at a time, and keeps the last results."""

    def __init__(self, size: int = CACHE_SIZE) -> None:
        self._size = size
        self._entries: OrderedDict[CacheKey, tuple[Version, Provenance | None]] = OrderedDict()
        self._lock = asyncio.Lock()

    async def get(self, store: Store, thread_id: str) -> Provenance | None:
        """The provenance of an imported session; `None` if it cannot be decoded again."""
        key = store.owner, thread_id
        version = await store.read(_version, thread_id)
        if not self._has(key, version):
            async with self._lock:
                if not self._has(key, version):  # another request may have traced it meanwhile
                    self._entries[key] = version, await _trace_stored(store, thread_id)
        self._entries.move_to_end(key)
        provenance = self._entries[key][1]
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)
        return provenance

    def _has(self, key: CacheKey, version: Version) -> bool:
        entry = self._entries.get(key)
        return entry is not None and entry[0] == version


async def _trace_stored(store: Store, thread_id: str) -> Provenance | None:
    try:
        files = await store.sources.list(thread_id=thread_id)
        session = await read_session(store, thread_id, files, lines_only=True)
        return await asyncio.to_thread(trace, session)
    except UnavailableError:
        raise
    except (Skipped, PartitaError):
        return None


def _version(tx: Transaction, thread_id: str) -> Version:
    counted = func.count(), func.sum(runs.c.last_seq), func.count(runs.c.log_dropped_at)
    own = select(runs.c.status, *counted).where(tx.owned(runs), runs.c.thread_id == thread_id)
    return tuple(tuple(row) for row in tx.rows(own.group_by(runs.c.status).order_by(runs.c.status)))
