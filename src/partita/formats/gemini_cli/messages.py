"""The messages of a chat of Gemini CLI: records → canonical messages, and the items of a response."""

from collections.abc import Callable, Container, Iterator
from datetime import datetime
from itertools import count
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.log.message_tree import MessageTree, TreePosition
from partita.formats.log.sink import Consumption, LogSink
from partita.formats.losses import NO_CALL
from partita.types.chunks import (
    Chunk,
    DataChunk,
    FileChunk,
    MessageMetadata,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolOutputChunk,
)
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    SystemContent,
    SystemMessage,
    SystemPart,
    UserContent,
    UserMessage,
    UserPart,
)
from partita.types.parts import DataPart, TextPart
from partita.types.times import parse_iso

from .content import (
    ENDED,
    RUNNING,
    agent_of,
    call_chunks,
    call_of,
    calls_of,
    items_of,
    joined_text,
    kept_part,
    other_members,
    read_content,
    response_of,
    result_of,
    usage_of,
)

PROVIDER: Final = "google"
STATUSES: Final = (*RUNNING, *ENDED)

# Records, and the items of a response

Kind: TypeAlias = Literal["prompt", "context", "results", "response", "notice", "unknown"]

CONTEXT: Final = "<session_context>"
FOLDER_PREFIXES: Final = ("Workspace Directories:**\n  - ", "working in the directory: ")
"""The texts before the folder of the project in a context, in newer and older versions."""

NOTICES: Final = frozenset({"info", "warning", "error"})
STOPPED: Final = "Request cancelled."

COMMON: Final = frozenset({"id", "timestamp", "type", "content", "displayContent"})
FIELDS: Final = {
    "gemini": COMMON | {"model", "thoughts", "tokens", "toolCalls"},
}
"""The known members of a response; other messages have those of `COMMON`."""


CHECKS: Final[dict[str, Callable[[Json], bool]]] = {
    "model": lambda value: value is None or isinstance(value, str),
    "tokens": lambda value: value is None or is_object(value),
    "thoughts": lambda value: value is None or is_array(value),
    "toolCalls": lambda value: value is None or (is_array(value) and all(map(is_object, value))),
}
"""The types of the members of a response. One of another type is kept as it is."""


class ResponseItem(NamedTuple):
    """An item of a response, in the order of display. A call has its id as `key`."""

    kind: Literal["thought", "content", "call"]
    key: str
    value: Json


def kind_of_record(record: JsonObject) -> Kind:
    """The kind of a record. Most records of users are results of tools."""
    type_ = record.get("type")
    if type_ == "gemini":
        return "response"
    if type_ == "user":
        content = record.get("content")
        if any(response_of(item) is not None for item in items_of(content)):
            return "results"
        return "context" if joined_text(content).startswith(CONTEXT) else "prompt"
    return "notice" if isinstance(type_, str) and type_ in NOTICES else "unknown"


def folder_in(context: str) -> str | None:
    """The folder of the project that a context names."""
    for before in FOLDER_PREFIXES:
        _, found, rest = context.partition(before)
        if found:
            return rest.partition("\n")[0].strip() or None
    return None


def user_parts(record: JsonObject) -> tuple[UserPart, ...]:
    """Return the parts of a user message. Results of tools are in their calls: here they have only an id."""
    parts: list[UserPart] = []
    for item in items_of(record.get("content")):
        response = response_of(item)
        if response is None:
            parts.append(read_content(item) or kept_part(item))
        else:
            parts.append(DataPart("gemini-result", {"id": response.get("id"), "name": response.get("name")}))
    return tuple(parts)


def notice_parts(record: JsonObject) -> tuple[SystemPart, ...]:
    """A notice: its text, if it has any, and its kind."""
    content = record.get("content")
    text = joined_text(content)
    data = DataPart(f"gemini-{record['type']}", {} if text else {"content": content})
    return (TextPart(text), data) if text else (data,)


def metadata_of(record: JsonObject, unknown: list[str]) -> Json | UnsetType:
    """The metadata of a message: the model, what was displayed instead, and unknown members."""
    metadata: JsonObject = {}
    if isinstance(model := record.get("model"), str):
        metadata["model"] = model
    own = {key: record[key] for key in unknown}
    if (display := record.get("displayContent")) is not None and display != record.get("content"):
        own["displayContent"] = display
    return {**metadata, **(other_members(own) or {})} or UNSET


