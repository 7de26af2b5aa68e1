"""Recorded messages of instrumentations, in every wrapping."""

from partita.types.json import Json, dumps

MESSAGES: Json = [
    {"role": "system", "parts": [{"type": "text", "content": "You keep the lighthouse register."}]},
    {
        "role": "user",
        "name": "keeper",
        "parts": [
            {"type": "text", "content": "How tall is this tower?", "lang": "en"},
            {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "iVBORw0KGgo="},
            {"type": "blob", "modality": "audio", "content": "UklGRg==", "transcript": "waves"},
            {
                "type": "uri",
                "modality": "video",
                "mime_type": "video/mp4",
                "uri": "https://example.com/v.mp4",
            },
            {"type": "uri", "modality": "image", "uri": "https://example.com/tower.png"},
            {"type": "file", "modality": "document", "mime_type": "application/pdf", "file_id": "file-1"},
            {"type": "hologram", "beam": 3},
        ],
    },
    {
        "role": "assistant",
        "parts": [
            {"type": "reasoning", "content": "Look it up.", "signature": "c2ln"},
            {"type": "text", "content": "I look."},
            {"type": "tool_call", "id": "t1", "name": "look_up", "arguments": {"tower": "Slettnes"}},
            {"type": "tool_call", "id": "t2", "name": "look_up", "arguments": '{"tower": "Anholt"}'},
            {"type": "tool_call", "id": "t3", "name": "look_up", "arguments": '{"tower": '},
            {"type": "tool_call", "id": "t4", "name": "list_towers"},
            {
                "type": "server_tool_call",
                "id": "s1",
                "name": "web_search",
                "server_tool_call": {"type": "web_search", "query": "tower"},
            },
            {"type": "text", "content": "Searching."},
            {
                "type": "server_tool_call_response",
                "id": "s1",
                "server_tool_call_response": {"type": "web_search", "found": ["https://example.com/a"]},
            },
            {"type": "compaction", "id": "c1", "content": "So far: a tower."},
        ],
    },
    {
        "role": "tool",
        "parts": [
            {"type": "tool_call_response", "id": "t1", "response": "39 metres"},
            {"type": "tool_call_response", "id": "t2", "response": {"metres": 28}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"type": "tool_call_response", "id": "t3", "name": "look_up", "result": "no JSON"},
            {
                "type": "tool_call_response",
                "id": "t4",
                "response": [
                    {"type": "text", "content": "a plan"},
                    {"type": "uri", "modality": "image", "uri": "https://example.com/plan.png"},
                ],
            },
            {"type": "text", "content": "And in feet?"},
        ],
    },
    {"role": "critic", "parts": [{"type": "text", "content": "Be exact."}]},
    {
        "role": "assistant",
        "parts": [{"type": "text", "content": "128 feet."}],
        "finish_reason": "stop",
    },
]

INSTRUCTIONS: Json = [{"type": "text", "content": "Answer in metres."}]

ATTRIBUTES: Json = {
    "gen_ai.system_instructions": INSTRUCTIONS,
    "gen_ai.input.messages": MESSAGES[:-1],
    "gen_ai.output.messages": MESSAGES[-1:],
    "gen_ai.conversation.id": "thread-1",
    "gen_ai.tool.definitions": [
        {
            "type": "function",
            "name": "look_up",
            "description": "Looks a tower up.",
            "parameters": {"type": "object", "properties": {"tower": {"type": "string"}}},
        }
    ],
    "gen_ai.usage.input_tokens": 40,
    "gen_ai.usage.output_tokens": 16,
    "gen_ai.usage.cache_read.input_tokens": 8,
    "gen_ai.usage.reasoning.output_tokens": 4,
    "gen_ai.request.model": "some-model",
    "gen_ai.response.finish_reasons": ["stop"],
}

STRINGS: Json = {
    key: dumps(value).decode() if key in {"gen_ai.system_instructions", "gen_ai.input.messages"} else value
    for key, value in ATTRIBUTES.items()
} | {"gen_ai.output.messages": dumps(MESSAGES[-1:]).decode()}

EVENTS: Json = [
    {"name": "gen_ai.system.message", "body": {"content": "You keep the register."}, "timestamp": 17},
    {"event.name": "gen_ai.user.message", "body": {"content": "How tall?", "role": "user"}},
    {
        "name": "gen_ai.assistant.message",
        "attributes": {"gen_ai.system": "openai"},
        "body": {
            "tool_calls": [
                {
                    "id": "t1",
                    "type": "function",
                    "function": {"name": "look_up", "arguments": '{"tower":"Slettnes"}'},
                }
            ]
        },
    },
    {"name": "gen_ai.tool.message", "body": {"id": "t1", "content": "39 metres"}},
    {
        "name": "gen_ai.choice",
        "body": {"index": 0, "finish_reason": "stop", "message": {"content": "39 metres."}},
    },
]

UNNAMED: Json = [
    {
        "role": "assistant",
        "parts": [
            {"type": "tool_call", "name": "a", "arguments": {}},
            {"type": "tool_call", "id": None, "name": "b", "arguments": None},
        ],
    },
    {
        "role": "tool",
        "parts": [
            {"type": "tool_call_response", "response": "of a"},
            {"type": "tool_call_response", "response": "of b"},
        ],
    },
]
"""Calls and results without ids, which are matched by their order."""

RECORDINGS: dict[str, Json] = {
    "attributes": ATTRIBUTES,
    "strings": STRINGS,
    "list": MESSAGES,
    "events": EVENTS,
    "unnamed": UNNAMED,
    "span": {"name": "chat some-model", "kind": 3, "attributes": STRINGS},
}
