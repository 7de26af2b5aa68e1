"""Messages that came from a session file → the lines they were read from, unchanged."""

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
    NO_RECORD,
    OWN_DATA,
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

NUMBER: Final = re.compile("[0-9]{1,18}")

Numbered: TypeAlias = tuple[tuple[int, Json], ...]
"""Blocks of a content, each with its position."""


class Line(NamedTuple):
    """A record, and what is known about its place."""

    record: Json  # an object, except for lines that never were one
    at: int | None = None  # the number of the line in the file it came from
    begins: bool = False  # whether a message begins with it
    above: str | UnsetType | None = UNSET  # the line that its message follows, if its parent is gone
    blocks: Numbered | None = None  # its blocks, if other lines have the rest of the content
    is_added: bool = False  # whether it only stands for a record that was not kept
    owners: tuple[int, ...] = ()  # the numbers of the messages that it is of

    @property
    def uuid(self) -> str | None:
        """The id of the line."""
        uuid = self.record.get("uuid") if is_object(self.record) else None
        return uuid if isinstance(uuid, str) else None


class Restored(NamedTuple):
    """The lines of a message, and which of them have its calls."""

    lines: list[Line]
    calls: Mapping[str, str | None] = {}  # the uuid of the line of each call; never changed
    answered: frozenset[str] = frozenset()  # calls whose results are among the lines


def envelope_of(message: Message) -> JsonObject | None:
    """The record that a message was read from, without its content; `None` if there is none."""
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
    """The lines that a message was read from; `None` if it does not come from a session file."""
    record = envelope_of(message)
    match message:
        case AssistantMessage() if record is not None:
            return _response_lines(message, record)
        case UserMessage() if record is not None:
            return Restored([_user_line(message, record)])
        case SystemMessage() if record is not None:
            return Restored([Line(clean(record), line_of(record), begins=True)])
        case SystemMessage():
            lines = list(_notes(message))
            return Restored(lines) if lines else None
        case _:
            return None


def _notes(message: SystemMessage) -> Iterator[Line]:
    """The records that are kept whole as data."""
    for part in message.parts:
        if isinstance(part, DataPart) and part.name.startswith(OWN_DATA):
            data = part.data
            at = int(part.id) if part.id is not None and NUMBER.fullmatch(part.id) else None
            if is_object(data):
                yield _shared(Line(clean(data), at), data.get(WITH))
            elif part.name == NO_RECORD and data is not UNSET:
                yield Line(data, at)


def _shared(line: Line, positions: Json) -> Line:
    """A line that has the blocks of a record at some positions; without positions it has all of them."""
    message = line.record.get("message")
    content = message.get("content") if is_object(message) else None
    if not _are_positions(positions) or not is_array(content):
        return line
    return line._replace(blocks=tuple(zip(positions, content, strict=False)))


def _are_positions(value: Json) -> TypeGuard[list[int]]:
    return is_array(value) and all(type(position) is int for position in value)


def _user_line(message: UserMessage, record: JsonObject) -> Line:
    line = Line(clean(record), line_of(record), begins=True)
    if record["type"] == "attachment":
        return line
    kept, content = kept_content(record), record["message"].get("content", UNSET)
    if kept is not None:
        content = kept[0] if kept else UNSET
    elif content is UNSET and record.get(STRING):
        content = "".join(text_of_part(part) or "" for part in message.parts)
    elif content is UNSET:
        content = user_blocks(message.parts, record.get(SPLIT))
    return _shared(line._replace(record=with_content(line.record, content)), record.get(WITH))


# Responses


def _response_lines(message: AssistantMessage, base: JsonObject) -> Restored:
    records = [base]
    blocks: list[list[JsonObject]] = [[]]
    calls: dict[str, str | None] = {}
    results: list[Line] = []
    answered: list[str] = []
    for part in message.parts:
        further = _envelope_of_part(part)
        if further is not None:
            records.append(restored(base, further))
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
        Line(with_content(clean(record), _content(record, own)), line_of(record), begins=number == 0)
        for number, (record, own) in enumerate(zip(records, blocks, strict=True))
    ]
    return Restored(lines + results, calls, frozenset(answered))


def _content(record: JsonObject, blocks: list[JsonObject]) -> Json | UnsetType:
    kept = kept_content(record)
    if kept is not None:
        return kept[0] if kept else UNSET
    return "".join(str(block.get("text", "")) for block in blocks) if record.get(STRING) else blocks


def _envelope_of_part(part: AssistantPart) -> JsonObject | None:
    """What is different in the record that begins with a part."""
    if isinstance(part, DataPart) and part.name == RECORD:
        return part.data if is_object(part.data) else None
    metadata = part.call_provider_metadata if isinstance(part, ToolCallPart) else None
    if metadata is None and isinstance(part, PartBase):
        metadata = part.provider_metadata
    found = (metadata or {}).get(CLAUDE_CODE)
    return found if is_object(found) else None


def _result_line(part: ToolCallPart, base: JsonObject) -> Line | None:
    """The line of a call's result, if it came from a session file."""
    own = notes(part.result_provider_metadata, CLAUDE_CODE)
    if own.get("type") != "user" or part.output is None:
        return None
    whole = own if own.get(WHOLE) else restored(base, own)
    record = clean(whole)
    structured = notes(part.tool_metadata, CLAUDE_CODE)
    if "toolUseResult" in structured:
        record["toolUseResult"] = structured["toolUseResult"]
    block = restored_result(part, part.output)
    line = Line(record, line_of(whole))
    positions = whole.get(WITH)
    if _are_positions(positions) and positions:
        return line._replace(blocks=((positions[0], block),))
    return line._replace(record=with_content(record, [block]))


# Lines of a file


def joined(lines: Iterable[Line]) -> list[Line]:
    """The lines, those of the same record as one."""
    whole: list[Line] = []
    places: dict[tuple[str, int | None], int] = {}
    for line in lines:
        if line.blocks is None:
            whole.append(line)
            continue
        place = places.setdefault((str(line.uuid), line.at), len(whole))
        if place == len(whole):
            whole.append(line)
        else:
            whole[place] = _joined(whole[place], line)
    return [line if line.blocks is None else _with_blocks(line, line.blocks) for line in whole]


def _joined(first: Line, second: Line) -> Line:
    message = first.record.get("message", second.record.get("message"))
    record = {**second.record, **first.record, **({} if message is None else {"message": message})}
    blocks = (first.blocks or ()) + (second.blocks or ())
    return first._replace(record=record, blocks=blocks, owners=first.owners + second.owners)


def _with_blocks(line: Line, blocks: Numbered) -> Line:
    content = [block for _, block in sorted(blocks, key=lambda numbered: numbered[0])]
    message: JsonObject = line.record.get("message", {"role": "user"})
    record: JsonObject = {**line.record, "message": {**message, "content": content}}
    return line._replace(record=record, blocks=None)


def in_order(lines: Sequence[Line]) -> list[Line]:
    """Lines of messages in the order of the file they came from; new ones after those before them.

    Messages of another file may follow: where one begins before the previous one did, a new order begins.
    """
    keys: list[tuple[int, int, int]] = []
    file = began = latest = 0
    for index, line in enumerate(lines):
        if line.at is not None:
            if line.begins and line.at < began:
                file, latest = file + 1, 0
            began = line.at if line.begins else began
            latest = max(latest, line.at)
        keys.append((file, latest if line.at is None else line.at, index))
    return [lines[index] for _, _, index in sorted(keys)]
