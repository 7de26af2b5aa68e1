"""An assistant message, step by step → items, and everything of it that does not arrive."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from partita.formats.answers.model_view import CUT
from partita.formats.bare import is_bare
from partita.formats.losses import Loss
from partita.formats.openai_responses.reading.turn import APPROVED, Turn
from partita.formats.openai_responses.request_calls import fit_call_id
from partita.formats.openai_responses.request_content import NO_PLACE, content_of
from partita.formats.openai_responses.request_outputs import output_item
from partita.formats.openai_responses.request_steps import FOREIGN_REASONING, Step
from partita.formats.openai_responses.tools import fit_name
from partita.types.codec import to_json
from partita.types.json import JsonObject
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
)
from partita.types.tools import ToolResultPart

from .comparing import difference
from .parts import plain_losses, tell_part, tell_shown, unnumbered

NO_STEPS: Final = "a step ends where the outputs of its calls stand, not elsewhere"
STEERED: Final = "it becomes a message of the user, without its id"

_COUNTED: Final = re.compile(r"source-\d+")


class TurnWriter:
    """One message on its way."""

    def __init__(self, message: AssistantMessage, path: str, losses: list[Loss], *, stored: bool) -> None:
        self._message = message
        self._path = path
        self._losses = losses
        self._stored = stored
        self._next = 0
        """The first part that was neither sent nor passed over."""
        self._passed: list[tuple[str, AssistantPart, str]] = []
        """Parts that are not sent, where they are, and why."""
        self._derived: list[JsonObject] = []
        """Parts that reading the items gives besides those they were made of."""
        self._start: str | None = None
        """Where the last step begins that no output divides from the one before."""
        self._items: list[JsonObject] = []

    def write(self, view: Sequence[Message]) -> list[JsonObject]:
        """The items, given the model's view of the message."""
        divided = True
        for place, message in enumerate(view):
            self._start = None
            match message:
                case AssistantMessage():
                    behind = view[place + 1] if place + 1 < len(view) else None
                    ends = self._step(message.parts, behind if isinstance(behind, ToolMessage) else None)
                    if self._start is not None and not divided:
                        self._losses.append(Loss(self._start, "step-start", NO_STEPS, "minor"))
                    divided = ends
                case UserMessage():
                    self._steer(message)
                    divided = True
                case _:
                    pass
        self._pass_until(len(self._message.parts))
        self._tell_passed()
        return self._items

    def _step(self, parts: Sequence[AssistantPart], results: ToolMessage | None) -> bool:
        """Write a step; whether its items show where it ends."""
        step = Step(self._losses, stored=self._stored, whole=True)
        outputs = iter(results.parts if results else ())
        answers: list[JsonObject] = []
        for part in parts:
            original, where = self._find(part)
            is_asked = isinstance(part, ToolCallPart) and not part.provider_executed
            answers += self._add(step, part, original, where, next(outputs, None) if is_asked else None)
        items = step.items()
        self._items += [*items, *answers]
        return bool(answers) or any(item.get("type") == APPROVED for item in items)

    def _add(
        self, step: Step, part: AssistantPart, original: AssistantPart, where: str, output: object
    ) -> list[JsonObject]:
        """Take a part of a step; the items that answer it, if it is a call of the client's."""
        if isinstance(original, ReasoningPart) and not original.provider_metadata:
            self._passed.append((where, original, FOREIGN_REASONING))
            return []
        losses = plain_losses(original, where)
        if losses is not None:
            step.add(part, where)
            self._losses += losses
            return self._answers(step, output, where)
        told: list[Loss] = []
        alone = Step(told, stored=self._stored, whole=True)
        fitted = replace(part, name=fit_name(part.name)) if isinstance(part, ToolCallPart) else part
        alone.add(fitted, where)
        items = alone.whole_items()
        if not items:
            self._passed.append((where, original, told[0].why if told else NO_PLACE))
            return []
        count = len(self._losses)
        step.add(fitted, where)
        del self._losses[count:]  # comparison tells it all
        answers = self._answers(step, output, where)
        self._tell(original, where, [*items, *answers])
        return answers

    def _answers(self, step: Step, output: object, where: str) -> list[JsonObject]:
        """The items that answer the last call of a step."""
        if not isinstance(output, ToolResultPart):
            return []
        return output_item(output, step.kinds[output.id], fit_call_id(output.id), where, [])

    def _tell(self, original: AssistantPart, where: str, items: Sequence[JsonObject]) -> None:
        """Tell what of a part is not in its items."""
        again, derived = read_again(items, original)
        self._derived += derived
        self._losses += tell_part(original, again, where)

    def _steer(self, message: UserMessage) -> None:
        """Write what the user said while the agent was at work."""
        parts = self._message.parts
        for place in range(self._next, len(parts)):
            part = parts[place]
            if isinstance(part, SteeringMessagePart) and part.id == message.id:
                self._pass_until(place)
                self._next, where = place + 1, self._where(place)
                self._items.append({"role": "user", "content": content_of(message.parts, where, [])})
                self._losses.append(Loss.of(where, to_json(replace(part, parts=())), STEERED, "changed"))
                tell_shown(part.parts, f"{where}.parts", self._losses)
                return

    def _find(self, part: AssistantPart) -> tuple[AssistantPart, str]:
        """The part that one of the view was made of, and where it is."""
        parts = self._message.parts
        for place in range(self._next, len(parts)):
            if parts[place] is part or _is_call(parts[place], part):
                self._pass_until(place)
                self._next = place + 1
                return parts[place], self._where(place)
        return part, f"{self._path}.content.networkExecution.finalResult"

    def _pass_until(self, place: int) -> None:
        """Pass over the parts before a place."""
        for index in range(self._next, place):
            part, where = self._message.parts[index], self._where(index)
            if isinstance(part, StepStartPart):
                self._start = where
                if not is_bare(part):
                    self._losses += difference(to_json(part), {"type": "step-start"}, where)
            else:
                self._passed.append((where, part, CUT if isinstance(part, ToolCallPart) else NO_PLACE))
        self._next = max(self._next, place)

    def _tell_passed(self) -> None:
        """Tell which parts are not sent, but for those that what is sent makes again."""
        for where, part, why in self._passed:
            found = self._made_again(part) if self._derived else None
            if found is None:
                self._losses.append(Loss.of(where, part, why))
                continue
            self._derived.remove(found)
            if isinstance(part, SourceUrlPart | SourceDocumentPart) and not _COUNTED.fullmatch(
                part.source_id
            ):
                self._losses.append(Loss.of(f"{where}.sourceId", part.source_id, NO_PLACE, "minor"))

    def _made_again(self, part: AssistantPart) -> JsonObject | None:
        """The part that reading the items gives, and that says the same."""
        plain = unnumbered(to_json(part))
        return next((one for one in self._derived if unnumbered(one) == plain), None)

    def _where(self, place: int) -> str:
        return f"{self._path}.content.parts[{place}]"


def read_again(
    items: Sequence[JsonObject], original: AssistantPart
) -> tuple[AssistantPart, list[JsonObject]]:
    """The part that the items of a part are read as, and what they are read as besides."""
    turn = Turn("", [])
    for item in items:
        turn.add(item, "")
    again = next((part for part in turn.parts if type(part) is type(original)), turn.parts[0])
    return again, [to_json(part) for part in turn.parts if part is not again]


def _is_call(part: AssistantPart, other: AssistantPart) -> bool:
    """Whether two calls are the same one, with and without an output."""
    return isinstance(part, ToolCallPart) and isinstance(other, ToolCallPart) and part.id == other.id
