"""What gives messages, tasks and events of the Agent2Agent protocol away."""

from typing import Final

from partita.types.json import JsonObject, is_array, is_object

from .sign import Sign, among, begins, inner, is_text

A2A: Final = "a2a"

KINDS: Final = frozenset({"task", "message", "status-update", "artifact-update"})
_MEMBERS: Final = frozenset({"messageId", "contextId", "taskId", "artifact", "status", "artifacts"})


def _has_kind(value: JsonObject) -> bool:
    return among(value, "kind", KINDS) and not _MEMBERS.isdisjoint(value)


def _is_message(value: JsonObject) -> bool:
    return is_text(value, "messageId") and is_array(value.get("parts"))


def _has_role(value: JsonObject) -> bool:
    return begins(value, "role", "ROLE_USER", "ROLE_AGENT") and is_array(value.get("parts"))


def _is_artifact(value: JsonObject) -> bool:
    return is_text(value, "artifactId") and is_array(value.get("parts"))


def _is_task(value: JsonObject) -> bool:
    return is_text(inner(value, "status"), "state") and bool(
        {"contextId", "history", "artifacts"} & value.keys()
    )


def _is_update(value: JsonObject) -> bool:
    return bool({"contextId", "taskId"} & value.keys()) and (
        is_text(inner(value, "status"), "state") or _is_artifact(inner(value, "artifact"))
    )


def _is_event(value: JsonObject) -> bool:
    """An event of protocol 1.0: one member, named after what it holds."""
    return (
        _is_task(inner(value, "task"))
        or _is_message(inner(value, "message"))
        or is_object(value.get("statusUpdate"))
        or is_object(value.get("artifactUpdate"))
    )


def _is_own(value: JsonObject) -> bool:
    return any(
        test(value) for test in (_has_kind, _is_message, _is_artifact, _is_task, _is_update, _is_event)
    )


def _is_reply(value: JsonObject) -> bool:
    held = inner(value, "result") or inner(value, "params")
    return value.get("jsonrpc") == "2.0" and _is_own(held)


SIGNS: Final = (
    Sign(A2A, 0.97, "roles of protocol 1.0", _has_role),
    Sign(A2A, 0.96, "kinds of protocol 0.x", _has_kind),
    Sign(A2A, 0.93, "a messageId and parts", _is_message),
    Sign(A2A, 0.93, "an artifact", _is_artifact),
    Sign(A2A, 0.93, "a task with its state", _is_task),
    Sign(A2A, 0.93, "news of a task", _is_update),
    Sign(A2A, 0.95, "events named after what they hold", _is_event),
    Sign(A2A, 0.95, "answers that hold such things", _is_reply),
)
