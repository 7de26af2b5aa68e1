"""Messages that came from a session file → the lines they were made of, word for word."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeGuard, assert_never

from msgspec import UNSET

from partita.formats.claude_code.log.envelope import (
    AGENT,
    CONTENT,
    LINE,
    MARKS,
    RECORD,
    SPLIT,
    STRING,
    WHOLE,
    WITH,
    restored,
)
from partita.formats.session_losses import Losses
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import DataPart, PartBase

from .blocks import OWN_DATA, answer_block, text_of_part, user_blocks
from .line import Line
from .outputs import restored_result

NUMBER: Final = re.compile("[0-9]{1,18}")
NO_RECORD: Final = "claude-code-line"
"""The name of data that is a line of its own, and no object."""


class Restored(NamedTuple):
    """The lines of a message, and which of them hold its calls."""

    lines: list[Line]
    calls: Mapping[str, str | None]  # the line of each call
    answered: frozenset[str]  # calls whose results are among the lines


def envelope_of(message: Message) -> JsonObject | None:
    """The record that a message was made of, but for its content; `None` if it was made of none."""
    metadata = message.content.metadata
    record = metadata.get(AGENT) if is_object(metadata) else None
    if not is_object(record):
        return None
    match message, record.get("type"):
        case (AssistantMessage() | SystemMessage(), "assistant") | (UserMessage(), "user"):
            return record if is_object(record.get("message")) else None
        case UserMessage(), "attachment":
            return record
        case _:
            return None


def is_restored(message: Message) -> bool:
    """Whether a message comes from a session file."""
    return envelope_of(message) is not None or (
        isinstance(message, SystemMessage) and next(_notes(message), None) is not None
    )


def restore(message: Message, path: str, losses: Losses) -> Restored | None:
    """The lines that a message was made of; `None` if it does not come from a session file."""
    record = envelope_of(message)
    match message:
        case AssistantMessage() if record is not None:
            return _restored_answer(message, record, path, losses)
        case UserMessage() if record is not None:
            return _only(_user_line(message, record, path, losses))
        case SystemMessage() if record is not None:
            return _only(Line(_clean(record), _line_of(record), begins=True))
        case SystemMessage():
            notes = list(_notes(message))
            return Restored(notes, {}, frozenset()) if notes else None
        case AssistantMessage() | UserMessage() | ToolMessage():
            return None
        case _:
            assert_never(message)


def _only(line: Line) -> Restored:
    return Restored([line], {}, frozenset())


# Records that are no talk


def _notes(message: SystemMessage) -> Iterator[Line]:
    """The records that an event keeps whole."""
    for part in message.parts:
        if isinstance(part, DataPart) and part.name.startswith(OWN_DATA):
            data = part.data
            line = int(part.id) if part.id is not None and NUMBER.fullmatch(part.id) else None
            if is_object(data):
                shared = data.get(WITH)
                clean = _clean(data)
                yield _shared(Line(clean, line), shared) if shared is not None else Line(clean, line)
            elif part.name == NO_RECORD and data is not UNSET:
                yield Line(data, line)


def _shared(line: Line, places: Json) -> Line:
    """A line that has some blocks of a record."""
    message = line.record.get("message")
    content = message.get("content") if is_object(message) else None
    if not _are_places(places) or not is_array(content):
        return line
    return line._replace(blocks=tuple(zip(places, content, strict=False)))


def _are_places(value: Json) -> TypeGuard[list[int]]:
    return is_array(value) and all(type(place) is int for place in value)


# Words of the user


def _user_line(message: UserMessage, record: JsonObject, path: str, losses: Losses) -> Line:
    line = Line(_clean(record), _line_of(record), begins=True)
    if record["type"] == "attachment":
        return line
    own = record["message"]
    content = _kept(record, own.get("content", UNSET))
    if content is _NOT_KEPT:
        parts = message.parts
        if record.get(STRING):
            content = "".join(text_of_part(part) or "" for part in parts)
        else:
            content = user_blocks(parts, record.get(SPLIT), path, losses)
    line = line._replace(record=_with_content(line.record, content))
    return line if record.get(WITH) is None else _shared(line, record[WITH])


_NOT_KEPT: Final = object()


def _kept(record: JsonObject, own: Json) -> Json:
    """The content of a record, if it was kept as it is; `UNSET` if there was none."""
    kept = record.get(CONTENT)
    if is_array(kept):
        return kept[0] if kept else UNSET
    return _NOT_KEPT if own is UNSET else own


# Answers


class _Piece:
    """A record of an answer, and the blocks found for it so far."""

    def __init__(self, record: JsonObject) -> None:
        self.record = record
        self.blocks: list[Json] = []

    @property
    def is_kept(self) -> bool:
        """Whether the record has its content with it."""
        return is_array(self.record.get(CONTENT))

    def line(self, *, begins: bool) -> Line:
        content = _kept(self.record, UNSET)
        if content is _NOT_KEPT:
            texts = [str(block.get("text", "")) for block in self.blocks]
            content = "".join(texts) if self.record.get(STRING) else self.blocks
        return Line(_with_content(_clean(self.record), content), _line_of(self.record), begins=begins)


def _restored_answer(message: AssistantMessage, base: JsonObject, path: str, losses: Losses) -> Restored:
    pieces = [_Piece(base)]
    calls: dict[str, str | None] = {}
    results: list[Line] = []
    for index, part in enumerate(message.parts):
        where = f"{path}.parts[{index}]"
        further = _envelope_of_part(part)
        if further is not None:
            pieces.append(_Piece(restored(base, further)))
        piece = pieces[-1]
        if isinstance(part, ToolCallPart):
            calls[part.id] = _uuid(piece.record)
            result = _result_line(part, base, where, losses)
            results += [] if result is None else [result]
        if not piece.is_kept:
            block = answer_block(part, where, losses)
            piece.blocks += [] if block is None else [block]
    lines = [piece.line(begins=number == 0) for number, piece in enumerate(pieces)]
    answered = frozenset(
        part.id for part in message.parts if isinstance(part, ToolCallPart) and _result_of(part)
    )
    return Restored(lines + results, calls, answered)


def _envelope_of_part(part: AssistantPart) -> JsonObject | None:
    """The record that begins with a part, but for what it shares with the first one."""
    if isinstance(part, DataPart) and part.name == RECORD:
        return part.data if is_object(part.data) else None
    metadata = part.call_provider_metadata if isinstance(part, ToolCallPart) else None
    if metadata is None and isinstance(part, PartBase):
        metadata = part.provider_metadata
    found = (metadata or {}).get(AGENT)
    return found if is_object(found) else None


def _result_of(part: ToolCallPart) -> JsonObject | None:
    """The record of a call's result, but for what it shares with the first record of the answer."""
    found = (part.result_provider_metadata or {}).get(AGENT)
    return found if is_object(found) and found.get("type") == "user" and part.output is not None else None


