"""Bodies that cannot be read: the answer says where, what was expected, and what was found."""

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
    "a member that is not known": (
        "POST",
        "/api/threads",
        b'{"foo": 1}',
        {"where": "$.foo", "what": "unknown member"},
    ),
    "Mastra's": ("POST", "/api/memory/save-messages", b"{}", {"where": "$.messages", "what": MISSING}),
}


@each_row("method, path, body, told", BODIES.values(), ids=BODIES)
async def test_an_error_about_a_body_says_what_is_wrong(
    client: httpx.AsyncClient, method: str, path: str, body: bytes, told: Any
) -> None:
    answer = await client.request(method, path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["errors"] == [told]
    assert answer.json()["detail"] == f"{told['where']}: {told['what']}"
    assert ("hint" in answer.json()) == (not body)


@each_row("path", ["/api/chat", "/api/threads", "/api/memory/threads", "/v1/chat/completions"])
async def test_what_is_not_json_is_said_with_its_position(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.post(path, content=b'{"id":\n "a",', headers={"content-type": "application/json"})
    problem = answer.json()
    assert answer.status_code == 400
    assert "invalid JSON" in problem["detail"]
    assert problem["where"].startswith("line 2, column")


async def test_a_body_to_convert_says_what_is_missing(client: httpx.AsyncClient) -> None:
    headers = {"content-type": "application/json"}
    answer = await client.post("/api/convert", content=b'{"payload": []}', headers=headers)
    assert answer.json()["where"] == "$.to"
    assert answer.json()["detail"] == f"$.to: {MISSING}"
    none = await client.post("/api/convert", content=b"", headers=headers)
    assert none.json()["detail"] == "the request has no body"


async def test_types_in_a_query_are_those_of_json(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/threads?limit=many")
    (error,) = answer.json()["errors"]
    assert (error["where"], error["expected"], error["found"]) == ("query limit", "integer", "string")


PYTHON_OR_COMMANDS = re.compile(r"\w\(\)|`?partita |--\w")

UNKNOWN: dict[str, tuple[str, str, Any]] = {
    "a thread that is there": ("POST", "/api/threads", {"id": "t"}),
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
    answer = await client.request(method, path, json=body)
    assert 400 <= answer.status_code < 500
    assert not PYTHON_OR_COMMANDS.search(answer.json().get("hint", "")), answer.text
