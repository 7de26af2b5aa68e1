"""The guard behind a real server, with raw bytes that no client library would send."""

import asyncio
from collections.abc import Awaitable, Callable

from partita.server.guard.guard import Guard
from partita.server.settings import Limits, Settings
from tests.server.guard.requests import Behind, Somebody, guarded
from tests.tables import each_row

LIMITS = Limits(body_bytes=1000, body_seconds=0.5)

RAW: dict[str, tuple[bytes, int]] = {
    "a plain request": (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
    "two hosts": (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400),
    "no host": (b"GET / HTTP/1.0\r\n\r\n", 400),
    "a foreign host": (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
    "a foreign host in the target": (b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
    "a foreign page": (b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n", 403),
    "a body declared to be too large": (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 5000\r\n\r\n{",
        413,
    ),
    "a body in pieces that is too large": (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + b"1" * 1001 + b"\r\n",
        413,
    ),
    "a body that does not arrive": (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{",
        408,
    ),
    "an unexpected body": (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 5000\r\nExpect: 100-continue\r\n\r\n",
        413,
    ),
}


@each_row(("sent", "status"), RAW.values(), ids=RAW)
async def test_raw_requests_get_the_right_status(
    serve: Callable[[object], Awaitable[str]], sent: bytes, status: int
) -> None:
    guard, _ = guarded(limits=LIMITS)
    assert (await raw(await serve(guard), sent)).startswith(f"HTTP/1.1 {status} ".encode())


async def test_the_connection_is_closed_after_a_body_that_is_too_large(
    serve: Callable[[object], Awaitable[str]],
) -> None:
    guard = Guard(Behind(), Settings(limits=LIMITS), Somebody())
    received = await raw(await serve(guard), RAW["a body declared to be too large"][0])
    assert b"connection: close" in received.lower()
    assert b"application/problem+json" in received


async def raw(url: str, sent: bytes) -> bytes:
    """The response of a server to some bytes, up to the end of the connection or of the first response."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(sent)
        await writer.drain()
        async with asyncio.timeout(10):
            head = await reader.readuntil(b"\r\n\r\n")
            return head + await reader.read(100)
    finally:
        writer.close()
