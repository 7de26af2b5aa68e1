"""What an assistant says: its pieces, and the results behind them, go into one message.

That is the merged view, as `partita.types.fold` makes it of messages that are apart.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.ag_ui.notes import SEALED, noted, unseal
from partita.types.fold import results_id, state_after
from partita.types.json import JsonObject, is_array, kind_of
from partita.types.messages import AssistantContent, AssistantMessage, AssistantPart, ToolCallPart
from partita.types.parts import ReasoningPart, StepStartPart, TextPart

from .calls import Below, read_call
from .raw import Raw
from .results import Result

READ: Final = frozenset({"id", "role", "content", "toolCalls", "metadata"})


class Piece(NamedTuple):
    """A message of an answer: its parts, and what else it says."""

    raw: Raw
    parts: list[AssistantPart]
    notes: JsonObject


def read_piece(raw: Raw, thoughts: Sequence[ReasoningPart], below: Below) -> Piece:
    """A message with the thoughts before it."""
    notes = _notes(raw)
    parts: list[AssistantPart] = [*thoughts]
    said = raw.value.get("content")
    if said is not None:
        sealed = unseal(notes[SEALED]) if SEALED in notes else None
        if sealed is not None:
            del notes[SEALED]
        parts.append(TextPart(said, provider_metadata=sealed))
    for place, call in enumerate(raw.value.get("toolCalls") or ()):
        parts.append(read_call(call, raw, place, below))
    if thoughts and len(parts) == len(thoughts) and thoughts[0].id == raw.id:
        notes["role"] = "assistant"  # else it would be known by its reasoning
    return Piece(raw, parts, notes)


def _notes(raw: Raw) -> JsonObject:
    """What a message says besides its text and its calls, and that it says none, where it says so."""
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


class Answer:
    """An answer on its way."""

    def __init__(self, piece: Piece) -> None:
        self._head = piece.raw
        self._notes = piece.notes
        self._parts: list[AssistantPart] = []
        self._pieces = 0
        self.add(piece)

    def goes_on(self, piece: Piece) -> bool:
        """Whether a piece is the next one, and says nothing but its parts."""
        raw, head = piece.raw, self._head
        return (
            raw.id == f"{head.id}#{self._pieces + 1}"
            and not piece.notes
            and "metadata" not in raw.value
            and raw.is_internal == head.is_internal
        )

    def add(self, piece: Piece) -> None:
        """Add a piece: behind another it is another step."""
        if self._pieces:
            self._parts.append(StepStartPart())
        self._pieces += 1
        self._parts += piece.parts

    def open_calls(self, piece: Piece) -> list["OpenCall"]:
        """The calls of the piece that was added last."""
        first = len(self._parts) - len(piece.parts)
        return [
            OpenCall(self, first + place, part, self._pieces)
            for place, part in enumerate(piece.parts)
            if isinstance(part, ToolCallPart)
        ]

    def settle(self, call: "OpenCall", result: Result) -> None:
        """Put a result into its call. One that stands where it would be written has no message of its own."""
        head = self._head
        is_own = result.is_bare(results_id(head.id, call.number), internal=head.is_internal)
        self._parts[call.place] = replace(
            call.part,
            state=state_after(result.output),
            output=result.output,
            result_provider_metadata=result.metadata,
            result_message=None if is_own else result.message(()),
        )

    def message(self) -> AssistantMessage:
        """All of it."""
        head = self._head
        content = AssistantContent(
            parts=tuple(self._parts), metadata=head.metadata, provider_metadata=noted(self._notes)
        )
        return AssistantMessage(id=head.id, content=content, internal=head.is_internal)


class OpenCall(NamedTuple):
    """A call that has no result, where it stands, and in which piece."""

    answer: Answer
    place: int
    part: ToolCallPart
    number: int

    def take(self, result: Result) -> None:
        """Its result has come."""
        self.answer.settle(self, result)
