"""The log of a run: its records, and the bytes that its agent sent."""

from base64 import b64encode
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Annotated, Final, NamedTuple, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from partita.runtime.model_calls import REQUEST
from partita.runtime.principal import Principal
from partita.runtime.replay.message_chunks import is_imported
from partita.server.callers import ActingCaller, CallerView
from partita.server.endpoints import Query, ResponseSpec, get
from partita.server.responses import Reply
from partita.store.logs.blocks import StoredEntry
from partita.store.logs.run_log import stored_entries
from partita.store.schema import from_microseconds
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads

from .parameters import MAX_SEQ
from .runs import run_of

T = TypeVar("T")

# Requests to models in run logs are shown to admins only: they contain the instructions of the agent.

REQUEST_TYPE: Final = f'"{REQUEST}"'.encode()
WITHHELD: Final[JsonObject] = {"withheld": "it requires the role 'admin'"}


def redact_requests(principal: Principal, entry: StoredEntry) -> StoredEntry:
    """An entry of a run log as a caller may see it."""
    if entry.chunk is None or REQUEST_TYPE not in entry.chunk or principal.may("admin"):
        return entry
    return entry._replace(chunk=dumps(_without_request(loads(entry.chunk))))


def _without_request(value: Json) -> Json:
    """A value without the data of requests, also in chunks of sub-agents and in refused chunks."""
    if is_array(value):
        return [_without_request(one) for one in value]
    if not is_object(value):
        return value
    if value.get("type") == REQUEST:
        return {**value, "data": WITHHELD}
    return {name: _without_request(one) for name, one in value.items()}


NDJSON: Final = "application/x-ndjson"

PAGE_RECORDS: Final = 1000
"""The largest number of records that are read at once."""

PAGE_BYTES: Final = 1024 * 1024
"""About the largest number of bytes that are read at once: a log as a whole may not fit in memory."""


class LogRecord(msgspec.Struct, rename="camel", omit_defaults=True):
    """A record of a log."""

    seq: int
    """Its number, from 1, without a gap."""
    time: str
    """The time when it was received."""
    chunk: Json = None
    """A chunk."""
    raw: str | None = None
    """The bytes that the agent sent. If they are several chunks, they are in the record of the first one."""
    encoding: str | None = None
    """The encoding of `raw`: `utf-8`, or `base64` for bytes that are not text."""


class LogPage(msgspec.Struct, rename="camel", omit_defaults=True):
    """Records of a log. Pass `next` as `after` to continue. The last page has none."""

    items: list[LogRecord]
    next: int | None = None


class _Section(NamedTuple):
    entries: list[tuple[int, StoredEntry]]
    is_last: bool


@get(
    "/api/runs/{run_id}/log",
    tags=["run logs"],
    summary="Read the log of a run",
    responses={200: ResponseSpec("A page of the log.", LogPage)},
)
async def read_log(
    caller: ActingCaller,
    request: Request,
    run_id: str,
    limit: Annotated[int, Query(ge=1, le=PAGE_RECORDS, description="The number of records at most.")] = 100,
    after: Annotated[int, Query(ge=0, le=MAX_SEQ, description="Only records after this number.")] = 0,
) -> Response:
    """All chunks, and all bytes that the agent sent, in order. A page has fewer records if they are large.

    With `Accept: application/x-ndjson`, the response is the rest of the log, one record per line. Requests to
    models are included for admins only: they contain the instructions of the agent.
    """
    section = await caller.store.read(_section, run_id, after, limit)
    if NDJSON in request.headers.get("accept", ""):
        return _stream(_lines(caller, run_id, after), NDJSON)
    items = [log_record(seq, entry, caller.principal) for seq, entry in section.entries]
    page: JsonObject = {"items": items}
    if not section.is_last and section.entries:
        page["next"] = section.entries[-1][0]
    return Reply(dumps(page))


@get(
    "/api/runs/{run_id}/raw",
    tags=["run logs"],
    summary="Read the bytes of the agent",
    responses={200: ResponseSpec("The bytes.", media_type="application/octet-stream")},
)
async def read_raw(caller: ActingCaller, run_id: str) -> StreamingResponse:
    """The bytes exactly as the agent sent them. Of an imported run, the lines of its log."""
    run = await run_of(caller, run_id)
    await caller.store.read(_section, run_id, 0, 1)  # raises if the log was dropped
    separator = b"\n" if is_imported(run) else b""
    return _stream(_raw(caller.store, run_id, separator), "application/octet-stream")


def _stream(body: AsyncGenerator[bytes, None], media_type: str) -> StreamingResponse:
    return StreamingResponse(
        body, media_type=media_type, headers={"cache-control": "no-store", "vary": "accept"}
    )


async def _lines(caller: CallerView, run_id: str, after: int) -> AsyncGenerator[bytes, None]:
    async for section in _sections(caller.store, run_id, after):
        yield b"".join(
            [dumps(log_record(seq, entry, caller.principal)) + b"\n" for seq, entry in section.entries]
        )


async def _raw(store: Store, run_id: str, separator: bytes) -> AsyncGenerator[bytes, None]:
    """The bytes of an agent, each entry followed by `separator`: lines are stored without it."""
    async for section in _sections(store, run_id, 0):
        if data := b"".join([entry.raw + separator for _, entry in section.entries if entry.raw is not None]):
            yield data


async def _sections(store: Store, run_id: str, after: int) -> AsyncGenerator[_Section, None]:
    """The log of a run, up to its current end."""
    while True:
        section = await store.read(_section, run_id, after, PAGE_RECORDS)
        if section.entries:
            yield section
            after = section.entries[-1][0]
        if section.is_last:
            return


def _section(tx: Transaction, run_id: str, after: int, limit: int) -> _Section:
    """The entries of a log after a number."""
    entries = stored_entries(tx, run_id, after=after, through=after + limit + 1)
    return _Section(*first_of(entries, limit, PAGE_BYTES, lambda numbered: numbered[1].size))


def first_of(
    items: Iterable[T], limit: int, max_bytes: int, size_of: Callable[[T], int]
) -> tuple[list[T], bool]:
    """The first items up to a number and about a size, at least one; and whether those are all."""
    first: list[T] = []
    size = 0
    for item in items:
        if len(first) == limit or size >= max_bytes:
            return first, False
        first.append(item)
        size += size_of(item)
    return first, True


def log_record(seq: int, entry: StoredEntry, principal: Principal) -> JsonObject:
    """A record of a log as a caller may see it."""
    entry = redact_requests(principal, entry)
    record: JsonObject = {"seq": seq, "time": from_microseconds(entry.time).isoformat()}
    if entry.chunk is not None:
        record["chunk"] = loads(entry.chunk)
    if entry.raw is not None:
        try:
            record |= {"raw": entry.raw.decode(), "encoding": "utf-8"}
        except UnicodeDecodeError:
            record |= {"raw": b64encode(entry.raw).decode(), "encoding": "base64"}
    return record
