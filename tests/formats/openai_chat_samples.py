"""Samples of Chat Completions: a request, responses and streams with every member."""

from typing import Any

from partita.formats.openai_chat.stream import ChatDecoder
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject
from tests.decoding import decode_all

PIXEL = "data:image/png;base64,iVBORw=="
PAGE = "data:application/pdf;base64,JVBERi0="


def function(id_: str, name: str, arguments: str, **more: Json) -> JsonObject:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


REQUEST: JsonObject = {
    "model": "gpt-keeper",
    "stream": True,
    "temperature": 0.5,
    "metadata": {"desk": "harbour"},
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "tide",
                "description": "Tells the tide.",
                "parameters": {"type": "object", "properties": {"port": {"type": "string"}}},
                "strict": True,
            },
        },
        {"type": "custom", "custom": {"name": "sql", "description": "Asks the log."}},
    ],
    "messages": [
        {"role": "system", "content": "You keep the light.", "name": "harbour"},
        {
            "role": "developer",
            "content": [{"type": "text", "text": "Be brief.", "prompt_cache_breakpoint": True}],
        },
        {"role": "user", "content": "How high is the water?", "name": "mate"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look at these."},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}},
                {"type": "image_url", "image_url": {"url": PIXEL}, "prompt_cache_breakpoint": {"mode": "on"}},
                {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
                {"type": "input_audio", "input_audio": {"data": "ZkxhQw==", "format": "flac"}},
                {"type": "file", "file": {"filename": "chart.pdf", "file_data": PAGE}},
                {"type": "file", "file": {"file_id": "file-7"}},
                {"type": "hologram", "beam": {"colour": "red"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "refusal": None,
            "audio": {"id": "audio-3"},
            "tool_calls": [
                function("call-1", "tide", '{"port":"Vardø"}'),
                function(
                    "call-2",
                    "tide",
                    '{ "port" : "Kiberg" }',
                    extra_content={"google": {"thought_signature": "s1"}},
                ),
                function("call-3", "tide", '{"port": '),
                {"id": "call-4", "type": "custom", "custom": {"name": "sql", "input": "select tide"}},
                {"id": "call-5", "type": "wave", "wave": {"height": 3}},
            ],
        },
        {"role": "tool", "tool_call_id": "call-2", "content": "2.1 m"},
        {
            "role": "tool",
            "tool_call_id": "call-1",
            "content": [{"type": "text", "text": "1.9 m"}],
            "name": "tide",
        },
        {"role": "tool", "tool_call_id": "call-3", "content": "the port is missing"},
        {"role": "tool", "tool_call_id": "call-4", "content": ""},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "It is high."},
                {"type": "refusal", "refusal": "No more than that."},
            ],
            "name": "keeper",
        },
        {"role": "user", "content": "Again?"},
        {"role": "assistant", "content": "", "tool_calls": [function("call-1", "tide", "{}")]},
        {"role": "tool", "tool_call_id": "call-1", "content": "1.8 m"},
        {
            "role": "assistant",
            "content": "Falling.",
            "extra_content": {"google": {"thought_signature": "s2"}},
        },
        {"role": "user", "content": "And then?"},
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "tide", "arguments": '{"port":"Bø"}'},
        },
        {"role": "function", "name": "tide", "content": "0.4 m"},
        {"role": "assistant", "content": None, "refusal": "I may not say."},
        {"role": "user", "content": "Good night."},
    ],
}
"""A request that fits the rules of OpenAI."""

REASONING: dict[str, JsonObject] = {
    "deepseek": {"content": "Yes.", "reasoning_content": "It rains."},
    "groq": {"content": "Yes.", "reasoning": "It rains."},
    "mistral": {
        "content": [
            {
                "type": "thinking",
                "thinking": [{"type": "text", "text": "It rains."}],
                "closed": True,
                "signature": "s3",
            },
            {
                "type": "thinking",
                "thinking": [{"type": "text", "text": "It "}, {"type": "text", "text": "pours."}],
            },
            {"type": "text", "text": "Yes."},
        ]
    },
    "ollama": {"content": "Yes.", "reasoning": "It rains."},
    "openrouter": {
        "content": "Yes.",
        "reasoning": "It rains.",
        "reasoning_details": [
            {
                "type": "reasoning.text",
                "text": "It rains.",
                "signature": "s4",
                "format": "tide-v1",
                "index": 0,
            },
            {"type": "reasoning.encrypted", "data": "b10b", "id": "r-1", "format": "tide-v1", "index": 1},
        ],
    },
    "vllm": {"content": "Yes.", "reasoning": "It rains.", "reasoning_content": "It rains."},
    "xai": {"content": "Yes."},
}
"""A response of each server, with the members that it requires back."""


