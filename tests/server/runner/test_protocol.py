"""What may come before the headers are complete is bounded, over real sockets."""

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
"""Seconds for the headers, where a test waits for them to be over."""

Talk = Callable[..., Awaitable[bytes]]


class Application:
    """Answers 200 once it may, and counts what it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked += 1
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
async def talk(app: Application, refusals: list[int]) -> AsyncIterator[Talk]:
    """Sends pieces of bytes on one connection, and gives all that comes back until it is closed."""
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

    async def talk(*pieces: bytes, seconds: float = 30.0, pause: float = 0.0) -> bytes:
        reader, writer = await connect(seconds)
        with suppress(ConnectionError):  # it hung up: what it said first is what counts
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)
        answer = await _until_closed(reader)
        writer.close()
        return answer

    yield talk
    for server, task in running:
        server.should_exit = True
        await asyncio.wait([task], timeout=10)


async def _until_closed(reader: asyncio.StreamReader) -> bytes:
    pieces: list[bytes] = []
    with suppress(ConnectionError):
        while piece := await asyncio.wait_for(reader.read(65536), 20):
            pieces.append(piece)
    return b"".join(pieces)


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


TOO_MUCH: dict[str, tuple[list[bytes], int]] = {
    "a header that does not end": ([HEAD, b"x: ", *[b"y" * 1000] * 20], 431),
    "a name that does not end": ([HEAD, *[b"y" * 1000] * 20], 431),
    "ten thousand headers": ([HEAD, b"".join(b"x-%d: 1\r\n" % n for n in range(10_000)), b"\r\n"], 431),
    "many headers, one after another": ([HEAD, *[b"a: b\r\n"] * 40, b"\r\n"], 431),
    "headers that are large together": ([HEAD, *[b"a: " + b"b" * 300 + b"\r\n"] * 10, b"\r\n"], 431),
    "a huge target": ([b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n\r\n"], 414),
    "a target that does not end": ([b"GET /", *[b"a" * 100] * 50], 414),
    "garbage": ([bytes(range(256)) * 4], 400),
    "no HTTP at all": ([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], 400),
    "a target that is none": ([b"GET http://[ HTTP/1.1\r\n\r\n"], 400),
}


@pytest.mark.parametrize(("pieces", "status"), TOO_MUCH.values(), ids=TOO_MUCH)
async def test_too_much_is_refused_and_the_application_never_hears_of_it(
    pieces: list[bytes], status: int, talk: Talk, app: Application, refusals: list[int]
) -> None:
    answer = await talk(*pieces)
    assert status_of(answer) == status
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    assert loads(body)["status"] == status
    assert app.asked == 0
    assert refusals == [status]


SLOW: dict[str, list[bytes]] = {
    "silence": [],
    "an unfinished request, then silence": [HEAD],
    "one byte at a time": [HEAD, b"x: ", *[b"y"] * 40],
    "empty lines, and nothing else": [b"\r\n"] * 40,
}


@pytest.mark.parametrize("pieces", SLOW.values(), ids=SLOW)
async def test_headers_that_take_too_long_are_not_waited_for(
    pieces: list[bytes], talk: Talk, app: Application
) -> None:
    answer = await talk(*pieces, seconds=QUICK, pause=0.02)
    assert status_of(answer) == 408
    assert app.asked == 0


async def test_the_second_request_of_a_connection_is_timed_too(talk: Talk, app: Application) -> None:
    answer = await talk(WHOLE, HEAD, seconds=QUICK, pause=0.05)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 408" in answer
    assert app.asked == 1


async def test_an_answer_that_takes_long_is_waited_for(talk: Talk, app: Application) -> None:
    app.go.clear()
    asyncio.get_running_loop().call_later(3 * QUICK, app.go.set)
    answer = await talk(HEAD + b"connection: close\r\n\r\n", seconds=QUICK)
    assert status_of(answer) == 200


async def test_a_request_in_pieces_is_answered(talk: Talk) -> None:
    whole = HEAD + b"connection: close\r\n\r\n"
    answer = await talk(*[whole[place : place + 1] for place in range(len(whole))])
    assert status_of(answer) == 200


async def test_the_end_of_a_large_body_is_not_taken_for_headers(talk: Talk, refusals: list[int]) -> None:
    size = 300_000
    head = (
        f"POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {size}\r\n\r\n".encode()
    )
    said = await talk(head, b"a" * (size - 200_000), b"a" * 200_000)
    assert said.startswith(b"HTTP/1.1 200")
    assert refusals == []


async def test_a_few_requests_at_once_are_answered_in_turn(talk: Talk, app: Application) -> None:
    answer = await talk(WHOLE * 5 + HEAD + b"connection: close\r\n\r\n")
    assert answer.count(b"HTTP/1.1 200") == 6
    assert app.asked == 6


async def test_a_flood_of_requests_at_once_is_cut_off(
    talk: Talk, app: Application, refusals: list[int]
) -> None:
    app.go.clear()
    answer = await talk(WHOLE * 1000)
    assert answer == b""
    assert refusals == [429]
    assert app.asked <= PIPELINED + 1
    app.go.set()
