"""The formats: session files, which are read and written, and the stream, which is read.

The losses of session files are found by comparison: a file that was read is written back, and one that was
written is read back.

Session files: https://docs.claude.com/en/docs/claude-code/settings (`cleanupPeriodDays`) names their folder;
the stream: https://docs.claude.com/en/docs/claude-code/headless
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from msgspec.structs import replace

from partita.formats.core.metadata import FIELDS
from partita.formats.core.report import Entry, Record, Report
from partita.formats.core.turns import Instructions, Step, Turn
from partita.formats.event_streams import load_events
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.log.records import load_records, records_in
from partita.formats.log.session_file import REASONS, SessionFacts
from partita.formats.log.thread_builder import LogBuilder
from partita.formats.losses import NO_CALL, NO_PLACE, ORDERED, UNREAD, Loss, json_losses
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.parts import StepStartPart, TextPart

from .envelope import NO_RECORD
from .log import ClaudeLogDecoder
from .restored_lines import Line
from .session_writer import Facts, SessionWriter, Written, agents_of, facts_of
from .stream import ClaudeStreamDecoder
from .wire import ANTHROPIC

NO_LETTER: Final = re.compile("[^A-Za-z0-9]")
LONGEST_KEY: Final = 200
"""Longer keys of folders end in a digest, which is different in different builds of Claude Code."""


INSIDE: Final = {"user": ("message",), "assistant": ("message",), "progress": ("data", "message", "message")}
"""Where the objects inside a record are that the decoder changes."""

MADE_ID: Final = re.compile(r"(notes|line)-\d+(-\d+)?")
MADE_RUN: Final = re.compile(r"(?P<thread>.*)@(\d+:)?\d+", re.DOTALL)
"""Ids that the reader makes of the place of a record."""

PROGRESS: Final = "progress is only kept in the raw log"

FILES: Final = "the API accepts only images and documents of users, of a few types, inline or by URL"
RESULTS: Final = "a result is text or blocks, and does not say why a call was interrupted"
REPORT: Final = Report(
    ANTHROPIC,
    NO_PLACE,
    {
        **REASONS,
        "threadId": "the id of a session is a UUID",
        "createdAt": "times have milliseconds, and every line has one",
        "parentId": "its parent is not in the file",
        "text": "the API refuses blank text",
        "reasoning": "the API accepts reasoning only with its own signature",
        "image": FILES,
        "file": FILES,
        "tool-result": NO_CALL,
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
        yield Loss("$", "the order", ORDERED, "changed")
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


def load_stream(payload: Json) -> Loaded:
    """The message of a recorded stream."""
    return load_events(ClaudeStreamDecoder(with_losses=True), payload if is_array(payload) else [payload])


# Writing


def dump(messages: Sequence[Message]) -> Dumped:
    """The records of a session file."""
    return write_session(messages)


def dump_session(messages: Sequence[Message], known: SessionFacts) -> Dumped:
    """The records of a session file, with what is known about the session besides its messages."""
    return write_session(messages, known=known)


def write_session(
    messages: Sequence[Message],
    *,
    session_id: str | None = None,
    cwd: str | None = None,
    version: str | None = None,
    git_branch: str | None = None,
    known: SessionFacts | None = None,
) -> Dumped:
    """The records of a session file, in a session with that id.

    What is not given is taken from messages that came from a session file, else from what is `known`.
    """
    found = facts_of(messages, known or SessionFacts())
    facts = Facts(
        session_id or found.session_id,
        found.cwd if cwd is None else cwd,
        version or found.version,
        found.git_branch if git_branch is None else git_branch,
    )
    writer = SessionWriter(messages, facts)
    records = [line.record for line in writer.lines]
    if session_id is not None:
        records = [_of_session(record, session_id) for record in records]
    return Dumped(records, lambda: losses_of_file(writer))


def _of_session(record: Json, session_id: str) -> Json:
    return {**record, "sessionId": session_id} if is_object(record) and "sessionId" in record else record


def dump_agents(messages: Sequence[Message]) -> dict[str, list[Json]]:
    """The records of sub-agents that have files of their own, by the agents' names."""
    facts = facts_of(messages, SessionFacts())
    found: dict[str, list[Json]] = {}
    for name, own in agents_of(messages):
        records = [line.record for line in SessionWriter(own, facts._replace(agent=name)).lines]
        known = found.setdefault(name, records)
        known += [record for record in records if record not in known]
    return found


def session_path(payload: Json) -> str:
    """Where Claude Code looks for a session file, by the session and the folder in its lines."""
    records: list[Json] = payload if is_array(payload) else []
    session, cwd = (
        next((str(record[name]) for record in records if is_object(record) and record.get(name)), "")
        for name in ("sessionId", "cwd")
    )
    key = NO_LETTER.sub("-", cwd)
    key = key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}-*"
    return f"~/.claude/projects/{key}/{session}.jsonl"


