"""Whose words an answer is in, and where its reasoning stands."""

from dataclasses import replace as with_
from typing import get_args

from msgspec.structs import replace

from partita.formats.openai_chat.dialects import DIALECTS, OPENAI, Dialect, ReasoningField
from partita.formats.openai_chat.looking import word
from partita.formats.openai_chat.notes import SAID
from partita.formats.openai_chat.owning import own_of
from partita.formats.openai_chat.thoughts import REASONINGS
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage
from partita.types.parts import ReasoningPart, TextPart


def dialect_of(message: AssistantMessage, metadata: JsonObject) -> Dialect:
    """The dialect of the server that gave the answer, with a place for reasoning whoever thought it."""
    spaces = [*metadata]
    for part in message.parts:
        if isinstance(part, TextPart | ReasoningPart):
            spaces += part.provider_metadata or {}
    dialect = next((DIALECTS[space] for space in spaces if space in DIALECTS), OPENAI)
    return with_(
        dialect,
        reasoning=_field_of(message, dialect),
        refusals=True,
        replays="always",
        needs_reasoning=False,
        nine_letter_ids=False,
    )


def _field_of(message: AssistantMessage, dialect: Dialect) -> ReasoningField:
    """Where reasoning stands: in details if there are any, else where it came from."""
    thoughts = [part for part in message.parts if isinstance(part, ReasoningPart)]
    owned = [own_of(part.provider_metadata, dialect) or {} for part in thoughts]
    if any(own.get("reasoning_details") for own in owned):
        return "reasoning_details"
    said = [word(own, "field") for own in owned]
    fields: tuple[ReasoningField, ...] = get_args(ReasoningField)
    for field in fields:
        if field in said:
            return field
    return dialect.reasoning or "reasoning_content"


def with_words(part: ReasoningPart, own: JsonObject, dialect: Dialect) -> ReasoningPart:
    """A thought in details that was told in words too."""
    field = word(own, "field")
    if not own.get("reasoning_details") or field not in REASONINGS:
        return part
    return replace(
        part, provider_metadata={**(part.provider_metadata or {}), dialect.namespace: {**own, SAID: [field]}}
    )
