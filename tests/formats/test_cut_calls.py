"""A stream that ends inside the input of a call leaves what can be read of the input, as a value."""

from typing import Final

from partita import Accumulator, InterruptedOutput, ToolCallPart, get_format
from partita.types.json import Json, JsonObject
from tests.formats.mastra_streams import chunk
from tests.tables import each_row

PIECE: Final = '{"place": "Slet'


def chat(finish: str | None) -> list[Json]:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "tide", "arguments": PIECE}}
    record: JsonObject = {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"tool_calls": [call]}}],
    }
    ended: JsonObject = {**record, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    return [record] if finish is None else [record, ended]


def responses(*last: JsonObject) -> list[Json]:
    item = {"type": "function_call", "id": "i", "call_id": "c", "name": "tide", "arguments": ""}
    delta = {
        "type": "response.function_call_arguments.delta",
        "output_index": 0,
        "item_id": "i",
        "delta": PIECE,
    }
    return [{"type": "response.output_item.added", "output_index": 0, "item": item}, delta, *last]


def anthropic(*last: JsonObject) -> list[Json]:
    block = {"type": "tool_use", "id": "c", "name": "tide", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": PIECE}
    return [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        *last,
    ]


def gemini(**candidate: Json) -> list[Json]:
    piece = {"jsonPath": "$.place", "stringValue": "Slet", "willContinue": True}
    calls = [{"name": "tide", "willContinue": True}, {"partialArgs": [piece], "willContinue": True}]
    contents = [{"role": "model", "parts": [{"functionCall": call}]} for call in calls]
    return [{"candidates": [{"content": content, **candidate}]} for content in contents]


MASTRA: Final = [
    chunk("start", messageId="m"),
    chunk("tool-call-input-streaming-start", toolCallId="c", toolName="tide"),
    chunk("tool-call-delta", toolCallId="c", toolName="tide", argsTextDelta=PIECE),
]
V4: Final = [
    ["b", {"toolCallId": "c", "toolName": "tide"}],
    ["c", {"toolCallId": "c", "argsTextDelta": PIECE}],
]
FULL: Final = [
    {"type": "start"},
    {"type": "tool-input-start", "id": "c", "toolName": "tide"},
    {"type": "tool-input-delta", "id": "c", "delta": PIECE},
]
AG_UI: Final = [
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
    {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "tide"},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": PIECE},
]
INCOMPLETE: JsonObject = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}

CUT: Final[dict[str, tuple[str, list[Json]]]] = {
    "chat": ("openai-chat", chat(None)),
    "chat, too long": ("openai-chat", chat("length")),
    "chat, filtered": ("openai-chat", chat("content_filter")),
    "responses": ("openai-responses", responses()),
    "responses, too long": (
        "openai-responses",
        responses({"type": "response.incomplete", "response": INCOMPLETE}),
    ),
    "anthropic": ("anthropic", anthropic()),
    "anthropic, too long": (
        "anthropic",
        anthropic(
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {}},
            {"type": "message_stop"},
        ),
    ),
    "gemini": ("gemini", gemini()),
    "gemini, too long": ("gemini", gemini(finishReason="MAX_TOKENS")),
    "mastra": ("mastra-stream", [*MASTRA]),
    "data stream": ("ai-sdk-data-stream-v4", [tuple(line) for line in V4]),
    "full stream 5": ("ai-sdk-full-stream-v5", [*FULL]),
    "full stream 6": ("ai-sdk-full-stream-v6", [*FULL]),
    "full stream 7": ("ai-sdk-full-stream-v7", [*FULL]),
    "ag-ui": ("ag-ui", [*AG_UI]),
}


@each_row(("name", "events"), CUT.values(), ids=CUT)
def test_the_input_so_far_is_a_value(name: str, events: list[Json]) -> None:
    make = get_format(name).decoder
    assert make is not None
    decoder, accumulator = make(), Accumulator()
    for made in [*(made for event in events for made in decoder.feed(event)), *decoder.finish()]:
        accumulator.feed(made)
    (call,) = [part for part in accumulator.snapshot().parts if isinstance(part, ToolCallPart)]
    assert (call.state, call.input) == ("input-streaming", {"place": "Slet"})
    (call,) = [part for part in accumulator.finish("lost").parts if isinstance(part, ToolCallPart)]
    assert (call.input, call.output) == ({"place": "Slet"}, InterruptedOutput("lost"))
