"""Errors for invalid bodies state the place, the expected and the found type."""

import re
from typing import Any

import httpx

from tests.tables import each_row

MISSING = "required member is missing"

BODIES: dict[str, tuple[str, str, bytes, Any]] = {
    "no body": ("POST", "/api/chat", b"", {"where": "body", "what": "the request has no body"}),
    "an empty object": ("POST", "/api/chat", b"{}", {"where": "$.id", "what": MISSING}),
    "another object": ("POST", "/api/chat", b'{"foo": 1}', {"where": "$.id", "what": MISSING}),
    "an array": (
        "POST",
        "/api/chat",
        b"[]",
        {"where": "$", "what": "expected object, found array", "expected": "object", "found": "array"},
    ),
    "null": (
        "PATCH",
        "/api/threads/t",
        b"null",
        {"where": "$", "what": "expected object, found null", "expected": "object", "found": "null"},
    ),
    "a wrong type": (
        "POST",
        "/api/chat",
        b'{"id": 5}',
        {"where": "$.id", "what": "expected string, found integer", "expected": "string", "found": "integer"},
    ),
    "a wrong type deeper": (
        "POST",
        "/api/ag-ui/scripted",
        b'{"threadId": "t", "runId": "r", "messages": ["a"]}',
        {
            "where": "$.messages[0]",
            "what": "expected object, found string",
            "expected": "object",
            "found": "string",
        },
    ),
    "an unknown member": (
        "POST",
        "/api/threads",
        b'{"foo": 1}',
        {"where": "$.foo", "what": "unknown member"},
    ),
    "Mastra's": ("POST", "/api/memory/save-messages", b"{}", {"where": "$.messages", "what": MISSING}),
}


@each_row("method, path, body, expected_error", BODIES.values(), ids=BODIES)
async def test_an_invalid_body_gets_a_precise_error(
    client: httpx.AsyncClient, method: str, path: str, body: bytes, expected_error: Any
) -> None:
    response = await client.request(method, path, content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert response.json()["errors"] == [expected_error]
    assert response.json()["detail"] == f"{expected_error['where']}: {expected_error['what']}"
    assert ("hint" in response.json()) == (not body)


@each_row("path", ["/api/chat", "/api/threads", "/api/memory/threads", "/v1/chat/completions"])
async def test_invalid_json_is_reported_with_its_position(client: httpx.AsyncClient, path: str) -> None:
    response = await client.post(path, content=b'{"id":\n "a",', headers={"content-type": "application/json"})
    problem = response.json()
    assert response.status_code == 400
    assert "invalid JSON" in problem["detail"]
    assert problem["where"].startswith("line 2, column")


async def test_an_error_of_convert_names_the_missing_member(client: httpx.AsyncClient) -> None:
    headers = {"content-type": "application/json"}
    response = await client.post("/api/convert", content=b'{"payload": []}', headers=headers)
    assert response.json()["where"] == "$.to"
    assert response.json()["detail"] == f"$.to: {MISSING}"
    none = await client.post("/api/convert", content=b"", headers=headers)
    assert none.json()["detail"] == "the request has no body"


async def test_errors_in_a_query_have_json_types(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/threads?limit=many")
    (error,) = response.json()["errors"]
    assert (error["where"], error["expected"], error["found"]) == ("query limit", "integer", "string")


PYTHON_OR_COMMANDS = re.compile(r"\w\(\)|`?partita |--\w")

UNKNOWN: dict[str, tuple[str, str, Any]] = {
    "an existing thread": ("POST", "/api/threads", {"id": "t"}),
    "a message": ("GET", "/api/threads/t/messages/none", None),
    "a run": ("GET", "/api/runs/none", None),
    "a branch": ("POST", "/api/threads/t/branch", {"messageId": "none"}),
    "a fork": ("POST", "/api/threads/t/fork", {"messageId": "none"}),
    "a part": ("PUT", "/api/threads/t/messages/none/parts/0", {"type": "text", "text": "a"}),
    "a replay": ("GET", "/api/runs/none/replay", None),
}


@each_row("method, path, body", UNKNOWN.values(), ids=UNKNOWN)
async def test_hints_are_for_clients_of_http(
    client: httpx.AsyncClient, method: str, path: str, body: Any
) -> None:
    await client.post("/api/threads", json={"id": "t"})
    response = await client.request(method, path, json=body)
    assert 400 <= response.status_code < 500
    assert not PYTHON_OR_COMMANDS.search(response.json().get("hint", "")), response.text
