"""Refused requests over a real socket: their status, their text, and the state of the connection."""

import re
from collections.abc import AsyncIterator
from typing import Final

import pytest

from partita.server.app import asgi
from partita.server.settings import Limits, Settings
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.json import loads
from tests.server.conftest import scripted, text_part
from tests.tables import each_row

from .wire import Answer, served, wire

LIMITS: Final = Limits(
    body_bytes=2000,
    body_seconds=0.3,
    upload_bytes=3000,
    upload_seconds=0.3,
    depth=20,
    headers=30,
    header_bytes=4000,
    target_bytes=1000,
)
HOST: Final = b"Host: localhost\r\n"
JSON: Final = HOST + b"Content-Type: application/json\r\n"
BYTES: Final = HOST + b"Content-Type: application/octet-stream\r\n"
FOREIGN: Final = b"Origin: https://evil.example\r\n"
PREFLIGHT: Final = b"Access-Control-Request-Method: POST\r\n"
PAGE: Final = "https://app.example"

INSIDE: Final = re.compile(rb"Traceback|site-packages|\.py\b|uvicorn|starlette|sqlite|msgspec", re.IGNORECASE)


def get(target: bytes, headers: bytes = HOST) -> bytes:
    return b"GET " + target + b" HTTP/1.1\r\n" + headers + b"\r\n"


def post(target: bytes, body: bytes, headers: bytes = JSON, method: bytes = b"POST") -> bytes:
    length = b"Content-Length: %d\r\n" % len(body)
    return method + b" " + target + b" HTTP/1.1\r\n" + headers + length + b"\r\n" + body


