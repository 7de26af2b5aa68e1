"""Signs of payloads of a framework, a protocol, or the AI SDK."""

from typing import Final, get_args

from partita.types.chunks import TaggedChunk
from partita.types.json import Json, JsonObject, is_array

from .signs import (
    Sign,
    Test,
    alone_or_in,
    among,
    any_item,
    array,
    both,
    by_type,
    either,
    equals,
    has,
    has_role,
    holds,
    inner,
    inside,
    is_model_message,
    kind,
    lacks,
    mapping,
    objects,
    only,
    signs,
    starts,
    text,
)

# Mastra: rows and streams

V2: Final = "mastra-v2"

_HAS_PARTS: Final = both(has_role, inside("content", array("parts")))
_NETWORK: Final = ('"isNetwork":true', '"isNetwork": true', '"primitiveType":')


def _content(test: Test) -> Test:
    return both(_HAS_PARTS, inside("content", test))


def _row_part(test: Test) -> Test:
    return _content(holds("parts", test))


def _has_row_type(message: JsonObject) -> bool:
    return _HAS_PARTS(message) and message.get("type") not in (None, "text", "tool", "event")


def _is_network_text(part: JsonObject) -> bool:
    found: Json = part.get("text")
    return isinstance(found, str) and found.startswith("{") and any(sign in found for sign in _NETWORK)


def _is_row_without_parts(message: JsonObject) -> bool:
    """Whether a message is a row from before Mastra had parts."""
    content = inner(message, "content")
    return has_role(message) and content.get("format") == 2 and not is_array(content.get("parts"))


MASTRA_SIGNS: Final = (
    *signs(
        V2,
        (0.97, "a signal", equals("role", "signal")),
        (0.97, "a type that rows of Mastra have", _has_row_type),
        (
            0.97,
            "members of version 4 next to the parts",
            _content(has("toolInvocations", "experimental_attachments", "annotations")),
        ),
        (0.97, "parts of version 4 in a content", _row_part(kind("tool-invocation", "source"))),
        (
            0.97,
            "files, reasoning or times of Mastra's parts",
            _row_part(has("mimeType", "details", "createdAt")),
        ),
        (
            0.97,
            "data or files as Mastra's parts have them",
            _row_part(either(starts("type", "data-"), both(equals("type", "file"), has("data")))),
        ),
        (0.97, "a network in a text", _row_part(_is_network_text)),
        (0.97, "the mode of a network", _content(inside("metadata", equals("mode", "network")))),
        (
            0.97,
            "a network execution in its own field",
            _content(inside("networkExecution", lambda one: one.get("isNetwork") is True)),
        ),
        (0.97, "a row with a thread and a text column", both(has_role, has("thread_id"), text("content"))),
        (0.9, "a content of format 2 without parts", _is_row_without_parts),
        (0.6, "a content with parts", _HAS_PARTS),
    ),
    Sign(
        "mastra-v1",
        0.95,
        "a core content with a thread or a type",
        both(
            is_model_message,
            either(kind("text", "tool-call", "tool-result"), has("threadId", "resourceId")),
        ),
    ),
    *signs(
        "mastra-stream",
        (
            0.97,
            "chunks with a payload and their origin",
            both(text("type", "from"), has("payload", "runId"), lacks("role")),
        ),
        (
            0.9,
            "chunks with a payload and a run",
            both(text("type", "runId"), mapping("payload"), lacks("timestamp")),
        ),
    ),
)

# AI SDK: messages, chunks and stream parts


def _is_ui(message: JsonObject) -> bool:
    """Whether a message has parts with types, none of which have the members of other formats' parts."""
    if not has_role(message) or not is_array(message.get("parts")) or "kind" in message:
        return False
    parts = objects(message["parts"])
    return all("type" in part and not ({"content", "arguments"} & part.keys()) for part in parts)


def _part(test: Test) -> Test:
    return both(_is_ui, holds("parts", test))


_V4_MESSAGE: Final = both(
    has_role,
    lacks("tool_calls", "refusal"),
    either(
        has("toolInvocations", "experimental_attachments", "revisionId", "annotations"),
        both(text("reasoning"), has("id"), lacks("toolCalls")),
        equals("role", "data"),
    ),
)
_V4_FILE: Final = both(has("mimeType"), either(has("image"), equals("type", "file")))
"""A file of version 4. An image with `data` may also be one of MCP."""

