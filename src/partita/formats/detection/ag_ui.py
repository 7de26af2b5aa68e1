"""What gives events, messages and requests of AG-UI away."""

from typing import Final

from partita.types.json import JsonObject, is_array, is_object

from .sign import Sign, alone_or_held, begins, has_role, inner, is_text, items, objects

AG_UI: Final = "ag-ui"

STARTS: Final = (
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


def _is_event(value: JsonObject) -> bool:
    return begins(value, "type", *STARTS)


def _is_input(value: JsonObject) -> bool:
    return is_text(value, "threadId", "runId") and is_array(value.get("messages"))


def _has_calls(message: JsonObject) -> bool:
    calls = objects(message.get("toolCalls"))
    return has_role(message) and any(is_object(one.get("function")) for one in calls)


def _answers_a_call(message: JsonObject) -> bool:
    return message.get("role") == "tool" and is_text(message, "toolCallId") and "content" in message


def _has_own_role(message: JsonObject) -> bool:
    if message.get("role") == "activity":
        return "activityType" in message
    return message.get("role") == "reasoning" and isinstance(message.get("content"), str)


def _has_sources(message: JsonObject) -> bool:
    types = ("data", "url", "file")
    return has_role(message) and any(
        inner(one, "source").get("type") in types and "value" in inner(one, "source")
        for one in items(message)
    )


def _is_plain(message: JsonObject) -> bool:
    return is_text(message, "id", "role", "content") and message.keys() <= {"id", "role", "content", "name"}


SIGNS: Final = (
    Sign(AG_UI, 0.97, "events of AG-UI", _is_event),
    Sign(AG_UI, 0.95, "messages of a run in a thread", _is_input),
    Sign(AG_UI, 0.93, "calls of functions in toolCalls", alone_or_held(_has_calls)),
    Sign(AG_UI, 0.9, "an answer to a toolCallId", alone_or_held(_answers_a_call)),
    Sign(AG_UI, 0.95, "roles that AG-UI has", alone_or_held(_has_own_role)),
    Sign(AG_UI, 0.93, "parts with a source and its value", alone_or_held(_has_sources)),
    Sign(AG_UI, 0.45, "an id, a role and words", _is_plain),
)
