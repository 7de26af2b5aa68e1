"""The OpenAPI document is valid, complete and correct."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Generic, Literal, TypeVar

import jsonschema_rs
import msgspec
import pytest
from schemathesis.specs.openapi import definitions
from starlette.responses import PlainTextResponse

from partita.server.endpoints import Body, Header, Query, RequestBody, ResponseSpec, delete, get, post
from partita.server.openapi.document import REF, ROLES, component_name, describe_api
from partita.server.responses import EventStream, Listing, Reply
from partita.server.routes.registry import ROUTES
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message
from partita.types.threads import Thread
from tests.tables import each_row

METHODS = {"get", "post", "put", "patch", "delete", "head", "options"}


@cache
def document_of_all() -> JsonObject:
    """The document of all routes."""
    return describe_api(ROUTES)


def operations(document: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for path, item in document["paths"].items():
        for method in METHODS & item.keys():
            yield f"{method} {path}", item[method]


def values_of(value: Json, key: str) -> Iterator[Json]:
    """All values of a key, at any depth."""
    if is_object(value):
        if key in value:
            yield value[key]
        for item in value.values():
            yield from values_of(item, key)
    elif is_array(value):
        for item in value:
            yield from values_of(item, key)


def validator(document: JsonObject, schema: JsonObject) -> Any:
    inside = {**schema, "components": document["components"]}
    return jsonschema_rs.Draft202012Validator(inside)


def test_the_document_is_valid_openapi() -> None:
    valid: Any = definitions.OPENAPI_31_VALIDATOR
    assert [error.message for error in valid.iter_errors(document_of_all())] == []


def test_every_schema_is_valid() -> None:
    for name, schema in document_of_all()["components"]["schemas"].items():
        assert jsonschema_rs.meta.is_valid(schema), name
        validator(document_of_all(), schema)


def test_every_reference_has_a_target() -> None:
    names = document_of_all()["components"]["schemas"]
    for reference in values_of(document_of_all(), "$ref"):
        assert str(reference).startswith(REF), reference
        assert str(reference).removeprefix(REF) in names, reference


def test_examples_of_schemas_are_valid() -> None:
    for name, schema in document_of_all()["components"]["schemas"].items():
        for example in schema.get("examples", ()):
            validator(document_of_all(), {"$ref": f"{REF}{name}"}).validate(example)


def test_examples_of_bodies_are_valid() -> None:
    count = 0
    for name, operation in operations(document_of_all()):
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        for media, content in [pair for body in bodies for pair in body.get("content", {}).items()]:
            for example in content.get("examples", {}).values():
                assert "json" in media, name
                validator(document_of_all(), content["schema"]).validate(example["value"])
                count += 1
    assert count


def test_internal_fields_are_not_in_schemas() -> None:
    text = str(document_of_all())
    for secret in ("__extra__", "__unknown__", "partita.types", "partita.server"):
        assert secret not in text


def test_operations_have_short_unique_ids() -> None:
    names = [operation["operationId"] for _, operation in operations(document_of_all())]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][A-Za-z0-9]{2,40}", name) for name in names), names


def test_every_operation_has_a_summary_and_a_description() -> None:
    for name, operation in operations(document_of_all()):
        assert operation.get("tags"), name
        assert operation.get("summary"), name


def test_errors_of_every_operation_are_problem_details() -> None:
    for name, operation in operations(document_of_all()):
        bad = {status: response for status, response in operation["responses"].items() if status >= "400"}
        assert {"400", "401", "default"} <= bad.keys(), name
        assert ("404" in bad) == ("{" in name), name
        for response in bad.values():
            assert list(response["content"]) == ["application/problem+json"], name


def test_every_operation_names_its_roles_unless_it_is_open() -> None:
    roles = {name: operation.get(ROLES) for name, operation in operations(document_of_all())}
    assert {name for name, role in roles.items() if role is None} == {"get /healthz", "get /readyz"}
    assert roles["get /api/threads"] == ["read", "chat", "write", "admin"]
    assert roles["post /api/threads"] == ["chat", "write", "admin"]
    assert roles["post /api/convert"] == ["read", "write", "admin"]
    assert roles["get /metrics"] == ["admin"]


def test_every_tag_is_described() -> None:
    assert [tag["name"] for tag in document_of_all()["tags"] if not tag.get("description")] == []


def test_api_keys_can_be_sent_in_two_ways_or_left_out() -> None:
    assert document_of_all()["security"] == [{"bearer": []}, {"apiKey": []}, {}]
    assert document_of_all()["components"]["securitySchemes"]["apiKey"]["name"] == "x-api-key"


def test_the_server_url_is_relative_to_the_document() -> None:
    assert document_of_all()["servers"][0]["url"] == ".."


class Order(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """An order."""

    how_many: Annotated[int, msgspec.Meta(ge=1, description="Of them.")]


class Kept(msgspec.Struct, rename="camel"):
    """What was kept."""

    last_message: Message
    other_members: int = 0


T = TypeVar("T")


class Page(msgspec.Struct, Generic[T]):
    """A page."""

    items: list[T]


@get("/lamps", tags=["lamps"], summary="Lamps")
async def list_lamps(limit: Annotated[int | None, Query(ge=1)] = None) -> Listing[Thread]:
    """Some *words*."""
    raise NotImplementedError


@post("/lamps", tags=["lamps"], summary="A lamp")
async def make_lamp(data: Annotated[Order, Body(examples=[{"howMany": 2}])]) -> Kept:
    """More."""
    raise NotImplementedError


@get("/lamps/{lamp_id}/messages", tags=["lamps"], summary="Messages")
async def lamp_messages(lamp_id: str) -> Page[Message]:
    """More."""
    raise NotImplementedError


@get("/lamps/{lamp_id}/stream", tags=["lamps"], summary="Light")
async def shine(lamp_id: str) -> EventStream:
    """More."""
    raise NotImplementedError


@delete("/lamps/{lamp_id}", tags=["more lamps"], summary="Out")
async def switch_off(lamp_id: str) -> None:
    """More."""


@get("/lamps/{lamp_id}/log", tags=["lamps"], summary="Log")
async def read_log(
    lamp_id: str,
    after: Annotated[float | None, Query(ge=0, le=10, description="After this second.")] = None,
    order: Annotated[Literal["up", "down"] | None, Query()] = None,
    since: Annotated[str, Query(name="from", format="date-time")] = "2026-01-01",
    version: Annotated[str | None, Header(name="x-version", max_length=9)] = None,
) -> PlainTextResponse:
    """More."""
    raise NotImplementedError


@post(
    "/lamps/{lamp_id}/files",
    tags=["lamps"],
    summary="Files",
    request_body=RequestBody(
        {"*/*": {"type": "string"}, "application/json": Order}, "A file.", [{"howMany": 1}]
    ),
    responses={201: ResponseSpec("Kept.", Kept), 206: ResponseSpec("Bytes.", media_type="*/*")},
)
async def put_file(lamp_id: str) -> Reply[Any]:
    """More."""
    raise NotImplementedError


@pytest.fixture(scope="module")
def lamps() -> JsonObject:
    listed = [get("/more", tags=["more lamps"], summary="Again")(list_lamps.function)]
    return describe_api(
        [list_lamps, make_lamp, lamp_messages, shine, switch_off, read_log, put_file, *listed]
    )


def schema_of(document: JsonObject, name: str) -> JsonObject:
    schema: JsonObject = document["components"]["schemas"][name]
    return schema


def test_public_types_are_components(lamps: JsonObject) -> None:
    response = lamps["paths"]["/lamps"]["get"]["responses"]["200"]["content"]["application/json"]
    assert response["schema"] == {"$ref": f"{REF}ThreadListing"}
    assert schema_of(lamps, "ThreadListing")["properties"]["items"]["items"] == {"$ref": f"{REF}Thread"}
    assert schema_of(lamps, "Thread")["additionalProperties"] is True
    assert schema_of(lamps, "Kept")["properties"]["lastMessage"] == {"$ref": f"{REF}Message"}
    assert schema_of(lamps, "MessagePage")["properties"]["items"]["items"] == {"$ref": f"{REF}Message"}


def test_schemas_forbid_members_that_routes_refuse(lamps: JsonObject) -> None:
    order = validator(lamps, {"$ref": f"{REF}Order"})
    assert order.is_valid({"howMany": 1})
    assert not order.is_valid({"howMany": 0})
    assert not order.is_valid({"howMany": 1, "more": True})


def test_examples_are_next_to_the_schema(lamps: JsonObject) -> None:
    body = lamps["paths"]["/lamps"]["post"]["requestBody"]
    assert body["required"] is True
    assert body["content"]["application/json"]["schema"] == {"$ref": f"{REF}Order"}
    assert [one["value"] for one in body["content"]["application/json"]["examples"].values()] == [
        {"howMany": 2}
    ]


def test_names_in_paths_are_in_camel_case(lamps: JsonObject) -> None:
    operation = lamps["paths"]["/lamps/{lampId}/messages"]["get"]
    assert [one["name"] for one in operation["parameters"]] == ["lampId"]


def test_parameters_are_not_nullable(lamps: JsonObject) -> None:
    (limit,) = lamps["paths"]["/lamps"]["get"]["parameters"]
    assert limit["schema"] == {"type": "integer", "minimum": 1}


def test_parameters_are_described_as_they_are_sent(lamps: JsonObject) -> None:
    log = lamps["paths"]["/lamps/{lampId}/log"]["get"]["parameters"]
    assert log == [
        {"name": "lampId", "in": "path", "required": True, "schema": {"type": "string"}},
        {
            "name": "after",
            "in": "query",
            "description": "After this second.",
            "schema": {"type": "number", "minimum": 0, "maximum": 10},
        },
        {"name": "order", "in": "query", "schema": {"type": "string", "enum": ["up", "down"]}},
        {
            "name": "from",
            "in": "query",
            "schema": {"type": "string", "format": "date-time", "default": "2026-01-01"},
        },
        {"name": "x-version", "in": "header", "schema": {"type": "string", "maxLength": 9}},
    ]


def test_a_body_that_an_endpoint_reads_itself_is_described(lamps: JsonObject) -> None:
    operation = lamps["paths"]["/lamps/{lampId}/files"]["post"]
    example = {"examples": {"example1": {"value": {"howMany": 1}}}}
    assert operation["requestBody"] == {
        "content": {
            "*/*": {"schema": {"type": "string"}, **example},
            "application/json": {"schema": {"$ref": f"{REF}Order"}, **example},
        },
        "required": True,
        "description": "A file.",
    }


def test_an_optional_body_is_not_required() -> None:
    paths = document_of_all()["paths"]
    routes = ("/api/blobs", "/api/inspect", "/api/import", "/api/convert")
    required = [paths[route]["post"]["requestBody"]["required"] for route in routes]
    assert required == [False, False, True, True]


def test_responses_are_described_by_their_status(lamps: JsonObject) -> None:
    responses = lamps["paths"]["/lamps/{lampId}/files"]["post"]["responses"]
    assert responses["201"] == {
        "description": "Kept.",
        "content": {"application/json": {"schema": {"$ref": f"{REF}Kept"}}},
    }
    assert responses["206"]["content"] == {"*/*": {"schema": {"type": "string"}}}
    out = lamps["paths"]["/lamps/{lampId}"]["delete"]["responses"]
    assert list(out["204"]) == ["description"]


def test_a_stream_is_described(lamps: JsonObject) -> None:
    assert lamps["paths"]["/lamps/{lampId}/stream"]["get"]["responses"]["200"]["description"]


def test_of_two_operations_with_one_name_the_shorter_path_keeps_it(lamps: JsonObject) -> None:
    assert lamps["paths"]["/more"]["get"]["operationId"] == "listLamps"
    assert lamps["paths"]["/lamps"]["get"]["operationId"] == "listLampsLamps"


def test_open_routes_need_no_key() -> None:
    assert document_of_all()["paths"]["/healthz"]["get"]["security"] == []


NAMES = {
    "Thread": "Thread",
    "Listing_Thread_": "ThreadListing",
    "Listing_partita.types.threads.Thread_": "ThreadListing",
    "partita.routes.convert.Lost": "ConvertLost",
}


@each_row(("name", "expected"), NAMES.items(), ids=NAMES)
def test_components_have_readable_names(name: str, expected: str) -> None:
    assert component_name(name) == expected
