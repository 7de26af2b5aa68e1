"""Blobs: files by their hash, served so that a browser cannot run them as a page of this server."""

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

# A type may come from a data URL of a client: only a valid type is sent as a header.
MEDIA_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
INLINE: Final = re.compile(
    r"(?:audio|video)/.*|image/(?:png|jpeg|gif|webp|avif|bmp)|application/pdf|text/plain"
)
"""The types that a browser may display: images without scripts, audio, video, PDF, plain text."""

RANGE: Final = re.compile(r"bytes=\s*(?P<first>\d{0,18})-(?P<last>\d{0,18})\s*", re.IGNORECASE)

SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, max-age=31536000, immutable",
    "accept-ranges": "bytes",
}

PIECE: Final = 1024 * 1024
"""The number of bytes that are read from the store, or written to a file, at once."""

Digest = Annotated[
    str,
    Path(description="The SHA-256 of the bytes in hex, or `blob:sha256:…` as in messages."),
]


BYTES: Final = RequestBody({"*/*": {"type": "string", "format": "binary"}}, "The bytes.", required=False)


class Span(NamedTuple):
    """A range of bytes. Both ends are included."""

    first: int
    last: int


@get(
    "/api/blobs/{digest}",
    tags=TAGS,
    summary="Download a blob",
    responses={
        200: ResponseSpec("The bytes.", media_type="*/*"),
        206: ResponseSpec("A range of the bytes.", media_type="*/*"),
    },
)
async def get_blob(caller: ActingCaller, request: Request, digest: Digest) -> Response:
    """The bytes, or one range of them. Types that a browser could run are sent as an attachment."""
    blob = await caller.store.blobs.describe(digest)
    headers = headers_of(blob)
    if is_known(request.headers.get("if-none-match"), headers["etag"]):
        return Response(status_code=304, headers=headers)
    span = span_of(request.headers, blob.size, headers["etag"])
    start, end = (0, blob.size) if span is None else (span.first, span.last + 1)
    pieces = _pieces(caller, blob.url, start, end)
    first = await anext(pieces, b"")  # an error is still a problem response now
    headers["content-length"] = str(end - start)
    if span is not None:
        headers["content-range"] = f"bytes {span.first}-{span.last}/{blob.size}"
    return StreamingResponse(_sent(first, pieces), status_code=200 if span is None else 206, headers=headers)


async def _pieces(caller: CallerView, url: str, start: int, end: int) -> AsyncGenerator[bytes, None]:
    """The bytes of a blob. A large blob is read while the client receives it."""
    while start < end:
        piece = await caller.store.read(blobs.read_range, url, start, min(start + PIECE, end))
        if piece is None:
            file = SpooledTemporaryFile(PIECE)  # noqa: SIM115 # closed once it is sent
            await caller.store.read(blobs.copy, url, start, end, cast("BinaryIO", file))
            file.seek(0)
            async for piece in SpooledFile(file, end - start).pieces():
                yield piece
            return
        yield piece
        start += len(piece)


async def _sent(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The pieces, cut so that the connection does not buffer much."""
    async with aclosing(rest):
        for small in cut(first):
            yield small
        async for piece in rest:
            for small in cut(piece):
                yield small


@head("/api/blobs/{digest}", tags=TAGS, summary="Get the size and type of a blob")
async def head_blob(caller: ActingCaller, request: Request, digest: Digest) -> Response:
    """The headers of `GET`, without the bytes."""
    blob = await caller.store.blobs.describe(digest)
    headers = headers_of(blob)
    if is_known(request.headers.get("if-none-match"), headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(headers={**headers, "content-length": str(blob.size)})


class UploadedFile(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """An uploaded file. `url`, `mediaType` and `filename` are those of a `file` part of a message."""

    url: str
    """Its URL, for browsers and for messages."""
    media_type: str
    filename: str | None = None
    size: int
    reference: str
    """Its `blob:sha256:…` URL, as in messages of the format `canonical`."""
    created_at: datetime | None = None


@post("/api/blobs", tags=TAGS, summary="Upload a file", request_body=BYTES, status_code=201)
async def put_blob(
    caller: ActingCaller,
    request: Request,
    filename: Annotated[
        str | None, Query(max_length=255, description="The name of the file, which is returned.")
    ] = None,
) -> Reply[UploadedFile]:
    """Stores the body by its hash, with its `content-type`. Send the result as a file of `useChat`: the
    browser can display it, and the model receives its bytes.
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
    """Write a body to a file; returns its size and its hash."""
    digest, size, buffer = sha256(), 0, bytearray()

    def flush() -> None:
        digest.update(buffer)
        file.write(buffer)
        buffer.clear()

    try:
        async with aclosing(request.stream()) as body:
            async for piece in body:
                buffer += piece
                size += len(piece)
                if len(buffer) >= PIECE:
                    await asyncio.to_thread(flush)
    except ClientDisconnect:
        raise Problem(400, "the upload is incomplete", hint="send it again") from None
    flush()
    return size, digest.hexdigest()


def headers_of(blob: Blob) -> dict[str, str]:
    """The headers of a response with a blob. Text is sent as UTF-8."""
    digest, media_type = hash_of(blob.url), type_of(blob)
    return {
        **SECURITY_HEADERS,
        "etag": f'"{digest}"',
        "content-type": f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type,
        "content-disposition": "inline"
        if INLINE.fullmatch(media_type)
        else f'attachment; filename="{digest}"',
    }


def type_of(blob: Blob) -> str:
    """The media type of a blob, without parameters."""
    essence = (blob.media_type or "").partition(";")[0].strip().lower()
    return essence if MEDIA_TYPE.fullmatch(essence) else UNKNOWN_TYPE


def is_known(condition: str | None, etag: str) -> bool:
    """Whether the client has the bytes already, by its header `If-None-Match`."""
    known = [one.strip().removeprefix("W/") for one in (condition or "").split(",")]
    return etag in known or "*" in known


def span_of(headers: Mapping[str, str], size: int, etag: str) -> Span | None:
    """The requested range; `None` for all bytes, also if the header is not a single range."""
    requested = RANGE.fullmatch(headers.get("range", ""))
    if requested is None or headers.get("if-range", etag) != etag or size == 0:
        return None
    first, last = requested["first"], requested["last"]
    if not (first or last) or (first and last and int(last) < int(first)):
        return None
    start = int(first) if first else max(size - int(last), 0)
    end = min(int(last), size - 1) if first and last else size - 1
    if start > end:
        span = f"bytes */{size}"
        raise Problem(
            416, f"the blob has {size} bytes", hint="request fewer", headers={"content-range": span}
        )
    return Span(start, end)
