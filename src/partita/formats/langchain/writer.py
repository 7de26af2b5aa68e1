"""Canonical messages → messages of LangChain, with the position of each part."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.core.metadata import NO_NOTES, message_notes, notes
from partita.formats.core.report import Entry, Record
from partita.formats.core.turns import Instructions, Position, Prompt, Results, Step, split
from partita.formats.core.wire import Wire, restore, to_json
from partita.formats.losses import NO_PLACE, REQUIRED, Loss
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, ToolMessage
from partita.types.parts import ContentOutput, ErrorTextOutput, ForeignPart, ToolResultPart
from partita.types.tool_results import results_id
from partita.types.usage import Usage

from . import wire
from .envelope import open_message
from .native import REASONING_CONTENT, STRING, append_native, default_shape, to_native
from .parts import (
    BLOCK,
    BLOCKS,
    ENTRY,
    ERROR,
    FORM,
    GOOGLE_SIGNATURES,
    LIST,
    NATIVE,
    POSITION,
    PROVIDER,
    PROVIDERS,
    RESERVED,
    ROLE,
    SERVER_RESULTS,
    SHAPE,
    UNSENT,
    USAGE,
    V1,
    VERSION,
    can_write,
    default_form,
    is_in_kwargs,
    is_one_text,
    is_open_call,
    is_raw,
    is_valid,
    namespace_of,
    provider_of,
    write_call_block,
    write_call_entry,
    write_tool,
)
from .wire import NAME

MESSAGE_NOTES: Final = frozenset({FORM, ROLE, "role_", "string", "list"})
"""Notes of messages that are not members of them. Earlier versions wrote the last three."""

ONE_RESULT: Final = "every result is a message of its own"
PLACE_LOST: Final = "calls and reasoning that are not in the content lose their place in it"
UNCOUNTED: Final = "what was not counted is written as 0, or as the sum"

BEFORE, WITHIN, AFTER, INVALID = range(4)
"""The order in which parts are read: reasoning before the content, the content, calls, invalid calls."""


class _Block(NamedTuple):
    """A block of a content, and the residue of a native one."""

    block: Any
    residue: JsonObject = NO_NOTES


class _Content:
    """The written parts of a step."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self.reasoning: list[str] = []
        self.calls: list[Any] = []
        self.invalid: list[Any] = []
        self.signatures: JsonObject = {}

    def is_empty(self) -> bool:
        return not (self.blocks or self.reasoning or self.calls or self.invalid)

    def written(self, form: str) -> Any:
        """Return the content of the message."""
        if form == STRING:
            return plain_text(self.blocks[0].block) if self.blocks else ""
        natives: list[Any] = []
        residues: list[JsonObject] = []
        for block, kept in self.blocks:
            if not is_object(block):
                natives.append(block)
            elif not append_native(natives, block):
                continue
            residues.append(kept)
        return tuple(restore(one, kept) if kept else one for one, kept in zip(natives, residues, strict=True))


