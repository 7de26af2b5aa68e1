"""Signs of records in logs and streams of agents."""

from typing import Final, Literal, TypeAlias

from partita.types.json import Json, JsonObject, is_array, is_object

from .signs import (
    Sign,
    Test,
    array,
    both,
    by_type,
    either,
    equals,
    has,
    has_all,
    inner,
    inside,
    kind,
    lacks,
    mapping,
    starts,
    text,
)

SAMPLE_SIZE = 20
"""The number of records that are read: some logs start with a dozen records that are not messages."""

LogFormatName: TypeAlias = Literal[
    "claude-code-log",
    "claude-code-stream",
    "codex-rollout",
    "codex-exec",
    "gemini-cli",
    "gemini-cli-stream",
    "opencode-export",
    "opencode-parts",
]


# Claude Code. Its log writes `sessionId`, its stream `session_id`.

_IN_SESSION: Final = has_all("sessionId")
_CLAUDE_STATE: Final = by_type(
    {
        "summary": has_all("summary", "leafUuid"),
        "file-history-snapshot": has_all("messageId", "snapshot"),
        "queue-operation": has_all("operation", "sessionId"),
        "last-prompt": _IN_SESSION,
        "mode": has_all("mode", "sessionId"),
        "permission-mode": has_all("permissionMode", "sessionId"),
        "custom-title": has_all("customTitle", "sessionId"),
        "ai-title": has_all("aiTitle", "sessionId"),
        "agent-name": has_all("agentName", "sessionId"),
        "agent-setting": has_all("agentSetting", "sessionId"),
        "agent-color": has_all("agentColor", "sessionId"),
        "tag": has_all("tag", "sessionId"),
        "pr-link": has_all("prNumber", "sessionId"),
        "frame-link": _IN_SESSION,
        "worktree-state": _IN_SESSION,
        "bridge-session": _IN_SESSION,
        "atis-latch": _IN_SESSION,
        "content-replacement": _IN_SESSION,
    }
)
"""Records of the log that are not messages, and the members that each has."""


def _is_claude_line(record: JsonObject) -> bool:
    is_linked = "parentUuid" in record and isinstance(record.get("isSidechain"), bool)
    return is_linked and lacks("parts")(inner(record, "message"))  # Qwen Code has such lines with `parts`


def _not_empty(name: str) -> Test:
    return lambda record: bool(inner(record, name))


_CLAUDE_MESSAGE: Final = both(
    _not_empty("message"), either(has("parent_tool_use_id"), inside("message", text("id", "model")))
)
_CLAUDE_STREAM: Final = by_type(
    {
        "system": both(text("subtype"), either(array("tools"), has("uuid"))),
        "assistant": _CLAUDE_MESSAGE,
        "user": _CLAUDE_MESSAGE,
        "stream_event": _not_empty("event"),
        "result": both(text("subtype"), has("num_turns", "modelUsage")),
        "tool_progress": text("tool_use_id"),
        "rate_limit_event": _not_empty("rate_limit_info"),
    }
)
_CLAUDE_CONTROL: Final = by_type(
    {
        "control_request": inside("request", text("subtype")),
        "control_response": inside("response", text("subtype", "request_id")),
    }
)


def _is_claude_stream(record: JsonObject) -> bool:
    """Whether a record is a line of the stream, not of Amp, Cursor or Qwen Code, which use the same form."""
    session: Json = record.get("session_id")
    if not isinstance(session, str) or session.startswith("T-") or "qwen_code_version" in record:
        return False
    return _CLAUDE_STREAM(record)


# Codex: a header and items, in newer versions items in an envelope; and the events that `codex exec` prints.

_ENVELOPE: Final = both(text("type", "timestamp"), mapping("payload"))
_ROLLOUT_TYPE: Final = kind(
    "session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"
)
_EXEC_ITEM: Final = both(
    kind("item.started", "item.updated", "item.completed"), inside("item", text("id", "type"))
)
_EXEC_EVENT: Final = either(
    both(equals("type", "thread.started"), text("thread_id")),
    _EXEC_ITEM,
    kind("turn.started", "turn.completed", "turn.failed"),
)

