"""The body of a request: of an accepted media type, and within the limits of size, time and depth."""

import asyncio
import re
from collections.abc import Callable
from typing import Final

from starlette.types import Message, Receive

from partita.server.guard.head import Head
from partita.server.problems import Problem
from partita.server.settings import Limits

# Nesting and number of values of JSON, without decoding it: a few passes over the bytes.

_NESTING: Final = bytes.maketrans(b"{}", b"[]")
_OTHER: Final = bytes(byte for byte in range(256) if byte not in b'[]{}"')
_BETWEEN: Final = bytes(byte for byte in range(256) if byte not in b'[{,"')
_RUNS: Final = re.compile(rb"(\[+)|\]+")


def is_deeper(text: bytes, limit: int) -> bool:
    """Whether JSON is nested deeper than the limit. For invalid JSON near the limit it may be wrong."""
    if text.count(b"[") + text.count(b"{") <= limit:
        return False
    brackets = _brackets(text)
    for peeled in range(limit):
        # Each round removes the innermost pairs everywhere: one level less.
        remaining = brackets.replace(b"[]", b"")
        if 10 * len(remaining) > 9 * len(brackets):  # deep rather than wide: few long runs of brackets
            return _is_nested_deeper(brackets, limit - peeled)
        brackets = remaining
    return bool(brackets)


def has_more_values(text: bytes, limit: int) -> bool:
    """Whether JSON has more values than the limit: each takes far more memory than its bytes."""
    if text.count(b",") + text.count(b"[") + text.count(b"{") <= limit:
        return False
    return len(_outside_strings(text, None, _BETWEEN)) > limit


def _brackets(text: bytes) -> bytes:
    """The brackets of JSON that are not inside strings, all as `[` and `]`."""
    return _outside_strings(text, _NESTING, _OTHER)


def _outside_strings(text: bytes, table: bytes | None, dropped: bytes) -> bytes:
    """The bytes of JSON outside its strings, without the dropped ones."""
    if b'\\"' in text:  # otherwise every quote starts or ends a string
        text = (text.replace(b"\\\\", b"") if b"\\\\" in text else text).replace(b'\\"', b"")
    marks = text.translate(table, dropped)
    # Two adjacent quotes can be removed, whether they start or end a string: the rest stays in or out of one.
    marks = marks.replace(b'""', b"")
    return b"".join(marks.split(b'"')[::2]) if b'"' in marks else marks


def _is_nested_deeper(brackets: bytes, limit: int) -> bool:
    """The same as `is_deeper`, of brackets alone, counted run by run."""
    depth = 0
    for run in _RUNS.finditer(brackets):
        start, end = run.span()
        if run[1] is None:
            depth -= end - start
        else:
            depth += end - start
            if depth > limit:
                return True
    return False


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
"""Paths that accept more than JSON, and the media types; empty: any. They read the body as a stream."""


async def checked_body(head: Head, receive: Receive, limits: Limits) -> Receive | None:
    """The `receive` of the checked body; `None` if the client has disconnected."""
    if head.is_safe:
        return bounded(receive, limits.body_bytes, limits.body_seconds) if head.has_body else receive
    media = media_type(head.content_type)
    if head.content_encoding and head.content_encoding.strip().lower() != b"identity":
        raise Problem(
            415, "compressed bodies are not accepted", where="content-encoding", hint="send it uncompressed"
        )
    upload = is_upload(head.path, media)
    if head.has_body and not upload:
        _check_json(media)
    limit = _upload_limit(head.path, limits) if upload else limits.body_bytes
    if head.length > limit:
        raise _too_large(limit)
    if upload:
        return bounded(receive, limit, limits.upload_seconds)
    body = await read_all(receive, limit, limits.body_seconds)
    if body:
        _check_json(media)
        if await _check(is_deeper, body, limits.depth):
            raise Problem(400, "the JSON is nested too deep", hint=f"at most {limits.depth} levels")
        if await _check(has_more_values, body, limits.values):
            raise Problem(
                413,
                "the JSON has too many values",
                hint=f"at most {limits.values}: send it in pieces, or raise Limits.values",
            )
    return None if body is None else replayed(body, receive)


async def _check(check: Callable[[bytes, int], bool], body: bytes, limit: int) -> bool:
    """The result of a check of JSON, in a thread if it is large: other requests need not wait."""
    return await asyncio.to_thread(check, body, limit) if len(body) > LARGE else check(body, limit)


def _upload_limit(path: str, limits: Limits) -> int:
    return min(limits.blob_bytes, limits.upload_bytes) if path.startswith(BLOBS) else limits.upload_bytes


def media_type(content_type: bytes) -> str:
    """The media type without parameters, in lower case."""
    return content_type.partition(b";")[0].strip().lower().decode("latin-1")


def is_upload(path: str, media: str) -> bool:
    """Whether a path accepts that media type as a stream."""
    for start, types in UPLOADS.items():
        if path == start or path.startswith(f"{start}/"):
            return media in types or not types
    return False


def _check_json(media: str) -> None:
    if media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
        raise Problem(
            415,
            "the media type of the body is not accepted",
            where="content-type",
            hint="send application/json",
        )


def _too_large(limit: int) -> Problem:
    return Problem(413, "the body is too large", hint=f"at most {limit} bytes")


def _too_slow() -> Problem:
    return Problem(408, "the body took too long", hint="send it faster, or in pieces")


async def read_all(receive: Receive, limit: int, seconds: float) -> bytes | None:
    """The whole body, or `None` if the client has disconnected."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                event = await receive()
                if event["type"] == "http.disconnect":
                    return None
                piece: bytes = event.get("body", b"")
                if len(body) + len(piece) > limit:
                    raise _too_large(limit)
                if not event.get("more_body", False):
                    return bytes(body + piece) if body else piece
                body += piece
    except TimeoutError:
        raise _too_slow() from None


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns a body that was received already, then further messages (disconnection)."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_replayed


def bounded(receive: Receive, limit: int, seconds: float) -> Receive:
    """A `receive` that raises if the body is too large or takes too long."""
    size, deadline, is_complete = 0, 0.0, False

    async def receive_bounded() -> Message:
        nonlocal size, deadline, is_complete
        if is_complete:
            return await receive()
        deadline = deadline or asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                event = await receive()
        except TimeoutError:
            raise _too_slow() from None
        size += len(event.get("body", b""))
        if size > limit:
            raise _too_large(limit)
        is_complete = not event.get("more_body", False)
        return event

    return receive_bounded
