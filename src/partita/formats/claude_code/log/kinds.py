"""The kinds of records that are known, and what each is good for."""

from typing import Final

from partita.formats.log.sink import Fact

FACTS: Final[tuple[tuple[str, Fact], ...]] = (
    ("cwd", "cwd"),
    ("gitBranch", "gitBranch"),
    ("version", "version"),
    ("sessionId", "sessionId"),
    ("entrypoint", "entrypoint"),
)
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
"""Records about the session, and the field of each that is a fact of the thread."""

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
"""Notices of the system that a reader of the conversation should see."""

SYSTEM: Final = SHOWN | {"stop_hook_summary", "turn_duration", "microcompact_boundary", "bridge_status"}
ATTACHMENTS: Final = frozenset(
    {
        "agent_listing_delta",
        "auto_mode",
        "command_permissions",
        "compact_file_reference",
        "companion_intro",
        "date_change",
        "deferred_tools_delta",
        "diagnostics",
        "directory",
        "edited_text_file",
        "file",
        "hook_additional_context",
        "hook_blocking_error",
        "hook_cancelled",
        "hook_non_blocking_error",
        "hook_success",
        "hook_system_message",
        "invoked_skills",
        "mcp_instructions_delta",
        "nested_memory",
        "opened_file_in_ide",
        "plan_mode",
        "plan_mode_exit",
        "queued_command",
        "selected_lines_in_ide",
        "skill_listing",
        "task_reminder",
        "todo_reminder",
        "total_tokens_reminder",
    }
)
PRELIMINARY: Final = frozenset(
    {
        "bash_progress",
        "powershell_progress",
        "mcp_progress",
        "waiting_for_task",
        "query_update",
        "search_results_received",
    }
)
