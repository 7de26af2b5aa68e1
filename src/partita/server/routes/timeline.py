"""What happened in a run, event by event, with the times: what a scrubber runs over."""

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
from partita.server.routes.run_log import redact_requests
from partita.store.logs.run_log import status_of, stored_entries
from partita.store.runs.rows import ACTIVE
from partita.store.schema import to_microseconds
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.json import Json, dumps
from partita.types.threads import Run

from .runs import run_of

LARGEST_SEQ: Final = 2**53
AT_ONCE: Final = 5000
"""How many events a page has at most,"""

BYTES_AT_ONCE: Final = 2 * 1024 * 1024
"""and about how many bytes of chunks."""


class TimelineEvent(msgspec.Struct, rename="camel", omit_defaults=True):
    """Something that happened in a run."""

    seq: Annotated[int, Meta(description="Its number: `GET /api/runs/{id}/at?seq=` tells how it was then.")]
    time: Annotated[float, Meta(description="Milliseconds since the run began.")]
    chunk: Annotated[Json, Meta(description="The chunk; absent where the agent's bytes gave none.")] = None
    raw: Annotated[
        int | None, Meta(description="The record of `GET /api/runs/{id}/log` that holds the agent's bytes.")
    ] = None


class Timeline(msgspec.Struct, rename="camel", omit_defaults=True):
    """A page of events. `next` is where to go on: pass it as `after`. Without it this is all, so far."""

    items: list[TimelineEvent]
    total: Annotated[int, Meta(description="How many events there are, as far as the run has come now.")]
    at_work: Annotated[bool, Meta(description="Whether more may come.")]
    retold: Annotated[
        bool, Meta(description="Whether the run was imported, and its messages are told once more.")
    ]
    started_at: Annotated[str | None, Meta(description="When the run began.")] = None
    next: int | None = None


class _Event(NamedTuple):
    seq: int
    time: int
    chunk: bytes | None
    raw: int | None


class _Page(NamedTuple):
    events: Sequence[_Event]
    total: int
    ended: bool


@get(
    "/api/runs/{run_id}/timeline",
    tags=["runs"],
    summary="The events of a run and their times",
    responses={200: ResponseSpec("A page of them.", Timeline)},
)
async def read_timeline(
    caller: ActingCaller,
    run_id: str,
    after: Annotated[int, Query(ge=0, le=LARGEST_SEQ, description="Events after this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=AT_ONCE, description="How many at most.")] = 1000,
    wait: Annotated[
        float, Query(ge=0, le=60, description="Seconds to wait for more while the run is at work.")
    ] = 0.0,
) -> Reply[Timeline]:
    """Everything in the log of a run, notes included. A page ends early where chunks are large. An imported
    run has no chunks of its own: its messages are told once more, at the times that are known of them.
    """
    run = await run_of(caller, run_id)
    if wait and run.status in ACTIVE and not is_imported(run):
        await _news(caller.store, run_id, after, wait)
        run = await run_of(caller, run_id)
    if is_imported(run):
        page = _cut(await _retold(caller.store, run), after, limit)
    else:
        page = await caller.store.read(_recorded, run_id, after, limit, caller.principal)
    return Reply(_timeline(run, page))


async def _news(store: Store, run_id: str, after: int, seconds: float) -> None:
    """Wait until there is something after a number, the run has ended, or the time is up."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), closed(store.logs.follow(run_id, after=after)) as batches:
            await anext(batches, None)


def _recorded(tx: Transaction, run_id: str, after: int, limit: int, principal: Principal) -> _Page:
    total = status_of(tx, run_id).last_seq
    events: list[_Event] = []
    size = 0
    for seq, entry in stored_entries(tx, run_id, after=after, through=after + limit + 1):
        if len(events) == limit or size >= BYTES_AT_ONCE:
            return _Page(events, total, ended=False)
        chunk = redact_requests(principal, entry).chunk
        events.append(_Event(seq, entry.time, chunk, None if entry.raw is None else seq))
        size += len(entry.chunk or b"")
    return _Page(events, total, ended=True)


async def _retold(store: Store, run: Run) -> list[_Event]:
    """The events of an imported run, each with the line of the log that was the last one then."""
    lines: list[int] = []
    with suppress(NotFoundError):  # dropped: the messages are still there
        lines = await store.read(_times, run.id)
    latest = list(accumulate(lines, max))  # lines of calls at once may stand in another order
    events: list[_Event] = []
    for seen in await chunks_of_imported_run(store, run):
        time = to_microseconds(seen.time)
        events.append(_Event(seen.seq, time, seen.json, bisect_right(latest, time) or None))
    return events


def _times(tx: Transaction, run_id: str) -> list[int]:
    return [entry.time for _, entry in stored_entries(tx, run_id)]


def _cut(events: Sequence[_Event], after: int, limit: int) -> _Page:
    """A page of events that are numbered from 1 on."""
    rest = events[after : after + limit]
    sizes = accumulate(len(event.chunk or b"") for event in rest)
    kept = [event for event, size in zip(rest, sizes, strict=True) if size <= BYTES_AT_ONCE] or rest[:1]
    return _Page(kept, len(events), ended=after + len(kept) >= len(events))


def _timeline(run: Run, page: _Page) -> bytes:
    began = run.started_at or run.created_at
    start = (page.events[0].time if page.events else 0) if began is None else to_microseconds(began)
    head: dict[str, Json] = {
        "total": page.total,
        "atWork": run.status in ACTIVE,
        "retold": is_imported(run),
    }
    if began is not None:
        head["startedAt"] = began.isoformat()
    if not page.ended and page.events:
        head["next"] = page.events[-1].seq
    items = b",".join([_item(event, start) for event in page.events])
    return dumps(head)[:-1] + b',"items":[' + items + b"]}"


def _item(event: _Event, start: int) -> bytes:
    """An event; its chunk is JSON already."""
    said = b'{"seq":%d,"time":%s' % (event.seq, b"%.3f" % (max(event.time - start, 0) / 1000))
    if event.chunk is not None:
        said += b',"chunk":' + event.chunk
    if event.raw is not None:
        said += b',"raw":%d' % event.raw
    return said + b"}"
