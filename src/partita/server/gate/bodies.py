"""The body of a request: of a kind that is taken, no larger and no slower than allowed, not too deep."""

import asyncio
from collections.abc import Callable
from typing import Final

from partita.server.plain import Event, Receive
from partita.server.problems import Problem
from partita.server.settings import Limits

from .depth import has_more_values, is_deeper
from .head import Head

LARGE: Final = 1024 * 1024
BLOBS: Final = "/api/blobs"
UPLOADS: Final[dict[str, frozenset[str]]] = {
    "/api/import": frozenset(
        {
            "multipart/form-data",
            "application/octet-stream",
            "application/x-ndjson",
            "application/ndjson",
            "application/jsonl",
            "application/json",
            "application/vnd.sqlite3",
            "application/x-sqlite3",
            "application/zip",
            "application/gzip",
        }
    ),
    "/api/inspect": frozenset({"application/octet-stream", "application/x-ndjson", "application/json"}),
    BLOBS: frozenset(),
}
"""Paths that take more than JSON, and what; anything if nothing is named. They read it as it comes."""


async def taken(head: Head, receive: Receive, limits: Limits) -> Receive | None:
    """The body, to be received once more, all that is checked about it checked; `None` if the client left."""
    if head.is_safe:
        return bounded(receive, limits.body_bytes, limits.body_seconds) if head.has_body else receive
    media = media_type(head.content_type)
    if head.content_encoding and head.content_encoding.strip().lower() != b"identity":
        raise Problem(
            415, "a compressed body is not taken", where="content-encoding", hint="send it as it is"
        )
    upload = is_upload(head.path, media)
    if head.has_body and not upload:
        _check_json(media)
    most = _most_bytes(head.path, limits) if upload else limits.body_bytes
    if head.length > most:
        raise _too_large(most)
    if upload:
        return bounded(receive, most, limits.upload_seconds)
    body = await whole(receive, most, limits.body_seconds)
    if body:
        _check_json(media)
        if await _quickly(is_deeper, body, limits.depth):
            raise Problem(400, "the JSON is nested too deep", hint=f"at most {limits.depth} levels")
        if await _quickly(has_more_values, body, limits.values):
            raise Problem(
                413,
                "the JSON has too many values",
                hint=f"at most {limits.values}: send it in pieces, or raise Limits.values",
            )
    return None if body is None else again(body, receive)


async def _quickly(check: Callable[[bytes, int], bool], body: bytes, limit: int) -> bool:
    """What a check says of JSON; others need not wait while a large one is looked at."""
    return await asyncio.to_thread(check, body, limit) if len(body) > LARGE else check(body, limit)


def _most_bytes(path: str, limits: Limits) -> int:
    return min(limits.blob_bytes, limits.upload_bytes) if path.startswith(BLOBS) else limits.upload_bytes


def media_type(content_type: bytes) -> str:
    """The type alone, in small letters."""
    return content_type.partition(b";")[0].strip().lower().decode("latin-1")


def is_upload(path: str, media: str) -> bool:
    """Whether a path takes that type, and as it comes."""
    for start, types in UPLOADS.items():
        if path == start or path.startswith(f"{start}/"):
            return media in types or not types
    return False


def _check_json(media: str) -> None:
    if media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
        raise Problem(
            415, "the body is of a kind that is not taken", where="content-type", hint="send application/json"
        )


def _too_large(most: int) -> Problem:
    return Problem(413, "the body is too large", hint=f"at most {most} bytes")


def _too_slow() -> Problem:
    return Problem(408, "the body took too long", hint="send it faster, or in pieces")


async def whole(receive: Receive, most: int, seconds: float) -> bytes | None:
    """All of a body, or `None` if the client left."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                event = await receive()
                if event["type"] == "http.disconnect":
                    return None
                piece: bytes = event.get("body", b"")
                if len(body) + len(piece) > most:
                    raise _too_large(most)
                if not event.get("more_body", False):
                    return bytes(body + piece) if body else piece
                body += piece
    except TimeoutError:
        raise _too_slow() from None


def again(body: bytes, receive: Receive) -> Receive:
    """What gives a body that was received already, and then what still comes: that the client left."""
    waiting: list[Event] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Event:
        return waiting.pop() if waiting else await receive()

    return receive_again


def bounded(receive: Receive, most: int, seconds: float) -> Receive:
    """What gives a body as it comes, until it is too large or takes too long."""
    size, until, over = 0, 0.0, False

    async def receive_bounded() -> Event:
        nonlocal size, until, over
        if over:
            return await receive()
        until = until or asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(until):
                event = await receive()
        except TimeoutError:
            raise _too_slow() from None
        size += len(event.get("body", b""))
        if size > most:
            raise _too_large(most)
        over = not event.get("more_body", False)
        return event

    return receive_bounded
