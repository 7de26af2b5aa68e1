"""Blobs: bytes under their hash, served so that no browser takes them for a page of this server."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import datetime
from hashlib import sha256
from tempfile import SpooledTemporaryFile
from typing import Annotated, BinaryIO, Final, NamedTuple, cast

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from partita.server.callers import ActingCaller, CallerView
from partita.server.endpoints import Path, Query, RequestBody, ResponseSpec, get, head, post
from partita.server.file_urls import file_url
from partita.server.problems import Problem
from partita.server.responses import Reply, SpooledFile, cut
from partita.store.blobs import blobs
from partita.store.blobs.blobs import hash_of
from partita.store.values import Blob

TAGS: Final = ["blobs"]
UNKNOWN_TYPE: Final = "application/octet-stream"

# A type may come from a data URL that somebody wrote: what is not exactly a type is not sent on.
MEDIA_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
SHOWN: Final = re.compile(
    r"(?:audio|video)/.*|image/(?:png|jpeg|gif|webp|avif|bmp)|application/pdf|text/plain"
)
"""What a browser may show: pictures that are no programs, sounds, films, documents, plain text."""

RANGE: Final = re.compile(r"bytes=\s*(?P<first>\d{0,18})-(?P<last>\d{0,18})\s*", re.IGNORECASE)

SAFETY: Final[Mapping[str, str]] = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, max-age=31536000, immutable",
    "accept-ranges": "bytes",
}

PIECE: Final = 1024 * 1024
"""How many bytes are read from the store at once, or collected before they are written to a file."""

Digest = Annotated[
    str,
    Path(description="The SHA-256 of the bytes, in hex; `blob:sha256:…` as in messages is taken too."),
]


BYTES: Final = RequestBody({"*/*": {"type": "string", "format": "binary"}}, "The bytes.", required=False)


class Span(NamedTuple):
    """Bytes from the first to the last of these, both included."""

    first: int
    last: int


@get(
    "/api/blobs/{digest}",
    tags=TAGS,
    summary="The bytes of a blob",
    responses={
        200: ResponseSpec("The bytes.", media_type="*/*"),
        206: ResponseSpec("A range of them.", media_type="*/*"),
    },
)
async def get_blob(caller: ActingCaller, request: Request, digest: Digest) -> Response:
    """Whole, or one range of them. What a browser could run is given to be saved, not to be shown."""
    blob = await caller.store.blobs.describe(digest)
    headers = headers_of(blob)
    if is_known(request.headers.get("if-none-match"), headers["etag"]):
        return Response(status_code=304, headers=headers)
    span = span_of(request.headers, blob.size, headers["etag"])
    start, end = (0, blob.size) if span is None else (span.first, span.last + 1)
    pieces = _pieces(caller, blob.url, start, end)
    first = await anext(pieces, b"")  # what goes wrong now can still be answered
    headers["content-length"] = str(end - start)
    if span is not None:
        headers["content-range"] = f"bytes {span.first}-{span.last}/{blob.size}"
    return StreamingResponse(_sent(first, pieces), status_code=200 if span is None else 206, headers=headers)


async def _pieces(caller: CallerView, url: str, start: int, end: int) -> AsyncGenerator[bytes, None]:
    """Bytes of a blob. What is large is read as the client takes it."""
    while start < end:
        piece = await caller.store.read(blobs.read_range, url, start, min(start + PIECE, end))
        if piece is None:
            file = SpooledTemporaryFile(PIECE)  # noqa: SIM115 # it is closed when it was sent
            await caller.store.read(blobs.copy, url, start, end, cast("BinaryIO", file))
            file.seek(0)
            async for piece in SpooledFile(file, end - start).pieces():
                yield piece
            return
        yield piece
        start += len(piece)


async def _sent(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The pieces, cut so that no connection buffers much."""
    async with aclosing(rest):
        for small in cut(first):
            yield small
        async for piece in rest:
            for small in cut(piece):
                yield small


