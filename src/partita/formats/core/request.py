"""Requests of an API: messages, with tools and settings around them.

A payload of such an API is a request, its messages, one of them, or a response. Its messages alternate
between `user` and `assistant`, and the results of tools are content of the user. The steps of the model and
the results between them form one message here, with step starts between the steps; a message is `message-N`,
where N is the number of its first message there. The position of a message is its number, that of a block its
number after it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.format import Dumped, Format, Loaded, Request
from partita.formats.losses import JOINED, NO_PLACE, OBJECTS, RENAMED, STEPS, Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
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
from .members import described, items_in, member_at
from .metadata import FIELDS, INDEX, NO_NOTES, add_notes, message_notes, notes, part_notes
from .report import Entry, Record, Report
from .response import Responses
from .rules import Rules, arrange
from .tools import Tools
from .turns import Instructions, LocatedPart, Position, Prompt, Results, ResultTurns, Step, Turn, join, split
from .wire import restore, to_json

HINT: Final = "give a request, its messages, a response, or the events of a stream"
MESSAGES: Final = "messages"
SYSTEM: Final = "system"
"""The id of the instructions before the conversation, and their position."""

# Notes about messages and step starts
APART: Final = "apart"  # the message follows one of the same role
IN_MESSAGES: Final = "inMessages"  # instructions among the messages
JOINED_NOTE: Final = "joined"  # the message continues the one before
FORM: Final = "content"  # `string` if the content was a string
STRING: Final = "string"


class RoleReader:
    """Collects messages while those of an API are read. Results are put into the calls right before them."""

    def __init__(self, namespace: str) -> None:
        self._positions: dict[Position, Any] = {}
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
    def positions(self) -> dict[Position, Any]:
        """What was read, by position."""
        self._end_steps()
        return self._positions

    def add(self, message: Message, index: Position, parts: Sequence[tuple[Any, Position]]) -> None:
        """Add a message, with the position of each part after that of the message."""
        self._end_steps()
        self._messages.append(message)
        self._positions[index,] = message
        for part, position in parts:
            self._positions[index, position] = part

    def read(self, raw: Json, path: str, id_: str, index: Any) -> None:
        """Read a message at a path, and add it under an id and at a position."""
        raise NotImplementedError

    def read_all(self, raws: Sequence[Json], path: str, system: Json = None) -> None:
        """Read messages, and instructions before the conversation, which have a position of their own."""
        if system is not None:
            try:
                self.read({"role": SYSTEM, "content": system}, f"$.{SYSTEM}", SYSTEM, SYSTEM)
            except ConversionError as error:  # they are a content, and not a message
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

        `extra`: its members that are unknown; `noted`: other notes; `text`: the content, if it is a string.
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
        """Add a message of the user or the system. Results in it are a message of their own before it.

        `text`: the content, if it is a string.
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
        """Add a step of the model. It continues the last one if only its results are in between."""
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
        """The message of the steps is complete."""
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
        """Add results: those of the calls right before them, and others, which have no call."""
        own: dict[str, tuple[ToolResultPart, Position]] = {}  # the first result of each call
        strays: list[tuple[ToolResultPart, Position]] = []
        for one in results:
            call_id = one[0].id
            if call_id in self._waiting and call_id not in own:
                own[call_id] = one
            else:
                strays.append(one)
        answered = list(own.values())
        if list(own) != [call for call in self._waiting if call in own]:
            answered = [
                (self._at(number, result), position) for number, (result, position) in enumerate(answered)
            ]
        number = len(self._steps)
        if answered:
            own_id = results_id(self._id, number)
            self._positions[index, "results"] = ToolMessage(id=own_id, type="tool", content=NO_RESULTS)
        for result, position in answered:
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
        self._continues = bool(answered) and not strays

    def _at(self, position: int, result: ToolResultPart) -> ToolResultPart:
        metadata = add_notes(result.provider_metadata, self._namespace, {INDEX: position})
        return replace(result, provider_metadata=metadata)


