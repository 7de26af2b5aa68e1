"""Metrics of requests, streams and runs."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp, Scope

from partita.server.app import asgi
from partita.server.endpoints import get
from partita.server.metrics import MeasuredRequests, Metrics
from partita.server.problems import Problem
from partita.server.prometheus import exposition, registry_of
from partita.server.responses import EventStream
from partita.store.store import Store
from tests.server.conftest import client_of, routed, scripted, text_part


async def chunks() -> AsyncGenerator[bytes, None]:
    yield b'data: {"type":"start"}\n\ndata: {"type":"text-start","id":"0"}\n\n'
    yield b"data: [DONE]\n\n"


@get("/towers/{tower}")
async def get_tower(tower: str) -> str:
    if tower == "secret":
        raise Problem(403, "not for you")
    return tower


@get("/chats/{chat}/stream")
async def resume(chat: str) -> EventStream:
    return EventStream(None if chat == "idle" else chunks())


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def counted(metrics: Metrics) -> MeasuredRequests:
    return MeasuredRequests(routed(get_tower, resume), metrics)


async def send_requests(metrics: Metrics, *paths: str, method: str = "GET") -> None:
    async with client_of(counted(metrics)) as client:
        for path in paths:
            await client.request(method, path)


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return registry_of(metrics).get_sample_value(name, labels)


async def test_requests_are_counted_by_the_template_of_their_route(metrics: Metrics) -> None:
    await send_requests(metrics, "/towers/a", "/towers/b", "/towers/secret", "/elsewhere/1", "/elsewhere/2")
    count = "partita_requests_total"
    assert value(metrics, count, route="/towers/{tower}", method="GET", status="200") == 2
    assert value(metrics, count, route="/towers/{tower}", method="GET", status="403") == 1
    assert value(metrics, count, route="(none)", method="GET", status="404") == 2
    assert value(metrics, "partita_request_seconds_count", route="/towers/{tower}", method="GET") == 3


async def test_the_number_of_labels_is_limited_for_any_request(metrics: Metrics) -> None:
    await send_requests(metrics, *(f"/{number}" for number in range(20)))
    for method in ("BREW", "PROPFIND", "X" * 50):
        await send_requests(metrics, "/towers/a", method=method)
    output = exposition(metrics).decode()
    assert set(re.findall(r'route="([^"]*)"', output)) <= {"(none)", "/towers/{tower}"}
    assert set(re.findall(r'method="([^"]*)"', output)) == {"GET", "other"}


async def test_refusals_are_counted_by_their_reason(metrics: Metrics) -> None:
    await send_requests(metrics, "/towers/secret", "/towers/a")
    metrics.count_refusal(431)
    metrics.count_refusal(404)
    assert value(metrics, "partita_refused_requests_total", reason="not allowed") == 1
    assert value(metrics, "partita_refused_requests_total", reason="headers too large") == 1
    assert exposition(metrics).count(b"partita_refused_requests_total{") == 2


async def test_open_streams_and_their_events_and_bytes_are_counted(metrics: Metrics) -> None:
    await send_requests(metrics, "/chats/c/stream")
    assert value(metrics, "partita_open_streams") == 0
    assert value(metrics, "partita_stream_events_total") == 3
    sent = sum([len(piece) async for piece in chunks()])
    assert value(metrics, "partita_sent_bytes_total") == sent
    assert value(metrics, "partita_stream_seconds_count", route="/chats/{chat}/stream") == 1


async def test_an_open_stream_is_counted(metrics: Metrics) -> None:
    seen: list[float | None] = []
    inside = counted(metrics)

    async def send(event: Any) -> None:
        seen.append(value(metrics, "partita_open_streams"))

    async def receive() -> Any:
        await asyncio.Event().wait()

    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": "/chats/c/stream",
        "raw_path": b"/chats/c/stream",
        "query_string": b"",
        "headers": [],
        "http_version": "1.1",
        "scheme": "http",
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 1),
        "state": {},
    }
    await inside(scope, receive, send)
    assert set(seen) == {1}
    assert value(metrics, "partita_open_streams") == 0


async def test_reconnections_are_counted(metrics: Metrics) -> None:
    await send_requests(metrics, "/chats/c/stream", "/chats/idle/stream", "/chats/idle/stream")
    assert value(metrics, "partita_resumes_total", kind="live") == 1
    assert value(metrics, "partita_resumes_total", kind="idle") == 2


async def test_an_application_that_raises_is_counted(metrics: Metrics) -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("broken")

    app: ASGIApp = MeasuredRequests(broken, metrics)
    async with client_of(app) as client:
        with pytest.raises(RuntimeError):
            await client.get("/")
    assert value(metrics, "partita_requests_total", route="(none)", method="GET", status="none") == 1


async def test_two_applications_count_separately(metrics: Metrics) -> None:
    other = Metrics()
    await send_requests(metrics, "/towers/a")
    assert value(other, "partita_requests_total", route="/towers/{tower}", method="GET", status="200") is None


async def test_runs_are_counted_by_status(store: Store) -> None:
    app = asgi(scripted([text_part("Hello.")]), store=store)
    chat = {"id": "c", "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "hi"}]}]}
    async with app.lifespan(), client_of(app) as client:
        response: httpx.Response = await client.post("/api/chat", json=chat)
    assert "Hello." in response.text
    assert value(app.metrics, "partita_runs_started_total", agent="scripted") == 1
    assert value(app.metrics, "partita_runs_ended_total", agent="scripted", status="completed") == 1


def test_metrics_of_the_process_are_included(metrics: Metrics) -> None:
    output = exposition(metrics).decode()
    assert "python_gc_objects_collected_total" in output
    assert "partita_info" in output


async def test_without_the_package_metrics_are_counted_but_not_readable(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "partita.server.prometheus", None)
    app = asgi(scripted([text_part("Hello.")]), store=store)
    async with app.lifespan(), client_of(app) as client:
        assert (await client.get("/healthz")).status_code == 200
        refused = await client.get("/metrics")
    assert refused.status_code == 501
    assert refused.json() == {
        "type": "about:blank",
        "title": "Not Implemented",
        "status": 501,
        "detail": "/metrics needs partita[telemetry], which is not installed",
        "hint": "pip install 'partita[telemetry]'",
    }
    assert app.metrics.requests["/healthz", "GET", "200"] == 1


def test_the_package_is_not_imported_before_metrics_are_read() -> None:
    code = "import sys, partita.server.app; print('prometheus_client' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
