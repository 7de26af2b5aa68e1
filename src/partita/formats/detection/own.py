"""What gives our own messages away, and rows of plain text."""

from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

from .sign import Sign, among, has_role, is_model, is_text, items, parts


def _is_canonical(message: JsonObject) -> bool:
    content: Json = message.get("content")
    return has_role(message) and is_object(content) and is_array(content.get("parts"))


_OWN: Final = frozenset({"seq", "parentId", "internal"})
_OWN_TYPES: Final = frozenset(
    {"tool-call", "data", "foreign", "custom", "steering-message", "reasoning-file"}
)


_DATED_TYPES: Final = frozenset({"text", "thinking", "image", "file", "tool-call", "tool-result"})


def _is_ours_alone(message: JsonObject) -> bool:
    """What rows of Mastra, which have the same envelope, do not have."""
    if not _is_canonical(message):
        return False
    typed = any(among(part, "type", _OWN_TYPES) for part in parts(message["content"]))
    return typed or not _OWN.isdisjoint(message) or message.get("type") in ("tool", "event")


def _is_legacy(message: JsonObject) -> bool:
    content: Json = message.get("content")
    return has_role(message) and "timestamp" in message and (is_object(content) or isinstance(content, str))


def _is_dated(message: JsonObject) -> bool:
    """A list of parts as ours were written when messages had a `timestamp`."""
    typed = any(among(part, "type", _DATED_TYPES) for part in items(message))
    return has_role(message) and is_text(message, "id", "timestamp") and typed


def _is_plain(row: JsonObject) -> bool:
    dated = bool({"createdAt", "created_at"} & row.keys())
    return is_model(row) and isinstance(row["content"], str) and dated


SIGNS: Final = (
    Sign("canonical", 0.95, "a content with parts, and members that only ours have", _is_ours_alone),
    Sign("canonical", 0.7, "the content is an object with parts", _is_canonical),
    Sign("canonical", 0.92, "a list of parts and a timestamp", _is_dated),
    Sign("legacy", 0.9, "one content and a timestamp", _is_legacy),
    Sign("plain", 0.55, "a role, plain text and a time", _is_plain),
)
