"""Writes canonical messages as model messages, and records the position of every message and part."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.ai_sdk.javascript import joined, spread
from partita.formats.ai_sdk.ui.network import network_tool_call
from partita.formats.core.metadata import notes
from partita.formats.core.report import Entry, Record
from partita.formats.core.turns import Instructions, LocatedPart, Position, Prompt, Results, Step, join, split
from partita.formats.core.wire import restore, to_json
from partita.stream.encoder import NETWORK_KEY
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    ToolCallPart,
    ToolMessage,
)
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    StepStartPart,
    TextPart,
    ToolResultPart,
)
from partita.types.tool_results import results_id

from . import wire
from .calls import (
    RULES,
    Written,
    convert_ui_part,
    write_call,
    write_result_part,
)
from .parts import UI, options, write_part
from .reader import CONTENT, START
from .wire import NAME

COUNTED: Final = (TextPart, ReasoningPart, FilePart, ReasoningFilePart, ImagePart, ToolCallPart, DataPart)
"""Parts for which version 5 writes a message, even if it is empty."""


class _ToolMessage(NamedTuple):
    """A tool message after a step."""

    id: str
    origin: ToolMessage | None
    content: list[Any]


class _Head(NamedTuple):
    """The metadata of an assistant message, or of the step start that it is written for."""

    metadata: JsonObject | None
    start: LocatedPart | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the message was read without content."""
        return notes(self.metadata, NAME).get(CONTENT) == "empty"


