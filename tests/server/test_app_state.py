"""The server seals the logs of runs that have ended."""

import asyncio
from typing import Any

from sqlalchemy import select

from partita import Session, asgi
from partita.server.settings import Settings
from partita.store.schema import runs
from partita.store.sql.transaction import Transaction
from partita.store.store import Store

from .conftest import client_of, scripted, text_part

AGENT = scripted([text_part("Forty-one metres.")])
HELLO = {"role": "user", "parts": [text_part("How tall is it?")]}


def sealed_runs(tx: Transaction) -> dict[str, bool]:
    return {row.id: bool(row.sealed) for row in tx.rows(select(runs.c.id, runs.c.sealed))}


def damage(tx: Transaction) -> None:
    tx.sql("UPDATE log_tail SET data = ?", (b"\xc1",))


async def until(store: Store, wanted: dict[str, bool]) -> None:
    async with asyncio.timeout(10):
        while await store.read(sealed_runs) != wanted:
            await asyncio.sleep(0.02)


async def chat(app: Any, thread_id: str, message_id: str) -> str:
    async with client_of(app) as client:
        response = await client.post(
            "/api/chat", json={"id": thread_id, "messages": [{"id": message_id, **HELLO}]}
        )
        return str(response.headers["x-partita-run-id"])


async def test_ended_runs_are_sealed_while_the_server_is_open(store: Store) -> None:
    async with Session(store) as session:  # of an earlier process
        earlier = (await session.start(AGENT, "t1", "How tall is it?", resource_id="ada")).id
        await session.wait(earlier)
    app = asgi(AGENT, store=store, settings=Settings(seal_after=0))
    async with app.lifespan():
        run_id = await chat(app, "t2", "m1")
        before = await store.logs.read(run_id)
        await until(store, {earlier: True, run_id: True})
        assert await store.logs.read(run_id) == before


async def test_a_damaged_log_does_not_prevent_sealing_others(store: Store) -> None:
    async with Session(store) as session:
        run_id = (await session.start(AGENT, "t1", "How tall is it?")).id
        await session.wait(run_id)
    await store.write(damage)
    app = asgi(AGENT, store=store, settings=Settings(seal_after=0))
    async with app.lifespan():
        await until(store, {run_id: False, await chat(app, "t2", "m1"): True})


async def test_nothing_is_sealed_when_sealing_is_off(store: Store) -> None:
    app = asgi(AGENT, store=store, settings=Settings(seal_after=None))
    async with app.lifespan():
        run_id = await chat(app, "t1", "m1")
        await asyncio.sleep(0.2)
        assert await store.read(sealed_runs) == {run_id: False}
