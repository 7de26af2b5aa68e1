"""Log lines: text or JSON, with ids of requests, without secrets, and limited in number."""

import logging

import pytest

from partita.errors import StoreError, UnavailableError
from partita.runtime.failures import error_description
from partita.runtime.log_context import get_logger, set_log_fields
from partita.server.app import PartitaApp, asgi
from partita.server.log_output import RateLimitedLog, logging_to_stderr
from partita.store.engines.driver_errors import store_error
from partita.store.store import Store
from partita.types.json import loads
from tests.server.conftest import client_of, scripted, text_part
from tests.tables import each_row

LOG = get_logger("partita.test")


@each_row(
    "sent, accepted",
    [("abc-123", True), ("trace/1:2=@+_", True), ("a b", False), ("x" * 129, False), ("", False)],
)
async def test_a_request_has_an_id(app: PartitaApp, sent: str, accepted: bool) -> None:
    async with client_of(app) as client:
        response = await client.get("/healthz", headers={"x-request-id": sent})
        made = response.headers["x-request-id"]
        assert (made == sent) is accepted, made
        assert len(made) >= 7
        refused = await client.get("/api/threads/none", headers={"x-request-id": "one"})
        assert (refused.status_code, refused.headers["x-request-id"]) == (404, "one")


def test_a_json_line_has_the_fields_and_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_to_stderr("json", "info"):
        set_log_fields(request_id="req-1", run_id=None)
        try:
            raise ValueError("what\nhappened")
        except ValueError:
            LOG.exception("it failed", extra={"reference": "ab12cd34"})
        LOG.debug("not this one")
    (line,) = capsys.readouterr().err.splitlines()
    record = loads(line.encode())
    assert (record["level"], record["logger"], record["message"]) == ("error", "partita.test", "it failed")
    assert (record["request_id"], record["reference"]) == ("req-1", "ab12cd34")
    assert "Traceback" in record["exception"]
    assert logging.getLogger("partita").handlers == []


def test_a_value_cannot_forge_a_line_of_text(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_to_stderr("text", "info"):
        LOG.info("thread %s", "t1\n2026-01-01 ERROR partita.server forged")
    (line,) = capsys.readouterr().err.splitlines()
    assert " INFO partita.test thread t1\\n2026-01-01" in line


async def test_mounting_does_not_configure_logging(store: Store) -> None:
    before = list(logging.getLogger().handlers), list(logging.getLogger("partita").handlers)
    app = asgi(scripted([text_part("Hi.")]), store=store)
    async with app.lifespan(), client_of(app) as client:
        await client.get("/healthz")
    assert (list(logging.getLogger().handlers), list(logging.getLogger("partita").handlers)) == before


async def test_refused_logins_are_logged_up_to_a_limit(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    app = asgi(scripted([text_part("Hi.")]), store=store, keys=True)
    async with app.lifespan(), client_of(app) as client:
        for _ in range(14):
            refused = await client.get("/api/threads?key=in-the-query", headers={"x-api-key": "pk_guess"})
            assert refused.status_code == 401
        key = (await store.keys.create(role="admin")).text
        numbers = await client.get("/metrics", headers={"x-api-key": key})
    lines = [one.getMessage() for one in caplog.records if "login refused" in one.getMessage()]
    assert len(lines) == 10
    assert "pk_guess" not in caplog.text
    assert "in-the-query" not in caplog.text
    assert "partita_log_lines_dropped_total 4.0" in numbers.text


def test_omitted_lines_are_counted_in_the_next_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    log = RateLimitedLog(LOG, lambda: None, per_minute=2, clock=lambda: now)
    for _ in range(5):
        log.warning("again")
    now = 61.0
    log.warning("later")
    assert [one.getMessage() for one in caplog.records] == [
        "again",
        "again",
        "3 more lines like the next one were left out",
        "later",
    ]


async def test_no_response_has_the_location_of_the_database(
    app: PartitaApp, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = "postgresql://db.internal:5432/partita"
    raised: list[Exception] = [
        store_error(PermissionError(13, "Permission denied", "/var/db.internal/store.db"), place),
        store_error(ConnectionRefusedError(111, "Connect call failed ('db.internal', 5432)"), place),
        store_error(OSError("could not translate host name db.internal"), place),
        UnavailableError("no connection came free", where=place, hint="ask for less at once"),
        StoreError("the store is closed", where=place),
    ]

    async def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(store.engine, "read", fail)
    monkeypatch.setattr(store.engine, "write", fail)
    async with client_of(app) as client:
        for error in raised:
            assert "db.internal" in str(error) or "db.internal" in repr(error.__cause__)
            for method, path in (("GET", "/api/threads"), ("POST", "/api/chat"), ("GET", "/v1/models")):
                body = {"id": "t", "messages": [{"id": "u", "role": "user", "parts": []}]}
                response = await client.request(method, path, json=body if method == "POST" else None)
                assert "db.internal" not in response.text, (path, error)
            assert "db.internal" not in error_description(error)


async def test_errors_are_counted_by_kind(store: Store) -> None:
    async def broken(request: object) -> str:
        raise ValueError("no")

    app = asgi({"broken": broken}, store=store)
    async with app.lifespan(), client_of(app) as client:
        body = {
            "id": "t",
            "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "a"}]}],
        }
        await client.post("/api/chat", json=body)
        numbers = (await client.get("/metrics")).text
    assert 'partita_errors_total{kind="agent"} 1.0' in numbers
    assert 'partita_errors_total{kind="tool"} 0.0' in numbers
    for name in ("partita_runs_waiting", "partita_leases_lost_total", "partita_store_retries_total"):
        assert f"\n{name} 0.0" in numbers, name
