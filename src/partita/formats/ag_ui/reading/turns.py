"""Instructions, questions, reasoning and activities, each a message."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from partita.formats.ag_ui.content import is_plain, read_content
from partita.formats.ag_ui.notes import noted, opened
from partita.types.json import is_array
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    SystemContent,
    SystemMessage,
    UserContent,
    UserMessage,
    UserPart,
)
from partita.types.parts import DataPart, ReasoningPart, TextPart

from .raw import Raw

READ: Final = frozenset({"id", "role", "content", "metadata"})
_THOUGHT: Final = frozenset({"id", "role", "content"})
_ACTIVITY: Final = READ | {"activityType"}


def read_system(raw: Raw) -> SystemMessage:
    """Instructions."""
    text = raw.value.get("content")
    if not isinstance(text, str):
        raise raw.bad_content("a string")
    notes = raw.notes(READ)
    if raw.value["role"] == "developer":
        notes["role"] = "developer"
    content = SystemContent(parts=(TextPart(text),), metadata=raw.metadata, provider_metadata=opened(notes))
    return SystemMessage(id=raw.id, content=content, internal=raw.is_internal)


def read_user(raw: Raw) -> UserMessage:
    """What a person said."""
    said = raw.value.get("content")
    notes = raw.notes(READ)
    if isinstance(said, str):
        parts: tuple[UserPart, ...] = (TextPart(said),)
    elif is_array(said):
        parts = tuple(read_content(said, f"{raw.path}.content"))
        if is_plain(parts):
            notes["content"] = "list"
    else:
        raise raw.bad_content("a string or a list of parts")
    content = UserContent(parts=parts, metadata=raw.metadata, provider_metadata=opened(notes))
    return UserMessage(id=raw.id, content=content, internal=raw.is_internal)


def read_reasoning(raw: Raw) -> ReasoningPart:
    """Reasoning, which is part of the answer behind it."""
    text = raw.value.get("content")
    if not isinstance(text, str):
        raise raw.bad_content("a string")
    return ReasoningPart(text, id=raw.id, provider_metadata=opened(raw.notes(_THOUGHT)))


def alone(thoughts: Sequence[ReasoningPart]) -> AssistantMessage:
    """Reasoning with no answer behind it."""
    return AssistantMessage(id=thoughts[0].id or "", content=thoughts)


def read_activity(raw: Raw) -> AssistantMessage:
    """An activity: a notice with data in it."""
    value = raw.value
    notes = {**raw.notes(_ACTIVITY), "role": "activity"}
    data = DataPart(
        value["activityType"], value.get("content", UNSET), raw.id, provider_metadata=noted(notes)
    )
    content = AssistantContent(parts=(data,), metadata=raw.metadata)
    return AssistantMessage(id=raw.id, type="event", content=content, internal=raw.is_internal)