def unknown_members(record: JsonObject) -> list[str]:
    """Return the unknown members of a message."""
    known = FIELDS.get(record["type"], COMMON)
    unknown = [] if record.keys() <= known else [key for key in record if key not in known]
    if record["type"] == "gemini":
        unknown += [key for key, is_good in CHECKS.items() if key in record and not is_good(record[key])]
    return unknown


def items_of_response(record: JsonObject) -> list[ResponseItem]:
    """The thoughts, the content and the calls of a response."""
    thoughts = record.get("thoughts")
    items = [ResponseItem("thought", "", thought) for thought in (thoughts if is_array(thoughts) else ())]
    calls: dict[str, JsonObject] = {}
    for call in calls_of(record):
        calls[_name(call, record, calls)] = call
    for item in items_of(record.get("content")):
        asked = call_of(item)
        if asked is None:
            items.append(ResponseItem("content", "", item))
        elif asked.get("id") not in calls:
            calls[_name(asked, record, calls)] = asked
    return items + [ResponseItem("call", name, call) for name, call in calls.items()]


def extends(before: list[ResponseItem], items: list[ResponseItem]) -> bool:
    """Whether a response only has new items at the end, or calls that continued."""
    return len(before) <= len(items) and all(
        old == new
        or (old.kind == new.kind == "call" and old.key == new.key and _continues(old.value, new.value))
        for old, new in zip(before, items, strict=False)
    )


def _continues(old: JsonObject, new: JsonObject) -> bool:
    """Whether a call only continued. Chunks cannot remove a title."""
    return old.get("name") == new.get("name") and old.get("displayName") == new.get("displayName")


def item_chunks(item: ResponseItem, number: int) -> Iterator[Chunk]:
    """The chunks of a piece of a response."""
    if item.kind == "call":
        yield from call_chunks(item.key, item.value)
    elif item.kind == "thought":
        yield from _thought(item.value, str(number))
    else:
        yield from _content(item.value, str(number))


def _name(call: JsonObject, record: JsonObject, others: Container[str]) -> str:
    """The id of a call; a new one if it has none or another call has it."""
    id_ = call.get("id")
    if isinstance(id_, str) and id_ and id_ not in others:
        return id_
    return next(name for number in count() if (name := f"{record['id']}-call-{number}") not in others)


def _thought(thought: Json, block: str) -> Iterator[Chunk]:
    if not is_object(thought):
        yield DataChunk("data-gemini-thought", thought)
        return
    rest = {key: value for key, value in thought.items() if key != "description"}
    subject, description = thought.get("subject"), thought.get("description")
    title = f"**{subject}**" if isinstance(subject, str) and subject else ""
    lines = [text for text in (title, description) if isinstance(text, str) and text]
    yield ReasoningStart(block, other_members(rest))
    yield ReasoningDelta(block, "\n".join(lines))
    yield ReasoningEnd(block)


def _content(item: Json, block: str) -> Iterator[Chunk]:
    part = read_content(item)
    if part is None:
        yield DataChunk("data-gemini-part", item)
    elif not isinstance(part, TextPart):
        yield FileChunk(part.url, part.media_type or "", part.provider_metadata)
    elif is_object(item) and item.get("thought") is True:
        yield ReasoningStart(block, part.provider_metadata)
        yield ReasoningDelta(block, part.text)
        yield ReasoningEnd(block)
    else:
        yield TextStart(block, part.provider_metadata)
        yield TextDelta(block, part.text)
        yield TextEnd(block)


# Messages


class Timeline(MessageTree):
    """The list of messages that records change, and the tree of all messages that were in it.

    A record may replace a message, drop all from one on, or replace the whole list. What was dropped remains
    in its position, as a branch.
    """

    def __init__(self, sink: LogSink) -> None:
        super().__init__(sink)
        self.root = self.tail
        self._order: dict[str, None] = {}

    def is_listed(self, id: str) -> bool:
        """Whether a message is in the list."""
        return id in self._order

    def position(self, id: str) -> TreePosition:
        """Return the position of a message. A new one, or one that is added back, is the last of the list."""
        position = super().position(id)
        if id not in self._order:
            self._order[id] = None
            self.tail = id
        return position

    def put(self, id: str) -> TreePosition:
        """Return the position of a notice, which is in the tree and not in the list."""
        return super().position(id)

    def drop(self, id: str) -> list[str]:
        """Drop a message and all after it, or all if it is not listed; returns their ids."""
        ids = list(self._order)
        dropped = ids[ids.index(id) :] if id in self._order else ids
        self.forget(dropped)
        return dropped

    def missing(self, ids: list[str]) -> list[str]:
        """The listed messages that are not among `ids`."""
        others = set(ids)
        return [one for one in self._order if one not in others]

    def forget(self, ids: list[str]) -> None:
        """Remove messages from the list."""
        for one in ids:
            self._order.pop(one, None)

    @property
    def last(self) -> str | None:
        """The last message of the list."""
        return next(reversed(self._order), None)


