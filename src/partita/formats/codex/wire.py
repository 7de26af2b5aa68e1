"""The records of Codex, and how their members are read.

Sources: https://github.com/openai/codex, `codex-rs/protocol/src/protocol.rs` (rollout lines and events),
`codex-rs/protocol/src/models.rs` (response items), `codex-rs/exec/src/exec_events.rs` (`codex exec --json`)
and `codex-rs/app-server-protocol` (the app server). The same members are `exit_code` in rollouts and
`exitCode` in the traffic of the app server. A member that does not have the expected type counts as absent,
so that a damaged record loses only its own content.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from partita.types.json import Json, JsonObject, dumps, is_array, is_object

AGENT: Final = "codex"
"""The namespace of Codex in metadata."""

# Rollouts

METADATA: Final = "metadata"
"""A member beside the payload that none of our recordings has. It is kept, and not interpreted."""

ENVELOPE: Final = frozenset({"timestamp", "type", "payload", "ordinal", METADATA})

HEADER: Final = frozenset({"id", "timestamp", "instructions", "git"})
"""The members of the first line until mid 2025, which has no type (seen in a recording)."""

STATE_RECORDS: Final = frozenset(
    {
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "security_risk_score",
        "token_usage_record",  # counts of the turn, as in `token_count`: getagentseal/codeburn#1380
    }
)
"""Records that are kept as data."""

# Response items

_ITEM: Final = frozenset({"type", "id", "internal_chat_message_metadata_passthrough"})
ITEM_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    "message": _ITEM | {"role", "content", "phase", "end_turn"},
    "reasoning": _ITEM | {"summary", "content", "encrypted_content"},
    "function_call": _ITEM | {"name", "namespace", "arguments", "call_id", "status"},
    "custom_tool_call": _ITEM | {"name", "namespace", "input", "call_id", "status"},
    "function_call_output": _ITEM | {"call_id", "output", "name", "status"},
    "custom_tool_call_output": _ITEM | {"call_id", "output", "name", "status"},
    "local_shell_call": _ITEM | {"call_id", "status", "action"},
    "tool_search_call": _ITEM | {"call_id", "status", "execution", "arguments"},
    "tool_search_output": _ITEM | {"call_id", "status", "execution", "tools"},
    "web_search_call": _ITEM | {"call_id", "status", "action"},
    "image_generation_call": _ITEM | {"call_id", "status", "revised_prompt", "result"},
}
"""The known members of items. Others are kept and reported."""

STATE_ITEMS: Final = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "compaction_trigger"}
)
"""Items that are kept as data."""

# Events

MCP_MEMBERS: Final = (
    "connector_id",
    "mcp_app_resource_uri",
    "link_id",
    "app_name",
    "template_id",
    "action_name",
    "plugin_id",
)
"""Other members of an MCP call than its input and its result."""

_USER_MESSAGE: Final = ("message", "images", "local_images", "text_elements", "kind", "client_id")
_PATCH_END: Final = ("call_id", "turn_id", "stdout", "stderr", "success", "changes", "status")
EVENT_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    "user_message": frozenset({"type", *_USER_MESSAGE, "image_details", "local_image_details"}),
    "agent_message": frozenset({"type", "message", "phase", "memory_citation"}),
    "agent_reasoning": frozenset({"type", "text"}),
    "agent_reasoning_raw_content": frozenset({"type", "text"}),
    "token_count": frozenset({"type", "info", "rate_limits"}),
    "patch_apply_end": frozenset({"type", *_PATCH_END, "auto_approved"}),
    "web_search_end": frozenset({"type", "call_id", "query", "action", "results"}),
    "mcp_tool_call_end": frozenset({"type", "call_id", "invocation", "duration", "result", *MCP_MEMBERS}),
    "item_completed": frozenset({"type", "thread_id", "turn_id", "item", "started_at_ms", "completed_at_ms"}),
}
"""The known members of events that are not kept whole."""

STATE_EVENTS: Final = frozenset(
    {
        "background_event",
        "collab_agent_interaction_begin",
        "collab_agent_interaction_end",
        "collab_agent_spawn_begin",
        "collab_agent_spawn_end",
        "collab_close_begin",
        "collab_close_end",
        "collab_waiting_begin",
        "collab_waiting_end",
        "deprecation_notice",
        "hook_completed",
        "hook_started",
        "item_started",
        "plan_update",
        "session_configured",
        "shutdown_complete",
        "sub_agent_activity",
        "thread_goal_updated",
        "turn_diff",
        "undo_completed",
        "undo_started",
    }
)
"""Events that are kept as data."""

STATE_EVENT_ITEMS: Final = frozenset({"plan", "sub_agent_activity", "hook_prompt"})
"""Items of events that are kept as data."""

NOTICES: Final[Mapping[str, str]] = {
    "error": "message",
    "warning": "message",
    "stream_error": "message",
    "entered_review_mode": "user_facing_hint",
    "exited_review_mode": "review_output",
    "model_reroute": "reason",
}
"""Events that are shown in the conversation, and the member with their text."""

# Members


def member(fields: JsonObject, name: str) -> Json:
    """Return the member of that name, or of the name in camel case; `None` if there is none."""
    value = fields.get(name)
    return fields.get(camel(name)) if value is None and "_" in name else value


def text(fields: JsonObject, name: str) -> str | None:
    """Return a member that is a string, else `None`."""
    value = fields.get(name)
    if value is None and "_" in name:
        value = fields.get(camel(name))
    return value if isinstance(value, str) else None


def integer(fields: JsonObject, name: str) -> int | None:
    """Return a member that is an integer, else `None`."""
    value = fields.get(name)
    if value is None and "_" in name:
        value = fields.get(camel(name))
    return value if type(value) is int else None  # not a boolean


def number(value: Json) -> float | None:
    """Return a value that is a number, else `None`."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def nested(fields: JsonObject, name: str) -> JsonObject:
    """Return a member that is an object, else an empty one."""
    value = member(fields, name)
    return value if is_object(value) else {}


