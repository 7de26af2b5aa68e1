"""Samples of the Anthropic Messages API: requests, responses, a stream, with every kind of block."""

from collections.abc import Sequence
from typing import Final

from partita.formats.anthropic.format import dump
from partita.formats.format import Dumped, Request, ToolSpec
from partita.types.json import Json, JsonObject
from partita.types.messages import Message

CACHE: Final = {"type": "ephemeral", "ttl": "1h"}
PNG: Final[JsonObject] = {"type": "base64", "media_type": "image/png", "data": "aVZC"}


def text(words: str, **more: Json) -> JsonObject:
    return {"type": "text", "text": words, **more}


def use(id: str, name: str = "tide", **input: Json) -> JsonObject:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(id: str, content: Json = "06:04", **more: Json) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def user(*blocks: JsonObject | str) -> JsonObject:
    match blocks:
        case (str() as words,):
            return {"role": "user", "content": words}
        case _:
            return {"role": "user", "content": list(blocks)}


def assistant(*blocks: JsonObject | str) -> JsonObject:
    return {**user(*blocks), "role": "assistant"}


USER_BLOCKS: Final[list[JsonObject]] = [
    text("When is high water?", cache_control=CACHE),
    {"type": "image", "source": PNG, "cache_control": None},
    {"type": "image", "source": {"type": "url", "url": "https://tides.example/quay.png"}},
    {"type": "image", "source": {"type": "file", "file_id": "file_quay"}},
    {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
        "title": "Tables",
        "context": "of this year",
        "citations": {"enabled": True},
    },
    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "HW 06:04 é"}},
    {"type": "document", "source": {"type": "url", "url": "https://tides.example/t.pdf"}, "title": None},
    {"type": "document", "source": {"type": "file", "file_id": "file_tables"}, "title": "t.pdf"},
    {
        "type": "document",
        "source": {"type": "content", "content": [text("HW"), {"type": "image", "source": PNG}]},
    },
    {"type": "search_result", "source": "https://a.example", "title": "A", "content": [text("HW 06:04")]},
    {"type": "container_upload", "file_id": "file_up"},
    {"type": "hologram", "beam": {"nm": 532}},
]

SERVER_TOOL_BLOCKS: Final[list[JsonObject]] = [
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "tide"}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": [
            {
                "type": "web_search_result",
                "url": "https://a.example",
                "title": "A",
                "encrypted_content": "enc",
                "page_age": "1 day",
            }
        ],
    },
    {"type": "server_tool_use", "id": "s2", "name": "web_fetch", "input": {"url": "https://a.example"}},
    {
        "type": "web_fetch_tool_result",
        "tool_use_id": "s2",
        "content": {"type": "web_fetch_tool_result_error", "error_code": "unavailable"},
    },
    {"type": "server_tool_use", "id": "s3", "name": "bash_code_execution", "input": {"command": "ls"}},
    {
        "type": "bash_code_execution_tool_result",
        "tool_use_id": "s3",
        "content": {
            "type": "bash_code_execution_result",
            "stdout": "a",
            "stderr": "",
            "return_code": 0,
            "content": [],
        },
    },
    {"type": "mcp_tool_use", "id": "m1", "name": "echo", "server_name": "echoes", "input": {"a": 1}},
    {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": True, "content": [text("no")]},
    {"type": "server_tool_use", "id": "s4", "name": "odd", "input": {}},
    {"type": "web_search_tool_result", "tool_use_id": "s4", "content": [], "caller": {"type": "direct"}},
    {
        "type": "code_execution_tool_result",
        "tool_use_id": "elsewhere",
        "content": {"type": "x", "stdout": "late"},
    },
]

CITED: Final = {
    "type": "web_search_result_location",
    "url": "https://a.example",
    "title": "A",
    "cited_text": "HW 06:04",
    "encrypted_index": "idx",
}

RESPONSE_BLOCKS: Final[list[JsonObject]] = [
    {"type": "thinking", "thinking": "The tables know.", "signature": "sig=="},
    {"type": "redacted_thinking", "data": "opaque=="},
    *SERVER_TOOL_BLOCKS,
    text("At ", citations=[CITED]),
    text("six."),
    {"type": "compaction", "content": "They met.", "encrypted_content": "enc"},
    {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "refusal"}},
    use("t1", port="Oban"),
    {**use("t2"), "caller": {"type": "code_execution_20250825", "tool_id": "s3"}, "toolset_name": "sea"},
]

RESULTS: Final[list[JsonObject]] = [
    result("t2", [text("no such port")], is_error=True),
    result("t1", is_error=False, cache_control=CACHE),
]

