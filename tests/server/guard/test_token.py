"""The token of a server without keys: where it is accepted, and how a browser receives it."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from partita.server.app import PartitaApp, asgi
from partita.store.store import Store
from tests.server.conftest import scripted, text_part
from tests.tables import each_row

TOKEN = "Zm9yIHRoZSBsaWdodGhvdXNlIGtlZXBlciBhbG9uZSE"
HERE = "http://localhost:7272"
COOKIE = "partita-token-7272"


def client_of(app: PartitaApp, **how: Any) -> httpx.AsyncClient:
    """A client on this machine, at a port that the application has."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HERE, **how)


@pytest.fixture
async def app(store: Store) -> AsyncIterator[PartitaApp]:
    app = asgi(scripted([text_part("Forty-one metres.")]), store=store)
    app.require_token(TOKEN)
    async with app.lifespan():
        yield app


SHOWN: dict[str, tuple[dict[str, str], int]] = {
    "nothing": ({}, 401),
    "the token": ({"authorization": f"Bearer {TOKEN}"}, 200),
    "the token as a key": ({"x-api-key": TOKEN}, 200),
    "the cookie": ({"cookie": f"other=1; {COOKIE}={TOKEN}"}, 200),
    "the cookie, and a key of another server": (
        {"cookie": f"{COOKIE}={TOKEN}", "authorization": "Bearer pk_other"},
        200,
    ),
    "a cookie of another port": ({"cookie": f"partita-token-7273={TOKEN}"}, 401),
    "another token": ({"authorization": f"Bearer {TOKEN[:-1]}A"}, 401),
    "a part of the token": ({"authorization": f"Bearer {TOKEN[:-1]}"}, 401),
    "an invalid cookie": ({"cookie": f'{COOKIE}="\\'}, 401),
    "the token, and another host": ({"authorization": f"Bearer {TOKEN}", "host": "evil.example"}, 403),
    "the token, through a proxy": ({"authorization": f"Bearer {TOKEN}", "x-forwarded-host": "a"}, 403),
    "the token, from another page": (
        {"authorization": f"Bearer {TOKEN}", "origin": "http://evil.example"},
        403,
    ),
}


@each_row(("headers", "status"), SHOWN.values(), ids=SHOWN)
async def test_callers_with_the_token_are_served(
    app: PartitaApp, headers: dict[str, str], status: int
) -> None:
    async with client_of(app, headers=headers) as client:
        response = await client.get("/api/threads")
    assert response.status_code == status, response.text
    assert TOKEN not in response.text + str(response.headers)


async def test_the_token_is_refused_from_other_machines(app: PartitaApp) -> None:
    transport = httpx.ASGITransport(app=app, client=("192.0.2.7", 5000))
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
        threads = await client.get("/api/threads", headers={"authorization": f"Bearer {TOKEN}"})
        page = await client.get("/", params={"token": TOKEN})
    assert (threads.status_code, page.status_code) == (403, 403)
    assert "set-cookie" not in page.headers


async def test_a_browser_exchanges_the_token_for_a_cookie(app: PartitaApp) -> None:
    async with client_of(app) as client:
        page = await client.get("/", params={"token": TOKEN, "q": "a b"})
        assert page.status_code == 303
        assert page.headers["location"] == "./?q=a+b"
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["cache-control"] == "no-store"
        cookie = page.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
        assert cookie.startswith(f"{COOKIE}=")
        assert (await client.get("/api/threads")).status_code == 200, "the client keeps the cookie"
        assert (await client.get("/")).status_code == 200


async def test_the_web_ui_needs_no_token_and_a_wrong_token_sets_no_cookie(app: PartitaApp) -> None:
    async with client_of(app) as client:
        for query in ({}, {"token": "wrong"}, {"token": ""}):
            page = await client.get("/", params=query)
            assert page.status_code == 200
            assert "set-cookie" not in page.headers
        assert (await client.get("/api/docs")).status_code == 200
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/api/threads", params={"token": TOKEN})).status_code == 401
        assert (await client.get("/metrics")).status_code == 401


CROSS_SITE: dict[str, tuple[str, str, int]] = {
    "a link to the page": ("/", "navigate", 200),
    "a link to the API": ("/api/threads", "navigate", 403),
    "an image": ("/api/threads", "no-cors", 403),
    "a stream": ("/api/chat/t/stream", "no-cors", 403),
}


@each_row(("path", "mode", "status"), CROSS_SITE.values(), ids=CROSS_SITE)
async def test_pages_of_other_sites_are_refused(app: PartitaApp, path: str, mode: str, status: int) -> None:
    """A browser sends the cookie with some of these requests, which have no `Origin`."""
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": mode, "cookie": f"{COOKIE}={TOKEN}"}
    async with client_of(app, headers=headers) as client:
        assert (await client.get(path)).status_code == status


async def test_a_mounted_application_needs_no_token(store: Store) -> None:
    app = asgi(scripted([text_part("Forty-one metres.")]), store=store)
    async with app.lifespan(), client_of(app) as client:
        assert (await client.get("/api/threads")).status_code == 200
