"""Items of a request ↔ canonical messages.

What the model produced up to the next message of the user is one message; a step ends where outputs of calls
are. Items are not messages: a message is `message-N`, where N is the number of its first item. Outputs whose
call is not there, because the provider has stored it, are tool messages.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.core.members import text_in, without
from partita.formats.core.metadata import add_notes, message_notes, notes
from partita.formats.core.report import Entry, Record
from partita.formats.core.rules import Rules, arrange
from partita.formats.core.turns import (
    Instructions,
    LocatedPart,
    Position,
    Prompt,
    ReadPart,
    Results,
    Step,
    Turn,
    join,
    split,
)
from partita.formats.core.wire import read_wire, residue, restore, restore_noted, to_json
from partita.formats.losses import JOINED, ORDERED, STEPS, UNREAD, Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import (
    ForeignPart,
    SourceDocumentPart,
    SourceUrlPart,
    StepStartPart,
    TextPart,
    ToolResultPart,
)
from partita.types.tool_results import state_after

from . import wire
from .calls import OUTPUTS_OF, called_id, kind_of_item, read_result, write_result
from .items import (
    APPROVAL,
    BEGINS,
    ITEM,
    Context,
    Group,
    add_approval,
    add_output,
    has_output_of,
    is_written,
    noted,
    output_kind,
    read_item,
    write_parts,
)
from .parts import INPUT, own
from .wire import NAME, NAMESPACE

HINT: Final = "give {role, content} or {type, …}"

PLACE: Final = "place"
"""The note of a message that was not an item: in `instructions`, or the text in `input`."""

INSTRUCTIONS: Final = "instructions"
ONLY_INPUT: Final = "input"
OUTPUT: Final = "output"
"""The note of older versions about the output of a call."""

# A call needs its output: "No tool output found for function call call_…" (seen in the API's error messages).
# An output needs no call in the input if the provider has stored it (`previous_response_id`).
RULES: Final = Rules(strays="keep")

UNREADABLE: Final = "reasoning that is not stored needs its encrypted content"
LEFT_ALONE: Final = "the API refuses reasoning without the item that follows it"

# "Item 'msg_…' of type 'message' was provided without its required 'reasoning' item" (seen in the API's
# error messages): without their ids these items are accepted.
BARE: Final = ("message", "function_call", "custom_tool_call")

_COUNTED: Final = re.compile(r"source-\d+")
"""Ids of sources that are made when they are read."""


def message_id(index: int) -> str:
    """The id of a message whose first item has that index."""
    return f"message-{index + 1}"


# Reading


class Reader:
    """Reads items.

    The position of a message is the index of its first item, that of a part the index of its item and its
    number in it. `extras` are notes of another format about the items, with its namespace.
    """

    def __init__(
        self,
        raws: Sequence[Json],
        path: str,
        client_tools: frozenset[str] | None = None,
        extras: tuple[str, Mapping[int, JsonObject]] = ("", {}),
        *,
        is_response: bool = False,
    ) -> None:
        """`is_response`: all items are the model's, and the output of one response."""
        self.messages: list[Message] = []
        self.positions: dict[Position, Any] = {}
        self.losses: list[Loss] = []
        self.parts: list[Any] = []
        """The parts of the turn that is being read."""
        self._client_tools, self._extras, self._is_response = client_tools, extras, is_response
        self._strays: dict[str, str] = {}  # ids of messages with outputs alone, and their paths
        self._start_turn(0)
        for index, raw in enumerate(raws):
            self._add(raw, index, f"{path}[{index}]")
        self._end()
        if self._strays:
            self._join_strays()

    def _start_turn(self, index: int) -> None:
        self.parts = []
        self._first = index
        self._context = Context(self._client_tools)
        self._waiting: dict[str, list[tuple[int, Position]]] = {}  # open calls of the client
        self._approvals: dict[str, tuple[int, Position]] = {}
        self._step = 0  # where the last step begins
        self._answered = -1  # the last call of the step that has its output
        self._source = ""  # the id of the item before, if it was not a call
        self._before: Any = None  # the item before, if it was a call
        self._last: tuple[int, Position] = (0, ())  # where its first part is

    def _end(self) -> None:
        if self.parts:
            message = AssistantMessage(id=message_id(self._first), content=self.parts)
            self.messages.append(message)
            self.positions[self._first,] = message

    def _add(self, raw: Json, index: int, path: str) -> None:
        if self._is_response and not (is_object(raw) and (text_in(raw, "type") or text_in(raw, "role"))):
            if is_object(raw):
                self._add_item(raw, index)
            else:
                self.losses.append(Loss.of(path, raw, UNREAD))
            return
        item = read_raw(raw, path)
        is_message = isinstance(item, wire.Message | wire.ShortMessage) and item.role != "assistant"
        if is_message and not self._is_response:
            self._end()
            self._message(item, index)
            self._start_turn(index + 1)
            return
        if not self.parts:
            self._first = index
        call_id = called_id(item) if isinstance(item, wire.Output) else ""
        if call_id and self._waiting.get(call_id) and output_kind(item):
            self._add_output(item, index, path)
        elif isinstance(item, wire.McpApprovalResponse) and item.approval_request_id in self._approvals:
            self._approve(item, index, path)
        elif isinstance(item, wire.Output) and self._before is not None and self._has_output(item):
            at, position = self._last
            self.parts[at] = self.positions[position] = self._extra(
                add_output(self.parts[at], item), index, OUTPUT
            )
            self._before = None
        elif (
            output_kind(item) and not self._is_response and not (self.parts and isinstance(item, _PROVIDERS))
        ):
            self._end()
            self._stray(item, index, path)
            self._start_turn(index + 1)
        else:
            self._add_item(item, index)

    def _has_output(self, item: Any) -> bool:
        return has_output_of(item, self.parts[self._last[0]], self._before)

    def _message(self, item: wire.Message | wire.ShortMessage, index: int) -> None:
        content = item.content
        text = content if isinstance(content, str) else None
        blocks = (wire.InputText(text=content),) if isinstance(content, str) else content
        parts = tuple(INPUT.read(block, None) for block in blocks)
        message: UserMessage | SystemMessage
        if item.role == "user":
            message = UserMessage(id=message_id(index), content=UserContent(parts=parts, content=text))
        else:  # instructions are text
            parts = tuple(
                part if isinstance(part, TextPart | ForeignPart) else ForeignPart(NAME, to_json(block))
                for part, block in zip(parts, blocks, strict=True)
            )
            message = SystemMessage(id=message_id(index), content=SystemContent(parts=parts, content=text))
        kept = residue(_short(message), replace(item, content=()))
        extra = self._extras[1].get(index)
        if kept or extra:
            metadata: JsonObject = {NAMESPACE: {ITEM: kept}} if kept else {}
            metadata |= {self._extras[0]: {ITEM: extra}} if extra else {}
            content_: Any = replace(message.content, provider_metadata=metadata)
            message = replace(message, content=content_)
        self._position(message, (index,))

    def _position(self, message: Message, position: tuple[Any]) -> None:
        self.messages.append(message)
        self.positions[position] = message
        self.positions |= {(*position, number): part for number, part in enumerate(message.parts)}

    def _add_item(self, item: Any, index: int) -> None:
        """An item of the model."""
        if self._answered >= 0:
            start = StepStartPart()
            self.parts.append(start)
            self.positions[index, "start"] = start
            self._answered, self._step, self._source = -1, len(self.parts), ""
        found = read_item(item, self._context)
        head = found[0].part
        source = "" if isinstance(head, ToolCallPart) else text_in(own(head), "itemId")
        if source and source == self._source:
            head = noted(head, {BEGINS: True})
        self._source = source
        found[0] = ReadPart(self._extra(head, index, ITEM), found[0].position)
        at, position = len(self.parts), (index, found[0].position)
        self._before, self._last = item if isinstance(item, wire.Call) else None, (at, position)
        for part, where in found:
            self.parts.append(part)
            is_source = isinstance(part, SourceUrlPart | SourceDocumentPart)
            self.positions[_position_of(index, where)] = replace(part, source_id="") if is_source else part
        head = self.parts[at]
        if isinstance(head, ToolCallPart) and not head.provider_executed:
            self._waiting.setdefault(head.id, []).append((at, position))
        elif isinstance(head, ToolCallPart) and head.approval is not None:
            self._approvals[head.approval.id] = at, position

    def _add_output(self, item: Any, index: int, path: str) -> None:
        """The output of a call of the client."""
        at, position = self._waiting[called_id(item)].pop(0)
        if at < max(self._step, self._answered):
            self.losses.append(Loss(path, f"the place of {kind_of_item(item)}", ORDERED, "changed"))
        self._answered, self._before = max(self._answered, at), None
        call = self.parts[at]
        kind = text_in(notes(call.call_provider_metadata, NAMESPACE), "type") or "function_call"
        result = self._result(item, call.name, kind, index)
        bad = call.input if call.output is not None else UNSET  # an input that is not JSON
        if bad is not UNSET:
            call = replace(call, input=UNSET, raw_input=bad, output=None, state="input-available")
            self.positions[position] = call
        self.parts[at] = replace(
            call,
            state=state_after(result.output),
            output=result.output,
            result_provider_metadata=result.provider_metadata,
        )

    def _result(self, item: Any, name: str, kind: str | None, index: int) -> ToolResultPart:
        """The result in an item, for a call of a kind; without a call, the type of the item is noted."""
        result = read_result(item, name)
        written = write_result(result, kind or OUTPUTS_OF[kind_of_item(item)])
        kept = to_json(item) if written is None else residue(written, item)
        if kept or kind is None:
            about: JsonObject = {"type": kind_of_item(item), **({ITEM: kept} if kept else {})}
            result = replace(result, provider_metadata={NAMESPACE: about})
        extra = self._extras[1].get(index)
        if extra:
            metadata = add_notes(result.provider_metadata, self._extras[0], {OUTPUT: extra})
            result = replace(result, provider_metadata=metadata)
        self.positions[index, "result"] = result
        return result

    def _stray(self, item: Any, index: int, path: str) -> None:
        name = item.extra.get("name") if item.extra else None
        result = self._result(item, name if isinstance(name, str) else "", None, index)
        message = ToolMessage(id=message_id(index), content=(result,))
        self._strays[message.id] = path
        self.messages.append(message)
        self.positions[index,] = message

    def _approve(self, item: wire.McpApprovalResponse, index: int, path: str) -> None:
        at, position = self._approvals.pop(item.approval_request_id)
        if at != len(self.parts) - 1:
            self.losses.append(Loss(path, f"the place of {kind_of_item(item)}", ORDERED, "changed"))
        call = self._extra(add_approval(self.parts[at], item), index, APPROVAL)
        self.parts[at] = self.positions[position] = call
        self._answered, self._before = max(self._answered, at), None

    def _extra(self, part: Any, index: int, spot: str) -> Any:
        extra = self._extras[1].get(index)
        if not extra:
            return part
        field = "provider_metadata"
        if isinstance(part, ToolCallPart):
            has_output = spot == OUTPUT or (spot == ITEM and part.result_provider_metadata is not None)
            field = "result_provider_metadata" if has_output else "call_provider_metadata"
        return replace(part, **{field: add_notes(getattr(part, field), self._extras[0], {spot: extra})})

    def _join_strays(self) -> None:
        """Put outputs into their calls, if these are in another turn."""
        joined = join(self.messages)
        left = {message.id for message in joined}
        self.losses += [
            Loss(path, "the place of an output", ORDERED, "changed")
            for id_, path in self._strays.items()
            if id_ not in left
        ]
        self.messages = joined


