"""What gives the formats of agents' logs away: one look at one record each."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.types.json import Json, JsonObject, is_array, is_object

LOOKED_AT = 20
"""How many values are looked at: some logs begin with a dozen records that are no talk."""

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


class LogSign(NamedTuple):
    """Something in a record that gives a format away."""

    format: LogFormatName
    confidence: float
    why: str
    shows: Callable[[JsonObject], bool]


def _is_text(record: JsonObject, *names: str) -> bool:
    return all(isinstance(record.get(name), str) for name in names)


def _has_type(record: JsonObject, types: frozenset[str]) -> bool:
    type_: Json = record.get("type")
    return isinstance(type_, str) and type_ in types


def _inner(record: JsonObject, name: str) -> JsonObject:
    """An object inside; empty when there is none."""
    value: Json = record.get(name)
    return value if is_object(value) else {}


# Claude Code. Its log writes `sessionId`, its stream `session_id`.

CLAUDE_STATE: Mapping[str, frozenset[str]] = {
    "summary": frozenset({"summary", "leafUuid"}),
    "file-history-snapshot": frozenset({"messageId", "snapshot"}),
    "queue-operation": frozenset({"operation", "sessionId"}),
    "last-prompt": frozenset({"sessionId"}),
    "mode": frozenset({"mode", "sessionId"}),
    "permission-mode": frozenset({"permissionMode", "sessionId"}),
    "custom-title": frozenset({"customTitle", "sessionId"}),
    "ai-title": frozenset({"aiTitle", "sessionId"}),
    "agent-name": frozenset({"agentName", "sessionId"}),
    "agent-setting": frozenset({"agentSetting", "sessionId"}),
    "agent-color": frozenset({"agentColor", "sessionId"}),
    "tag": frozenset({"tag", "sessionId"}),
    "pr-link": frozenset({"prNumber", "sessionId"}),
    "frame-link": frozenset({"sessionId"}),
    "worktree-state": frozenset({"sessionId"}),
    "bridge-session": frozenset({"sessionId"}),
    "atis-latch": frozenset({"sessionId"}),
    "content-replacement": frozenset({"sessionId"}),
}
"""Records of the log that are no talk, and what each has."""


def _is_claude_line(record: JsonObject) -> bool:
    chained = "parentUuid" in record and isinstance(record.get("isSidechain"), bool)
    return chained and "parts" not in _inner(record, "message")  # Qwen Code: Gemini's messages on such lines


def _is_claude_state(record: JsonObject) -> bool:
    type_: Json = record.get("type")
    return isinstance(type_, str) and CLAUDE_STATE.get(type_, _NOTHING) <= record.keys()


_NOTHING = frozenset({""})


def _is_claude_stream(record: JsonObject) -> bool:
    """A line of the stream, and not of those who took over its shape: Amp, Cursor, Qwen Code."""
    session: Json = record.get("session_id")
    if not isinstance(session, str) or session.startswith("T-") or "qwen_code_version" in record:
        return False
    message = _inner(record, "message")
    match record.get("type"):
        case "system":
            return _is_text(record, "subtype") and (is_array(record.get("tools")) or "uuid" in record)
        case "assistant" | "user":
            return bool(message) and ("parent_tool_use_id" in record or _is_text(message, "id", "model"))
        case "stream_event":
            return bool(_inner(record, "event"))
        case "result":
            return _is_text(record, "subtype") and bool({"num_turns", "modelUsage"} & record.keys())
        case "tool_progress":
            return _is_text(record, "tool_use_id")
        case "rate_limit_event":
            return bool(_inner(record, "rate_limit_info"))
        case _:
            return False


def _is_claude_control(record: JsonObject) -> bool:
    match record.get("type"):
        case "control_request":
            return _is_text(_inner(record, "request"), "subtype")
        case "control_response":
            return _is_text(_inner(record, "response"), "subtype", "request_id")
        case _:
            return False


# Codex: a header and bare items, then an envelope round them; and what `codex exec` prints.

ROLLOUT_TYPES = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"}
)
BARE_ITEMS = frozenset(
    {"message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "local_shell_call"}
)
ITEM_EVENTS = frozenset({"item.started", "item.updated", "item.completed"})
TURN_EVENTS = frozenset({"turn.started", "turn.completed", "turn.failed"})


def _is_envelope(record: JsonObject) -> bool:
    return _is_text(record, "type", "timestamp") and is_object(record.get("payload"))


def _is_known_envelope(record: JsonObject) -> bool:
    return _is_envelope(record) and _has_type(record, ROLLOUT_TYPES)


def _is_rollout_header(record: JsonObject) -> bool:
    return _is_text(record, "id", "timestamp") and "instructions" in record and "type" not in record


def _is_rollout_state(record: JsonObject) -> bool:
    return record.get("record_type") == "state"


def is_bare_item(record: JsonObject) -> bool:
    """Whether a record may be an item of a rollout from before the envelope. Others write such items too."""
    return _has_type(record, BARE_ITEMS)


def _is_exec_event(record: JsonObject) -> bool:
    if record.get("type") == "thread.started":
        return _is_text(record, "thread_id")
    if _has_type(record, ITEM_EVENTS):
        return _is_text(_inner(record, "item"), "id", "type")
    return _has_type(record, TURN_EVENTS)


def _is_older_exec_event(record: JsonObject) -> bool:
    return _is_text(record, "id") and _is_text(_inner(record, "msg"), "type") and "type" not in record


# Gemini CLI: a header, messages, and records that change what came before; or all in one document.

GEMINI_TYPES = frozenset({"user", "gemini", "info", "warning", "error"})


def _is_gemini_header(record: JsonObject) -> bool:
    return _is_text(record, "sessionId", "projectHash")


def _is_gemini_change(record: JsonObject) -> bool:
    return is_object(record.get("$set")) or _is_text(record, "$rewindTo")


def _is_gemini_message(record: Json) -> bool:
    return is_object(record) and _is_text(record, "id", "timestamp") and _has_type(record, GEMINI_TYPES)


def _is_gemini_answer(record: JsonObject) -> bool:
    return _is_gemini_message(record) and record["type"] == "gemini"


def _is_gemini_document(record: JsonObject) -> bool:
    messages: Json = record.get("messages")
    dated = bool({"startTime", "lastUpdated"} & record.keys())
    return dated and is_array(messages) and any(map(_is_gemini_message, messages[:LOOKED_AT]))


def _is_gemini_init(record: JsonObject) -> bool:
    named = _is_text(record, "session_id", "model", "timestamp")
    return record.get("type") == "init" and named and "subtype" not in record


def _is_gemini_stream(record: JsonObject) -> bool:
    match record.get("type"):
        case "init":
            return _is_text(record, "session_id", "model") and "subtype" not in record
        case "tool_use":
            return _is_text(record, "tool_name", "tool_id") and "parameters" in record
        case "tool_result":
            return _is_text(record, "tool_id", "status")
        case "result":
            return _is_text(record, "status") and is_object(record.get("stats"))
        case _:
            return False


# OpenCode.


def _is_id(record: JsonObject, name: str, prefix: str) -> bool:
    value: Json = record.get(name)
    return isinstance(value, str) and value.startswith(prefix)


def _is_opencode_info(record: JsonObject) -> bool:
    return _is_id(_inner(record, "info"), "id", "ses")


def _is_opencode_export(record: JsonObject) -> bool:
    return _is_opencode_info(record) and is_array(record.get("messages"))


def _is_named_opencode_part(record: JsonObject) -> bool:
    named = _is_id(record, "messageID", "msg") and _is_id(record, "sessionID", "ses")
    return named and _is_text(record, "type")


def _is_opencode_part(record: JsonObject) -> bool:
    match record.get("type"):
        case "tool":
            return _is_text(record, "callID", "tool") and is_object(record.get("state"))
        case "step-finish":
            return is_object(record.get("tokens")) and "cost" in record
        case _:
            return False


def is_session_state(record: JsonObject) -> bool:
    """Whether a record is about its session, and may come before any that names it."""
    return _is_claude_state(record) or _is_claude_control(record)


CERTAIN: Final = 1.0
"""The confidence that no later record can exceed."""

LOG_SIGNS: Final = (
    LogSign("claude-code-log", 1.0, "lines chained by parentUuid", _is_claude_line),
    LogSign("claude-code-log", 0.9, "records about a session", _is_claude_state),
    LogSign("claude-code-stream", 1.0, "messages with a session_id", _is_claude_stream),
    LogSign("claude-code-stream", 0.8, "control messages", _is_claude_control),
    LogSign("codex-rollout", 1.0, "payloads in an envelope", _is_known_envelope),
    LogSign("codex-rollout", 0.6, "payloads of an unknown type in an envelope", _is_envelope),
    LogSign("codex-rollout", 0.95, "a header with instructions", _is_rollout_header),
    LogSign("codex-rollout", 0.95, "records of state between items", _is_rollout_state),
    LogSign("codex-exec", 1.0, "events of threads, turns and items", _is_exec_event),
    LogSign("codex-exec", 0.7, "events with an id and a msg", _is_older_exec_event),
    LogSign("gemini-cli", 1.0, "a header with a projectHash", _is_gemini_header),
    LogSign("gemini-cli", 0.9, "records that set or rewind", _is_gemini_change),
    LogSign("gemini-cli", 0.9, "messages of type gemini", _is_gemini_answer),
    LogSign("gemini-cli", 0.8, "a document with dated messages", _is_gemini_document),
    LogSign("gemini-cli-stream", 1.0, "the first event of the stream", _is_gemini_init),
    LogSign("gemini-cli-stream", 0.9, "events of the stream", _is_gemini_stream),
    LogSign("opencode-export", 1.0, "info and messages", _is_opencode_export),
    LogSign("opencode-export", 0.8, "info of a session", _is_opencode_info),
    LogSign("opencode-parts", 1.0, "parts that name their message and session", _is_named_opencode_part),
    LogSign("opencode-parts", 0.9, "parts of messages", _is_opencode_part),
)
