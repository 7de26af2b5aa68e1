"""What a message came from: the events of its agent, exactly as they were sent."""

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
from .run_log import AT_ONCE, BYTES_AT_ONCE, LogRecord, log_record

RUNS_AT_MOST: Final = 500
COPIES_AT_MOST: Final = 16
"""A copy of a copy of a copy: so far one looks for the first."""

CURSOR: Final = re.compile(r"(\d{1,6})\.(\d{1,16})")

NOT_LOGGED: Final = "No run wrote this message: it was saved as it is."
LOG_GONE: Final = "The log of its run is gone."
NOTHING: Final = "The log of its run does not tell of it."


class RawRecord(LogRecord, rename="camel", omit_defaults=True, kw_only=True):
    """An entry of a log."""

    run_id: str
    """The run whose log it is in."""


class RawPage(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What a message came from. `next` is where to go on: pass it as `cursor`. Without it, this was all."""

    items: list[RawRecord]
    exact: bool
    """Whether these are the message's events for certain; else those that name it, its calls or its words."""
    reason: str | None = None
    """Why there are none."""
    next: str | None = None


class _Found(NamedTuple):
    entries: list[tuple[str, int, StoredEntry]]
    exact: bool
    reason: str | None = None
    next: str | None = None


class _Asked(NamedTuple):
    """A message, and the thread of the session that it was read from, if it was."""

    message: Message | None  # none: it may be a sub-agent's, below another one
    session: str | None = None
    agent: str = ""


@get(
    "/api/threads/{thread_id}/messages/{message_id}/raw",
    tags=["messages"],
    summary="What a message came from",
)
async def read_raw_message(
    caller: ActingCaller,
    thread_id: str,
    message_id: str,
    limit: Annotated[int, Query(ge=1, le=AT_ONCE, description="How many at most.")] = 100,
    cursor: Cursor = None,
) -> Reply[RawPage]:
    """The records of the run's log that belong to the message, byte for byte as the agent sent them.

    Of an imported session they are the lines that tell of the message, outputs of its calls among them; the
    message may be a sub-agent's. Where records are large, a page is short.
    """
    asked = await caller.store.read(_ask, thread_id, message_id)
    message, lines = await _lines(caller, asked, thread_id, message_id)
    start = _start(cursor)
    if lines is None:
        found = await caller.store.read(_find, message, start, limit)
    else:
        found = await caller.store.read(_read, lines, start, limit)
    items: list[JsonObject] = [
        {**log_record(seq, entry, caller.principal), "runId": run_id} for run_id, seq, entry in found.entries
    ]
    page: JsonObject = {"items": items, "exact": found.exact}
    page |= {name: said for name in ("reason", "next") if (said := getattr(found, name)) is not None}
    return Reply(dumps(page))


def _start(cursor: str | None) -> tuple[int, int]:
    """The number of the run among those of the message, and that of the last entry given."""
    if cursor is None:
        return 0, 0
    found = CURSOR.fullmatch(cursor)
    if found is None:
        raise Problem(
            400, "this is not a cursor of this list", where="query cursor", hint="pass on `next`, unchanged"
        )
    return int(found[1]), int(found[2])


def _ask(tx: Transaction, thread_id: str, message_id: str) -> _Asked:
    thread = threads.get(tx, thread_id)
    if thread is None:
        raise no_message(thread_id, message_id)
    message = messages.get(tx, thread_id, message_id)
    if message is None:
        return _Asked(None, _original(tx, thread))
    if message.run_id is not None:
        with suppress(NotFoundError):
            run = runs.from_row(runs.find(tx, message.run_id))
            return _Asked(message, run.thread_id if is_imported(run) else None)
    parent = (thread.metadata or {}).get("parentThreadId")
    if message.run_id is None and isinstance(parent, str) and thread_id.startswith(f"{parent}/"):
        return _Asked(message, parent, thread_id.removeprefix(f"{parent}/"))
    return _Asked(message)


def _original(tx: Transaction, thread: Thread) -> str:
    """The thread that one was copied from, or itself."""
    for _ in range(COPIES_AT_MOST):
        origin = (thread.metadata or {}).get(CLONE)
        source = threads.get(tx, str(origin.get("threadId"))) if is_object(origin) else None
        if source is None:
            break
        thread = source
    return thread.id


async def _lines(
    caller: CallerView, asked: _Asked, thread_id: str, message_id: str
) -> tuple[Message, Sequence[LogEntries] | None]:
    """The message, and the lines that it was read from; `None` where nobody knows them for certain."""
    message, session, agent = asked
    provenance = None if session is None else await caller.state.provenances.get(caller.store, session)
    if message is None:
        nested = None if provenance is None else provenance.nested.get(message_id)
        top = None if nested is None else await caller.store.messages.get(thread_id, nested.top_id)
        message = None if top is None else find_nested(top, message_id)
        agent = "" if nested is None else nested.agent
    if message is None:
        raise no_message(thread_id, message_id)
    return message, None if provenance is None else provenance.of(message, agent)


def _read(tx: Transaction, lines: Sequence[LogEntries], start: tuple[int, int], limit: int) -> _Found:
    try:
        page = _page(_numbered(tx, lines, start), limit)
    except NotFoundError:
        return _Found([], exact=True, reason=LOG_GONE)
    return page._replace(reason=None if lines else NOTHING)


def _numbered(
    tx: Transaction, lines: Sequence[LogEntries], start: tuple[int, int]
) -> Iterator[tuple[int, str, int, StoredEntry]]:
    """The entries of those numbers, with the number of their run, from a place on."""
    for number, (run_id, seqs) in enumerate(lines):
        if number >= start[0]:
            place = Position(start[1]) if number == start[0] else Position()
            yield from ((number, run_id, *entry) for entry in entries_by_number(tx, run_id, seqs, place))


def _find(tx: Transaction, message: Message, start: tuple[int, int], limit: int) -> _Found:
    """The entries of a message that one of our runs wrote, or those that name it."""
    if message.run_id is None:
        return _Found([], exact=True, reason=NOT_LOGGED)
    try:
        of_message = _runs(tx, message, message.run_id)
        exact = not any(map(is_imported, of_message))
        page = _page(_entries(tx, of_message, message, start), limit)
    except NotFoundError:
        return _Found([], exact=True, reason=LOG_GONE)
    nothing = not page.entries and start == (0, 0)
    return page._replace(exact=exact, reason=NOTHING if nothing else None)


def _runs(tx: Transaction, message: Message, run_id: str) -> Sequence[Run]:
    """The runs that wrote the message, in order: one may have gone on with what another began."""
    run = runs.from_row(runs.find(tx, run_id))
    if is_imported(run):
        return [run]
    page = runs.list_runs(tx, RunFilter(thread_id=run.thread_id), limit=RUNS_AT_MOST)
    others = [one for one in page.items if one.message_id == message.id and one.id != run.id]
    return [*reversed([one for one in others if not is_imported(one)]), run]


def _entries(
    tx: Transaction, of_message: Sequence[Run], message: Message, start: tuple[int, int]
) -> Iterator[tuple[int, str, int, StoredEntry]]:
    """The entries of the message, with the number of their run, from a place on."""
    for number, run in enumerate(of_message):
        if number < start[0]:
            continue
        place = Position(start[1], inside=True) if number == start[0] and start[1] else Position()
        if is_imported(run):
            found = entries_by_content(tx, run.id, content_markers(message), place)
        else:
            begins_with = first_message_id(run, read_log(tx, run.id, limit=HEAD))
            found = entries_by_start(tx, run.id, message.id, begins_with, place)
        yield from ((number, run.id, seq, entry) for seq, entry in found)


def _page(entries: Iterator[tuple[int, str, int, StoredEntry]], limit: int) -> _Found:
    found: list[tuple[str, int, StoredEntry]] = []
    size, last = 0, ""
    for number, run_id, seq, entry in entries:
        if len(found) == limit or size >= BYTES_AT_ONCE:
            return _Found(found, exact=True, next=last)
        found.append((run_id, seq, entry))
        size += len(entry.raw or b"") + len(entry.chunk or b"")
        last = f"{number}.{seq}"
    return _Found(found, exact=True)