def items(fields: JsonObject, name: str) -> Iterator[JsonObject]:
    """Return the objects in a member that is a list."""
    value = member(fields, name)
    return (item for item in value if is_object(item)) if is_array(value) else iter(())


def texts(fields: JsonObject, name: str) -> list[str]:
    """Return the strings in a member that is a list: its items, or the `text` of its items."""
    value = member(fields, name)
    if not is_array(value):
        return []
    found = (item.get("text") if is_object(item) else item for item in value)
    return [item for item in found if isinstance(item, str)]


def codex_metadata(fields: JsonObject) -> JsonObject | None:
    """Return metadata with these fields in the namespace of Codex; `None` if there are none."""
    return {AGENT: fields} if fields else None


def error_text(error: Json) -> str:
    """The text of an error: a string, an object with a message, or anything else as JSON."""
    if is_object(error) and isinstance(error.get("message"), str):
        return str(error["message"])
    return error if isinstance(error, str) else dumps(error).decode()


@lru_cache(maxsize=1024)
def camel(name: str) -> str:
    """`exit_code` → `exitCode`."""
    first, *others = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


@lru_cache(maxsize=1024)
def snake(name: str) -> str:
    """`CommandExecution`, `commandExecution` → `command_execution`."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")


def data_name(kind: str) -> str:
    """The name of the data part that keeps a record of that kind."""
    return f"{AGENT}-{kind.replace('_', '-')}"


# Headers


def ancestors_of(meta: JsonObject) -> set[str]:
    """The threads that a thread was forked from or started by."""
    named = (
        text(meta, "forked_from_id"),
        text(meta, "parent_thread_id"),
        text(spawn_facts(meta), "parent_thread_id"),
        text(nested(meta, "history_base"), "thread_id"),
    )
    return {thread for thread in named if thread}


def spawn_facts(meta: JsonObject) -> JsonObject:
    """The members of a header about the call that started its thread; empty if no call did."""
    return nested(nested(nested(meta, "source"), "subagent"), "thread_spawn")


def parent_thread(meta: JsonObject) -> str | None:
    """The thread whose call started this one; `None` for those that Codex itself starts, such as reviews."""
    if isinstance(nested(meta, "source").get("subagent"), str):
        return None
    parent = text(meta, "parent_thread_id") or text(spawn_facts(meta), "parent_thread_id")
    return None if parent == text(meta, "id") else parent


def agent_key(parent: str, path: str) -> str:
    """The key of a sub-agent whose call does not name its thread: the thread of the call, and its path."""
    return f"{parent} {path}"


def uuid7_millis(id: str | None) -> float | None:
    """The time in an id that is a UUID of version 7, in milliseconds since 1970."""
    if id is None or len(id) != 36 or id[14] != "7":
        return None
    try:
        return float(int(id[:8] + id[9:13], 16))
    except ValueError:
        return None
