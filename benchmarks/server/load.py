"""Clients over plain sockets, which read as fast as possible, so that the server is the bottleneck."""

import asyncio
from time import perf_counter
from typing import NamedTuple

from partita.types.json import dumps

DELTA = b'"text-delta"'
END = b"\r\n0\r\n\r\n"


class ResponseTimes(NamedTuple):
    """A response: the seconds until its first and its last delta, and their number."""

    first: float
    last: float
    deltas: int


def request(chat: str) -> bytes:
    """The request of `useChat` for a first message."""
    message = {"id": f"{chat}-u", "role": "user", "parts": [{"type": "text", "text": "Speak."}]}
    body = dumps({"id": chat, "messages": [message], "trigger": "submit-message"})
    head = [
        "POST /api/chat HTTP/1.1",
        "host: 127.0.0.1",
        "content-type: application/json",
        "accept: text/event-stream",
        f"content-length: {len(body)}",
        "\r\n",
    ]
    return "\r\n".join(head).encode() + body


async def ask(port: int, chats: list[str]) -> list[ResponseTimes]:
    """The responses to first messages of chats, one after the other on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    answers = [await _response(reader, writer, chat) for chat in chats]
    writer.close()
    return answers


async def _response(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, chat: str) -> ResponseTimes:
    began, first, last, deltas, rest = perf_counter(), 0.0, 0.0, 0, b""
    writer.write(request(chat))
    while True:
        data = await reader.read(2**18)
        assert data, "the server closed the connection"
        found = (rest + data).count(DELTA)
        deltas += found
        if found:
            last = perf_counter() - began
            first = first or last
        rest = (rest + data)[-len(DELTA) + 1 :]
        if data.endswith(END) or (rest + data).endswith(END):
            return ResponseTimes(first, last, deltas)
