"""Model messages of AI SDK 4 to 7 ↔ canonical messages.

What came from UI messages is written as the SDK's `convertToModelMessages` writes it. What came from model
messages is written as it was read.

Assistant and tool messages in a row are read as one assistant message: its steps are separated by step starts
and its results are in their calls. Model messages have no ids: a message is `message-N`, where N is the
position of its first model message in the payload, counted from one. Results without a call stay tool
messages.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError, FormatError
from partita.formats.ai_sdk.convert.values import joined, spread
from partita.formats.ai_sdk.ui.network import network_tool_call
from partita.formats.core.metadata import add_notes, notes
from partita.formats.core.report import Entry, Place, Record, Report
from partita.formats.core.residue import residue, restore
from partita.formats.core.sidecar import in_messages
from partita.formats.core.turns import Instructions, Placed, Prompt, Results, Step, join, split
from partita.formats.core.wire import Wire
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.losses import Loss, json_losses
from partita.stream.encoder import NETWORK_KEY
from partita.types.fold import results_id
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, kind_of
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
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    StepStartPart,
    TextPart,
)
from partita.types.tools import ToolResultPart

from . import wire
from .calls import (
    RULES,
    CallBlocks,
    Written,
    convert_ui_part,
    read_call,
    read_result,
    write_call,
    write_result,
)
from .marks import conversion
from .parts import UI, metadata, options, read_block, read_part, with_new_options, write_part
from .wire import MESSAGE, NAME

CONTENT: Final = "content"
"""The note of a message whose content is a text although its step is not alone, or is empty."""

START: Final = "start"
"""The place of a step start in an assistant message."""

UNLIKE: Final = "it is not written back as it was"

COUNTED: Final = (TextPart, ReasoningPart, FilePart, ReasoningFilePart, ImagePart, ToolCallPart, DataPart)
"""Parts for which version 5 writes a message, if only an empty one."""

_DISPLAY: Final = "it is for display only"
_COST: Final = "model messages do not contain costs"
REASONS: Final = {
    "id": "model messages have no id",
    "threadId": "model messages do not name their thread",
    "createdAt": "model messages have no time",
    "runId": "model messages do not name their run",
    "metadata": "model messages have no metadata",
    "usage": _COST,
    "tokenCount": _COST,
    "networkExecution": "the model sees it as a tool call",
    "citations": _DISPLAY,
    "descriptor": _DISPLAY,
    "rawInput": "only one input is sent: the raw one of a failed call that has no other",
    "inputEncoding": "only the stream needs it",
    "preliminary": "the model sees every output as final",
    "state": "a model message is always complete",
    "children": "the model does not see the messages of a sub-agent",
    "resultProviderMetadata": "results have the options of their call",
}


def report(version: int) -> Report:
    """The loss report of a version."""
    default = f"model messages of version {version} have no place for it"
    return Report(NAME, default, REASONS, frozenset({CONTENT}))


def load(payload: Json, version: int = 7) -> Loaded:
    """Read model messages, one or a list of them."""
    with conversion():
        messages = tuple(join(_Reader(payload, _checked_version(version)).messages))
    return Loaded(messages, lambda: _unlike(payload, messages, version), is_complete=True)


def dump(messages: Sequence[Message], version: int = 7) -> Dumped:
    """Write messages as the list that `generateText` takes."""
    with conversion():
        writer = _Writer(_checked_version(version))
        payload = writer.write(messages)
    return Dumped(payload, lambda: report(version).compare(writer.record, _Reader(payload, version).places))


def _checked_version(version: int) -> int:
    if version not in RULES:
        raise FormatError(f"no rules for version {version} of the AI SDK", hint="use 4, 5, 6 or 7")
    return version


def _unlike(payload: Json, messages: Sequence[Message], version: int) -> Iterator[Loss]:
    """What of a payload is not there when it is written back, and what is in another place."""
    again: list[Json] = dump(messages, version).payload
    raws = payload if is_array(payload) else [payload]
    paths = [f"$[{index}]" for index in range(len(raws))] if is_array(payload) else ["$"]
    if len(raws) == len(again):
        for raw, other, path in zip(raws, again, paths, strict=True):
            yield from json_losses(raw, other, path, UNLIKE)
        return
    others = set(map(dumps, again))
    changed = [at for at, raw in enumerate(raws) if dumps(raw) not in others]
    if not changed:
        yield Loss.of("$", payload, UNLIKE, "changed")
    for at in changed:
        yield Loss.of(paths[at], raws[at], UNLIKE, "changed")


# Reading


class _OpenCall:
    """A call, and the blocks about it that were found so far."""

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
    """Parts, and calls that are still open, with the positions of their blocks."""
    answers: list[int]
    """The indexes of the tool messages after it."""


class _Turn:
    """Assistant and tool messages in a row, which are read as one assistant message."""

    def __init__(self, index: int, version: int) -> None:
        self.id, self.version = _message_id(index), version
        self.steps: list[_ReadStep] = []
        self._calls: dict[str, list[_OpenCall]] = {}
        self._requests: dict[str, _OpenCall] = {}
        self._shells: dict[int, ToolMessage] = {}  # tool messages without their parts

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
        """Whether a block of an assistant message belongs to a call."""
        match block:
            case wire.Request() if block.approval_id not in self._requests:
                call = self._open_call(block.tool_call_id, "request")
                if call is not None:
                    call.add("request", block)
                    self._requests[block.approval_id] = call
            case wire.Result():
                call = self._open_call(block.tool_call_id, "result")
                if call is not None:
                    call.blocks = call.blocks._replace(result=block, is_own=True)
            case _:
                return False
        return call is not None

    def _open_call(self, id_: str, name: str) -> _OpenCall | None:
        """The nearest call with that id without such a block: the first of the last step with one."""
        waiting = [call for call in self._calls.get(id_, ()) if getattr(call.blocks, name) is None]
        return min(waiting, key=lambda call: (-call.step, call.position), default=None)

    def add_answers(self, message: wire.Tool, index: int) -> ToolMessage | None:
        """Read a tool message, and return what of it belongs to no call of the turn."""
        step = self.steps[-1]
        own_id = _message_id(index) if step.answers else results_id(self.id, len(self.steps))
        shell = replace(_tool_message(message, own_id, ()), type="tool")
        rest: list[Any] = []
        is_used = False
        for raw in message.content:
            block = read_block(raw, self.version)
            if not self._is_answer(block, shell):
                rest.append(_read_result_part(raw, block, self.version))
            else:
                is_used = True
        if not is_used and not self._is_empty_answer(message):
            return _tool_message(message, _message_id(index), rest)
        step.answers.append(index)
        self._shells[index] = shell
        return _tool_message(message, own_id, rest) if rest else None

    def _is_answer(self, block: Any, shell: ToolMessage) -> bool:
        """Whether a block of a tool message belongs to a call. A result keeps the message it came in."""
        if isinstance(block, wire.Result | wire.ResultV4):
            id_ = block.toolCallId if isinstance(block, wire.ResultV4) else block.tool_call_id
            call = self._open_call(id_, "result")
            if call is not None:
                call.add("result", block)
                own = ToolMessage(id=results_id(self.id, call.step), content=(), type="tool")
                call.result_message = None if shell == own else shell
            return call is not None
        call = self._requests.get(block.approval_id) if isinstance(block, wire.Response) else None
        if call is None or call.blocks.response is not None:
            return False
        call.add("response", block)
        return True

    def _is_empty_answer(self, message: wire.Tool) -> bool:
        """Whether this is the empty message that version 5 writes after calls without results."""
        step = self.steps[-1]
        is_open = any(isinstance(item, _OpenCall) and not _is_executed(item) for _, item in step.items)
        return self.version == 5 and is_open and not step.answers and message == wire.Tool(content=[])

    def finish(self, places: dict[Place, Any]) -> AssistantMessage:
        """The message of the turn."""
        parts: list[Any] = []
        for number, step in enumerate(self.steps, 1):
            around = self._around(step)
            if number > 1:
                start = StepStartPart(provider_metadata=around)
                places[step.index, START] = start
                parts.append(start)
            for position, item in step.items:
                part = self._read_call(item, step) if isinstance(item, _OpenCall) else item
                places[step.index, position] = part
                parts.append(part)
            content = AssistantContent(parts=(), provider_metadata=around)
            places[(step.index,)] = AssistantMessage(id="", content=content)
        places |= {(index,): shell for index, shell in self._shells.items()}
        first = self.steps[0]
        is_alone = len(self.steps) == 1 and isinstance(first.message.content, str)
        content = AssistantContent(
            parts=tuple(parts),
            content=first.message.content if is_alone else None,
            provider_metadata=self._around(first),
        )
        message = AssistantMessage(id=self.id, content=content)
        places[(first.index,)] = message
        return message

    def _around(self, step: _ReadStep) -> JsonObject | None:
        """The provider metadata of a step: the options of its message, and notes about it."""
        around = _read_around(step.message)
        if isinstance(step.message.content, str):
            return add_notes(around, NAME, {CONTENT: "string"} if len(self.steps) > 1 else {})
        return add_notes(around, NAME, {} if step.items else {CONTENT: "empty"})

    def _read_call(self, call: _OpenCall, step: _ReadStep) -> ToolCallPart:
        is_answered = self.version == 5 and bool(step.answers) and not _is_executed(call)
        part = read_call(call.blocks._replace(is_answered=is_answered), self.version)
        return part if call.result_message is None else replace(part, result_message=call.result_message)


def _is_executed(call: _OpenCall) -> bool:
    return getattr(call.blocks.call, "provider_executed", UNSET) is True


class _Reader:
    """Reads model messages. The place of a part is the number of its message, and of its block there."""

    def __init__(self, payload: Json, version: int) -> None:
        self.messages: list[Message] = []
        self.places: dict[Place, Any] = {}
        self._version = version
        self._turn: _Turn | None = None
        for index, raw in enumerate(payload if is_array(payload) else [payload]):
            path = f"$[{index}]" if is_array(payload) else "$"
            self._add(_read_message(raw, path, version), index)
        self._end_turn()

    def _add(self, message: wire.Message, index: int) -> None:
        match message:
            case wire.Assistant():
                self._turn = self._turn or _Turn(index, self._version)
                self._turn.add_step(message, index)
            case wire.Tool() if self._turn is not None:
                rest = self._turn.add_answers(message, index)
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
        self.places[(index,)] = message
        for position, part in enumerate(message.content.parts):
            self.places[index, position] = part

    def _end_turn(self) -> None:
        if self._turn is not None:
            self.messages.append(self._turn.finish(self.places))
            self._turn = None


def _message_id(index: int) -> str:
    return f"message-{index + 1}"


def _read_message(raw: Json, path: str, version: int) -> Any:
    """A message whose content is of a kind that its role may have."""
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


def _read_around(message: wire.Message) -> JsonObject | None:
    """The provider metadata of a message: its options, and a note of its residue."""
    given = metadata(message.provider_options)
    written = replace(message, extra=None, provider_options=options(given))
    return add_notes(given, NAME, residue(written, message))


def _read_system(message: wire.System, index: int) -> SystemMessage:
    """A system message. Its options are those of its text."""
    around = _read_around(message)
    given = options(around)
    text = TextPart(message.content, provider_metadata=None if given is UNSET else given)
    kept = notes(around, NAME)
    content = SystemContent(parts=(text,), provider_metadata=add_notes(None, NAME, kept))
    return SystemMessage(id=_message_id(index), content=content)


def _read_user(message: wire.User, index: int, version: int) -> UserMessage:
    text = message.content if isinstance(message.content, str) else None
    if text is not None:
        parts: list[Any] = [TextPart(text)]
    else:
        parts = [read_part(raw, read_block(raw, version), "user", version) for raw in message.content]
    content = UserContent(parts=tuple(parts), content=text, provider_metadata=_read_around(message))
    return UserMessage(id=_message_id(index), content=content)


def _tool_message(message: wire.Tool, id_: str, parts: Sequence[Any]) -> ToolMessage:
    content = ToolContent(parts=tuple(parts), provider_metadata=_read_around(message))
    return ToolMessage(id=id_, content=content)


def _read_result_part(raw: Json, block: Any, version: int) -> Any:
    """A block of a tool message that belongs to no call."""
    if not isinstance(block, wire.Result | wire.ResultV4):
        return ForeignPart(NAME, raw)
    part = read_result(block, version)
    kept = residue(_write_result_part(part, version), block)
    return replace(part, provider_metadata=add_notes(part.provider_metadata, NAME, kept))


# Writing


def _write_result_part(part: ToolResultPart, version: int) -> Wire:
    return write_result(part.id, part.name, part.output, options(part.provider_metadata), version)


class _Answers(NamedTuple):
    """A tool message after a step."""

    id: str
    origin: ToolMessage | None
    content: list[Any]


class _Head(NamedTuple):
    """What an assistant message has besides its content: the metadata of a message or of a step start."""

    around: JsonObject | None
    start: Placed | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the message was read without content."""
        return notes(self.around, NAME).get(CONTENT) == "empty"


