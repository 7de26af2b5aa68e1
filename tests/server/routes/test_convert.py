"""Formats over HTTP: lists, conversions, folded streams, and errors for any other input."""

from collections.abc import Iterable
from typing import Any

import httpx

from partita.formats.conversion import convert as convert_payload
from partita.formats.registry import ALIASES, all_formats
from partita.testing.full_conversation import full_conversation
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps
from tests.sampling import FULL
from tests.tables import each_row

JSON = {"content-type": "application/json"}

UI: JsonObject = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "How tall is it?"}]}
SPOKEN: list[JsonObject] = [
    {"type": "start", "messageId": "m1"},
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "Forty."},
    {"type": "text-end", "id": "t"},
    {"type": "finish"},
]


async def post(client: httpx.AsyncClient, path: str, body: Json, status: int = 200) -> Any:
    response = await client.post(path, content=dumps(body), headers=JSON)
    assert response.status_code == status, response.text
    return response.json()


async def test_every_format_is_listed_with_its_abilities(client: httpx.AsyncClient) -> None:
    items = (await client.get("/api/formats")).json()["items"]
    assert [one["name"] for one in items] == list(all_formats())
    for one in items:
        format_ = all_formats()[one["name"]]
        can = (format_.load is not None, format_.dump is not None, format_.decoder is not None)
        assert (one["reads"], one["writes"], one["streams"]) == can
        assert one["carries"] is (format_.slot is not None)
        assert one["aliases"] == [alias for alias, full in ALIASES.items() if full == one["name"]]


@each_row("target", [name for name, format_ in all_formats().items() if format_.dump])
async def test_a_payload_is_converted_like_in_python(client: httpx.AsyncClient, target: str) -> None:
    report = await post(client, "/api/convert", {"payload": [UI], "from": "ui", "to": target})
    dumped = convert_payload([UI], "ui", target)
    assert (report["payload"], report["from"], report["to"]) == (dumped.payload, "ai-sdk-ui-v7", target)
    assert report["losses"] == [loss._asdict() for loss in dumped.losses]
    assert "guess" not in report


async def test_guesses_and_losses_are_reported(client: httpx.AsyncClient) -> None:
    report = await post(client, "/api/convert", {"payload": [UI], "to": "model"})
    assert report["guess"]["format"] == report["from"] == "ai-sdk-ui-v7"
    assert [loss["path"] for loss in report["losses"]] == [
        loss.path for loss in convert_payload([UI], "ui", "model").losses
    ]


async def test_a_guess_lists_alternatives(client: httpx.AsyncClient) -> None:
    report = await post(client, "/api/convert", {"payload": [{"role": "user", "content": "Hi."}], "to": "ui"})
    assert {"openai-chat", "anthropic"} <= {one["format"] for one in report["guess"]["rivals"]}
    assert all(
        one["why"] and one["confidence"] <= report["guess"]["confidence"] for one in report["guess"]["rivals"]
    )


async def test_a_stream_is_folded_and_written(client: httpx.AsyncClient) -> None:
    report = await post(client, "/api/convert", {"payload": SPOKEN, "to": "ui"})
    assert report["from"] == "ai-sdk-chunks"
    assert report["payload"][0]["parts"] == [{"type": "text", "text": "Forty.", "state": "done"}]


@each_row("carry", [False, True])
async def test_embedded_values_are_not_lost(client: httpx.AsyncClient, carry: bool) -> None:
    target = next(name for name, one in all_formats().items() if one.slot is not None)
    messages = to_json(full_conversation())
    body = {"payload": messages, "from": "canonical", "to": target, "carry": carry}
    report = await post(client, "/api/convert", body)
    expected = convert_payload(messages, "canonical", target, carry=carry)
    assert report["payload"] == expected.payload
    assert bool(report["losses"]) is not carry


async def test_a_lone_surrogate_survives(client: httpx.AsyncClient) -> None:
    half = {**UI, "parts": [{"type": "text", "text": "\ud83d"}]}
    report = await post(client, "/api/convert", {"payload": [half], "from": "ui", "to": "canonical"})
    assert report["payload"][0]["content"]["parts"][0]["text"] == "\ud83d"


REFUSED: dict[str, Json] = {
    "no target": {"payload": [UI]},
    "no payload": {"to": "ui"},
    "an unknown format": {"payload": [UI], "from": "nonesuch", "to": "ui"},
    "an unknown target": {"payload": [UI], "to": "nonesuch"},
    "a read-only target": {"payload": [UI], "to": "cherry"},
    "an unknown payload": {"payload": {"colour": "blue"}, "to": "ui"},
    "a number": {"payload": 7, "to": "ui"},
    "a list": [],
    "null": None,
}


@each_row("body", REFUSED.values(), ids=REFUSED)
async def test_invalid_conversions_are_refused(client: httpx.AsyncClient, body: Json) -> None:
    assert (await post(client, "/api/convert", body, 400))["detail"]


async def test_an_error_for_a_missing_format_lists_all_formats(client: httpx.AsyncClient) -> None:
    problem = await post(client, "/api/convert", {"payload": {"colour": "blue"}, "to": "ui"}, 400)
    assert "ai-sdk-ui-v7" in problem["hint"]


def nested(depth: int) -> Json:
    value: Json = "x"
    for _ in range(depth):
        value = {"content": [value]}
    return value