class Writer:
    """Writes messages in a version, and records the positions of their parts.

    A faithful writer uses the original forms and shapes of messages, including those of the other version.
    """

    def __init__(self, version: int, *, is_faithful: bool = False) -> None:
        self.record = Record()
        self._version, self._is_faithful = version, is_faithful
        self._is_standard = version == 1 and not is_faithful
        self._payload: list[Any] = []
        self._ids: set[str] = set()  # of tool messages: some code replaces messages with the same id
        self._results_id: str | None = None  # the id of results after the last response
        self._message: AssistantMessage | None = None  # of the last step
        self._namespace: str | None = None  # of the provider of that message
        self._pending: list[Results] = []  # results of the last step, one each
        self._calls: dict[str, tuple[int, Any]] = {}  # of the last step, by id: its group and place
        self._errors: dict[str, str] = {}  # of invalid calls of that step that have no tool message

    def write(self, messages: Sequence[Message]) -> list[Any]:
        """Return the payload."""
        for turn in split(messages, can_write):
            if isinstance(turn, Results) and turn.step is not None:
                self._pending += [turn._replace(parts=[located]) for located in turn.parts]
                continue
            self._write_pending()
            match turn:
                case Step():
                    self._step(turn)
                case Results():
                    self._orphans(turn)
                case Instructions() | Prompt():
                    self._prompt(turn)
                    self._results_id = None
        self._write_pending()
        return self._payload

    def _append(self, message: wire.Message, kept: JsonObject, reserved: frozenset[str]) -> None:
        """Append a message with the residue in its notes."""
        rest = {name: value for name, value in kept.items() if name not in reserved}
        data = to_json(restore(message, rest))
        self._payload.append({"type": data["type"], "data": data})

    def _new_id(self, id_: str) -> str | None:
        """Return the id to write, or `None` if it is the default id of a message at this index."""
        is_implied = id_ == f"message-{len(self._payload) + 1}" and not self._is_faithful
        return None if is_implied else id_

    def _report_loss(self, path: str, value: Any, why: str) -> None:
        self.record.losses.append(Loss.of(path, value, why, "changed"))

    # Prompts

    def _prompt(self, turn: Instructions | Prompt) -> None:
        message, index = turn.message, len(self._payload)
        raw = _event(message)
        if raw is not None:
            self._payload.append(raw)
            self.record.add(turn, (index,), [(index, 0)])
            return
        content, positions = self._items(message.parts, index)
        is_steering = isinstance(turn, Prompt) and turn.steering is not None
        if not content and (message.parts or is_steering):
            self.record.add(turn, None, positions)
            return
        kept = message_notes(message, NAME)
        text = plain_text(content[0]) if len(content) == 1 and kept.get(FORM) != LIST else None
        about: Any = {"content": tuple(content) if text is None else text, "id": self._new_id(message.id)}
        if (role := _role(kept)) is not None:
            written: wire.Message = wire.Chat(role=role, **about)
        else:
            written = (wire.System if isinstance(message, SystemMessage) else wire.Human)(**about)
        self._append(written, kept, MESSAGE_NOTES)
        self.record.add(turn, (index,), positions)

    def _items(self, parts: Sequence[Any], index: int) -> tuple[list[Any], list[Position | None]]:
        """Return the blocks of the parts of a prompt or a result, and their positions."""
        blocks = [self._block(part, None, self._is_standard) for part in parts]
        numbers = iter(range(len(parts)))
        positions: list[Position | None] = [None if one is None else (index, next(numbers)) for one in blocks]
        return [restore(*one) if one.residue else one.block for one in blocks if one is not None], positions

    def _block(self, part: Any, namespace: str | None, is_standard: bool) -> _Block | None:
        """Return the block of a part that is not a call of the application."""
        if is_raw(part):
            return _Block(part.value)
        block = BLOCKS.write(_signed_by(part, namespace))
        if block is None:
            return None
        metadata = part.call_provider_metadata if type(part) is ToolCallPart else part.provider_metadata
        return _Block(block) if is_standard else self._shaped(block, metadata, namespace)

    def _shaped(self, block: Wire | JsonObject, metadata: JsonObject | None, namespace: str | None) -> _Block:
        """Return a standard block in the noted shape, else in that of version 0."""
        kept = notes(metadata, NAME)
        shape: Json = kept.get(SHAPE)
        if shape is None and (self._version == 1 or isinstance(block, wire.Text)):
            return _Block(block)
        if shape == STRING and (text := plain_text(block)) is not None:
            return _Block(text)
        standard: JsonObject = to_json(block)
        if shape is None:
            shape = default_shape(standard, namespace)
        rest: Json = kept.get(NATIVE)
        return _Block(to_native(standard, shape), rest if is_object(rest) else {})

    # Responses

    def _step(self, step: Step) -> None:
        message, index = step.message, len(self._payload)
        is_first = step.number == 1
        kept = message_notes(message, NAME)
        provider = provider_of(message)
        if message is not self._message:
            self._message = message
            self._namespace = namespace_of(provider, message.parts, self._version)
        form = self._form(step, kept)
        content, positions = self._write_parts(step, form, index)
        is_written = is_first or not content.is_empty()
        is_joined = is_written and not is_first and self._results_id is not None
        lost = step.boundaries[:-1] if is_joined else step.boundaries
        self.record.add_boundaries(lost, NO_PLACE)
        for start, path in step.boundaries[len(lost) :]:
            self.record.entries.append(Entry(start, path, (index, FORM)))
        self.record.add(step, (index,) if is_written else None, positions)
        self._results_id = results_id(message.id, step.number)
        if not is_written:
            return
        metadata: JsonObject = {VERSION: "v1"} if form == V1 else {}
        if self._namespace is not None and (provider is None or not is_first):
            metadata[PROVIDER] = PROVIDERS[self._namespace] if provider is None else provider
        kwargs: JsonObject = {REASONING_CONTENT: "\n\n".join(content.reasoning)} if content.reasoning else {}
        if content.signatures:
            kwargs[GOOGLE_SIGNATURES] = content.signatures
        about: Any = {
            "content": content.written(form),
            "id": self._new_id(message.id if is_first else f"{message.id}#{step.number}"),
            "additional_kwargs": kwargs,
            "response_metadata": metadata,
        }
        if is_first and (role := _role(kept)) is not None and not content.calls and not content.invalid:
            self._append(wire.Chat(role=role, **about), kept, MESSAGE_NOTES)
            return
        about["usage_metadata"] = self._usage(message.content.usage, step.path) if is_first else None
        ai = wire.Ai(tool_calls=tuple(content.calls), invalid_tool_calls=tuple(content.invalid), **about)
        self._append(ai, kept if is_first else {}, MESSAGE_NOTES)

    def _form(self, step: Step, kept: JsonObject) -> str:
        """Return the form of the content of a step."""
        parts = [part for part, _ in step.parts]
        about = (parts, step.text, self._namespace, self._version)
        start = step.boundaries[-1].part if step.boundaries else None
        own: Json = kept.get(FORM)
        if step.number > 1:
            own = None if start is None else notes(start.provider_metadata, NAME).get(FORM)
        form = (
            own if isinstance(own, str) else default_form(*about, kept.get(FORM) if step.number > 1 else None)
        )
        if form == STRING and not is_one_text(*about):
            form = LIST
        if self._is_faithful:
            return form
        if self._version == 1:
            return STRING if form == STRING else V1
        return default_form(*about) if form == V1 else form

    def _write_parts(self, step: Step, form: str, index: int) -> tuple[_Content, list[Position | None]]:
        content = _Content()
        results: list[tuple[int, _Block]] = []  # of server tools, with their positions
        groups: list[int | None] = []
        self._errors = _unsent_errors(step)
        is_standard = form == V1 and not self._is_faithful
        for part, path in step.parts:
            if type(part) is ToolCallPart and part.input is UNSET and part.raw_input is UNSET:
                self._report_loss(f"{path}.input", None, REQUIRED)
            if is_open_call(part):
                groups.append(self._write_call(part, form, content))
            elif not is_standard and is_in_kwargs(part, self._namespace, self._version):
                groups.append(BEFORE if part.text else None)
                content.reasoning.extend([part.text] if part.text else [])
            else:
                block = self._block(part, self._namespace, is_standard)
                groups.append(None if block is None else WITHIN)
                content.blocks.extend([] if block is None else [block])
                if type(part) is ToolCallPart and (result := SERVER_RESULTS.write(part)) is not None:
                    metadata = part.result_provider_metadata
                    shaped = (
                        _Block(result) if is_standard else self._shaped(result, metadata, self._namespace)
                    )
                    position = notes(metadata, NAME).get(POSITION)
                    next_ = len(content.blocks) + len(results)
                    results.append((position if type(position) is int else next_, shaped))
        for position, shaped in sorted(results, key=lambda pair: pair[0]):
            content.blocks.insert(max(0, min(position, len(content.blocks))), shaped)
        if step.text is not None:
            content.blocks.append(_Block(wire.Text(text=step.text)))
        positions = self._positions(step, groups, index)
        self._calls = {
            part.id: (group or 0, place)
            for (part, _), group, place in zip(step.parts, groups, positions, strict=True)
            if type(part) is ToolCallPart
        }
        return content, positions

    def _positions(self, step: Step, groups: Sequence[int | None], index: int) -> list[Position | None]:
        """Return the positions of the parts of a step; report those that are read back in another order."""
        before = min(groups.count(BEFORE), 1)  # all reasoning there is one part
        within = groups.count(WITHIN) + (step.text is not None)
        numbers = [0, before, before + within, before + within + groups.count(AFTER)]
        positions: list[Position | None] = []
        for group in groups:
            positions.append(None if group is None else (index, numbers[group]))
            if group:
                numbers[group] += 1
        order = [group for group in groups if group is not None] + [WITHIN] * (step.text is not None)
        if order != sorted(order):
            self._report_order(step, groups)
        return positions

    def _report_order(self, step: Step, groups: Sequence[int | None]) -> None:
        """Report calls that were before parts of earlier groups, and reasoning that was after content."""
        first = groups.index(WITHIN) if WITHIN in groups else len(groups)
        lowest = INVALID if step.text is None else WITHIN  # of the groups after a part
        for at, (part, path) in reversed(list(enumerate(step.parts))):
            group = groups[at]
            if group is None:
                continue
            if group > max(lowest, WITHIN):
                self._report_loss(path, part.id, PLACE_LOST)
            elif group == BEFORE and at > first:
                self._report_loss(path, to_json(part), PLACE_LOST)
            lowest = min(lowest, group)

    def _write_call(self, call: ToolCallPart, form: str, content: _Content) -> int:
        """Write a call that the application runs; return the group of its position."""
        metadata = call.call_provider_metadata
        kept = notes(metadata, NAME)
        noted: Json = kept.get(ERROR)
        error = self._errors.get(call.id, noted if isinstance(noted, str) else None)
        if form == V1:
            has_block = kept.get(BLOCK) is not False
        else:
            has_block = form == LIST and (SHAPE in kept or kept.get(BLOCK) is True)
        if has_block:
            block = _restored(write_call_block(call, error), kept, RESERVED)
            is_standard = form == V1 and not self._is_faithful
            content.blocks.append(
                _Block(block) if is_standard else self._shaped(block, metadata, self._namespace)
            )
        entry: Json = kept.get(ENTRY)
        if entry is not False or not has_block:
            written = write_call_entry(call, error)
            calls = content.calls if is_valid(call) else content.invalid
            calls.append(restore(written, entry) if is_object(entry) else written)
        signature = notes(metadata, "google").get("thoughtSignature")
        if self._namespace == "google" and isinstance(signature, str):
            content.signatures[call.id] = signature
        return WITHIN if has_block else AFTER if is_valid(call) else INVALID

    def _usage(self, usage: Usage | None, path: str) -> JsonObject | None:
        if usage is None:
            return None
        if None not in (usage.input_tokens, usage.output_tokens, usage.total_tokens):
            return USAGE.write(usage)
        self._report_loss(f"{path}.content.usage", to_json(usage), UNCOUNTED)
        return USAGE.write(replace(usage, raw=UNSET))

    # Results

    def _write_pending(self) -> None:
        """Write the results of the last step, in the order in which its calls are read back."""
        for turn in sorted(self._pending, key=lambda one: self._calls[one.parts[0].part.id][0]):
            ((part, path),) = turn.parts
            if part.id in self._errors:
                self.record.add(turn._replace(path=""), None, [(*self._calls[part.id][1], ERROR)])
                continue
            place = self._result(part, turn.message if turn.path else None)
            own_path = f"{path}.resultMessage" if turn.path else ""
            self.record.add(turn._replace(path=own_path), place, [None if place is None else (*place, 0)])
        self._pending = []

    def _orphans(self, turn: Results) -> None:
        """Write results without calls, each in a separate message."""
        positions = [self._result(part, turn.message) for part, _ in turn.parts]
        first = next((place for place in positions if place is not None), None)
        for (part, path), place in zip(turn.parts, positions, strict=True):
            if place is not None and place != first:
                self._report_loss(path, part.id, ONE_RESULT)
        self.record.add(turn, first, [None if place is None else (*place, 0) for place in positions])

    def _result(self, part: Any, message: ToolMessage | None) -> tuple[int] | None:
        """Write a result, and return its position."""
        if not isinstance(part, ToolResultPart):
            return None
        index = len(self._payload)
        id_ = None
        kept = notes(part.provider_metadata, NAME)
        if message is not None:
            own = f"message-{index + 1}" if self._results_id is None else self._results_id
            id_ = None if message.id == own or message.id in self._ids else message.id
            self._ids.add(message.id)
            kept = {**message_notes(message, NAME), **kept}
        output = part.output
        content = tuple(self._items(output.value, index)[0]) if isinstance(output, ContentOutput) else None
        self._append(write_tool(part, content, id_), kept, RESERVED)
        return (index,)