class _Writer:
    """Writes model messages, and records what was written where."""

    def __init__(self, version: int) -> None:
        self.record = Record()
        self._version, self._rules = version, RULES[version]
        self._payload: list[tuple[wire.Message, JsonObject]] = []
        self._waiting: Step | None = None  # a step of which nothing was written yet
        self._number = 0  # of the last step of its message that was written
        self._last_tool = ""  # the id of the tool message at the end

    def write(self, messages: Sequence[Message]) -> Json:
        """The list of messages."""
        turns = list(split(_with_networks(messages), lambda part: True, is_merged=True))
        prompts = [at for at, turn in enumerate(turns) if isinstance(turn, Prompt) and not turn.steering]
        last_prompt = max(prompts, default=-1)
        for at, turn in enumerate(turns):
            if not isinstance(turn, Step):
                self._give_up()
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
        self._give_up()
        return [restore(message, kept) for message, kept in self._payload]

    def _emit(self, message: wire.Message, kept: JsonObject) -> int:
        self._last_tool = ""
        self._payload.append((message, {name: kept[name] for name in kept if name != CONTENT}))
        return len(self._payload) - 1

    # System, user and tool messages

    def _system(self, turn: Instructions) -> None:
        """A system message: its texts as one, with the options of all of them."""
        around = turn.message.content.provider_metadata
        given = options(around)
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
            wire.System(content=text, provider_options=merged if has_options else UNSET), notes(around, NAME)
        )
        places = [(index, 0) if isinstance(part, TextPart) else None for part, _ in turn.parts]
        self.record.add(turn, (index,), places)

    def _user(self, turn: Prompt) -> None:
        content: list[Any] = []
        index = len(self._payload)
        places: list[Place | None] = []
        for part, _ in turn.parts:
            blocks = self._write_user(part)
            places.append((index, len(content)) if blocks else None)
            content += blocks
        if turn.steering is not None and not content and not self._rules.steering:
            self.record.add(turn, None, places)
            return
        around = turn.message.content.provider_metadata
        text = _as_text(content, turn.message.content.content)
        self._emit(wire.User(content=text, provider_options=options(around)), notes(around, NAME))
        self.record.add(turn, (index,), places)

    def _write_user(self, part: Any) -> list[Any]:
        if isinstance(part, ForeignPart) and part.format == UI:
            return convert_ui_part(part.value, self._version, is_superseded=False, role="user").said
        block = write_part(part, "user", self._version)
        return [] if block is None else [block]

    def _tool(self, turn: Results) -> None:
        """Results without a call, in one message with those that have one if they came in one."""
        if self._last_tool == turn.message.id:
            index = len(self._payload) - 1
        else:
            around = turn.message.content.provider_metadata
            index = self._emit(wire.Tool(content=[], provider_options=options(around)), notes(around, NAME))
        content: list[Any] = self._payload[index][0].content
        start = len(content)
        places: list[Place | None] = []
        for part, _ in turn.parts:
            block = self._result_part(part)
            places.append(None if block is None else (index, len(content) - start))
            content += [] if block is None else [block]
        self.record.add(turn, (index,), places)

    def _result_part(self, part: Any) -> Any:
        if isinstance(part, ToolResultPart):
            written = _write_result_part(part, self._version)
            return restore(written, notes(part.provider_metadata, NAME))
        return part.value if isinstance(part, ForeignPart) and part.format == NAME else None

    # Assistant messages

    def _step(self, step: Step, *, is_superseded: bool, is_last: bool) -> None:
        if self._waiting is not None and self._waiting.path == step.path:
            parts = [*self._waiting.parts, *step.parts]
            boundaries = [*self._waiting.boundaries, *step.boundaries]
            step = step._replace(parts=parts, boundaries=boundaries, number=self._waiting.number)
        else:
            self._give_up()
        self._waiting = None
        if step.number == 1:
            self._number = 0
        is_first, first = self._number == 0, len(self._payload)
        head = self._open(step)
        written = [(part, self._write(part, is_superseded=is_superseded)) for part, _ in step.parts]
        content = [block for _, found in written for block in found.said]
        is_written = bool(content) or head.is_empty
        if self._rules.empty_messages:
            is_written = is_written or any(isinstance(part, COUNTED) for part, _ in step.parts)
        answers = self._answers(step, written, is_written)
        index = len(self._payload)
        if not is_written and not answers and index == first:
            self._waiting = step
            return
        if is_written:
            text = step.message.content.content if is_last and not self._number else None
            self._say(content, head, text)
        tools: dict[str, int] = {}
        for group in answers:
            around = None if group.origin is None else group.origin.content.provider_metadata
            tool = wire.Tool(content=group.content, provider_options=options(around))
            tools[group.id] = self._emit(tool, notes(around, NAME))
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
        return Written([] if block is None else [block], [], is_answered=False)

    def _open(self, step: Step) -> _Head:
        """The head of the message with the parts of a step. Empty messages before it are written."""
        heads = [] if self._number else [_Head(step.message.content.provider_metadata)]
        heads += [_Head(start.part.provider_metadata, start) for start in step.boundaries]
        head, *others = heads or [_Head(None)]
        for other in others:
            if head.is_empty:
                self._say([], head, None)
                head = other
            elif head.start is None:  # a step start at the beginning separates nothing
                self._record_start(other, None)
            else:
                self._record_start(head, None)
                head = other
        return head

    def _record_start(self, head: _Head, place: Place | None) -> None:
        if head.start is not None and head.start.part != StepStartPart():
            self.record.entries.append(Entry(head.start.part, head.start.path, place))

    def _say(self, content: list[Any], head: _Head, text: str | None) -> None:
        """Write an assistant message."""
        kept = notes(head.around, NAME)
        if kept.get(CONTENT) == "string" and len(content) == 1 and isinstance(content[0], wire.Text):
            text = content[0].text
        message = wire.Assistant(content=_as_text(content, text), provider_options=options(head.around))
        self._record_start(head, (self._emit(message, kept), START))
        self._number += 1

    def _answers(
        self, step: Step, written: Sequence[tuple[Any, Written]], is_written: bool
    ) -> list[_Answers]:
        """The tool messages after a step: one, and one more for each other message that results came in."""
        own_id = results_id(step.message.id, self._number + is_written)
        groups: dict[str, _Answers] = {}
        for part, found in written:
            for block in found.answers:
                is_response = isinstance(block, wire.Response) or (
                    is_object(block) and block.get("type") == "tool-approval-response"
                )
                origin = None if is_response else getattr(part, "result_message", None)
                id_ = own_id if origin is None else origin.id
                group = groups.setdefault(id_, _Answers(id_, origin, []))
                group.content.append(block)
                if group.origin is None:
                    groups[id_] = group._replace(origin=origin)
        if not groups and any(found.is_answered for _, found in written):
            return [_Answers(own_id, None, [])]
        return sorted(groups.values(), key=lambda group: group.id != own_id)

    def _record(self, step: Step, first: int, index: int, written: Sequence[tuple[Any, Written]]) -> None:
        """Record a step: its first message is at `first`, the one with its parts at `index`."""
        places: list[Place | None] = []
        position = 0
        for part, found in written:
            if not _is_network(part):
                places.append((index, position) if found.said else None)
            position += len(found.said)
        self.record.add(_without_origins(_without_network(step)), (first,), places)

    def _give_up(self) -> None:
        """Record a step of which nothing is written."""
        if self._waiting is not None:
            step = _without_network(self._waiting)
            self.record.add(step, None, [None] * len(step.parts))
            self._waiting = None