_MODEL_CALL: Final = both(
    kind("tool-call", "tool-result", "tool-approval-request", "reasoning"),
    either(mapping("input"), has("output", "toolCallId", "text")),
)
_CHUNK_TYPES: Final = frozenset(str(type_.__struct_config__.tag) for type_ in get_args(TaggedChunk))


def _is_chunk(event: JsonObject) -> bool:
    found: Json = event.get("type")
    if not isinstance(found, str) or "role" in event or "payload" in event:
        return False
    if found == "error":
        return "errorText" in event
    return found in _CHUNK_TYPES or found.startswith("data-")


_FULL_STREAM_PART: Final = both(
    lacks("payload"),
    either(
        both(kind("tool-call tool-result tool-error source tool-input-end raw"), lacks("role")),
        both(kind("start-step", "finish-step"), has("request", "warnings", "response", "usage")),
        both(kind("text-delta", "reasoning-delta"), has("text"), lacks("toolCallId")),
        both(kind("tool-input-delta"), has("delta"), lacks("toolCallId")),
    ),
)

AI_SDK_SIGNS: Final = (
    *signs(
        "ai-sdk-ui-v4",
        (0.95, "members that only version 4 has", _V4_MESSAGE),
        (0.95, "parts of version 4", _part(kind("tool-invocation", "source"))),
        (0.95, "files and reasoning of version 4", _part(has("mimeType", "details"))),
    ),
    *signs(
        "ai-sdk-ui-v7",
        (
            0.95,
            "parts that are new in version 7",
            _part(kind("custom", "reasoning-file", "steering-message")),
        ),
        (0.95, "members of version 7", _part(has("citations", "providerReference"))),
        (0.95, "approvals of version 7", _part(inside("approval", has("isAutomatic", "requestReason")))),
    ),
    Sign("ai-sdk-ui-v6", 0.85, "approvals, which came with version 6", _part(has("approval"))),
    Sign("ai-sdk-ui-v7", 0.8, "a role and a list of parts", _is_ui),
    *signs(
        "ai-sdk-model-v4",
        (
            0.9,
            "calls and results as version 4 writes them",
            any_item(both(has("toolCallId"), has("args", "result"))),
        ),
        (0.9, "files as version 4 writes them", any_item(_V4_FILE)),
        (0.9, "redacted reasoning", any_item(kind("redacted-reasoning"))),
    ),
    *signs(
        "ai-sdk-model-v7",
        (
            0.9,
            "files as version 7 writes them",
            any_item(inside("data", kind("data", "url", "reference", "text"))),
        ),
        (0.9, "parts that are new in version 7", any_item(kind("custom", "reasoning-file"))),
        (0.85, "calls and results with their own parts", any_item(_MODEL_CALL)),
        (0.85, "files with a mediaType", any_item(has("mediaType"))),
        (0.5, "a role and a content", is_model_message),
    ),
    Sign("ai-sdk-full-stream-v7", 0.9, "parts of a fullStream", _FULL_STREAM_PART),
    Sign("ai-sdk-chunks", 0.8, "chunk types", _is_chunk),
)

# Pydantic AI

PYDANTIC_AI: Final = "pydantic-ai"

_PYDANTIC_MESSAGE: Final = both(equals("kind", "request", "response"), array("parts"))


def _is_empty_message(value: JsonObject) -> bool:
    members = has("model_name", "provider_name", "finish_reason", "usage", "instructions")
    return _PYDANTIC_MESSAGE(value) and not value["parts"] and members(value)


PYDANTIC_AI_SIGNS: Final = signs(
    PYDANTIC_AI,
    (0.97, "parts with a part_kind", holds("parts", has("part_kind"))),
    (0.95, "a response or request without parts", _is_empty_message),
    (0.9, "requests and responses with parts", _PYDANTIC_MESSAGE),
)

# LangChain

LANGCHAIN: Final = "langchain"