@head("/api/blobs/{digest}", tags=TAGS, summary="The size and type of a blob")
async def head_blob(caller: ActingCaller, request: Request, digest: Digest) -> Response:
    """What `GET` says of it, without the bytes."""
    blob = await caller.store.blobs.describe(digest)
    headers = headers_of(blob)
    if is_known(request.headers.get("if-none-match"), headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(headers={**headers, "content-length": str(blob.size)})


class UploadedFile(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A file that was uploaded: a `file` part of a message, with `url`, `mediaType` and `filename`."""

    url: str
    """Where a browser can open it, and what messages refer to it by."""
    media_type: str
    filename: str | None = None
    size: int
    reference: str
    """`blob:sha256:…`, as in messages of the format `canonical`."""
    created_at: datetime | None = None


@post("/api/blobs", tags=TAGS, summary="Upload a file", request_body=BYTES, status_code=201)
async def put_blob(
    caller: ActingCaller,
    request: Request,
    filename: Annotated[
        str | None, Query(max_length=255, description="The name of the file, which is given back.")
    ] = None,
) -> Reply[UploadedFile]:
    """The body is kept as it is, under its hash, with its `content-type`. What is returned can be sent as a
    file of `useChat`: the browser can show it, and the model receives its bytes.
    """
    with SpooledTemporaryFile(PIECE) as file:
        target = cast("BinaryIO", file)
        size, digest = await _received(request, target)
        media_type = request.headers.get("content-type")
        blob = await caller.store.write(blobs.put_file, target, size, digest, media_type, None)
    uploaded = UploadedFile(
        url=file_url(caller, blob.url),
        media_type=type_of(blob),
        filename=filename,
        size=blob.size,
        reference=blob.url,
        created_at=blob.created_at,
    )
    return Reply(uploaded, status_code=201, headers={"location": f"blobs/{hash_of(blob.url)}"})


async def _received(request: Request, file: BinaryIO) -> tuple[int, str]:
    """Write a body to a file; its size and its hash."""
    digest, size, held = sha256(), 0, bytearray()

    def flush() -> None:
        digest.update(held)
        file.write(held)
        held.clear()

    try:
        async with aclosing(request.stream()) as body:
            async for piece in body:
                held += piece
                size += len(piece)
                if len(held) >= PIECE:
                    await asyncio.to_thread(flush)
    except ClientDisconnect:
        raise Problem(400, "the upload broke off", hint="send it again") from None
    flush()
    return size, digest.hexdigest()


def headers_of(blob: Blob) -> dict[str, str]:
    """What is said of every answer with a blob, or about one. Text is sent as UTF-8."""
    digest, media_type = hash_of(blob.url), type_of(blob)
    return {
        **SAFETY,
        "etag": f'"{digest}"',
        "content-type": f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type,
        "content-disposition": "inline"
        if SHOWN.fullmatch(media_type)
        else f'attachment; filename="{digest}"',
    }


def type_of(blob: Blob) -> str:
    """The type of a blob, without the parameters that it came with."""
    essence = (blob.media_type or "").partition(";")[0].strip().lower()
    return essence if MEDIA_TYPE.fullmatch(essence) else UNKNOWN_TYPE


def is_known(condition: str | None, etag: str) -> bool:
    """Whether a client that says this has the bytes already."""
    said = [one.strip().removeprefix("W/") for one in (condition or "").split(",")]
    return etag in said or "*" in said


def span_of(headers: Mapping[str, str], size: int, etag: str) -> Span | None:
    """The range that is asked for; `None`: everything. What is no single range means everything."""
    asked = RANGE.fullmatch(headers.get("range", ""))
    if asked is None or headers.get("if-range", etag) != etag or size == 0:
        return None
    first, last = asked["first"], asked["last"]
    if not (first or last) or (first and last and int(last) < int(first)):
        return None
    start = int(first) if first else max(size - int(last), 0)
    end = min(int(last), size - 1) if first and last else size - 1
    if start > end:
        span = f"bytes */{size}"
        raise Problem(416, f"there are {size} bytes", hint="ask for less", headers={"content-range": span})
    return Span(start, end)
