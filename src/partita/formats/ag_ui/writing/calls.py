"""Calls, as an assistant message holds them."""

from typing import Final

from msgspec import UNSET

from partita.formats.ag_ui.inputs import parsed
from partita.formats.ag_ui.losses import NO_PLACE, Losses
from partita.formats.ag_ui.names import ARGUMENTS, PARENT
from partita.formats.ag_ui.notes import closed, rest_of
from partita.formats.answers.outlet import RAW_INPUT
from partita.types.fold import state_after
from partita.types.json import JsonObject, dumps, is_object
from partita.types.messages import ToolCallPart

CARRIED: Final = (
    "id",
    "name",
    "input",
    "raw_input",
    "output",
    "state",
    "call_provider_metadata",
    "result_provider_metadata",
    "children",
    "result_message",
)
"""Fields of a call that are told, or looked at one by one."""


def write_call(part: ToolCallPart, path: str, losses: Losses) -> JsonObject:
    """A call: its tool and the words of its input."""
    metadata = part.call_provider_metadata
    notes: JsonObject = {} if metadata is None else closed(metadata)
    function: JsonObject = {"name": part.name, ARGUMENTS: _arguments(part, notes, path, losses)}
    written: JsonObject = {"id": part.id, "type": "function"}
    if notes:
        inner = notes.get("function")
        function |= rest_of(inner, *function) if is_object(inner) else {}
        written |= rest_of(notes, "id", "function", RAW_INPUT, PARENT)
    written["function"] = function
    return written


def tell_untold(part: ToolCallPart, path: str, losses: Losses) -> None:
    """Tell what calls have no place for."""
    losses.rest(part, path, *CARRIED)
    if part.call_provider_metadata is not None:
        losses.empty(f"{path}.callProviderMetadata", part.call_provider_metadata)
    expected = "input-available" if part.output is None else state_after(part.output)
    if part.state != expected:
        losses.say(f"{path}.state", part.state, "calls have no state of their own")


def _arguments(part: ToolCallPart, notes: JsonObject, path: str, losses: Losses) -> str:
    """The words of an input: those it came in, if they still say the same."""
    words = notes.get(RAW_INPUT)
    if isinstance(words, str):
        value, is_whole = parsed(words)
        if is_whole and value == part.input:
            return words
    if isinstance(part.raw_input, str):
        if part.input is not UNSET:
            losses.say(f"{path}.input", part.input, "the words of the input stand for it", "minor")
        return part.raw_input
    if part.raw_input is not UNSET:
        losses.say(f"{path}.rawInput", part.raw_input, NO_PLACE)
    if part.input is UNSET:
        losses.say(f"{path}.input", "{}", "a call must have an input", "repaired")
        return "{}"
    return dumps(part.input).decode()
