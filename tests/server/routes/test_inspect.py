"""Pasted input is detected, read and converted; errors and losses have their position in it."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from partita.formats.conversion import convert as convert_payload
from partita.formats.registry import all_formats
from partita.server.routes import inspect as inspect_route
from partita.server.routes import pasted_text
from partita.types.json import Json, JsonObject, dumps, is_object
from tests.formats.laws.subjects import STREAMED, SUBJECTS
from tests.tables import each_row

BYTES = {"content-type": "application/octet-stream"}

UI: JsonObject = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "How tall is it?"}]}
SPOKEN: list[JsonObject] = [
    {"type": "start", "messageId": "m1"},
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "Forty."},
    {"type": "text-end", "id": "t"},
    {"type": "finish"},
]
COMPLETION: JsonObject = {
    "id": "c1",
    "object": "chat.completion",
    "model": "small",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Forty."}, "finish_reason": "stop"}],
}
ANTHROPIC: list[JsonObject] = [
    {"type": "message_start", "message": {"id": "a1", "role": "assistant", "content": [], "model": "m"}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Forty."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]
WHOLE_ANTHROPIC: JsonObject = {
    "id": "a1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "Forty."}],
    "stop_reason": "end_turn",
}
RESPONSE: JsonObject = {
    "id": "r1",
    "object": "response",
    "output": [
        {
            "type": "message",
            "id": "o1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Forty.", "annotations": []}],
        }
    ],
}
GEMINI: JsonObject = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "Forty."}]}, "finishReason": "STOP"}]
}
SESSION = "0a1b2c3d-0000-4000-8000-000000000001"
CLAUDE: list[JsonObject] = [
    {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": SESSION,
        "timestamp": "2026-03-01T10:00:00.000Z",
        "cwd": "/srv/light",
        "version": "2.0.0",
        "isSidechain": False,
        "message": {"role": "user", "content": "How tall is it?"},
    },
    {
        "type": "assistant",
        "uuid": "u2",
        "parentUuid": "u1",
        "sessionId": SESSION,
        "timestamp": "2026-03-01T10:00:02.000Z",
        "cwd": "/srv/light",
        "version": "2.0.0",
        "isSidechain": False,
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": "Forty."}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 5, "output_tokens": 2},
        },
    },
]


def lines(values: list[JsonObject]) -> bytes:
    return b"\n".join(map(dumps, values)) + b"\n"


def events(values: list[JsonObject]) -> bytes:
    return b"".join(
        b"event: %s\ndata: %s\n\n" % (str(value["type"]).encode(), dumps(value)) for value in values
    )


def _named(query: dict[str, str]) -> dict[str, str]:
    """The query. `from` is a keyword in Python."""
    return {"from" if name == "source" else name: value for name, value in query.items()}


async def look(client: httpx.AsyncClient, body: bytes, status: int = 200, **query: Any) -> Any:
    response = await client.post("/api/inspect", content=body, headers=BYTES, params=_named(query))
    assert response.status_code == status, response.text
    return response.json()


def texts(report: Any) -> str:
    return "".join(
        part.get("text", "") for message in report["messages"] for part in message["content"]["parts"]
    )


DETECTED: dict[str, tuple[bytes, str, str, str]] = {
    "a list of messages": (dumps([UI]), "ai-sdk-ui-v7", "document", "messages"),
    "one message": (dumps(UI), "ai-sdk-ui-v7", "document", "messages"),
    "messages, one per line": (lines([UI, {**UI, "id": "m2"}]), "ai-sdk-ui-v7", "lines", "messages"),
    "a request that holds messages": (dumps({"messages": [UI]}), "ai-sdk-ui-v7", "document", "messages"),
    "chunks as events": (events(SPOKEN), "ai-sdk-chunks", "events", "stream"),
    "chunks, one per line": (lines(SPOKEN), "ai-sdk-chunks", "lines", "stream"),
    "lines of version 4": (
        b'0:"For"\n0:"ty."\nd:{"finishReason":"stop"}\n',
        "ai-sdk-data-stream-v4",
        "data-stream-v4",
        "stream",
    ),
    "a response of Chat Completions": (dumps(COMPLETION), "openai-chat", "document", "messages"),
    "a stream of Anthropic": (events(ANTHROPIC), "anthropic", "events", "stream"),
    "a response of Anthropic": (dumps(WHOLE_ANTHROPIC), "anthropic", "document", "messages"),
    "a response of OpenAI Responses": (dumps(RESPONSE), "openai-responses", "document", "messages"),
    "a response of Gemini": (dumps(GEMINI), "gemini", "document", "messages"),
    "a log of Claude Code": (lines(CLAUDE), "claude-code-log", "lines", "log"),
    "a log as a list": (dumps(CLAUDE), "claude-code-log", "document", "log"),
    "a text with a byte order mark": (
        b"\xef\xbb\xbf" + dumps([UI]),
        "ai-sdk-ui-v7",
        "document",
        "messages",
    ),
}


@each_row(("body", "format", "shape", "kind"), DETECTED.values(), ids=DETECTED)
async def test_the_format_of_a_text_is_detected(
    client: httpx.AsyncClient, body: bytes, format: str, shape: str, kind: str
) -> None:
    report = await look(client, body)
    assert "problem" not in report
    assert (report["from"], report["shape"], report["kind"]) == (format, shape, kind)
    assert report["guesses"][0]["format"] == format
    assert texts(report).endswith(("How tall is it?", "Forty."))


@each_row("target", [name for name, format_ in all_formats().items() if format_.dump])
async def test_the_messages_are_converted_to_every_format(client: httpx.AsyncClient, target: str) -> None:
    report = await look(client, dumps([UI]), to=target)
    dumped = convert_payload([UI], "ai-sdk-ui-v7", target)
    assert (report["to"], report["payload"]) == (target, dumped.payload)
    assert [loss["path"] for loss in report["losses"]] == [loss.path for loss in dumped.losses]
    assert {loss["side"] for loss in report["losses"]} <= {"writing"}


async def test_the_views_of_tool_calls_are_included_on_request(client: httpx.AsyncClient) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "Bash", "arguments": '{"command": "ls"}'}}
    body = dumps([{"role": "user", "content": "Look"}, {"role": "assistant", "tool_calls": [call]}])
    assert "views" not in await look(client, body, source="openai-chat")
    (first, second) = (await look(client, body, source="openai-chat", views=True))["views"]
    assert first == {}
    assert (second["/content/parts/0"]["kind"], second["/content/parts/0"]["command"]) == ("command", "ls")


async def test_another_format_can_be_requested(client: httpx.AsyncClient) -> None:
    report = await look(client, dumps([{"role": "user", "content": "Hi."}]), source="plain")
    assert report["from"] == "plain"
    assert texts(report) == "Hi."


async def test_a_loss_has_its_position_in_the_text(client: httpx.AsyncClient) -> None:
    odd = {**UI, "parts": [*UI["parts"], {"type": "tool-x"}]}
    for body, start in ((dumps([odd]), "$[0]"), (dumps({"messages": [odd]}), "$.messages[0]")):
        report = await look(client, body, source="ai-sdk-ui-v4")
        paths = [loss["path"] for loss in report["losses"] if loss["side"] == "reading"]
        assert all(path.startswith(start) for path in paths)


async def test_a_chunk_that_does_not_fit_is_reported_with_its_event(client: httpx.AsyncClient) -> None:
    stray = {"type": "tool-output-available", "toolCallId": "c1", "output": 7}
    report = await look(client, lines([SPOKEN[0], stray, *SPOKEN[1:]]))
    assert [(loss["path"], loss["side"]) for loss in report["losses"]] == [("$[1]", "reading")]
    assert texts(report) == "Forty."


async def test_errors_of_a_stream_are_listed(client: httpx.AsyncClient) -> None:
    report = await look(client, events([*SPOKEN, {"type": "error", "errorText": "no more tea"}]))
    assert report["errors"] == ["no more tea"]


UNKNOWN: JsonObject = {"wombat": "burrow-7"}
"""A member that is unknown to every format."""

ENCODINGS: dict[str, Callable[[list[Json]], bytes]] = {
    "events": lambda values: b"".join(b"data: %s\n\n" % dumps(value) for value in values),
    "lines": lambda values: b"\n".join(map(dumps, values)) + b"\n",
    "document": dumps,
}


def _recorded(name: str) -> list[Json]:
    """Events of a stream format, with an unknown member."""
    recorded = next(iter(SUBJECTS[name].streams().values()))
    return [{**event, **UNKNOWN} if is_object(event) else event for event in recorded]


@each_row("encoding", ENCODINGS)
@each_row("name", STREAMED)
async def test_losses_of_a_stream_equal_those_of_its_conversion(
    client: httpx.AsyncClient, name: str, encoding: str
) -> None:
    recorded = _recorded(name)
    report = await look(client, ENCODINGS[encoding](recorded), source=name, to="canonical")
    assert "problem" not in report
    noted = [note["what"] for note in report["notes"]]
    losses = [
        loss for loss in convert_payload(recorded, name).losses if not loss.what.startswith(tuple(noted))
    ]
    assert [(loss["path"], loss["what"], loss["why"]) for loss in report["losses"]] == [
        (loss.path, loss.what, loss.why) for loss in losses
    ]
    if name != "ai-sdk-data-stream-v4":  # its events are not objects
        assert UNKNOWN["wombat"] in dumps(report).decode()


async def test_losses_of_a_log_are_listed(client: httpx.AsyncClient) -> None:
    odd = [CLAUDE[0], {**CLAUDE[1], "message": {**CLAUDE[1]["message"], **UNKNOWN}}]
    report = await look(client, lines(odd))
    assert UNKNOWN["wombat"] in dumps(report).decode()


async def test_losses_of_a_long_log_are_left_out_with_a_notice(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pasted_text, "LARGEST_COMPARED", 10)
    report = await look(client, lines(CLAUDE))
    assert (report["losses"], len(report["notes"])) == ([], 1)


INVALID: dict[str, tuple[bytes, str]] = {
    "nothing": (b"  \n ", ""),
    "not JSON": (b"hello", "line 1, column 1"),
    "a truncated document": (b'{"role": "user",\n "parts": [', "line 2, column 12"),
    "a bad line": (lines([UI, UI]) + b'{"id": 1, "x": }\n', "line 3, column 16"),
    "a bad event": (b'data: {"type":"start"}\n\ndata: {"type":\n\n', "event 1, column 9"),
    "an unknown format": (b'{"colour": "blue"}', ""),
}


@each_row(("body", "where"), INVALID.values(), ids=INVALID)
async def test_an_error_has_its_position(client: httpx.AsyncClient, body: bytes, where: str) -> None:
    problem = (await look(client, body))["problem"]
    assert problem["what"]
    assert problem.get("where", "") == where


async def test_an_unreadable_text_is_returned_with_its_detected_format(
    client: httpx.AsyncClient,
) -> None:
    report = await look(
        client, dumps([{"id": "m1", "role": "user", "content": {"parts": 7}, "timestamp": 1}])
    )
    assert report["guesses"][0]["format"] == "legacy"
    assert report["problem"]["what"]


@each_row("query", [{"source": "nonesuch"}, {"to": "nonesuch"}, {"to": "cherry"}])
async def test_an_unknown_format_is_refused(client: httpx.AsyncClient, query: dict[str, str]) -> None:
    assert (await look(client, dumps([UI]), 400, **query))["detail"]


DEEP: list[Json] = [b"[" * 5000, b'{"a":' * 900 + b"1" + b"}" * 900, dumps([{**UI, "metadata": None}])]


@each_row("body", DEEP, ids=["brackets", "objects", "null"])
async def test_no_input_causes_a_server_error(client: httpx.AsyncClient, body: bytes) -> None:
    await look(client, body, to="ui")


async def test_input_over_the_size_limit_is_refused(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_route, "MAX_BYTES", 10)
    assert "10 bytes" in (await look(client, dumps([UI]), 413))["detail"]
