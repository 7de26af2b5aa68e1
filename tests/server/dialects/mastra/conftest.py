"""A client with existing threads, for tests that only read them."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from partita.server.app import asgi
from partita.store.connection import open_store
from tests.server.conftest import client_of, scripted, text_part
from tests.store.empty_store import empty_store

from .mastra_site import API, make_thread, row, save


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def library(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    """Three threads of two owners; the first has five messages, two of them with the same time."""
    async with open_store(empty_store(tmp_path_factory.mktemp("library"))) as store:
        app = asgi(scripted([text_part("Yes.")]), store=store)
        async with app.lifespan(), client_of(app) as client:
            await make_thread(client, title="First", metadata={"topic": "lamps", "n": 1})
            await make_thread(client, "t2", metadata={"topic": "boats", "n": True})
            await make_thread(client, "t3", "u2", metadata={"topic": "lamps"})
            await save(
                client,
                row("a1", "one", 1, metadata={"kind": "chat", "n": 1, "none": None}),
                row("a2", "two", 2, role="assistant", metadata={"kind": "tool", "n": 2}),
                row("a3", "three", 3, metadata={"kind": "chat", "n": True}),
                row("a4", "four", 3, role="assistant"),
                row("a5", "five", 5, metadata={"kind": "tool", "n": "1"}),
                row("b1", "other", 1, thread="t2"),
                row("b2", "another", 4, thread="t2", role="assistant"),
                row("c1", "strange", 4, thread="t3", owner="u2"),
            )
            await client.patch(f"{API}/threads/t1", json={"title": "Changed last"})
            await save(client, row("a5", "five", 5, metadata={"kind": "tool", "n": "1"}))  # updated now
            yield client
