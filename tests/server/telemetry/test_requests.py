"""Spans of requests, with the spans of their runs as children."""

from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from partita.server.app import asgi
from partita.server.endpoints import get
from partita.server.tracing import TracedRequests
from partita.store.store import Store
from tests.server.conftest import client_of, routed, scripted, text_part

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
CHAT = {"id": "c", "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "hi"}]}]}


@get("/towers/{tower}")
async def get_tower(tower: str) -> str:
    if tower == "none":
        raise RuntimeError("there is none")
    return tower


def towers() -> Any:
    return routed(get_tower)


async def test_a_request_is_a_span_named_after_its_route(spans: InMemorySpanExporter) -> None:
    async with client_of(TracedRequests(towers())) as client:
        await client.get("/towers/slettnes")
    (span,) = spans.get_finished_spans()
    assert span.name == "GET /towers/{tower}"
    assert span.kind is SpanKind.SERVER
    assert span.attributes is not None
    assert span.attributes["http.route"] == "/towers/{tower}"
    assert span.attributes["http.response.status_code"] == 200
    assert span.parent is None


async def test_the_trace_of_the_caller_is_continued(spans: InMemorySpanExporter) -> None:
    async with client_of(TracedRequests(towers())) as client:
        await client.get("/towers/slettnes", headers={"traceparent": PARENT})
    (span,) = spans.get_finished_spans()
    assert span.parent is not None
    assert f"{span.parent.trace_id:032x}" in PARENT
    assert f"{span.parent.span_id:016x}" in PARENT


@pytest.mark.parametrize(("path", "status", "bad"), [("/towers/none", 500, True), ("/nothing", 404, False)])
async def test_only_server_errors_are_errors_of_the_span(
    path: str, status: int, bad: bool, spans: InMemorySpanExporter
) -> None:
    async with client_of(TracedRequests(towers())) as client:
        assert (await client.get(path)).status_code == status
    (span,) = spans.get_finished_spans()
    assert (span.status.status_code is StatusCode.ERROR) == bad


async def test_the_span_of_a_run_is_a_child_of_its_request(store: Store, spans: InMemorySpanExporter) -> None:
    app = asgi(scripted([text_part("Hello.")]), store=store)
    async with app.lifespan(), client_of(app) as client:
        response: httpx.Response = await client.post("/api/chat", json=CHAT, headers={"traceparent": PARENT})
    assert "Hello." in response.text
    found = {span.name.partition(" ")[0]: span for span in spans.get_finished_spans()}
    request, run = found["POST"], found["invoke_agent"]
    assert run.parent is not None
    assert request.context is not None
    assert run.parent.span_id == request.context.span_id
    assert run.attributes is not None
    assert run.attributes["gen_ai.conversation.id"] == "c"
