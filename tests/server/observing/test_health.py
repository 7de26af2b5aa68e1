"""Health: alive as long as the process is, ready as long as the store answers."""

import asyncio

import pytest

from partita.errors import UnavailableError
from partita.server.app import PartitaApp
from partita.server.routes import health
from partita.store.facade.store import Store
from tests.server.conftest import client_of


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_all_is_well(app: PartitaApp, path: str) -> None:
    async with client_of(app) as client:
        answer = await client.get(path)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_a_store_that_fails_is_told_and_not_where_it_is(
    app: PartitaApp, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: object) -> None:
        raise UnavailableError("cannot connect", where="postgresql://db.internal/partita")

    monkeypatch.setattr(store.engine, "read", fail)
    async with client_of(app) as client:
        answer = await client.get("/readyz")
        assert (await client.get("/healthz")).status_code == 200
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"] == "1"
    assert "internal" not in answer.text


async def test_a_store_that_is_silent_is_not_waited_for(
    app: PartitaApp, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(store.engine, "read", hang)
    monkeypatch.setattr(health, "PATIENCE", 0.05)
    async with client_of(app) as client:
        assert (await client.get("/readyz")).status_code == 503


async def test_numbers_are_in_the_format_of_prometheus(app: PartitaApp) -> None:
    async with client_of(app) as client:
        answer = await client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert "# TYPE partita_requests_total counter" in answer.text
    assert "partita_run_log_waiting_bytes 0.0" in answer.text
