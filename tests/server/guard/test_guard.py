"""The guard as a whole: which requests pass, with which principal, and how others are refused."""

import logging

import pytest
from starlette.types import Message, Receive, Scope, Send

from partita.errors import UnavailableError
from partita.runtime.principal import LOCAL, Principal
from partita.server.app import asgi
from partita.server.guard.auth import Connection, UserAuth
from partita.server.guard.guard import Guard
from partita.server.problems import Problem
from partita.server.settings import Settings
from tests.server.guard.requests import JSON, Somebody, ask, client, guarded, scope_of
from tests.tables import each_row

HOST = (b"host", b"localhost")
SECRET = "pk_0123456789abcdef_" + "s3cr3t" * 7 + "x"


async def test_the_application_receives_the_principal() -> None:
    guard, behind = guarded(Somebody(Principal("ada", "read")))
    scope = scope_of(headers=[HOST], state={"mine": 1})
    await ask(guard, scope)
    assert behind.seen[0]["state"] == {"mine": 1, "principal": Principal("ada", "read")}
    assert scope["state"] == {"mine": 1}
    await ask(guard, scope_of(headers=[HOST]))
    assert behind.principal == Principal("ada", "read")


async def test_an_unknown_caller_is_refused_with_problem_details() -> None:
    guard, behind = guarded(Somebody(None))
    async with client(guard) as asking:
        answered = await asking.post("/api/chat", json={})
        assert answered.status_code == 401
        assert answered.headers["www-authenticate"] == 'Bearer realm="partita"'
        assert answered.headers["content-type"] == "application/problem+json"
        assert answered.headers["cache-control"] == "no-store"
        assert answered.headers["x-content-type-options"] == "nosniff"
        assert answered.json()["status"] == 401
        head = await asking.head("/api/chat")
        assert (head.status_code, head.content) == (401, b"")
    assert behind.seen == []


async def test_other_machines_need_a_key() -> None:
    guard, behind = guarded()
    async with client(guard, address="192.0.2.7") as asking:
        answered = await asking.get("/api/threads")
        assert answered.status_code == 403
        assert "partita keys create" in answered.json()["hint"]
    async with client(guard) as asking:
        assert (await asking.get("/api/threads")).status_code == 200
    assert behind.principal == LOCAL


@each_row("path", ["/healthz", "/readyz"])
async def test_health_needs_no_authentication_and_its_caller_owns_nothing(path: str) -> None:
    guard, behind = guarded(Somebody(None))
    async with client(guard, address="192.0.2.7") as asking:
        assert (await asking.get(path)).status_code == 200
        for other in (f"{path}/x", f"/api{path}", f"/x{path}", f"{path}%2f..%2fapi", f"{path}/"):
            assert (await asking.get(other)).status_code == 401
    assert behind.principal.role == "read"
    assert behind.principal.resource_id


METRICS: dict[str, tuple[Principal | None, str, str, int]] = {
    "an admin": (Principal(None, "admin", "k"), "192.0.2.7", "app.example", 200),
    "an admin of one resource": (Principal("ada", "admin", "k"), "192.0.2.7", "app.example", 403),
    "a writer": (Principal("ada", "write", "k"), "192.0.2.7", "app.example", 403),
    "nobody": (None, "192.0.2.7", "localhost", 401),
    "no principal on this machine": (
        None,
        "127.0.0.1",
        "localhost",
        401,
    ),  # a local proxy may forward requests of others
}


@each_row("path", ["/metrics", "/metrics/", "//metrics"])
@each_row(("principal", "address", "host", "status"), METRICS.values(), ids=METRICS)
async def test_metrics_need_an_admin_of_all_owners(
    path: str, principal: Principal | None, address: str, host: str, status: int
) -> None:
    guard, _ = guarded(Somebody(principal))
    scope = scope_of(path=path, headers=[(b"host", host.encode())], client=(address, 1))
    assert (await ask(guard, scope)).status == status


