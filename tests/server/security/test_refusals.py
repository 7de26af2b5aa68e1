"""What a server refuses, over a real socket: with which status, in which words, and what comes after it."""

import re
from collections.abc import AsyncIterator
from typing import Final

import pytest

from partita.server.app import asgi
from partita.server.settings import Limits, Settings
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.json import loads
from tests.server.conftest import says, scripted
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
WISH: Final = b"Access-Control-Request-Method: POST\r\n"
PAGE: Final = "https://app.example"

INSIDE: Final = re.compile(rb"Traceback|site-packages|\.py\b|uvicorn|starlette|sqlite|msgspec", re.IGNORECASE)


def get(target: bytes, headers: bytes = HOST) -> bytes:
    return b"GET " + target + b" HTTP/1.1\r\n" + headers + b"\r\n"


def post(target: bytes, body: bytes, headers: bytes = JSON, method: bytes = b"POST") -> bytes:
    length = b"Content-Length: %d\r\n" % len(body)
    return method + b" " + target + b" HTTP/1.1\r\n" + headers + length + b"\r\n" + body


def chunked(target: bytes, size: int, headers: bytes = JSON) -> bytes:
    """A body in pieces, of which no end is seen."""
    pieces = b"64\r\n" + b" " * 100 + b"\r\n"
    head = b"POST " + target + b" HTTP/1.1\r\n" + headers + b"Transfer-Encoding: chunked\r\n\r\n"
    return head + pieces * (size // 100 + 1)


DEEP: Final = b"[" * 50 + b"]" * 50
OPEN_ENDED: Final = b"POST /api/threads HTTP/1.1\r\n" + JSON + b"Content-Length: 50\r\n\r\n{"

REFUSED: Final[dict[str, tuple[bytes, int]]] = {
    # Names and pages
    "a foreign host": (get(b"/api/threads", b"Host: evil.example\r\n"), 403),
    "a foreign host that looks like ours": (get(b"/api/threads", b"Host: localhost.evil.example\r\n"), 403),
    "no host": (get(b"/api/threads", b""), 400),
    "two hosts": (get(b"/api/threads", HOST + b"Host: evil.example\r\n"), 400),
    "a host with a path": (get(b"/api/threads", b"Host: localhost/evil\r\n"), 400),
    "a foreign page that reads": (get(b"/api/threads", HOST + FOREIGN), 403),
    "a foreign page that writes": (post(b"/api/threads", b"{}", JSON + FOREIGN), 403),
    "a foreign page that writes plain text": (post(b"/api/threads", b"{}", HOST + FOREIGN), 403),
    "a page of no origin": (post(b"/api/threads", b"{}", JSON + b"Origin: null\r\n"), 403),
    "a page of another port": (get(b"/api/threads", HOST + b"Origin: http://localhost:1\r\n"), 403),
    "two origins": (get(b"/api/threads", HOST + b"Origin: http://localhost\r\n" + FOREIGN), 400),
    "a page that says only that it is foreign": (
        post(b"/api/threads", b"{}", JSON + b"Sec-Fetch-Site: cross-site\r\n"),
        403,
    ),
    "a foreign preflight": (b"OPTIONS /api/threads HTTP/1.1\r\n" + HOST + FOREIGN + WISH + b"\r\n", 403),
    "a preflight of no origin": (
        b"OPTIONS /api/threads HTTP/1.1\r\n" + HOST + b"Origin: null\r\n" + WISH + b"\r\n",
        403,
    ),
    # Bodies
    "a body said to be too large": (post(b"/api/threads", b" " * 2001), 413),
    "a body that turns out too large": (chunked(b"/api/threads", 2001), 413),
    "an upload said to be too large": (post(b"/api/blobs", b" " * 3001, BYTES), 413),
    "an upload that turns out too large": (chunked(b"/api/blobs", 3001, BYTES), 413),
    "an import that turns out too large": (chunked(b"/api/import", 3001, BYTES), 413),
    "a body that does not come": (OPEN_ENDED, 408),
    "an upload that does not come": (
        b"POST /api/blobs HTTP/1.1\r\n" + BYTES + b"Content-Length: 50\r\n\r\nx",
        408,
    ),
    "a body in pieces that stops coming": (chunked(b"/api/threads", 100), 408),
    "a length that is no number": (
        b"POST /api/threads HTTP/1.1\r\n" + JSON + b"Content-Length: many\r\n\r\n",
        400,
    ),
    "a length below zero": (b"POST /api/threads HTTP/1.1\r\n" + JSON + b"Content-Length: -1\r\n\r\n", 400),
    "two lengths": (
        b"POST /api/threads HTTP/1.1\r\n" + JSON + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
        400,
    ),
    "a length and pieces": (
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
    # Kinds of bodies
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
    "a packed body": (post(b"/api/threads", b"\x1f\x8b", JSON + b"Content-Encoding: gzip\r\n"), 415),
    "no JSON": (post(b"/api/threads", b"{'a': 1}"), 400),
    "half a character": (post(b"/api/threads", b'{"title":"\xed\xa0"}'), 400),
    "half a character where an object is wanted": (post(b"/api/threads", b'"\\ud800"'), 400),
    # Heads
    "many headers": (get(b"/api/threads", HOST + b"".join(b"x-%d: 1\r\n" % n for n in range(40))), 431),
    "large headers": (get(b"/api/threads", HOST + b"x: " + b"y" * 5000 + b"\r\n"), 431),
    "a header that does not end": (b"GET / HTTP/1.1\r\n" + HOST + b"x: " + b"y" * 9000, 431),
    "a header whose name does not end": (b"GET / HTTP/1.1\r\n" + HOST + b"y" * 9000, 431),
    "a long target": (get(b"/api/threads?text=" + b"y" * 1100), 414),
    "headers that do not come": (b"GET / HTTP/1.1\r\n" + HOST, 408),
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
    "a method that there is not": (post(b"/api/threads", b"{}", method=b"TRACE"), 405),
    "a method nobody knows": (post(b"/api/threads", b"{}", method=b"BREW"), 400),
    "a method in small letters": (post(b"/api/threads", b"{}", method=b"post"), 400),
    "a way out of the path": (get(b"/api/threads/../../etc/passwd"), 404),
    "a hidden way out of the path": (get(b"/api/threads/%2e%2e%2f%2e%2e%2fetc%2fpasswd"), 404),
    "a target elsewhere": (get(b"http://evil.example/api/threads", b"Host: evil.example\r\n"), 403),
    "a tunnel": (b"CONNECT evil.example:443 HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "a star": (get(b"*"), 404),
    "a null in the target": (get(b"/api/threads/\x00"), 400),
    "a header in a header": (get(b"/api/threads", HOST + b"x: a\nb: c\x00\r\n"), 400),
    "no HTTP at all": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40 + b"\r\n\r\n", 400),
    "HTTP of the first days": (b"GET /api/threads\r\n\r\n", 400),
}

LETS_GO: Final = {400, 408, 413, 414, 429, 431}
"""After these a server may hang up: what comes next on the connection is anybody's guess."""


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with open_store("memory:") as opened:
        yield opened


@pytest.fixture
async def port(store: Store) -> AsyncIterator[int]:
    settings = Settings(limits=LIMITS)
    app = asgi(scripted([says("Forty-one metres.")]), store=store, settings=settings)
    async with app.lifespan(), served(app, header_seconds=0.4) as found:
        yield found


@each_row(("sent", "status"), REFUSED.values(), ids=REFUSED)
async def test_refused(port: int, sent: bytes, status: int) -> None:
    async with wire(port) as connection:
        answer = await connection.ask(sent)
        assert _said(answer) == (status, status)
        assert not INSIDE.search(answer.body), answer.body
        assert "access-control-allow-origin" not in answer.headers
        if answer.headers.get("connection") == "close":
            assert status in LETS_GO
            assert await connection.is_over()
        else:
            following = await connection.ask(get(b"/healthz"))
            assert (following.status, following.body) == (200, b'{"status":"ok"}')
    async with wire(port) as another:
        listed = await another.ask(get(b"/api/threads"))
        assert (listed.status, loads(listed.body)) == (200, {"items": []}), "nothing has happened"


def _said(answer: Answer) -> tuple[int, int]:
    """The status, and the one that the problem details tell."""
    assert answer.headers["content-type"] == "application/problem+json", answer
    return answer.status, int(loads(answer.body)["status"])


FINE: Final[dict[str, tuple[bytes, int]]] = {
    "brackets in a text": (post(b"/api/threads", b'{"title":"' + b"[{" * 500 + b'"}'), 201),
    "JSON in a text of JSON": (post(b"/api/threads", b'{"title":"\\"' + b"[" * 900 + b'\\""}'), 201),
    "deep JSON that a model wrote": (
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
    "health by any name": (get(b"/healthz", b"Host: balancer.example\r\n"), 200),
    "a wish to talk in sockets": (
        get(
            b"/healthz", HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        ),
        200,
    ),
    "an empty body said to be one": (post(b"/api/chat/x/stop", b"", HOST), 200),
}


@each_row(("sent", "status"), FINE.values(), ids=FINE)
async def test_not_refused(port: int, sent: bytes, status: int) -> None:
    """What looks like one of the others, and is none."""
    async with wire(port) as connection:
        assert (await connection.ask(sent)).status == status


async def test_only_the_origins_that_were_named_get_in(store: Store) -> None:
    app = asgi(scripted([says("Forty-one metres.")]), store=store, origins=[PAGE])
    wish = b"Origin: %s\r\n" + WISH + b"Access-Control-Request-Headers: content-type\r\n"
    async with app.lifespan(), served(app) as port, wire(port) as connection:
        allowed = await connection.ask(
            b"OPTIONS /api/chat HTTP/1.1\r\n" + HOST + wish % PAGE.encode() + b"\r\n"
        )
        assert allowed.status == 204
        assert allowed.headers["access-control-allow-origin"] == PAGE
        assert "access-control-allow-credentials" not in allowed.headers
        for other in (b"https://evil.example", b"null", b"http://app.example", b"https://app.example.evil"):
            refused = await connection.ask(b"OPTIONS /api/chat HTTP/1.1\r\n" + HOST + wish % other + b"\r\n")
            assert _said(refused) == (403, 403)
            assert "access-control-allow-origin" not in refused.headers
        asked = await connection.ask(get(b"/api/threads", HOST + b"Origin: " + PAGE.encode() + b"\r\n"))
        assert (asked.status, asked.headers["access-control-allow-origin"]) == (200, PAGE)
        assert "origin" in asked.headers["vary"].lower()
