"""Messages as OpenTelemetry's conventions for generative AI record them ↔ canonical messages.

The reader accepts attributes with input messages, output messages and system instructions (as arrays or as
JSON texts), spans with such attributes, lists of messages, and events with one message each. The tools and
all other attributes of a recording become its request. The writer puts the last response into the output, and
all messages before it into the input. Each step of a response is a message, followed by the results of its
calls.

Recorded messages have no ids: they are numbered `message-N`. Results that do not directly follow their calls
lose their position.

Conventions: https://github.com/open-telemetry/semantic-conventions-genai
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.metadata import add_notes, message_notes, notes, with_message_notes
from partita.formats.core.report import Report
from partita.formats.core.role_messages import JOINED_NOTE, MessageWriter, numbered
from partita.formats.core.rules import Rules
from partita.formats.core.turns import Instructions, Position, Results, Step, Turn, join, misplaced_results
from partita.formats.core.wire import Wire, restore, to_json
from partita.formats.format import Dumped, Format, Loaded, Request, Slot
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import ForeignPart, TextPart, ToolResultPart
from partita.types.tool_results import results_id
from partita.types.usage import Usage
from partita.types.value import Extra

from . import wire
from .containers import (
    EVENTS,
    LIST,
    TEXTS,
    Recorded,
    Recording,
    add_request,
    put,
    read_recording,
    read_request,
    take,
    with_texts_of,
    write_event,
    write_lists,
)
from .parts import CALL_RESPONSES, ITEMS, MEMBER, NAMED, NO_CALL, PARTS, POSITION, RESPONSES, Called
from .wire import CONVERSATION, INPUT, NAME, OUTPUT, SYSTEM, USAGE

ROLES: Final[Mapping[str, str]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "tool": "tool",
}
"""The roles of canonical messages, by recorded role. Any other role is read as `user`."""

# Notes in the provider metadata of messages, next to the other members of a message
ROLE: Final = "role"  # the role in the recording, if not that of the message
IS_OUTPUT: Final = "made"  # whether it is in the output, if it is not the last response there
FORM: Final = "form"  # on the first message: the container of the messages, if not attributes
EVENT: Final = "asEvent"  # residue of the event of the message
INSTRUCTIONS: Final = "instructions"  # the message holds the system instructions
MEMBERS: Final = ("name", "finish_reason")
MESSAGE_NOTES: Final = frozenset({ROLE, IS_OUTPUT, FORM, EVENT, JOINED_NOTE, INSTRUCTIONS})

INSTRUCTION_PARTS: Final = (TextPart, ForeignPart)

REPORT: Final = Report(
    NAME,
    reasons={
        "threadId": "all messages of a recording are of one conversation",
        "usage": "only the usage of the last answer is recorded",
        "output": "an output is a value, and it is not recorded whether the call failed",
    },
    spelling=MESSAGE_NOTES | {POSITION, MEMBER, NAMED},
)

RULES: Final = Rules(hidden="send", calls="any")
"""No restrictions: a recording contains what was sent and received."""


def load(payload: Json) -> Loaded:
    """Read a recording."""
    recording = read_recording(payload)
    reader = _Reader(recording)
    messages, request = tuple(join(reader.messages)), read_request(reader.attributes)

    def misplaced() -> Iterator[Loss]:
        return misplaced_results(reader.messages, reader.paths)

    def write_back() -> Json:
        return with_texts_of(payload, dump(messages, request).payload)

    return Loaded(messages, misplaced, request, write_back=write_back if recording.form == TEXTS else None)


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    """Write messages as attributes, or in the form in which they were recorded."""
    writer = _Writer(message_notes(messages[0], NAME).get(FORM) if messages else None)
    payload = writer.write(messages)
    if request is not None:
        payload = add_request(payload, request)
    return Dumped(
        payload,
        lambda: REPORT.compare(writer.record, _Reader(read_recording(payload), writer.numbers).positions),
    )


class _Reader:
    """Reads a recording. In `messages` the results are still separate from their calls.

    The position of a part is the number of its recorded message, and its number among the parts there. The
    position of a message is that of its first part. A recorded message with results among other parts becomes
    several messages.
    """

    def __init__(self, recording: Recording, numbers: Sequence[int] | None = None) -> None:
        """`numbers`: the numbers of the recorded messages, if these are not their indexes."""
        self.messages: list[Message] = []
        self.paths: list[str] = []
        self.positions: dict[Position, Any] = {}
        self.attributes = dict(recording.attributes)
        thread_id = self.attributes.get(CONVERSATION)
        self._thread_id = self.attributes.pop(CONVERSATION) if isinstance(thread_id, str) else None
        self._form = recording.form
        self._names: dict[str, str] = {}  # of tools, by the ids of their calls
        self._open: list[str] = []  # ids of the calls of the last response that have no result yet
        self._head: str | None = None  # id of the previous message, if it is the assistant's
        if recording.instructions:
            note = {INSTRUCTIONS: True}
            self._add(self._system(recording.instructions, note), "$", (SYSTEM, 0))
        last = len(recording.messages) - 1
        for index, one in enumerate(recording.messages):
            place = index if numbers is None else numbers[index]
            self._read(one, place, is_last=index == last)

    def _id(self) -> str:
        return f"message-{len(self.messages) + 1}"

    def _envelope(self) -> dict[str, Any]:
        return {"id": self._id(), "thread_id": self._thread_id}

    def _add(self, message: Message, path: str, place: tuple[Any, int]) -> None:
        if not self.messages and self._form is not None:
            message = with_message_notes(message, NAME, {FORM: self._form})
        self.messages.append(message)
        self.paths.append(path)
        self.positions[place] = message
        for number, part in enumerate(message.content.parts, place[1]):
            self.positions[place[0], number, 0] = part

    def _read(self, recorded: Recorded, number: int, *, is_last: bool) -> None:
        message, path = recorded.message, recorded.path
        role = ROLES.get(message.role, "user")
        note: JsonObject = dict(message.extra or {})
        note |= {name: value for name in MEMBERS if (value := getattr(message, name)) is not UNSET}
        if message.role != role:
            note[ROLE] = message.role
        if recorded.is_output != (is_last and role == "assistant"):
            note[IS_OUTPUT] = recorded.is_output
        if recorded.event is not None:
            note[EVENT] = recorded.event
        if role == "assistant":
            self._add(self._assistant(message.parts, note, is_last=is_last), path, (number, 0))
        elif role == "system":
            self._add(self._system(message.parts, note), path, (number, 0))
        else:
            self._runs(message.parts, role, note, path, number)

    def _system(self, blocks: Sequence[Any], note: JsonObject) -> SystemMessage:
        parts = tuple(_read_part(block, INSTRUCTION_PARTS) for block in blocks)
        metadata = add_notes(None, NAME, note)
        return SystemMessage(
            content=SystemContent(parts=parts, provider_metadata=metadata), **self._envelope()
        )

    def _runs(self, blocks: Sequence[Any], role: str, note: JsonObject, path: str, number: int) -> None:
        """Add a message of the user or of tools: each group of results, or of other parts, is a message."""
        parts = [self._result(one) or _read_part(one, ITEMS) for one in blocks]
        runs: list[tuple[bool, Any]] = [
            (is_tool, tuple(run))
            for is_tool, run in groupby(parts, lambda part: type(part) is ToolResultPart)
        ]
        start = 0
        for is_tool, run in runs or [(role == "tool", ())]:
            noted = {JOINED_NOTE: True} if start else note
            if role != ("tool" if is_tool else "user"):
                noted = {ROLE: role, **noted}
            metadata = add_notes(None, NAME, noted)
            envelope = self._envelope()
            message: Message
            if is_tool:
                if self._head is not None and not start:
                    envelope["id"] = results_id(self._head, 1)
                message = ToolMessage(content=ToolContent(parts=run, provider_metadata=metadata), **envelope)
            else:
                content = UserContent(parts=run, provider_metadata=metadata)
                message = UserMessage(content=content, type="text", **envelope)
            self._head = None
            self._add(message, path, (number, start))
            start += len(run)

    def _result(self, block: Any) -> ToolResultPart | None:
        """Return the result in a block. Without an id, it is that of the first call that has none."""
        if not RESPONSES.reads(block):
            return None
        call_id = block.id if isinstance(block.id, str) else None
        if call_id is None:
            fitting = (one for one in self._open if block.name in (UNSET, self._names.get(one)))
            call_id = next(fitting, f"{self._id()}:result")
        result = RESPONSES.read(block, Called(call_id, self._names.get(call_id, "")))
        if type(result) is not ToolResultPart:
            return None
        if call_id in self._open:
            self._open.remove(call_id)
        return result

    def _assistant(self, blocks: Sequence[Any], note: JsonObject, *, is_last: bool) -> AssistantMessage:
        id_ = self._id()
        parts: list[Any] = []
        calls: dict[Any, int] = {}  # positions of calls by their ids
        for position, block in enumerate(blocks):
            at = calls.get(block.id) if CALL_RESPONSES.reads(block) else None
            call = None if at is None else CALL_RESPONSES.read(block, parts[at])
            if at is not None and type(call) is ToolCallPart:
                del calls[call.id]
                if at < len(parts) - 1:
                    noted = add_notes(call.result_provider_metadata, NAME, {POSITION: position})
                    call = replace(call, result_provider_metadata=noted)
                parts[at] = call
                continue
            part = PARTS.read(block, Called(f"{id_}:call-{position + 1}"))
            if type(part) is ToolCallPart:
                calls[part.id] = len(parts)
            parts.append(part)
        own = [part for part in parts if type(part) is ToolCallPart and not part.provider_executed]
        self._names.update({call.id: call.name for call in own})
        self._open = [call.id for call in own]
        self._head = id_
        content = AssistantContent(
            parts=tuple(parts),
            provider_metadata=add_notes(None, NAME, note),
            usage=self._take_usage() if is_last else None,
        )
        return AssistantMessage(content=content, id=id_, thread_id=self._thread_id)

    def _take_usage(self) -> Usage | None:
        """Remove the usage from the attributes, and return it."""
        counts: Any = {
            field: self.attributes.pop(name)
            for name, field in USAGE.items()
            if type(self.attributes.get(name)) is int
        }
        return Usage(**counts) if counts else None


def _is_result(part: Any) -> bool:
    return type(part) is ToolResultPart


def _read_part(block: Any, types: Sequence[type[Any]]) -> Any:
    """Return the part of a block in a message that may have parts of these types. Others are kept whole."""
    part = PARTS.read(block, NO_CALL)
    return part if type(part) in types else ForeignPart(NAME, to_json(block))


def _write_message(role: str, blocks: Sequence[Any], noted: JsonObject) -> wire.Message:
    """Return a message with the members that were kept."""
    if not noted:
        return wire.Message(role=role, parts=tuple(blocks))
    own = noted.get(ROLE)
    default_role = ROLES.get(own, "user") if isinstance(own, str) else role
    is_kept = isinstance(own, str) and (default_role == role or {default_role, role} == {"user", "tool"})
    members = {name: value for name, value in noted.items() if name not in MESSAGE_NOTES}
    known = {name: members.pop(name) for name in MEMBERS if name in members}
    return wire.Message(
        role=str(own) if is_kept else role,
        parts=tuple(blocks),
        **known,
        extra=Extra(members) if members else None,
    )


class _Writer(MessageWriter):
    """Writes a recording, and records the positions of messages and parts."""

    result_role = "tool"
    boundary_reason = REPORT.default

    def __init__(self, form: Json) -> None:
        """`form`: the container in which the messages were recorded."""
        super().__init__(NAME)
        self.numbers: Sequence[int] = ()
        """The numbers of the messages, in the order in which they are read back."""
        self._form, self._is_list = form, form in (LIST, EVENTS)
        self._usage: Usage | None = None

    def write(self, messages: Sequence[Message]) -> Json:
        """Return the recording."""
        self.write_turns(messages, RULES, PARTS.can_write)
        thread_id = next((one.thread_id for one in messages if one.thread_id is not None), None)
        return self._payload(None if self._is_list else thread_id)

    def write_blocks(self, turn: Turn, role: str) -> tuple[list[Json], list[Any]]:
        """Return the blocks of a turn, and the number of each part among those that are written."""
        self._usage = None  # only that of the last response is recorded
        if isinstance(turn, Results):
            return numbered(RESPONSES.write(part) for part, _ in turn.parts)
        blocks, numbers = numbered(PARTS.write(part) for part, _ in turn.parts)
        if not isinstance(turn, Step):
            return blocks, numbers
        if turn.number == 1 and not self._is_list:
            self._usage = turn.message.content.usage
        moved: list[tuple[int, Any]] = []
        for (part, _), number in zip(turn.parts, numbers, strict=True):
            if type(part) is ToolCallPart and number is not None:
                output = CALL_RESPONSES.write(part)
                position = notes(part.result_provider_metadata, NAME).get(POSITION)
                if output is not None:
                    at = position if type(position) is int else number + 1 + len(moved)
                    moved.append((at, output))
        for position, output in sorted(moved, key=lambda pair: pair[0]):
            blocks.insert(max(0, min(position, len(blocks))), output)
        if turn.text is not None:
            blocks.append(wire.Text(content=turn.text))
        return blocks, numbers

    def write_instructions(self, turn: Instructions) -> None:
        blocks, numbers = self.write_blocks(turn, "system")
        noted = message_notes(turn.message, NAME)
        is_own = noted.get(INSTRUCTIONS) is True and not self._is_list
        if not is_own or self.system or self.messages:
            self.add("system", blocks, turn, numbers, noted)
            return
        self.system = blocks
        positions = [None if number is None else (SYSTEM, number, 0) for number in numbers]
        self.record.add(turn, (SYSTEM, 0) if blocks else None, positions)

    def _payload(self, thread_id: str | None) -> Json:
        last = len(self.messages) - 1
        outputs: list[int] = []
        for index, (role, _, noted) in enumerate(self.messages):
            is_output = noted.get(IS_OUTPUT)
            if is_output if isinstance(is_output, bool) else index == last and role == "assistant":
                outputs.append(index)
        written = [_write_message(*one) for one in self.messages]
        if self._is_list:
            self.numbers = range(last + 1)
            if self._form == LIST:
                return [to_json(one) for one in written]
            notes_ = [noted for _, _, noted in self.messages]
            return [to_json(_write_event(one, notes_[at], at in outputs)) for at, one in enumerate(written)]
        inputs = [index for index in range(last + 1) if index not in outputs]
        self.numbers = [*inputs, *outputs]
        lists: JsonObject = {SYSTEM: to_json(self.system)} if self.system else {}
        if inputs or not outputs:
            lists[INPUT] = [to_json(written[index]) for index in inputs]
        if outputs:
            lists[OUTPUT] = [to_json(written[index]) for index in outputs]
        payload = write_lists(lists, self._form)
        if thread_id is not None and (self.messages or self.system):
            payload[CONVERSATION] = thread_id
        for name, field in USAGE.items():
            count = None if self._usage is None else getattr(self._usage, field)
            if count is not None:
                payload[name] = count
        return payload


def _write_event(message: wire.Message, noted: JsonObject, is_output: bool) -> Wire | JsonObject:
    event = write_event(to_json(message), is_output=is_output)
    kept = noted.get(EVENT)
    return restore(event, kept) if is_object(kept) else event


FORMAT: Final = Format(
    NAME,
    "messages as OpenTelemetry records them",
    load,
    dump,
    takes_request=True,
    slot=Slot(put, take),
    is_complete=True,
)