# Losses of writing


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

            builder.on_change = touch
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
        """What of the messages is not in those that were read back."""
        written = self._writer.written
        read: dict[int, list[Message]] = {}  # of each message: a response is a message of its own
        for one in written:
            if one.owner in self._found:
                read.setdefault(id(one.message), []).append(self._found[one.owner])
        self._ids |= {
            one.message.id: read[id(one.message)][-1].id for one in written if id(one.message) in read
        }
        for one in written:
            if one.turn is None:
                self._compare(one.message, self._found.get(one.owner), one.path)
            else:
                self._add_turn(one, one.turn, read.get(id(one.message), []))
        return REPORT.compare(self._record, self._read)

    def _add_turn(self, one: Written, turn: Turn, read: Sequence[Message]) -> None:
        """A turn of a message of another source."""
        if read:
            first, last = read[0], read[-1]
            if isinstance(first, AssistantMessage) and isinstance(last, AssistantMessage):
                first = replace(first, content=replace(first.content, usage=last.content.usage))
            self._read[one.owner] = self._renamed(one.message, first)
        again = self._found.get(one.owner)
        parts = () if again is None else again.content.parts
        places = [(one.owner, number) for number in range(len(turn.parts))]
        for place, position, (part, _) in zip(places, one.parts, turn.parts, strict=True):
            if position is not None and position < len(parts):
                found: Any = parts[position]
                if isinstance(turn, Instructions) and isinstance(found, TextPart):
                    found = replace(found, text=part.text)  # the texts of a notice are joined
                self._read[place] = found
        if isinstance(turn, Step):
            strange = [(part, path) for part, path in turn.boundaries if part != StepStartPart()]
            self._record.losses += [Loss.of(path, part, REPORT.default) for part, path in strange]
        self._record.add(turn, one.owner, places)

    def _compare(self, message: Message, again: Message | None, path: str) -> None:
        """A message that was restored, part by part."""
        parts = message.content.parts
        pairs = [(part, None) for part in parts] if again is None else _aligned(parts, again.content.parts)
        self._add(message, None if again is None else self._renamed(message, again), path)
        for at, (part, found) in enumerate(pairs):
            where = f"{path}.content.parts[{at}]"
            self._add(*self._without_children(part, found, where), where)

    def _add(self, value: Any, again: Any, path: str) -> None:
        place = object()
        self._read[place] = again
        self._record.entries.append(Entry(value, path, None if again is None else place))

    def _without_children(self, part: Any, again: Any, path: str) -> tuple[Any, Any]:
        """A part and the one that was read back, without sub-agents, which are compared one by one."""
        if not isinstance(part, ToolCallPart) or not isinstance(again, ToolCallPart):
            return part, again
        if len(part.children) != len(again.children):
            return part, again
        for number, pair in enumerate(zip(part.children, again.children, strict=True)):
            self._compare(*pair, f"{path}.children[{number}]")
        return replace(part, children=()), replace(again, children=())

    def _renamed(self, message: Message, again: Message) -> Message:
        """A message that was read back, with names that only follow from its place in the file."""
        changes: JsonObject = {}
        if message.parent_id is not None and self._ids.get(message.parent_id) == again.parent_id:
            changes["parent_id"] = message.parent_id
        if MADE_ID.fullmatch(message.id) and MADE_ID.fullmatch(again.id):
            changes["id"] = message.id
        run = MADE_RUN.fullmatch(message.run_id or "")
        if run is not None and run["thread"] == again.thread_id:
            changes["run_id"] = message.run_id
        return replace(again, **changes) if changes else again


def _aligned(parts: Sequence[Any], again: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Parts, each with the part that was read back for it."""
    if len(parts) == len(again):
        return list(zip(parts, again, strict=True))
    found: dict[int, Any] = {}
    matcher = SequenceMatcher(None, [encode(part) for part in parts], [encode(part) for part in again], False)
    for kind, start, end, other, other_end in matcher.get_opcodes():
        if kind in ("equal", "replace"):
            found |= dict(zip(range(start, end), again[other:other_end], strict=False))
    return [(part, found.get(at)) for at, part in enumerate(parts)]


FORMAT: Final = Format(
    "claude-code-log",
    "Claude Code session files",
    load,
    dump,
    dump_session=dump_session,
    session_path=session_path,
    is_complete=True,
)
STREAM: Final = Format(
    "claude-code-stream",
    "Claude Code stream-json, Agent SDK",
    load_stream,
    decoder=ClaudeStreamDecoder,
    is_complete=True,
)