def chunked(target: bytes, size: int, headers: bytes = JSON) -> bytes:
    """A chunked body without an end."""
    pieces = b"64\r\n" + b" " * 100 + b"\r\n"
    head = b"POST " + target + b" HTTP/1.1\r\n" + headers + b"Transfer-Encoding: chunked\r\n\r\n"
    return head + pieces * (size // 100 + 1)


DEEP: Final = b"[" * 50 + b"]" * 50
OPEN_ENDED: Final = b"POST /api/threads HTTP/1.1\r\n" + JSON + b"Content-Length: 50\r\n\r\n{"

REFUSED: Final[dict[str, tuple[bytes, int]]] = {
    # Hosts and origins
    "a foreign host": (get(b"/api/threads", b"Host: evil.example\r\n"), 403),
    "a foreign host with a similar name": (get(b"/api/threads", b"Host: localhost.evil.example\r\n"), 403),
    "no host": (get(b"/api/threads", b""), 400),
    "two hosts": (get(b"/api/threads", HOST + b"Host: evil.example\r\n"), 400),
    "a host with a path": (get(b"/api/threads", b"Host: localhost/evil\r\n"), 400),
    "a foreign page that reads": (get(b"/api/threads", HOST + FOREIGN), 403),
    "a foreign page that writes": (post(b"/api/threads", b"{}", JSON + FOREIGN), 403),
    "a foreign page that writes plain text": (post(b"/api/threads", b"{}", HOST + FOREIGN), 403),
    "a page of no origin": (post(b"/api/threads", b"{}", JSON + b"Origin: null\r\n"), 403),
    "a page of another port": (get(b"/api/threads", HOST + b"Origin: http://localhost:1\r\n"), 403),
    "two origins": (get(b"/api/threads", HOST + b"Origin: http://localhost\r\n" + FOREIGN), 400),
    "a page with a cross-site fetch header only": (
        post(b"/api/threads", b"{}", JSON + b"Sec-Fetch-Site: cross-site\r\n"),
        403,
    ),
    "a foreign preflight": (b"OPTIONS /api/threads HTTP/1.1\r\n" + HOST + FOREIGN + PREFLIGHT + b"\r\n", 403),
    "a preflight of no origin": (
        b"OPTIONS /api/threads HTTP/1.1\r\n" + HOST + b"Origin: null\r\n" + PREFLIGHT + b"\r\n",
        403,
    ),
    # Bodies
    "a body declared to be too large": (post(b"/api/threads", b" " * 2001), 413),
    "a body that turns out too large": (chunked(b"/api/threads", 2001), 413),
    "an upload declared to be too large": (post(b"/api/blobs", b" " * 3001, BYTES), 413),
    "an upload that turns out too large": (chunked(b"/api/blobs", 3001, BYTES), 413),
    "an import that turns out too large": (chunked(b"/api/import", 3001, BYTES), 413),
    "a body that does not arrive": (OPEN_ENDED, 408),
    "an upload that does not arrive": (
        b"POST /api/blobs HTTP/1.1\r\n" + BYTES + b"Content-Length: 50\r\n\r\nx",
        408,
    ),
    "a chunked body that stops": (chunked(b"/api/threads", 100), 408),
    "a length that is not a number": (
        b"POST /api/threads HTTP/1.1\r\n" + JSON + b"Content-Length: many\r\n\r\n",
        400,
    ),
    "a negative length": (b"POST /api/threads HTTP/1.1\r\n" + JSON + b"Content-Length: -1\r\n\r\n", 400),
    "two lengths": (
        b"POST /api/threads HTTP/1.1\r\n" + JSON + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
        400,
    ),
    "a length and chunks": (
        b"POST /api/threads HTTP/1.1\r\n"
        + JSON
        + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        400,
    ),
    "deep JSON": (post(b"/api/threads", b'{"metadata":{"a":' + DEEP + b"}}"), 400),
    "deep JSON that does not end": (post(b"/api/threads", b"[" * 1500), 400),
    "deep JSON in a query": (get(b"/api/threads?metadata=" + b"%5B" * 300), 400),
    "deep JSON in another query": (
        get(b"/api/memory/threads/x/messages?filter=" + b"[" * 450 + b"]" * 450),
        400,
    ),
    # Media types
    "plain text": (post(b"/api/threads", b"{}", HOST + b"Content-Type: text/plain\r\n"), 415),
    "no type": (post(b"/api/threads", b"{}", HOST), 415),
    "a form": (
        post(b"/api/threads", b"a=1", HOST + b"Content-Type: application/x-www-form-urlencoded\r\n"),
        415,
    ),
    "a form of files": (
        post(b"/api/threads", b"--b--", HOST + b"Content-Type: multipart/form-data; boundary=b\r\n"),
        415,
    ),
    "a type that only begins like JSON": (
        post(b"/api/threads", b"{}", HOST + b"Content-Type: application/jsonp\r\n"),
        415,
    ),
    "two types": (post(b"/api/threads", b"{}", JSON + b"Content-Type: text/plain\r\n"), 400),
    "a compressed body": (post(b"/api/threads", b"\x1f\x8b", JSON + b"Content-Encoding: gzip\r\n"), 415),
    "not JSON": (post(b"/api/threads", b"{'a': 1}"), 400),
    "half a character": (post(b"/api/threads", b'{"title":"\xed\xa0"}'), 400),
    "half a character instead of an object": (post(b"/api/threads", b'"\\ud800"'), 400),
    # Heads
    "many headers": (get(b"/api/threads", HOST + b"".join(b"x-%d: 1\r\n" % n for n in range(40))), 431),
    "large headers": (get(b"/api/threads", HOST + b"x: " + b"y" * 5000 + b"\r\n"), 431),
    "a header that does not end": (b"GET / HTTP/1.1\r\n" + HOST + b"x: " + b"y" * 9000, 431),
    "a header whose name does not end": (b"GET / HTTP/1.1\r\n" + HOST + b"y" * 9000, 431),
    "a long target": (get(b"/api/threads?text=" + b"y" * 1100), 414),
    "headers that do not arrive": (b"GET / HTTP/1.1\r\n" + HOST, 408),
    # Methods and targets
    "another method in a header": (
        post(
            b"/api/threads/x",
            b"{}",
            JSON + b"X-HTTP-Method-Override: DELETE\r\nX-Method-Override: DELETE\r\n",
        ),
        405,
    ),
    "another method in the query": (post(b"/api/threads/x?_method=DELETE", b"{}"), 405),
    "an unsupported method": (post(b"/api/threads", b"{}", method=b"TRACE"), 405),
    "an unknown method": (post(b"/api/threads", b"{}", method=b"BREW"), 400),
    "a method in lower case": (post(b"/api/threads", b"{}", method=b"post"), 400),
    "a path with parent segments": (get(b"/api/threads/../../etc/passwd"), 404),
    "a path with encoded parent segments": (get(b"/api/threads/%2e%2e%2f%2e%2e%2fetc%2fpasswd"), 404),
    "a target elsewhere": (get(b"http://evil.example/api/threads", b"Host: evil.example\r\n"), 403),
    "a tunnel": (b"CONNECT evil.example:443 HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "a star": (get(b"*"), 404),
    "a null in the target": (get(b"/api/threads/\x00"), 400),
    "a header in a header": (get(b"/api/threads", HOST + b"x: a\nb: c\x00\r\n"), 400),
    "not HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40 + b"\r\n\r\n", 400),
    "HTTP/0.9": (b"GET /api/threads\r\n\r\n", 400),
}

MAY_DISCONNECT: Final = {400, 408, 413, 414, 429, 431}
"""After these a server may disconnect, because the state of the connection is unknown."""


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with open_store("memory:") as opened:
        yield opened


@pytest.fixture
async def port(store: Store) -> AsyncIterator[int]:
    settings = Settings(limits=LIMITS)
    app = asgi(scripted([text_part("Forty-one metres.")]), store=store, settings=settings)
    async with app.lifespan(), served(app, header_seconds=0.4) as found:
        yield found


@each_row(("sent", "status"), REFUSED.values(), ids=REFUSED)
async def test_invalid_requests_are_refused(port: int, sent: bytes, status: int) -> None:
    async with wire(port) as connection:
        response = await connection.request(sent)
        assert _statuses(response) == (status, status)
        assert not INSIDE.search(response.body), response.body
        assert "access-control-allow-origin" not in response.headers
        if response.headers.get("connection") == "close":
            assert status in MAY_DISCONNECT
            assert await connection.is_over()
        else:
            following = await connection.request(get(b"/healthz"))
            assert (following.status, following.body) == (200, b'{"status":"ok"}')
    async with wire(port) as another:
        listed = await another.request(get(b"/api/threads"))
        assert (listed.status, loads(listed.body)) == (200, {"items": []}), "nothing has changed"


def _statuses(response: Answer) -> tuple[int, int]:
    """The status, and the status in the problem details."""
    assert response.headers["content-type"] == "application/problem+json", response
    return response.status, int(loads(response.body)["status"])


ACCEPTED: Final[dict[str, tuple[bytes, int]]] = {
    "brackets in a text": (post(b"/api/threads", b'{"title":"' + b"[{" * 500 + b'"}'), 201),
    "JSON inside a JSON string": (post(b"/api/threads", b'{"title":"\\"' + b"[" * 900 + b'\\""}'), 201),
    "deep JSON in a string of a model": (
        post(
            b"/api/fold",
            b'{"format":"openai-chat","chunks":[{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,'
            b'"id":"c","function":{"name":"f","arguments":"' + b"[" * 1500 + b'"}}]}}]}]}',
        ),
        200,
    ),
    "a type with a charset": (
        post(b"/api/threads", b"{}", HOST + b"Content-Type: Application/JSON; charset=utf-8\r\n"),
        201,
    ),
    "a page of this server": (get(b"/api/threads", HOST + b"Origin: http://localhost\r\n"), 200),
    "health checks with any host name": (get(b"/healthz", b"Host: balancer.example\r\n"), 200),
    "a request to upgrade to a WebSocket": (
        get(
            b"/healthz", HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        ),
        200,
    ),
    "an empty body with a declared length": (post(b"/api/chat/x/stop", b"", HOST), 200),
}


@each_row(("sent", "status"), ACCEPTED.values(), ids=ACCEPTED)
async def test_similar_valid_requests_are_accepted(port: int, sent: bytes, status: int) -> None:
    """Requests that are similar to refused ones, but valid."""
    async with wire(port) as connection:
        assert (await connection.request(sent)).status == status


async def test_only_configured_origins_are_allowed(store: Store) -> None:
    app = asgi(scripted([text_part("Forty-one metres.")]), store=store, origins=[PAGE])
    preflight = b"Origin: %s\r\n" + PREFLIGHT + b"Access-Control-Request-Headers: content-type\r\n"
    async with app.lifespan(), served(app) as port, wire(port) as connection:
        allowed = await connection.request(
            b"OPTIONS /api/chat HTTP/1.1\r\n" + HOST + preflight % PAGE.encode() + b"\r\n"
        )
        assert allowed.status == 204
        assert allowed.headers["access-control-allow-origin"] == PAGE
        assert "access-control-allow-credentials" not in allowed.headers
        for other in (b"https://evil.example", b"null", b"http://app.example", b"https://app.example.evil"):
            refused = await connection.request(
                b"OPTIONS /api/chat HTTP/1.1\r\n" + HOST + preflight % other + b"\r\n"
            )
            assert _statuses(refused) == (403, 403)
            assert "access-control-allow-origin" not in refused.headers
        allowed_response = await connection.request(
            get(b"/api/threads", HOST + b"Origin: " + PAGE.encode() + b"\r\n")
        )
        assert (allowed_response.status, allowed_response.headers["access-control-allow-origin"]) == (
            200,
            PAGE,
        )
        assert "origin" in allowed_response.headers["vary"].lower()
