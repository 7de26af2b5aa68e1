"""How an Anthropic answer ends: its reason, what it consumed, what went wrong, what was cut."""

from typing import Final

from partita.formats.anthropic.stream import AnthropicDecoder, read_usage
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import CustomPart, TextPart
from tests.tables import each_row

USAGE: Final[JsonObject] = {"input_tokens": 10, "output_tokens": 1}
BEGUN: Final[JsonObject] = {
    "type": "message_start",
    "message": {"id": "msg_1", "type": "message", "model": "claude-test", "content": [], "usage": USAGE},
}
WORDS: Final[list[Json]] = [
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Six"}},
    {"type": "content_block_stop", "index": 0},
]


def message_of(chunks: list[Chunk]) -> AssistantMessage:
    accumulator = Accumulator(id="message")
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.snapshot()


def decode(*events: Json) -> AssistantMessage:
    decoder = AnthropicDecoder()
    return message_of([*(chunk for event in events for chunk in decoder.feed(event)), *decoder.finish()])


def said(message: AssistantMessage) -> JsonObject:
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
def test_why_it_ended_in_our_word_and_in_theirs(raw: str, reason: str) -> None:
    told = said(decode(BEGUN, *WORDS, delta(raw), STOP))
    assert (told["finishReason"], told["rawFinishReason"]) == (reason, raw)
    assert "complete" not in told


OVERLOADED: Final = {"type": "overloaded_error", "message": "Overloaded"}

ENDS: Final[dict[str, tuple[list[Json], JsonObject]]] = {
    "nothing came": ([], {"finishReason": "interrupted", "complete": False}),
    "no reason came": (
        [BEGUN, *WORDS],
        {"finishReason": "interrupted", "complete": False, "model": "claude-test", "responseId": "msg_1"},
    ),
    "a reason and no end": (
        [BEGUN, *WORDS, delta("end_turn")],
        {
            "finishReason": "stop",
            "rawFinishReason": "end_turn",
            "model": "claude-test",
            "responseId": "msg_1",
        },
    ),
    "an error in mid text": (
        [BEGUN, *WORDS, {"type": "error", "error": OVERLOADED}],
        {
            "finishReason": "error",
            "errors": ["Overloaded"],
            "complete": False,
            "model": "claude-test",
            "responseId": "msg_1",
            "anthropic": {"errors": [{"type": "error", "error": OVERLOADED}]},
        },
    ),
    "an error without a type around it": (
        [{"error": "no such key"}],
        {
            "finishReason": "error",
            "errors": ["no such key"],
            "complete": False,
            "anthropic": {"errors": [{"error": "no such key"}]},
        },
    ),
    "an error without words": (
        [{"type": "error", "error": {"code": 7}}],
        {
            "finishReason": "error",
            "errors": ['{"code":7}'],
            "complete": False,
            "anthropic": {"errors": [{"type": "error", "error": {"code": 7}}]},
        },
    ),
    "what else is said of the answer": (
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
def test_ends(events: list[Json], expected: JsonObject) -> None:
    told = said(decode(*events))
    told.pop("usage", None)
    assert told == expected


BODIES: Final[dict[str, tuple[Json, list[str]]]] = {
    "an error": ({"type": "error", "error": {"type": "x", "message": "too long"}}, ["too long"]),
    "an error in a shape of its own": ({"error": ["busy"]}, ['["busy"]']),
    "a text": ("<html>", ["the body is neither a message nor an error"]),
    "nothing": (None, ["the body is neither a message nor an error"]),
}


@each_row(("body", "errors"), BODIES.values(), ids=BODIES)
def test_a_body_that_is_no_message_is_an_error(body: Json, errors: list[str]) -> None:
    told = said(message_of(AnthropicDecoder().read_body(body)))
    assert (told["finishReason"], told["errors"]) == ("error", errors)
    assert "complete" not in told


def test_a_body_keeps_the_id_of_its_request() -> None:
    body = {"type": "error", "error": {"message": "no"}, "request_id": "req_1"}
    told = said(message_of(AnthropicDecoder().read_body(body)))
    assert told["anthropic"]["requestId"] == "req_1"


def test_a_whole_answer_where_a_stream_was_asked_for() -> None:
    body = {**BEGUN["message"], "content": [{"type": "text", "text": "Six"}], "stop_reason": "end_turn"}
    assert decode(body) == message_of(AnthropicDecoder().read_body(body))


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
def test_a_call_that_was_cut_stays_open_with_its_words(rest: list[Json]) -> None:
    call = decode(BEGUN, *WORDS, *CALL, *rest).parts[-1]
    assert isinstance(call, ToolCallPart)
    assert (call.state, call.raw_input) == ("input-streaming", '{"port": "Ob')


def test_a_text_that_was_cut_is_closed_with_its_citations() -> None:
    cited = {"type": "search_result_location", "source": "a"}
    opened = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": "Si", "citations": [cited]},
    }
    text = decode(BEGUN, opened).parts[1]
    assert isinstance(text, TextPart)
    assert (text.state, text.provider_metadata) == ("done", {"anthropic": {"citations": [cited]}})


def test_a_block_of_a_new_kind_that_was_cut_is_kept() -> None:
    opened = {"type": "content_block_start", "index": 0, "content_block": {"type": "vision"}}
    assert isinstance(decode(BEGUN, opened).parts[1], CustomPart)


# What it consumed

ROUND: Final[JsonObject] = {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 5}

USAGES: Final[dict[str, tuple[JsonObject, JsonObject]]] = {
    "input and output alone": (
        {"input_tokens": 10, "output_tokens": 4},
        {
            "inputTokens": 10,
            "outputTokens": 4,
            "totalTokens": 14,
            "cachedInputTokens": 0,
            "cacheWriteTokens": 0,
        },
    ),
    "the cache is counted apart": (
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
    "several passes are paid together, another model's apart": (
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
    "a model that took over is on the outside already": (
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
    "counts that are none": (
        {"input_tokens": "many", "output_tokens": True, "iterations": [7, {"type": "message"}]},
        {"cachedInputTokens": 0, "cacheWriteTokens": 0, "billed": {"input": 0, "output": 0}},
    ),
}


@each_row(("raw", "expected"), USAGES.values(), ids=USAGES)
def test_usage(raw: JsonObject, expected: JsonObject) -> None:
    usage = read_usage(raw)
    assert usage is not None
    assert to_json(usage) == {**expected, "raw": raw}


def test_later_counts_replace_earlier_ones_but_for_nulls() -> None:
    later = delta("end_turn", {"output_tokens": 9, "input_tokens": None, "server_tool_use": None})
    raw = said(decode(BEGUN, later, STOP))["usage"]["raw"]
    assert raw == {"input_tokens": 10, "output_tokens": 9, "server_tool_use": None}
