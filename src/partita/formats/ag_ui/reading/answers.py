"""What an assistant says: a text, and calls."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec import UNSET

from partita.errors import ConversionError
from partita.formats.ag_ui.inputs import parsed
from partita.formats.ag_ui.names import ARGUMENTS
from partita.formats.ag_ui.notes import SEALED, noted, opened, rest_of, unseal
from partita.formats.ag_ui.pieces import is_later_piece
from partita.formats.answers.outlet import RAW_INPUT
from partita.types.json import Json, JsonObject, dumps, is_array, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    ToolCallPart,
    derive_type,
)
from partita.types.parts import ReasoningPart, StepStartPart, TextPart

from .agents import is_call
from .raw import Raw

Below: TypeAlias = Callable[[JsonObject], tuple[Message, ...]]
"""Reads the messages under a call."""

READ: Final = frozenset({"id", "role", "content", "toolCalls", "metadata"})


def read_answer(
    raw: Raw, thoughts: Sequence[ReasoningPart], before: AssistantMessage | None, below: Below
) -> AssistantMessage:
    """An answer with the thoughts before it. The answer before it is another piece of the same, or not."""
    notes = _notes(raw)
    said = raw.value.get("content")
    sealed = None
    if said is not None and SEALED in notes:
        sealed = unseal(notes[SEALED])
        if sealed is not None:
            del notes[SEALED]
    later = before if before is not None and is_later_piece(raw.id, before.id) else None
    parts: list[AssistantPart] = [] if later is None else [StepStartPart()]
    parts += thoughts
    if said is not None:
        parts.append(TextPart(said, provider_metadata=sealed))
    for place, call in enumerate(raw.value.get("toolCalls") or ()):
        parts.append(_call(call, raw, place, below))
    content = AssistantContent(parts=tuple(parts), metadata=raw.metadata, provider_metadata=noted(notes))
    return AssistantMessage(
        id=raw.id,
        type=derive_type(parts) if later is None else later.type,  # pieces are alike, to be joined
        content=content,
        internal=raw.is_internal,
    )


def _notes(raw: Raw) -> JsonObject:
    """What an answer says besides its text and its calls, and that it says none, where it says so."""
    value = raw.value
    said, calls = value.get("content"), value.get("toolCalls")
    if not (said is None or isinstance(said, str)):
        raise raw.bad_content("a string")
    if not (calls is None or is_array(calls)):
        raise ConversionError(f"toolCalls are {kind_of(calls)}", where=raw.path, hint="give a list")
    notes = raw.notes(READ)
    if said is None and "content" in value:
        notes["content"] = None
    if not calls and "toolCalls" in value:
        notes["toolCalls"] = calls
    return notes


def _call(raw: Json, message: Raw, place: int, below: Below) -> ToolCallPart:
    if not is_call(raw):
        raise ConversionError(
            "a call without an id or a function",
            where=f"{message.path}.toolCalls[{place}]",
            hint="give {id, type, function: {name, arguments}}",
        )
    function: JsonObject = raw["function"]
    notes = rest_of(raw, "id", "function", *(("type",) if raw.get("type") == "function" else ()))
    if rest := rest_of(function, "name", ARGUMENTS):
        notes["function"] = rest
    words: str = function[ARGUMENTS]
    value, is_whole = parsed(words)
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