class RoleWriter:
    """Collects the messages of an API. Neighbours of one role become one, unless a note says otherwise.

    Instructions are before the conversation, in `system`, except those with a note that they were among the
    messages. A format sets `rules` and `blocks`, or overrides `write_blocks`, and overrides the methods for
    turns that it writes in another way.
    """

    request: Request | None = None
    """The request that the messages are written for, if there is one."""
    rules: Rules = Rules()
    blocks: MessageBlocks
    has_strings = False
    """Whether a content may be a string instead of blocks."""
    boundary_reason: ClassVar[str | None] = None
    """Why step starts are lost, in a format that reads each step as a message; `None` in all others."""

    def __init__(self, namespace: str) -> None:
        self.record = Record()
        self.system: list[Json] = []
        self.system_notes: JsonObject = {}
        """The notes of the first instructions."""
        self.messages: list[tuple[str, list[Json], JsonObject]] = []
        """Role, blocks, and notes of each message."""
        self._namespace = namespace
        self._has_results = False  # the last message has only results so far

    def write_blocks(self, turn: Turn, role: str) -> tuple[list[Json], Sequence[Position | None]]:
        """The blocks of a turn, and the position of each of its parts among them."""
        return self.blocks.write_all(turn.parts, role, turn.text if isinstance(turn, Step) else None)

    def write(self, messages: Sequence[Message]) -> JsonObject:
        """`system` and `messages`."""
        self.write_turns(messages, self.rules, self.blocks.is_written)
        written = [self.write_message(*one) for one in self.messages]
        if not self.system:
            return {"messages": written}
        system = self.write_message(SYSTEM, self.system, self.system_notes)
        return {"system": system["content"], "messages": written}

    def write_message(self, role: str, blocks: Sequence[Json], noted: JsonObject) -> JsonObject:
        """A message in the form that it was read in, with its residue."""
        is_string = self.has_strings and noted.get(FORM) == STRING
        content = to_json(self.blocks.as_string(blocks) if is_string else blocks)
        return restore({"role": role, "content": content}, notes(noted, FIELDS))

    def complete(self, payload: JsonObject) -> JsonObject:
        """The payload with what else the API demands. It has the tools and settings of the request."""
        return payload

    def write_turns(
        self,
        messages: Sequence[Message],
        rules: Rules,
        is_written: Callable[[AssistantPart], bool],
        results: ResultTurns = "client",
    ) -> None:
        """Add messages. `is_written`: whether a part of the assistant has a block.

        `results`: which results are apart from their calls.
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
        """Add a message of the user."""
        blocks, positions = self.write_blocks(turn, "user")
        self.add("user", blocks, turn, positions, self.notes_of(turn))

    def write_step(self, step: Step) -> None:
        """Add a message of the assistant."""
        self.add_step(step, *self.write_blocks(step, "assistant"))

    def write_results(self, turn: Results) -> None:
        """Add results in the order that they had. Without notes that is the order of the calls."""
        if len(turn.parts) > 1:
            turn = turn._replace(parts=sorted(turn.parts, key=self._index))
        blocks, positions = self.write_blocks(turn, "user")
        self.add("user", blocks, turn, positions, {})

    def write_instructions(self, turn: Instructions) -> None:
        """Add instructions: before the conversation, or among the messages if they were there."""
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
        """The notes about a message, and that its content is a string if it has one."""
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
        """Add the blocks of a turn. `positions` are those of its parts among the blocks."""
        after_results = self._has_results
        at = self._append(role, blocks, turn, noted) if blocks else None
        shifted = [_shifted(at, position) for position in positions]
        position = None if at is None else (at[0], "results") if isinstance(turn, Results) else (at[0],)
        self.record.add(turn, position, shifted)
        if isinstance(turn, Step):
            self._record_start(turn, at if after_results else None)

    def add_step(self, step: Step, blocks: list[Json], positions: Sequence[Position | None]) -> None:
        """Add a step of the assistant. The notes of a later step are those of its step start."""
        start = step.boundaries[-1].part if step.boundaries and step.number > 1 else None
        metadata = step.message.content.provider_metadata if start is None else start.provider_metadata
        self.add("assistant", blocks, step, positions, notes(metadata, self._namespace))

    def _append(self, role: str, blocks: list[Json], turn: Turn, noted: JsonObject) -> tuple[int, int]:
        """Append blocks; the numbers of their message and of the first one."""
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
        """Record the step starts of a step; `at` is its position if it follows results."""
        if self.boundary_reason is None:
            add_boundaries(self.record, step, None if at is None else at[0])
        else:
            self.record.add_boundaries(step.boundaries, self.boundary_reason)


def numbered(blocks: Iterable[Any]) -> tuple[list[Any], list[int | None]]:
    """Blocks without those that are `None`, and the number of each; `None` for those."""
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
    """Record the step starts of a step. One that follows results is where the step begins.

    `index` is the number of the message, if it follows results. The other step starts have no position.
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