_PROVIDERS: Final = (wire.ShellCallOutput, wire.ToolSearchOutput)
"""Outputs that the provider's calls may have too."""


def _position_of(index: int, where: Position) -> Position:
    """The position of a part. What is not in an item has the same position wherever it is read."""
    return where if isinstance(where, tuple) else (index, where)


def read_raw(raw: Json, path: str) -> Any:
    """An item as a wire value; one without a type as JSON."""
    if not is_object(raw):
        raise ConversionError(f"an item is an object, found {kind_of(raw)}", where=path, hint=HINT)
    if not text_in(raw, "type") and not text_in(raw, "role") and not text_in(raw, "id"):
        raise ConversionError("an item without a type", where=path, hint=HINT)
    is_message = "role" in raw and raw.get("type", "message") == "message"
    if is_message and not isinstance(raw.get("content"), str) and not is_array(raw.get("content")):
        found = kind_of(raw["content"]) if "content" in raw else "missing"
        hint = "make it a string or a list"
        raise ConversionError(f"content of a message is {found}", where=f"{path}.content", hint=hint)
    if "type" not in raw and "role" in raw:
        return read_wire(wire.SHORT, raw, path, HINT)
    if not isinstance(raw.get("type"), str):
        return raw  # a reference, or an item of an unknown kind
    return read_wire(wire.ITEM, raw, path, HINT)


