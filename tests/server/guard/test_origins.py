"""Origins of pages: the server's own and configured ones are allowed, all others are refused."""

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
    preflight = await ask(guard, scope_of(method, headers=[HOST, (b"origin", origin.encode())]))
    assert (preflight.status, behind.seen) == (403, [])
    assert "access-control-allow-origin" not in preflight.headers
    assert method == "HEAD" or "origins=" in str(preflight.problem["hint"])


OWN = {
    "the same": ("http", b"localhost:7272", b"http://localhost:7272"),
    "in upper case": ("http", b"localhost:7272", b"HTTP://LOCALHOST:7272"),
    "a default port": ("http", b"app.example", b"http://app.example:80"),
    "without a port": ("http", b"app.example:80", b"http://app.example"),
    "behind a proxy with https": ("http", b"app.example", b"https://app.example"),
    "https": ("https", b"app.example", b"https://app.example"),
    "a trailing dot": ("http", b"app.example.", b"http://app.example"),
    "an address": ("http", b"[::1]:7272", b"http://[::1]:7272"),
}


@each_row(("scheme", "host", "origin"), OWN.values(), ids=OWN)
async def test_pages_of_the_server_may_do_everything(scheme: str, host: bytes, origin: bytes) -> None:
    guard, _ = guarded(Somebody())
    preflight = await ask(
        guard, scope_of("POST", headers=[(b"host", host), (b"origin", origin)], scheme=scheme)
    )
    assert preflight.status == 200
    assert "access-control-allow-origin" not in preflight.headers


async def test_a_page_with_http_has_another_origin_than_with_https() -> None:
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


@each_row(("requested", "status"), SITES.items(), ids=map(str, SITES))
async def test_without_an_origin_the_fetch_site_is_checked(requested: tuple[str, str], status: int) -> None:
    guard, _ = guarded()
    headers = [HOST, (b"sec-fetch-site", requested[1].encode())]
    assert (await ask(guard, scope_of(requested[0], headers=headers))).status == status


async def test_a_page_of_a_configured_origin_is_allowed() -> None:
    guard, behind = guarded(origins=("https://App.example/", "http://localhost:3000"))
    async with client(guard) as asking:
        preflight = await asking.post("/x", json={}, headers={"origin": "https://app.example"})
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == "https://app.example"
        assert "x-partita-run-id" in preflight.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in preflight.headers
        assert preflight.headers.get_list("vary", split_commas=True) == ["Accept", "Origin"]
        refused = await asking.post("/x", content=b"x", headers={"origin": "http://localhost:3000"})
        assert refused.status_code == 415
        assert refused.headers["access-control-allow-origin"] == "http://localhost:3000"
        plain = await asking.get("/x")
        assert plain.headers.get_list("vary", split_commas=True) == ["Accept", "Origin"]
        other = await asking.get("/x", headers={"origin": "https://app.example:8443"})
        assert other.status_code == 403
    assert len(behind.seen) == 2


async def test_the_guard_responds_to_preflight_requests() -> None:
    guard, behind = guarded(Somebody(None), origins=("https://app.example",), credentials=True)
    requested = {
        "origin": "https://app.example",
        "access-control-request-method": "DELETE",
        "access-control-request-headers": "authorization, content-type",
    }
    async with client(guard) as asking:
        preflight = await asking.options("/api/threads", headers=requested)
        assert (preflight.status_code, preflight.content, behind.seen) == (204, b"", [])
        assert "DELETE" in preflight.headers["access-control-allow-methods"]
        assert preflight.headers["access-control-allow-headers"] == "authorization, content-type"
        assert preflight.headers["access-control-allow-credentials"] == "true"
        assert preflight.headers["vary"] == "Origin"
        foreign = await asking.options("/x", headers=requested | {"origin": "https://evil.example"})
        assert foreign.status_code == 403
        own = await asking.options("/x", headers=requested | {"origin": "http://localhost"})
        assert own.status_code == 401  # not sent by a browser, and the caller is unknown


async def test_invalid_header_names_are_not_returned() -> None:
    guard, _ = guarded(origins=("https://app.example",))
    headers = [HOST, (b"origin", b"https://app.example"), (b"access-control-request-method", b"GET")]
    header = (b"access-control-request-headers", b"x\r\nset-cookie: a=b")
    preflight = await ask(guard, scope_of("OPTIONS", headers=[*headers, header]))
    assert preflight.status == 204
    assert "access-control-allow-headers" not in preflight.headers


async def test_an_asterisk_allows_every_page_with_keys() -> None:
    guard, _ = guarded(Somebody(), origins=("*",))
    async with client(guard) as asking:
        for origin in ("https://anywhere.example", "null"):
            preflight = await asking.post("/x", json={}, headers={"origin": origin})
            assert preflight.headers["access-control-allow-origin"] == "*"
            assert "access-control-allow-credentials" not in preflight.headers


REFUSED = {
    "every page with cookies": (True, {"origins": ("*",), "credentials": True}),
    "every page without keys": (False, {"origins": ("*",)}),
    "no scheme": (True, {"origins": ("app.example",)}),
    "a path": (True, {"origins": ("https://app.example/x",)}),
    "null": (True, {"origins": ("null",)}),
    "nothing": (True, {"origins": ("",)}),
}


@each_row(("keys", "settings"), REFUSED.values(), ids=REFUSED)
def test_invalid_configured_origins_are_refused_at_start(keys: bool, settings: dict[str, object]) -> None:
    with pytest.raises(PartitaError) as caught:
        guarded(Somebody() if keys else None, **settings)
    assert caught.value.where == "origins"


@given(
    text=st.binary(max_size=40) | st.from_regex(r"https?://[a-z@#/:.]{0,20}", fullmatch=True).map(str.encode)
)
def test_an_origin_has_a_scheme_and_a_host_only(text: bytes) -> None:
    found = parse_origin(text)
    if found is not None:
        written = f"{found.scheme}://{found.authority.host}".encode()
        assert b"@" not in text
        assert text.count(b"/") == 2
        assert b"[" in text or text.lower().startswith(written)


async def test_requests_of_pages_need_json_too() -> None:
    guard, _ = guarded(origins=("https://app.example",))
    async with client(guard) as asking:
        preflight = await asking.post("/x", content=b"{}", headers={"content-type": "text/plain"})
        assert preflight.status_code == 415
        assert (await asking.post("/x", content=b"{}", headers=JSON)).status_code == 200
