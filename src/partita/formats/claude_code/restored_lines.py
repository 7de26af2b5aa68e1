"""Messages from a session file → the lines that they were read from, unchanged."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeGuard

from msgspec import UNSET, UnsetType

from partita.formats.core.metadata import notes
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    UserMessage,
)
from partita.types.parts import DataPart, PartBase

from .blocks import response_block
from .envelope import (
    DATA_PREFIX,
    LINE_DATA,
    RECORD,
    SPLIT,
    STRING,
    WHOLE,
    WITH,
    clean,
    kept_content,
    line_of,
    restored,
    with_content,
)
from .tool_results import restored_result
from .user_content import text_of_part, user_blocks
from .wire import CLAUDE_CODE

NUMBER_PATTERN: Final = re.compile("[0-9]{1,18}")

Blocks: TypeAlias = tuple[tuple[int, Json], ...]
"""Blocks of a content, each with its position."""


class Line(NamedTuple):
    """A record of a file that is written."""

    record: Json  # an object, unless the line was read as something else
    number: int | None = None  # the number of the line in its file
    starts_message: bool = False  # a message begins with it
    parent: str | UnsetType | None = UNSET  # the line that its message follows, if its own parent is missing
    blocks: Blocks | None = None  # if other lines have the rest of its content
    is_added: bool = False  # it replaces a record that was not kept
    owners: tuple[int, ...] = ()  # the numbers of the messages that it belongs to

    @property
    def uuid(self) -> str | None:
        """The id of the line."""
        uuid = self.record.get("uuid") if is_object(self.record) else None
        return uuid if isinstance(uuid, str) else None


class Restored(NamedTuple):
    """The lines of a message, and its calls in them."""

    lines: list[Line]
    calls: Mapping[str, str | None] = {}  # the uuid of the line of each call
    answered: frozenset[str] = frozenset()  # calls whose results are among the lines


def envelope_of(message: Message) -> JsonObject | None:
    """Return the record that a message was read from, without its content; `None` if there is none."""
    metadata = message.content.metadata
    record = metadata.get(CLAUDE_CODE) if is_object(metadata) else None
    if not is_object(record):
        return None
    match message, record.get("type"):
        case (AssistantMessage() | SystemMessage(), "assistant") | (UserMessage(), "user"):
            return record if is_object(record.get("message")) else None
        case UserMessage(), "attachment":
            return record
        case _:
            return None


def restore(message: Message) -> Restored | None:
    """Return the lines that a message was read from; `None` if it is not from a session file."""
    record = envelope_of(message)
    match message:
        case AssistantMessage() if record is not None:
            return _response_lines(message, record)
        case UserMessage() if record is not None:
            return Restored([_user_line(message, record)])
        case SystemMessage() if record is not None:
            return Restored([Line(clean(record), line_of(record), starts_message=True)])
        case SystemMessage():
            lines = list(_notes(message))
            return Restored(lines) if lines else None
        case _:
            return None


def _notes(message: SystemMessage) -> Iterator[Line]:
    """The records that are kept whole as data."""
    for part in message.parts:
        if isinstance(part, DataPart) and part.name.startswith(DATA_PREFIX):
            data = part.data
            number = int(part.id) if part.id is not None and NUMBER_PATTERN.fullmatch(part.id) else None
            if is_object(data):
                yield _with_positions(Line(clean(data), number), data.get(WITH))
            elif part.name == LINE_DATA and data is not UNSET:
                yield Line(data, number)


def _with_positions(line: Line, positions: Json) -> Line:
    """Return the line with the positions of its blocks, if it has only some blocks of its record."""
    message = line.record.get("message")
    content = message.get("content") if is_object(message) else None
    if not _are_positions(positions) or not is_array(content):
        return line
    return line._replace(blocks=tuple(zip(positions, content, strict=False)))


def _are_positions(value: Json) -> TypeGuard[list[int]]:
    return is_array(value) and all(type(position) is int for position in value)


def _user_line(message: UserMessage, record: JsonObject) -> Line:
    line = Line(clean(record), line_of(record), starts_message=True)
    if record["type"] == "attachment":
        return line
    kept, content = kept_content(record), record["message"].get("content", UNSET)
    if kept is not None:
        content = kept[0] if kept else UNSET
    elif content is UNSET and record.get(STRING):
        content = "".join(text_of_part(part) or "" for part in message.parts)
    elif content is UNSET:
        content = user_blocks(message.parts, record.get(SPLIT))
    return _with_positions(line._replace(record=with_content(line.record, content)), record.get(WITH))


# Responses


def _response_lines(message: AssistantMessage, base: JsonObject) -> Restored:
    records = [base]
    blocks: list[list[JsonObject]] = [[]]
    calls: dict[str, str | None] = {}
    results: list[Line] = []
    answered: list[str] = []
    for part in message.parts:
        difference = _envelope_of_part(part)
        if difference is not None:
            records.append(restored(base, difference))
            blocks.append([])
        if isinstance(part, ToolCallPart):
            uuid = records[-1].get("uuid")
            calls[part.id] = uuid if isinstance(uuid, str) else None
            if (result := _result_line(part, base)) is not None:
                results.append(result)
                answered.append(part.id)
        block = response_block(part)
        blocks[-1] += [] if block is None else [block]
    lines = [
        Line(
            with_content(clean(record), _content(record, own_blocks)),
            line_of(record),
            starts_message=number == 0,
        )
        for number, (record, own_blocks) in enumerate(zip(records, blocks, strict=True))
    ]
    return Restored(lines + results, calls, frozenset(answered))


def _content(record: JsonObject, blocks: list[JsonObject]) -> Json | UnsetType:
    kept = kept_content(record)
    if kept is not None:
        return kept[0] if kept else UNSET
    return "".join(str(block.get("text", "")) for block in blocks) if record.get(STRING) else blocks


def _envelope_of_part(part: AssistantPart) -> JsonObject | None:
    """Return the difference of the record that begins with a part."""
    if isinstance(part, DataPart) and part.name == RECORD:
        return part.data if is_object(part.data) else None
    metadata = part.call_provider_metadata if isinstance(part, ToolCallPart) else None
    if metadata is None and isinstance(part, PartBase):
        metadata = part.provider_metadata
    found = (metadata or {}).get(CLAUDE_CODE)
    return found if is_object(found) else None


def _result_line(part: ToolCallPart, base: JsonObject) -> Line | None:
    """Return the line of the result of a call, if it is from a session file."""
    result_notes = notes(part.result_provider_metadata, CLAUDE_CODE)
    if result_notes.get("type") != "user" or part.output is None:
        return None
    envelope = result_notes if result_notes.get(WHOLE) else restored(base, result_notes)
    record = clean(envelope)
    structured = notes(part.tool_metadata, CLAUDE_CODE)
    if "toolUseResult" in structured:
        record["toolUseResult"] = structured["toolUseResult"]
    block = restored_result(part, part.output)
    line = Line(record, line_of(envelope))
    positions = envelope.get(WITH)
    if _are_positions(positions) and positions:
        return line._replace(blocks=((positions[0], block),))
    return line._replace(record=with_content(record, [block]))


# Lines of a file


def join_lines(lines: Iterable[Line]) -> list[Line]:
    """Return the lines, with those of the same record joined."""
    joined: list[Line] = []
    positions: dict[tuple[str, int | None], int] = {}
    for line in lines:
        if line.blocks is None:
            joined.append(line)
            continue
        position = positions.setdefault((str(line.uuid), line.number), len(joined))
        if position == len(joined):
            joined.append(line)
        else:
            joined[position] = _join(joined[position], line)
    return [line if line.blocks is None else _with_blocks(line, line.blocks) for line in joined]


def _join(first: Line, second: Line) -> Line:
    message = first.record.get("message", second.record.get("message"))
    record = {**second.record, **first.record, **({} if message is None else {"message": message})}
    blocks = (first.blocks or ()) + (second.blocks or ())
    return first._replace(record=record, blocks=blocks, owners=first.owners + second.owners)


def _with_blocks(line: Line, blocks: Blocks) -> Line:
    content = [block for _, block in sorted(blocks, key=lambda numbered: numbered[0])]
    message: JsonObject = line.record.get("message", {"role": "user"})
    record: JsonObject = {**line.record, "message": {**message, "content": content}}
    return line._replace(record=record, blocks=None)


def in_order(lines: Sequence[Line]) -> list[Line]:
    """Return lines in the order of the file that they were read from; new lines follow those before them.

    Messages of another file may follow: it begins where a message starts before the previous one.
    """
    keys: list[tuple[int, int, int]] = []
    file = started = latest = 0
    for index, line in enumerate(lines):
        if line.number is not None:
            if line.starts_message and line.number < started:
                file, latest = file + 1, 0
            started = line.number if line.starts_message else started
            latest = max(latest, line.number)
        keys.append((file, latest if line.number is None else line.number, index))
    return [lines[index] for _, _, index in sorted(keys)]