def _short(message: UserMessage | SystemMessage) -> wire.ShortMessage:
    return wire.ShortMessage(role="user" if isinstance(message, UserMessage) else "system", content=())


# Writing


class Writer:
    """Writes items, and records what went where.

    `is_sent`: they are for a model, so the conversation is repaired. `is_stored`: the provider has stored its
    reasoning.
    """

    def __init__(self, *, is_sent: bool = True, is_stored: bool = True) -> None:
        self.record = Record()
        self.items: list[Any] = []
        self.owners: list[tuple[JsonObject | None, str]] = []
        """The metadata of the part that each item is from, and the name of the notes about the item in it."""
        self.instructions: str | None = None
        self._is_sent, self._is_stored = is_sent, is_stored
        self._is_only_input = False
        self._in_turn = False  # the last item is the assistant's, or an output of its calls
        self._divides = False  # the last item ends a step
        self._kinds: dict[str, str] = {}  # types of the items of the last calls
        self._starts: dict[str, int] = {}  # the first items of messages, by their paths
        self._joined: set[str] = set()

    def write(self, messages: Sequence[Message]) -> JsonObject:
        """`instructions` and `input`."""
        turns: Sequence[Turn] = list(split(messages, is_written))
        for turn in arrange(turns, RULES, self.record.losses) if self._is_sent else turns:
            match turn:
                case Step():
                    self.write_step(turn)
                case Results():
                    self._results(turn)
                case Instructions() | Prompt():
                    self._message(turn)
        items: Json = to_json(self.items)
        if self._is_only_input and len(items) == 1 and isinstance(items[0]["content"], str):
            items = items[0]["content"]
        written: JsonObject = {ONLY_INPUT: items}
        return written if self.instructions is None else {INSTRUCTIONS: self.instructions, **written}

    def _append(self, item: Any, metadata: JsonObject | None, spot: str) -> int:
        self.items.append(item)
        self.owners.append((metadata, spot))
        return len(self.items) - 1

    def _message(self, turn: Instructions | Prompt) -> None:
        message = turn.message
        blocks: list[Any] = []
        positions: list[Any] = []
        for part, _ in turn.parts:
            is_allowed = isinstance(turn, Prompt) or isinstance(part, TextPart | ForeignPart)
            block = INPUT.write(part) if is_allowed else None
            positions.append(None if block is None else len(blocks))
            blocks += [] if block is None else [block]
        if not blocks and (turn.parts or self._is_sent):  # the API refuses a message without content
            self.record.add(turn, None, positions)
            return
        position = message_notes(message, NAMESPACE).get(PLACE)
        only = blocks[0].text if len(blocks) == 1 and type(blocks[0]) is wire.InputText else None
        if position == INSTRUCTIONS and only is not None and not self.items and self.instructions is None:
            self.instructions = only
            self.record.add(turn, (INSTRUCTIONS,), [(INSTRUCTIONS, 0)])
            return
        is_text = message.content.content is not None and message.content.content == only
        content: Any = only if is_text or (position == ONLY_INPUT and only is not None) else tuple(blocks)
        item = replace(restore_noted(_short(message), message, NAMESPACE, ITEM), content=content)
        index = self._append(item, message.content.provider_metadata, ITEM)
        self._is_only_input = position == ONLY_INPUT and index == 0
        self._in_turn = self._divides = False
        self.record.add(turn, (index,), [None if one is None else (index, one) for one in positions])

    def write_step(self, step: Step) -> None:
        """Write the items of a step."""
        groups, positions = write_parts(_with_notes(step), is_sent=self._is_sent)
        if step.text is not None:
            group = Group("message", "", {})
            group.content.append(wire.OutputText(text=step.text, annotations=[]))
            groups.append(group)
        refused = self._refused(groups) if self._is_sent else {}
        start, divides = len(self.items), self._divides
        is_bare = False  # the reasoning before was left out
        self._kinds = {}
        for number, group in enumerate(groups):
            if number in refused:
                is_bare = True
                continue
            owner = step.parts[group.owners[0][0]].part if group.owners else None
            for at, item in enumerate(group.written()):
                index = len(self.items)
                if at == 0:
                    for part, position in group.owners:
                        positions[part] = index, position
                bare = is_bare and at == 0 and group.kind in BARE
                sent = without(to_json(item), "id") if bare else item
                self._append(sent, *_owner(owner, at, len(group.items)))
            if isinstance(owner, ToolCallPart):
                self._kinds[owner.id] = group.kind
                self._divides = owner.approval is not None and owner.approval.approved is not None
        self._record(step, groups, refused, positions)
        self._boundaries(step, start, divides=divides)
        if len(self.items) == start:
            return
        if step.path not in self._starts:
            self._starts[step.path] = start
            if self._in_turn:
                self._joined.add(step.path)
                self.record.losses.append(Loss(step.path, "where the message begins", JOINED, "changed"))
        self._in_turn = True
        last = groups[-1].items
        self._divides = len(last) > 1 and kind_of_item(last[-1]) == "mcp_approval_response"

    def _record(
        self,
        step: Step,
        groups: Sequence[Group],
        refused: Mapping[int, str],
        positions: list[Position | None],
    ) -> None:
        """Record the parts. Reasoning that was left out is reported with its reason."""
        dropped = {part: why for number, why in refused.items() for part, _ in groups[number].owners}
        kept: list[LocatedPart] = []
        for number, (part, path) in enumerate(step.parts):
            if number in dropped:
                self.record.losses.append(Loss.of(path, part, dropped[number]))
                continue
            is_source = isinstance(part, SourceUrlPart | SourceDocumentPart)
            is_counted = is_source and _COUNTED.fullmatch(part.source_id)
            kept.append(
                LocatedPart(replace(part, source_id=""), path) if is_counted else LocatedPart(part, path)
            )
        wheres = [position for number, position in enumerate(positions) if number not in dropped]
        self.record.add(step._replace(parts=kept), ("message", step.path), wheres)

    def _boundaries(self, step: Step, start: int, *, divides: bool) -> None:
        for number, (part, path) in enumerate(step.boundaries, 1):
            if step.number > 1 and divides and number == len(step.boundaries) and len(self.items) > start:
                self.record.entries.append(Entry(part, path, (start, "start")))
            elif step.number > 1 or part != StepStartPart():
                severity: Any = "minor" if part == StepStartPart() else "lost"
                self.record.losses.append(Loss.of(path, part, STEPS, severity))

    def _refused(self, groups: Sequence[Group]) -> dict[int, str]:
        """Reasoning that the API would refuse, and why."""
        others = [number for number, group in enumerate(groups) if not group.is_reasoning]
        last = max(others, default=-1)
        found: dict[int, str] = {}
        for number, group in enumerate(groups):
            if not group.is_reasoning:
                continue
            item: JsonObject = to_json(group.written()[0])
            is_reference = not item.get("encrypted_content") and not item.get("content")
            if number > last:
                found[number] = LEFT_ALONE
            elif is_reference and not self._is_stored:
                found[number] = UNREADABLE
        return found

    def _results(self, turn: Results) -> None:
        positions: list[Position | None] = []
        for part, _ in turn.parts:
            item = self._output(part, has_call=turn.step is not None)
            if item is None:
                positions.append(None)
                continue
            positions.append((self._append(item, part.provider_metadata, OUTPUT), "result"))
            self._divides = self._in_turn = turn.step is not None
        is_placed = turn.step is None and any(position is not None for position in positions)
        first = next((position for position in positions if isinstance(position, tuple)), ())
        self.record.add(turn, first[:1] if is_placed else (), positions)

    def _output(self, part: Any, *, has_call: bool) -> Any:
        """The item of a result. One without a call is written if its notes have the type of the call."""
        if not isinstance(part, ToolResultPart):
            return None
        about = notes(part.provider_metadata, NAMESPACE)
        older = notes(about, OUTPUT)
        type_ = text_in(about, "type") or text_in(older, "type")
        kind = self._kinds.get(part.id) or (None if has_call else OUTPUTS_OF.get(type_))
        written = None if kind is None else write_result(part, kind)
        if written is None:
            return notes(about, ITEM) if kind is not None and "output" in notes(about, ITEM) else None
        kept = notes(about, ITEM) if type_.endswith("_output") else notes(older, ITEM)
        return restore(written, kept)

    def read_back(self, reader: Reader) -> dict[Position, Any]:
        """What a reader has read, by the positions in the record."""
        positions = dict(reader.positions)
        for path, index in self._starts.items():
            if path in self._joined:
                positions["message", path] = AssistantMessage(id=message_id(index), content=())
            else:
                positions["message", path] = positions.get((index,))
        if self.instructions is not None:
            message = instructions_message(self.instructions)
            positions[INSTRUCTIONS,] = message
            positions[INSTRUCTIONS, 0] = message.parts[0]
        if self._is_only_input and len(self.items) == 1:
            positions[0,] = _only_input(positions[0,])
        return positions


