"""The formats of Claude Code: session files, which are read and written, and the stream, which is read.

The losses of session files are found by comparison: a file that was read is written back, and a file that was
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

from .envelope import LINE_DATA
from .log import ClaudeLogDecoder
from .restored_lines import Line
from .session_writer import Facts, SessionWriter, WrittenMessage, agents_of, facts_of
from .stream import ClaudeStreamDecoder
from .wire import ANTHROPIC

NON_ALPHANUMERIC: Final = re.compile("[^A-Za-z0-9]")
MAX_KEY: Final = 200
"""Longer keys of folders end in a digest, which depends on the build of Claude Code."""


NESTED_PATHS: Final = {
    "user": ("message",),
    "assistant": ("message",),
    "progress": ("data", "message", "message"),
}
"""The paths of the nested objects in records that the decoder changes."""

POSITION_ID: Final = re.compile(r"(notes|line)-\d+(-\d+)?")
POSITION_RUN: Final = re.compile(r"(?P<thread>.*)@(\d+:)?\d+", re.DOTALL)
"""Ids that the reader makes from the position of a record."""

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

    Sub-agents without a call are after the conversation. Unknown records are kept and reported.
    """
    records = records_in(payload)
    loaded = load_records(
        [_copied(record) for record in records], ClaudeLogDecoder, LINE_DATA, whole=_is_whole(records)
    )

    def losses() -> Iterator[Loss]:
        yield from loaded.losses
        yield from _not_written(records, loaded.messages)

    return Loaded(loaded.messages, losses, is_complete=True)


def _not_written(records: Sequence[Json], messages: Sequence[Message]) -> Iterator[Loss]:
    """The losses when the messages are written back."""
    lines = [
        line for line in SessionWriter(messages, facts_of(messages, SessionFacts())).lines if line.number
    ]
    written = {line.number: line.record for line in lines}
    if list(written) != sorted(written, key=lambda at: at or 0):
        yield Loss("$", "the order", ORDERED, "changed")
    for number, record in enumerate(records, 1):
        path = f"$[{number - 1}]"
        if number in written:
            yield from json_losses(record, written[number], path, UNREAD)
        else:
            yield Loss.of(path, record, PROGRESS, "minor")


def _is_whole(records: Sequence[Json]) -> bool:
    """Whether the records begin at the start of a session."""
    chained = (record for record in records if is_object(record) and "parentUuid" in record)
    first = next(chained, None)
    return first is not None and first["parentUuid"] is None


def _copied(record: Json) -> Json:
    """Return a copy of a record that the decoder may change, including its nested messages."""
    if not is_object(record):
        return record
    copy = dict(record)
    inner = copy
    for name in NESTED_PATHS.get(str(record.get("type")), ()):
        value = inner.get(name)
        if not is_object(value):
            break
        inner_copy = dict(value)
        inner[name] = inner_copy
        inner = inner_copy
    return copy


def load_stream(payload: Json) -> Loaded:
    """The message of a recorded stream."""
    return load_events(ClaudeStreamDecoder(with_losses=True), payload if is_array(payload) else [payload])


# Writing


def dump(messages: Sequence[Message]) -> Dumped:
    """The records of a session file."""
    return write_session(messages)


def dump_session(messages: Sequence[Message], known: SessionFacts) -> Dumped:
    """The records of a session file, with other facts about the session than its messages."""
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

    Facts that are not given are those of messages from a session file, else those that are `known`.
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


def dump_agents(messages: Sequence[Message], known: SessionFacts) -> dict[str, list[Json]]:
    """The records of sub-agents with separate files, by the paths of these files."""
    facts = facts_of(messages, known)
    found: dict[str, list[Json]] = {}
    for name, agent_messages in agents_of(messages):
        records = [line.record for line in SessionWriter(agent_messages, facts._replace(agent=name)).lines]
        written = found.setdefault(f"subagents/agent-{name}.jsonl", records)
        written += [record for record in records if record not in written]
    return found


def session_path(payload: Json) -> str:
    """The path where Claude Code finds a session file, by the session and the folder in its lines."""
    records: list[Json] = payload if is_array(payload) else []
    session, cwd = (
        next((str(record[name]) for record in records if is_object(record) and record.get(name)), "")
        for name in ("sessionId", "cwd")
    )
    key = NON_ALPHANUMERIC.sub("-", cwd)
    key = key if len(key) <= MAX_KEY else f"{key[:MAX_KEY]}-*"
    return f"~/.claude/projects/{key}/{session}.jsonl"


# Losses of writing


def losses_of_file(writer: SessionWriter) -> list[Loss]:
    """The losses when the file of messages is read back."""
    return _FileReport(writer).losses()