_LANGCHAIN_TYPE: Final = kind("human ai system tool chat function remove developer")
_LANGCHAIN_CHUNK: Final = kind(
    "AIMessageChunk HumanMessageChunk SystemMessageChunk ToolMessageChunk "
    "ChatMessageChunk FunctionMessageChunk"
)
_IS_TYPED: Final = either(_LANGCHAIN_TYPE, _LANGCHAIN_CHUNK)
_LANGCHAIN_OWN: Final = has("additional_kwargs", "response_metadata", "usage_metadata", "invalid_tool_calls")


def _is_plain_message(value: JsonObject) -> bool:
    is_message = _LANGCHAIN_TYPE(value) and isinstance(value.get("content"), (str, list))
    of_logs = has("role", "uuid", "sessionId", "session_id", "timestamp", "runId")
    return is_message and not of_logs(value)


LANGCHAIN_SIGNS: Final = signs(
    LANGCHAIN,
    (
        0.97,
        "serialized objects of LangChain",
        alone_or_in(both(equals("lc", 1), array("id"), mapping("kwargs"))),
    ),
    (
        0.97,
        "a type, and the rest in data",
        alone_or_in(both(_IS_TYPED, inside("data", either(has("content"), _LANGCHAIN_OWN)))),
    ),
    (0.96, "members of LangChain's messages", alone_or_in(both(_IS_TYPED, has("content"), _LANGCHAIN_OWN))),
    (0.96, "chunks of messages", alone_or_in(both(_LANGCHAIN_CHUNK, has("content")))),
    (0.8, "a type that names the role, and a content", alone_or_in(_is_plain_message)),
)

# OpenTelemetry: conventions for generative AI

OTEL: Final = "otel-genai"

_OTEL_PARTS: Final[dict[str, Test]] = {
    **dict.fromkeys(("text", "reasoning"), both(has("content"), lacks("text"))),
    "tool_call": text("name"),
    "tool_call_response": has("response", "result"),
    "server_tool_call": has("server_tool_call"),
    "server_tool_call_response": has("server_tool_call_response"),
    **dict.fromkeys(("blob", "uri", "file"), text("modality")),
}


def _has_attributes(value: JsonObject) -> bool:
    return any(name.startswith("gen_ai.") for name in value)


OTEL_SIGNS: Final = signs(
    OTEL,
    (0.97, "attributes that begin with gen_ai", _has_attributes),
    (0.97, "a span with such attributes", inside("attributes", _has_attributes)),
    (
        0.97,
        "events with such names",
        either(*(starts(name, "gen_ai.") for name in ("name", "event.name", "event_name", "eventName"))),
    ),
    (0.92, "parts as the conventions write them", both(has_role, holds("parts", by_type(_OTEL_PARTS)))),
)

# AG-UI

AG_UI: Final = "ag-ui"

_AG_UI_EVENT: Final = starts(
    "type",
    "RUN_",
    "STEP_",
    "TEXT_MESSAGE_",
    "TOOL_CALL_",
    "REASONING_",
    "THINKING_",
    "STATE_",
    "MESSAGES_SNAPSHOT",
    "ACTIVITY_",
    "SUBAGENT_",
    "CUSTOM",
    "RAW",
)
_AG_UI_ROLE: Final = either(
    both(equals("role", "activity"), has("activityType")), both(equals("role", "reasoning"), text("content"))
)
_AG_UI_SOURCE: Final = inside("source", both(equals("type", "data", "url", "file"), has("value")))


def _is_plain_id_message(message: JsonObject) -> bool:
    return text("id", "role", "content")(message) and message.keys() <= {"id", "role", "content", "name"}


AG_UI_SIGNS: Final = signs(
    AG_UI,
    (0.97, "events of AG-UI", _AG_UI_EVENT),
    (0.95, "messages of a run in a thread", both(text("threadId", "runId"), array("messages"))),
    (
        0.93,
        "calls of functions in toolCalls",
        alone_or_in(both(has_role, holds("toolCalls", mapping("function")))),
    ),
    (
        0.9,
        "a result with a toolCallId",
        alone_or_in(both(equals("role", "tool"), text("toolCallId"), has("content"))),
    ),
    (0.95, "roles that AG-UI has", alone_or_in(_AG_UI_ROLE)),
    (0.93, "parts with a source and its value", alone_or_in(both(has_role, holds("content", _AG_UI_SOURCE)))),
    (0.45, "an id, a role and text", _is_plain_id_message),
)

