"""Hypothesis strategies for plain JSON in the shapes of the AI SDK, for releases 5, 6 and 7."""

from .strategies_damage import chunk_streams, damage_value, damaged_chunks, sse_damage
from .strategies_fields import CALL_IDS, DATA_NAMES, MESSAGE_IDS, TOOL_NAMES, single_chunks
from .strategies_json import (
    cuts,
    forbidden_json,
    forbidden_json_texts,
    json_objects,
    json_texts,
    json_values,
    provider_metadata,
    texts,
)
from .strategies_messages import continued_message, continued_streams, ui_messages

__all__ = [
    "CALL_IDS",
    "DATA_NAMES",
    "MESSAGE_IDS",
    "TOOL_NAMES",
    "chunk_streams",
    "continued_message",
    "continued_streams",
    "cuts",
    "damage_value",
    "damaged_chunks",
    "forbidden_json",
    "forbidden_json_texts",
    "json_objects",
    "json_texts",
    "json_values",
    "provider_metadata",
    "single_chunks",
    "sse_damage",
    "texts",
    "ui_messages",
]
