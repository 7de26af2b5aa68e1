"""The application mounted in other applications, and its streams in their responses."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from partita import Session, asgi
from partita.agents import SSE_HEADERS, follow_sse
from partita.server import PartitaApp
from partita.store.store import Store
from partita.types.messages import text_of
from tests.tables import each_row

from .conftest import client_of, scripted, text_part
from .dialects.chat.chat_client import Chat, parse_response, user

Wrap = Callable[[PartitaApp, str], Any]


def in_fastapi(app: PartitaApp, path: str) -> Any:
    outer = FastAPI(lifespan=app.lifespan)
    outer.mount(path, app)
    return outer


def in_starlette(app: PartitaApp, path: str) -> Any:
    return Starlette(routes=[Mount(path, app)], lifespan=app.lifespan)


def in_plain_asgi(app: PartitaApp, path: str) -> Any:
    """An application that removes its prefix from the path without `root_path`, like mounts in Litestar."""

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "path": scope["path"].removeprefix(path.rstrip("/"))}, receive, send)

    return outer


OUTER: dict[str, Wrap] = {"FastAPI": in_fastapi, "Starlette": in_starlette, "plain ASGI": in_plain_asgi}


@pytest.fixture
def agent() -> Any:
    return scripted([text_part("Forty-one metres.")])


@pytest.mark.parametrize("path", ["/agents", "/", "/v1/deep/er"])
@pytest.mark.parametrize("wrap", OUTER.values(), ids=OUTER)
async def test_it_works_when_mounted_under_a_path(store: Store, agent: Any, wrap: Wrap, path: str) -> None:
    app = asgi(agent, store=store)
    base = "http://localhost" + path.rstrip("/")
    async with client_of(wrap(app, path), base_url=base) as client:
        response = await Chat(client).ask(user("u1", "How tall?"))
        assert text_of(response.message()) == "Forty-one metres."
        assert (await client.get("/api/threads/c1")).json()["id"] == "c1"
        assert (await client.get("/api/chat/c1/stream")).status_code == 204
        assert (await client.get("/api/nothing")).status_code == 404
    await app.close()


async def test_it_opens_at_the_first_request_without_a_lifespan(store: Store, agent: Any) -> None:
    app = asgi(agent, store=store)
    async with client_of(app) as client:
        await Chat(client).ask(user("u1", "How tall?"))
    assert app.state is not None
    await app.close()
    assert app.state is None


async def test_the_lifespan_of_the_outer_application_opens_and_closes_it(store: Store, agent: Any) -> None:
    app = asgi(agent, store=store)
    async with app.lifespan():
        assert app.state is not None
    assert app.state is None


@pytest.fixture
async def session(store: Store) -> AsyncIterator[Session]:
    async with Session(store) as opened:
        yield opened


def starlette_route(session: Session, agent: Any) -> Any:
    async def respond(request: Request) -> StreamingResponse:
        run = await session.start(agent, "c1", "How tall?")
        return StreamingResponse(
            follow_sse(session, run.id), headers={**SSE_HEADERS, "x-partita-run-id": "r"}
        )

    return Starlette(routes=[Route("/", respond, methods=["POST"])])


def fastapi_route(session: Session, agent: Any) -> Any:
    app = FastAPI()

    @app.post("/")
    async def respond() -> StreamingResponse:
        run = await session.start(agent, "c1", "How tall?")
        return StreamingResponse(
            follow_sse(session, run.id), headers={**SSE_HEADERS, "x-partita-run-id": "r"}
        )

    assert respond is not None
    return app


ROUTES = {"Starlette": starlette_route, "FastAPI": fastapi_route}


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
async def test_a_run_can_be_streamed_by_any_framework(
    session: Session, agent: Any, route: Callable[[Session, Any], Any]
) -> None:
    async with client_of(route(session, agent)) as client:
        response = await client.post("/")
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert text_of(parse_response(response).message()) == "Forty-one metres."


@each_row("keys", [False, True])
@each_row("path", ["/", "/api/docs"])
async def test_the_root_path_serves_the_web_ui(store: Store, agent: Any, path: str, keys: bool) -> None:
    app = asgi(agent, store=store, keys=keys, routes="all" if keys else None)
    async with app.lifespan(), client_of(app) as client:
        page = await client.get(path)
    assert page.status_code == 200
    assert "<title>Partita" in page.text
