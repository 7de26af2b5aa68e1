"""Histories built with LangChain's own classes, in the shapes that its integrations produce."""

from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)

from partita.types.json import Json

PIXEL = "iVBORw0KGgo="


def standard_blocks() -> list[BaseMessage]:
    """Return a history with standard content blocks of every kind."""
    return [
        SystemMessage("You keep the lighthouse register.", id="s1"),
        HumanMessage(
            content=[
                {"type": "text", "text": "What is this?", "extras": {"tone": "curious"}},
                {"type": "image", "base64": PIXEL, "mime_type": "image/png", "extras": {"filename": "a.png"}},
                {"type": "image", "url": "https://example.com/tower.png"},
                {"type": "audio", "file_id": "file-1", "mime_type": "audio/wav"},
                {"type": "video", "url": "https://example.com/tower.mp4", "mime_type": "video/mp4"},
                {"type": "file", "base64": "JVBERg==", "mime_type": "application/pdf", "id": "block-1"},
                {"type": "text-plain", "text": "39 metres", "mime_type": "text/plain", "title": "Note"},
                {"type": "non_standard", "value": {"kind": "tide", "height": 2}},
            ],
            name="keeper",
        ),
        AIMessage(
            id="a1",
            content=[
                {"type": "reasoning", "reasoning": "Look it up.", "extras": {"signature": "c2lnbmVk"}},
                {
                    "type": "text",
                    "text": "I look.",
                    "annotations": [
                        {"type": "citation", "url": "https://example.com/a", "title": "A", "start_index": 2},
                        {"type": "non_standard_annotation", "value": {"grade": 4}},
                        {"type": "citation", "id": "c9", "url": "https://example.com/b", "cited_text": "b"},
                    ],
                    "index": 1,
                },
                {"type": "server_tool_call", "id": "srv1", "name": "web_search", "args": {"query": "tower"}},
                {"type": "text", "text": "Found."},
                {
                    "type": "server_tool_result",
                    "tool_call_id": "srv1",
                    "status": "success",
                    "output": [{"url": "https://example.com/found"}],
                },
                {"type": "server_tool_call", "id": "srv2", "name": "code", "args": {"code": "1/0"}},
                {"type": "server_tool_result", "tool_call_id": "srv2", "status": "error", "output": "no"},
                {"type": "tool_call", "id": "t1", "name": "look_up", "args": {"tower": "Slettnes"}},
                {"type": "tool_call", "id": "t2", "name": "look_up", "args": {"tower": "Anholt"}},
                {
                    "type": "invalid_tool_call",
                    "id": "t3",
                    "name": "look_up",
                    "args": '{"tower": ',
                    "error": "cut off",
                },
            ],
            tool_calls=[
                {"id": "t1", "name": "look_up", "args": {"tower": "Slettnes"}},
                {"id": "t2", "name": "look_up", "args": {"tower": "Anholt"}},
            ],
            invalid_tool_calls=[
                {
                    "type": "invalid_tool_call",
                    "id": "t3",
                    "name": "look_up",
                    "args": '{"tower": ',
                    "error": "cut off",
                }
            ],
            usage_metadata={
                "input_tokens": 40,
                "output_tokens": 16,
                "total_tokens": 56,
                "input_token_details": {"cache_read": 8, "audio": 3},
                "output_token_details": {"reasoning": 4},
            },
            response_metadata={
                "output_version": "v1",
                "model_provider": "anthropic",
                "stop_reason": "tool_use",
            },
        ),
        ToolMessage("39 metres", tool_call_id="t1", name="look_up", id="r1"),
        ToolMessage("no such tower", tool_call_id="t2", status="error", artifact={"code": 404}),
        AIMessage("It is 39 metres tall.", id="a2", response_metadata={"stop_reason": "end_turn"}),
    ]


def anthropic_blocks() -> list[BaseMessage]:
    """Return blocks that the Anthropic integration produced before standard blocks."""
    return [
        HumanMessage(
            content=[
                {"type": "text", "text": "Read this.", "cache_control": {"type": "ephemeral"}},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
                },
                {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "A register."},
                    "title": "Register",
                    "citations": {"enabled": True},
                },
                {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
                "and this",
            ]
        ),
        AIMessage(
            content=[
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "cmVk"},
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"page": 3}},
                {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srv_1",
                    "content": [{"type": "web_search_result", "url": "https://example.com/r"}],
                },
                {"type": "container_upload", "file_id": "file_7"},
            ],
            tool_calls=[{"id": "toolu_1", "name": "read", "args": {"page": 3}}],
            response_metadata={"model_provider": "anthropic", "stop_reason": "tool_use"},
            usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        ),
        ToolMessage(
            content=[
                {"type": "text", "text": "Page three."},
                {"type": "image_url", "image_url": {"url": "https://example.com/p3.png", "detail": "low"}},
            ],
            tool_call_id="toolu_1",
        ),
        AIMessage(content=[{"type": "text", "text": "Done."}]),
    ]