class Writer:
    """Writes model messages, and records positions."""

    def __init__(self, version: int) -> None:
        self.record = Record()
        self._version, self._rules = version, RULES[version]
        self._payload: list[tuple[wire.Message, JsonObject]] = []
        self._waiting: Step | None = None  # a step that has not been written yet
        self._number = 0  # of the last step of its message that was written
        self._last_tool = ""  # the id of the tool message at the end

    def write(self, messages: Sequence[Message]) -> Json:
        """Return the list of model messages."""
        turns = list(split(_with_networks(messages), lambda part: True, results="none"))
        prompts = [at for at, turn in enumerate(turns) if isinstance(turn, Prompt) and not turn.steering]
        last_prompt = max(prompts, default=-1)
        for at, turn in enumerate(turns):
            if not isinstance(turn, Step):
                self._drop_waiting()
            match turn:
                case Step():
                    following = turns[at + 1] if at + 1 < len(turns) else None
                    is_last = not isinstance(following, Step) or following.path != turn.path
                    self._step(turn, is_superseded=at < last_prompt, is_last=is_last)
                case Instructions():
                    self._system(turn)
                case Prompt():
                    self._user(turn)
                case Results():
                    self._tool(turn)
        self._drop_waiting()
        return to_json([restore(message, kept) for message, kept in self._payload])

    def _emit(self, message: wire.Message, kept: JsonObject) -> int:
        self._last_tool = ""
        self._payload.append((message, {name: kept[name] for name in kept if name != CONTENT}))
        return len(self._payload) - 1

    # System, user and tool messages

    def _system(self, turn: Instructions) -> None:
        """A system message: its texts as one, with the options of all of them."""
        metadata = turn.message.content.provider_metadata
        given = options(metadata)
        merged: JsonObject = {} if given is UNSET else dict(given)
        texts: list[Json] = []
        for part, _ in turn.parts:
            match part:
                case TextPart():
                    texts.append(part.text)
                    merged |= options(part.provider_metadata) or {}
                case ForeignPart(format="ai-sdk-ui", value={"type": "text", **rest}):
                    texts.append(rest.get("text"))
                    merged |= spread(rest.get("providerMetadata"))
        text = joined(texts, "")
        has_options = merged or given is not UNSET
        index = self._emit(
            wire.System(content=text, provider_options=merged if has_options else UNSET),
            notes(metadata, NAME),
        )
        positions = [(index, 0) if isinstance(part, TextPart) else None for part, _ in turn.parts]
        self.record.add(turn, (index,), positions)

    def _user(self, turn: Prompt) -> None:
        content: list[Any] = []
        index = len(self._payload)
        positions: list[Position | None] = []
        for part, _ in turn.parts:
            blocks = self._write_user(part)
            positions.append((index, len(content)) if blocks else None)
            content += blocks
        if turn.steering is not None and not content and not self._rules.steering:
            self.record.add(turn, None, positions)
            return
        metadata = turn.message.content.provider_metadata
        text = _as_text(content, turn.message.content.content)
        self._emit(wire.User(content=text, provider_options=options(metadata)), notes(metadata, NAME))
        self.record.add(turn, (index,), positions)

    def _write_user(self, part: Any) -> list[Any]:
        if isinstance(part, ForeignPart) and part.format == UI:
            return convert_ui_part(part.value, self._version, is_superseded=False, role="user").assistant
        block = write_part(part, "user", self._version)
        return [] if block is None else [block]

    def _tool(self, turn: Results) -> None:
        """Write results without a call, in one message with other results if they were read from one."""
        if self._last_tool == turn.message.id:
            index = len(self._payload) - 1
        else:
            metadata = turn.message.content.provider_metadata
            index = self._emit(
                wire.Tool(content=[], provider_options=options(metadata)), notes(metadata, NAME)
            )
        content: list[Any] = self._payload[index][0].content
        start = len(content)
        positions: list[Position | None] = []
        for part, _ in turn.parts:
            block = self._result_part(part)
            positions.append(None if block is None else (index, len(content) - start))
            content += [] if block is None else [block]
        self.record.add(turn, (index,), positions)

    def _result_part(self, part: Any) -> Any:
        if isinstance(part, ToolResultPart):
            written = write_result_part(part, self._version)
            return restore(written, notes(part.provider_metadata, NAME))
        return part.value if isinstance(part, ForeignPart) and part.format == NAME else None

    # Assistant messages

    def _step(self, step: Step, *, is_superseded: bool, is_last: bool) -> None:
        if self._waiting is not None and self._waiting.path == step.path:
            parts = [*self._waiting.parts, *step.parts]
            boundaries = [*self._waiting.boundaries, *step.boundaries]
            step = step._replace(parts=parts, boundaries=boundaries, number=self._waiting.number)
        else:
            self._drop_waiting()
        self._waiting = None
        if step.number == 1:
            self._number = 0
        is_first, first = self._number == 0, len(self._payload)
        head = self._open(step)
        written = [(part, self._write(part, is_superseded=is_superseded)) for part, _ in step.parts]
        content = [block for _, found in written for block in found.assistant]
        is_written = bool(content) or head.is_empty
        if self._rules.empty_messages:
            is_written = is_written or any(isinstance(part, COUNTED) for part, _ in step.parts)
        tool_messages = self._tool_messages(step, written, is_written)
        index = len(self._payload)
        if not is_written and not tool_messages and index == first:
            self._waiting = step
            return
        if is_written:
            text = step.message.content.content if is_last and not self._number else None
            self._write_assistant(content, head, text)
        tools: dict[str, int] = {}
        for group in tool_messages:
            metadata = None if group.origin is None else group.origin.content.provider_metadata
            tool = wire.Tool(content=group.content, provider_options=options(metadata))
            tools[group.id] = self._emit(tool, notes(metadata, NAME))
            self._last_tool = group.id
        self._record(step._replace(number=1 if is_first else 2), first, index, written)
        for part, path in step.parts:
            if isinstance(part, ToolCallPart) and (origin := part.result_message) is not None:
                place = (tools[origin.id],) if origin.id in tools else None
                self.record.entries.append(Entry(origin, f"{path}.resultMessage", place))

    def _write(self, part: Any, *, is_superseded: bool) -> Written:
        if isinstance(part, ToolCallPart):
            return write_call(part, self._version, is_superseded=is_superseded)
        if isinstance(part, ForeignPart) and part.format == UI:
            return convert_ui_part(part.value, self._version, is_superseded=is_superseded)
        block = write_part(part, "assistant", self._version)
        return Written([] if block is None else [block], [], has_tool_message=False)

    def _open(self, step: Step) -> _Head:
        """Return the head of the message with the parts of a step, after writing empty messages before it."""
        heads = [] if self._number else [_Head(step.message.content.provider_metadata)]
        heads += [_Head(start.part.provider_metadata, start) for start in step.boundaries]
        head, *others = heads or [_Head(None)]
        for other in others:
            if head.is_empty:
                self._write_assistant([], head, None)
                head = other
            elif head.start is None:  # a step start at the beginning has no message of its own
                self._record_start(other, None)
            else:
                self._record_start(head, None)
                head = other
        return head

    def _record_start(self, head: _Head, place: Position | None) -> None:
        if head.start is not None and head.start.part != StepStartPart():
            self.record.entries.append(Entry(head.start.part, head.start.path, place))

    def _write_assistant(self, content: list[Any], head: _Head, text: str | None) -> None:
        """Write an assistant message."""
        kept = notes(head.metadata, NAME)
        if kept.get(CONTENT) == "string" and len(content) == 1 and isinstance(content[0], wire.Text):
            text = content[0].text
        message = wire.Assistant(content=_as_text(content, text), provider_options=options(head.metadata))
        self._record_start(head, (self._emit(message, kept), START))
        self._number += 1

    def _tool_messages(
        self, step: Step, written: Sequence[tuple[Any, Written]], is_written: bool
    ) -> list[_ToolMessage]:
        """Return the tool messages after a step: one, and one for each other message that had results."""
        own_id = results_id(step.message.id, self._number + is_written)
        groups: dict[str, _ToolMessage] = {}
        for part, found in written:
            for block in found.tool:
                is_response = isinstance(block, wire.Response) or (
                    is_object(block) and block.get("type") == "tool-approval-response"
                )
                origin = None if is_response else getattr(part, "result_message", None)
                id_ = own_id if origin is None else origin.id
                group = groups.setdefault(id_, _ToolMessage(id_, origin, []))
                group.content.append(block)
                if group.origin is None:
                    groups[id_] = group._replace(origin=origin)
        if not groups and any(found.has_tool_message for _, found in written):
            return [_ToolMessage(own_id, None, [])]
        return sorted(groups.values(), key=lambda group: group.id != own_id)

    def _record(self, step: Step, first: int, index: int, written: Sequence[tuple[Any, Written]]) -> None:
        """Record a step: its first message is at `first`, the one with its parts at `index`."""
        positions: list[Position | None] = []
        position = 0
        for part, found in written:
            if not _is_network(part):
                positions.append((index, position) if found.assistant else None)
            position += len(found.assistant)
        self.record.add(_without_origins(_without_network(step)), (first,), positions)

    def _drop_waiting(self) -> None:
        """Record that the waiting step is not written."""
        if self._waiting is not None:
            step = _without_network(self._waiting)
            self.record.add(step, None, [None] * len(step.parts))
            self._waiting = None