async def test_a_response_keeps_its_headers_and_gets_another() -> None:
    guard, _ = guarded()
    async with client(guard) as asking:
        answered = await asking.get("/api/threads")
    assert answered.headers["content-type"] == "text/plain"
    assert answered.headers["x-content-type-options"] == "nosniff"


async def test_an_existing_header_is_not_sent_twice() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"x-content-type-options", b"nosniff")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async with client(Guard(app, Settings(), Somebody())) as asking:
        answered = await asking.get("/api/threads")
    assert answered.headers.get_list("x-content-type-options") == ["nosniff"]


async def test_errors_of_the_application_are_not_caught() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await ask(Guard(app, Settings(), Somebody()), scope_of(headers=[HOST]))


class Failing:
    """An authenticator that raises an error."""

    is_open = False

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def __call__(self, scope: Scope) -> Principal | None:
        raise self.error


async def test_an_unavailable_store_is_reported_without_its_location() -> None:
    gone = UnavailableError("the database is gone", where="postgresql://user:password@db")
    guard, _ = guarded(Failing(gone))
    answered = await ask(guard, scope_of(headers=[HOST]))
    assert (answered.status, answered.headers["retry-after"]) == (503, "1")
    assert b"password" not in answered.body


async def test_a_problem_raised_by_the_user_function_is_sent() -> None:
    guard, _ = guarded(Failing(Problem(402, "the bill is not paid", headers={"x-bill": "7"})))
    answered = await ask(guard, scope_of(headers=[HOST]))
    assert (answered.status, answered.problem["detail"], answered.headers["x-bill"]) == (
        402,
        "the bill is not paid",
        "7",
    )


async def test_secrets_are_neither_logged_nor_sent(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    def broken(connection: Connection) -> str:
        raise ValueError(f"cannot read {connection.headers['authorization']}")

    sent_bodies: list[bytes] = []
    for guard, _ in (
        guarded(UserAuth(broken)),
        guarded(Somebody(None)),
        guarded(Somebody()),
        guarded(Failing(KeyError(SECRET))),
    ):
        for method, path, headers in (
            ("GET", "/x", []),
            ("POST", "/x", [(b"content-type", b"text/" + SECRET.encode()), (b"content-length", b"2")]),
            ("GET", "/x", [(b"origin", b"https://" + SECRET.encode())]),
        ):
            own = [HOST, (b"authorization", b"Bearer " + SECRET.encode()), *headers]
            sent_bodies.append((await ask(guard, scope_of(method, path, own), [b"{}"])).body)
    assert SECRET not in caplog.text
    assert not any(SECRET.encode() in body for body in sent_bodies)
    assert "ValueError during authentication" in caplog.text
    assert "in broken" in caplog.text  # the log has the location
    assert b"urn:uuid:" in sent_bodies[0]


async def test_web_sockets_are_refused() -> None:
    sent: list[Message] = []

    async def send(event: Message) -> None:
        sent.append(event)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    app = asgi(store="memory:")
    await app({"type": "websocket", "path": "/", "headers": [HOST]}, receive, send)
    assert [event["type"] for event in sent] == ["websocket.close"]
    assert app.state is None


async def test_requests_are_refused_before_the_body_is_read() -> None:
    """A refused caller cannot make the server read a body."""
    for guard, _ in (guarded(Somebody(None)), guarded(Somebody())):
        reads = 0

        async def receive() -> Message:
            nonlocal reads
            reads += 1
            return {"type": "http.request", "body": b"x", "more_body": True}

        sent: list[Message] = []

        async def send(event: Message, sent: list[Message] = sent) -> None:
            sent.append(event)

        headers = [HOST, (b"content-type", b"text/plain"), (b"content-length", b"5")]
        await guard(scope_of("POST", headers=headers), receive, send)
        assert (sent[0]["status"] in (401, 415), reads) == (True, 0)


async def test_json_is_passed_on() -> None:
    guard, behind = guarded()
    async with client(guard) as asking:
        await asking.post("/x", content=b'{"a": [1]}', headers=JSON)
    assert behind.bodies == [b'{"a": [1]}']
