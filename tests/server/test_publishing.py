"""The published routes of an application: by default, and with `routes` and `page`."""

from collections import Counter
from typing import Any

import pytest

from partita.errors import PartitaError
from partita.runtime.principal import Principal
from partita.server.access import CHAT_APP, EVERYTHING, GROUPS, ROUTES
from partita.server.app import PartitaApp, asgi
from partita.store.store import Store
from tests.tables import each_row

from .conftest import client_of, scripted, text_part
from .security.cases import CASES, Request, path_of
from .security.multi_tenant import Route, routes_of

IDS = {"thread": "t", "message": "m", "run": "r", "other": "o", "digest": "0" * 64}


def app_of(store: Store, **how: Any) -> PartitaApp:
    how.setdefault("user", lambda _: Principal(None, "admin"))
    return asgi(scripted([text_part("Forty-one metres.")]), store=store, **how)


async def existing_routes(app: PartitaApp) -> set[str]:
    """The routes that exist. A 404 of a route has a hint; a 404 for an unknown path does not."""
    found: set[str] = set()
    async with app.lifespan(), client_of(app) as client:
        for route in routes_of(app):
            if route.method != "OPTIONS" and route.path != "/api/feed":
                request: Request = CASES[str(route)][0].about(IDS)
                response = await client.request(
                    route.method, path_of(route.path, IDS), json=request.json, params=dict(request.query)
                )
                if response.status_code != 404 or (route.method != "HEAD" and "hint" in response.json()):
                    found.add(str(route))
    return found


def test_every_route_is_in_exactly_one_group(store: Store) -> None:
    counted = Counter(name for names in ROUTES.values() for name in names)
    there = {str(route) for route in routes_of(app_of(store)) if route.method != "OPTIONS"}
    assert set(counted) == there
    assert set(counted.values()) == {1}
    assert set(ROUTES) == set(GROUPS) == EVERYTHING


async def test_an_application_with_users_publishes_a_chat_and_its_history(store: Store) -> None:
    app = app_of(store)
    expected = {name for group in CHAT_APP for name in ROUTES[group]} - {
        "GET /api/feed",
        "HEAD /api/blobs/{digest}",
    }
    assert await existing_routes(app) == expected


async def test_only_the_named_groups_are_published(store: Store) -> None:
    app = app_of(store, routes=["openai", "stats"])
    assert await existing_routes(app) == {*ROUTES["openai"], *ROUTES["stats"]}


DEFAULTS: dict[str, tuple[dict[str, Any], frozenset[str]]] = {
    "this machine": ({"user": None}, EVERYTHING),
    "users": ({}, CHAT_APP),
    "keys": ({"user": None, "keys": True}, CHAT_APP),
    "everything": ({"routes": "all"}, EVERYTHING),
    "everything but the web UI": ({"routes": "all", "page": False}, EVERYTHING - {"page"}),
    "the web UI, too": ({"page": True}, CHAT_APP | {"page"}),
    "one group": ({"routes": "chat"}, frozenset({"chat"})),
    "none": ({"routes": []}, frozenset()),
}


@each_row(("how", "published"), DEFAULTS.values(), ids=DEFAULTS)
def test_groups_depend_on_routes_page_and_users(
    store: Store, how: dict[str, Any], published: frozenset[str]
) -> None:
    assert app_of(store, **how).published == published


def test_an_unknown_group_is_refused(store: Store) -> None:
    with pytest.raises(PartitaError, match="no group of routes 'chats'") as caught:
        app_of(store, routes=["chats"])
    assert "assistant-ui" in caught.value.hint


async def test_the_openapi_document_lists_published_routes_only(store: Store) -> None:
    app = app_of(store, routes=["ag-ui", "docs"])
    async with app.lifespan(), client_of(app) as client:
        document = (await client.get("/api/openapi.json")).json()
        assert list(document["paths"]) == ["/api/ag-ui/{agentName}"]
        assert (await client.get("/api/docs/openapi.json")).json()["paths"] == document["paths"]


async def test_without_the_web_ui_its_paths_are_404(store: Store) -> None:
    app = app_of(store, user=lambda _: None)
    async with app.lifespan(), client_of(app) as client:
        assert (await client.get("/")).status_code == 401
    app = app_of(store, user=None, page=False)
    async with app.lifespan(), client_of(app) as client:
        assert (await client.get("/")).status_code == 404


async def test_unpublished_methods_are_not_listed(store: Store) -> None:
    app = app_of(store, routes=["chat"])
    async with app.lifespan(), client_of(app) as client:
        assert (await client.options("/api/stats")).status_code == 404
        assert (await client.post("/api/stats")).status_code == 404
        assert (await client.options("/api/chat")).headers["allow"] == "OPTIONS, POST"
    app = app_of(store, routes=["messages"])
    async with app.lifespan(), client_of(app) as client:
        assert (await client.options("/api/threads/t/messages")).headers["allow"] == "GET, OPTIONS"
        assert (await client.delete("/api/threads/t/messages")).headers["allow"] == "GET, OPTIONS"
        assert (await client.put("/api/threads/t/messages")).status_code == 404
    assert Route("OPTIONS", "/api/stats") in routes_of(app)