def request_with_reasoning(server: str) -> JsonObject:
    """Return a request that contains an earlier response of the server."""
    return {
        "messages": [
            {"role": "system", "content": "You keep the light."},
            {"role": "user", "content": "Does it rain?"},
            {"role": "assistant", **REASONING[server]},
            {"role": "user", "content": "Still?"},
        ]
    }


RESPONSE: JsonObject = {
    "id": "chatcmpl-9",
    "object": "chat.completion",
    "created": 1772355600,
    "model": "gpt-keeper-2026",
    "service_tier": "default",
    "system_fingerprint": "fp_1",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "See the chart.",
                "refusal": None,
                "annotations": [
                    {
                        "type": "url_citation",
                        "url_citation": {
                            "url": "https://example.com/chart",
                            "title": "The chart",
                            "start_index": 4,
                            "end_index": 13,
                        },
                    }
                ],
                "tool_calls": [function("call-8", "tide", '{ "port": "Vardø" }')],
            },
            "logprobs": {
                "content": [{"token": "See", "logprob": -0.25, "bytes": [83], "top_logprobs": []}],
                "refusal": None,
            },
            "finish_reason": "tool_calls",
        },
        {
            "index": 1,
            "message": {"role": "assistant", "content": "Look out.", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        },
    ],
    "usage": {
        "prompt_tokens": 40,
        "completion_tokens": 16,
        "total_tokens": 56,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 4},
    },
}


def _record(delta: JsonObject, **more: Json) -> JsonObject:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None, **more}
    return {
        "id": "chatcmpl-9",
        "object": "chat.completion.chunk",
        "created": 1772355600,
        "model": "gpt-keeper-2026",
        "system_fingerprint": "fp_1",
        "choices": [choice],
        "usage": None,
        "obfuscation": "x7Hq",
    }


STREAM: list[Json] = [
    _record({"role": "assistant", "content": "", "refusal": None}),
    _record({"reasoning_content": "It rains."}),
    _record({"content": "See "}),
    _record({"content": "the chart."}),
    _record(
        {
            "tool_calls": [
                {
                    "index": 0,
                    "id": "call-8",
                    "type": "function",
                    "function": {"name": "tide", "arguments": ""},
                }
            ]
        }
    ),
    _record({"tool_calls": [{"index": 0, "function": {"arguments": '{"port":"Vardø"}'}}]}),
    _record({}, finish_reason="tool_calls"),
    {
        **_record({}),
        "choices": [],
        "usage": {"prompt_tokens": 40, "completion_tokens": 16, "total_tokens": 56},
    },
    "[DONE]",
]


def record(delta: JsonObject | None = None, **fields: Any) -> JsonObject:
    """Return a record with one choice. `finish` is its finish reason, `choice` its other members."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": fields.pop("finish", None)}
    choice |= fields.pop("choice", {})
    return {"id": "answer-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice], **fields}


def body(message: JsonObject, finish: str = "stop", **fields: Any) -> JsonObject:
    """Return a response body."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"id": "answer-1", "object": "chat.completion", "model": "m", "choices": [choice], **fields}


def call_delta(index: int | None, arguments: Json = None, **fields: Any) -> JsonObject:
    """Return a delta of a call."""
    name = fields.pop("name", None)
    function = {
        key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None
    }
    return {**({} if index is None else {"index": index}), **fields, "function": function}


def decoded(records: list[Json], namespace: str = "openai") -> list[Chunk]:
    return decode_all(ChatDecoder(namespace), records)
