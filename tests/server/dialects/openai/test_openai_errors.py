"""Errors below `/v1` have the type, code and parameter of OpenAI's error object."""

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from partita.runtime.principal import Principal
from partita.server.app import asgi
from partita.server.guard.auth import Connection
from partita.server.settings import Limits
from partita.store.store import Store
from tests.server.conftest import HERE, client_of, scripted, text_part
from tests.tables import each_row

if TYPE_CHECKING:
    import openai

HELLO: Any = {"role": "user", "content": "How tall is it?"}
BODY: Any = {"model": "scripted", "messages": [HELLO]}


def by_header(connection: Connection) -> Principal | None:
    """A user whose role is the name in a header."""
    role = connection.headers.get("x-role")
    return Principal("ada", role) if role else None  # type: ignore[arg-type] # a role of the tests


def served(store: Store, **how: Any) -> Any:
    return asgi(scripted([text_part("Forty-one.")]), store=store, routes="all", **how)


def stock_client(app: Any, **headers: str) -> "openai.AsyncOpenAI":
    import openai

    http: Any = httpx.AsyncClient(transport=httpx.ASGITransport(app=app))
    return openai.AsyncOpenAI(
        base_url=f"{HERE}/v1", api_key="none", max_retries=0, http_client=http, default_headers=headers
    )


async def test_errors_of_keys_roles_and_limits_have_the_form_of_openai(store: Store) -> None:
    import openai

    app = served(store, user=by_header, limits=Limits(body_bytes=2_000, requests_per_minute=3))
    async with app.lifespan():
        async with stock_client(app) as anonymous:
            with pytest.raises(openai.AuthenticationError) as unknown:
                await anonymous.models.list()
            assert (unknown.value.type, unknown.value.code) == ("authentication_error", "invalid_api_key")
            assert "the caller is unknown" in unknown.value.message
        async with stock_client(app, **{"x-role": "read"}) as reader:
            with pytest.raises(openai.PermissionDeniedError) as refused:
                await reader.chat.completions.create(**BODY)
            assert (refused.value.type, refused.value.code) == (
                "permission_error",
                "insufficient_permissions",
            )
            long = {"role": "user", "content": "tall " * 1_000}
            with pytest.raises(openai.APIStatusError) as large:
                await reader.chat.completions.create(model="scripted", messages=[long])  # type: ignore[list-item]
            assert (large.value.status_code, large.value.code) == (413, "request_too_large")
            assert large.value.type == "invalid_request_error"
            await reader.models.list()
            with pytest.raises(openai.RateLimitError) as often:
                await reader.models.list()
            assert (often.value.type, often.value.code) == ("rate_limit_error", "rate_limit_exceeded")
            assert "retry-after" in often.value.response.headers


REFUSED: dict[str, tuple[str, str, bytes, int, str | None, str | None]] = {
    "a missing route": ("POST", "/v1/responses", b"{}", 404, None, "unknown_url"),
    "the root": ("GET", "/v1", b"", 404, None, "unknown_url"),
    "a method": ("DELETE", "/v1/models", b"", 405, None, "method_not_allowed"),
    "a model": ("GET", "/v1/models/gpt-none", b"", 404, "model", "model_not_found"),
    "no body": ("POST", "/v1/chat/completions", b"", 400, None, None),
    "not JSON": ("POST", "/v1/chat/completions", b"{", 400, None, None),
    "a member is missing": ("POST", "/v1/chat/completions", b'{"messages":[{}]}', 400, "model", None),
    "a wrong type": (
        "POST",
        "/v1/chat/completions",
        b'{"model":"a","messages":[3]}',
        400,
        "messages[0]",
        None,
    ),
}


@each_row("method, path, body, status, param, code", REFUSED.values(), ids=REFUSED)
async def test_errors_of_each_route_have_the_form_of_openai(
    store: Store, *, method: str, path: str, body: bytes, status: int, param: str | None, code: str | None
) -> None:
    app = served(store)
    async with app.lifespan(), client_of(app) as client:
        response = await client.request(
            method, path, content=body, headers={"content-type": "application/json"}
        )
    assert response.status_code == status
    error = response.json()["error"]
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, code)
    assert error["message"]
    assert response.json()["status"] == status
    if code == "unknown_url":
        assert "POST /v1/chat/completions" in error["message"]


async def test_an_unpublished_group_is_not_named(store: Store) -> None:
    app = asgi(scripted(), store=store, routes=["chat"])
    async with app.lifespan(), client_of(app) as client:
        response = await client.post("/v1/chat/completions", json=BODY)
        other = await client.get("/api/none")
    assert response.status_code == 404
    assert "completions" not in response.json()["error"]["message"]
    assert "error" not in other.json(), "other paths have problem details only"


UNSUPPORTED: dict[str, tuple[str, Any]] = {
    "several choices": ("n", 2),
    "a required tool": ("tool_choice", "required"),
    "a chosen tool": ("tool_choice", {"type": "function", "function": {"name": "show_map"}}),
    "an object": ("response_format", {"type": "json_object"}),
    "a schema": ("response_format", {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}),
    "functions": ("functions", [{"name": "show_map", "parameters": {}}]),
    "a function": ("function_call", {"name": "show_map"}),
}


@each_row("name, value", UNSUPPORTED.values(), ids=UNSUPPORTED)
async def test_unsupported_options_are_refused(store: Store, name: str, value: Any) -> None:
    import openai

    app = served(store)
    async with app.lifespan(), stock_client(app) as client:
        with pytest.raises(openai.BadRequestError) as refused:
            await client.chat.completions.create(**{**BODY, name: value})
    assert (refused.value.param, refused.value.code) == (name, "unsupported_parameter")


async def test_options_without_effect_are_accepted(store: Store) -> None:
    app = served(store)
    plain: Any = {"n": 1, "tool_choice": "auto", "response_format": {"type": "text"}, "functions": []}
    async with app.lifespan(), stock_client(app) as client:
        completion = await client.chat.completions.create(**BODY, **plain)
    assert completion.choices[0].message.content == "Forty-one."