def _as_text(content: list[Any], text: str | None) -> Json:
    """Return the content as a string, if it is that text and nothing else."""
    return text if text is not None and content == [wire.Text(text=text)] else content


def _with_networks(messages: Sequence[Message]) -> list[Message]:
    """Return messages in which a network execution is a call, as in UI messages."""
    merged = join(messages)
    return [_with_network(one) if isinstance(one, AssistantMessage) else one for one in merged]


def _with_network(message: AssistantMessage) -> AssistantMessage:
    execution = message.content.network_execution
    if execution is None:
        return message
    call = replace(network_tool_call(message.id, execution), children=())
    return replace(message, content=replace(message.content, parts=(*message.parts, call)))


def _is_network(part: Any) -> bool:
    return isinstance(part, ToolCallPart) and NETWORK_KEY in (part.tool_metadata or {})


def _without_origins(step: Step) -> Step:
    """Return a step whose calls do not have the messages of their results."""
    parts = [
        LocatedPart(replace(part, result_message=None), path)
        if isinstance(part, ToolCallPart) and part.result_message is not None
        else LocatedPart(part, path)
        for part, path in step.parts
    ]
    return step._replace(parts=parts)


def _without_network(step: Step) -> Step:
    """Return a step without the call of a network execution."""
    message = step.message
    if message.content.network_execution is None:
        return step
    content = replace(message.content, parts=tuple(part for part in message.parts if not _is_network(part)))
    parts = [one for one in step.parts if not _is_network(one.part)]
    return step._replace(message=replace(message, content=content), parts=parts)
