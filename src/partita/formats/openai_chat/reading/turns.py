"""Answers and results in a row → one turn of the model: every result in its call."""

from typing import NamedTuple

from msgspec.structs import replace

from partita.formats.losses import Loss
from partita.formats.openai_chat.dialects import Dialect
from partita.formats.openai_chat.looking import word
from partita.formats.openai_chat.notes import LEGACY, PLACE
from partita.formats.openai_chat.owning import own_of
from partita.types.json import JsonObject
from partita.types.messages import AssistantContent, AssistantMessage, AssistantPart, ToolCallPart
from partita.types.parts import StepStartPart
from partita.types.tools import ToolOutput

from .answers import Said
from .messages import kept_of, misplaced, named, output_of


class Answered(NamedTuple):
    """What came of the call at a place, and the form it came in."""

    place: int
    output: ToolOutput
    notes: JsonObject


class Step:
    """One assistant message, and which of its calls were answered in which order."""

    def __init__(self, said: Said) -> None:
        self.said = said
        self.answered: list[Answered] = []
        self.waiting: dict[str, list[int]] = {}
        """Places of calls without a result, by id, the first one last."""
        for index in range(len(said.parts) - 1, -1, -1):
            part = said.parts[index]
            if type(part) is ToolCallPart:
                self.waiting.setdefault(part.id, []).append(index)


class Turn:
    """Assistant and tool messages in a row, on their way to one message."""

    def __init__(self, id_: str, dialect: Dialect, losses: list[Loss]) -> None:
        self.id = id_
        self._dialect = dialect
        self._losses = losses
        self._steps: list[Step] = []
        self.is_answered = False
        """Whether a result came, so that what the model says next is another step."""

    def add_said(self, said: Said) -> None:
        """Take an assistant message."""
        self._steps.append(Step(said))
        self.is_answered = False

    def add_result(self, raw: JsonObject, path: str) -> bool:
        """Take a result, if it belongs to a call here."""
        found = self._call_of(raw)
        if found is None:
            return False
        step, place = found
        output, notes = output_of(raw, self._dialect)
        kept = kept_of(raw, "tool_call_id" if raw["role"] == "tool" else "name")
        step.answered.append(Answered(place, output, {**notes, **kept}))
        self.is_answered = True
        if step is not self._steps[-1]:
            call = step.said.parts[place]
            assert isinstance(call, ToolCallPart), "only calls wait"
            self._losses.append(misplaced(path, call.id))
        return True

    def _call_of(self, raw: JsonObject) -> tuple[Step, int] | None:
        """The nearest call that a result belongs to and that has none."""
        for step in reversed(self._steps):
            places = step.waiting.get(self._key(raw, step))
            if places:
                return step, places.pop()
        return None

    def _key(self, raw: JsonObject, step: Step) -> str:
        if raw["role"] == "tool":
            return word(raw, "tool_call_id")
        for part in step.said.parts:
            is_call = isinstance(part, ToolCallPart) and part.name == word(raw, "name")
            if isinstance(part, ToolCallPart) and is_call and self._is_legacy(part):
                return part.id
        return ""

    def _is_legacy(self, call: ToolCallPart) -> bool:
        return (own_of(call.call_provider_metadata, self._dialect) or {}).get("type") == LEGACY

    def finish(self) -> AssistantMessage:
        """The message."""
        first, *others = self._steps
        parts = self._parts(first)
        for step in others:
            parts.append(StepStartPart(provider_metadata=named(self._dialect, step.said.notes)))
            parts += self._parts(step)
        metadata = named(self._dialect, first.said.notes)
        return AssistantMessage(
            id=self.id, content=AssistantContent(parts=tuple(parts), provider_metadata=metadata)
        )

    def _parts(self, step: Step) -> list[AssistantPart]:
        parts = list(step.said.parts)
        places = [place for place, _, _ in step.answered]
        is_in_order = places == sorted(places)
        for order, (place, output, notes) in enumerate(step.answered):
            own = notes if is_in_order else {**notes, PLACE: order}
            parts[place] = replace(
                parts[place],
                state="output-available",
                output=output,
                result_provider_metadata=named(self._dialect, own),
            )
        return parts
