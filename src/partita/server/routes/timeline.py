"""The events of a run with their times, for a player."""

import asyncio
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import Meta

from partita.errors import NotFoundError
from partita.runtime.principal import Principal
from partita.runtime.replay.message_chunks import chunks_of_imported_run, is_imported
from partita.runtime.service import closed
from partita.server.callers import ActingCaller
from partita.server.endpoints import Query, ResponseSpec, get
from partita.server.responses import Reply
from partita.store.logs.run_log import status_of, stored_entries
from partita.store.runs.rows import ACTIVE
from partita.store.schema import to_microseconds
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.json import Json, dumps
from partita.types.threads import Run

from .parameters import MAX_SEQ
from .run_log import first_of, redact_requests
from .runs import run_of

PAGE_EVENTS: Final = 5000
"""The largest number of events of a page."""

PAGE_BYTES: Final = 2 * 1024 * 1024
"""About the largest number of bytes of the chunks of a page."""


class TimelineEvent(msgspec.Struct, rename="camel", omit_defaults=True):
    """An event of a run."""

    seq: Annotated[
        int, Meta(description="Its number. `GET /api/runs/{id}/at?seq=` has the messages at that point.")
    ]
    time: Annotated[float, Meta(description="Milliseconds since the start of the run.")]
    chunk: Annotated[Json, Meta(description="The chunk, if one was decoded from the agent's bytes.")] = None
    raw: Annotated[
        int | None, Meta(description="The record of `GET /api/runs/{id}/log` with the agent's bytes.")
    ] = None


class Timeline(msgspec.Struct, rename="camel", omit_defaults=True):
    """A page of events. Pass `next` as `after` to continue. The last page has none."""

    items: list[TimelineEvent]
    total: Annotated[int, Meta(description="The current number of all events.")]
    active: Annotated[bool, Meta(description="Whether the run is active, so that more may follow.")]
    imported: Annotated[
        bool, Meta(description="Whether the run was imported, and the chunks are made from its messages.")
    ]
    started_at: Annotated[str | None, Meta(description="When the run started.")] = None
    next: int | None = None


class _Event(NamedTuple):
    seq: int
    time: int
    chunk: bytes | None
    raw: int | None


class _Page(NamedTuple):
    events: Sequence[_Event]
    total: int
    is_last: bool


@get(
    "/api/runs/{run_id}/timeline",
    tags=["runs"],
    summary="List the events of a run with their times",
    responses={200: ResponseSpec("A page of events.", Timeline)},
)
async def read_timeline(
    caller: ActingCaller,
    run_id: str,
    after: Annotated[int, Query(ge=0, le=MAX_SEQ, description="Only events after this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=PAGE_EVENTS, description="The number of events at most.")] = 1000,
    wait: Annotated[
        float, Query(ge=0, le=60, description="Seconds to wait for an event while the run is active.")
    ] = 0.0,
) -> Reply[Timeline]:
    """All entries of the log of a run, including notes. A page has fewer events if chunks are large. An
    imported run has no stored chunks: they are made from its messages, with the times that are known.
    """
    run = await run_of(caller, run_id)
    if wait and run.status in ACTIVE and not is_imported(run):
        await _wait_for_event(caller.store, run_id, after, wait)
        run = await run_of(caller, run_id)
    if is_imported(run):
        page = _page_of(await _imported(caller.store, run), after, limit)
    else:
        page = await caller.store.read(_recorded, run_id, after, limit, caller.principal)
    return Reply(_timeline(run, page))


async def _wait_for_event(store: Store, run_id: str, after: int, seconds: float) -> None:
    """Wait until there is an event after a number, the run has ended, or the time is up."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), closed(store.logs.follow(run_id, after=after)) as batches:
            await anext(batches, None)


def _recorded(tx: Transaction, run_id: str, after: int, limit: int, principal: Principal) -> _Page:
    total = status_of(tx, run_id).last_seq
    entries, is_last = first_of(
        stored_entries(tx, run_id, after=after, through=after + limit + 1),
        limit,
        PAGE_BYTES,
        lambda numbered: len(numbered[1].chunk or b""),
    )
    events = [
        _Event(seq, entry.time, redact_requests(principal, entry).chunk, None if entry.raw is None else seq)
        for seq, entry in entries
    ]
    return _Page(events, total, is_last)


async def _imported(store: Store, run: Run) -> list[_Event]:
    """The events of an imported run, each with the last line of the log until then."""
    lines: list[int] = []
    with suppress(NotFoundError):  # the log was dropped; the messages still exist
        lines = await store.read(_times, run.id)
    latest = list(accumulate(lines, max))  # lines of parallel calls may be in another order
    events: list[_Event] = []
    for seen in await chunks_of_imported_run(store, run):
        time = to_microseconds(seen.time)
        events.append(_Event(seen.seq, time, seen.json, bisect_right(latest, time) or None))
    return events


def _times(tx: Transaction, run_id: str) -> list[int]:
    return [entry.time for _, entry in stored_entries(tx, run_id)]


def _page_of(events: Sequence[_Event], after: int, limit: int) -> _Page:
    """A page of events that are numbered from 1."""
    first, is_last = first_of(events[after:], limit, PAGE_BYTES, lambda event: len(event.chunk or b""))
    return _Page(first, len(events), is_last)


def _timeline(run: Run, page: _Page) -> bytes:
    started_at = run.started_at or run.created_at
    start = (page.events[0].time if page.events else 0) if started_at is None else to_microseconds(started_at)
    head: dict[str, Json] = {
        "total": page.total,
        "active": run.status in ACTIVE,
        "imported": is_imported(run),
    }
    if started_at is not None:
        head["startedAt"] = started_at.isoformat()
    if not page.is_last and page.events:
        head["next"] = page.events[-1].seq
    items = b",".join([_item(event, start) for event in page.events])
    return dumps(head)[:-1] + b',"items":[' + items + b"]}"


def _item(event: _Event, start: int) -> bytes:
    """An event as JSON. Its chunk is stored as JSON."""
    item = b'{"seq":%d,"time":%s' % (event.seq, b"%.3f" % (max(event.time - start, 0) / 1000))
    if event.chunk is not None:
        item += b',"chunk":' + event.chunk
    if event.raw is not None:
        item += b',"raw":%d' % event.raw
    return item + b"}"
