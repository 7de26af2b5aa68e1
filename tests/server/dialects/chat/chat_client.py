"""A minimal client of the chat routes, which collects chunks and folds them into messages."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx

from partita.formats.registry import get_format
from partita.stream.accumulator import Accumulator
from partita.stream.sse import ChunkReader
from partita.types.chunks import Chunk, MessageStart
from partita.types.json import JsonObject, is_array
from partita.types.messages import AssistantMessage, Message


class ChatResponse(NamedTuple):
    """A complete response: its run, its chunks, and their message."""

    run_id: str
    chunks: list[Chunk]
    text: str

    @property
    def message_id(self) -> str:
        starts = [chunk for chunk in self.chunks if isinstance(chunk, MessageStart)]
        assert len(starts) == 1, "a stream has one message"
        assert starts[0].message_id is not None
        return starts[0].message_id

    def message(self, seed: AssistantMessage | None = None) -> AssistantMessage:
        """The message that a client folds, after the parts that it had before."""
        fold = Accumulator(seed) if seed is not None else Accumulator(id="client")
        for chunk in self.chunks:
            fold.feed(chunk)
        return fold.snapshot()


def user(id: str, text: str) -> JsonObject:
    """A user message, as `useChat` sends it."""
    return {"id": id, "role": "user", "parts": [{"type": "text", "text": text}]}


def shown(message: Message) -> JsonObject:
    """A stored message in the form of a client."""
    dump = get_format("ai-sdk-ui-v7").dump
    assert dump is not None
    payload = dump([message]).payload
    assert is_array(payload)
    found: JsonObject = payload[0]
    return found


def parse_response(response: httpx.Response) -> ChatResponse:
    """Parse a response."""
    assert response.status_code == 200, response.text
    assert response.text.endswith("data: [DONE]\n\n")
    return ChatResponse(
        response.headers["x-partita-run-id"], list(ChunkReader().feed(response.content)), response.text
    )


class Chat:
    """A chat whose client sends all its messages."""

    def __init__(self, client: httpx.AsyncClient, id: str = "c1") -> None:
        self.client = client
        self.id = id

    async def post(self, *messages: JsonObject, **more: Any) -> httpx.Response:
        """Post messages; the last one is new."""
        headers = more.pop("headers", {})
        body = {"id": self.id, "messages": list(messages), "trigger": "submit-message", **more}
        return await self.client.post("/api/chat", json=body, headers=headers)

    async def ask(self, *messages: JsonObject, **more: Any) -> ChatResponse:
        """Send messages, and return the complete response."""
        return parse_response(await self.post(*messages, **more))

    @asynccontextmanager
    async def reading(self, *messages: JsonObject, **more: Any) -> AsyncGenerator["Reading", None]:
        """Send messages, and read the response as a stream, which needs a real server."""
        body = {"id": self.id, "messages": list(messages), "trigger": "submit-message", **more}
        async with self.client.stream("POST", "/api/chat", json=body) as response:
            yield Reading(response)

    @asynccontextmanager
    async def resuming(self, **headers: str) -> AsyncGenerator["Reading", None]:
        """Reconnect to the active response."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.client.stream("GET", f"/api/chat/{self.id}/stream", headers=named) as response:
            yield Reading(response)


class Reading:
    """A response that is being read."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.text = ""
        self._pieces = response.aiter_text()

    async def until(self, words: str) -> str:
        """Read until a text has arrived, and return everything so far."""
        while words not in self.text:
            self.text += await anext(self._pieces)
        return self.text

    async def whole(self) -> ChatResponse:
        """Read to the end."""
        async for piece in self._pieces:
            self.text += piece
        chunks = list(ChunkReader().feed(self.text.encode()))
        return ChatResponse(self.response.headers["x-partita-run-id"], chunks, self.text)
