"""Slots that several formats have: a metadata object, or a list of notes, in a message."""

from collections.abc import Callable, Sequence
from typing import Final

from partita.formats.format import Slot
from partita.types.json import Json, JsonObject, is_array, is_object

KEY: Final = "partita"
"""The member that is ours where others have theirs."""


def in_messages(*path: str, is_nullable: bool = False, is_always_there: bool = False) -> Slot:
    """A slot in the first message of a list that has room: an object at that path, or nothing yet.

    `is_nullable`: where there is nothing, the format writes `null`; `is_always_there`: it writes an object.
    """

    def take(message: JsonObject) -> tuple[JsonObject, JsonObject] | None:
        found = _take(message, path, is_always_there)
        if found is not None and is_nullable and path[0] not in found[0]:
            return {**found[0], path[0]: None}, found[1]
        return found

    return _in_first(lambda message, rest: _put(message, path, rest, is_always_there), take)


def in_list(name: str) -> Slot:
    """A slot in the first message of a list that has room: a note at the end of a list of that name."""

    def put(message: JsonObject, rest: JsonObject) -> JsonObject | None:
        notes = message.get(name, [])
        return {**message, name: [*notes, {KEY: rest}]} if is_array(notes) else None

    def take(message: JsonObject) -> tuple[JsonObject, JsonObject] | None:
        notes = message.get(name)
        last: Json = notes[-1] if is_array(notes) and notes else None
        rest: Json = last.get(KEY) if is_object(last) else None
        if not is_array(notes) or not is_object(rest):
            return None
        kept = {key: one for key, one in message.items() if key != name}
        return ({**message, name: notes[:-1]} if len(notes) > 1 else kept), rest

    return _in_first(put, take)


def _in_first(
    put_in: Callable[[JsonObject, JsonObject], JsonObject | None],
    take_from: Callable[[JsonObject], tuple[JsonObject, JsonObject] | None],
) -> Slot:
    """A slot in the first message that has room. A payload may be one message, or a list of them."""

    def put(payload: Json, rest: JsonObject) -> Json:
        messages = list(payload) if is_array(payload) else [payload]
        for index, message in enumerate(messages):
            if is_object(message) and (filled := put_in(message, rest)) is not None:
                messages[index] = filled
                return messages if is_array(payload) else messages[0]
        return payload

    def take(payload: Json) -> tuple[Json, JsonObject | None]:
        messages = list(payload) if is_array(payload) else [payload]
        for index, message in enumerate(messages):
            if is_object(message) and (found := take_from(message)) is not None:
                messages[index], rest = found
                return (messages if is_array(payload) else messages[0]), rest
        return payload, None

    return Slot(put, take)


def _put(
    holder: JsonObject, path: Sequence[str], rest: JsonObject, is_always_there: bool
) -> JsonObject | None:
    if not path:
        return None if KEY in holder else {**holder, KEY: rest}
    inner = holder.get(path[0]) if is_always_there else holder.get(path[0]) or {}
    filled = _put(inner, path[1:], rest, is_always_there) if is_object(inner) else None
    return None if filled is None else {**holder, path[0]: filled}


def _take(
    holder: JsonObject, path: Sequence[str], is_always_there: bool
) -> tuple[JsonObject, JsonObject] | None:
    """The holder without what is ours, and without an object that held nothing else if it was not there."""
    if not path:
        rest = holder.get(KEY)
        return ({key: one for key, one in holder.items() if key != KEY}, rest) if is_object(rest) else None
    inner = holder.get(path[0])
    found = _take(inner, path[1:], is_always_there) if is_object(inner) else None
    if found is None:
        return None
    bare, rest = found
    kept = {key: one for key, one in holder.items() if key != path[0]}
    return ({**holder, path[0]: bare} if bare or is_always_there else kept), rest
