"""ASGI requests to a guard around a trivial application."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import httpx
from starlette.types import Message, Receive, Scope, Send

from partita.runtime.principal import Principal
from partita.server.guard.auth import Authenticator, LoopbackAuth
from partita.server.guard.guard import Guard
from partita.server.settings import Settings
from partita.types.json import JsonObject, loads

JSON = {"content-type": "application/json"}


class Behind:
    """An application that records bodies and callers."""

    def __init__(self) -> None:
        self.seen: list[Scope] = []
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.seen.append(scope)
        body = b""
        while True:
            event = await receive()
            if event["type"] != "http.request":
                break
            body += event.get("body", b"")
            if not event.get("more_body", False):
                break
        self.bodies.append(body)
        headers = [(b"content-type", b"text/plain"), (b"vary", b"Accept")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"here", "more_body": False})

    @property
    def principal(self) -> Principal:
        """The caller of the last request."""
        found: Principal = self.seen[-1]["state"]["principal"]
        return found


class Somebody:
    """Authenticates every caller as one principal, or no caller."""

    is_open = False

    def __init__(self, principal: Principal | None = Principal("ada")) -> None:  # noqa: B008 # the default is immutable
        self.principal = principal

    async def __call__(self, scope: Scope) -> Principal | None:
        return self.principal


def guarded(authenticate: Authenticator | None = None, **settings: Any) -> tuple[Guard, Behind]:
    """A guard and the application behind it."""
    behind = Behind()
    return Guard(behind, Settings(**settings), authenticate or LoopbackAuth()), behind


def client(guard: Guard, url: str = "http://localhost", address: str = "127.0.0.1") -> httpx.AsyncClient:
    """A client at an address."""
    transport = httpx.ASGITransport(app=guard, client=(address, 5000))
    return httpx.AsyncClient(transport=transport, base_url=url)


class Answered(NamedTuple):
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> JsonObject:
        """The problem details."""
        found: JsonObject = loads(self.body)
        return found


def scope_of(
    method: str = "GET", path: str = "/api/threads", headers: Iterable[tuple[bytes, bytes]] = (), **more: Any
) -> Scope:
    """The scope of a request, as a server creates it."""
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": list(headers),
        "server": ("127.0.0.1", 7272),
        "client": ("127.0.0.1", 5000),
        **more,
    }


async def ask(guard: Guard, scope: Scope, body: Sequence[bytes] = (b"",), pause: float = 0.0) -> Answered:
    """The response to a request whose body arrives in pieces."""
    sent: list[Message] = []
    waiting = [*body]

    async def receive() -> Message:
        if waiting:
            await asyncio.sleep(pause)
            piece = waiting.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(waiting)}
        return {"type": "http.disconnect"}

    async def send(event: Message) -> None:
        sent.append(event)

    await guard(scope, receive, send)
    starts = [event for event in sent if event["type"] == "http.response.start"]
    assert len(starts) == 1, "one response"
    headers = {name.decode(): value.decode() for name, value in starts[0]["headers"]}
    return Answered(starts[0]["status"], headers, b"".join(event.get("body", b"") for event in sent))
