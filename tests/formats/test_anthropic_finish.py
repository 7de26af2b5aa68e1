"""The end of an Anthropic response: finish reason, usage, errors and interrupted blocks."""

from typing import Final

from partita.formats.anthropic.stream import AnthropicDecoder, read_usage
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import CustomPart, TextPart
from tests.decoding import accumulated, decode_all
from tests.tables import each_row

USAGE: Final[JsonObject] = {"input_tokens": 10, "output_tokens": 1}
BEGUN: Final[JsonObject] = {
    "type": "message_start",
    "message": {"id": "msg_1", "type": "message", "model": "claude-test", "content": [], "usage": USAGE},
}
TEXT: Final[list[Json]] = [
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Six"}},
    {"type": "content_block_stop", "index": 0},
]


def decode(*events: Json) -> AssistantMessage:
    return accumulated(decode_all(AnthropicDecoder(), events))


def metadata_of(message: AssistantMessage) -> JsonObject:
    metadata: Json = message.content.metadata
    return dict(metadata)


def delta(reason: Json, usage: JsonObject | None = None, **more: Json) -> JsonObject:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, **more},
        "usage": usage or {"output_tokens": 7},
    }


STOP: Final[JsonObject] = {"type": "message_stop"}

REASONS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
    "compaction": "other",
    "a_new_one": "other",
}


@each_row(("raw", "reason"), REASONS.items(), ids=REASONS)
def test_finish_reasons_are_normalized_and_kept(raw: str, reason: str) -> None:
    metadata = metadata_of(decode(BEGUN, *TEXT, delta(raw), STOP))
    assert (metadata["finishReason"], metadata["rawFinishReason"]) == (reason, raw)
    assert "complete" not in metadata


OVERLOADED: Final = {"type": "overloaded_error", "message": "Overloaded"}

ENDS: Final[dict[str, tuple[list[Json], JsonObject]]] = {
    "an empty stream": ([], {"finishReason": "interrupted", "complete": False}),
    "no finish reason": (
        [BEGUN, *TEXT],
        {"finishReason": "interrupted", "complete": False, "model": "claude-test", "responseId": "msg_1"},
    ),
    "a finish reason without a stop event": (
        [BEGUN, *TEXT, delta("end_turn")],
        {
            "finishReason": "stop",
            "rawFinishReason": "end_turn",
            "model": "claude-test",
            "responseId": "msg_1",
        },
    ),
    "an error within a text": (
        [BEGUN, *TEXT, {"type": "error", "error": OVERLOADED}],
        {
            "finishReason": "error",
            "errors": ["Overloaded"],
            "complete": False,
            "model": "claude-test",
            "responseId": "msg_1",
            "anthropic": {"errors": [{"type": "error", "error": OVERLOADED}]},
        },
    ),
    "an error without a type": (
        [{"error": "no such key"}],
        {
            "finishReason": "error",
            "errors": ["no such key"],
            "complete": False,
            "anthropic": {"errors": [{"error": "no such key"}]},
        },
    ),
    "an error without a message": (
        [{"type": "error", "error": {"code": 7}}],
        {
            "finishReason": "error",
            "errors": ['{"code":7}'],
            "complete": False,
            "anthropic": {"errors": [{"type": "error", "error": {"code": 7}}]},
        },
    ),
    "other members of the response": (
        [
            BEGUN,
            delta("refusal", stop_details={"type": "refusal"}, stop_sequence=None, container={"id": "c"})
            | {"context_management": {"applied_edits": []}, "mood": "calm"},
            STOP,
        ],
        {
            "finishReason": "content-filter",
            "rawFinishReason": "refusal",
            "model": "claude-test",
            "responseId": "msg_1",
            "anthropic": {
                "stopDetails": {"type": "refusal"},
                "container": {"id": "c"},
                "contextManagement": {"applied_edits": []},
                "mood": "calm",
            },
        },
    ),
}


@each_row(("events", "expected"), ENDS.values(), ids=ENDS)
def test_the_end_of_a_stream_sets_the_metadata(events: list[Json], expected: JsonObject) -> None:
    metadata = metadata_of(decode(*events))
    metadata.pop("usage", None)
    assert metadata == expected


BODIES: Final[dict[str, tuple[Json, list[str]]]] = {
    "an error": ({"type": "error", "error": {"type": "x", "message": "too long"}}, ["too long"]),
    "an error in an unknown shape": ({"error": ["busy"]}, ['["busy"]']),
    "a text": ("<html>", ["the body is neither a message nor an error"]),
    "nothing": (None, ["the body is neither a message nor an error"]),
}


@each_row(("body", "errors"), BODIES.values(), ids=BODIES)
def test_a_body_that_is_not_a_message_is_an_error(body: Json, errors: list[str]) -> None:
    metadata = metadata_of(accumulated(AnthropicDecoder().read_body(body)))
    assert (metadata["finishReason"], metadata["errors"]) == ("error", errors)
    assert "complete" not in metadata