def plain_text(block: Any) -> str | None:
    """Return the text of a block that has only a text."""
    if isinstance(block, wire.Text):
        return block.text if block == wire.Text(text=block.text) else None
    is_text = is_object(block) and block.keys() == {"type", "text"} and block["type"] == "text"
    return block["text"] if is_text and isinstance(block["text"], str) else None


def _role(kept: JsonObject) -> str | None:
    role: Json = kept.get(ROLE, kept.get("role_"))
    return role if isinstance(role, str) else None


def _restored(written: Wire, kept: JsonObject, reserved: frozenset[str]) -> Any:
    rest = {name: value for name, value in kept.items() if name not in reserved} if kept else kept
    return restore(written, rest) if rest else written


def _unsent_errors(step: Step) -> dict[str, str]:
    """Return the errors of invalid calls of a step that no tool message has."""
    if all(type(part) is not ToolCallPart or is_valid(part) for part, _ in step.parts):
        return {}
    return {
        part.id: part.output.value
        for part in step.message.parts
        if type(part) is ToolCallPart and not is_valid(part) and isinstance(part.output, ErrorTextOutput)
        if notes(part.result_provider_metadata, NAME).get(UNSENT) is True
    }


def _signed_by(part: Any, namespace: str | None) -> Any:
    """Return a part without signatures of other providers than that of its message."""
    metadata: JsonObject | None = getattr(part, "provider_metadata", None)
    if not metadata or namespace is None:
        return part
    own = {name: value for name, value in metadata.items() if name == namespace or name not in PROVIDERS}
    return part if len(own) == len(metadata) else replace(part, provider_metadata=own)


def _event(message: Message) -> JsonObject | None:
    """Return the message of an unknown type that an event keeps."""
    match message.parts:
        case (ForeignPart(format="langchain", value=value),) if message.type == "event" and is_object(value):
            try:
                open_message(value, "$", [])
            except PartitaError:
                return None
            return value
        case _:
            return None
