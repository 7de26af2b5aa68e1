"""A stream ends, and its body is closed, when the client disconnects or stops reading."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from starlette.types import Message

from partita.server.responses import EventStream


class Body:
    """An endless stream of bytes that records whether it was closed."""

    def __init__(self) -> None:
        self.closed = False

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield b"data: x\n\n"
                await asyncio.sleep(0)
        finally:
            self.closed = True


async def never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError("the event is never set")


async def test_a_client_that_stops_reading_is_disconnected() -> None:
    body, sent = Body(), list[Message]()

    async def stuck(event: Message) -> None:
        sent.append(event)
        if event["type"] == "http.response.body":
            await asyncio.Event().wait()

    async with asyncio.timeout(20):
        await EventStream(body.pieces(), stall=0.02)({}, never, stuck)
    assert body.closed
    assert [event["type"] for event in sent] == ["http.response.start", "http.response.body"]


async def test_a_slow_client_is_not_disconnected() -> None:
    body, taken = Body(), 0

    async def slow(event: Message) -> None:
        nonlocal taken
        taken += 1
        await asyncio.sleep(0.02)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await EventStream(body.pieces(), stall=0.1)({}, never, slow)
    assert taken > 2
    assert body.closed


async def test_a_disconnecting_client_ends_the_stream() -> None:
    body, gone = Body(), asyncio.Event()

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(event: Message) -> None:
        if event["type"] == "http.response.body":
            gone.set()

    async with asyncio.timeout(20):
        await EventStream(body.pieces())({}, receive, send)
    assert body.closed


async def test_a_large_piece_is_sent_in_small_ones() -> None:
    """A connection buffers each piece until the client reads it."""
    sent: list[bytes] = []

    async def large() -> AsyncGenerator[bytes, None]:
        yield b"a" * 200_000

    async def send(event: Message) -> None:
        sent.append(event.get("body", b""))

    await EventStream(large())({}, never, send)
    assert b"".join(sent) == b"a" * 200_000
    assert max(map(len, sent)) <= 65_536