ODD: list[Json] = [
    None,
    True,
    7,
    1e300,
    "text",
    "",
    [],
    {},
    [[]],
    [None],
    [{}],
    [{"role": None}],
    [{"role": "user"}],
    [{"role": "user", "content": 7, "parts": 7}],
    [{"role": "user", "content": None, "parts": [None, 7, "x", [], {}]}],
    [
        {
            "role": "assistant",
            "parts": [{"type": "tool-x"}, {"type": 7}, {"type": "dynamic-tool", "state": "?"}],
        }
    ],
    [{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": 7, "input": {"a": []}}]}],
    [{"role": "tool", "content": [{"type": "tool-result", "output": "?"}]}],
    [{"id": 7, "role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": 7}]}}],
    [{"type": "user", "message": 7, "uuid": [], "timestamp": "x"}],
    [{"id": "\x00", "role": "user", "content": "\ud800", "createdAt": "yesterday"}],
    [{"role": "user", "content": "x", "createdAt": 10**30}],
    [nested(60)],
    {"messages": [UI]},
]


def combinations(formats: Iterable[str], payloads: list[Json]) -> list[tuple[str, Json]]:
    """Pairs of formats and payloads: each several times; with `PARTITA_FULL=1` all pairs."""
    return [
        (name, payload)
        for row, name in enumerate(formats)
        for column, payload in enumerate(payloads)
        if FULL or (row + column) % 3 == 0
    ]


async def test_no_payload_causes_a_server_error(client: httpx.AsyncClient) -> None:
    for source, payload in combinations(all_formats(), ODD):
        body = dumps({"payload": payload, "from": source, "to": "canonical"})
        response = await client.post("/api/convert", content=body, headers=JSON)
        assert response.status_code in (200, 400), (source, payload, response.text)
        events = dumps({"events": [payload], "format": source, "lenient": True})
        response = await client.post("/api/fold", content=events, headers=JSON)
        assert response.status_code in (200, 400), (source, payload, response.text)


@each_row("path", ["/api/convert", "/api/fold"])
@each_row(
    "body",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"payload":' + b"[" * 9_000 + b"]" * 9_000 + b',"to":"ui"}'],
    ids=["nothing", "half", "no text", "brackets", "deep"],
)
async def test_invalid_json_is_refused(client: httpx.AsyncClient, path: str, body: bytes) -> None:
    response = await client.post(path, content=body, headers=JSON)
    assert response.status_code == 400, response.text


# Folding


@each_row("name", ["chunks", "events"])
async def test_a_stream_is_folded(client: httpx.AsyncClient, name: str) -> None:
    report = await post(client, "/api/fold", {name: SPOKEN, "to": "ui"})
    assert report["message"] == {
        "id": "m1",
        "role": "assistant",
        "parts": [{"type": "text", "text": "Forty.", "state": "done"}],
    }
    assert (report["format"], report["to"], report["diagnostics"]) == ("ai-sdk-chunks", "ai-sdk-ui-v7", [])
    assert report["guess"]["format"] == "ai-sdk-chunks"


async def test_every_message_of_a_stream_is_folded(client: httpx.AsyncClient) -> None:
    both = [*SPOKEN, {**SPOKEN[0], "messageId": "m2"}, *SPOKEN[1:]]
    report = await post(client, "/api/fold", {"chunks": both, "to": "ui"})
    assert [message["id"] for message in report["message"]] == ["m1", "m2"]
    report = await post(client, "/api/convert", {"payload": both, "from": "ai-sdk-chunks", "to": "ui"})
    assert [message["id"] for message in report["payload"]] == ["m1", "m2"]


async def test_a_folded_message_is_canonical_unless_another_format_is_requested(
    client: httpx.AsyncClient,
) -> None:
    report = await post(client, "/api/fold", {"chunks": SPOKEN})
    assert report["message"]["content"]["parts"][0]["text"] == "Forty."


async def test_a_chunk_that_does_not_fit_is_an_error_or_reported(client: httpx.AsyncClient) -> None:
    lost = [*SPOKEN[:1], {"type": "text-delta", "id": "nobody", "delta": "?"}, *SPOKEN[1:]]
    problem = await post(client, "/api/fold", {"chunks": lost}, 400)
    assert problem["where"] == "chunk 1"
    report = await post(client, "/api/fold", {"chunks": lost, "lenient": True, "to": "ui"})
    assert [one["chunk"] for one in report["diagnostics"]] == [1]
    assert report["message"]["parts"][0]["text"] == "Forty."


async def test_errors_in_a_stream_are_reported(client: httpx.AsyncClient) -> None:
    report = await post(
        client, "/api/fold", {"chunks": [*SPOKEN[:1], {"type": "error", "errorText": "no power"}]}
    )
    assert report["errors"] == ["no power"]


NOT_FOLDED: dict[str, JsonObject] = {
    "nothing": {},
    "both": {"chunks": SPOKEN, "events": SPOKEN},
    "not a list": {"chunks": {"type": "start"}},
    "messages": {"events": [UI], "format": "ui"},
    "an empty list without a format": {"events": []},
    "a missing format": {"events": SPOKEN, "format": "nonesuch"},
    "a missing target": {"events": SPOKEN, "to": "nonesuch"},
}


@each_row("body", NOT_FOLDED.values(), ids=NOT_FOLDED)
async def test_an_invalid_stream_is_refused(client: httpx.AsyncClient, body: JsonObject) -> None:
    assert (await post(client, "/api/fold", body, 400))["detail"]
