"""Reads model messages: adjoining assistant and tool messages become one canonical message."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.core.metadata import add_notes, notes
from partita.formats.core.turns import Position
from partita.formats.core.wire import residue
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
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
from partita.types.parts import (
    ForeignPart,
    StepStartPart,
    TextPart,
)
from partita.types.tool_results import results_id

from . import wire
from .calls import (
    CallBlocks,
    read_call,
    read_result,
    write_result_part,
)
from .parts import metadata, options, read_block, read_part, with_new_options
from .wire import MESSAGE, NAME

CONTENT: Final = "content"
"""The note of an assistant message whose content is a string, beside other steps, or is empty."""

START: Final = "start"
"""The position of a step start in an assistant message."""


class _OpenCall:
    """A call, and the blocks of it that were found so far."""

    def __init__(self, block: Any, position: int, step: int) -> None:
        self.blocks = CallBlocks(block)
        self.position, self.step = position, step
        self.result_message: ToolMessage | None = None

    def add(self, name: str, block: Any) -> None:
        self.blocks = self.blocks._replace(**{name: block})


class _ReadStep(NamedTuple):
    """An assistant message of the payload."""

    index: int
    message: wire.Assistant
    items: list[tuple[int, Any]]
    """Parts, and calls that are not complete, with the positions of their blocks."""
    tool_messages: list[int]
    """The indexes of the tool messages after it."""


class _AssistantTurn:
    """Adjoining assistant and tool messages, which are read as one assistant message."""

    def __init__(self, index: int, version: int) -> None:
        self.id, self.version = _message_id(index), version
        self.steps: list[_ReadStep] = []
        self._calls: dict[str, list[_OpenCall]] = {}
        self._requests: dict[str, _OpenCall] = {}
        self._tool_messages: dict[int, ToolMessage] = {}  # tool messages without their parts

    def add_step(self, message: wire.Assistant, index: int) -> None:
        """Read an assistant message."""
        step = _ReadStep(index, message, [], [])
        self.steps.append(step)
        if isinstance(message.content, str):
            step.items.append((0, TextPart(message.content)))
            return
        for position, raw in enumerate(message.content):
            block = read_block(raw, self.version)
            if isinstance(block, wire.Call | wire.CallV4):
                call = _OpenCall(block, position, len(self.steps))
                self._calls.setdefault(block.tool_call_id, []).append(call)
                step.items.append((position, call))
            elif not self._is_about_call(block):
                step.items.append((position, read_part(raw, block, "assistant", self.version)))

    def _is_about_call(self, block: Any) -> bool:
        """Add a block of an assistant message to its call; return whether there is one."""
        match block:
            case wire.Request() if block.approval_id not in self._requests:
                call = self._open_call(block.tool_call_id, "request")
                if call is not None:
                    call.add("request", block)
                    self._requests[block.approval_id] = call
            case wire.Result():
                call = self._open_call(block.tool_call_id, "result")
                if call is not None:
                    call.blocks = call.blocks._replace(result=block, in_assistant=True)
            case _:
                return False
        return call is not None

    def _open_call(self, id_: str, name: str) -> _OpenCall | None:
        """Return the nearest call of an id without such a block: the first of the last step that has one."""
        waiting = [call for call in self._calls.get(id_, ()) if getattr(call.blocks, name) is None]
        return min(waiting, key=lambda call: (-call.step, call.position), default=None)

    def add_tool_message(self, message: wire.Tool, index: int) -> ToolMessage | None:
        """Read a tool message.

        Returns a message with those of its blocks that belong to no call of the turn.
        """
        step = self.steps[-1]
        own_id = _message_id(index) if step.tool_messages else results_id(self.id, len(self.steps))
        bare = replace(_tool_message(message, own_id, ()), type="tool")
        rest: list[Any] = []
        is_used = False
        for raw in message.content:
            block = read_block(raw, self.version)
            if not self._adds_to_call(block, bare):
                rest.append(_read_result_part(raw, block, self.version))
            else:
                is_used = True
        if not is_used and not self._is_empty_tool_message(message):
            return _tool_message(message, _message_id(index), rest)
        step.tool_messages.append(index)
        self._tool_messages[index] = bare
        return _tool_message(message, own_id, rest) if rest else None

    def _adds_to_call(self, block: Any, bare: ToolMessage) -> bool:
        """Add a block of a tool message to its call; return whether there is one.

        A result keeps its message.
        """
        if isinstance(block, wire.Result | wire.ResultV4):
            id_ = block.toolCallId if isinstance(block, wire.ResultV4) else block.tool_call_id
            call = self._open_call(id_, "result")
            if call is not None:
                call.add("result", block)
                own = ToolMessage(id=results_id(self.id, call.step), content=(), type="tool")
                call.result_message = None if bare == own else bare
            return call is not None
        call = self._requests.get(block.approval_id) if isinstance(block, wire.Response) else None
        if call is None or call.blocks.response is not None:
            return False
        call.add("response", block)
        return True

    def _is_empty_tool_message(self, message: wire.Tool) -> bool:
        """Whether this is the empty message that version 5 writes after calls without results."""
        step = self.steps[-1]
        is_open = any(isinstance(item, _OpenCall) and not _is_executed(item) for _, item in step.items)
        return self.version == 5 and is_open and not step.tool_messages and message == wire.Tool(content=[])

    def finish(self, positions: dict[Position, Any]) -> AssistantMessage:
        """Return the message of the turn, and add its parts to `positions`."""
        parts: list[Any] = []
        for number, step in enumerate(self.steps, 1):
            own = self._step_metadata(step)
            if number > 1:
                start = StepStartPart(provider_metadata=own)
                positions[step.index, START] = start
                parts.append(start)
            for position, item in step.items:
                part = self._read_call(item, step) if isinstance(item, _OpenCall) else item
                positions[step.index, position] = part
                parts.append(part)
            content = AssistantContent(parts=(), provider_metadata=own)
            positions[(step.index,)] = AssistantMessage(id="", content=content)
        positions |= {(index,): bare for index, bare in self._tool_messages.items()}
        first = self.steps[0]
        is_alone = len(self.steps) == 1 and isinstance(first.message.content, str)
        content = AssistantContent(
            parts=tuple(parts),
            content=first.message.content if is_alone else None,
            provider_metadata=self._step_metadata(first),
        )
        message = AssistantMessage(id=self.id, content=content)
        positions[(first.index,)] = message
        return message

    def _step_metadata(self, step: _ReadStep) -> JsonObject | None:
        """Return the provider metadata of a step: the options of its message, and notes about it."""
        own = _message_metadata(step.message)
        if isinstance(step.message.content, str):
            return add_notes(own, NAME, {CONTENT: "string"} if len(self.steps) > 1 else {})
        return add_notes(own, NAME, {} if step.items else {CONTENT: "empty"})

    def _read_call(self, call: _OpenCall, step: _ReadStep) -> ToolCallPart:
        has_tool_message = self.version == 5 and bool(step.tool_messages) and not _is_executed(call)
        part = read_call(call.blocks._replace(has_tool_message=has_tool_message), self.version)
        return part if call.result_message is None else replace(part, result_message=call.result_message)


def _is_executed(call: _OpenCall) -> bool:
    return getattr(call.blocks.call, "provider_executed", UNSET) is True


class Reader:
    """Reads model messages. The position of a part is the number of its message, and of its block there."""

    def __init__(self, payload: Json, version: int) -> None:
        self.messages: list[Message] = []
        self.positions: dict[Position, Any] = {}
        self._version = version
        self._turn: _AssistantTurn | None = None
        for index, raw in enumerate(payload if is_array(payload) else [payload]):
            path = f"$[{index}]" if is_array(payload) else "$"
            self._add(_read_message(raw, path, version), index)
        self._end_turn()

    def _add(self, message: wire.Message, index: int) -> None:
        match message:
            case wire.Assistant():
                self._turn = self._turn or _AssistantTurn(index, self._version)
                self._turn.add_step(message, index)
            case wire.Tool() if self._turn is not None:
                rest = self._turn.add_tool_message(message, index)
                if rest is not None:
                    self._append(rest, index)
            case wire.Tool():
                parts = [
                    _read_result_part(raw, read_block(raw, self._version), self._version)
                    for raw in message.content
                ]
                self._append(_tool_message(message, _message_id(index), parts), index)
            case wire.System():
                self._append(_read_system(message, index), index)
            case wire.User():
                self._append(_read_user(message, index, self._version), index)

    def _append(self, message: Message, index: int) -> None:
        self._end_turn()
        self.messages.append(message)
        self.positions[(index,)] = message
        for position, part in enumerate(message.content.parts):
            self.positions[index, position] = part

    def _end_turn(self) -> None:
        if self._turn is not None:
            self.messages.append(self._turn.finish(self.positions))
            self._turn = None


def _message_id(index: int) -> str:
    return f"message-{index + 1}"


def _read_message(raw: Json, path: str, version: int) -> Any:
    """Read a message, and check that its role may have such content."""
    if not is_object(raw):
        what = f"a model message is an object, found {kind_of(raw)}"
        raise ConversionError(what, where=path, hint="give {role, content}")
    role, content = raw.get("role"), raw.get("content")
    if role not in ("system", "user", "assistant", "tool"):
        what = f"unknown role {role!r:.40}" if isinstance(role, str) else f"role is {kind_of(role)}"
        raise ConversionError(what, where=f"{path}.role", hint="use system, user, assistant or tool")
    may_be_text, may_be_list = role != "tool", role != "system"
    if not (isinstance(content, str) and may_be_text) and not (is_array(content) and may_be_list):
        found = kind_of(content) if "content" in raw else "missing"
        expected = " or ".join([*["a string"] * may_be_text, *["an array"] * may_be_list])
        what = f"content of a {role} message is {found}"
        raise ConversionError(what, where=f"{path}.content", hint=f"make it {expected}")
    return MESSAGE.read(with_new_options(raw) if version == 4 else raw)


def _message_metadata(message: wire.Message) -> JsonObject | None:
    """Return the provider metadata of a message: its options, and a note of its residue."""
    given = metadata(message.provider_options)
    written = replace(message, extra=None, provider_options=options(given))
    return add_notes(given, NAME, residue(written, message))


def _read_system(message: wire.System, index: int) -> SystemMessage:
    """Return a system message. Its options are those of its text."""
    own = _message_metadata(message)
    given = options(own)
    text = TextPart(message.content, provider_metadata=None if given is UNSET else given)
    kept = notes(own, NAME)
    content = SystemContent(parts=(text,), provider_metadata=add_notes(None, NAME, kept))
    return SystemMessage(id=_message_id(index), content=content)


def _read_user(message: wire.User, index: int, version: int) -> UserMessage:
    text = message.content if isinstance(message.content, str) else None
    if text is not None:
        parts: list[Any] = [TextPart(text)]
    else:
        parts = [read_part(raw, read_block(raw, version), "user", version) for raw in message.content]
    content = UserContent(parts=tuple(parts), content=text, provider_metadata=_message_metadata(message))
    return UserMessage(id=_message_id(index), content=content)


def _tool_message(message: wire.Tool, id_: str, parts: Sequence[Any]) -> ToolMessage:
    content = ToolContent(parts=tuple(parts), provider_metadata=_message_metadata(message))
    return ToolMessage(id=id_, content=content)


def _read_result_part(raw: Json, block: Any, version: int) -> Any:
    """Return the part of a block of a tool message that belongs to no call."""
    if not isinstance(block, wire.Result | wire.ResultV4):
        return ForeignPart(NAME, raw)
    part = read_result(block, version)
    kept = residue(write_result_part(part, version), block)
    return replace(part, provider_metadata=add_notes(part.provider_metadata, NAME, kept))
