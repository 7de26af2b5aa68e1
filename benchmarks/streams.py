"""The measured streams as plain JSON, the same for all libraries."""

from collections.abc import Callable, Mapping

from partita.types.json import JsonObject

WORDS = (
    "every",
    "message",
    "an",
    "agent",
    "sends",
    "or",
    "receives",
    "is",
    "kept",
    "whole",
    "and",
    "in",
    "order",
)


def text(deltas: int) -> list[JsonObject]:
    """A long text, one word for each delta."""
    return [
        {"type": "start", "messageId": "m"},
        {"type": "start-step"},
        {"type": "text-start", "id": "t"},
        *({"type": "text-delta", "id": "t", "delta": WORDS[i % len(WORDS)] + " "} for i in range(deltas)),
        {"type": "text-end", "id": "t"},
        {"type": "finish-step"},
        {"type": "finish", "finishReason": "stop"},
    ]


def tool_input(deltas: int) -> list[JsonObject]:
    """A file that a coding agent writes: one long string in the input of a call."""
    return [
        {"type": "start", "messageId": "m"},
        {"type": "start-step"},
        {"type": "tool-input-start", "toolCallId": "c", "toolName": "write_file"},
        {
            "type": "tool-input-delta",
            "toolCallId": "c",
            "inputTextDelta": '{"path": "notes.md", "content": "',
        },
        *(
            {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": WORDS[i % len(WORDS)] + " "}
            for i in range(deltas)
        ),
        {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '"}'},
        {"type": "finish-step"},
        {"type": "finish"},
    ]


def text_after_big_part(deltas: int) -> list[JsonObject]:
    """A long text after a tool output of 200 kB."""
    rows = [{"row": i, "name": f"name {i}", "tags": ["a", "b", "c"]} for i in range(4000)]
    head: list[JsonObject] = [
        {"type": "tool-input-available", "toolCallId": "c", "toolName": "query", "input": {"sql": "select"}},
        {"type": "tool-output-available", "toolCallId": "c", "output": rows},
    ]
    stream = text(deltas)
    return stream[:2] + head + stream[2:]


STREAMS: Mapping[str, Callable[[int], list[JsonObject]]] = {
    "text": text,
    "tool-input": tool_input,
    "text-after-big-part": text_after_big_part,
}
SIZES = (1_000, 4_000, 16_000)
