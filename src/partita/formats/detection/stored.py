"""Signs of Partita's own messages, of rows of applications, and of training data."""

from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

from .signs import (
    Sign,
    array,
    both,
    either,
    has,
    has_all,
    has_role,
    holds,
    inside,
    is_model_message,
    kind,
    only,
    text,
)

# Rows of Cherry Studio and Smithers


def _is_cherry(row: JsonObject) -> bool:
    """Whether a row of a session has `data` or `content` in the form of Cherry Studio, parsed or as text."""
    is_session = bool({"sessionId", "session_id"} & row.keys())
    for name, members in (("data", {"parts"}), ("content", {"blocks", "aiSDKChunks"})):
        value: Json = row.get(name)
        if isinstance(value, str):
            is_known = is_session and value.lstrip().startswith("{")
        else:
            is_known = is_object(value) and bool(members & value.keys())
        if is_known and has_role(row):
            return True
    return False


def _is_smithers(row: JsonObject) -> bool:
    if {"contentJson", "content_json"} & row.keys():
        return has_role(row)
    tables = ("agents", "events", "toolCalls", "agent_stream_events", "tool_calls")
    columns = ({"execution_id", "prompt"}, {"agent_id", "event_type"}, {"agent_id", "tool_name"})
    is_tables = "role" not in row and "type" not in row and any(is_array(row.get(name)) for name in tables)
    return is_tables or any(has_all(*some)(row) for some in columns)


APPLICATION_SIGNS: Final = (
    Sign("cherry", 0.9, "a row of a session, with parts, blocks or chunks", _is_cherry),
    Sign("smithers", 0.9, "columns of Smithers' tables", _is_smithers),
)

# Our own messages, and rows of plain text

_IS_CANONICAL: Final = both(has_role, inside("content", array("parts")))
_OWN_PART: Final = kind("tool-call", "data", "foreign", "custom", "steering-message", "reasoning-file")
_OWN_MEMBER: Final = either(
    inside("content", holds("parts", _OWN_PART)), has("seq", "parentId", "internal"), kind("tool", "event")
)
"""Whether a message has members that rows of Mastra, with the same envelope, do not have."""

_DATED_PART: Final = kind("text", "thinking", "image", "file", "tool-call", "tool-result")


def _is_legacy(message: JsonObject) -> bool:
    content: Json = message.get("content")
    return has_role(message) and "timestamp" in message and (is_object(content) or isinstance(content, str))


OWN_SIGNS: Final = (
    Sign(
        "canonical",
        0.95,
        "a content with parts, and members that only canonical messages have",
        both(_IS_CANONICAL, _OWN_MEMBER),
    ),
    Sign("canonical", 0.7, "the content is an object with parts", _IS_CANONICAL),
    Sign(
        "canonical",
        0.92,
        "a list of parts and a timestamp",  # the older form of canonical messages, with timestamps
        both(text("role", "id", "timestamp"), holds("content", _DATED_PART)),
    ),
    Sign("legacy", 0.9, "one content and a timestamp", _is_legacy),
    Sign(
        "plain",
        0.55,
        "a role, plain text and a time",
        both(is_model_message, text("content"), has("createdAt", "created_at")),
    ),
)

# Training data

CHATML: Final = "chatml"
MARK: Final = "<|im_start|>"

_TURN: Final = text("from", "value")
_CHATML_ROW: Final = both(only("role", "content"), text("role", "content"))


def _is_marked(value: JsonObject) -> bool:
    found: Json = value.get("text")
    return isinstance(found, str) and found.lstrip().startswith(MARK)


TRAINING_SIGNS: Final = (
    Sign("sharegpt", 0.97, "conversations of turns with from and value", holds("conversations", _TURN)),
    Sign("sharegpt", 0.9, "turns with from and value", _TURN),
    Sign(CHATML, 0.97, "a text in the marks of ChatML", _is_marked),
    Sign(
        CHATML,
        0.38,
        "only messages of a role and text",
        both(only("messages"), holds("messages", _CHATML_ROW)),
    ),
    Sign(CHATML, 0.3, "only a role and text", _CHATML_ROW),
)