ADDITION: Final[JsonObject] = {
    "type": "tool_addition",
    "tool": {"type": "tool_reference", "name": "x"},
}

CONVERSATIONS: Final[dict[str, list[JsonObject]]] = {
    "nothing": [],
    "words": [user("Tide?"), assistant("Six."), user(text("Thanks"), text("!"))],
    "one block": [user(text("Tide?")), assistant(text("Six."))],
    "neighbours": [user("a"), user(text("b")), assistant("c"), assistant("d"), user("e")],
    "every block of the user": [user(*USER_BLOCKS)],
    "every block of the model": [user("?"), assistant(*RESPONSE_BLOCKS), user(*RESULTS, text("And now?"))],
    "steps": [
        user("?"),
        assistant(text("I look."), use("c1")),
        user(result("c1")),
        assistant(use("c1", port="Oban")),
        user(result("c1", [text("late", cache_control=CACHE), {"type": "image", "source": PNG}])),
        assistant("Six."),
        user("Thanks"),
    ],
    "a text after results, in a separate message": [
        user("?"),
        assistant(use("c1"), use("c2")),
        user(result("c2", None), result("c1", [{"type": "tool_reference", "tool_name": "tide"}])),
        user("And?"),
        assistant("Six."),
    ],
    "errors in blocks": [
        user("?"),
        assistant(use("c1"), use("c2")),
        user(
            result("c1", [text("no"), {"type": "image", "source": PNG}], is_error=True),
            result("c2", "no", is_error=True),
        ),
    ],
    "system messages in between": [
        user("?"),
        assistant("Six."),
        {"role": "system", "content": [text("Be brief."), ADDITION]},
        user("And?"),
        {"role": "system", "content": "In verse."},
        user("Now?"),
    ],
    "members of messages": [
        {**user("?"), "note": 1},
        {**assistant(use("c1")), "note": 2},
        user(result("c1")),
        {**assistant("Six."), "note": 3},
    ],
}

REQUEST: Final[JsonObject] = {
    "model": "claude-test",
    "max_tokens": 100,
    "system": [text("You know tides.", cache_control=CACHE), text("Be brief.")],
    "messages": CONVERSATIONS["every block of the model"],
    "tools": [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 2},
        {
            "name": "tide",
            "description": "When it comes",
            "input_schema": {"type": "object", "properties": {}},
        },
        {"name": "bare", "input_schema": {"type": "object"}, "cache_control": CACHE, "strict": True},
    ],
    "thinking": {"type": "adaptive"},
    "metadata": {"user_id": "u"},
    "stop_sequences": ["END"],
    "container": "box",
}

BODY: Final[JsonObject] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-test",
    "content": RESPONSE_BLOCKS,
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "container": {"id": "box", "expires_at": "2026-03-01T09:00:00Z"},
    "usage": {
        "input_tokens": 12,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 4,
        "output_tokens": 9,
        "service_tier": "standard",
    },
}


def _delta(index: int, kind: str, **piece: Json) -> JsonObject:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **piece}}


STREAM: Final[list[JsonObject]] = [
    {
        "type": "message_start",
        "message": {
            **{key: BODY[key] for key in ("id", "type", "role", "model")},
            "content": [],
            "stop_reason": None,
            "usage": {"input_tokens": 12, "output_tokens": 1, "cache_read_input_tokens": 0},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "ping"},
    _delta(0, "thinking_delta", thinking="The tables know."),
    _delta(0, "signature_delta", signature="sig=="),
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": text("")},
    _delta(1, "citations_delta", citation=CITED),
    _delta(1, "text_delta", text="At six."),
    {"type": "content_block_stop", "index": 1},
    {"type": "content_block_start", "index": 2, "content_block": {"type": "compaction", "content": None}},
    _delta(2, "compaction_delta", content="They met."),
    {"type": "content_block_stop", "index": 2},
    {"type": "content_block_start", "index": 3, "content_block": use("t1")},
    _delta(3, "input_json_delta", partial_json='{"port"'),
    _delta(3, "input_json_delta", partial_json=': "Oban"}'),
    {"type": "content_block_stop", "index": 3},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None, "container": {"id": "box"}},
        "usage": {"output_tokens": 9, "cache_read_input_tokens": 0},
    },
    {"type": "message_stop"},
]

ERROR: Final[JsonObject] = {
    "type": "error",
    "error": {"type": "overloaded_error", "message": "Overloaded"},
    "request_id": "req_1",
}


def build_request(
    view: Sequence[Message],
    *,
    model: str,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
) -> Dumped:
    """Return a streaming request as the runtime sends it."""
    return dump(view, Request(tuple(tools), {"model": model, "stream": True, **(settings or {})}))
