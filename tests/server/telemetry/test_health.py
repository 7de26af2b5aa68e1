"""Health: alive while the process runs, ready while the store responds."""

import asyncio
import resource
from dataclasses import replace

import httpx
import pytest

from partita.errors import UnavailableError
from partita.server.app import PartitaApp
from partita.server.app_state import Readiness
from partita.store.store import Store
from tests.server.conftest import client_of


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_a_healthy_server_returns_200(app: PartitaApp, path: str) -> None:
    async with client_of(app) as client:
        response = await client.get(path)
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


async def test_a_failing_store_is_reported_without_its_location(
    app: PartitaApp, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: object) -> None:
        raise UnavailableError("cannot connect", where="postgresql://db.internal/partita")

    monkeypatch.setattr(store.engine, "read", fail)
    async with client_of(app) as client:
        response = await client.get("/readyz")
        assert (await client.get("/healthz")).status_code == 200
    assert response.status_code == 503
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["retry-after"] == "1"
    assert "internal" not in response.text


async def test_a_store_that_does_not_respond_is_not_ready(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(store.engine, "read", hang)
    assert not await Readiness(store, timeout=0.05).check()


async def ready(client: httpx.AsyncClient, app: PartitaApp) -> int:
    """The status of `/readyz`, probed again."""
    state = app.opened()
    app.state = replace(state, readiness=Readiness(state.store))
    return (await client.get("/readyz")).status_code


async def test_a_full_disk_is_detected_and_logged_once(
    app: PartitaApp, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """A limit on the size of files simulates a full disk: SQLite cannot extend its log."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with client_of(app) as client:
        assert await ready(client, app) == 200
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
        try:
            full = [await ready(client, app) for _ in range(3)]
            refused = await client.post("/api/threads", json={"id": "t1"})
            read = await client.get("/api/threads")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert full == [503, 503, 503]
        assert (refused.status_code, read.status_code) == (503, 200)
        assert store.engine.where not in refused.text
        assert await ready(client, app) == 200
        numbers = (await client.get("/metrics")).text
    lines = [one.getMessage() for one in caplog.records if one.name == "partita.store"]
    assert [line.partition(" for writing")[0] for line in lines] == [
        "the store is not available",
        "the store is available again",
    ]
    assert store.engine.where in lines[0]
    assert 'partita_store_outages_total{work="write"} 1.0' in numbers
    assert 'partita_store_failures_total{work="write"} 4.0' in numbers
    assert 'partita_store_available{work="write"} 1.0' in numbers


async def test_a_read_only_store_is_not_ready(app: PartitaApp, store: Store) -> None:
    async with client_of(app) as client:
        await store.engine.autocommit(lambda connection: connection.exec_driver_sql("PRAGMA query_only = 1"))
        assert await ready(client, app) == 503
        await store.engine.autocommit(lambda connection: connection.exec_driver_sql("PRAGMA query_only = 0"))
        assert await ready(client, app) == 200


async def test_probes_are_shared_for_a_second(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    probes = 0
    probe = store.probe

    async def counting() -> None:
        nonlocal probes
        probes += 1
        await probe()

    monkeypatch.setattr(store, "probe", counting)
    readiness = Readiness(store)
    assert await asyncio.gather(*(readiness.check() for _ in range(5))) == [True] * 5
    assert await readiness.check()
    assert probes == 1


async def test_metrics_have_the_format_of_prometheus(app: PartitaApp) -> None:
    async with client_of(app) as client:
        response = await client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain; version=")
    assert "# TYPE partita_requests_total counter" in response.text
    assert "partita_run_log_waiting_bytes 0.0" in response.text
