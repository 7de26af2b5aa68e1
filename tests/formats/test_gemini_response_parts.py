"""Texts, reasoning, files, finish reasons, usage and errors in Gemini responses."""

from partita.formats.gemini.stream import GeminiDecoder
from partita.types.json import Json, JsonObject
from partita.types.parts import FilePart, ReasoningPart, TextPart
from tests.decoding import accumulated
from tests.formats.gemini_responses import content_chunks, decode, metadata_of, response, text, thought
from tests.tables import each_row

GOOGLE = "google"


def signed(signature: str, **more: Json) -> JsonObject:
    return {"providerMetadata": {GOOGLE: {**more, "thoughtSignature": signature}}}


THOUGHT = {"providerMetadata": {GOOGLE: {"thought": True}}}

PARTS: dict[str, tuple[list[Json], list[JsonObject]]] = {
    "consecutive texts are joined": (
        [response(text("a")), response(text("b"))],
        [
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "a"},
            {"type": "text-delta", "id": "0", "delta": "b"},
            {"type": "text-end", "id": "0"},
        ],
    ),
    "reasoning ends where the text begins": (
        [response(thought("why")), response(text("so"))],
        [
            {"type": "reasoning-start", "id": "0", **THOUGHT},
            {"type": "reasoning-delta", "id": "0", "delta": "why"},
            {"type": "reasoning-end", "id": "0"},
            {"type": "text-start", "id": "1"},
            {"type": "text-delta", "id": "1", "delta": "so"},
            {"type": "text-end", "id": "1"},
        ],
    ),
    "an empty text is dropped": ([response(text("")), response(thought(""))], []),
    "a signed empty text signs the preceding text": (
        [response(text("a")), response(text("", thoughtSignature="S"))],
        [
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "a"},
            {"type": "text-delta", "id": "0", "delta": "", **signed("S")},
            {"type": "text-end", "id": "0"},
        ],
    ),
    "a signed empty text without a preceding text is kept": (
        [response(thought("a")), response(text("", thoughtSignature="S"))],
        [
            {"type": "reasoning-start", "id": "0", **THOUGHT},
            {"type": "reasoning-delta", "id": "0", "delta": "a"},
            {"type": "reasoning-end", "id": "0"},
            {"type": "text-start", "id": "1", **signed("S")},
            {"type": "text-delta", "id": "1", "delta": "", **signed("S")},
            {"type": "text-end", "id": "1"},
        ],
    ),
    "a signature without a text signs the preceding text": (
        [response(text("a")), response({"thoughtSignature": "S"})],
        [
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "a"},
            {"type": "text-delta", "id": "0", "delta": "", **signed("S")},
            {"type": "text-end", "id": "0"},
        ],
    ),
    "a signed text is not joined with the next one": (
        [response(text("a", thoughtSignature="S")), response(text("b", thoughtSignature="T"))],
        [
            {"type": "text-start", "id": "0", **signed("S")},
            {"type": "text-delta", "id": "0", "delta": "a", **signed("S")},
            {"type": "text-end", "id": "0"},
            {"type": "text-start", "id": "1", **signed("T")},
            {"type": "text-delta", "id": "1", "delta": "b", **signed("T")},
            {"type": "text-end", "id": "1"},
        ],
    ),
    "unknown members of a part are kept": (
        [response(text("a", partMetadata={"x": 1}))],
        [
            {"type": "text-start", "id": "0", "providerMetadata": {GOOGLE: {"partMetadata": {"x": 1}}}},
            {
                "type": "text-delta",
                "id": "0",
                "delta": "a",
                "providerMetadata": {GOOGLE: {"partMetadata": {"x": 1}}},
            },
            {"type": "text-end", "id": "0"},
        ],
    ),
    "an image closes an open text": (
        [response(text("a"), {"inlineData": {"mimeType": "image/png", "data": "QUI="}})],
        [
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "a"},
            {"type": "text-end", "id": "0"},
            {"type": "file", "url": "data:image/png;base64,QUI=", "mediaType": "image/png"},
        ],
    ),
    "a reasoning image is a reasoning file": (
        [
            response(
                {
                    "inlineData": {"mimeType": "image/png", "data": ""},
                    "thought": True,
                    "thoughtSignature": "S",
                }
            )
        ],
        [
            {
                "type": "reasoning-file",
                "url": "data:image/png;base64,",
                "mediaType": "image/png",
                **signed("S", thought=True),
            }
        ],
    ),
    "a file URL": (
        [response({"fileData": {"fileUri": "https://x.example/a", "mimeType": "text/csv"}})],
        [{"type": "file", "url": "https://x.example/a", "mediaType": "text/csv"}],
    ),
    "a file of unknown type": (
        [response({"fileData": {"fileUri": "https://x.example/a"}})],
        [
            {
                "type": "file",
                "url": "https://x.example/a",
                "mediaType": "application/octet-stream",
                "providerMetadata": {"google": {"untyped": True}},
            }
        ],
    ),
    "only the first candidate is read": (
        [{"candidates": [{"index": 1, "content": {"parts": [text("b")]}}]}, response(text("a"))],
        [
            {"type": "data-google-candidate", "data": {"index": 1, "content": {"parts": [text("b")]}}},
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "a"},
            {"type": "text-end", "id": "0"},
        ],
    ),
    "unknown parts are kept": (
        [{"news": 1}, response({"hologram": 1}), response(candidate={"content": {"role": "model", "x": 2}})],
        [
            {"type": "data-google-unknown", "data": {"news": 1}},
            {"type": "data-google-unknown", "data": {"hologram": 1}},
            {"type": "data-google-unknown", "data": {"x": 2}},
        ],
    ),
    "invalid parts are kept": (
        [response({"text": 5}, {"functionCall": 1}, {"inlineData": {"data": 1}}, {"fileData": {}}, 3)],
        [
            {"type": "data-google-unknown", "data": {"text": 5}},
            {"type": "data-google-unknown", "data": {"functionCall": 1}},
            {"type": "data-google-unknown", "data": {"inlineData": {"data": 1}}},
            {"type": "data-google-unknown", "data": {"fileData": {}}},
            {"type": "data-google-unknown", "data": 3},
        ],
    ),
    "a record that is not JSON is an error, and is kept": (
        ["{half"],
        [
            {"type": "error", "errorText": "unparsable record"},
            {"type": "data-google-unknown", "data": "{half"},
        ],
    ),
    "a response without content": (
        [{"candidates": [{"content": {"role": "model"}}]}, {"candidates": [{}]}, {"candidates": []}],
        [],
    ),
}


