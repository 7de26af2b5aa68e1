"""The four families of providers: a service of each, and a response with every kind of part.

In all of them a model thinks, says "Let me look." and asks for the weather in Bergen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from partita.runtime.providers.service import ProviderService
from partita.runtime.providers.vendors import (
    AnthropicService,
    GeminiService,
    OpenAIChatService,
    OpenAIResponsesService,
)
from partita.types.json import JsonObject, dumps

Service: TypeAlias = ProviderService[Any]

KEY = "a-key-for-tests"


@dataclass(frozen=True)
class Family:
    """A family of providers: its service and its responses."""

    make: Callable[..., Service]
    format_name: str
    path: str
    auth: tuple[str, str]
    events: Sequence[JsonObject]
    ending: bytes = b""
    names: bool = False
    base: str = ""
    refusal: JsonObject = field(default_factory=dict[str, Any])
    """The body of its response to too many requests."""
    failure: JsonObject = field(default_factory=dict[str, Any])
    """The event with which it reports an overload within a stream."""

    @property
    def body(self) -> bytes:
        """The body of the response."""
        return framed(self.events, names=self.names) + self.ending

    def service(self, address: str, **arguments: Any) -> Service:
        """A service that sends its requests to `address`."""
        given = {"api_key": KEY, "max_retries": 0, **arguments}
        return self.make("m-1", base_url=address + self.base, **given)


def framed(events: Sequence[JsonObject], *, names: bool = False) -> bytes:
    """Events as server-sent events."""
    heads = [f"event: {event['type']}\n".encode() if names else b"" for event in events]
    return b"".join(
        head + b"data: " + dumps(event) + b"\n\n" for head, event in zip(heads, events, strict=True)
    )


def _chat(delta: JsonObject, reason: str | None = None, **more: Any) -> JsonObject:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "chat-1", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice], **more}


CHAT: list[JsonObject] = [
    _chat({"role": "assistant", "content": ""}),
    _chat({"reasoning_content": "Weather. "}),
    _chat({"reasoning_content": "A tool knows it."}),
    _chat({"content": "Let me"}),
    _chat({"content": " look."}),
    _chat(
        {
            "tool_calls": [
                {
                    "index": 0,
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": ""},
                }
            ]
        }
    ),
    _chat({"tool_calls": [{"index": 0, "function": {"arguments": '{"city":'}}]}),
    _chat({"tool_calls": [{"index": 0, "function": {"arguments": '"Bergen"}'}}]}),
    _chat({}, "tool_calls"),
    {**_chat({}), "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}},
]

_MESSAGE: JsonObject = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m-1",
    "content": [],
    "stop_reason": None,
    "usage": {"input_tokens": 9, "output_tokens": 1},
}


def _block(index: int, block: JsonObject, *deltas: JsonObject) -> list[JsonObject]:
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


ANTHROPIC: list[JsonObject] = [
    {"type": "message_start", "message": _MESSAGE},
    *_block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Weather. "},
        {"type": "thinking_delta", "thinking": "A tool knows it."},
        {"type": "signature_delta", "signature": "c2lnbmVk"},
    ),
    {"type": "ping"},
    *_block(
        1,
        {"type": "text", "text": ""},
        {"type": "text_delta", "text": "Let me"},
        {"type": "text_delta", "text": " look."},
    ),
    *_block(
        2,
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"city":'},
        {"type": "input_json_delta", "partial_json": '"Bergen"}'},
    ),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]

_REASONING: JsonObject = {"id": "rs_1", "type": "reasoning", "summary": []}
_SUMMARY: JsonObject = {"type": "summary_text", "text": "Weather. A tool knows it."}
_ITEM: JsonObject = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
_TEXT: JsonObject = {"type": "output_text", "text": "Let me look.", "annotations": []}
_CALL: JsonObject = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "weather"}
_ITEMS: list[JsonObject] = [
    {**_REASONING, "summary": [_SUMMARY]},
    {**_ITEM, "content": [_TEXT]},
    {**_CALL, "arguments": '{"city":"Bergen"}', "status": "completed"},
]
_RESPONSE: JsonObject = {
    "id": "resp_1",
    "object": "response",
    "model": "m-1",
    "status": "in_progress",
    "output": [],
}


def _at(kind: str, index: int, **more: Any) -> JsonObject:
    ids = {"item_id": _ITEMS[index]["id"]} if "item." not in kind and "output_item" not in kind else {}
    return {"type": f"response.{kind}", "output_index": index, **ids, **more}


RESPONSES: list[JsonObject] = [
    {"type": "response.created", "response": _RESPONSE},
    _at("output_item.added", 0, item=_REASONING),
    _at("reasoning_summary_part.added", 0, summary_index=0, part={"type": "summary_text", "text": ""}),
    _at("reasoning_summary_text.delta", 0, summary_index=0, delta="Weather. "),
    _at("reasoning_summary_text.delta", 0, summary_index=0, delta="A tool knows it."),
    _at("reasoning_summary_text.done", 0, summary_index=0, text=_SUMMARY["text"]),
    _at("reasoning_summary_part.done", 0, summary_index=0, part=_SUMMARY),
    _at("output_item.done", 0, item=_ITEMS[0]),
    _at("output_item.added", 1, item={**_ITEM, "status": "in_progress", "content": []}),
    _at("content_part.added", 1, content_index=0, part={**_TEXT, "text": ""}),
    _at("output_text.delta", 1, content_index=0, delta="Let me"),
    _at("output_text.delta", 1, content_index=0, delta=" look."),
    _at("output_text.done", 1, content_index=0, text=_TEXT["text"]),
    _at("content_part.done", 1, content_index=0, part=_TEXT),
    _at("output_item.done", 1, item=_ITEMS[1]),
    _at("output_item.added", 2, item={**_CALL, "arguments": "", "status": "in_progress"}),
    _at("function_call_arguments.delta", 2, delta='{"city":'),
    _at("function_call_arguments.delta", 2, delta='"Bergen"}'),
    _at("function_call_arguments.done", 2, arguments='{"city":"Bergen"}'),
    _at("output_item.done", 2, item=_ITEMS[2]),
    {
        "type": "response.completed",
        "response": {
            **_RESPONSE,
            "status": "completed",
            "output": _ITEMS,
            "usage": {"input_tokens": 9, "output_tokens": 7, "total_tokens": 16},
        },
    },
]


def _gemini(part: JsonObject, **more: Any) -> JsonObject:
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, **more}
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 7, "totalTokenCount": 16}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m-1", "responseId": "g-1"}


GEMINI: list[JsonObject] = [
    _gemini({"text": "Weather. ", "thought": True}),
    _gemini({"text": "A tool knows it.", "thought": True}),
    _gemini({"text": "Let me"}),
    _gemini({"text": " look."}),
    _gemini(
        {"functionCall": {"name": "weather", "args": {"city": "Bergen"}}, "thoughtSignature": "c2lnbmVk"},
        finishReason="STOP",
    ),
]

FAMILIES = {
    "openai-chat": Family(
        OpenAIChatService,
        "openai-chat",
        "/chat/completions",
        ("authorization", f"Bearer {KEY}"),
        CHAT,
        ending=b"data: [DONE]\n\n",
        refusal={"error": {"message": "Slow down.", "type": "requests", "code": "rate_limit_exceeded"}},
        failure={"error": {"message": "Too much to do.", "type": "server_error", "code": 503}},
    ),
    "openai-responses": Family(
        OpenAIResponsesService,
        "openai-responses",
        "/responses",
        ("authorization", f"Bearer {KEY}"),
        RESPONSES,
        names=True,
        refusal={"error": {"message": "Slow down.", "type": "requests", "code": "rate_limit_exceeded"}},
        failure={"type": "error", "code": "server_error", "message": "Too much to do.", "param": None},
    ),
    "anthropic": Family(
        AnthropicService,
        "anthropic",
        "/v1/messages",
        ("authorization", f"Bearer {KEY}"),
        ANTHROPIC,
        names=True,
        refusal={"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}},
        failure={"type": "error", "error": {"type": "overloaded_error", "message": "Too much to do."}},
    ),
    "gemini": Family(
        GeminiService,
        "gemini",
        "/v1/models/m-1:streamGenerateContent?alt=sse",
        ("x-goog-api-key", KEY),
        GEMINI,
        refusal={"error": {"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED"}},
        failure={"error": {"code": 503, "message": "Too much to do.", "status": "UNAVAILABLE"}},
    ),
}
FAILURE_NAMES = {
    "openai-chat": "overloaded",
    "openai-responses": "server-error",
    "anthropic": "overloaded",
    "gemini": "overloaded",
}
