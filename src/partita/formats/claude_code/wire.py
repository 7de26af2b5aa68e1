"""Names in Claude Code's session files and in its stream: record types, members, fixed texts.

No version of Claude Code promises its formats. What is here was seen in recordings of versions 1.0.0 to
2.1.235, or is in the types of the Claude Agent SDK: https://docs.claude.com/en/docs/agent-sdk/typescript
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from partita.formats.core.anthropic import usage_names
from partita.formats.log.sink import Fact
from partita.types.json import JsonObject
from partita.types.usage import Usage

ANTHROPIC: Final = "anthropic"
"""The namespace of metadata of the API, and the format of content blocks that are kept as they are."""

CLAUDE_CODE: Final = "claudeCode"
"""The namespace of metadata that only Claude Code has."""

SYNTHETIC: Final = "<synthetic>"
"""The name of the model of messages that no model wrote (seen in recordings)."""

AGENT_TOOLS: Final = ("Task", "Agent")
"""The tool that starts sub-agents. It was renamed between 2.1.49 and 2.1.81 (seen in recordings)."""

CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
"""Content blocks that are calls."""

RESULT: Final = "_tool_result"
"""The suffix of the types of blocks with results of server tools: `web_search_tool_result`."""

MCP_PREFIX: Final = "mcp__"
"""Tools of MCP servers are named `mcp__<server>__<tool>`: https://docs.claude.com/en/docs/claude-code/mcp"""

