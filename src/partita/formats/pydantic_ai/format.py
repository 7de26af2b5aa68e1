"""Pydantic AI's message history ↔ canonical messages.

A response is an assistant message. A request becomes several messages: its instructions where they change,
its system prompts, its tool returns (merged into their calls) and its user prompts. Its messages have no ids:
they are numbered `message-N`. Results that do not directly follow their calls lose their position.

Wire: https://ai.pydantic.dev/api/messages/
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.metadata import add_notes, message_notes, notes, with_message_notes
from partita.formats.core.report import Record, Report
from partita.formats.core.sidecar import in_messages
from partita.formats.core.turns import (
    Instructions,
    Position,
    Prompt,
    Results,
    Step,
    join,
    misplaced_results,
    split,
)
from partita.formats.core.wire import (
    Wire,
    add_residue,
    kind_of,
    read_wire,
    residue,
    restore,
    restore_noted,
    to_json,
)
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.rows import read_moment
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
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
from partita.types.times import iso_text
from partita.types.tool_results import results_id
from partita.types.usage import UsageNames

from . import wire
from .parts import BUILTIN_RETURNS, POSITION, RESPONSE_PARTS, RETURNS, Context, read_item, write_item
from .wire import MESSAGE, NAME

HINT: Final = "give what ModelMessagesTypeAdapter.dump_json writes: a list of requests and responses"

# Notes in the provider metadata of messages
REQUEST: Final = "request"  # residue of the request, on its first message
SEPARATE: Final = "separate"  # in `REQUEST`: the request follows another one
PART: Final = "part"  # residue of a prompt
PART_KIND: Final = "partKind"  # how a prompt is written, if not as a user prompt
INSTRUCTIONS: Final = "instructions"  # the message is from the instructions of a request
EMPTY: Final = "empty"  # the request has no parts

REPORT: Final = Report(
    NAME,
    reasons={
        "output": "an outcome is one word there, and a content is text, JSON or files",
        "text": "a system prompt is one text",
    },
    spelling=frozenset({POSITION, SEPARATE}),
)


# `RequestUsage` in pydantic_ai/usage.py, with the older names that it still reads
USAGE: Final = UsageNames(
    input=("input_tokens", "request_tokens"),
    output=("output_tokens", "response_tokens"),
    reasoning=("output_reasoning_tokens", "details.reasoning_tokens"),
    cached=("cache_read_tokens",),
    cache_write=("cache_write_tokens",),
    template={
        "output_reasoning_tokens": 0,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "cache_write_1h_tokens": 0,
        "input_audio_tokens": 0,
        "cache_audio_read_tokens": 0,
        "output_audio_tokens": 0,
        "audio_seconds": 0.0,
        "details": {},
        "cost": None,
    },
)


def load(payload: Json) -> Loaded:
    """Read a history, or one message of it."""
    reader = _Reader(payload)
    return Loaded(tuple(join(reader.messages)), lambda: misplaced_results(reader.messages, reader.paths))


def dump(messages: Sequence[Message]) -> Dumped:
    """Write messages as `ModelMessagesTypeAdapter` reads them."""
    writer = _Writer()
    payload = writer.write(messages)
    return Dumped(payload, lambda: REPORT.compare(writer.record, _Reader(payload).positions))


class _Reader:
    """Reads a history. In `messages`, results are not merged into their calls.

    The position of a message or a part is the number of its request or response, and of its part there.
    """

    def __init__(self, payload: Json) -> None:
        self.messages: list[Message] = []
        self.paths: list[str] = []
        self.positions: dict[Position, Any] = {}
        self._instructions: str | None = None
        self._after_request = False
        self._response_id: str | None = None  # the id of the last response
        self._results_ids: set[str] = set()
        self._start = 0  # of the messages of the current wire message
        self._first: Position = ()  # the position of the first of them
        for index, raw in enumerate(payload if is_array(payload) else [payload]):
            path = f"$[{index}]" if is_array(payload) else "$"
            message = read_wire(MESSAGE, raw, path, HINT)
            self._start = len(self.messages)
            if type(message) is wire.Request:
                self._request(message, index)
            else:
                self._response(message, index)
            self._after_request = type(message) is wire.Request
            self.paths += [path] * (len(self.messages) - self._start)

    def _id(self) -> str:
        return f"message-{len(self.messages) + 1}"

    def _append(self, message: Message, place: Position) -> None:
        if len(self.messages) == self._start:
            self._first = place
        self.messages.append(message)
        self.positions[place] = message

    def _add(self, message: Message, place: tuple[Any, ...]) -> None:
        self._append(message, place)
        for number, part in enumerate(message.content.parts):
            self.positions[*place, number] = part

    def _response(self, response: wire.Response, index: int) -> None:
        id_ = self._id()
        message = AssistantMessage(
            id=id_,
            thread_id=response.conversation_id,
            run_id=response.run_id,
            created_at=read_moment(response.timestamp),
            content=AssistantContent(
                parts=self._response_parts(response, id_),
                usage=None if response.usage is UNSET else USAGE.read(response.usage),
                metadata=UNSET if response.metadata is None else response.metadata,
            ),
        )
        kept = residue(_write_response(message, response.parts, response.usage), response)
        self._add(with_message_notes(message, NAME, kept), (index,))
        self._response_id = id_

    @staticmethod
    def _response_parts(response: wire.Response, id_: str) -> tuple[AssistantPart, ...]:
        parts: list[Any] = []
        calls: dict[str, int] = {}
        context = Context(response.provider_name, "")
        for position, block in enumerate(response.parts):
            if type(block) is wire.BuiltinToolReturn:
                at = calls.pop(block.tool_call_id, None)
                call = BUILTIN_RETURNS.read(block, parts[at]) if at is not None else None
                if at is not None and type(call) is ToolCallPart:
                    if at < len(parts) - 1:
                        noted = add_notes(call.result_provider_metadata, NAME, {POSITION: position})
                        call = replace(call, result_provider_metadata=noted)
                    parts[at] = call
                    continue
                part = ForeignPart(NAME, to_json(block))
            else:
                if getattr(block, "tool_call_id", None) is UNSET:
                    context = context._replace(call_id=f"{id_}:call-{position + 1}")
                part = RESPONSE_PARTS.read(block, context)
            if type(part) is ToolCallPart and part.provider_executed:
                calls.setdefault(part.id, len(parts))
            parts.append(part)
        return tuple(parts)

    def _request(self, request: wire.Request, index: int) -> None:
        start = self._start
        ids: Any = {"thread_id": request.conversation_id, "run_id": request.run_id}
        if request.instructions is not None and request.instructions != self._instructions:
            self._instructions = request.instructions
            message = SystemMessage(id=self._id(), content=request.instructions, **ids)
            self._add(with_message_notes(message, NAME, {INSTRUCTIONS: True}), (index, INSTRUCTIONS))
        metadata = request.metadata
        for position, block in enumerate(request.parts):
            result = RETURNS.read(block, None) if RETURNS.reads(block) else None
            if type(result) is ToolResultPart:
                self._result(result, request, (index, position))
                continue
            prompt = _read_prompt(block, self._id(), ids, metadata)
            if type(block) is wire.UserPrompt:
                metadata = None  # only the first user prompt has it
            self._add(prompt, (index, position))
        if len(self.messages) == start:
            empty = UserMessage(id=self._id(), content=(), **ids)
            self._add(with_message_notes(empty, NAME, {EMPTY: True}), (index, 0))
        first = self.messages[start]
        owner = next((one for one in self.messages[start:] if is_object(one.content.metadata)), None)
        kept = residue(_write_request(first, owner, self._instructions, request.parts), request)
        if self._after_request:
            kept[SEPARATE] = True
        if kept:
            self.messages[start] = with_message_notes(first, NAME, {REQUEST: kept})
            self.positions[self._first] = self.messages[start]

    def _result(self, result: ToolResultPart, request: wire.Request, place: tuple[int, int]) -> None:
        """Add a result to the last tool message of the request, or to a new one."""
        self.positions[*place, 0] = result
        last = self.messages[-1] if len(self.messages) > self._start else None
        if type(last) is ToolMessage:
            content = replace(last.content, parts=(*last.content.parts, result))
            self.messages[-1] = replace(last, content=content)
            self.positions[place] = last
            return
        own_id = None if self._response_id is None else results_id(self._response_id, 1)
        is_own = own_id is not None and own_id not in self._results_ids
        message = ToolMessage(
            id=own_id if is_own and own_id is not None else self._id(),
            thread_id=request.conversation_id,
            run_id=request.run_id,
            created_at=read_moment(request.timestamp),
            content=ToolContent(parts=(result,)),
        )
        self._results_ids.add(message.id)
        self._append(message, place)


class _Writer:
    """Writes a history, and records the positions of messages and parts."""

    def __init__(self) -> None:
        self.record = Record()
        self._payload: list[Wire | JsonObject] = []
        self._instructions: str | None = None
        self._parts: list[Any] | None = None  # of the open request
        self._first: Message | None = None
        self._owner: Message | None = None  # of the metadata of the open request
        self._has_instructions = False

    def write(self, messages: Sequence[Message]) -> Json:
        """Return the history."""
        for turn in split(messages, RESPONSE_PARTS.can_write):
            match turn:
                case Step():
                    self._step(turn)
                case Results():
                    self._results(turn)
                case Instructions():
                    self._system(turn)
                case Prompt():
                    self._user(turn)
        self._end_request()
        return [to_json(one) for one in self._payload]

    def _step(self, step: Step) -> None:
        blocks: list[Any] = []
        moved: list[tuple[int, Any]] = []
        positions: list[Position | None] = []
        number = 0
        self._end_request(is_needed=bool(step.parts) or step.number == 1)
        index = len(self._payload)
        for part, _ in step.parts:
            block = RESPONSE_PARTS.write(part)
            positions.append(None if block is None else (index, number))
            if block is None:
                continue
            number += 1
            blocks.append(block)
            if type(part) is ToolCallPart and (result := BUILTIN_RETURNS.write(part)) is not None:
                position = notes(part.result_provider_metadata, NAME).get(POSITION)
                moved.append((position if type(position) is int else len(blocks) + len(moved), result))
        for position, result in sorted(moved, key=lambda pair: pair[0]):
            blocks.insert(max(0, min(position, len(blocks))), result)
        if step.text is not None:
            blocks.append(wire.Text(content=step.text))
        is_written = bool(blocks) or step.number == 1
        self.record.add_boundaries(step.boundaries, REPORT.default)
        self.record.add(step, (index,) if is_written else None, positions)
        if is_written:
            self._payload.append(_write_step(step, blocks))

    def _results(self, turn: Results) -> None:
        positions = [
            self._append(turn.message, RETURNS.write(part)) if isinstance(part, ToolResultPart) else None
            for part, _ in turn.parts
        ]
        place = next((place for place in positions if place is not None), None)
        self.record.add(turn, place, [None if one is None else (*one, 0) for one in positions])

    def _system(self, turn: Instructions) -> None:
        message = turn.message
        is_text = [isinstance(part, TextPart) for part, _ in turn.parts]
        text = "\n\n".join(part.text for part in message.parts if isinstance(part, TextPart))
        place: tuple[Any, ...] | None = None
        if message_notes(message, NAME).get(INSTRUCTIONS) is True:
            if self._parts or self._has_instructions:
                self._end_request()
            self._open_request(message)
            self._instructions, self._has_instructions = text, True
            place = (len(self._payload), INSTRUCTIONS)
        elif any(is_text) or not is_text:
            block = wire.SystemPrompt(content=text, timestamp=_write_time(message))
            place = self._append(message, restore_noted(block, message, NAME, PART))
        self.record.add(turn, place, [(*place, 0) if place and one else None for one in is_text])

    def _user(self, turn: Prompt) -> None:
        message, parts = turn.message, turn.message.parts
        is_written = [True] * len(parts)
        place: tuple[Any, ...] | None = None
        if not parts and message_notes(message, NAME).get(EMPTY) is True:
            self._open_request(message)
            place = (len(self._payload), 0)
        elif message.type == "event" and len(parts) == 1 and (own := RETURNS.own_block(parts[0])) is not None:
            place = self._append(message, own)
        else:
            block = _write_user(message)
            is_written = [write_item(part) is not None for part in parts]
            if any(is_written) or (not parts and turn.steering is None):
                place = self._append(message, restore_noted(block, message, NAME, PART))
        numbers = iter(range(len(parts)))
        positions = [(*place, next(numbers)) if place and one else None for one in is_written]
        self.record.add(turn, place, positions)

    def _append(self, message: Message, block: Any) -> tuple[int, int]:
        """Append a part to the open request and return its position."""
        parts = self._open_request(message)
        parts.append(block)
        return len(self._payload), len(parts) - 1

    def _open_request(self, message: Message) -> list[Any]:
        """Return the parts of the request that a message is written to."""
        kept = notes(message_notes(message, NAME), REQUEST)
        parts = self._parts
        if parts is None or kept.get(SEPARATE) is True:
            self._end_request()
            parts = self._parts = []
            self._first = message
        has_metadata = is_object(message.content.metadata) and not isinstance(message, ToolMessage)
        if self._owner is None and has_metadata:
            self._owner = message
        return parts

    def _end_request(self, *, is_needed: bool = True) -> None:
        if self._parts is None or self._first is None or not is_needed:
            return
        request = _write_request(self._first, self._owner, self._instructions, self._parts)
        kept = notes(message_notes(self._first, NAME), REQUEST)
        self._payload.append(restore(request, {name: kept[name] for name in kept if name != SEPARATE}))
        self._first = self._parts = self._owner = None
        self._has_instructions = False


# Responses


def _write_response(
    message: AssistantMessage, blocks: Sequence[Any], usage: Any, *, is_first: bool = True
) -> wire.Response:
    metadata: Any = message.content.metadata
    return wire.Response(
        parts=tuple(blocks),
        timestamp=_write_time(message),
        run_id=message.run_id,
        conversation_id=message.thread_id,
        usage=usage,
        metadata=metadata if is_first and is_object(metadata) else None,
    )


# Older names that `ModelResponse` still reads (`AliasChoices` in pydantic_ai/messages.py). The new one has
# precedence.
RENAMED: Final = (("vendor_id", "provider_response_id"), ("vendor_details", "provider_details"))


def _write_step(step: Step, blocks: Sequence[Any]) -> Wire | JsonObject:
    """Return a response. Only the first one of a message has its usage and its other members."""
    is_first, usage = step.number == 1, step.message.content.usage
    counts = UNSET if usage is None or not is_first else USAGE.write(usage)
    response = _write_response(step.message, blocks, counts, is_first=is_first)
    kept = message_notes(step.message, NAME)
    if not is_first:
        kept = {name: kept[name] for name in ("model_name", "provider_name") if name in kept}
    written = restore(response, kept)
    for old, new in RENAMED:
        if old in (written.extra or ()) and getattr(written, new) is None:
            written = replace(written, **{new: UNSET})
    return written


# Requests


def _write_request(
    first: Message, owner: Any, instructions: str | None, blocks: Sequence[Any]
) -> wire.Request:
    return wire.Request(
        parts=tuple(blocks),
        timestamp=_write_time(first) or None,
        run_id=first.run_id,
        conversation_id=first.thread_id,
        instructions=instructions,
        metadata=None if owner is None else owner.content.metadata,
    )


def _read_prompt(block: Any, id_: str, ids: Any, metadata: JsonObject | None) -> Message:
    """Return the message of a prompt. An unknown part becomes an event."""
    envelope: Any = {"id": id_, "created_at": read_moment(getattr(block, "timestamp", None)), **ids}
    text: Any
    kind = type(block)
    if kind is wire.SystemPrompt:
        text = block.content
        message: Message = SystemMessage(
            content=SystemContent(parts=(TextPart(text),), content=text), **envelope
        )
        return add_residue(
            message, NAME, PART, wire.SystemPrompt(content=text, timestamp=_write_time(message)), block
        )
    if kind is wire.UserPrompt:
        text = block.content if isinstance(block.content, str) else None
        parts = (TextPart(text),) if text is not None else tuple(map(read_item, block.content))
        given = UNSET if metadata is None else metadata
        message = UserMessage(content=UserContent(parts=parts, content=text, metadata=given), **envelope)
    elif kind in (wire.RetryFeedback, wire.RetryPrompt) and isinstance(block.content, str):
        noted = {NAME: {PART_KIND: kind_of(kind)}}
        content = UserContent(parts=(TextPart(block.content),), provider_metadata=noted)
        message = UserMessage(content=content, **envelope)
    else:
        foreign = UserContent(parts=(ForeignPart(NAME, to_json(block)),))
        return UserMessage(content=foreign, type="event", id=id_, **ids)
    return add_residue(message, NAME, PART, _write_user(message), block)


def _write_user(message: UserMessage) -> Wire:
    kind = message_notes(message, NAME).get(PART_KIND)
    timestamp = _write_time(message)
    match message.parts:
        case (TextPart(text=text),) if kind == "retry-prompt":
            return wire.RetryPrompt(content=text, timestamp=timestamp)
        case (TextPart(text=text),) if kind == "retry-feedback":
            return wire.RetryFeedback(content=text, timestamp=timestamp)
        case parts:
            items = [item for part in parts if (item := write_item(part)) is not None]
    if not items:
        return wire.UserPrompt(content="", timestamp=timestamp)
    is_text = len(items) == 1 and isinstance(items[0], str)
    return wire.UserPrompt(content=items[0] if is_text else tuple(items), timestamp=timestamp)


def _write_time(message: Message) -> Any:
    return UNSET if message.created_at is None else iso_text(message.created_at)


FORMAT: Final = Format(
    NAME,
    "Pydantic AI message histories",
    load,
    dump,
    slot=in_messages("metadata", is_nullable=True),
    is_complete=True,
)
