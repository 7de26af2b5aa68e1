"""Calls, as an assistant message holds them."""

from collections.abc import Callable
from typing import TypeAlias

from msgspec import UNSET

from partita.errors import ConversionError
from partita.formats.ag_ui.inputs import parsed
from partita.formats.ag_ui.names import ARGUMENTS
from partita.formats.ag_ui.notes import opened, rest_of
from partita.formats.answers.outlet import RAW_INPUT
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import Message, ToolCallPart

from .agents import is_call
from .raw import Raw

Below: TypeAlias = Callable[[JsonObject], tuple[Message, ...]]
"""Reads the messages under a call."""


def read_call(raw: Json, message: Raw, place: int, below: Below) -> ToolCallPart:
    """A call of a message."""
    if not is_call(raw):
        raise ConversionError(
            "a call without an id or a function",
            where=f"{message.path}.toolCalls[{place}]",
            hint="give {id, type, function: {name, arguments}}",
        )
    function: JsonObject = raw["function"]
    words: str = function[ARGUMENTS]
    value, is_whole = parsed(words)
    notes = _notes(raw, function)
    if is_whole and dumps(value).decode() != words:
        notes[RAW_INPUT] = words
    return ToolCallPart(
        raw["id"],
        function["name"],
        "input-available",
        value,
        UNSET if is_whole else words,
        call_provider_metadata=opened(notes) if notes else None,
        children=below(raw),
    )


def _notes(raw: JsonObject, function: JsonObject) -> JsonObject:
    """What a call says besides its tool and its input."""
    is_plain = raw.get("type") == "function"
    if is_plain and len(raw) == 3 and len(function) == 2:
        return {}
    notes = rest_of(raw, "id", "function", *(("type",) if is_plain else ()))
    if rest := rest_of(function, "name", ARGUMENTS):
        notes["function"] = rest
    return notes
