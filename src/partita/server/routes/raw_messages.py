"""The raw records of a message: what its agent sent, byte for byte."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Annotated, Final, NamedTuple

import msgspec

from partita.errors import NotFoundError
from partita.runtime.rebuild.provenance import LogEntries, find_nested
from partita.runtime.replay.message_chunks import is_imported
from partita.runtime.replay.recorded_run import HEAD, first_message_id
from partita.server.callers import ActingCaller, CallerView
from partita.server.endpoints import Query, get
from partita.server.problems import Problem
from partita.server.responses import Reply
from partita.store.logs.blocks import StoredEntry
from partita.store.logs.message_entries import (
    Position,
    content_markers,
    entries_by_content,
    entries_by_number,
    entries_by_start,
)
from partita.store.logs.run_log import read_log
from partita.store.messages import queries as messages
from partita.store.runs import rows as runs
from partita.store.sql.transaction import Transaction
from partita.store.threads import rows as threads
from partita.store.threads.copies import CLONE
from partita.store.values import RunFilter
from partita.types.json import JsonObject, dumps, is_object
from partita.types.messages import Message
from partita.types.threads import Run, Thread

from .messages import no_message
from .parameters import Cursor
from .run_log import PAGE_BYTES, PAGE_RECORDS, LogRecord, first_of, log_record

MAX_RUNS: Final = 500
MAX_COPIES: Final = 16
"""How many copies of copies are followed to find the original thread."""

CURSOR: Final = re.compile(r"(\d{1,6})\.(\d{1,16})")

NO_RUN: Final = "No run wrote this message: it was saved by a client."
NO_LOG: Final = "The log of its run was dropped."
NO_RECORDS: Final = "The log of its run has no records of it."


class RawRecord(LogRecord, rename="camel", omit_defaults=True, kw_only=True):
    """A record of a log."""

    run_id: str
    """The run of the log."""


class RawPage(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The raw records of a message. Pass `next` as `cursor` to continue. The last page has none."""

    items: list[RawRecord]
    exact: bool
    """Whether these are certainly the records of the message; otherwise they contain its id or its texts."""
    reason: str | None = None
    """The reason, if the list is empty."""
    next: str | None = None


class _Start(NamedTuple):
    """Where a page starts: at the place of a run among those of the message, after an entry of its log."""

    run: int = 0
    seq: int = 0


class _LogEntry(NamedTuple):
    run: int  # its place among the runs of the message
    run_id: str
    seq: int
    entry: StoredEntry


class _Section(NamedTuple):
    entries: list[_LogEntry]
    is_exact: bool
    reason: str | None = None
    next: str | None = None


class _Located(NamedTuple):
    """A message, and the thread of the imported session that it was read from, if there is one."""

    message: Message | None  # `None`: it may be of a sub-agent, inside another message
    session: str | None = None
    agent: str = ""


@get(
    "/api/threads/{thread_id}/messages/{message_id}/raw",
    tags=["messages"],
    summary="Get the raw records of a message",
)
async def read_raw_message(
    caller: ActingCaller,
    thread_id: str,
    message_id: str,
    limit: Annotated[int, Query(ge=1, le=PAGE_RECORDS, description="The number of records at most.")] = 100,
    cursor: Cursor = None,
) -> Reply[RawPage]:
    """The records of the run's log that belong to the message, byte for byte as the agent sent them.

    Of an imported session, they are the lines of the message and of the outputs of its calls; the message may
    be of a sub-agent. A page has fewer records if they are large.
    """
    located = await caller.store.read(_locate, thread_id, message_id)
    message, lines = await _lines(caller, located, thread_id, message_id)
    start = _start(cursor)
    if lines is None:
        section = await caller.store.read(_section_of_message, message, start, limit)
    else:
        section = await caller.store.read(_section_of_lines, lines, start, limit)
    page: JsonObject = {
        "items": [
            {**log_record(one.seq, one.entry, caller.principal), "runId": one.run_id}
            for one in section.entries
        ],
        "exact": section.is_exact,
    }
    optional = {"reason": section.reason, "next": section.next}
    return Reply(dumps(page | {name: text for name, text in optional.items() if text is not None}))


def _start(cursor: str | None) -> _Start:
    """The start of the page of a cursor."""
    if cursor is None:
        return _Start()
    found = CURSOR.fullmatch(cursor)
    if found is None:
        raise Problem(
            400, "this is not a cursor of this list", where="query cursor", hint="pass `next` unchanged"
        )
    return _Start(int(found[1]), int(found[2]))