def test_the_request_id_of_an_error_body_is_kept() -> None:
    body = {"type": "error", "error": {"message": "no"}, "request_id": "req_1"}
    metadata = metadata_of(accumulated(AnthropicDecoder().read_body(body)))
    assert metadata["anthropic"]["requestId"] == "req_1"


def test_a_complete_body_in_a_stream_is_read() -> None:
    body = {**BEGUN["message"], "content": [{"type": "text", "text": "Six"}], "stop_reason": "end_turn"}
    assert decode(body) == accumulated(AnthropicDecoder().read_body(body))


CALL: Final[list[Json]] = [
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "c", "name": "tide", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '{"port": "Ob'},
    },
]
CLOSED: Final[JsonObject] = {"type": "content_block_stop", "index": 1}

CUTS: Final[dict[str, list[Json]]] = {
    "the stream broke off": [],
    "the answer was too long": [CLOSED, delta("max_tokens"), STOP],
    "the model refused": [CLOSED, delta("refusal"), STOP],
    "the provider failed": [{"type": "error", "error": {"message": "Overloaded"}}],
}


@each_row("rest", CUTS.values(), ids=CUTS)
def test_an_interrupted_call_stays_open_with_its_raw_input(rest: list[Json]) -> None:
    call = decode(BEGUN, *TEXT, *CALL, *rest).parts[-1]
    assert isinstance(call, ToolCallPart)
    assert (call.state, call.raw_input) == ("input-streaming", '{"port": "Ob')


def test_an_interrupted_text_is_closed_and_keeps_its_citations() -> None:
    cited = {"type": "search_result_location", "source": "a"}
    opened = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": "Si", "citations": [cited]},
    }
    text = decode(BEGUN, opened).parts[1]
    assert isinstance(text, TextPart)
    assert (text.state, text.provider_metadata) == ("done", {"anthropic": {"citations": [cited]}})


def test_an_interrupted_unknown_block_is_kept() -> None:
    opened = {"type": "content_block_start", "index": 0, "content_block": {"type": "vision"}}
    assert isinstance(decode(BEGUN, opened).parts[1], CustomPart)


# Usage

ROUND: Final[JsonObject] = {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 5}

USAGES: Final[dict[str, tuple[JsonObject, JsonObject]]] = {
    "only input and output": (
        {"input_tokens": 10, "output_tokens": 4},
        {
            "inputTokens": 10,
            "outputTokens": 4,
            "totalTokens": 14,
            "cachedInputTokens": 0,
            "cacheWriteTokens": 0,
        },
    ),
    "cache tokens are added to the input": (
        {
            "input_tokens": 10,
            "cache_read_input_tokens": 5,
            "cache_creation_input_tokens": 3,
            "output_tokens": 4,
            "output_tokens_details": {"thinking_tokens": 2},
        },
        {
            "inputTokens": 18,
            "outputTokens": 4,
            "totalTokens": 22,
            "reasoningTokens": 2,
            "cachedInputTokens": 5,
            "cacheWriteTokens": 3,
        },
    ),
    "billed tokens are summed over the iterations of the same model": (
        {
            "input_tokens": 1,
            "output_tokens": 2,
            "iterations": [
                {**ROUND, "type": "compaction"},
                {**ROUND, "type": "advisor_message"},
                {**ROUND, "type": "message"},
            ],
        },
        {
            "inputTokens": 1,
            "outputTokens": 2,
            "totalTokens": 3,
            "cachedInputTokens": 0,
            "cacheWriteTokens": 0,
            "billed": {"input": 240, "output": 10},
        },
    ),
    "the usage of a fallback model is not added": (
        {
            "input_tokens": 1,
            "output_tokens": 2,
            "iterations": [{**ROUND, "type": "message"}, {**ROUND, "type": "fallback_message"}],
        },
        {
            "inputTokens": 1,
            "outputTokens": 2,
            "totalTokens": 3,
            "cachedInputTokens": 0,
            "cacheWriteTokens": 0,
        },
    ),
    "invalid counts": (
        {"input_tokens": "many", "output_tokens": True, "iterations": [7, {"type": "message"}]},
        {"cachedInputTokens": 0, "cacheWriteTokens": 0, "billed": {"input": 0, "output": 0}},
    ),
}


@each_row(("raw", "expected"), USAGES.values(), ids=USAGES)
def test_usage(raw: JsonObject, expected: JsonObject) -> None:
    usage = read_usage(raw)
    assert usage is not None
    assert to_json(usage) == {**expected, "raw": raw}


def test_later_counts_replace_earlier_ones_except_nulls() -> None:
    later = delta("end_turn", {"output_tokens": 9, "input_tokens": None, "server_tool_use": None})
    raw = metadata_of(decode(BEGUN, later, STOP))["usage"]["raw"]
    assert raw == {"input_tokens": 10, "output_tokens": 9, "server_tool_use": None}
