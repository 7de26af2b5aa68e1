"""Canonical messages → a list of messages of A2A, protocol 1.0.

Calls, results, reasoning, sources and whatever else A2A does not know go as data of a media type of ours, and
come back as they were. Lost: times, owners, branches, what a message cost, citations, metadata of providers.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import UNSET

from partita.formats.bare import is_bare, is_bare_message, plain_result
from partita.formats.format import Dumped, Implied
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message, Part, SystemMessage, ToolCallPart, ToolMessage
from partita.types.parts import TextPart

from .messages import read_message, write_message
from .parts import is_ours

NO_PLACE: Final = "a message of A2A has no place for it"
AS_DATA: Final = "A2A has no such part: it goes as data, and comes back as it was"
AS_FILE: Final = "A2A has files alone"
NO_SYSTEM: Final = "A2A knows users and agents alone"

IMPLIED: Final[Implied] = {
    "kind": frozenset({"text", "file", "data", "message", "task", "status-update", "artifact-update"}),
    "type": frozenset({"text", "file", "data"}),
    "role": frozenset({"user", "agent", "ROLE_USER", "ROLE_AGENT"}),
}


def dump(messages: Sequence[Message]) -> Dumped:
    """One message of A2A for each, in order."""
    losses: list[Loss] = []
    payload: list[JsonObject] = []
    for place, message in enumerate(fold(messages)):
        written = write_message(message)
        payload.append(written)
        path = f"$[{place}]"
        losses += _told_plainly(message, path) if _is_plain(message) else _told(message, written, path)
    return Dumped(payload, tuple(losses))


def _is_plain(message: Message) -> bool:
    """Whether a message has words, thoughts, calls and results, and no more: all of it is read again."""
    is_bare_talk = type(message) is not ToolMessage and is_bare_message(message)
    return is_bare_talk and all(map(_is_plain_part, message.content.parts))


def _is_plain_part(part: Part) -> bool:
    if type(part) is ToolCallPart:  # the type itself: `isinstance` is slow where the class has one
        return plain_result(part) is not UNSET
    return is_bare(part)


def _told_plainly(message: Message, path: str) -> Iterator[Loss]:
    """What went in another form of a message that is read again as it is."""
    if type(message) is SystemMessage:
        yield Loss.of(f"{path}.role", "system", NO_SYSTEM, "changed")
    for number, part in enumerate(message.content.parts):
        if type(part) is not TextPart:
            yield Loss.of(f"{path}.content.parts[{number}]", part, AS_DATA, "changed")


def _told(message: Message, written: JsonObject, path: str) -> Iterator[Loss]:
    """What reading a message again would not give, and what went in another form."""
    before: JsonObject = to_json(message)
    again: JsonObject = to_json(read_message(written, path, message.id))
    if isinstance(message, SystemMessage):
        yield Loss.of(f"{path}.role", "system", NO_SYSTEM, "changed")
        again["role"] = "system"
    parts, known = before["content"].pop("parts"), again["content"].pop("parts")
    yield from _missing(before, again, path)
    for number, (part, other) in enumerate(zip(parts, known, strict=True)):
        where = f"{path}.content.parts[{number}]"
        if is_ours(written["parts"][number]):
            yield Loss.of(where, part, AS_DATA, "changed")
        is_picture = part.get("type") == "image" and other.get("type") == "file"
        if is_picture:
            yield Loss.of(f"{where}.type", "image", AS_FILE, "changed")
        yield from _missing(part, _likened(other, is_picture=is_picture, part=part), where)


def _likened(other: JsonObject, *, is_picture: bool, part: JsonObject) -> JsonObject:
    """A part that was read again, without the differences that are told or say nothing."""
    whole = {"state": "done"} if part.get("state") == "done" else {}  # what is sent is whole
    if not is_picture:
        return {**whole, **other}
    named = {"name": other["filename"]} if "filename" in other else {}
    return {**other, **named, "type": "image"}


def _missing(before: Json, after: Json, path: str) -> Iterator[Loss]:
    if before == after:
        return
    if is_object(before) and is_object(after) and before:
        for key, value in before.items():
            if key in after:
                yield from _missing(value, after[key], f"{path}.{key}")
            else:
                yield Loss.of(f"{path}.{key}", value, NO_PLACE)
    elif is_array(before) and is_array(after) and len(before) == len(after):
        for number, (value, other) in enumerate(zip(before, after, strict=True)):
            yield from _missing(value, other, f"{path}[{number}]")
    else:
        yield Loss.of(path, before, NO_PLACE)
