"""APIs whose messages alternate between `user` and `assistant`: reading and writing their conversations.

In such an API the results of tools are content of the user. The steps of the model and the results between
them form one message here, with step starts between the steps; a message is `message-N`, where N is the
number of its first message there. The place of a message is its number, that of a block its number after it.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.formats.losses import Loss
from partita.types.fold import answer, results_id
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantContent, AssistantMessage, Message, ToolCallPart, ToolMessage
from partita.types.parts import StepStartPart
from partita.types.tools import ToolResultPart

from .metadata import INDEX, add_notes, notes
from .report import Entry, Place, Record
from .turns import Results, Step, Turn

# Notes about messages and step starts
APART: Final = "apart"  # the message follows one of the same role

JOINED: Final = "the API takes one message for neighbours of one role"
STEPS: Final = "a step begins where calls were answered"


class RoleReader:
    """Collects messages while those of an API are read. Results are put into the calls right before them."""

    def __init__(self, namespace: str) -> None:
        self._places: dict[Place, Any] = {}
        self.calls: dict[str, str] = {}
        """The names of the calls that wait for results, by id."""
        self._namespace = namespace
        self._messages: list[Message] = []
        self._id = ""  # of the message whose steps are being read
        self._metadata: JsonObject | None = None
        self._step_parts: list[Any] = []
        self._steps: list[int] = []  # where its steps are
        self._waiting: dict[str, int] = {}  # the numbers of the parts that are in `calls`, by id
        self._continues = False

    @property
    def messages(self) -> list[Message]:
        """The messages. Results without a call right before them are messages of their own."""
        self._end_steps()
        return self._messages

    @property
    def places(self) -> dict[Place, Any]:
        """What was read, by its places."""
        self._end_steps()
        return self._places

    def add(self, message: Message, index: Place, parts: Sequence[tuple[Any, Place]]) -> None:
        """Add a message, with the place of each part after that of the message."""
        self._end_steps()
        self._messages.append(message)
        self._places[index,] = message
        for part, place in parts:
            self._places[index, place] = part

    def add_step(self, id_: str, parts: Sequence[tuple[Any, Place]], noted: JsonObject, index: int) -> None:
        """Add a step of the model. It continues the last one if only its results are in between."""
        metadata = {self._namespace: noted} if noted else None
        if self._continues and self._steps:
            start = StepStartPart(provider_metadata=metadata)
            self._places[index, "start"] = start
            self._step_parts.append(start)
        else:
            self._end_steps()
            self._id, self._metadata = id_, metadata
        self._continues = False
        self._steps.append(index)
        self.calls, self._waiting = {}, {}
        for part, place in parts:
            self._places[index, place] = part
            if type(part) is ToolCallPart and not part.provider_executed and part.output is None:
                self.calls[part.id] = part.name
                self._waiting.setdefault(part.id, len(self._step_parts))
            self._step_parts.append(part)

    def _end_steps(self) -> None:
        """The message of the steps is complete."""
        self._continues = False
        if self._steps:
            content = AssistantContent(parts=tuple(self._step_parts), provider_metadata=self._metadata)
            message = AssistantMessage(id=self._id, content=content)
            self._messages.append(message)
            for index in self._steps:
                self._places[index,] = message
            self._step_parts, self._steps = [], []

    def add_results(self, id_: str, results: Sequence[tuple[ToolResultPart, Place]], index: int) -> None:
        """Add results: those of the calls right before them, and others, which have no call."""
        own = {result.id: place for result, place in reversed(results) if result.id in self.calls}
        answered = [one for one in results if own.get(one[0].id) is one[1]]
        strays = [one for one in results if own.get(one[0].id) is not one[1]]
        if [result.id for result, _ in answered] != [call for call in self.calls if call in own]:
            answered = [(self._at(number, result), place) for number, (result, place) in enumerate(answered)]
        number = len(self._steps)
        if answered:
            self._places[index, "results"] = ToolMessage(
                id=results_id(self._id, number), type="tool", content=()
            )
        for result, place in answered:
            at = self._waiting[result.id]
            self._step_parts[at] = answer(self._step_parts[at], result, self._id, number)
            self._places[index, place] = result
            del self.calls[result.id]
        if strays:
            self._end_steps()
            message = ToolMessage(id=f"{id_}:results", content=[result for result, _ in strays])
            self._messages.append(message)
            self._places[index, "results"] = message
            self._places |= {(index, place): result for result, place in strays}
        self._continues = bool(answered) and not strays

    def _at(self, position: int, result: ToolResultPart) -> ToolResultPart:
        metadata = add_notes(result.provider_metadata, self._namespace, {INDEX: position})
        return replace(result, provider_metadata=metadata)


class RoleWriter:
    """Collects the messages of an API. Neighbours of one role become one, unless a note says otherwise."""

    def __init__(self, namespace: str, record: Record) -> None:
        self.messages: list[tuple[str, list[Json], JsonObject]] = []
        """Role, blocks, and notes of each message."""
        self._namespace, self._record = namespace, record
        self._has_results = False  # the last message has only results so far

    def add(
        self, role: str, blocks: list[Json], turn: Turn, places: Sequence[Place | None], noted: JsonObject
    ) -> None:
        """Add the blocks of a turn. `places` are those of its parts among the blocks."""
        after_results = self._has_results
        at = self._append(role, blocks, turn, noted) if blocks else None
        shifted = [_shifted(at, place) for place in places]
        place = None if at is None else (at[0], "results") if isinstance(turn, Results) else (at[0],)
        self._record.add(turn, place, shifted)
        if isinstance(turn, Step):
            self._record_start(turn, at if after_results else None)

    def add_step(self, step: Step, blocks: list[Json], places: Sequence[Place | None]) -> None:
        """Add a step of the assistant. The notes of a later step are those of its step start."""
        start = step.boundaries[-1].part if step.boundaries and step.number > 1 else None
        metadata = step.message.content.provider_metadata if start is None else start.provider_metadata
        self.add("assistant", blocks, step, places, notes(metadata, self._namespace))

    def _append(self, role: str, blocks: list[Json], turn: Turn, noted: JsonObject) -> tuple[int, int]:
        """Append blocks; the numbers of their message and of the first one."""
        had_results, self._has_results = self._has_results, isinstance(turn, Results)
        if not self.messages or self.messages[-1][0] != role or noted.get(APART):
            self.messages.append((role, blocks, noted))
            return len(self.messages) - 1, 0
        if not had_results and not self._has_results and turn.path:
            self._record.losses.append(Loss(turn.path, "where the message begins", JOINED, "repaired"))
        content = self.messages[-1][1]
        content += blocks
        return len(self.messages) - 1, len(content) - len(blocks)

    def _record_start(self, step: Step, at: tuple[int, int] | None) -> None:
        """Record the step starts of a step; `at` is its place if it follows results.

        A format that reads each step as a message overrides this.
        """
        add_boundaries(self._record, step, None if at is None else at[0])


def add_boundaries(record: Record, step: Step, index: int | None) -> None:
    """Record the step starts of a step. One that follows results is where the step begins.

    `index` is the number of the message, if it follows results. The other step starts have no place.
    """
    for number, (part, path) in enumerate(step.boundaries, 1):
        if number == len(step.boundaries) and step.number > 1 and index is not None:
            record.entries.append(Entry(part, path, (index, "start")))
        elif step.number > 1 or part != StepStartPart():
            record.losses.append(Loss.of(path, part, STEPS, "repaired"))
    if step.number == 1 and index is not None:
        record.losses.append(Loss(step.path, "where the message begins", STEPS, "changed"))


def _shifted(at: tuple[int, int] | None, place: Place | None) -> Place | None:
    if at is None or place is None:
        return None
    return at[0], at[1] + place if type(place) is int else place