# Agent2Agent protocol

A2A: Final = "a2a"

_A2A_KIND: Final = both(
    among("kind", frozenset({"task", "message", "status-update", "artifact-update"})),
    has("messageId contextId taskId artifact status artifacts"),
)
_A2A_MESSAGE: Final = both(text("messageId"), array("parts"))
_A2A_ARTIFACT: Final = both(text("artifactId"), array("parts"))
_A2A_STATUS: Final = inside("status", text("state"))
_A2A_TASK: Final = both(_A2A_STATUS, has("contextId", "history", "artifacts"))
_A2A_UPDATE: Final = both(has("contextId", "taskId"), either(_A2A_STATUS, inside("artifact", _A2A_ARTIFACT)))
_A2A_EVENT: Final = either(  # protocol 1.0: one member, named after its content
    inside("task", _A2A_TASK),
    inside("message", _A2A_MESSAGE),
    mapping("statusUpdate"),
    mapping("artifactUpdate"),
)
_A2A_ANY: Final = either(_A2A_KIND, _A2A_MESSAGE, _A2A_ARTIFACT, _A2A_TASK, _A2A_UPDATE, _A2A_EVENT)


def _is_a2a_response(value: JsonObject) -> bool:
    body = inner(value, "result") or inner(value, "params")
    return value.get("jsonrpc") == "2.0" and _A2A_ANY(body)


A2A_SIGNS: Final = signs(
    A2A,
    (0.97, "roles of protocol 1.0", both(starts("role", "ROLE_USER", "ROLE_AGENT"), array("parts"))),
    (0.96, "kinds of protocol 0.x", _A2A_KIND),
    (0.93, "a messageId and parts", _A2A_MESSAGE),
    (0.93, "an artifact", _A2A_ARTIFACT),
    (0.93, "a task with its state", _A2A_TASK),
    (0.93, "updates of a task", _A2A_UPDATE),
    (0.95, "events named after their content", _A2A_EVENT),
    (0.95, "responses that contain such objects", _is_a2a_response),
)

# Model Context Protocol

MCP: Final = "mcp"

_MCP_BLOCK: Final = by_type(
    {
        **dict.fromkeys(("image", "audio"), text("data", "mimeType")),
        "resource_link": text("uri"),
        "resource": inside("resource", text("uri")),
        "tool_result": text("toolUseId"),
        "text": either(has("_meta"), mapping("annotations")),
    }
)
_BARE_TEXT: Final = both(only("type", "text"), equals("type", "text"))
_MCP_RESULT: Final = both(array("content"), lacks("role"), has("isError", "structuredContent"))
_MCP_MESSAGE: Final = both(
    has_role, lacks("timestamp"), inside("content", both(text("type"), lacks("parts")))
)
"""A message with one block, not a list."""


def _is_block_list(value: JsonObject) -> bool:
    return {"content"} == value.keys() and holds("content", either(_MCP_BLOCK, _BARE_TEXT))(value)


MCP_SIGNS: Final = signs(
    MCP,
    (0.95, "a result with isError or structuredContent", _MCP_RESULT),
    (
        0.95,
        "a response with the result of a tool",
        both(equals("jsonrpc", "2.0"), inside("result", _MCP_RESULT)),
    ),
    (0.6, "nothing but a content of blocks", _is_block_list),
    (0.95, "blocks of the Model Context Protocol", both(lacks("role"), _MCP_BLOCK)),
    (0.5, "bare texts", _BARE_TEXT),
    (0.95, "messages with such blocks", alone_or_in(both(has_role, holds("content", _MCP_BLOCK)))),
    (0.88, "messages with one block each", alone_or_in(_MCP_MESSAGE)),
    (0.93, "a sampled message", both(has_role, text("stopReason", "model"), has("content"))),
)

PROTOCOL_SIGNS: Final = (
    *PYDANTIC_AI_SIGNS,
    *LANGCHAIN_SIGNS,
    *OTEL_SIGNS,
    *AG_UI_SIGNS,
    *A2A_SIGNS,
    *MCP_SIGNS,
)
