"""Answers and results in a row → one turn of the model: every result in its call."""

from collections import defaultdict

from msgspec.structs import replace

from partita.formats.losses import Loss
from partita.formats.openai_chat.dialects import Dialect
from partita.formats.openai_chat.looking import word
from partita.formats.openai_chat.notes import LEGACY, PLACE
from partita.formats.openai_chat.owning import own_of
from partita.types.json import JsonObject
from partita.types.messages import AssistantContent, AssistantMessage, AssistantPart, ToolCallPart
from partita.types.parts import StepStartPart
from partita.types.tools import ToolResultPart

from .answers import Said
from .messages import kept_of, misplaced, named, output_of


class Step:
    """One assistant message, and which of its calls were answered in which order."""

    def __init__(self, said: Said) -> None:
        self.said = said
        self.answered: list[tuple[int, ToolResultPart]] = []
        self.waiting: defaultdict[str, list[int]] = defaultdict(list)
        """Places of calls without a result, by id; of the old kind, by the name of the function."""
        for index, part in reversed(list(enumerate(said.parts))):
            if isinstance(part, ToolCallPart):
                self.waiting[part.id].append(index)


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
        call = step.said.parts[place]
        assert isinstance(call, ToolCallPart), "only calls wait"
        output, notes = output_of(raw, self._dialect)
        read = ("tool_call_id",) if raw["role"] == "tool" else ("name",)
        own = {**notes, **kept_of(raw, *read)}
        result = ToolResultPart(call.id, call.name, output, named(self._dialect, own))
        step.answered.append((place, result))
        self.is_answered = True
        if step is not self._steps[-1]:
            self._losses.append(misplaced(path, call.id))
        return True

    def _call_of(self, raw: JsonObject) -> tuple[Step, int] | None:
        """The nearest call that a result belongs to and that has none."""
        for step in reversed(self._steps):
            places = step.waiting[self._key(raw, step)]
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
        places = [place for place, _ in step.answered]
        is_in_order = places == sorted(places)
        for order, (place, result) in enumerate(step.answered):
            call = parts[place]
            assert isinstance(call, ToolCallPart), "only calls are answered"
            own = own_of(result.provider_metadata, self._dialect) or {}
            if not is_in_order:
                own = {**own, PLACE: order}
            parts[place] = replace(
                call,
                state="output-available",
                output=result.output,
                result_provider_metadata=named(self._dialect, own),
            )
        return parts