def _result_line(part: ToolCallPart, base: JsonObject, path: str, losses: Losses) -> Line | None:
    own = _result_of(part)
    if own is None or part.output is None:
        return None
    whole = own if own.get(WHOLE) else restored(base, own)
    record = _clean(whole)
    structured = (part.tool_metadata or {}).get(AGENT)
    if is_object(structured) and "toolUseResult" in structured:
        record["toolUseResult"] = structured["toolUseResult"]
    block = restored_result(part, part.output, path, losses)
    line = Line(record, _line_of(whole))
    places = whole.get(WITH)
    if _are_places(places) and places:
        return line._replace(blocks=((places[0], block),))
    return line._replace(record=_with_content(record, [block]))


# Records


def _clean(record: JsonObject) -> JsonObject:
    """A record without our marks."""
    return {name: value for name, value in record.items() if name not in MARKS}


def _with_content(record: JsonObject, content: Json) -> JsonObject:
    """A record whose message has that content; `UNSET` is none."""
    message = record.get("message")
    own: JsonObject = (
        {name: value for name, value in message.items() if name != "content"} if is_object(message) else {}
    )
    return record | {"message": own if content is UNSET else own | {"content": content}}


def _line_of(record: JsonObject) -> int | None:
    line = record.get(LINE)
    return line if type(line) is int else None


def _uuid(record: JsonObject) -> str | None:
    uuid = record.get("uuid")
    return uuid if isinstance(uuid, str) else None
