"""UI messages of AI SDK 4 ↔ canonical messages.

Version 4 has many values twice. The parts of a message are read; if there are none, they are made of
`toolInvocations`, `reasoning` and `content`, in this order, as version 4 makes them. Other values of these
members are kept as residue; absent members are written. `content` is always kept.

- `annotations` are metadata of that name; attachments are files after the other parts.
- A message of role `data` is an assistant message that ends with a `data` part.
- In a message without `step-start`, steps begin where version 4 would start a new model call.

Version 4 has no failed, denied, interrupted or approved calls: they are written as results. Parts that it
does not have are written as annotations, as version 7 writes them. The execution of a network is written as a
call.

Source: https://github.com/vercel/ai/blob/v4/packages/ui-utils/src/types.ts
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import force_setattr, replace

from partita.errors import ConversionError, DecodeError
from partita.formats.ai_sdk.ui.display import displayed
from partita.formats.ai_sdk.ui.format import EMPTY_ID, REASONS
from partita.formats.ai_sdk.ui.format import write_part as write_part_v7
from partita.formats.ai_sdk.ui.network import network_tool_call
from partita.formats.core.files import FILES, AnyFile
from partita.formats.core.metadata import add_notes, message_notes
from partita.formats.core.report import REPORTED, Record, Report
from partita.formats.core.sidecar import in_list
from partita.formats.core.turns import Position
from partita.formats.core.wire import Wire, residue, restore, to_json
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.losses import NO_CALL, NO_PLACE, ORDERED, OTHER_FORM, STEPS, Loss
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
from partita.types.times import in_utc, javascript_date
from partita.types.tool_results import fold
from partita.types.value import keep_fields, kept_fields

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
from .wire import ATTACHMENT_NAME, NAME, InvocationBlock, StepStart

DATA: Final = "data"
"""The role, the member and the part for data that an application sent in messages of its own."""

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
"""The types of members, and the hint for an error if one has another type."""

MEMBERS: Final = frozenset(
    {
        *("role", "content", "createdAt", "annotations", "experimental_attachments"),
        *("toolInvocations", "reasoning"),
    }
)
"""Members of which the spelling is kept."""

KNOWN: Final = MEMBERS | {"id", "parts", DATA}
"""All known members."""

NOT_RESTORED: Final = frozenset({IMPLIED})
"""Notes about messages that are not members."""


REPORT: Final = Report(NAME, NO_PLACE, REASONS)


# Reading


class Reader:
    """Reads UI messages of version 4. A position is the number of a message, then that of a part."""

    def __init__(self, payload: Json) -> None:
        self.positions: dict[Position, Any] = {}
        self.messages: list[Message] = []
        for index, raw in enumerate(payload if is_array(payload) else [payload]):
            path = f"$[{index}]" if is_array(payload) else "$"
            message = self._message(_checked(raw, path), index)
            self.messages.append(message)
            self.positions[(index,)] = message

    def _message(self, raw: JsonObject, index: int) -> Message:
        """Read a message. If it has no id, it gets one by its number."""
        role: str = raw["role"]
        raws = raw_parts(raw, role)
        kinds = [type_of(one) for one in raws]
        is_marked = role in ("system", "user") or "step-start" in kinds
        starts: Set[int] = set() if is_marked else set(_implied_steps(raws, kinds))
        parts = (*self._parts(raws, kinds, starts, role, index), *self._behind(raw, role, index))
        message_type, content_type = ROLES[role]
        text, time = raw.get("content"), _read_time(raw.get("createdAt"))
        spelled = {name: raw[name] for name in raw if name in MEMBERS and not _is_read(name, raw, role)}
        written = {**_shell(message_type.role, time, text), **mirrors(raws, kinds)}
        found = residue({name: written[name] for name in written if name in spelled}, spelled)
        content = content_type(
            parts=parts,
            content=text,
            metadata={"annotations": raw["annotations"]} if is_array(raw.get("annotations")) else UNSET,
            provider_metadata=add_notes(None, NAME, {**found, IMPLIED: True} if starts else found),
        )
        rest = {} if raw.keys() <= KNOWN else {name: raw[name] for name in raw if name not in KNOWN}
        if DATA in raw and role != DATA:
            rest[DATA] = raw[DATA]
        id_: Json = raw.get("id")
        return message_type(
            id=EMPTY_ID.format(index + 1) if id_ is None else id_,
            content=content,
            created_at=time,
            extra=keep_fields(rest, message_type),
        )

    def _parts(
        self, raws: Sequence[Json], kinds: Sequence[str | None], starts: Set[int], role: str, index: int
    ) -> list[Part]:
        """Read the parts.

        `starts`: the numbers of parts before which a step starts without a step-start part.
        """
        step = 0
        parts: list[Part] = []
        for place, (raw, kind) in enumerate(zip(raws, kinds, strict=True)):
            if place in starts:
                start = self.positions[index, place, "start"] = StepStartPart()
                parts.append(start)
            step += place in starts or (place > 0 and kind == "step-start")
            follows = bool(parts) and type(parts[-1]) is ReasoningPart
            for number, part in enumerate(read_part(raw, kind, role, step, follows_reasoning=follows)):
                self.positions[index, place, number] = part
                parts.append(part)
        return parts

    def _behind(self, raw: JsonObject, role: str, index: int) -> Iterator[Part]:
        """Yield the parts of attachments, and that of the data of a data message."""
        attachments = raw.get("experimental_attachments")
        if role != "system" and is_array(attachments):
            for place, one in enumerate(attachments):
                file = self.positions[index, "attachment", place] = read_attached(one, role)
                yield file
        if role == DATA and DATA in raw:
            data = self.positions[index, DATA] = DataPart(DATA, raw[DATA])
            yield data


def _is_read(name: str, raw: JsonObject, role: str) -> bool:
    """Whether a member is read as a part or as metadata."""
    if name == "annotations":
        return is_array(raw[name])
    return name == "experimental_attachments" and role != "system" and is_array(raw[name]) and raw[name] != []


def _checked(raw: Json, path: str) -> JsonObject:
    """Return a message after checking the types of its members."""
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
    """Return the parts of a message, made of other members if it has none."""
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


def _implied_steps(parts: Sequence[Json], kinds: Sequence[str | None]) -> Iterator[int]:
    """Yield where version 4 would start a new model call: a text after a call, or a call of another step."""
    step = 0
    is_called = False  # in this step
    for place, kind in enumerate(kinds):
        if kind in ("text", "reasoning") and is_called:
            yield place
            step, is_called = step + 1, False
        elif kind == "tool-invocation":
            call: Json = parts[place].get("toolInvocation")
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


def mirrors(parts: Sequence[Json], kinds: Sequence[str | None]) -> JsonObject:
    """Return the members that repeat the parts: `toolInvocations` and `reasoning`."""
    calls: list[Json] = []
    texts: list[str] = []
    for part, kind in zip(parts, kinds, strict=True):
        if kind == "tool-invocation" and "toolInvocation" in part:
            calls.append(part["toolInvocation"])
        elif kind == "reasoning" and isinstance(part.get("reasoning"), str) and not _is_redacted(part):
            texts.append(part["reasoning"])
    return ({"toolInvocations": calls} if calls else {}) | ({"reasoning": "".join(texts)} if texts else {})


def _is_redacted(part: JsonObject) -> bool:
    details: Json = part.get("details")
    return is_array(details) and {type_of(one) for one in details} == {"redacted"}


def _shell(role: str, created_at: datetime | None, content: str | None) -> JsonObject:
    """Return a message without its parts and without members that follow from them."""
    written: JsonObject = {"role": role}
    if created_at is not None:
        written["createdAt"] = javascript_date(created_at)
    if content is not None:
        written["content"] = content
    return written


class Writer:
    """Writes UI messages of version 4, and records positions."""

    def __init__(self) -> None:
        self.record = Record()
        self.payload: list[JsonObject] = []

    def add(self, message: Message, path: str) -> None:
        """Write a message."""
        if isinstance(message, ToolMessage):
            self.record.losses.append(Loss.of(path, message, NO_CALL))
            return
        content, noted = message.content, message_notes(message, NAME)
        parts = self._write_parts(message, noted, f"{path}.content.parts")
        raws: list[Json] = to_json(parts.written)
        kinds = [type_of(raw) for raw in raws]
        self.record.losses += [*parts.losses, *parts.added_steps(raws, kinds)]
        written = {
            "content": _text(raws, kinds),
            **_shell(message.role, message.created_at, content.content),
            **mirrors(raws, kinds),
        }
        written = restore(written, noted, NOT_RESTORED)
        metadata = content.metadata
        annotations: Json = metadata.get("annotations") if is_object(metadata) else None
        if is_array(annotations) or parts.annotations:
            own: list[Json] = annotations if is_array(annotations) else []
            written["annotations"] = [*own, *parts.annotations]
        if parts.attachments:
            written["experimental_attachments"] = parts.attachments
        if parts.data is not UNSET:
            written[DATA] = parts.data
        written = {"id": message.id, **written, "parts": raws}
        for name, value in kept_fields(message.extra).items():
            written.setdefault(name, value)
        self.record.add_message(message, path, (parts.index,), parts.positions)
        self.payload.append(written)

    def _write_parts(self, message: Message, noted: JsonObject, path: str) -> "_PartWriter":
        """Write the parts.

        Step starts that were not in the payload are left out if they still are implied.
        """
        role = restore({"role": message.role}, noted)["role"] if noted else message.role
        index, is_implied = len(self.payload), noted.get(IMPLIED) is True
        parts = _PartWriter(role, index, message.parts, path, are_marked=not is_implied)
        if is_implied and not parts.are_implied():
            parts = _PartWriter(role, index, message.parts, path, are_marked=True)
        if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
            call = network_tool_call(message.id, message.content.network_execution)
            parts.push(PARTS.write(replace(call, tool_metadata=None)), "")
        return parts


def _text(parts: Sequence[Json], kinds: Sequence[str | None]) -> str:
    texts = [part.get("text") for part, kind in zip(parts, kinds, strict=True) if kind == "text"]
    return "".join([text for text in texts if isinstance(text, str)])


class _PartWriter:
    """Writes the parts of a message, and the members that have parts outside of the list."""

    def __init__(self, role: str, index: int, parts: Sequence[Part], path: str, *, are_marked: bool) -> None:
        """`index`: the number of the message; `are_marked`: whether step starts are written."""
        self.index = index
        self.written: list[Wire | Json] = []
        self.annotations: list[Json] = []
        self.attachments: list[Json] = []
        self.data: Json = UNSET  # of a data message
        self.positions: list[Position | None] = []
        """The position of each part."""
        self.losses: list[Loss] = []
        self._starts: set[int] = set()  # the numbers of parts before which a step start is not written
        self._role, self._are_marked = role, are_marked
        self._step = 0
        self._paths: list[str] = []  # of the parts that are written
        self._moved: list[str] = []  # of parts in other members, until another part follows
        self._reasoning: list[ReasoningPart] = []  # the details of the reasoning at the end
        for number, part in enumerate(parts):
            self.positions.append(self._add(part, f"{path}[{number}]"))

    def are_implied(self) -> bool:
        """Whether a reader adds exactly those step starts that are not written."""
        raws: list[Json] = to_json(self.written)
        return self._starts == set(_implied_steps(raws, [type_of(raw) for raw in raws]))

    def added_steps(self, raws: Sequence[Json], kinds: Sequence[str | None]) -> Iterator[Loss]:
        """Yield the losses of steps that a reader adds to a message without step starts."""
        if self._role in ("assistant", DATA) and "step-start" not in kinds:
            for place in _implied_steps(raws, kinds):
                if place not in self._starts:
                    yield Loss(self._paths[place], "its step", STEPS, "changed")

    def _add(self, part: Part, path: str) -> Position | None:
        """Write a part and return its position."""
        add = _OTHERS.get(type(part))
        return self._add_block(PARTS.write(part), path) if add is None else add(self, part, path)

    def _add_block(self, raw: Any, path: str) -> Position:
        self.push(raw, path)
        return self.index, len(self.written) - 1, 0

    def _add_start(self, part: StepStartPart, path: str) -> Position:
        if self._are_marked:
            return self._add_block(PARTS.write(part), path)
        self._step += 1
        self._reasoning = []
        self._starts.add(len(self.written))
        return self.index, len(self.written), "start"

    def _add_file(self, part: AnyFile, path: str) -> Position:
        if is_attached(part, self._role):
            return self._attach(to_json(ATTACHMENTS.write(part)), path)
        return self._add_block(PARTS.write(part), path)

    def _add_foreign(self, part: ForeignPart, path: str) -> Position | None:
        if part.format == ATTACHMENT_NAME:
            return self._attach(part.value, path)
        return self._add_block(part.value, path) if part.format == NAME else None

    def _add_unknown(self, part: UnknownPart, path: str) -> Position:
        return self._add_block(dict(part.raw), path)

    def _add_data(self, part: DataPart, path: str) -> Position:
        """Write data: as that of a data message, if it is the first that fits, or else as an annotation."""
        is_first = self._role == DATA and self.data is UNSET
        if is_first and part.data is not UNSET and part == DataPart(DATA, part.data):
            self.data = part.data
            self._moved.append(path)
            return self.index, DATA
        return self._annotate(part, path)

    def _annotate(self, part: Part, path: str) -> Position:
        """Write a part that version 4 does not have as an annotation, in the form of version 7."""
        self.losses.append(Loss.of(f"{path}.type", part.type, OTHER_FORM, "changed"))
        self.annotations.append(write_part_v7(part))
        return REPORTED

    def push(self, raw: Any, path: str) -> None:
        """Write a part. A call gets the number of its step."""
        if type(raw) is InvocationBlock and raw.toolInvocation.step is UNSET:
            force_setattr(raw.toolInvocation, "step", self._step)  # nothing else has a reference to it
        self._step += bool(self.written) and (type(raw) is StepStart or type_of(raw) == "step-start")
        self._reasoning = []
        self.written.append(raw)
        self._paths.append(path)
        if self._moved:
            self.losses += [Loss(one, "its place", ORDERED, "changed") for one in self._moved]
            self._moved = []

    def _attach(self, raw: Json, path: str) -> Position:
        self.attachments.append(raw)
        self._moved.append(path)
        return self.index, "attachment", len(self.attachments) - 1

    def _add_reasoning(self, part: ReasoningPart, path: str) -> Position:
        """Write a detail of a reasoning, together with the details before it."""
        if self._reasoning and not begins_reasoning(part):
            details = [*self._reasoning, part]
            self.written[-1] = write_reasoning(details)
        else:
            details = [part]
            self.push(write_reasoning(details), path)
        self._reasoning = details
        return self.index, len(self.written) - 1, len(details) - 1


_OTHERS: Final[Mapping[type[Any], Callable[[_PartWriter, Any, str], Position | None]]] = {
    ReasoningPart: _PartWriter._add_reasoning,
    StepStartPart: _PartWriter._add_start,
    **dict.fromkeys(FILES, _PartWriter._add_file),
    ForeignPart: _PartWriter._add_foreign,
    UnknownPart: _PartWriter._add_unknown,
    DataPart: _PartWriter._add_data,
    **dict.fromkeys((SourceDocumentPart, CustomPart, SteeringMessagePart), _PartWriter._annotate),
}
"""The method for parts that are not always written as a part of version 4."""


def load(payload: Json) -> Loaded:
    """Read UI messages of version 4, one or a list of them."""
    return Loaded(tuple(Reader(payload).messages))


def dump(messages: Sequence[Message]) -> Dumped:
    """Write messages as the list that `useChat` of version 4 accepts."""
    writer = Writer()
    for index, message in enumerate(fold(messages)):
        path = f"$[{index}]"
        writer.add(displayed(message, path, writer.record.losses), path)
    payload = writer.payload
    return Dumped(payload, lambda: REPORT.compare(writer.record, Reader(payload).positions))


FORMAT: Final = Format(
    NAME, "AI SDK 4 UI messages", load, dump, slot=in_list("annotations"), is_complete=True
)
