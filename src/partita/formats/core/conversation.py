"""Messages of an API → canonical messages, for APIs that have steps and results as messages in a list.

The steps of the model and the results between them form one message, with step starts between the steps.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.formats.losses import Loss
from partita.types.json import JsonObject
from partita.types.messages import AssistantContent, AssistantMessage, Message, ToolCallPart, ToolMessage
from partita.types.parts import StepStartPart
from partita.types.tools import ToolResultPart

from .metadata import add_notes, notes
from .report import Entry, Place, Record
from .turns import Placed, Step

INDEX: Final = "index"
"""The note of a result's position among the results of its step, if it is not that of its call."""

STEPS: Final = "a step begins where calls were answered"


class Conversation:
    """Canonical messages while they are read. Results are apart from their calls; `join` moves them there.

    The place of a message is `(at,)`, where `at` is its number in the payload, that of a part `(at, number)`,
    that of a step start `(at, "start")`, and that of results `(at, "results")`.
    """

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self.messages: list[Message] = []
        self.places: dict[Place, Any] = {}
        self.calls: dict[str, str] = {}
        """The names of the calls that have no result yet, by id."""
        self._head: AssistantMessage | None = None
        self._step = 0
        self._continues = False

    def add(self, message: Message, at: Place) -> None:
        """A message of the system or the user."""
        self._append(message, (at,))

    def add_step(
        self, id_: str, parts: Sequence[Any], at: Place, noted: JsonObject, text: str | None = None
    ) -> None:
        """What the model produced in one call. `text`: its content, if that was a string."""
        if self._continues and self._head is not None:
            self._step += 1
            start = StepStartPart(provider_metadata={self._namespace: noted} if noted else None)
            self.places[at, "start"] = start
            content = AssistantContent(parts=(start, *parts))
            self._append(replace(self._head, id=f"{self._head.id}#{self._step}", content=content), ())
        else:
            metadata = {self._namespace: noted} if noted else None
            content = AssistantContent(parts=tuple(parts), content=text, provider_metadata=metadata)
            self._head, self._step = AssistantMessage(id=id_, content=content), 1
            self._append(self._head, (at,))
        calls = (part for part in parts if isinstance(part, ToolCallPart) and not part.provider_executed)
        self.calls = {part.id: part.name for part in calls}

    def add_results(self, id_: str, results: Sequence[ToolResultPart], at: Place) -> None:
        """Results of the calls right before them. Others have no call: they are a message of their own."""
        own = {result.id: result for result in reversed(results) if result.id in self.calls}
        strays = [result for result in results if own.get(result.id) is not result]
        if own and self._head is not None:
            answered = [result for result in results if own.get(result.id) is result]
            if [one.id for one in answered] != [call for call in self.calls if call in own]:
                answered = [self._at(position, result) for position, result in enumerate(answered)]
            message = ToolMessage(id=f"{self._head.id}#{self._step}:results", content=answered)
            self._append(message, (at, "results"))
            self.calls = {call: name for call, name in self.calls.items() if call not in own}
        self._continues = bool(own) and not strays
        if strays:
            self._append(ToolMessage(id=f"{id_}:results", content=strays), (at, "strays"))

    def _append(self, message: Message, place: Place) -> None:
        self._continues = False
        self.messages.append(message)
        self.places[place] = message

    def _at(self, position: int, result: ToolResultPart) -> ToolResultPart:
        metadata = add_notes(result.provider_metadata, self._namespace, {INDEX: position})
        return replace(result, provider_metadata=metadata)


def in_order(results: Sequence[Placed], namespace: str) -> list[Placed]:
    """Results in the order that they were read in."""

    def position(numbered: tuple[int, Placed]) -> tuple[int, int]:
        number, placed = numbered
        index = notes(placed.part.provider_metadata, namespace).get(INDEX)
        return index if type(index) is int else number, number

    return [placed for _, placed in sorted(enumerate(results), key=position)]


def record_boundaries(record: Record, step: Step, at: Place | None, *, after_results: bool) -> None:
    """Record the step starts of a step that was written as the message `at`, or not at all.

    A reader finds a step start only behind results, and finds one there also where a message began.
    """
    for number, (part, path) in enumerate(step.boundaries, 1):
        is_last = number == len(step.boundaries)
        if is_last and step.number > 1 and after_results and at is not None:
            record.entries.append(Entry(part, path, (at, "start")))
        elif step.number > 1 or part != StepStartPart():
            record.losses.append(Loss.of(path, part, STEPS, "repaired"))
    if step.number == 1 and after_results and at is not None:
        record.losses.append(Loss(step.path, "where the message begins", STEPS, "changed"))


def step_notes(step: Step, namespace: str) -> JsonObject:
    """The notes about the message of a payload that a step is written as."""
    start = step.boundaries[-1].part if step.boundaries and step.number > 1 else None
    metadata = step.message.content.provider_metadata if start is None else start.provider_metadata
    return notes(metadata, namespace)