def openai_blocks() -> list[BaseMessage]:
    """Return blocks that the OpenAI integrations produced before standard blocks."""
    return [
        SystemMessage(content=[{"type": "text", "text": "Be brief."}]),
        HumanMessage(
            content=[
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "high"},
                },
                {"type": "image_url", "image_url": "https://example.com/plain.png"},
                {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
                {
                    "type": "file",
                    "file": {"file_data": "data:application/pdf;base64,JVBERg==", "filename": "a.pdf"},
                },
                {"type": "file", "file": {"file_id": "file-9"}},
                {"type": "audio", "source_type": "base64", "mime_type": "audio/mp3", "data": "SUQz"},
                {"type": "file", "source_type": "id", "id": "file-8"},
                {"type": "media", "mime_type": "video/mp4", "file_uri": "https://example.com/v.mp4"},
            ]
        ),
        AIMessage(
            content=[
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [
                        {"type": "summary_text", "text": "First."},
                        {"type": "summary_text", "text": "Second."},
                    ],
                    "encrypted_content": "ZW5j",
                },
                {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "ZW1wdHk="},
                {
                    "type": "text",
                    "text": "Here.",
                    "id": "msg_1",
                    "annotations": [
                        {"type": "url_citation", "url": "https://example.com", "title": "T", "end_index": 4}
                    ],
                },
                {
                    "type": "function_call",
                    "id": "fc_1",
                    "call_id": "call_1",
                    "name": "look_up",
                    "arguments": '{"tower": "Slettnes"}',
                    "status": "completed",
                },
                {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "q"}},
            ],
            tool_calls=[{"id": "call_1", "name": "look_up", "args": {"tower": "Slettnes"}}],
            response_metadata={"model_provider": "openai", "id": "resp_1"},
        ),
        ToolMessage('{"metres":39}', tool_call_id="call_1", artifact={"metres": 39}),
        AIMessage(
            "",
            tool_calls=[{"id": "call_2", "name": "look_up", "args": {}}],
            additional_kwargs={"refusal": None, "reasoning_content": "I wonder."},
        ),
        ToolMessage(content=[{"type": "text", "text": "It broke."}], tool_call_id="call_2", status="error"),
    ]


def other_messages() -> list[BaseMessage]:
    """Return messages of rare types, Google signatures and results without calls."""
    return [
        ChatMessage(content="Good morning.", role="narrator"),
        ChatMessage(content="Good morning to you.", role="assistant"),
        AIMessage(
            content=[{"type": "text", "text": "I call.", "extras": {"signature": "dGV4dA=="}}],
            tool_calls=[{"id": "g1", "name": "f", "args": {"a": [1, {"b": None}]}}],
            additional_kwargs={"__gemini_function_call_thought_signatures__": {"g1": "Y2FsbA=="}},
            response_metadata={"model_provider": "google_genai", "output_version": "v1"},
        ),
        ToolMessage("nothing to answer", tool_call_id="nobody"),
        FunctionMessage(content="old", name="old_tool"),
        RemoveMessage(id="gone"),
    ]


def message_chunks() -> list[BaseMessage]:
    """Return a streamed response."""
    return [
        AIMessageChunk(content="Let ", id="run-1"),
        AIMessageChunk(
            content="me look.",
            id="run-1",
            tool_call_chunks=[{"name": "look_up", "args": '{"tow', "id": "t1", "index": 0}],
        ),
        AIMessageChunk(
            content="",
            id="run-1",
            tool_call_chunks=[{"name": None, "args": 'er": "Anholt"}', "id": None, "index": 0}],
        ),
        AIMessageChunk(
            content="",
            id="run-1",
            usage_metadata={"input_tokens": 4, "output_tokens": 2, "total_tokens": 6},
            chunk_position="last",
        ),
    ]


def histories() -> dict[str, Json]:
    """Return all histories as payloads."""
    return {
        "standard": messages_to_dict(standard_blocks()),
        "anthropic": messages_to_dict(anthropic_blocks()),
        "openai": messages_to_dict(openai_blocks()),
        "other": messages_to_dict(other_messages()),
        "streamed": messages_to_dict(message_chunks()),
        "constructors": [dumpd(message) for message in standard_blocks()],
        "plain": {"messages": [message.model_dump() for message in openai_blocks()], "count": 2},
    }