def _as_text(content: list[Any], text: str | None) -> Json:
    """The content as a text, if it is that text and nothing else."""
    return text if text is not None and content == [wire.Text(text=text)] else content


def _with_networks(messages: Sequence[Message]) -> list[Message]:
    """Messages in which the execution of a network is a call, as in UI messages."""
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
    """A step whose calls do not have the messages that their results came in."""
    parts = [
        Placed(replace(part, result_message=None), path)
        if isinstance(part, ToolCallPart) and part.result_message is not None
        else Placed(part, path)
        for part, path in step.parts
    ]
    return step._replace(parts=parts)


def _without_network(step: Step) -> Step:
    """A step as it was given."""
    message = step.message
    if message.content.network_execution is None:
        return step
    content = replace(message.content, parts=tuple(part for part in message.parts if not _is_network(part)))
    parts = [one for one in step.parts if not _is_network(one.part)]
    return step._replace(message=replace(message, content=content), parts=parts)


FORMATS: Final = tuple(
    Format(
        f"ai-sdk-model-v{version}",
        f"AI SDK {version} {'core' if version == 4 else 'model'} messages",
        partial(load, version=version),
        partial(dump, version=version),
        slot=in_messages("providerOptions"),
        is_complete=True,
    )
    for version in RULES
)
