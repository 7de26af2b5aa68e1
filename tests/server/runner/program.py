"""The program that tests of the runner start."""

import asyncio
import time
from collections.abc import AsyncIterator

from partita.demo.agent import demo_agent
from partita.runtime.adapters.agent_request import AgentRequest
from partita.server.app import asgi
from partita.server.runner import serve


def run_server(store: str) -> None:
    """Serve the demo agent on a free port."""
    serve(asgi(demo_agent(), store=store), port=0)


async def brief(_: AgentRequest) -> AsyncIterator[str]:
    """Respond for one second."""
    yield "One moment. "
    await asyncio.sleep(1)
    yield "Done."


async def stubborn(_: AgentRequest) -> AsyncIterator[str]:
    """Ignore cancellation."""
    yield "I stay."
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


async def blocking(_: AgentRequest) -> AsyncIterator[str]:
    """Block the event loop."""
    yield "I sleep."
    await asyncio.sleep(0.2)
    time.sleep(60)  # blocking is intended


def run_brief(store: str) -> None:
    """Serve an agent that needs a second."""
    serve(asgi(brief, store=store), port=0)


def run_stubborn(store: str) -> None:
    """Serve an agent that does not stop."""
    serve(asgi(stubborn, store=store), port=0)


def run_blocking(store: str) -> None:
    """Serve an agent that blocks the event loop."""
    serve(asgi(blocking, store=store), port=0)