class _FileReport:
    """Compares the messages of a file that was written with those that are read back."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer
        self._record = Record()
        self._record.losses += writer.losses
        self._read: dict[Any, Any] = {}
        self._ids: dict[str, str] = {"": ""}  # the ids of messages that were read back, by the written ones
        self._found = self._read_back(writer.lines)

    def _read_back(self, lines: Sequence[Line]) -> dict[int, Message]:
        """Return the messages of the file, by the owners of their first lines."""
        touched: dict[int, list[str]] = {}
        first: dict[str, int] = {}

        def make(builder: LogBuilder) -> ClaudeLogDecoder:
            def touch(agent: str, message_id: str) -> None:
                first.setdefault(message_id, builder.offset)
                touched.setdefault(builder.offset, []).append(message_id)

            builder.on_change = touch
            return ClaudeLogDecoder(builder)

        numbers = [offset if line.number is None else line.number for offset, line in enumerate(lines, 1)]
        loaded = load_records([_copied(line.record) for line in lines], make, LINE_DATA, numbers=numbers)
        messages = {message.id: message for message in loaded.messages}
        found: dict[int, Message] = {}
        started: set[int] = set()
        for offset, line in enumerate(lines, 1):
            ids = [id_ for id_ in touched.get(offset, ()) if id_ in messages]
            new = [id_ for id_ in ids if first[id_] == offset]
            for owner in line.owners if ids else ():
                if owner not in found or (line.starts_message and owner not in started):
                    found[owner] = messages[(new or ids)[-1]]
                    started |= {owner} if line.starts_message else set()
        return found

    def losses(self) -> list[Loss]:
        """Return the losses of the messages that were read back."""
        written = self._writer.written
        read: dict[int, list[Message]] = {}  # by message: each of its responses is read as a message
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

    def _add_turn(self, one: WrittenMessage, turn: Turn, read: Sequence[Message]) -> None:
        """Compare a turn of a message that was not read from a session file."""
        if read:
            first, last = read[0], read[-1]
            if isinstance(first, AssistantMessage) and isinstance(last, AssistantMessage):
                first = replace(first, content=replace(first.content, usage=last.content.usage))
            self._read[one.owner] = self._renamed(one.message, first)
        read_back = self._found.get(one.owner)
        parts = () if read_back is None else read_back.content.parts
        positions = [(one.owner, number) for number in range(len(turn.parts))]
        for key, position, (part, _) in zip(positions, one.parts, turn.parts, strict=True):
            if position is not None and position < len(parts):
                found: Any = parts[position]
                if isinstance(turn, Instructions) and isinstance(found, TextPart):
                    found = replace(found, text=part.text)  # the texts of a notice are joined
                self._read[key] = found
        if isinstance(turn, Step):
            unexpected = [(part, path) for part, path in turn.boundaries if part != StepStartPart()]
            self._record.losses += [Loss.of(path, part, REPORT.default) for part, path in unexpected]
        self._record.add(turn, one.owner, positions)

    def _compare(self, message: Message, read_back: Message | None, path: str) -> None:
        """Compare a restored message, part by part."""
        parts = message.content.parts
        pairs = (
            [(part, None) for part in parts]
            if read_back is None
            else _aligned(parts, read_back.content.parts)
        )
        self._add(message, None if read_back is None else self._renamed(message, read_back), path)
        for at, (part, found) in enumerate(pairs):
            where = f"{path}.content.parts[{at}]"
            self._add(*self._without_children(part, found, where), where)

    def _add(self, value: Any, read_back: Any, path: str) -> None:
        key = object()
        self._read[key] = read_back
        self._record.entries.append(Entry(value, path, None if read_back is None else key))

    def _without_children(self, part: Any, read_back: Any, path: str) -> tuple[Any, Any]:
        """Return a part and the one that was read back, without sub-agents, which are compared first."""
        if not isinstance(part, ToolCallPart) or not isinstance(read_back, ToolCallPart):
            return part, read_back
        if len(part.children) != len(read_back.children):
            return part, read_back
        for number, pair in enumerate(zip(part.children, read_back.children, strict=True)):
            self._compare(*pair, f"{path}.children[{number}]")
        return replace(part, children=()), replace(read_back, children=())

    def _renamed(self, message: Message, read_back: Message) -> Message:
        """Return a message that was read back, with the written ids where both follow from its position."""
        changes: JsonObject = {}
        if message.parent_id is not None and self._ids.get(message.parent_id) == read_back.parent_id:
            changes["parent_id"] = message.parent_id
        if POSITION_ID.fullmatch(message.id) and POSITION_ID.fullmatch(read_back.id):
            changes["id"] = message.id
        run = POSITION_RUN.fullmatch(message.run_id or "")
        if run is not None and run["thread"] == read_back.thread_id:
            changes["run_id"] = message.run_id
        return replace(read_back, **changes) if changes else read_back


def _aligned(parts: Sequence[Any], read_back: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return each part with the part that was read back for it."""
    if len(parts) == len(read_back):
        return list(zip(parts, read_back, strict=True))
    found: dict[int, Any] = {}
    matcher = SequenceMatcher(
        None, [encode(part) for part in parts], [encode(part) for part in read_back], False
    )
    for kind, start, end, other, other_end in matcher.get_opcodes():
        if kind in ("equal", "replace"):
            found |= dict(zip(range(start, end), read_back[other:other_end], strict=False))
    return [(part, found.get(at)) for at, part in enumerate(parts)]


FORMAT: Final = Format(
    "claude-code-log",
    "Claude Code session files",
    load,
    dump,
    dump_session=dump_session,
    dump_agents=dump_agents,
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
