"""UI messages of AI SDK 4 ↔ canonical messages.

Version 4 has many things twice. The parts of a message are read; where there are none they are made of
`toolInvocations`, `reasoning` and `content`, in this order, as version 4 makes them. What these members say
otherwise is kept as residue; where they are missing they are written. `content` is always kept.

- `annotations` are metadata of that name; attachments are files behind the other parts.
- A message of role `data` is an assistant message that ends with a `data` part.
- Where a message has no `step-start`, steps begin where version 4 would begin a new model call.

Version 4 has no failed, denied, interrupted or approved calls: they are written as results. Parts that it
does not have are written as annotations, as version 7 writes them. The execution of a network is written as a
call.

Source: https://github.com/vercel/ai/blob/v4/packages/ui-utils/src/types.ts
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.ai_sdk.ui.display import displayed
from partita.formats.ai_sdk.ui.format import EMPTY_ID, REASONS
from partita.formats.ai_sdk.ui.format import write_part as write_part_v7
from partita.formats.ai_sdk.ui.network import network_tool_call
from partita.formats.core.files import FILES
from partita.formats.core.metadata import message_notes, with_message_notes
from partita.formats.core.report import Entry, Place, Record, Report
from partita.formats.core.residue import residue, restore
from partita.formats.core.sidecar import in_list
from partita.formats.core.wire import to_json
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.losses import Loss
from partita.formats.reasons import NO_CALL, NO_PLACE, ORDERED, OTHER_FORM, STEPS
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    Part,
    SystemContent,
    SystemMessage,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import (
    CustomPart,
    DataPart,
    ForeignPart,
    ReasoningPart,
    SourceDocumentPart,
    SteeringMessagePart,
    StepStartPart,
    UnknownPart,
)
from partita.types.times import in_utc, json_date
from partita.types.value import kept, unkept

from .parts import (
    ATTACHMENTS,
    IMPLIED,
    PARTS,
    begins_reasoning,
    is_attached,
    read_attached,
    read_part,
    type_of,
    write_reasoning,
)
from .wire import ATTACHMENT_NAME, NAME, InvocationBlock

DATA: Final = "data"
"""The role, the member and the part of what an application sent in messages of their own."""

ROLES: Final[Mapping[str, tuple[type[Message], type[Any]]]] = {
    "system": (SystemMessage, SystemContent),
    "user": (UserMessage, UserContent),
    **dict.fromkeys(("assistant", DATA), (AssistantMessage, AssistantContent)),
}

KINDS: Final[Sequence[tuple[str, type, str]]] = (
    ("id", str, "make it a string"),
    ("content", str, "messages whose content is a list are model messages, another format"),
    ("parts", list, "make it a list, or leave it out"),
)
"""What members must be, and what to do if they are not."""

MEMBERS: Final = frozenset(
    {
        *("role", "content", "createdAt", "annotations", "experimental_attachments"),
        *("toolInvocations", "reasoning"),
    }
)
"""Members whose spelling is kept. Others, besides id and parts, are unknown."""

ONLY_LATER: Final = (DataPart, SourceDocumentPart, CustomPart, SteeringMessagePart)
"""Parts that version 4 does not have."""


REPORT: Final = Report(NAME, NO_PLACE, REASONS)


# Reading


class Reader:
    """Reads UI messages of version 4. A place is the number of a message, then that of a part."""

    def __init__(self, payload: Json) -> None:
        self.places: dict[Place, Any] = {}
        self.messages: list[Message] = []
        for index, raw in enumerate(payload if is_array(payload) else [payload]):
            path = f"$[{index}]" if is_array(payload) else "$"
            message = self._message(_checked(raw, path), index)
            self.messages.append(message)
            self.places[(index,)] = message

    def _message(self, raw: JsonObject, index: int) -> Message:
        """A message. If it has no id, it gets one by its number."""
        role: str = raw["role"]
        raws = raw_parts(raw, role)
        is_marked = role in ("system", "user") or "step-start" in map(type_of, raws)
        starts = frozenset[int]() if is_marked else frozenset(_implied_steps(raws))
        parts = (*self._parts(raws, starts, role, index), *self._behind(raw, role, index))
        content: JsonObject = {"parts": parts, "content": raw.get("content")}
        if is_array(raw.get("annotations")):
            content["metadata"] = {"annotations": raw["annotations"]}
        known = MEMBERS | {"id", "parts"} | ({DATA} if role == DATA else set())
        rest = {name: value for name, value in raw.items() if name not in known}
        message_type, content_type = ROLES[role]
        id_: Json = raw.get("id")
        message = message_type(
            id=EMPTY_ID.format(index + 1) if id_ is None else id_,
            content=content_type(**content),
            created_at=_read_time(raw.get("createdAt")),
            extra=kept(rest, message_type),
        )
        written = {**_shell(message), **mirrors(raws)}
        spelling = {name: raw[name] for name in raw if name in MEMBERS and not _is_read(name, raw, role)}
        found = residue(written, {**written, **spelling})
        return with_message_notes(message, NAME, {**found, IMPLIED: True} if starts else found)

    def _parts(self, raws: Sequence[Json], starts: Set[int], role: str, index: int) -> Iterator[Part]:
        """The parts. `starts`: the numbers of those before which a step starts that is not in the payload."""
        step = 0
        last: Any = None
        for place, raw in enumerate(raws):
            if place in starts:
                last = self.places[index, place, "start"] = StepStartPart()
                yield last
            step += place in starts or (place > 0 and type_of(raw) == "step-start")
            follows = isinstance(last, ReasoningPart)
            for number, last in enumerate(read_part(raw, role, step, follows_reasoning=follows)):
                self.places[index, place, number] = last
                yield last

    def _behind(self, raw: JsonObject, role: str, index: int) -> Iterator[Part]:
        """The parts of attachments, and of the data of a data message."""
        attachments = raw.get("experimental_attachments")
        if role != "system" and is_array(attachments):
            for place, one in enumerate(attachments):
                file = self.places[index, "attachment", place] = read_attached(one, role)
                yield file
        if role == DATA and DATA in raw:
            data = self.places[index, DATA] = DataPart(DATA, raw[DATA])
            yield data


def _is_read(name: str, raw: JsonObject, role: str) -> bool:
    """Whether a member is read as something else than it is."""
    if name == "annotations":
        return is_array(raw[name])
    return name == "experimental_attachments" and role != "system" and is_array(raw[name]) and raw[name] != []


def _checked(raw: Json, path: str) -> JsonObject:
    """A message whose members can be read."""
    if not is_object(raw):
        what = f"a UI message is an object, found {kind_of(raw)}"
        raise ConversionError(what, where=path, hint="give {id, role, content}")
    role = raw.get("role")
    if not isinstance(role, str) or role not in ROLES:
        hint = "use system, user, assistant or data"
        raise ConversionError(f"unknown role {role!r}", where=f"{path}.role", hint=hint)
    for name, type_, hint in KINDS:
        if raw.get(name) is not None and not isinstance(raw[name], type_):
            raise ConversionError(f"{name} is {kind_of(raw[name])}", where=f"{path}.{name}", hint=hint)
    return raw


def raw_parts(raw: JsonObject, role: str) -> list[Json]:
    """The parts of a message, made of its other members if it has none."""
    if is_array(raw.get("parts")):
        return list(raw["parts"])
    parts: list[Json] = []
    calls, reasoning, text = raw.get("toolInvocations"), raw.get("reasoning"), raw.get("content")
    if role in ("assistant", DATA):
        if is_array(calls):
            parts += [{"type": "tool-invocation", "toolInvocation": call} for call in calls]
        if isinstance(reasoning, str) and reasoning:
            details = [{"type": "text", "text": reasoning}]
            parts.append({"type": "reasoning", "reasoning": reasoning, "details": details})
    if text:
        parts.append({"type": "text", "text": text})
    return parts


def _implied_steps(parts: Sequence[Json]) -> Iterator[int]:
    """Where version 4 would begin a new model call: at a text after a call, and at a call of another step."""
    step = 0
    is_called = False  # in this step
    for place, part in enumerate(parts):
        kind = type_of(part)
        if kind in ("text", "reasoning") and is_called:
            yield place
            step, is_called = step + 1, False
        elif kind == "tool-invocation":
            call: Json = part.get("toolInvocation")
            number = call.get("step") if is_object(call) else None
            if type(number) is int and number != step:
                step = number
                if place > 0:
                    yield place
            is_called = True


def _read_time(value: Json) -> datetime | None:
    try:
        return in_utc(datetime.fromisoformat(value), "createdAt") if isinstance(value, str) else None
    except (ValueError, DecodeError):
        return None


# Writing


def mirrors(parts: Sequence[Json]) -> JsonObject:
    """What version 4 repeats of the parts in the message: `toolInvocations` and `reasoning`."""
    calls: list[Json] = []
    texts: list[str] = []
    for part in parts:
        kind = type_of(part)
        if kind == "tool-invocation" and "toolInvocation" in part:
            calls.append(part["toolInvocation"])
        elif kind == "reasoning" and isinstance(part.get("reasoning"), str) and not _is_redacted(part):
            texts.append(part["reasoning"])
    return ({"toolInvocations": calls} if calls else {}) | ({"reasoning": "".join(texts)} if texts else {})


def _is_redacted(part: JsonObject) -> bool:
    details: Json = part.get("details")
    return is_array(details) and bool(details) and all(type_of(one) == "redacted" for one in details)


def _shell(message: Message) -> JsonObject:
    """A message without its parts and what follows from them."""
    written: JsonObject = {"role": message.role}
    if message.created_at is not None:
        written["createdAt"] = json_date(message.created_at)
    if message.content.content is not None:
        written["content"] = message.content.content
    return written


class Writer:
    """Writes UI messages of version 4, and records what was written where."""

    def __init__(self) -> None:
        self.record = Record()
        self.payload: list[JsonObject] = []

    def add(self, message: Message, path: str) -> None:
        """Write a message."""
        if isinstance(message, ToolMessage):
            self.record.losses.append(Loss.of(path, message, NO_CALL))
            return
        index = len(self.payload)
        noted = message_notes(message, NAME)
        self.record.entries.append(Entry(message, path, (index,)))
        parts = self._write_parts(message, index, f"{path}.content.parts")
        written = {"content": _text(parts.written), **_shell(message), **mirrors(parts.written)}
        written = restore(written, {name: noted[name] for name in noted if name != IMPLIED})
        metadata = message.content.metadata
        annotations: Json = metadata.get("annotations") if is_object(metadata) else None
        if is_array(annotations) or parts.annotations:
            own: list[Json] = annotations if is_array(annotations) else []
            written["annotations"] = [*own, *parts.annotations]
        if parts.attachments:
            written["experimental_attachments"] = parts.attachments
        if parts.data is not UNSET:
            written[DATA] = parts.data
        written = {"id": message.id, **written, "parts": parts.written}
        for name, value in unkept(message.extra).items():
            written.setdefault(name, value)
        self.payload.append(written)

    def _write_parts(self, message: Message, index: int, path: str) -> "_PartWriter":
        """The parts. Step starts that were not in the payload are not written if they are implied still."""
        noted = message_notes(message, NAME)
        role = restore({"role": message.role}, noted)["role"]
        parts = _PartWriter(role, index, are_marked=noted.get(IMPLIED) is not True)
        parts.add_all(message.parts, path)
        if not parts.are_marked and parts.starts.keys() != set(_implied_steps(parts.written)):
            parts = _PartWriter(role, index, are_marked=True)
            parts.add_all(message.parts, path)
        if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
            call = network_tool_call(message.id, message.content.network_execution)
            parts.push(PARTS.write(replace(call, tool_metadata=None)), "")
        self.record.entries += parts.record.entries
        self.record.losses += [*parts.record.losses, *parts.added_steps()]
        return parts


def _text(parts: Sequence[Json]) -> str:
    texts = [part.get("text") for part in parts if type_of(part) == "text"]
    return "".join([text for text in texts if isinstance(text, str)])


class _PartWriter:
    """Writes the parts of a message, and what of them is elsewhere in it."""

    def __init__(self, role: str, index: int, *, are_marked: bool) -> None:
        """`are_marked`: step starts are written."""
        self.record = Record()
        self.written: list[Json] = []
        self.annotations: list[Json] = []
        self.attachments: list[Json] = []
        self.data: Json = UNSET  # of a data message
        self.are_marked = are_marked
        self.starts: dict[int, StepStartPart] = {}
        """Step starts that are not written, by the number of the part after them."""
        self._role, self._index = role, index
        self._step = 0
        self._paths: list[str] = []  # of the parts that are written
        self._moved: list[str] = []  # of parts that are elsewhere, while no other part follows
        self._reasoning: list[ReasoningPart] = []  # the details of the reasoning at the end

    def add_all(self, parts: Sequence[Part], path: str) -> None:
        """Write the parts."""
        for number, part in enumerate(parts):
            self._add(part, f"{path}[{number}]")

    def added_steps(self) -> Iterator[Loss]:
        """The steps that a reader adds, because the message has none."""
        if self._role in ("assistant", DATA) and "step-start" not in map(type_of, self.written):
            for place in _implied_steps(self.written):
                if place not in self.starts:
                    yield Loss(self._paths[place], "its step", STEPS, "changed")

    def _enter(self, part: Part, path: str, *place: Any) -> None:
        self.record.entries.append(Entry(part, path, (self._index, *place) if place else None))

    def _add(self, part: Part, path: str) -> None:
        if isinstance(part, ReasoningPart):
            self._add_reasoning(part, path)
        elif isinstance(part, StepStartPart) and not self.are_marked:
            self._step += 1
            self._reasoning = []
            self.starts[len(self.written)] = part
            self._enter(part, path, len(self.written), "start")
        elif isinstance(part, FILES) and is_attached(part, self._role):
            self._attach(to_json(ATTACHMENTS.write(part)), part, path)
        elif isinstance(part, ForeignPart) and part.format == ATTACHMENT_NAME:
            self._attach(part.value, part, path)
        elif isinstance(part, DataPart) and self._is_data_of_message(part):
            self.data = part.data
            self._moved.append(path)
            self._enter(part, path, DATA)
        elif isinstance(part, ONLY_LATER):
            self.record.losses.append(Loss.of(f"{path}.type", part.type, OTHER_FORM, "changed"))
            self.annotations.append(write_part_v7(part))
        elif isinstance(part, ForeignPart) and part.format != NAME:
            self._enter(part, path)
        else:
            self._enter(part, path, len(self.written), 0)
            is_whole = isinstance(part, ForeignPart | UnknownPart)
            self.push(_whole(part) if is_whole else PARTS.write(part), path)

    def push(self, raw: Any, path: str) -> None:
        """Write a part. A call gets the number of its step."""
        if isinstance(raw, InvocationBlock) and raw.toolInvocation.step is UNSET:
            raw = replace(raw, toolInvocation=replace(raw.toolInvocation, step=self._step))
        block: Json = to_json(raw)
        self._step += bool(self.written) and type_of(block) == "step-start"
        self._reasoning = []
        self.written.append(block)
        self._paths.append(path)
        self.record.losses += [Loss(one, "its place", ORDERED, "changed") for one in self._moved]
        self._moved = []

    def _attach(self, raw: Json, part: Part, path: str) -> None:
        self._enter(part, path, "attachment", len(self.attachments))
        self.attachments.append(raw)
        self._moved.append(path)

    def _is_data_of_message(self, part: DataPart) -> bool:
        is_first = self._role == DATA and self.data is UNSET
        return is_first and part.data is not UNSET and part == DataPart(DATA, part.data)

    def _add_reasoning(self, part: ReasoningPart, path: str) -> None:
        """Write a detail, in one reasoning with the parts before it."""
        if self._reasoning and not begins_reasoning(part):
            details = [*self._reasoning, part]
            self.written[-1] = write_reasoning(details)
        else:
            details = [part]
            self.push(write_reasoning(details), path)
        self._reasoning = details
        self._enter(part, path, len(self.written) - 1, len(details) - 1)


def _whole(part: ForeignPart | UnknownPart) -> Json:
    return part.value if isinstance(part, ForeignPart) else dict(part.raw)


def load(payload: Json) -> Loaded:
    """Read UI messages of version 4, one or a list of them."""
    return Loaded(tuple(Reader(payload).messages))


def dump(messages: Sequence[Message]) -> Dumped:
    """Write messages as the list that `useChat` of version 4 takes."""
    writer = Writer()
    for index, message in enumerate(fold(messages)):
        path = f"$[{index}]"
        writer.add(displayed(message, path, writer.record.losses), path)
    payload = writer.payload
    return Dumped(payload, lambda: REPORT.compare(writer.record, Reader(payload).places))


FORMAT: Final = Format(
    NAME, "AI SDK 4 UI messages", load, dump, slot=in_list("annotations"), is_complete=True
)
