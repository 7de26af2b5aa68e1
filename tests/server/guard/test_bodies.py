"""Bodies: their media type, size, time and depth are checked before the application is called."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from partita.server.app import asgi
from partita.server.guard.bodies import is_upload, media_type
from partita.server.guard.guard import Guard
from partita.server.problems import Problem
from partita.server.settings import Limits, Settings
from partita.store.store import Store
from tests.server.conftest import client_of
from tests.server.guard.requests import JSON, Somebody, ask, client, guarded, scope_of
from tests.tables import each_row

HOST = (b"host", b"localhost")
SMALL = Limits(body_bytes=100, upload_bytes=1000, body_seconds=0.2, upload_seconds=0.2, depth=5)

KINDS: dict[tuple[str, str, str], int] = {
    ("POST", "/api/chat", "application/json"): 200,
    ("POST", "/api/chat", "Application/JSON; charset=utf-8"): 200,
    ("PATCH", "/api/threads/t", "application/merge-patch+json"): 200,
    ("POST", "/api/chat", ""): 415,
    ("POST", "/api/chat", "text/plain"): 415,
    ("POST", "/api/chat", "text/plain; application/json"): 415,
    ("POST", "/api/chat", "text/json"): 415,
    ("POST", "/api/chat", "image/svg+json"): 415,
    ("POST", "/api/chat", "application/x-www-form-urlencoded"): 415,
    ("POST", "/api/chat", "multipart/form-data; boundary=x"): 415,
    ("PUT", "/api/chat", "application/octet-stream"): 415,
    ("DELETE", "/api/chat", "text/plain"): 415,
    ("POST", "/api/import", "multipart/form-data; boundary=x"): 200,
    ("POST", "/api/import/claude-code", "application/x-ndjson"): 200,
    ("POST", "/api/import", "text/plain"): 415,
    ("POST", "/api/importer", "application/x-ndjson"): 415,
    ("PUT", "/api/blobs", "image/png"): 200,
    ("PUT", "/api/blobs/x", "application/octet-stream"): 200,
    ("POST", "/api/import", "application/json"): 200,
    ("POST", "/api/blobs", "text/csv; charset=utf-8"): 200,
    ("POST", "/api/blobs", ""): 200,
    ("POST", "/api/blobsy", "image/png"): 415,
}


@each_row(("scope", "status"), KINDS.items(), ids=map(str, KINDS))
async def test_a_body_needs_an_accepted_media_type(scope: tuple[str, str, str], status: int) -> None:
    guard, behind = guarded()
    method, path, kind = scope
    async with client(guard) as asking:
        answered = await asking.request(method, path, content=b"{}", headers={"content-type": kind})
    assert answered.status_code == status
    assert behind.bodies == ([b"{}"] if status == 200 else [])


@each_row("method", ["POST", "DELETE", "PUT"])
async def test_a_request_without_a_body_needs_no_media_type(method: str) -> None:
    guard, behind = guarded()
    async with client(guard) as asking:
        answered = await asking.request(method, "/api/chat/c/stop", headers={"content-type": "text/plain"})
    assert (answered.status_code, behind.bodies) == (200, [b""])


async def test_an_undeclared_body_needs_a_media_type() -> None:
    guard, behind = guarded()
    assert (await ask(guard, scope_of("POST", headers=[HOST]), [b"{", b"}"])).status == 415
    assert behind.seen == []


async def test_a_compressed_body_is_refused() -> None:
    guard, _ = guarded()
    async with client(guard) as asking:
        for coding, status in (("gzip", 415), ("identity", 200)):
            headers = {**JSON, "content-encoding": coding}
            assert (await asking.post("/x", content=b"{}", headers=headers)).status_code == status


TYPED = [HOST, (b"content-type", b"application/json")]
UPLOAD = [HOST, (b"content-type", b"application/octet-stream")]
SIZES: dict[str, tuple[Scope, list[bytes], int]] = {
    "just small enough": (scope_of("POST", headers=TYPED), [b"1" * 100], 200),
    "too large": (scope_of("POST", headers=TYPED), [b"1" * 101], 413),
    "too large in pieces": (scope_of("POST", headers=TYPED), [b"1" * 60, b"1" * 60, b"1"], 413),
    "declared to be too large": (scope_of("POST", headers=[*TYPED, (b"content-length", b"101")]), [b""], 413),
    "an upload": (scope_of("POST", "/api/import", UPLOAD), [b"1" * 500, b"1" * 500], 200),
    "an upload that is too large": (scope_of("POST", "/api/import", UPLOAD), [b"1" * 500] * 3, 413),
    "an upload declared to be too large": (
        scope_of("POST", "/api/import", [*UPLOAD, (b"content-length", b"1001")]),
        [b""],
        413,
    ),
    "JSON to import": (
        scope_of("POST", "/api/import", TYPED),
        [b"[" * 500],
        200,
    ),
    "with a query": (scope_of("GET", headers=[HOST, (b"content-length", b"101")]), [b"1" * 101], 413),
    "an invalid length": (scope_of("POST", headers=[*TYPED, (b"content-length", b"-1")]), [b""], 400),
    "a very long length": (scope_of("POST", headers=[*TYPED, (b"content-length", b"9" * 40)]), [b""], 400),
    "two lengths": (
        scope_of("POST", headers=[*TYPED, (b"content-length", b"2"), (b"content-length", b"3")]),
        [b"{}"],
        400,
    ),
}


@each_row(("scope", "body", "status"), SIZES.values(), ids=SIZES)
async def test_a_body_over_the_size_limit_is_refused(scope: Scope, body: list[bytes], status: int) -> None:
    guard, behind = guarded(limits=SMALL)
    answered = await ask(guard, scope, body)
    assert answered.status == status
    assert len(behind.bodies) == (status == 200)
    assert (answered.headers.get("connection") == "close") == (status == 413)


async def test_a_slow_body_is_refused() -> None:
    guard, behind = guarded(limits=SMALL)
    for scope in (scope_of("POST", headers=TYPED), scope_of("POST", "/api/import", UPLOAD)):
        answered = await ask(guard, scope, [b"1"] * 90, pause=0.05)
        assert (answered.status, answered.headers["connection"]) == (408, "close")
    assert behind.bodies == []


async def test_the_time_limit_of_the_body_does_not_limit_the_response() -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await asyncio.sleep(0.3)
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    guard = Guard(slow, Settings(limits=SMALL), Somebody())
    for scope in (scope_of("POST", headers=TYPED), scope_of("POST", "/api/import", UPLOAD)):
        assert (await ask(guard, scope, [b"1"])).status == 200


async def test_a_disconnected_client_gets_no_response() -> None:
    guard, behind = guarded()
    sent: list[Message] = []

    async def left() -> Message:
        return {"type": "http.disconnect"}

    async def send(event: Message) -> None:
        sent.append(event)

    await guard(scope_of("POST", headers=TYPED), left, send)
    assert (sent, behind.seen) == ([], [])


async def test_a_started_response_is_not_started_again() -> None:
    async def early(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while (await receive()).get("more_body"):
            pass

    guard = Guard(early, Settings(limits=SMALL), Somebody())
    with pytest.raises(Problem, match="too large"):
        await ask(guard, scope_of("POST", "/api/import", UPLOAD), [b"1" * 2000])


DEPTHS: dict[bytes, int] = {
    b"[" * 5 + b"]" * 5: 200,
    b"[" * 6 + b"]" * 6: 400,
    b'{"a":' * 6 + b"1" + b"}" * 6: 400,
    b'["[[[[[[[["]': 200,
    b"[" * 50_000: 413,
}


@each_row(("body", "status"), DEPTHS.items(), ids=["fits", "deep", "objects", "text", "large"])
async def test_json_over_the_depth_limit_is_refused(body: bytes, status: int) -> None:
    guard, behind = guarded(limits=SMALL)
    async with client(guard) as asking:
        answered = await asking.post("/x", content=body, headers=JSON)
    assert (answered.status_code, len(behind.seen)) == (status, status == 200)


async def test_a_large_body_is_checked_too() -> None:
    guard, _ = guarded()
    async with client(guard) as asking:
        for body, status in ((b"[" * 2_000_000, 400), (b"[" + b"[]," * 500_000 + b"1]", 200)):
            assert (await asking.post("/x", content=body, headers=JSON)).status_code == status


async def test_the_application_receives_the_body_then_later_messages() -> None:
    events: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        events.extend([await receive(), await receive()])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    await ask(Guard(app, Settings(), Somebody()), scope_of("POST", headers=TYPED), [b"[1,", b"2", b"]"])
    assert events == [
        {"type": "http.request", "body": b"[1,2]", "more_body": False},
        {"type": "http.disconnect"},
    ]


@given(pieces=st.lists(st.binary(max_size=30), min_size=1, max_size=6))
async def test_an_upload_is_passed_on_unchanged(pieces: list[bytes]) -> None:
    guard, behind = guarded(limits=SMALL)
    answered = await ask(guard, scope_of("POST", "/api/blobs/x", UPLOAD), pieces)
    assert (answered.status, behind.bodies) == (200, [b"".join(pieces)])


@given(text=st.binary(max_size=60))
def test_any_content_type_is_parsed_without_an_error(text: bytes) -> None:
    assert isinstance(is_upload("/api/import", media_type(text)), bool)


HEADS: dict[str, tuple[dict[str, Any], int]] = {
    "as many headers as allowed": ({"headers": [HOST] + [(b"x", b"y")] * 99}, 200),
    "too many headers": ({"headers": [HOST] + [(b"x", b"y")] * 100}, 431),
    "headers that are too large": ({"headers": [HOST, (b"x", b"y" * 32 * 1024)]}, 431),
    "a long target": ({"path": "/" + "a" * 16 * 1024, "headers": [HOST]}, 414),
    "a long query": ({"query_string": b"a" * 16 * 1024, "headers": [HOST]}, 414),
    "a target of the largest length": ({"path": "/" + "a" * (16 * 1024 - 1), "headers": [HOST]}, 200),
    "a short path with a long encoding": ({"raw_path": b"/%61" * 5000, "headers": [HOST]}, 414),
}


@each_row(("scope", "status"), HEADS.values(), ids=HEADS)
async def test_a_head_over_its_limits_is_refused(scope: dict[str, Any], status: int) -> None:
    guard, _ = guarded()
    assert (await ask(guard, scope_of(**scope))).status == status


async def test_json_with_too_many_values_is_refused(store: Store) -> None:
    """A decoded value takes far more memory than its bytes."""
    app = asgi(None, store=store, limits=Limits(values=100))
    async with app.lifespan(), client_of(app) as client:
        metadata = {"a": [[]] * 100}
        refused = await client.post("/api/threads", json={"id": "t1", "metadata": metadata})
        taken = await client.post("/api/threads", json={"id": "t1", "metadata": {"a": "[]," * 500}})
    assert (refused.status_code, refused.json()["detail"]) == (413, "the JSON has too many values")
    assert taken.status_code == 201
