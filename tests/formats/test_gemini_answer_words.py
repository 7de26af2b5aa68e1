"""Texts, reasonings, files, ends and errors in answers of Gemini."""

from partita.formats.gemini.stream import GeminiDecoder
from partita.types.json import Json, JsonObject
from partita.types.parts import FilePart, ReasoningPart, TextPart
from tests.formats.gemini_answers import decode, end_of, fold, response, text, thought, told
from tests.tables import each_row

GOOGLE = "google"


def signed(signature: str, **more: Json) -> JsonObject:
    return {"providerMetadata": {GOOGLE: {**more, "thoughtSignature": signature}}}


THOUGHT = {"providerMetadata": {GOOGLE: {"thought": True}}}

WORDS: dict[str, tuple[list[Json], list[JsonObject]]] = {
    "pieces of one kind are one text": (
        [response(text("a")), response(text("b"))],
        [
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "a"},
            {"type": "text-delta", "id": "0", "delta": "b"},
            {"type": "text-end", "id": "0"},
        ],
    ),
    "a thought is reasoning, and ends where the text begins": (
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
    "an empty text says nothing": ([response(text("")), response(thought(""))], []),
    "an empty text that is signed signs the text before it": (
        [response(text("a")), response(text("", thoughtSignature="S"))],
        [
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "a"},
            {"type": "text-delta", "id": "0", "delta": "", **signed("S")},
            {"type": "text-end", "id": "0"},
        ],
    ),
    "without a text before it, it is a text of its own": (
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
    "a signature alone signs too": (
        [response(text("a")), response({"thoughtSignature": "S"})],
        [
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "a"},
            {"type": "text-delta", "id": "0", "delta": "", **signed("S")},
            {"type": "text-end", "id": "0"},
        ],
    ),
    "a signed text is not joined with what comes after it": (
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
    "what a part says beside its words is kept": (
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
    "a picture ends a text": (
        [response(text("a"), {"inlineData": {"mimeType": "image/png", "data": "QUI="}})],
        [
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "a"},
            {"type": "text-end", "id": "0"},
            {"type": "file", "url": "data:image/png;base64,QUI=", "mediaType": "image/png"},
        ],
    ),
    "a picture drawn in thought is reasoning": (
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
    "a file by its address": (
        [response({"fileData": {"fileUri": "https://x.example/a", "mimeType": "text/csv"}})],
        [{"type": "file", "url": "https://x.example/a", "mediaType": "text/csv"}],
    ),
    "a file of unknown kind": (
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
    "only the first candidate is the answer": (
        [{"candidates": [{"index": 1, "content": {"parts": [text("b")]}}]}, response(text("a"))],
        [
            {"type": "data-google-candidate", "data": {"index": 1, "content": {"parts": [text("b")]}}},
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "a"},
            {"type": "text-end", "id": "0"},
        ],
    ),
    "what is not understood is kept": (
        [{"news": 1}, response({"hologram": 1}), response(candidate={"content": {"role": "model", "x": 2}})],
        [
            {"type": "data-google-unknown", "data": {"news": 1}},
            {"type": "data-google-unknown", "data": {"hologram": 1}},
            {"type": "data-google-unknown", "data": {"x": 2}},
        ],
    ),
    "a part that holds the wrong thing is kept": (
        [response({"text": 5}, {"functionCall": 1}, {"inlineData": {"data": 1}}, {"fileData": {}}, 3)],
        [
            {"type": "data-google-unknown", "data": {"text": 5}},
            {"type": "data-google-unknown", "data": {"functionCall": 1}},
            {"type": "data-google-unknown", "data": {"inlineData": {"data": 1}}},
            {"type": "data-google-unknown", "data": {"fileData": {}}},
            {"type": "data-google-unknown", "data": 3},
        ],
    ),
    "a record that is no JSON is told as an error, and kept": (
        ["{half"],
        [
            {"type": "error", "errorText": "unparsable record"},
            {"type": "data-google-unknown", "data": "{half"},
        ],
    ),
    "an answer may have no content at all": (
        [{"candidates": [{"content": {"role": "model"}}]}, {"candidates": [{}]}, {"candidates": []}],
        [],
    ),
}


@each_row(("events", "chunks"), WORDS.values(), ids=WORDS)
def test_the_chunks_of_words(events: list[Json], chunks: list[JsonObject]) -> None:
    assert told(decode(events)) == chunks


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
    "STOP with a call is a call": (
        [response({"functionCall": {"name": "f"}}, end="STOP")],
        {"finishReason": "tool-calls", "rawFinishReason": "STOP"},
    ),
    "STOP with a tool of the server is not": (
        [response({"toolCall": {"toolType": "X", "id": "1"}}, end="STOP")],
        {"finishReason": "stop", "rawFinishReason": "STOP"},
    ),
    "the last reason counts": (
        [response(end="STOP"), response(text("x")), response(end="RECITATION")],
        {"finishReason": "content-filter", "rawFinishReason": "RECITATION"},
    ),
    "a stream that breaks off": ([response(text("x"))], {"finishReason": "interrupted", "complete": False}),
    "nothing at all": ([], {"finishReason": "interrupted", "complete": False}),
    "a blocked prompt": (
        [{"promptFeedback": {"blockReason": "SAFETY"}}],
        {
            "finishReason": "content-filter",
            "rawFinishReason": "promptFeedback:SAFETY",
            "google": {"promptFeedback": {"blockReason": "SAFETY"}},
        },
    ),
    "a block for no reason is none": (
        [{"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}}, response(end="STOP")],
        {
            "finishReason": "stop",
            "rawFinishReason": "STOP",
            "google": {"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}},
        },
    ),
    "an error instead of an answer": (
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
    "errors in other forms": (
        [{"error": "no"}, {"error": [1]}],
        {"finishReason": "error", "errors": ["no", "[1]"], "complete": False, "google": {"error": [1]}},
    ),
    "what is said of the answer is kept, and not unsaid": (
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
def test_how_an_answer_ends(events: list[Json], end: JsonObject) -> None:
    assert end_of(events) == end


COUNTS: dict[str, tuple[list[Json], JsonObject | None]] = {
    "none": ([None, 3], None),
    "nothing counted": ([{"trafficType": "ON_DEMAND"}], {}),
    "tools add to the prompt, thoughts to the answer": (
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
    "the last count holds, whole": (
        [
            {"promptTokenCount": 1, "thoughtsTokenCount": 9},
            {"promptTokenCount": 2, "candidatesTokenCount": "?"},
        ],
        {"inputTokens": 2},
    ),
}


@each_row(("counts", "usage"), COUNTS.values(), ids=COUNTS)
def test_what_an_answer_consumed(counts: list[Json], usage: JsonObject | None) -> None:
    found = end_of([{"candidates": [], "usageMetadata": count} for count in counts]).get("usage")
    assert found == (None if usage is None else {**usage, "raw": counts[-1]})


# Whole bodies


def test_parts_of_a_body_stay_apart_and_a_signature_finds_its_text() -> None:
    body = response(
        thought("a"), thought("b"), text("c"), text("d"), text("", thoughtSignature="S"), end="STOP"
    )
    marks = {GOOGLE: {"thought": True}}
    assert fold(GeminiDecoder().read_body(body)).parts[1:] == (
        ReasoningPart("a", id="0", state="done", provider_metadata=marks),
        ReasoningPart("b", id="1", state="done", provider_metadata=marks),
        TextPart("c", state="done"),
        TextPart("d", state="done", provider_metadata={GOOGLE: {"thoughtSignature": "S"}}),
    )


def test_a_body_that_is_the_array_of_a_stream_is_read_as_one() -> None:
    body = [response(text("a")), response(text("b"), {"inlineData": {"data": ""}}, end="STOP")]
    parts = fold(GeminiDecoder().read_body(body)).parts[1:]
    assert [type(part) for part in parts] == [TextPart, FilePart]
