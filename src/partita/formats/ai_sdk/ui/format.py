"""UI messages of AI SDK 5, 6 and 7 ↔ canonical messages.

One reader reads all three versions, because they differ only in the parts and members they have. `parts`
converts the parts, `repairs` adds what the AI SDK requires, `display` replaces payloads of calls that have a
display transform, and `network` writes the execution of a network as a call.

Source: https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.ai_sdk.versions import VERSIONS
from partita.formats.core.report import Entry, Record, Report
from partita.formats.core.sidecar import in_messages
from partita.formats.core.turns import Position
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.losses import NO_CALL, OTHER_FORM, OUTPUT_FORM, REQUIRED, SHOWN, Loss
from partita.stream.encoder import NETWORK_KEY
from partita.stream.state import Version
from partita.types.codec import Codec, to_json
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    NetworkExecution,
    Part,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import DataPart, ForeignPart, UnknownPart
from partita.types.tool_results import fold
from partita.types.value import keep_fields, kept_fields

from . import parts
from .display import displayed
from .network import network_tool_call
from .parts import DYNAMIC, NAME
from .repairs import repaired

ROLES: Final[Mapping[str, tuple[type[Message], type[Any]]]] = {
    "system": (SystemMessage, SystemContent),
    "user": (UserMessage, UserContent),
    "assistant": (AssistantMessage, AssistantContent),
}
MEMBERS: Final = frozenset({"id", "role", "parts", "metadata"})
"""The members of a UI message."""

EMPTY_ID: Final = "message-{}"
"""The id of a message without one, by its number."""


REASONS: Final = {
    "createdAt": "UI messages have no time; put it in the metadata",
    "internal": SHOWN,
    "output": OUTPUT_FORM,
}
REPORT: Final = Report(NAME, reasons=REASONS)
_NETWORK: Final[Codec[NetworkExecution]] = Codec(NetworkExecution)


# Reading


def load(payload: Json) -> Loaded:
    """Read UI messages, one or a list of them."""
    raws = payload if is_array(payload) else [payload]
    paths = [f"$[{index}]" for index in range(len(raws))] if is_array(payload) else ["$"]
    messages = tuple(load_message(raw, paths[index], index) for index, raw in enumerate(raws))

    def changed() -> Iterator[Loss]:
        for raw, message, path in zip(raws, messages, paths, strict=True):
            yield from _changed_parts(raw, message, path)

    # without repairs, and with the payloads instead of the displayed values
    return Loaded(messages, changed, write_back=lambda: _write_all(messages, "$", 7, None))


def read_part(raw: Json, role: str, path: str = "$") -> Any:
    """Read one part of a message of that role."""
    return parts.read_part(raw, role, partial(_load_child, path))


def load_message(raw: Json, path: str, index: int = 0) -> Message:
    """Read one UI message. If it has no id, it gets one by its number."""
    role = _checked_role(raw, path)
    if not is_array(raw.get("parts")):
        hint = "messages of version 4 may have none: load them as ai-sdk-ui-v4"
        raise ConversionError("a UI message has a list of parts", where=f"{path}.parts", hint=hint)
    id_ = raw.get("id")
    if id_ is not None and not isinstance(id_, str):
        raise ConversionError(f"id is {kind_of(id_)}", where=f"{path}.id", hint="make it a string")
    content: JsonObject = {"metadata": raw["metadata"]} if "metadata" in raw else {}
    raws: list[Json] = raw["parts"]
    network = network_place(raws) if role == "assistant" else None
    if network is not None:
        content["network_execution"] = _NETWORK.read(raws[network]["toolMetadata"][NETWORK_KEY])
    children = partial(_load_child, path)
    content["parts"] = tuple(
        [parts.read_part(one, role, children) for at, one in enumerate(raws) if at != network]
    )
    message_type, content_type = ROLES[role]
    rest = {} if raw.keys() <= MEMBERS else {name: raw[name] for name in raw if name not in MEMBERS}
    return message_type(
        id=EMPTY_ID.format(index + 1) if id_ is None else id_,
        content=content_type(**content),
        extra=keep_fields(rest, message_type),
    )


def _checked_role(raw: Json, path: str) -> str:
    if not is_object(raw):
        what = f"a UI message is an object, found {kind_of(raw)}"
        raise ConversionError(what, where=path, hint="give {id, role, parts}")
    role = raw.get("role")
    if not isinstance(role, str) or role not in ROLES:
        hint = "use system, user or assistant"
        raise ConversionError(f"unknown role {role!r}", where=f"{path}.role", hint=hint)
    return role


def _load_child(path: str, raw: Json, index: int) -> Message:
    return load_message(raw, f"{path}.childMessages[{index}]", index)


def network_place(parts: Sequence[Json]) -> int | None:
    """Return the number of the part that was written for the execution of a network."""
    for place, part in enumerate(parts):
        if is_object(part) and part.get("type") == DYNAMIC:
            mark = part.get("toolMetadata")
            if is_object(mark) and NETWORK_KEY in mark:
                return place
    return None


def _changed_parts(raw: JsonObject, message: Message, path: str) -> Iterator[Loss]:
    """Yield the losses of parts that are written in another form.

    These are parts of older versions, such as `thinking`, and calls without a state.
    """
    raws = enumerate(raw["parts"])
    if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
        network = network_place(raw["parts"])
        raws = ((at, one) for at, one in raws if at != network)
    for (at, one), part in zip(raws, message.parts, strict=True):
        if isinstance(part, ToolCallPart) and "state" not in one:
            yield Loss(f"{path}.parts[{at}].state", "no state", REQUIRED, "repaired")
        if isinstance(part, ForeignPart | UnknownPart | ToolCallPart | DataPart):
            continue
        needed = {field.encode_name for field in msgspec.structs.fields(type(part)) if field.required}
        if one["type"] != part.type or not needed <= one.keys():
            yield Loss.of(f"{path}.parts[{at}]", one, OTHER_FORM, "changed")


# Writing


def dump(messages: Sequence[Message], version: Version = 7, *, repair: bool = True) -> Dumped:
    """Write messages as the list that `useChat` accepts and `validateUIMessages` considers valid.

    Parts of unknown types are written as they were read. The AI SDK refuses these, and without `repair` also
    incomplete parts.
    """
    record = Record()
    shown = [displayed(message, f"$[{at}]", record.losses) for at, message in enumerate(fold(messages))]
    payload = _write_all(shown, "$", version, record.losses if repair else None)
    return Dumped(payload, lambda: _losses(shown, payload, version, record))


def _write_all(
    messages: Sequence[Message], path: str, version: Version, repairs: list[Loss] | None
) -> list[JsonObject]:
    return [
        write_message(message, f"{path}[{index}]", version, repairs)
        for index, message in enumerate(messages)
        if not isinstance(message, ToolMessage)
    ]


def write_message(message: Message, path: str, version: Version, repairs: list[Loss] | None) -> JsonObject:
    """Write one message. `repairs`: the list for losses by repairs; `None`: nothing is repaired."""
    content = message.content
    written: JsonObject = {"id": message.id, "role": message.role}
    if content.metadata is not msgspec.UNSET:
        written["metadata"] = content.metadata
    raws: list[Json] = []
    for index, (part, plain) in enumerate(zip(content.parts, to_json(content.parts), strict=True)):
        if parts.is_written(part, version):
            raws.append(_write_part(part, plain, f"{path}.content.parts[{index}]", version, repairs))
    if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
        call = network_tool_call(message.id, message.content.network_execution)
        # Before calls that wait for the client, which continues once all calls of the last step have results:
        # this one never gets one from it. Nothing is lost, because its metadata has everything.
        place = 0 if any(isinstance(part, ToolCallPart) for part in content.parts) else len(raws)
        unreported: list[Loss] | None = None if repairs is None else []
        raws.insert(place, _write_part(call, to_json(call), "", version, unreported))
    if repairs is not None and not raws and message.role != "assistant":
        repairs.append(Loss(f"{path}.content.parts", "[]", REQUIRED, "repaired"))
        raws.append({"type": "text", "text": ""})
    written["parts"] = raws
    for name, value in kept_fields(message.extra).items():
        written.setdefault(name, value)
    return written


def _write_part(
    part: Part, plain: JsonObject, path: str, version: Version, repairs: list[Loss] | None
) -> Json:
    raw = parts.write_part(part, plain, version)
    if isinstance(part, ForeignPart | UnknownPart):
        return raw
    if repairs is not None:
        raw = repaired(part, raw, path, repairs)
    if isinstance(part, ToolCallPart) and part.children:
        children = _write_all(fold(part.children), f"{path}.children", version, repairs)
        raw |= {"childMessages": children} if children else {}
    return raw


def write_part(part: Part, version: Version = 7) -> Json:
    """Write one part, without repairs; `None` if the version has none."""
    return _write_part(part, to_json(part), "$", version, None) if parts.is_written(part, version) else None


def _losses(messages: Sequence[Message], payload: Json, version: Version, record: Record) -> Sequence[Loss]:
    """Return the losses: everything that was not written, or is read back with another value."""
    read_back = [load_message(raw, "$", index) for index, raw in enumerate(payload)]
    positions: dict[Position, Any] = {}
    for index, number in _numbered(messages, "$", record):
        if messages[index] != read_back[number]:
            _enter(messages[index], f"$[{index}]", (number,), version, record)
            _place(read_back[number], (number,), positions)
    return REPORT.compare(record, positions)


def _numbered(messages: Sequence[Message], path: str, record: Record) -> Iterator[tuple[int, int]]:
    """Yield the indexes of the messages that are written, and their numbers among these."""
    number = 0
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            record.losses.append(Loss.of(f"{path}[{index}]", message, NO_CALL))
        else:
            yield index, number
            number += 1


def _enter(message: Message, path: str, place: tuple[int, ...], version: Version, record: Record) -> None:
    """Record a message and its parts. A position is the number of a message, then that of a part in it."""
    record.entries.append(Entry(message, path, place))
    position = 0
    for index, part in enumerate(message.parts):
        where = f"{path}.content.parts[{index}]"
        if not parts.is_written(part, version):
            record.entries.append(Entry(part, where, None))
            continue
        at = (*place, position)
        position += 1
        if isinstance(part, ToolCallPart) and part.children:
            record.entries.append(Entry(replace(part, children=()), where, at))
            children = fold(part.children)
            for child, number in _numbered(children, f"{where}.children", record):
                _enter(children[child], f"{where}.children[{child}]", (*at, number), version, record)
        else:
            record.entries.append(Entry(part, where, at))


def _place(message: Message, place: tuple[int, ...], positions: dict[Position, Any]) -> None:
    """Add a message that was read, and its parts, to `positions`."""
    positions[place] = message
    for position, part in enumerate(message.parts):
        at = (*place, position)
        positions[at] = part
        if isinstance(part, ToolCallPart):
            for number, child in enumerate(part.children):
                _place(child, (*at, number), positions)


FORMATS: Final = tuple(
    Format(
        f"ai-sdk-ui-v{version}",
        f"AI SDK {version} UI messages",
        load,
        partial(dump, version=version),
        slot=in_messages("metadata"),
        is_complete=True,
    )
    for version in VERSIONS
)
V5, V6, V7 = FORMATS
