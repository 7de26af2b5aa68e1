"""Limits before the headers of a request are complete, over real sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
import uvicorn

from partita.server.protocol import PIPELINED, bounded_protocol
from partita.server.settings import Limits
from partita.types.json import loads
from tests.server.conftest import QuickServer

LIMITS = Limits(headers=20, header_bytes=2000, target_bytes=500)
HEAD = b"GET / HTTP/1.1\r\nhost: localhost\r\n"
WHOLE = HEAD + b"\r\n"
QUICK = 0.15
"""Seconds for the headers, in tests that wait for the timeout."""

Exchange = Callable[..., Awaitable[bytes]]


class Application:
    """Responds with 200 once it is released, and counts requests."""

    def __init__(self) -> None:
        self.requests = 0
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.requests += 1
        await self.go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
async def app() -> Application:
    return Application()


@pytest.fixture
async def refusals() -> list[int]:
    return []


@pytest.fixture
async def exchange(app: Application, refusals: list[int]) -> AsyncIterator[Exchange]:
    """A function that sends pieces of bytes on a connection, and returns the response until it is closed."""
    running: list[tuple[QuickServer, asyncio.Task[None]]] = []

    async def connect(seconds: float) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        listening = socket.create_server(("127.0.0.1", 0))
        protocol = bounded_protocol(LIMITS, header_seconds=seconds, report=refusals.append)
        config = uvicorn.Config(app, http=protocol, ws="none", lifespan="off", log_config=None)
        server = QuickServer(config)
        task = asyncio.create_task(server.serve(sockets=[listening]))
        running.append((server, task))
        while not server.started:
            await asyncio.sleep(0.01)
        return await asyncio.open_connection("127.0.0.1", listening.getsockname()[1])

    async def exchange(*pieces: bytes, seconds: float = 30.0, pause: float = 0.0) -> bytes:
        reader, writer = await connect(seconds)
        with suppress(ConnectionError):  # it disconnected: only the first response matters
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)
        response = await _until_closed(reader)
        writer.close()
        return response

    yield exchange
    for server, task in running:
        server.should_exit = True
        await asyncio.wait([task], timeout=10)


async def _until_closed(reader: asyncio.StreamReader) -> bytes:
    pieces: list[bytes] = []
    with suppress(ConnectionError):
        while piece := await asyncio.wait_for(reader.read(65536), 20):
            pieces.append(piece)
    return b"".join(pieces)


def status_of(response: bytes) -> int:
    return int(response.split(b" ", 2)[1])


OVER_LIMIT: dict[str, tuple[list[bytes], int]] = {
    "a header that does not end": ([HEAD, b"x: ", *[b"y" * 1000] * 20], 431),
    "a name that does not end": ([HEAD, *[b"y" * 1000] * 20], 431),
    "ten thousand headers": ([HEAD, b"".join(b"x-%d: 1\r\n" % n for n in range(10_000)), b"\r\n"], 431),
    "many headers, one after another": ([HEAD, *[b"a: b\r\n"] * 40, b"\r\n"], 431),
    "headers that are large together": ([HEAD, *[b"a: " + b"b" * 300 + b"\r\n"] * 10, b"\r\n"], 431),
    "a huge target": ([b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n\r\n"], 414),
    "a target that does not end": ([b"GET /", *[b"a" * 100] * 50], 414),
    "garbage": ([bytes(range(256)) * 4], 400),
    "not HTTP": ([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], 400),
    "an invalid target": ([b"GET http://[ HTTP/1.1\r\n\r\n"], 400),
}


@pytest.mark.parametrize(("pieces", "status"), OVER_LIMIT.values(), ids=OVER_LIMIT)
async def test_a_head_over_its_limits_is_refused_before_the_application(
    pieces: list[bytes], status: int, exchange: Exchange, app: Application, refusals: list[int]
) -> None:
    response = await exchange(*pieces)
    assert status_of(response) == status
    head, _, body = response.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    assert loads(body)["status"] == status
    assert app.requests == 0
    assert refusals == [status]


SLOW: dict[str, list[bytes]] = {
    "silence": [],
    "an unfinished request, then silence": [HEAD],
    "one byte at a time": [HEAD, b"x: ", *[b"y"] * 40],
    "empty lines only": [b"\r\n"] * 40,
}


@pytest.mark.parametrize("pieces", SLOW.values(), ids=SLOW)
async def test_slow_headers_are_refused(pieces: list[bytes], exchange: Exchange, app: Application) -> None:
    response = await exchange(*pieces, seconds=QUICK, pause=0.02)
    assert status_of(response) == 408
    assert app.requests == 0


async def test_the_second_request_of_a_connection_has_a_timeout_too(
    exchange: Exchange, app: Application
) -> None:
    response = await exchange(WHOLE, HEAD, seconds=QUICK, pause=0.05)
    assert response.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 408" in response
    assert app.requests == 1


async def test_a_slow_response_has_no_timeout(exchange: Exchange, app: Application) -> None:
    app.go.clear()
    asyncio.get_running_loop().call_later(3 * QUICK, app.go.set)
    response = await exchange(HEAD + b"connection: close\r\n\r\n", seconds=QUICK)
    assert status_of(response) == 200


async def test_a_request_in_pieces_gets_a_response(exchange: Exchange) -> None:
    whole = HEAD + b"connection: close\r\n\r\n"
    response = await exchange(*[whole[place : place + 1] for place in range(len(whole))])
    assert status_of(response) == 200


async def test_the_end_of_a_large_body_is_not_counted_as_headers(
    exchange: Exchange, refusals: list[int]
) -> None:
    size = 300_000
    head = (
        f"POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {size}\r\n\r\n".encode()
    )
    output = await exchange(head, b"a" * (size - 200_000), b"a" * 200_000)
    assert output.startswith(b"HTTP/1.1 200")
    assert refusals == []


async def test_a_few_pipelined_requests_get_responses_in_order(exchange: Exchange, app: Application) -> None:
    response = await exchange(WHOLE * 5 + HEAD + b"connection: close\r\n\r\n")
    assert response.count(b"HTTP/1.1 200") == 6
    assert app.requests == 6


async def test_too_many_pipelined_requests_are_refused(
    exchange: Exchange, app: Application, refusals: list[int]
) -> None:
    app.go.clear()
    response = await exchange(WHOLE * 1000)
    assert response == b""
    assert refusals == [429]
    assert app.requests <= PIPELINED + 1
    app.go.set()
