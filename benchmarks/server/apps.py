"""The compared applications, each served by uvicorn in a separate process.

python -m benchmarks.server.apps NAME PORT WORDS FOLDER
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from partita.runtime.service import InvokeOptions, Prompt
from partita.server.app import PartitaApp, asgi
from partita.server.runner import serve
from partita.stream.sse import DONE, HEADERS
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    MessageFinish,
    MessageStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.codec import encode

RATE = 20.0


def words(count: int) -> list[str]:
    """The words that every application sends."""
    return [f"word{number} " for number in range(count)]


def chunks(count: int) -> list[Chunk]:
    """The same as chunks."""
    deltas = [TextDelta("0", word) for word in words(count)]
    return [
        MessageStart("m"),
        StepStart(),
        TextStart("0"),
        *deltas,
        TextEnd("0"),
        StepFinish(),
        MessageFinish("stop"),
    ]


class WordAgent:
    """An agent that emits its words at once, or at a rate."""

    name = "talker"

    def __init__(self, count: int, rate: float | None = None) -> None:
        self._chunks = chunks(count)[1:]
        self._rate = rate

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The words."""
        began = perf_counter()
        yield ChunkEvent(chunk=MessageStart(options.message_id if options else None))
        for number, chunk in enumerate(self._chunks):
            if self._rate is not None:
                await asyncio.sleep(max(0.0, began + number / self._rate - perf_counter()))
            yield ChunkEvent(chunk=chunk)
        yield CompleteEvent()


def partita(count: int, folder: str) -> Any:
    """Partita: every chunk is in the log before it is sent."""
    return asgi(WordAgent(count), store=f"sqlite:///{folder}/bench.db")


def slow(count: int, folder: str) -> Any:
    """Partita, with agents as fast as models."""
    return asgi(WordAgent(count, RATE), store=f"sqlite:///{folder}/slow.db")


def starlette(count: int, folder: str) -> Any:
    """The same bytes, encoded in advance, one event at a time; nothing is parsed or stored."""
    events = [b"data: %b\n\n" % encode(chunk) for chunk in chunks(count)] + [DONE]

    async def body() -> AsyncIterator[bytes]:
        for event in events:
            yield event

    async def chat(request: Request) -> Response:
        await request.body()
        return StreamingResponse(body(), headers=HEADERS)

    return Starlette(routes=[Route("/api/chat", chat, methods=["POST"])])


def pydantic_ai(count: int, folder: str) -> Any:
    """The adapter of Pydantic AI for the same client, with a model that returns the words at once."""
    from pydantic_ai import Agent
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.ui.vercel_ai import VercelAIAdapter

    async def model(messages: Any, info: Any) -> AsyncIterator[str]:
        for word in words(count):
            yield word

    agent = Agent(FunctionModel(stream_function=model))

    async def chat(request: Request) -> Response:
        response: Response = await VercelAIAdapter.dispatch_request(request, agent=agent)
        return response

    return Starlette(routes=[Route("/api/chat", chat, methods=["POST"])])


APPS: dict[str, Callable[[int, str], Any]] = {
    "partita": partita,
    "slow": slow,
    "starlette": starlette,
    "pydantic_ai": pydantic_ai,
}


def main() -> None:
    """Serve one application."""
    name, port, count, folder = sys.argv[1:]
    app = APPS[name](int(count), folder)
    if isinstance(app, PartitaApp):
        serve(app, port=int(port), on_listening=lambda _: None)  # as `partita serve` does
    else:
        uvicorn.run(app, port=int(port), log_level="error", access_log=False, loop="uvloop", http="httptools")


if __name__ == "__main__":
    main()