@each_row(("events", "chunks"), PARTS.values(), ids=PARTS)
def test_parts_become_chunks(events: list[Json], chunks: list[JsonObject]) -> None:
    assert content_chunks(decode(events)) == chunks


ENDS: dict[str, tuple[list[Json], JsonObject]] = {
    **{
        f"{raw} is {unified}": ([response(end=raw)], {"finishReason": unified, "rawFinishReason": raw})
        for raw, unified in (
            ("STOP", "stop"),
            ("MAX_TOKENS", "length"),
            ("SAFETY", "content-filter"),
            ("IMAGE_RECITATION", "content-filter"),
            ("MALFORMED_FUNCTION_CALL", "error"),
            ("LANGUAGE", "other"),
            ("A_NEW_ONE", "other"),
        )
    },
    "STOP with a call becomes tool-calls": (
        [response({"functionCall": {"name": "f"}}, end="STOP")],
        {"finishReason": "tool-calls", "rawFinishReason": "STOP"},
    ),
    "STOP with a server tool stays stop": (
        [response({"toolCall": {"toolType": "X", "id": "1"}}, end="STOP")],
        {"finishReason": "stop", "rawFinishReason": "STOP"},
    ),
    "the last finish reason is used": (
        [response(end="STOP"), response(text("x")), response(end="RECITATION")],
        {"finishReason": "content-filter", "rawFinishReason": "RECITATION"},
    ),
    "an interrupted stream": ([response(text("x"))], {"finishReason": "interrupted", "complete": False}),
    "an empty stream": ([], {"finishReason": "interrupted", "complete": False}),
    "a blocked prompt": (
        [{"promptFeedback": {"blockReason": "SAFETY"}}],
        {
            "finishReason": "content-filter",
            "rawFinishReason": "promptFeedback:SAFETY",
            "google": {"promptFeedback": {"blockReason": "SAFETY"}},
        },
    ),
    "an unspecified block reason is ignored": (
        [{"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}}, response(end="STOP")],
        {
            "finishReason": "stop",
            "rawFinishReason": "STOP",
            "google": {"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}},
        },
    ),
    "an error instead of a response": (
        [{"error": {"code": 429, "message": "slow down"}}],
        {
            "finishReason": "error",
            "errors": ["slow down"],
            "complete": False,
            "google": {"error": {"code": 429, "message": "slow down"}},
        },
    ),
    "an error after the end": (
        [response(end="STOP"), [{"error": {"status": "CANCELLED"}}]],
        {
            "finishReason": "error",
            "rawFinishReason": "STOP",
            "errors": ["CANCELLED"],
            "google": {"error": {"status": "CANCELLED"}},
        },
    ),
    "other forms of errors": (
        [{"error": "no"}, {"error": [1]}],
        {"finishReason": "error", "errors": ["no", "[1]"], "complete": False, "google": {"error": [1]}},
    ),
    "metadata of the response are kept": (
        [
            response(
                responseId="r",
                modelVersion="m",
                createTime="t",
                candidate={
                    "avgLogprobs": -1.5,
                    "safetyRatings": [{"probability": "LOW"}],
                    "logprobsResult": {"chosenCandidates": [{"token": "a"}]},
                    "groundingMetadata": {"webSearchQueries": ["q"]},
                },
            ),
            response(
                end="STOP",
                candidate={
                    "safetyRatings": [],
                    "finishMessage": "done",
                    "logprobsResult": {"chosenCandidates": [{"token": "b"}]},
                    "groundingMetadata": {"searchEntryPoint": {"renderedContent": "<b>"}},
                },
            ),
        ],
        {
            "finishReason": "stop",
            "rawFinishReason": "STOP",
            "model": "m",
            "responseId": "r",
            "google": {
                "createTime": "t",
                "avgLogprobs": -1.5,
                "safetyRatings": [{"probability": "LOW"}],
                "logprobsResult": {"chosenCandidates": [{"token": "a"}, {"token": "b"}]},
                "groundingMetadata": {
                    "webSearchQueries": ["q"],
                    "searchEntryPoint": {"renderedContent": "<b>"},
                },
                "finishMessage": "done",
            },
        },
    ),
}


@each_row(("events", "end"), ENDS.values(), ids=ENDS)
def test_the_end_of_a_response_sets_the_metadata(events: list[Json], end: JsonObject) -> None:
    assert metadata_of(events) == end


COUNTS: dict[str, tuple[list[Json], JsonObject | None]] = {
    "none": ([None, 3], None),
    "no counts": ([{"trafficType": "ON_DEMAND"}], {}),
    "tool tokens are added to the input, reasoning tokens to the output": (
        [
            {
                "promptTokenCount": 10,
                "toolUsePromptTokenCount": 5,
                "candidatesTokenCount": 7,
                "thoughtsTokenCount": 3,
                "cachedContentTokenCount": 4,
                "totalTokenCount": 25,
            }
        ],
        {
            "inputTokens": 15,
            "outputTokens": 10,
            "totalTokens": 25,
            "reasoningTokens": 3,
            "cachedInputTokens": 4,
            "toolUsePromptTokens": 5,
        },
    ),
    "the last usage replaces earlier ones": (
        [
            {"promptTokenCount": 1, "thoughtsTokenCount": 9},
            {"promptTokenCount": 2, "candidatesTokenCount": "?"},
        ],
        {"inputTokens": 2},
    ),
}


@each_row(("counts", "usage"), COUNTS.values(), ids=COUNTS)
def test_usage_is_read(counts: list[Json], usage: JsonObject | None) -> None:
    found = metadata_of([{"candidates": [], "usageMetadata": count} for count in counts]).get("usage")
    assert found == (None if usage is None else {**usage, "raw": counts[-1]})


# Response bodies


def test_parts_of_a_body_are_not_joined_and_a_signature_is_added_to_its_text() -> None:
    body = response(
        thought("a"), thought("b"), text("c"), text("d"), text("", thoughtSignature="S"), end="STOP"
    )
    marks = {GOOGLE: {"thought": True}}
    assert accumulated(GeminiDecoder().read_body(body)).parts[1:] == (
        ReasoningPart("a", id="0", state="done", provider_metadata=marks),
        ReasoningPart("b", id="1", state="done", provider_metadata=marks),
        TextPart("c", state="done"),
        TextPart("d", state="done", provider_metadata={GOOGLE: {"thoughtSignature": "S"}}),
    )


def test_a_body_that_is_the_array_of_a_stream_is_read_as_one_response() -> None:
    body = [response(text("a")), response(text("b"), {"inlineData": {"data": ""}}, end="STOP")]
    parts = accumulated(GeminiDecoder().read_body(body)).parts[1:]
    assert [type(part) for part in parts] == [TextPart, FilePart]