class OpenResponse(NamedTuple):
    """The response that may still change, as it was last read."""

    id: str
    items: list[ResponseItem]
    metadata: Json


class Messages:
    """Adds messages at their positions, and updates repeated ones."""

    def __init__(self, sink: LogSink, timeline: Timeline) -> None:
        self.is_branched = False
        self._sink = sink
        self._timeline = timeline
        self._open_response: OpenResponse | None = None
        self._copies: set[str] = set()
        self._waiting: set[str] = set()  # calls that have no output yet
        self._late: dict[
            str, tuple[ToolOutputChunk, int]
        ] = {}  # outputs in separate records, with their lines
        self._notices = 0
        self._turn_begun = self._is_answered = False

    def begin_record(self) -> None:
        """Begin the next record. It begins at most one turn, even with several prompts."""
        self._turn_begun = False

    def set_time(self, value: Json) -> datetime | None:
        """Set the time of the current record."""
        time = parse_iso(value) if isinstance(value, str) else None
        if time is not None:
            self._sink.set_time(time)
        elif value is not None:
            self._sink.report_unknown("a time that cannot be read")
        return time

    def message(self, id_: str, record: JsonObject, *, is_copy: bool) -> None:
        """Add a new message, or update a repeated one. A copy replaces messages that a compaction dropped."""
        is_changed = self._timeline.is_changed(id_, record)
        if is_changed is None:
            self._sink.report_unknown("a message that is nested too deeply", detail=id_)
            return
        if not is_changed and self._timeline.is_listed(id_):
            return
        kind = kind_of_record(record)
        is_new = id_ not in self._timeline
        if is_new and is_copy:
            self._copies.add(id_)
        begins = kind == "prompt" and is_new and not is_copy
        if begins:
            self.end_turn()
        time = self.set_time(record.get("timestamp"))
        if begins:
            self._begin_turn(joined_text(record.get("content")))
        self._add(kind, id_, record, time)
        if self.is_branched:
            self._sink.set_fact("leaf", self._timeline.tail)

    def notice(self, name: str, data: Json, *, id: str | None = None, internal: bool = False) -> None:
        """Add a notice after the last message, which is not a record."""
        self._notices += 1
        id_ = f"{name}-{self._notices}" if id is None else id
        position = self._timeline.put(id_)
        content = SystemContent(parts=(DataPart(name, data),))
        envelope = self._timeline.envelope(id_, self._sink.time, internal=internal, position=position)
        envelope["type"] = "event"
        self._sink.add_message(SystemMessage(content=content, **envelope))
        if self.is_branched:
            self._sink.set_fact("leaf", self._timeline.tail)

    def end_turn(self) -> None:
        """End the current turn as completed, if the last response has no calls."""
        self._open_response = None
        if self._is_answered:
            self._is_answered = False
            self._sink.end_turn("completed")

    def _begin_turn(self, prompt: str) -> None:
        if not self._turn_begun:
            self._sink.start_turn()
        self._turn_begun = True
        self._sink.set_fact("prompt", prompt)

    def _add(self, kind: Kind, id_: str, record: JsonObject, time: datetime | None) -> None:
        if kind != "response" and self._open_response is not None and self._open_response.id == id_:
            self._open_response = None
        if kind == "unknown":
            self._sink.report_unknown(f"unknown message type {record.get('type')!r:.80}")
            self._event(id_, time, (DataPart("gemini-message", record),), True)
            return
        unknown = unknown_members(record)
        for key in unknown:
            self._sink.report_unknown(f"unknown field {key!r} of a message")
        metadata = metadata_of(record, unknown)
        if kind == "response":
            self._response(id_, record, time, metadata)
        elif kind == "notice":
            self._event(id_, time, notice_parts(record), not joined_text(record.get("content")), metadata)
            self._end_by_notice(record)
        else:
            self._user(kind, id_, record, time, metadata)

    def _event(
        self,
        id_: str,
        time: datetime | None,
        parts: tuple[SystemPart, ...],
        internal: bool,
        metadata: Json = UNSET,
    ) -> None:
        content = SystemContent(parts=parts, metadata=metadata)
        envelope = self._timeline.envelope(id_, time, internal=internal)
        envelope["type"] = "event"
        self._sink.add_message(SystemMessage(content=content, **envelope))

    def _end_by_notice(self, record: JsonObject) -> None:
        """End the turn as a notice reports. An error after the response is not of the turn."""
        text = joined_text(record.get("content"))
        if record["type"] == "error" and not self._is_answered:
            self._sink.end_turn("failed", text or None)
        elif text == STOPPED:
            self._is_answered = False
            self._sink.end_turn("interrupted", text)

    # Users and tools

    def _user(self, kind: Kind, id_: str, record: JsonObject, time: datetime | None, metadata: Json) -> None:
        content = UserContent(parts=user_parts(record), metadata=metadata)
        internal = kind != "prompt" or id_ in self._copies
        envelope = self._timeline.envelope(id_, time, internal=internal)
        if internal:
            envelope["type"] = "event"
        self._sink.add_message(UserMessage(content=content, **envelope))
        if kind == "results":
            self._results(record)
        elif kind == "context" and (folder := folder_in(joined_text(record.get("content")))) is not None:
            self._sink.set_fact("cwd", folder)

    def _results(self, record: JsonObject) -> None:
        """Add results of tools in separate records. Usually the calls have them too."""
        for item in items_of(record.get("content")):
            response = response_of(item)
            if response is None:
                continue
            call = response.get("id")
            message = self._sink.call_message(call) if isinstance(call, str) else None
            if message is None:
                self._sink.report_unknown(NO_CALL)
                self.notice("gemini-result", response, internal=True)
            elif call in self._waiting:
                self._waiting.discard(call)
                late = ToolOutputChunk(call, result_of(item))
                self._late[call] = late, self._sink.line
                self._sink.append(message, late)

    # Responses

    def _response(self, id_: str, record: JsonObject, time: datetime | None, metadata: Json) -> None:
        items = items_of_response(record)
        before = self._open_response
        is_last = id_ not in self._timeline or (before is not None and before.id == id_)
        if before is not None and before.id == id_ and extends(before.items, items):
            self._timeline.position(id_)
            if is_object(metadata) and metadata != before.metadata:
                self._sink.append(id_, MessageMetadata(metadata))
        else:
            before = OpenResponse(id_, [], metadata)
            self._open(id_, record, time, metadata)
        for number, item in enumerate(items):
            if number >= len(before.items) or before.items[number] != item:
                self._grow(id_, item, number)
        self._open_response = OpenResponse(id_, items, metadata)
        if is_last:
            self._is_answered = bool(items) and items[-1].kind != "call"
        self._consume(id_, record, time)

    def _open(self, id_: str, record: JsonObject, time: datetime | None, metadata: Json) -> None:
        content = AssistantContent(parts=(), metadata=metadata)
        internal = id_ in self._copies and record.get("tokens") is None
        envelope = self._timeline.envelope(id_, time, internal=internal)
        self._sink.open(AssistantMessage(content=content, **envelope))
        self._sink.append(id_, StepStart())

    def _grow(self, id_: str, item: ResponseItem, number: int) -> None:
        if item.kind != "call":
            self._sink.append(id_, *item_chunks(item, number))
            return
        has_ended = False
        for chunk in item_chunks(item, number):
            if isinstance(chunk, ToolOutputChunk):
                has_ended = True
                self.set_time(item.value.get("timestamp"))
            self._sink.append(id_, chunk)
        self._add_call(id_, item.key, item.value, has_ended)

    def _add_call(self, id_: str, call_id: str, call: JsonObject, has_ended: bool) -> None:
        if has_ended:
            self._waiting.discard(call_id)
        elif (late := self._late.get(call_id)) is not None:
            output, line = late
            with self._sink.from_lines(line):
                self._sink.append(id_, output)
        else:
            self._waiting.add(call_id)
        status = call.get("status")
        if status is not None and not (isinstance(status, str) and status in STATUSES):
            self._sink.report_unknown(f"unknown status {status!r:.80} of a call")
        if (agent := agent_of(call)) is not None:
            self._sink.link_agent(agent, call_id)

    def _consume(self, id_: str, record: JsonObject, time: datetime | None) -> None:
        model = record.get("model")
        model = model if isinstance(model, str) else None
        if model is not None:
            self._sink.set_fact("model", model)
        usage = usage_of(record.get("tokens"))
        if usage is not None:
            self._sink.add_consumption(
                Consumption(f"gemini:{record['id']}", id_, model, usage, time or self._sink.time, PROVIDER)
            )
