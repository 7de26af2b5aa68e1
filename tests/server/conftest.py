"""Fixtures: a store, a scripted agent, and the application in this process or behind a server."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import httpx
import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from partita.runtime.principal import Principal
from partita.runtime.scripted import ScriptedService, as_script
from partita.server.access import EVERYTHING
from partita.server.app import PartitaApp, asgi
from partita.server.callers import CALLER, CallerView
from partita.server.endpoints import Endpoint
from partita.server.guard.auth import Connection
from partita.server.routing import Router
from partita.store.connection import open_store
from partita.store.store import Store
from tests.store.empty_store import empty_store

HERE = "http://localhost"

Serve: TypeAlias = Callable[[Any], Awaitable[str]]


def scripted(*turns: list[dict[str, Any]]) -> ScriptedService:
    """A scripted agent whose steps have these parts."""
    steps = [{"parts": parts} for parts in turns]
    return ScriptedService(as_script({"scenes": [{"steps": steps}]}))


def user_in_header(connection: Connection) -> Principal | None:
    """A user with the name in a header, with the role `write`."""
    name = connection.headers.get("x-user")
    return Principal(name, "write") if name else None


def text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(empty_store(tmp_path, "partita.db")) as opened:
        yield opened


@pytest.fixture
async def app(store: Store) -> AsyncIterator[PartitaApp]:
    """The application for users of this machine."""
    app = asgi(scripted([text_part("Forty-one metres.")]), store=store)
    async with app.lifespan():
        yield app


@pytest.fixture
async def client(app: PartitaApp) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app) as client:
        yield client


def routed(*endpoints: Endpoint) -> ASGIApp:
    """A router of endpoints, for a caller with all permissions."""
    router = Router(endpoints)
    state: Any = SimpleNamespace(published=EVERYTHING)
    caller = CallerView(state, Principal("tester", "admin"))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await router({**scope, CALLER: caller}, receive, send)

    return app


@asynccontextmanager
async def client_of(app: Any, **how: Any) -> AsyncGenerator[httpx.AsyncClient, None]:
    """A client of an application in this process. It receives responses when they are complete."""
    transport = httpx.ASGITransport(app=app)
    options: dict[str, Any] = {"base_url": HERE, **how}
    async with httpx.AsyncClient(transport=transport, **options) as client:
        yield client


class QuickServer(uvicorn.Server):
    """A server that stops at once, without waiting for its next tick."""

    async def main_loop(self) -> None:
        await self.on_tick(0)
        while not self.should_exit:
            await asyncio.sleep(0.005)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        if tasks := self.server_state.tasks:
            _, left = await asyncio.wait(tasks, timeout=self.config.timeout_graceful_shutdown)
            for task in left:
                task.cancel()
        await self.lifespan.shutdown()
        for listening in sockets or []:
            listening.close()


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """A function that serves an application on a local port during the test, and returns its URL."""
    running: list[tuple[QuickServer, asyncio.Task[None]]] = []

    async def start(app: Any) -> str:
        listening = socket.create_server(("127.0.0.1", 0))
        server = QuickServer(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
        task = asyncio.create_task(server.serve(sockets=[listening]))
        running.append((server, task))
        while not server.started:
            assert not task.done(), "the server did not start"
            await asyncio.sleep(0.01)
        return f"http://127.0.0.1:{listening.getsockname()[1]}"

    yield start
    for server, task in running:
        server.should_exit = True
        await asyncio.wait([task], timeout=10)
