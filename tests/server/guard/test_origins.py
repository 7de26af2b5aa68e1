"""Which pages may use a server: its own, and those that were named. All others are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import PartitaError
from partita.server.guard.origins import parse_origin
from tests.server.guard.requests import JSON, Somebody, ask, client, guarded, scope_of
from tests.tables import each_row

HOST = (b"host", b"localhost:7272")
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

FOREIGN = (
    "http://evil.example",
    "https://evil.example",
    "http://localhost",
    "http://localhost:3000",
    "http://127.0.0.1:7272",
    "http://localhost.evil.example:7272",
    "http://localhost:7272.evil.example",
    "http://evil.example#localhost:7272",
    "http://localhost:7272@evil.example",
    "http://localhost:7272/",
    "ftp://localhost:7272",
    "chrome-extension://localhost:7272",
    "null",
    "",
    "*",
    "http://",
)


@each_row("origin", FOREIGN)
@each_row("method", METHODS)
async def test_a_page_of_another_site_is_refused(origin: str, method: str) -> None:
    guard, behind = guarded()
    answered = await ask(guard, scope_of(method, headers=[HOST, (b"origin", origin.encode())]))
    assert (answered.status, behind.seen) == (403, [])
    assert "access-control-allow-origin" not in answered.headers
    assert method == "HEAD" or "origins=" in str(answered.problem["hint"])


OWN = {
    "the same": ("http", b"localhost:7272", b"http://localhost:7272"),
    "in capitals": ("http", b"localhost:7272", b"HTTP://LOCALHOST:7272"),
    "a port that need not be told": ("http", b"app.example", b"http://app.example:80"),
    "told by the host alone": ("http", b"app.example:80", b"http://app.example"),
    "behind a proxy that speaks https": ("http", b"app.example", b"https://app.example"),
    "https": ("https", b"app.example", b"https://app.example"),
    "a last dot": ("http", b"app.example.", b"http://app.example"),
    "an address": ("http", b"[::1]:7272", b"http://[::1]:7272"),
}


@each_row(("scheme", "host", "origin"), OWN.values(), ids=OWN)
async def test_its_own_pages_may_do_everything(scheme: str, host: bytes, origin: bytes) -> None:
    guard, _ = guarded(Somebody())
    answered = await ask(
        guard, scope_of("POST", headers=[(b"host", host), (b"origin", origin)], scheme=scheme)
    )
    assert answered.status == 200
    assert "access-control-allow-origin" not in answered.headers


async def test_a_page_without_encryption_is_not_the_one_with_it() -> None:
    guard, _ = guarded(Somebody())
    headers = [(b"host", b"app.example"), (b"origin", b"http://app.example")]
    assert (await ask(guard, scope_of("POST", headers=headers, scheme="https"))).status == 403


SITES = {
    ("POST", "cross-site"): 403,
    ("DELETE", "Cross-Site"): 403,
    ("POST", "same-origin"): 200,
    ("POST", "none"): 200,
    ("GET", "cross-site"): 403,  # an image or a script of another site, or a link
    ("GET", "same-origin"): 200,
}


@each_row(("asked", "status"), SITES.items(), ids=map(str, SITES))
async def test_without_an_origin_the_site_counts(asked: tuple[str, str], status: int) -> None:
    guard, _ = guarded()
    headers = [HOST, (b"sec-fetch-site", asked[1].encode())]
    assert (await ask(guard, scope_of(asked[0], headers=headers))).status == status


async def test_a_page_that_was_let_in() -> None:
    guard, behind = guarded(origins=("https://App.example/", "http://localhost:3000"))
    async with client(guard) as asking:
        answered = await asking.post("/x", json={}, headers={"origin": "https://app.example"})
        assert answered.status_code == 200
        assert answered.headers["access-control-allow-origin"] == "https://app.example"
        assert "x-partita-run-id" in answered.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in answered.headers
        assert answered.headers.get_list("vary", split_commas=True) == ["Accept", "Origin"]
        refused = await asking.post("/x", content=b"x", headers={"origin": "http://localhost:3000"})
        assert refused.status_code == 415
        assert refused.headers["access-control-allow-origin"] == "http://localhost:3000"
        plain = await asking.get("/x")
        assert plain.headers.get_list("vary", split_commas=True) == ["Accept", "Origin"]
        other = await asking.get("/x", headers={"origin": "https://app.example:8443"})
        assert other.status_code == 403
    assert len(behind.seen) == 2


async def test_what_a_browser_asks_first_is_answered_by_the_guard() -> None:
    guard, behind = guarded(Somebody(None), origins=("https://app.example",), credentials=True)
    asked = {
        "origin": "https://app.example",
        "access-control-request-method": "DELETE",
        "access-control-request-headers": "authorization, content-type",
    }
    async with client(guard) as asking:
        answered = await asking.options("/api/threads", headers=asked)
        assert (answered.status_code, answered.content, behind.seen) == (204, b"", [])
        assert "DELETE" in answered.headers["access-control-allow-methods"]
        assert answered.headers["access-control-allow-headers"] == "authorization, content-type"
        assert answered.headers["access-control-allow-credentials"] == "true"
        assert answered.headers["vary"] == "Origin"
        foreign = await asking.options("/x", headers=asked | {"origin": "https://evil.example"})
        assert foreign.status_code == 403
        own = await asking.options("/x", headers=asked | {"origin": "http://localhost"})
        assert own.status_code == 401  # no browser sent it, and the caller is unknown


async def test_headers_that_are_none_are_not_said_back() -> None:
    guard, _ = guarded(origins=("https://app.example",))
    headers = [HOST, (b"origin", b"https://app.example"), (b"access-control-request-method", b"GET")]
    wanted = (b"access-control-request-headers", b"x\r\nset-cookie: a=b")
    answered = await ask(guard, scope_of("OPTIONS", headers=[*headers, wanted]))
    assert answered.status == 204
    assert "access-control-allow-headers" not in answered.headers


async def test_every_page_with_keys() -> None:
    guard, _ = guarded(Somebody(), origins=("*",))
    async with client(guard) as asking:
        for origin in ("https://anywhere.example", "null"):
            answered = await asking.post("/x", json={}, headers={"origin": origin})
            assert answered.headers["access-control-allow-origin"] == "*"
            assert "access-control-allow-credentials" not in answered.headers


REFUSED = {
    "every page with cookies": (True, {"origins": ("*",), "credentials": True}),
    "every page without keys": (False, {"origins": ("*",)}),
    "no scheme": (True, {"origins": ("app.example",)}),
    "a path": (True, {"origins": ("https://app.example/x",)}),
    "null": (True, {"origins": ("null",)}),
    "nothing": (True, {"origins": ("",)}),
}


@each_row(("keys", "settings"), REFUSED.values(), ids=REFUSED)
def test_origins_that_make_no_sense_are_refused_at_once(keys: bool, settings: dict[str, object]) -> None:
    with pytest.raises(PartitaError) as caught:
        guarded(Somebody() if keys else None, **settings)
    assert caught.value.where == "origins"


@given(
    text=st.binary(max_size=40) | st.from_regex(r"https?://[a-z@#/:.]{0,20}", fullmatch=True).map(str.encode)
)
def test_an_origin_is_a_scheme_and_a_host_and_nothing_else(text: bytes) -> None:
    found = parse_origin(text)
    if found is not None:
        written = f"{found.scheme}://{found.authority.host}".encode()
        assert b"@" not in text
        assert text.count(b"/") == 2
        assert b"[" in text or text.lower().startswith(written)


async def test_json_is_needed_from_pages_too() -> None:
    guard, _ = guarded(origins=("https://app.example",))
    async with client(guard) as asking:
        answered = await asking.post("/x", content=b"{}", headers={"content-type": "text/plain"})
        assert answered.status_code == 415
        assert (await asking.post("/x", content=b"{}", headers=JSON)).status_code == 200
