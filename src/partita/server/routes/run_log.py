"""The log of a run: its records, and the bytes that its agent sent."""

from base64 import b64encode
from collections.abc import AsyncGenerator
from typing import Annotated, Final, NamedTuple

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

from .runs import run_of

# Requests to models in run logs are shown to admins only: they contain the instructions of the agent.

MARK: Final = f'"{REQUEST}"'.encode()
WITHHELD: Final[JsonObject] = {"withheld": "it takes the role 'admin'"}


def redact_requests(principal: Principal, entry: StoredEntry) -> StoredEntry:
    """An entry of a run log as a caller may see it."""
    if entry.chunk is None or MARK not in entry.chunk or principal.may("admin"):
        return entry
    return entry._replace(chunk=dumps(_without_request(loads(entry.chunk))))


def _without_request(value: Json) -> Json:
    """A value without requests at any depth: also in chunks of sub-agents, and in refused ones."""
    if is_array(value):
        return [_without_request(one) for one in value]
    if not is_object(value):
        return value
    if value.get("type") == REQUEST:
        return {**value, "data": WITHHELD}
    return {name: _without_request(one) for name, one in value.items()}


NDJSON: Final = "application/x-ndjson"
LARGEST_SEQ: Final = 2**53

AT_ONCE: Final = 1000
"""How many records are read at once,"""

BYTES_AT_ONCE: Final = 1024 * 1024
"""and about how many bytes: so much of a log is held, however long it is."""


class LogRecord(msgspec.Struct, rename="camel", omit_defaults=True):
    """An entry of a log."""

    seq: int
    """Its number, from 1 on without a gap."""
    time: str
    """When it was written."""
    chunk: Json = None
    """A chunk that the agent's words amount to."""
    raw: str | None = None
    """What the agent sent, byte for byte; what gave several chunks stands beside the first."""
    encoding: str | None = None
    """How `raw` is told: `utf-8`, or `base64` where the bytes are no text."""


class LogPage(msgspec.Struct, rename="camel", omit_defaults=True):
    """Records of a log. `next` is where to go on: pass it as `after`. Without it this was the end."""

    items: list[LogRecord]
    next: int | None = None


class _Piece(NamedTuple):
    entries: list[tuple[int, StoredEntry]]
    ended: bool


@get(
    "/api/runs/{run_id}/log",
    tags=["run logs"],
    summary="The log of a run",
    responses={200: ResponseSpec("A page of it.", LogPage)},
)
async def read_log(
    caller: ActingCaller,
    request: Request,
    run_id: str,
    limit: Annotated[int, Query(ge=1, le=AT_ONCE, description="How many at most.")] = 100,
    after: Annotated[int, Query(ge=0, le=LARGEST_SEQ, description="Records after this number.")] = 0,
) -> Response:
    """Every chunk and every byte the agent said, in order. A page ends early where records are large.

    With `Accept: application/x-ndjson` it is all of the log after `after`, a record a line. What models were
    asked is told to admins only: it holds the agent's instructions.
    """
    piece = await _read(caller.store, run_id, after, limit)
    if NDJSON in request.headers.get("accept", ""):
        return _stream(_lines(caller, run_id, after), NDJSON)
    items = [log_record(seq, entry, caller.principal) for seq, entry in piece.entries]
    page: JsonObject = {"items": items}
    if not piece.ended and piece.entries:
        page["next"] = piece.entries[-1][0]
    return Reply(dumps(page))


@get(
    "/api/runs/{run_id}/raw",
    tags=["run logs"],
    summary="What the agent sent",
    responses={200: ResponseSpec("The bytes.", media_type="application/octet-stream")},
)
async def read_raw(caller: ActingCaller, run_id: str) -> StreamingResponse:
    """The bytes exactly as the agent sent them, one after the other. Of an imported run: the lines of its
    log.
    """
    run = await run_of(caller, run_id)
    await _read(caller.store, run_id, 0, 1)  # a log that was dropped is said so
    end = b"\n" if is_imported(run) else b""
    return _stream(_raw(caller.store, run_id, end), "application/octet-stream")


def _stream(body: AsyncGenerator[bytes, None], media_type: str) -> StreamingResponse:
    return StreamingResponse(
        body, media_type=media_type, headers={"cache-control": "no-store", "vary": "accept"}
    )


async def _lines(caller: CallerView, run_id: str, after: int) -> AsyncGenerator[bytes, None]:
    async for piece in _pieces(caller.store, run_id, after):
        yield b"".join(
            [dumps(log_record(seq, entry, caller.principal)) + b"\n" for seq, entry in piece.entries]
        )


async def _raw(store: Store, run_id: str, end: bytes) -> AsyncGenerator[bytes, None]:
    """What an agent sent; of a log, lines are kept without their `end`."""
    async for piece in _pieces(store, run_id, 0):
        if data := b"".join([entry.raw + end for _, entry in piece.entries if entry.raw is not None]):
            yield data


async def _pieces(store: Store, run_id: str, after: int) -> AsyncGenerator[_Piece, None]:
    """A log piece by piece, as far as it goes now."""
    while True:
        piece = await _read(store, run_id, after, AT_ONCE)
        if piece.entries:
            yield piece
            after = piece.entries[-1][0]
        if piece.ended:
            return


async def _read(store: Store, run_id: str, after: int, limit: int) -> _Piece:
    return await store.read(_piece, run_id, after, limit)


def _piece(tx: Transaction, run_id: str, after: int, limit: int) -> _Piece:
    """Records after a number: so many, or fewer where they are large."""
    entries: list[tuple[int, StoredEntry]] = []
    size = 0
    for seq, entry in stored_entries(tx, run_id, after=after, through=after + limit + 1):
        if len(entries) == limit or size >= BYTES_AT_ONCE:
            return _Piece(entries, ended=False)
        entries.append((seq, entry))
        size += len(entry.raw or b"") + len(entry.chunk or b"")
    return _Piece(entries, ended=True)


def log_record(seq: int, entry: StoredEntry, principal: Principal) -> JsonObject:
    """An entry of the log as a caller may see it."""
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