is_bare_item: Final = kind(
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "local_shell_call"
)
"""Whether a record may be an item of a rollout without envelopes. Other programs write such items too."""

# Gemini CLI: a header, messages, and records that change earlier ones; or all in one document.

_GEMINI_MESSAGE: Final = both(text("id", "timestamp"), kind("user", "gemini", "info", "warning", "error"))
_GEMINI_INIT: Final = both(equals("type", "init"), text("session_id", "model"), lacks("subtype"))


def _is_gemini_document(record: JsonObject) -> bool:
    messages: Json = record.get("messages")
    if not is_array(messages) or not {"startTime", "lastUpdated"} & record.keys():
        return False
    return any(is_object(one) and _GEMINI_MESSAGE(one) for one in messages[:SAMPLE_SIZE])


_GEMINI_STREAM: Final = either(
    _GEMINI_INIT,
    by_type(
        {
            "tool_use": both(text("tool_name", "tool_id"), has("parameters")),
            "tool_result": text("tool_id", "status"),
            "result": both(text("status"), mapping("stats")),
        }
    ),
)

# OpenCode

_OPENCODE_INFO: Final = inside("info", starts("id", "ses"))
_OPENCODE_PART: Final = by_type(
    {
        "tool": both(text("callID", "tool"), mapping("state")),
        "step-finish": both(mapping("tokens"), has("cost")),
    }
)

is_session_state: Final = either(_CLAUDE_STATE, _CLAUDE_CONTROL)
"""Whether a record is about its session, and may precede all records that identify the format."""

CERTAIN: Final = 1.0
"""The confidence that no later record can exceed."""


LOG_SIGNS: Final[tuple[Sign[LogFormatName], ...]] = (
    Sign("claude-code-log", 1.0, "lines chained by parentUuid", _is_claude_line),
    Sign("claude-code-log", 0.9, "records about a session", _CLAUDE_STATE),
    Sign("claude-code-stream", 1.0, "messages with a session_id", _is_claude_stream),
    Sign("claude-code-stream", 0.8, "control messages", _CLAUDE_CONTROL),
    Sign("codex-rollout", 1.0, "payloads in an envelope", both(_ENVELOPE, _ROLLOUT_TYPE)),
    Sign("codex-rollout", 0.6, "payloads of an unknown type in an envelope", _ENVELOPE),
    Sign(
        "codex-rollout",
        0.95,
        "a header with instructions",
        both(text("id", "timestamp"), has("instructions"), lacks("type")),
    ),
    Sign("codex-rollout", 0.95, "records of state between items", equals("record_type", "state")),
    Sign("codex-exec", 1.0, "events of threads, turns and items", _EXEC_EVENT),
    Sign(
        "codex-exec",
        0.7,
        "events with an id and a msg",
        both(text("id"), inside("msg", text("type")), lacks("type")),
    ),
    Sign("gemini-cli", 1.0, "a header with a projectHash", text("sessionId", "projectHash")),
    Sign("gemini-cli", 0.9, "records that set or rewind", either(mapping("$set"), text("$rewindTo"))),
    Sign(
        "gemini-cli", 0.9, "messages of type gemini", both(text("id", "timestamp"), equals("type", "gemini"))
    ),
    Sign("gemini-cli", 0.8, "a document with dated messages", _is_gemini_document),
    Sign("gemini-cli-stream", 1.0, "the first event of the stream", both(_GEMINI_INIT, text("timestamp"))),
    Sign("gemini-cli-stream", 0.9, "events of the stream", _GEMINI_STREAM),
    Sign("opencode-export", 1.0, "info and messages", both(_OPENCODE_INFO, array("messages"))),
    Sign("opencode-export", 0.8, "info of a session", _OPENCODE_INFO),
    Sign(
        "opencode-parts",
        1.0,
        "parts that name their message and session",
        both(starts("messageID", "msg"), starts("sessionID", "ses"), text("type")),
    ),
    Sign("opencode-parts", 0.9, "parts of messages", _OPENCODE_PART),
)