# Requests

REASONS: Final[Mapping[str, str]] = {
    "tool-call.id": RENAMED,
    "tool-call.name": RENAMED,
    "input": OBJECTS,
}
"""Why a request does not have a field. An API may have other reasons."""


def request_report(
    namespace: str, reasons: Mapping[str, str] | None = None, spelling: frozenset[str] = frozenset()
) -> Report:
    """The report of an API's requests, given its reasons beyond the common ones."""
    return Report(namespace, NO_PLACE, {**REASONS, **(reasons or {})}, spelling)


class Requests:
    """Reads and writes the requests of an API."""

    def __init__(
        self,
        report: Report,
        title: str,
        responses: Responses,
        tools: Tools,
        *,
        reader: type[RoleReader],
        writer: type[RoleWriter],
        members: Sequence[str] = (SYSTEM, MESSAGES),
        is_request: Callable[[JsonObject], bool] = lambda payload: MESSAGES in payload,
    ) -> None:
        """`title`: the API in errors.

        `members`: the members of a request that are messages. Others are tools and settings.
        """
        self._report, self._title, self._responses, self._tools = report, title, responses, tools
        self._reader, self._writer, self._members, self._is_request = reader, writer, members, is_request
        self._api = ""

    def format(self, name: str, title: str) -> Format:
        """The format of the requests."""
        self._api = name
        decoder = self._responses.decoder
        return Format(name, title, self.load, self.dump, decoder, takes_request=True, is_complete=True)

    def load(self, payload: Json) -> Loaded:
        """Read a request, its messages, one of them, a response, or the events of a stream."""
        if is_array(payload):
            if any(is_object(item) and "role" not in item for item in payload):
                return self._responses.load(payload)
            return self._load_messages(payload)
        if is_object(payload):
            if self._is_request(payload):
                return self._load_request(payload)
            if self._responses.is_response(payload):
                return self._responses.load(payload)
            if "role" in payload:
                return self._load_messages([payload])
        raise ConversionError(f"{described(payload)} is unknown to {self._title}", where="$", hint=HINT)

    def _read(self, raws: Sequence[Json], path: str, request: JsonObject | None = None) -> RoleReader:
        reader = self._reader(self._report.namespace)
        system = request.get(SYSTEM) if request and SYSTEM in self._members else None
        reader.read_all(raws, path, system)
        return reader

    def _load_messages(self, items: Sequence[Json]) -> Loaded:
        """Messages without a request around them."""
        found = tuple(join(self._read(items, "$").messages))
        return Loaded(found, again=lambda: self.dump(found).payload[MESSAGES])

    def _load_request(self, payload: JsonObject) -> Loaded:
        messages = payload.get(MESSAGES, [])
        if not is_array(messages):
            what = f"messages is {kind_of(messages)}"
            raise ConversionError(what, where="$.messages", hint="make it a list")
        reader = self._read(messages, "$.messages", payload)
        settings = {name: item for name, item in payload.items() if name not in self._members}
        request = Request(self._tools.take(settings), settings, self._api)
        return Loaded(tuple(join(reader.messages)), request=request)

    def dump(self, messages: Sequence[Message], request: Request | None = None) -> Dumped:
        """Write messages, or a whole request."""
        writer = self._writer(self._report.namespace)
        writer.request = request
        record, payload = writer.record, writer.write(messages)
        if request is not None:
            payload = self._tools.add(request, {**payload, **request.settings}, record)
        payload = writer.complete(payload)

        def read_back() -> dict[Position, Any]:
            return self._read(payload.get(MESSAGES, []), "$.messages", payload).positions

        return Dumped(payload, lambda: self._report.compare(record, read_back()))


def check_messages(payload: JsonObject) -> None:
    """Refuse a request without messages, which the API would refuse."""
    if not payload[MESSAGES]:
        raise ConversionError("no message to send", where="$", hint="give at least one that has content")


def block_lists(payload: JsonObject, *tools: str) -> Iterator[tuple[str, list[Any]]]:
    """The lists of blocks in a request, with their paths: tools, instructions, and contents of messages.

    `tools`: where the tools are.
    """
    yield f"$.{'.'.join(tools)}", items_in(member_at(payload, tools))
    yield "$.system", items_in(payload.get("system"))
    for index, message in enumerate(payload.get(MESSAGES, ())):
        yield f"$.{MESSAGES}[{index}].content", items_in(message["content"])
