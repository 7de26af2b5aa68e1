"""Reading and writing of messages that are a role and a content, as most APIs and frameworks have them.

`RoleReader` makes canonical messages of them; `RoleWriter` and `MessageWriter` make them of turns. All of
them note the position of each message and part, so that `report` can compare what was written with what is
read back.

Where roles alternate, results of tools are content of the user. The steps of the model with only such results
between them are read as one message with step starts. Its id is `message-N`, where N is the number of its
first message in the payload. The position of a message is `(number,)`, that of a block `(number, number of
the block)`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.format import Request
from partita.formats.losses import JOINED, STEPS, Loss
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import StepStartPart, ToolResultPart
from partita.types.tool_results import NO_RESULTS, add_result, results_id

from .codec import MessageBlocks
from .metadata import FIELDS, INDEX, NO_NOTES, add_notes, message_notes, notes, part_notes
from .report import Entry, Record
from .rules import Rules, arrange
from .turns import Instructions, LocatedPart, Position, Prompt, Results, ResultTurns, Step, Turn, split
from .wire import restore, to_json

SYSTEM: Final = "system"
"""The id and the position of the instructions before the conversation."""

# Names of notes about messages and step starts
APART: Final = "apart"  # true: not to be joined with the message before, of the same role
IN_MESSAGES: Final = "inMessages"  # true: instructions that were among the messages
JOINED_NOTE: Final = "joined"  # true: continues the message before
FORM: Final = "content"  # `STRING` if the content was a string and not a list of blocks
STRING: Final = "string"


class RoleReader:
    """Makes canonical messages while a payload is read, and puts results into the calls right before them."""

    def __init__(self, namespace: str) -> None:
        self._positions: dict[Position, Any] = {}
        self.calls: dict[str, str] = {}
        """The names of the calls that wait for a result, by id."""
        self._namespace = namespace
        self._messages: list[Message] = []
        self._id = ""  # of the message whose steps are being read
        self._metadata: JsonObject | None = None
        self._step_parts: list[Any] = []
        self._steps: list[int] = []  # the numbers of the payload's messages that are its steps
        self._waiting: dict[str, int] = {}  # the part numbers of the calls that wait for results, by id
        self._continues = False

    @property
    def messages(self) -> list[Message]:
        """The messages read so far. Results without a call right before them are messages of their own."""
        self._end_steps()
        return self._messages

    @property
    def positions(self) -> dict[Position, Any]:
        """The messages and parts read so far, by position."""
        self._end_steps()
        return self._positions

    def add(self, message: Message, index: Position, parts: Sequence[tuple[Any, Position]]) -> None:
        """Add a message at a position, and each part at its position in that message."""
        self._end_steps()
        self._messages.append(message)
        self._positions[index,] = message
        for part, position in parts:
            self._positions[index, position] = part

    def read(self, raw: Json, path: str, id_: str, index: Any) -> None:
        """Read one message and add it. A format overrides this.

        `path`: its path in the payload; `index`: its position.
        """
        raise NotImplementedError

    def read_all(self, raws: Sequence[Json], path: str, system: Json = None) -> None:
        """Read all messages, after the instructions before the conversation (`system`), if there are any."""
        if system is not None:
            try:
                self.read({"role": SYSTEM, "content": system}, f"$.{SYSTEM}", SYSTEM, SYSTEM)
            except ConversionError as error:  # the instructions are a content, not a message
                where = error.where.replace(f"$.{SYSTEM}.content", f"$.{SYSTEM}", 1)
                raise ConversionError(error.what, where=where, hint=error.hint) from None
        for index, raw in enumerate(raws):
            self.read(raw, f"{path}[{index}]", f"message-{index + 1}", index)

    def add_message(
        self,
        role: str,
        id_: str,
        parts: Sequence[tuple[Any, Position]],
        index: Any,
        *,
        extra: Mapping[str, Json] | None,
        noted: JsonObject = NO_NOTES,
        text: str | None = None,
    ) -> None:
        """Add a message of any role.

        `extra`: its unknown members; `noted`: more notes about it; `text`: its content, if that is a string.
        """
        noted = {**noted, FIELDS: dict(extra)} if extra else noted
        if role == "assistant":
            self.add_step(id_, parts, noted if text is None else {**noted, FORM: STRING}, index)
        else:
            is_pinned = role == SYSTEM and index != SYSTEM
            self.add_content(
                role, id_, parts, {**noted, IN_MESSAGES: True} if is_pinned else noted, index, text
            )

    def add_content(
        self,
        role: str,
        id_: str,
        parts: Sequence[tuple[Any, Position]],
        noted: JsonObject,
        index: Position,
        text: str | None = None,
    ) -> None:
        """Add a message of the user or the system. Results in it become a message of their own before it.

        `text`: its content, if that is a string.
        """
        results = [one for one in parts if type(one[0]) is ToolResultPart]
        if results:
            self.add_results(id_, results, index)
            parts = [one for one in parts if type(one[0]) is not ToolResultPart]
            if not parts:
                return
        metadata = {self._namespace: noted} if noted else None
        shown: Any = tuple(part for part, _ in parts)
        message: Message
        if role == "system":
            system = SystemContent(parts=shown, content=text, provider_metadata=metadata)
            message = SystemMessage(id=id_, content=system)
        else:
            user = UserContent(parts=shown, content=text, provider_metadata=metadata)
            message = UserMessage(id=id_, content=user)
        self.add(message, index, parts)

    def add_step(
        self, id_: str, parts: Sequence[tuple[Any, Position]], noted: JsonObject, index: int
    ) -> None:
        """Add a step of the model. It continues the last message if only results are between them."""
        metadata = {self._namespace: noted} if noted else None
        if self._continues and self._steps:
            start = StepStartPart(provider_metadata=metadata)
            self._positions[index, "start"] = start
            self._step_parts.append(start)
        else:
            self._end_steps()
            self._id, self._metadata = id_, metadata
        self._continues = False
        self._steps.append(index)
        self.calls, self._waiting = {}, {}
        for part, position in parts:
            self._positions[index, position] = part
            if type(part) is ToolCallPart and not part.provider_executed and part.output is None:
                self.calls[part.id] = part.name
                self._waiting.setdefault(part.id, len(self._step_parts))
            self._step_parts.append(part)

    def _end_steps(self) -> None:
        """Complete the message whose steps are being read."""
        self._continues = False
        self._waiting = {}
        if self._steps:
            content = AssistantContent(parts=tuple(self._step_parts), provider_metadata=self._metadata)
            message = AssistantMessage(id=self._id, content=content)
            self._messages.append(message)
            for index in self._steps:
                self._positions[index,] = message
            self._step_parts, self._steps = [], []

    def add_results(
        self, id_: str, results: Sequence[tuple[ToolResultPart, Position]], index: Position
    ) -> None:
        """Put results into the calls right before them; others become a message of their own."""
        own: dict[str, tuple[ToolResultPart, Position]] = {}  # the first result of each call
        strays: list[tuple[ToolResultPart, Position]] = []
        for one in results:
            call_id = one[0].id
            if call_id in self._waiting and call_id not in own:
                own[call_id] = one
            else:
                strays.append(one)
        matched = list(own.values())
        if list(own) != [call for call in self._waiting if call in own]:
            matched = [
                (self._with_index(number, result), position)
                for number, (result, position) in enumerate(matched)
            ]
        number = len(self._steps)
        if matched:
            own_id = results_id(self._id, number)
            self._positions[index, "results"] = ToolMessage(id=own_id, type="tool", content=NO_RESULTS)
        for result, position in matched:
            at = self._waiting.pop(result.id)
            self._step_parts[at] = add_result(self._step_parts[at], result, self._id, number)
            self._positions[index, position] = result
            self.calls.pop(result.id, None)
        if strays:
            self._end_steps()
            message = ToolMessage(id=f"{id_}:results", content=[result for result, _ in strays])
            self._messages.append(message)
            self._positions[index, "results"] = message
            self._positions |= {(index, position): result for result, position in strays}
        self._continues = bool(matched) and not strays

    def _with_index(self, position: int, result: ToolResultPart) -> ToolResultPart:
        metadata = add_notes(result.provider_metadata, self._namespace, {INDEX: position})
        return replace(result, provider_metadata=metadata)


class RoleWriter:
    """Makes the messages of a payload from turns. Neighbours of one role become one, unless noted otherwise.

    Instructions are put before the conversation, into `system`, unless a note places them among the messages.
    A format sets `rules` and `blocks`, or overrides `write_blocks`. It overrides the methods for turns that
    it writes in another way.
    """

    request: Request | None = None
    """The request that the messages are part of, if there is one."""
    rules: Rules = Rules()
    blocks: MessageBlocks
    has_strings = False
    """Whether a content may be a string instead of blocks."""
    boundary_reason: ClassVar[str | None] = None
    """Why step starts are lost, if the format writes each step as a message; `None` for other formats."""

    def __init__(self, namespace: str) -> None:
        self.record = Record()
        self.system: list[Json] = []
        self.system_notes: JsonObject = {}
        """The notes about the first instructions."""
        self.messages: list[tuple[str, list[Json], JsonObject]] = []
        """The role, the blocks and the notes of each message."""
        self._namespace = namespace
        self._has_results = False  # whether the last message has only results so far

    def write_blocks(self, turn: Turn, role: str) -> tuple[list[Json], Sequence[Position | None]]:
        """Return the blocks of a turn, and for each part the position of its block among them."""
        return self.blocks.write_all(turn.parts, role, turn.text if isinstance(turn, Step) else None)

    def write(self, messages: Sequence[Message]) -> JsonObject:
        """Return `{"system": …, "messages": …}`, without `system` if there are no instructions."""
        self.write_turns(messages, self.rules, self.blocks.is_written)
        written = [self.write_message(*one) for one in self.messages]
        if not self.system:
            return {"messages": written}
        system = self.write_message(SYSTEM, self.system, self.system_notes)
        return {"system": system["content"], "messages": written}

    def write_message(self, role: str, blocks: Sequence[Json], noted: JsonObject) -> JsonObject:
        """Return a message of the payload in the form in which it was read, with its residue."""
        is_string = self.has_strings and noted.get(FORM) == STRING
        content = to_json(self.blocks.as_string(blocks) if is_string else blocks)
        return restore({"role": role, "content": content}, notes(noted, FIELDS))

    def complete(self, payload: JsonObject) -> JsonObject:
        """Return the payload with whatever else the API requires. Tools and settings are in it already."""
        return payload

    def write_turns(
        self,
        messages: Sequence[Message],
        rules: Rules,
        is_written: Callable[[AssistantPart], bool],
        results: ResultTurns = "client",
    ) -> None:
        """Split messages into turns, repair these by the rules, and write them.

        `is_written`: whether a part of the assistant has a block. `results`: which results are not written in
        their calls.
        """
        turns = split(messages, is_written, results=results)
        for turn in arrange(turns, rules, self.record.losses, self._is_in_messages, is_written):
            match turn:
                case Step():
                    self.write_step(turn)
                case Results():
                    self.write_results(turn)
                case Instructions():
                    self.write_instructions(turn)
                case Prompt():
                    self.write_prompt(turn)

    def write_prompt(self, turn: Prompt) -> None:
        """Write a message of the user."""
        blocks, positions = self.write_blocks(turn, "user")
        self.add("user", blocks, turn, positions, self.notes_of(turn))

    def write_step(self, step: Step) -> None:
        """Write a step as a message of the assistant."""
        self.add_step(step, *self.write_blocks(step, "assistant"))

    def write_results(self, turn: Results) -> None:
        """Write results in the order in which they were read, or else in the order of their calls."""
        if len(turn.parts) > 1:
            turn = turn._replace(parts=sorted(turn.parts, key=self._index))
        blocks, positions = self.write_blocks(turn, "user")
        self.add("user", blocks, turn, positions, {})

    def write_instructions(self, turn: Instructions) -> None:
        """Write instructions before the conversation, or among the messages if a note places them there."""
        blocks, positions = self.write_blocks(turn, "system")
        if self._is_in_messages(turn):
            self.add("system", blocks, turn, positions, {**self.notes_of(turn), APART: True})
            return
        start = len(self.system)
        if not start:
            self.system_notes = self.notes_of(turn)
        elif blocks:
            self._record_joined(turn)
        self.system += blocks
        shifted = [_shifted((SYSTEM, start), position) for position in positions]
        self.record.add(turn, (SYSTEM,) if blocks else None, shifted)

    def notes_of(self, turn: Instructions | Prompt) -> JsonObject:
        """Return the notes about a message, with a note about whether its content was a string."""
        noted = message_notes(turn.message, self._namespace)
        return noted if turn.message.content.content is None else {**noted, FORM: STRING}

    def _is_in_messages(self, turn: Instructions) -> bool:
        return message_notes(turn.message, self._namespace).get(IN_MESSAGES) is True

    def _index(self, result: LocatedPart) -> int:
        index = part_notes(result.part, self._namespace).get(INDEX)
        return index if type(index) is int else 0

    def _record_joined(self, turn: Turn) -> None:
        self.record.losses.append(Loss(turn.path, "where the message begins", JOINED, "repaired"))

    def add(
        self,
        role: str,
        blocks: list[Json],
        turn: Turn,
        positions: Sequence[Position | None],
        noted: JsonObject,
    ) -> None:
        """Append the blocks of a turn and record their positions.

        `positions`: those of its parts among the blocks.
        """
        after_results = self._has_results
        at = self._append(role, blocks, turn, noted) if blocks else None
        shifted = [_shifted(at, position) for position in positions]
        position = None if at is None else (at[0], "results") if isinstance(turn, Results) else (at[0],)
        self.record.add(turn, position, shifted)
        if isinstance(turn, Step):
            self._record_start(turn, at if after_results else None)

    def add_step(self, step: Step, blocks: list[Json], positions: Sequence[Position | None]) -> None:
        """Append a step of the assistant. The notes of a later step are those of its step start."""
        start = step.boundaries[-1].part if step.boundaries and step.number > 1 else None
        metadata = step.message.content.provider_metadata if start is None else start.provider_metadata
        self.add("assistant", blocks, step, positions, notes(metadata, self._namespace))

    def _append(self, role: str, blocks: list[Json], turn: Turn, noted: JsonObject) -> tuple[int, int]:
        """Append blocks. Returns the number of their message, and that of the first block in it."""
        had_results, self._has_results = self._has_results, isinstance(turn, Results)
        if not self.messages or self.messages[-1][0] != role or noted.get(APART):
            self.messages.append((role, blocks, noted))
            return len(self.messages) - 1, 0
        if not had_results and not self._has_results and turn.path:
            self._record_joined(turn)
        content = self.messages[-1][1]
        content += blocks
        return len(self.messages) - 1, len(content) - len(blocks)

    def _record_start(self, step: Step, at: tuple[int, int] | None) -> None:
        """Record the step starts of a step. `at`: its position, if it follows results."""
        if self.boundary_reason is None:
            add_boundaries(self.record, step, None if at is None else at[0])
        else:
            self.record.add_boundaries(step.boundaries, self.boundary_reason)


def numbered(blocks: Iterable[Any]) -> tuple[list[Any], list[int | None]]:
    """Return the blocks that are not `None`, and for each block its number among these, or `None`."""
    found: list[Any] = []
    numbers: list[int | None] = []
    for block in blocks:
        if block is None:
            numbers.append(None)
        else:
            numbers.append(len(found))
            found.append(block)
    return found, numbers


def add_boundaries(record: Record, step: Step, index: int | None) -> None:
    """Record the step starts of a step. The last one is found again where a step follows results.

    `index`: the number of the step's message, if it follows results.
    """
    for number, (part, path) in enumerate(step.boundaries, 1):
        if number == len(step.boundaries) and step.number > 1 and index is not None:
            record.entries.append(Entry(part, path, (index, "start")))
        elif step.number > 1 or part != StepStartPart():
            record.losses.append(Loss.of(path, part, STEPS, "repaired"))
    if step.number == 1 and index is not None:
        record.losses.append(Loss(step.path, "where the message begins", STEPS, "changed"))


def _shifted(at: tuple[Position, int] | None, position: Position | None) -> Position | None:
    if at is None or position is None:
        return None
    return at[0], at[1] + position if type(position) is int else position


# One message for each turn


class MessageWriter(RoleWriter):
    """Writes each turn as a message, except turns that were one message in their source.

    A message with results and other content becomes several canonical messages. Those after the first have a
    note that they continue the one before, and are joined again. The position of a part is the number of its
    message and its number among the parts there; that of a message is the position of its first part.
    """

    result_role = "user"
    """The role of messages with results."""

    def __init__(self, namespace: str, *, joins_results: bool = False) -> None:
        """`joins_results`: whether all results of a step are one message, because the API requires it."""
        super().__init__(namespace)
        self._joins_results = joins_results
        self._count = 0  # of the parts in the last message; it may have more blocks, which are not parts
        self._start = 0  # the number of the first part of the last turn in it
        self._origins: Sequence[Any] = ()  # of the results at its end; more of one of these are appended

    def notes_of(self, turn: Instructions | Prompt) -> JsonObject:
        """Return the notes about a message."""
        return message_notes(turn.message, self._namespace)

    def write_results(self, turn: Results) -> None:
        """Write results as a message."""
        blocks, positions = self.write_blocks(turn, self.result_role)
        self.add(self.result_role, blocks, turn, positions, message_notes(turn.message, self._namespace))

    def write_step(self, step: Step) -> None:
        """Write a step as a message of the assistant. Only the first step has the notes of the message."""
        blocks, positions = self.write_blocks(step, "assistant")
        noted = message_notes(step.message, self._namespace) if step.number == 1 else {}
        self.add("assistant", blocks, step, positions, noted)

    def add(
        self, role: str, blocks: list[Json], turn: Turn, positions: Sequence[Any], noted: JsonObject
    ) -> None:
        """Append the blocks of a turn, unless it has parts but no blocks, and record their positions."""
        if isinstance(turn, Step):
            self._record_start(turn, None)
        if not blocks and _is_skipped(turn):
            self.record.add(turn, None, [None] * len(positions))
            return
        self._begin(role, turn, noted)
        at, count = len(self.messages) - 1, self._count
        numbers = [None if position is None else (at, count + position, 0) for position in positions]
        self.record.add(turn, (at, self._start), numbers)
        self.messages[at][1].extend(blocks)
        self._count += len(positions) - positions.count(None)

    def _begin(self, role: str, turn: Turn, noted: JsonObject) -> None:
        """Begin a message, unless the turn belongs to the one before."""
        origins: tuple[Any, ...] = ()
        if isinstance(turn, Results):
            origin = turn.message
            if origin.content.parts:
                origin = replace(origin, content=replace(origin.content, parts=()))
            origins = (origin,)
            if self._joins_results and turn.step is not None:
                origins = (*origins, turn.step)
        if self.messages and self.messages[-1][0] != "assistant":
            if any(one in self._origins for one in origins):
                self._origins = (*self._origins, *origins)
                return
            if noted.get(JOINED_NOTE) is True:
                self._start, self._origins = self._count, origins
                return
        self.messages.append((role, [], noted))
        self._count, self._start, self._origins = 0, 0, origins


def _is_skipped(turn: Turn) -> bool:
    """Whether a turn without blocks is not written. A message that has no parts is written."""
    if isinstance(turn, Step):
        return turn.number > 1
    return bool(turn.parts) or (isinstance(turn, Prompt) and turn.steering is not None)
