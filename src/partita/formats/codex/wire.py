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
"""A member beside a payload, which none of our recordings has. It is kept, and not interpreted."""

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
"""What is known of an MCP call besides its input and its result."""

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
"""Events that a reader of the conversation should see, and the member with their text."""

# Members


def found(fields: JsonObject, name: str) -> Json:
    """The member of that name, or of its camel case; `None` if there is none."""
    value = fields.get(name)
    return fields.get(camel(name)) if value is None and "_" in name else value


def text(fields: JsonObject, name: str) -> str | None:
    """A member that is a string."""
    value = fields.get(name)
    if value is None and "_" in name:
        value = fields.get(camel(name))
    return value if isinstance(value, str) else None


def whole(fields: JsonObject, name: str) -> int | None:
    """A member that is an integer."""
    value = fields.get(name)
    if value is None and "_" in name:
        value = fields.get(camel(name))
    return value if type(value) is int else None  # not a boolean


def number(value: Json) -> float | None:
    """A number, as one."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def inner(fields: JsonObject, name: str) -> JsonObject:
    """A member that is an object; an empty one if there is none."""
    value = found(fields, name)
    return value if is_object(value) else {}


def items(fields: JsonObject, name: str) -> Iterator[JsonObject]:
    """The objects of a member that is a list."""
    value = found(fields, name)
    return (item for item in value if is_object(item)) if is_array(value) else iter(())


def texts(fields: JsonObject, name: str) -> list[str]:
    """The strings of a member that is a list: its items, or the `text` of its items."""
    value = found(fields, name)
    if not is_array(value):
        return []
    bare = (item.get("text") if is_object(item) else item for item in value)
    return [item for item in bare if isinstance(item, str)]


def under_agent(fields: JsonObject) -> JsonObject | None:
    """Metadata with these fields in our namespace; `None` if there are none."""
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


def parents_of(meta: JsonObject) -> set[str]:
    """The threads that a thread came from."""
    named = (
        text(meta, "forked_from_id"),
        text(meta, "parent_thread_id"),
        text(spawn_of(meta), "parent_thread_id"),
        text(inner(meta, "history_base"), "thread_id"),
    )
    return {thread for thread in named if thread}


def spawn_of(meta: JsonObject) -> JsonObject:
    """What a header says about the call that started its thread; empty if no call did."""
    return inner(inner(inner(meta, "source"), "subagent"), "thread_spawn")


def parent_of(meta: JsonObject) -> str | None:
    """The thread whose call started this one. Codex itself starts reviews and the like."""
    if isinstance(inner(meta, "source").get("subagent"), str):
        return None
    parent = text(meta, "parent_thread_id") or text(spawn_of(meta), "parent_thread_id")
    return None if parent == text(meta, "id") else parent


def sign_of(parent: str, path: str) -> str:
    """What identifies a sub-agent if its call does not name its thread: the parent's thread, and its path."""
    return f"{parent} {path}"


def millis_of(id: str | None) -> float | None:
    """When an id was made, in milliseconds since 1970, if it is a UUID of version 7."""
    if id is None or len(id) != 36 or id[14] != "7":
        return None
    try:
        return float(int(id[:8] + id[9:13], 16))
    except ValueError:
        return None