def _with_notes(step: Step) -> Sequence[LocatedPart]:
    """The parts of a step. The notes of a call whose input is not JSON are with its error, in its result."""
    if not any(isinstance(part, ToolCallPart) and isinstance(part.input, str) for part, _ in step.parts):
        return step.parts
    calls = {part.id: part for part in step.message.parts if isinstance(part, ToolCallPart)}
    parts: list[LocatedPart] = []
    for part, path in step.parts:
        if isinstance(part, ToolCallPart) and isinstance(part.input, str):
            whole = calls[part.id]
            metadata = part.call_provider_metadata or whole.result_provider_metadata
            changed = replace(part, state=whole.state, call_provider_metadata=metadata)
            parts.append(LocatedPart(changed, path))
        else:
            parts.append(LocatedPart(part, path))
    return parts


def _owner(part: Any, at: int, count: int) -> tuple[JsonObject | None, str]:
    """The metadata about the item of a part with that number, and the name of the notes about it."""
    if not isinstance(part, ToolCallPart):
        return (None if part is None else part.provider_metadata), ITEM
    if at == 0:
        is_asked = not part.provider_executed or count > 1 or part.result_provider_metadata is None
        return (part.call_provider_metadata if is_asked else part.result_provider_metadata), ITEM
    is_approval = part.approval is not None
    return (part.call_provider_metadata, APPROVAL) if is_approval else (part.result_provider_metadata, OUTPUT)


def instructions_message(text: str) -> SystemMessage:
    """The message of `instructions`."""
    metadata = {NAMESPACE: {PLACE: INSTRUCTIONS}}
    content = SystemContent(parts=(TextPart(text),), content=text, provider_metadata=metadata)
    return SystemMessage(id=INSTRUCTIONS, content=content)


def input_message(text: str) -> UserMessage:
    """The message of an `input` that is a text."""
    content = UserContent(parts=(TextPart(text),), content=text)
    message: UserMessage = _only_input(UserMessage(id=message_id(0), content=content))
    return message


def _only_input(message: Any) -> Any:
    metadata = add_notes(message.content.provider_metadata, NAMESPACE, {PLACE: ONLY_INPUT})
    return replace(message, content=replace(message.content, provider_metadata=metadata))
