"""Endpoints: reading of arguments, errors for invalid ones, and routing of requests."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from partita.server.endpoints import Body, Depends, Endpoint, Header, Path, Query, delete, endpoint, get, post
from partita.server.responses import Reply
from partita.server.routing import Router
from partita.types.json import Json
from tests.tables import each_row

from .conftest import client_of, routed


class Lamp(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    height: int
    is_lit: bool = False


class Span(msgspec.Struct):
    first: int
    last: int


def span_of(
    request: Request, first: Annotated[int, Query(ge=0)] = 0, last: Annotated[int, Query()] = 9
) -> Span:
    return Span(first, last if "x-all" not in request.headers else -1)


@get("/lamps", tags=["lamps"], summary="Lamps")
async def list_lamps(
    span: Annotated[Span, Depends(span_of)],
    names: Annotated[list[str] | None, Query()] = None,
    is_lit: Annotated[bool | None, Query(name="isLit")] = None,
    color: Annotated[str | None, Query(max_length=5)] = None,
    lang: Annotated[str | None, Header(name="accept-language")] = None,
) -> dict[str, Any]:
    return {"span": span, "names": names, "isLit": is_lit, "color": color, "lang": lang}


@get("/lamps/{lamp_id}", tags=["lamps"], summary="A lamp")
async def get_lamp(lamp_id: Annotated[str, Path(description="Its id.")]) -> str:
    return lamp_id


@get("/lamps/{lamp_id}/parts/{index}", tags=["lamps"], summary="A part of a lamp")
async def get_part(lamp_id: str, index: int) -> list[Any]:
    return [lamp_id, index]


@get("/lamps/newest", tags=["lamps"], summary="The newest lamp")
async def newest_lamp() -> PlainTextResponse:
    return PlainTextResponse("the newest")


@post("/lamps", tags=["lamps"], summary="Make a lamp", status_code=201)
async def make_lamp(data: Annotated[Lamp, Body()], why: Annotated[str, Query()]) -> Lamp:
    return data


@endpoint(["PUT", "PATCH"], ["/lamps/{lamp_id}", "/old/{lamp_id}"], tags=["lamps"], summary="Change a lamp")
async def change_lamp(lamp_id: str, data: Annotated[Json, Body()] = None) -> Reply[Json]:
    return Reply([lamp_id, data], headers={"x-changed": "yes"})


@delete("/lamps/{lamp_id}", tags=["lamps"], summary="Remove a lamp")
async def remove_lamp(lamp_id: str) -> None: ...


@get("/broken", tags=["lamps"], summary="Fails")
async def break_down() -> str:
    raise RuntimeError("a secret")


LAMPS: tuple[Endpoint, ...] = (
    list_lamps,
    get_lamp,
    get_part,
    newest_lamp,
    make_lamp,
    change_lamp,
    remove_lamp,
    break_down,
)
NOTHING: Mapping[str, Any] = {
    "span": {"first": 0, "last": 9},
    "names": None,
    "isLit": None,
    "color": None,
    "lang": None,
}

READ: Mapping[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "defaults": ("", {}, {}),
    "numbers and flags are read from text": (
        "?first=3&isLit=true",
        {},
        {"span": {"first": 3, "last": 9}, "isLit": True},
    ),
    "a list may be given several times": ("?names=a&names=b", {}, {"names": ["a", "b"]}),
    "one value is a list": ("?names=a", {}, {"names": ["a"]}),
    "of several values, the last one is used": ("?color=red&color=blue", {}, {"color": "blue"}),
    "an empty value is a value": ("?color=", {}, {"color": ""}),
    "characters are decoded": ("?color=%C3%A9+%2B", {}, {"color": "é +"}),
    "unknown parameters are ignored": ("?other=1", {}, {}),
    "headers": ("", {"accept-language": "en"}, {"lang": "en"}),
    "a dependency receives the request": ("", {"x-all": "1"}, {"span": {"first": 0, "last": -1}}),
}


@each_row(("query", "headers", "expected"), READ.values(), ids=READ)
async def test_arguments_are_read(query: str, headers: dict[str, str], expected: dict[str, Any]) -> None:
    async with client_of(routed(*LAMPS)) as client:
        response = await client.get(f"/lamps{query}", headers={"accept-language": "", **headers})
    lang = {"lang": headers.get("accept-language", "")}
    assert response.json() == {**NOTHING, **lang, **expected}


REFUSED: Mapping[str, tuple[str, str, Any, list[tuple[str, str]]]] = {
    "a wrong type": (
        "GET",
        "/lamps?isLit=x",
        None,
        [("query isLit", "expected boolean or null, found string")],
    ),
    "all errors are listed": (
        "GET",
        "/lamps?isLit=x&color=violet",
        None,
        [
            ("query isLit", "expected boolean or null, found string"),
            ("query color", "Expected string of length <= 5"),
        ],
    ),
    "out of a range, in a dependency": (
        "GET",
        "/lamps?first=-1",
        None,
        [("query first", "Expected integer >= 0")],
    ),
    "a parameter and the body": (
        "POST",
        "/lamps",
        {"height": "x"},
        [
            ("query why", "required parameter is missing"),
            ("$.height", "expected integer, found string"),
        ],
    ),
    "an unknown member": ("POST", "/lamps?why=x", {"height": 1, "oil": 2}, [("$.oil", "unknown member")]),
    "a missing member": ("POST", "/lamps?why=x", {}, [("$.height", "required member is missing")]),
    "no body": ("POST", "/lamps?why=x", None, [("body", "the request has no body")]),
}


@each_row(("method", "target", "json", "errors"), REFUSED.values(), ids=REFUSED)
async def test_invalid_arguments_are_refused(
    method: str, target: str, json: Any, errors: list[tuple[str, str]]
) -> None:
    async with client_of(routed(*LAMPS)) as client:
        response = await client.request(method, target, json=json)
    problem = response.json()
    found = [(error["where"], error["what"]) for error in problem.get("errors", [])]
    assert (response.status_code, response.headers["content-type"]) == (400, "application/problem+json")
    assert sorted(found) == sorted(errors)
    assert all(f"{where}: {what}" in problem["detail"] for where, what in errors)


FOUND: Mapping[str, tuple[str, str, int, Any]] = {
    "a parameter": ("GET", "/lamps/slettnes", 200, "slettnes"),
    "a slash at the end": ("GET", "/lamps/slettnes/", 200, "slettnes"),
    "two slashes": ("GET", "//lamps//slettnes", 200, "slettnes"),
    "a literal segment wins": ("GET", "/lamps/newest", 200, "the newest"),
    "a number in the path": ("GET", "/lamps/a/parts/3", 200, ["a", 3]),
    "no number in the path": ("GET", "/lamps/a/parts/x", 404, "Not Found"),
    "another path": ("PATCH", "/old/a", 200, ["a", None]),
    "an unknown path": ("GET", "/towers", 404, "Not Found"),
    "only the beginning of a path": ("GET", "/lamps/a/parts", 404, "Not Found"),
    "below a path": ("GET", "/lamps/a/b", 404, "Not Found"),
    "another method": ("POST", "/lamps/a", 405, "Method Not Allowed"),
    "HEAD is a separate method": ("HEAD", "/lamps/a", 405, ""),
    "nothing is returned": ("DELETE", "/lamps/a", 204, ""),
    "something is created": ("POST", "/lamps?why=x", 201, {"height": 3, "isLit": False}),
}


@each_row(("method", "target", "status", "expected"), FOUND.values(), ids=FOUND)
async def test_requests_find_their_endpoint(method: str, target: str, status: int, expected: Any) -> None:
    body = {"height": 3} if status == 201 else None
    async with client_of(routed(*LAMPS)) as client:
        response = await client.request(method, f"http://localhost{target}", json=body)
    assert response.status_code == status
    if not response.headers.get("content-type", "").endswith("json") or not response.content:
        assert response.text == expected
    elif status >= 400:
        assert response.json()["detail"] == expected
    else:
        assert response.json() == expected


async def test_options_lists_the_methods_of_a_path() -> None:
    async with client_of(routed(*LAMPS)) as client:
        wrong = await client.post("/lamps/a")
        options = await client.options("/lamps/a")
    assert wrong.headers["allow"] == options.headers["allow"] == "DELETE, GET, OPTIONS, PATCH, PUT"
    assert (options.status_code, options.content) == (204, b"")


async def test_a_response_is_sent_unchanged() -> None:
    async with client_of(routed(*LAMPS)) as client:
        response = await client.put("/lamps/a", json={"height": 3})
    assert response.headers["x-changed"] == "yes"
    assert response.headers["content-type"] == "application/json"
    assert response.json() == ["a", {"height": 3}]


async def test_an_error_in_an_endpoint_is_a_500_without_details() -> None:
    async with client_of(routed(*LAMPS)) as client:
        response = await client.get("/broken")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert response.json()["instance"].startswith("urn:uuid:")


def test_an_argument_without_a_source_is_an_error_at_definition() -> None:
    with pytest.raises(TypeError, match="'limit' has no source"):

        @get("/lamps")
        async def list_some(limit: int) -> str:
            return str(limit)


CLASHES: Mapping[str, tuple[str, str]] = {
    "one path twice": ("/lamps/{lamp_id}", "two endpoints for GET"),
    "another name in the same place": ("/lamps/{name}", "is /lamps/{lamp_id} elsewhere"),
}


@each_row(("path", "message"), CLASHES.values(), ids=CLASHES)
def test_conflicting_paths_are_an_error_at_definition(path: str, message: str) -> None:
    async def again(request: Request) -> str:
        return request.method

    with pytest.raises(AssertionError, match=message):
        Router([get_lamp, get(path)(again)])
