"""`system` messages and other notices → data: lasting where a person may care, passing where it is state."""

from collections.abc import Mapping
from typing import Final

from partita.formats.claude_code.blocks import rest_of
from partita.formats.claude_code.wire import CLAUDE_CODE
from partita.types.json import JsonObject

from .looking import strings
from .turn import Denial, Turn

LASTING: Final = frozenset(
    {
        *("compact_boundary", "local_command_output", "informational", "notification", "permission_denied"),
        *("task_started", "task_progress", "task_updated", "task_notification", "hook_response"),
        *("model_refusal_fallback", "model_refusal_no_fallback", "model_consent_fallback"),
        *("files_persisted", "memory_recall", "elicitation_complete", "mirror_error"),
        *("session_writes_lost", "worker_shutting_down"),
    }
)
PASSING: Final = frozenset(
    {
        *("status", "api_retry", "thinking_tokens", "session_state_changed", "control_request_progress"),
        *("background_tasks_changed", "commands_changed", "hook_started", "hook_progress", "plugin_install"),
    }
)
"""Kinds of `system` messages."""

NOTICES: Final[Mapping[str, bool]] = {
    "tool_progress": True,
    "prompt_suggestion": True,
    "auth_status": True,
    "rate_limit_event": True,
    "tool_use_summary": False,
    "conversation_reset": False,
}
"""Other messages that are told as data: whether they pass."""

IN_PLACE: Final[Mapping[str, str]] = {"task_progress": "task_id"}
"""Kinds of which the latest replaces the one before, by that field."""

INIT: Final[Mapping[str, str]] = {
    "session_id": "sessionId",
    "cwd": "cwd",
    "tools": "tools",
    "claude_code_version": "version",
    "permissionMode": "permissionMode",
    "mcp_servers": "mcpServers",
}
"""What the beginning of a session says, and what it is called in the metadata of the message."""


def take_system(turn: Turn, event: JsonObject) -> None:
    """Take a `system` message."""
    subtype = event.get("subtype")
    if subtype == "init":
        _take_init(turn, event)
    elif not isinstance(subtype, str):
        turn.outlet.puzzle(event)
    elif subtype in PASSING:
        turn.outlet.tell(subtype, event, transient="compact_error" not in event)
    elif subtype in LASTING:
        _take_lasting(turn, subtype, event)
    else:
        turn.outlet.puzzle(event)


def take_notice(turn: Turn, event: JsonObject) -> None:
    """Take one of the other notices."""
    kind = str(event["type"])
    turn.outlet.tell(kind, event, transient=NOTICES[kind])


def _take_init(turn: Turn, event: JsonObject) -> None:
    """A turn begins: who works, where, with what."""
    told = {name: event[key] for key, name in INIT.items() if event.get(key) is not None}
    rest = rest_of(event, *INIT, "type", "subtype", "uuid", "model")
    metadata: JsonObject = {CLAUDE_CODE: {**told, "init": rest} if rest else told}
    if isinstance(event.get("model"), str):
        metadata["model"] = event["model"]
        turn.main.knows_model = True
    turn.outlet.begin(metadata)


def _take_lasting(turn: Turn, subtype: str, event: JsonObject) -> None:
    call_id = event.get("tool_use_id")
    if subtype == "permission_denied" and isinstance(call_id, str):
        turn.denials[call_id] = _denial(event)
    # First the answer is taken back, then it is said why: otherwise the notice would go with it.
    turn.take_back(set(strings(event.get("retracted_message_uuids"))))
    place = event.get(IN_PLACE.get(subtype, ""))
    turn.outlet.tell(subtype, event, id=place if isinstance(place, str) else None)


def _denial(event: JsonObject) -> Denial:
    kind = event.get("decision_reason_type")
    reasons = (event.get("decision_reason"), event.get("message"))
    reason = next((reason for reason in reasons if isinstance(reason, str) and reason), None)
    return Denial(kind if isinstance(kind, str) else "permission", reason)