def _locate(tx: Transaction, thread_id: str, message_id: str) -> _Located:
    thread = threads.get(tx, thread_id)
    if thread is None:
        raise no_message(thread_id, message_id)
    message = messages.get(tx, thread_id, message_id)
    if message is None:
        return _Located(None, _original(tx, thread))
    if message.run_id is not None:
        with suppress(NotFoundError):
            run = runs.from_row(runs.find(tx, message.run_id))
            return _Located(message, run.thread_id if is_imported(run) else None)
    parent = (thread.metadata or {}).get("parentThreadId")
    if message.run_id is None and isinstance(parent, str) and thread_id.startswith(f"{parent}/"):
        return _Located(message, parent, thread_id.removeprefix(f"{parent}/"))
    return _Located(message)


def _original(tx: Transaction, thread: Thread) -> str:
    """The thread that one was copied from, or itself."""
    for _ in range(MAX_COPIES):
        origin = (thread.metadata or {}).get(CLONE)
        source = threads.get(tx, str(origin.get("threadId"))) if is_object(origin) else None
        if source is None:
            break
        thread = source
    return thread.id


async def _lines(
    caller: CallerView, located: _Located, thread_id: str, message_id: str
) -> tuple[Message, Sequence[LogEntries] | None]:
    """The message, and the lines that it was read from; `None` if they are not known for certain."""
    message, session, agent = located
    provenance = None if session is None else await caller.state.provenances.get(caller.store, session)
    if message is None:
        nested = None if provenance is None else provenance.nested.get(message_id)
        top = None if nested is None else await caller.store.messages.get(thread_id, nested.top_id)
        message = None if top is None else find_nested(top, message_id)
        agent = "" if nested is None else nested.agent
    if message is None:
        raise no_message(thread_id, message_id)
    return message, None if provenance is None else provenance.entries_of(message, agent)


def _section_of_lines(tx: Transaction, lines: Sequence[LogEntries], start: _Start, limit: int) -> _Section:
    """The entries with these numbers."""
    try:
        section = _first(_entries_of_lines(tx, lines, start), limit)
    except NotFoundError:
        return _Section([], is_exact=True, reason=NO_LOG)
    return section._replace(reason=None if lines else NO_RECORDS)


def _entries_of_lines(tx: Transaction, lines: Sequence[LogEntries], start: _Start) -> Iterator[_LogEntry]:
    for place, (run_id, seqs) in enumerate(lines):
        if place >= start.run:
            position = Position(start.seq) if place == start.run else Position()
            for seq, entry in entries_by_number(tx, run_id, seqs, position):
                yield _LogEntry(place, run_id, seq, entry)


def _section_of_message(tx: Transaction, message: Message, start: _Start, limit: int) -> _Section:
    """The entries of a message that a run of this server wrote, or those that contain it."""
    if message.run_id is None:
        return _Section([], is_exact=True, reason=NO_RUN)
    try:
        of_message = _runs(tx, message, message.run_id)
        is_exact = not any(map(is_imported, of_message))
        section = _first(_entries_of_message(tx, of_message, message, start), limit)
    except NotFoundError:
        return _Section([], is_exact=True, reason=NO_LOG)
    is_empty = not section.entries and start == _Start()
    return section._replace(is_exact=is_exact, reason=NO_RECORDS if is_empty else None)


def _runs(tx: Transaction, message: Message, run_id: str) -> Sequence[Run]:
    """The runs that wrote the message, in order: a run may continue the message of another one."""
    run = runs.from_row(runs.find(tx, run_id))
    if is_imported(run):
        return [run]
    page = runs.list_runs(tx, RunFilter(thread_id=run.thread_id), limit=MAX_RUNS)
    others = [one for one in page.items if one.message_id == message.id and one.id != run.id]
    return [*reversed([one for one in others if not is_imported(one)]), run]


def _entries_of_message(
    tx: Transaction, of_message: Sequence[Run], message: Message, start: _Start
) -> Iterator[_LogEntry]:
    for place, run in enumerate(of_message):
        if place < start.run:
            continue
        position = Position(start.seq, inside=True) if place == start.run and start.seq else Position()
        if is_imported(run):
            entries = entries_by_content(tx, run.id, content_markers(message), position)
        else:
            first_id = first_message_id(run, read_log(tx, run.id, limit=HEAD))
            entries = entries_by_start(tx, run.id, message.id, first_id, position)
        yield from (_LogEntry(place, run.id, seq, entry) for seq, entry in entries)


def _first(entries: Iterator[_LogEntry], limit: int) -> _Section:
    first, is_last = first_of(entries, limit, PAGE_BYTES, lambda one: one.entry.size)
    next_ = None if is_last or not first else f"{first[-1].run}.{first[-1].seq}"
    return _Section(first, is_exact=True, next=next_)
