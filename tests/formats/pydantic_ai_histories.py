"""Histories built with Pydantic AI's own classes."""

from datetime import UTC, datetime

from pydantic_ai.messages import (
    AudioUrl,
    BinaryContent,
    CachePoint,
    Citation,
    CompactionPart,
    ContentCitationAnchor,
    DocumentCitationSource,
    DocumentUrl,
    FilePart,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    ToolReturnPart,
    UploadedFile,
    UserPromptPart,
    VideoUrl,
    WebCitationSource,
)
from pydantic_ai.usage import RequestUsage

from partita.types.json import Json, loads

NOW = datetime(2026, 3, 1, 9, 0, 0, tzinfo=UTC)
LATER = datetime(2026, 3, 1, 9, 0, 1, 250000, tzinfo=UTC)
PIXEL = BinaryContent(b"\x89PNG\r\n", media_type="image/png")


def first_request() -> ModelRequest:
    """Return a request with every kind of prompt content."""
    prompt = [
        "How tall is this tower?",
        TextContent("From the register.", metadata={"page": 3}),
        ImageUrl("https://example.com/tower.png", vendor_metadata={"detail": "low"}),
        AudioUrl("https://example.com/waves.mp3"),
        VideoUrl("https://example.com/beam.mp4"),
        DocumentUrl("https://example.com/register.pdf", force_download=True),
        PIXEL,
        BinaryContent(b"%PDF", media_type="application/pdf"),
        UploadedFile(file_id="file-1", provider_name="openai", media_type="application/pdf"),
        CachePoint(),
    ]
    return ModelRequest(
        parts=[
            SystemPromptPart("You keep the register.", timestamp=NOW),
            UserPromptPart(prompt, timestamp=NOW),
        ],
        instructions="Answer in metres.",
        timestamp=NOW,
        run_id="run-1",
        conversation_id="thread-1",
        metadata={"rating": 5},
    )


def first_response() -> ModelResponse:
    """Return a response with every kind of part."""
    web = WebCitationSource(url="https://example.com/a", title="A", excerpts=["39 metres"])
    paper = DocumentCitationSource(document_id="d1", title="Register", excerpts=["39"])
    return ModelResponse(
        parts=[
            ThinkingPart("Look it up.", signature="c2ln", provider_name="anthropic"),
            ThinkingPart("", id="redacted_thinking", signature="cmVk", provider_name="anthropic"),
            ThinkingPart("Elsewhere.", id="rs_1", signature="ZW5j", provider_name="openai"),
            TextPart(
                "It is 39 metres.",
                citations=[
                    Citation(sources=[web], anchor=ContentCitationAnchor(start=6, end=15)),
                    Citation(sources=[web, paper], anchor=None),
                ],
            ),
            NativeToolCallPart("web_search", {"query": "tower"}, tool_call_id="b1", provider_name="openai"),
            TextPart("Searching.", id="msg_1", provider_name="openai"),
            NativeToolReturnPart(
                "web_search",
                {"found": ["https://example.com/a"]},
                tool_call_id="b1",
                provider_name="openai",
                timestamp=NOW,
            ),
            ToolCallPart("look_up", {"tower": "Slettnes"}, tool_call_id="t1"),
            ToolCallPart("look_up", '{"tower": "Anholt"}', tool_call_id="t2"),
            ToolCallPart("look_up", '{"tower": ', tool_call_id="t3"),
            ToolCallPart("list_towers", None, tool_call_id="t4"),
            ToolCallPart(
                "look_up",
                {"tower": "Bastøy"},
                tool_call_id="t5",
                provider_name="google-gla",
                provider_details={"thought_signature": "Z29v"},
            ),
            ToolCallPart("look_up", {"tower": "Gone"}, tool_call_id="t6"),
            FilePart(PIXEL, id="f1"),
            CompactionPart("So far: a tower.", provider_name="anthropic"),
        ],
        usage=RequestUsage(
            input_tokens=40,
            output_tokens=16,
            cache_read_tokens=8,
            details={"reasoning_tokens": 4, "accepted": 1},
        ),
        model_name="some-model",
        timestamp=LATER,
        provider_name="anthropic",
        provider_details={"finish_reason": "tool_use"},
        provider_response_id="resp-1",
        finish_reason="tool_call",
        run_id="run-1",
        conversation_id="thread-1",
    )


def results_and_prompt() -> ModelRequest:
    """Return the results of the calls, and the next prompt."""
    return ModelRequest(
        parts=[
            ToolReturnPart("look_up", "39 metres", tool_call_id="t1", timestamp=LATER, metadata={"ms": 12}),
            ToolReturnPart("look_up", {"metres": 28}, tool_call_id="t2", timestamp=LATER),
            ToolReturnPart("look_up", "no JSON", tool_call_id="t3", outcome="retried", timestamp=LATER),
            ToolReturnPart("list_towers", ["a plan", PIXEL], tool_call_id="t4", timestamp=LATER),
            ToolReturnPart("look_up", "not allowed", tool_call_id="t5", outcome="denied", timestamp=LATER),
            ToolReturnPart("look_up", {"code": 500}, tool_call_id="t6", outcome="failed", timestamp=LATER),
            UserPromptPart("And in feet?", timestamp=LATER),
        ],
        instructions="Answer in metres.",
        timestamp=LATER,
        run_id="run-1",
        conversation_id="thread-1",
    )


def history() -> list[ModelMessage]:
    """Return a history of several turns."""
    return [
        first_request(),
        first_response(),
        results_and_prompt(),
        ModelResponse(parts=[TextPart("128 feet.")], timestamp=LATER, finish_reason="stop"),
        ModelRequest(
            parts=[
                RetryFeedbackPart("Say it again.", retry=RetryInfo(cause="model_retry"), timestamp=LATER),
                ToolAvailabilityDeltaPart(tools_added=["measure"]),
            ],
            instructions="Answer in feet.",
        ),
        ModelRequest(parts=[UserPromptPart(["One word."], timestamp=LATER)], state="interrupted"),
        ModelResponse(parts=[], timestamp=LATER, state="interrupted"),
    ]


def payload() -> Json:
    """Return the history as JSON, as written by Pydantic AI."""
    return loads(ModelMessagesTypeAdapter.dump_json(history()))


LEGACY: Json = [
    {
        "kind": "request",
        "parts": [
            {"part_kind": "user-prompt", "content": "Hi", "timestamp": "2025-01-01T00:00:00Z"},
            {"part_kind": "retry-prompt", "content": "again", "timestamp": "2025-01-01T00:00:00Z"},
        ],
    },
    {
        "kind": "response",
        "parts": [{"part_kind": "tool-call", "tool_name": "f", "args": {}, "tool_call_id": "c1"}],
        "usage": {"requests": 1, "request_tokens": 2, "response_tokens": 3, "details": None},
        "vendor_id": "old",
        "timestamp": "2025-01-01T00:00:00Z",
    },
    {
        "kind": "request",
        "parts": [
            {
                "part_kind": "retry-prompt",
                "content": [{"type": "missing", "loc": ["a"], "msg": "Field required", "input": {}}],
                "tool_name": "f",
                "tool_call_id": "c1",
                "timestamp": "2025-01-01T00:00:00Z",
            }
        ],
    },
]
"""A history as older versions wrote it."""
