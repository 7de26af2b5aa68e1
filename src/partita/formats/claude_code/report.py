"""The losses of a session file: of reading one, and of writing one.

Both are found by comparison: a file that was read is written back, and one that was written is read back.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from msgspec.structs import replace

from partita.formats.core.metadata import FIELDS
from partita.formats.core.report import Entry, Record, Report
from partita.formats.core.turns import Step
from partita.formats.format import UNREAD, Loaded
from partita.formats.log.records import load_records, records_in
from partita.formats.log.thread_builder import LogBuilder
from partita.formats.losses import REORDERED, Loss, json_losses
from partita.formats.session_facts import SessionFacts
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart

from .envelope import NO_RECORD
from .log import ClaudeLogDecoder
from .restored_lines import Line
from .session_writer import SessionWriter, Written, facts_of
from .wire import ANTHROPIC

INSIDE: Final = {"user": ("message",), "assistant": ("message",), "progress": ("data", "message", "message")}
"""Where the objects inside a record are that the decoder changes."""

MADE: Final = ("notes-", "line-")
"""Prefixes of ids that the reader makes of the place of a record."""

PROGRESS: Final = "progress is only kept in the raw log"

FILES: Final = "the API accepts only images and documents of users, of a few types, inline or by URL"
RESULTS: Final = "a result is text or blocks, and does not say why a call was interrupted"
REPORT: Final = Report(
    ANTHROPIC,
    "a session file has no place for it",
    {
        "id": "a session file has ids of its own",
        "parentId": "its parent is not in the file",
        "children": "a sub-agent has a file of its own",
        "internal": "a response or a notice is always shown",
        "text": "the API refuses blank text",
        "reasoning": "the API accepts reasoning only with its own signature",
        "image": FILES,
        "file": FILES,
        "tool-result": "a result without its call",
        "output": RESULTS,
        "reason": RESULTS,
        "input": "the API accepts only objects",
        "tool-call.id": "the API does not accept the id, or another call has it",
        "tool-call.name": "the API does not accept the name",
    },
    frozenset({FIELDS, "isError", "content", "denial"}),
)


# Reading


def load(payload: Json) -> Loaded:
    """The records of a session file, or one of them, as messages.

    Sub-agents without a call are after the conversation. What was not understood is kept, and reported.
    """
    records = records_in(payload)
    loaded = load_records(
        [_copied(record) for record in records], ClaudeLogDecoder, NO_RECORD, whole=_is_whole(records)
    )

    def losses() -> Iterator[Loss]:
        yield from loaded.losses
        yield from _not_written(records, loaded.messages)

    return Loaded(loaded.messages, losses, is_complete=True)


def _not_written(records: Sequence[Json], messages: Sequence[Message]) -> Iterator[Loss]:
    """What of records is not there when their messages are written back."""
    lines = [line for line in SessionWriter(messages, facts_of(messages, SessionFacts())).lines if line.at]
    written = {line.at: line.record for line in lines}
    if list(written) != sorted(written, key=lambda at: at or 0):
        yield Loss("$", "the order", REORDERED, "changed")
    for number, record in enumerate(records, 1):
        path = f"$[{number - 1}]"
        if number in written:
            yield from json_losses(record, written[number], path, UNREAD)
        else:
            yield Loss.of(path, record, PROGRESS, "minor")


def _is_whole(records: Sequence[Json]) -> bool:
    """Whether the records begin where a session does, and not in the middle of one."""
    chained = (record for record in records if is_object(record) and "parentUuid" in record)
    first = next(chained, None)
    return first is not None and first["parentUuid"] is None


def _copied(record: Json) -> Json:
    """A record that the decoder may change: what it changes is copied, down to a message in progress."""
    if not is_object(record):
        return record
    copy = dict(record)
    inner = copy
    for name in INSIDE.get(str(record.get("type")), ()):
        value = inner.get(name)
        if not is_object(value):
            break
        fresh = dict(value)
        inner[name] = fresh
        inner = fresh
    return copy


# Writing


def losses_of_file(writer: SessionWriter) -> list[Loss]:
    """What of messages is not there when their file is read back."""
    return _FileReport(writer).losses()


class _FileReport:
    """A file that was written, read back."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer
        self._record = Record()
        self._record.losses += writer.losses
        self._read: dict[Any, Any] = {}
        self._ids: dict[str, str] = {"": ""}  # of messages, to the ids that they were read back with
        self._found = self._read_back(writer.lines)

    def _read_back(self, lines: Sequence[Line]) -> dict[int, Message]:
        """The messages of the file, by the owners of the lines that they begin with."""
        touched: dict[int, list[str]] = {}
        first: dict[str, int] = {}

        def make(builder: LogBuilder) -> ClaudeLogDecoder:
            def touch(agent: str, message_id: str) -> None:
                first.setdefault(message_id, builder.offset)
                touched.setdefault(builder.offset, []).append(message_id)

            builder.on_touch = touch
            return ClaudeLogDecoder(builder)

        numbers = [offset if line.at is None else line.at for offset, line in enumerate(lines, 1)]
        loaded = load_records([_copied(line.record) for line in lines], make, NO_RECORD, numbers=numbers)
        messages = {message.id: message for message in loaded.messages}
        found: dict[int, Message] = {}
        begun: set[int] = set()
        for offset, line in enumerate(lines, 1):
            ids = [id_ for id_ in touched.get(offset, ()) if id_ in messages]
            new = [id_ for id_ in ids if first[id_] == offset]
            for owner in line.owners if ids else ():
                if owner not in found or (line.begins and owner not in begun):
                    found[owner] = messages[(new or ids)[-1]]
                    begun |= {owner} if line.begins else set()
        return found

    def losses(self) -> list[Loss]:
        written = self._writer.written
        last: dict[str, Message] = {}
        for one in written:
            again = self._found.get(one.owner)
            if again is not None and (one.turn is None or one.turn.path == one.path):
                last[one.message.id] = again
        self._ids |= {id_: again.id for id_, again in last.items()}
        first: dict[str, Message] = {}
        for one in written:
            again = self._found.get(one.owner)
            if again is not None:
                first.setdefault(one.message.id, again)
        for one in written:
            if one.turn is None:
                self._compare(one.message, self._found.get(one.owner), one.path)
            else:
                self._add_turn(one, first.get(one.message.id), last.get(one.message.id))
        return REPORT.compare(self._record, self._read)

    def _add_turn(self, one: Written, first: Message | None, last: Message | None) -> None:
        """A turn of a message of another source. Its message was read back as one for each response."""
        turn, again = one.turn, self._found.get(one.owner)
        assert turn is not None, "it was not restored"
        if first is not None:
            if isinstance(first, AssistantMessage) and isinstance(last, AssistantMessage):
                first = replace(first, content=replace(first.content, usage=last.content.usage))
            self._read[one.owner] = self._renamed(one.message, first)
        places: list[Any] = []
        for number, (position, (part, _)) in enumerate(zip(one.parts, turn.parts, strict=True)):
            place = (one.owner, number)
            parts = () if again is None else again.content.parts
            if position is not None and position < len(parts):
                found: Any = parts[position]
                if part.type == "text" and found.type == "text" and part.text in found.text:
                    found = replace(found, text=part.text)  # the texts of a notice are joined
                self._read[place] = found
            places.append(place)
        if isinstance(turn, Step):
            strange = [(part, path) for part, path in turn.boundaries if encode(part) != _STEP_START]
            self._record.losses += [Loss.of(path, part, REPORT.default) for part, path in strange]
        self._record.add(turn, one.owner, places)

    def _compare(self, message: Message, again: Message | None, path: str) -> None:
        """A message that was restored, part by part."""
        place = object()
        self._record.entries.append(Entry(message, path, place))
        if again is None:
            self._record.entries += [
                Entry(part, f"{path}.content.parts[{at}]", None)
                for at, part in enumerate(message.content.parts)
            ]
            return
        self._read[place] = self._renamed(message, again)
        for at, other in _aligned(message.content.parts, again.content.parts):
            found = other
            part, where = message.content.parts[at], f"{path}.content.parts[{at}]"
            if isinstance(part, ToolCallPart) and isinstance(found, ToolCallPart):
                part = self._without_children(part, found, where)
                found = replace(found, children=() if not part.children else found.children)
            place = object()
            self._read[place] = found
            self._record.entries.append(Entry(part, where, None if found is None else place))

    def _without_children(self, call: ToolCallPart, again: ToolCallPart, path: str) -> ToolCallPart:
        """A call whose children are compared one by one, if they were read back."""
        if len(call.children) != len(again.children):
            return call
        for number, pair in enumerate(zip(call.children, again.children, strict=True)):
            self._compare(*pair, f"{path}.children[{number}]")
        return replace(call, children=())

    def _renamed(self, message: Message, again: Message) -> Message:
        """A message that was read back, with names that only follow from its place in the file."""
        changes: JsonObject = {}
        if message.parent_id is not None and self._ids.get(message.parent_id) == again.parent_id:
            changes["parent_id"] = message.parent_id
        if message.id.startswith(MADE) and again.id.startswith(MADE):
            changes["id"] = message.id
        if message.run_id is not None and message.run_id.startswith(f"{again.thread_id}@"):
            changes["run_id"] = message.run_id
        return replace(again, **changes) if changes else again


_STEP_START: Final = b'{"type":"step-start"}'


def _aligned(parts: Sequence[Any], again: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """The positions of parts, each with the part that was read back for it."""
    if len(parts) == len(again):
        yield from enumerate(again)
        return
    pairs: dict[int, Any] = {}
    matcher = SequenceMatcher(None, [encode(part) for part in parts], [encode(part) for part in again], False)
    for kind, start, end, other, other_end in matcher.get_opcodes():
        if kind in ("equal", "replace"):
            pairs |= dict(zip(range(start, end), again[other:other_end], strict=False))
    yield from ((at, pairs.get(at)) for at in range(len(parts)))