USAGE: Final = usage_names({"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0})
_NO_TOKENS: Final[JsonObject] = {"input_tokens": 0, "output_tokens": 0}


def read_usage(raw: JsonObject) -> Usage:
    """The usage of a response. A count that is absent is 0."""
    usage = USAGE.read_counts({**_NO_TOKENS, **raw})
    return replace(
        usage,
        cached_input_tokens=usage.cached_input_tokens or 0,
        cache_write_tokens=usage.cache_write_tokens or 0,
        raw=raw,
    )


def write_usage(usage: Usage | None) -> JsonObject:
    """The counts of a response as the API writes them. A line of a session file always has some."""
    if usage is None:
        return dict(_NO_TOKENS)
    names = [name for name in usage.__struct_fields__ if name.endswith("_tokens")]
    known: JsonObject = {name: count for name in names if (count := getattr(usage, name)) is not None}
    return USAGE.write(replace(Usage(), **{name: max(count, 0) for name, count in known.items()}))


# Session files

FACTS: Final[Sequence[tuple[str, Fact]]] = (
    ("cwd", "cwd"),
    ("gitBranch", "gitBranch"),
    ("version", "version"),
    ("sessionId", "sessionId"),
    ("entrypoint", "entrypoint"),
)
"""Members of records that are facts about the thread."""

METADATA: Final[dict[str, tuple[str, Fact | None]]] = {
    "custom-title": ("customTitle", "title"),
    "ai-title": ("aiTitle", "agentTitle"),
    "agent-name": ("agentName", "agentName"),
    "summary": ("summary", None),
    "last-prompt": ("leafUuid", None),
    "mode": ("mode", None),
    "permission-mode": ("permissionMode", None),
    "file-history-snapshot": ("snapshot", None),
    "queue-operation": ("operation", None),
    "pr-link": ("prUrl", None),
    "tag": ("tag", None),
    "agent-setting": ("agentSetting", None),
    "agent-color": ("agentColor", None),
    "frame-link": ("frame", None),
    "worktree-state": ("worktree", None),
    "bridge-session": ("bridge", None),
    "atis-latch": ("atis", None),
    "content-replacement": ("replacement", None),
    "agent_metadata": ("metadata", None),
    "saved_hook_context": ("content", None),
}
"""Types of records about the session, the main member of each, and the fact that it is."""

SHOWN: Final = frozenset(
    {
        "compact_boundary",
        "api_error",
        "local_command",
        "model_refusal_fallback",
        "away_summary",
        "informational",
    }
)
"""Subtypes of `system` records that are shown in the conversation."""

SYSTEM: Final = SHOWN | {"stop_hook_summary", "turn_duration", "microcompact_boundary", "bridge_status"}
"""All known subtypes of `system` records."""

ATTACHMENTS: Final = frozenset(
    {
        *("agent_listing_delta", "auto_mode", "command_permissions", "compact_file_reference"),
        *("companion_intro", "date_change", "deferred_tools_delta", "diagnostics", "directory"),
        *("edited_text_file", "file", "hook_additional_context", "hook_blocking_error", "hook_cancelled"),
        *("hook_non_blocking_error", "hook_success", "hook_system_message", "invoked_skills"),
        *("mcp_instructions_delta", "nested_memory", "opened_file_in_ide", "plan_mode", "plan_mode_exit"),
        *("queued_command", "selected_lines_in_ide", "skill_listing", "task_reminder", "todo_reminder"),
        "total_tokens_reminder",
    }
)
"""Known types of attachments."""

PRELIMINARY: Final = frozenset(
    {
        *("bash_progress", "powershell_progress", "mcp_progress", "waiting_for_task"),
        *("query_update", "search_results_received"),
    }
)
"""Types of progress that are preliminary outputs of tools."""

_COMMON: Final = frozenset(
    {
        *("type", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "session_id", "timestamp"),
        *("isSidechain", "agentId", "version", "cwd", "gitBranch", "userType", "entrypoint", "sessionKind"),
        *("slug", "teamName", "agentName", "isMeta", "forkedFrom", "requestId", "promptId", "message"),
    }
)
KNOWN: Final[dict[str, frozenset[str]]] = {
    "user": _COMMON
    | {
        *("toolUseResult", "sourceToolAssistantUUID", "sourceToolUseID", "promptSource", "origin"),
        *("permissionMode", "isVisibleInTranscriptOnly", "isCompactSummary", "toolDenialKind"),
        *("interruptedMessageId", "imagePasteIds", "todos", "thinkingMetadata", "planContent"),
        *("classifierMetaLines", "mcpMeta"),
    },
    "assistant": _COMMON
    | {
        *("isApiErrorMessage", "error", "apiErrorStatus", "effort", "attributionSkill"),
        *("attributionMcpServer", "attributionMcpTool", "attributionPlugin"),
    },
}
"""The known members of messages."""

COMPACTING: Final = "acompact"
"""The prefix of agents that compact a session. Their first records have parents in the session file."""

NO_RESPONSE: Final = "No response requested."
"""A synthetic response after a resume (seen in recordings)."""

# The stream

LASTING: Final = frozenset(
    {
        *("compact_boundary", "local_command_output", "informational", "notification", "permission_denied"),
        *("task_started", "task_progress", "task_updated", "task_notification", "hook_response"),
        *("model_refusal_fallback", "model_refusal_no_fallback", "model_consent_fallback"),
        *("files_persisted", "memory_recall", "elicitation_complete", "mirror_error"),
        *("session_writes_lost", "worker_shutting_down"),
    }
)
"""Subtypes of `system` messages that are kept in the message."""

TRANSIENT: Final = frozenset(
    {
        *("status", "api_retry", "thinking_tokens", "session_state_changed", "control_request_progress"),
        *("background_tasks_changed", "commands_changed", "hook_started", "hook_progress", "plugin_install"),
    }
)
"""Subtypes of `system` messages that are only a state of the agent."""

NOTICES: Final[Mapping[str, bool]] = {
    "tool_progress": True,
    "prompt_suggestion": True,
    "auth_status": True,
    "rate_limit_event": True,
    "tool_use_summary": False,
    "conversation_reset": False,
}
"""Other messages that become data: whether they are transient."""

IN_PLACE: Final[Mapping[str, str]] = {"task_progress": "task_id"}
"""Subtypes of which the latest replaces the one before, by that member."""

INIT: Final[Mapping[str, str]] = {
    "session_id": "sessionId",
    "cwd": "cwd",
    "tools": "tools",
    "claude_code_version": "version",
    "permissionMode": "permissionMode",
    "mcp_servers": "mcpServers",
}
"""Members of `system/init`, and their names in the metadata of the message."""

RESULT_NAMES: Final[Mapping[str, str]] = {
    "session_id": "sessionId",
    "subtype": "subtype",
    "stop_reason": "stopReason",
    "terminal_reason": "terminalReason",
    "total_cost_usd": "totalCostUsd",
    "modelUsage": "modelUsage",
    "num_turns": "numTurns",
    "duration_ms": "durationMs",
    "duration_api_ms": "durationApiMs",
    "permission_denials": "permissionDenials",
    "structured_output": "structuredOutput",
    "deferred_tool_use": "deferredToolUse",
    "errors": "errors",
}
"""Members of `result` messages, and their names in the metadata of the message."""

RESPONSE_NAMES: Final[Mapping[str, str]] = {
    "model": "model",
    "stop_reason": "stopReason",
    "stop_sequence": "stopSequence",
    "stop_details": "stopDetails",
    "container": "container",
    "context_management": "contextManagement",
}
"""Members of a response of the API, and their names in the metadata of the message."""

SUB_AGENT_NAMES: Final[Mapping[str, str]] = {
    "agent_id": "agentId",
    "subagent_type": "subagentType",
    "task_description": "taskDescription",
}
"""Members of `assistant` messages that are about the sub-agent, and their names in its message."""

ASSISTANT: Final = frozenset(
    {
        *("type", "message", "parent_tool_use_id", "uuid", "session_id", "timestamp", "error"),
        *SUB_AGENT_NAMES,
    }
)
"""Members of `assistant` messages that are not about the response."""
