"""The sidecar of `convert(…, carry=True)`: values without a place in a format, in a metadata field of it.

The sidecar has patches that turn the messages which are read from the payload into those which were written.
Each patch names its messages by their digests. Messages that were added since are not affected, and a patch
for a message that was changed since is reported and not applied.

The `Slot` of a format is the place of the sidecar in its payloads. Several formats use the same two slots: a
metadata object, or a list of notes, in a message.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from partita.errors import PartitaError
from partita.formats.core.members import without
from partita.formats.core.metadata import KEY
from partita.formats.format import Format, Loaded, Request, Slot, ToolSpec
from partita.formats.losses import Loss
from partita.types.codec import MESSAGES, Codec, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.json_diff import apply_patch, json_patch
from partita.types.messages import Message

VERSION: Final = 2
STALE: Final = "it was embedded for messages that have been changed since"
UNREADABLE: Final = "the embedded values cannot be read"
_TOOL: Codec[ToolSpec] = Codec(ToolSpec)


# Slots


def in_messages(*path: str, is_nullable: bool = False, is_always_there: bool = False) -> Slot:
    """Return a slot in the first message that has room: an object at that path, or nothing yet.

    `is_nullable`: the format writes `null` where there is nothing; `is_always_there`: it writes an object
    there.
    """

    def take(message: JsonObject) -> tuple[JsonObject, JsonObject] | None:
        found = _take(message, path, is_always_there)
        if found is not None and is_nullable and path[0] not in found[0]:
            return {**found[0], path[0]: None}, found[1]
        return found

    return _in_first(lambda message, rest: _put(message, path, rest, is_always_there), take)


def in_list(name: str) -> Slot:
    """Return a slot in the first message that has room: a note at the end of a list of that name."""

    def put(message: JsonObject, rest: JsonObject) -> JsonObject | None:
        notes = message.get(name, [])
        return {**message, name: [*notes, {KEY: rest}]} if is_array(notes) else None

    def take(message: JsonObject) -> tuple[JsonObject, JsonObject] | None:
        notes = message.get(name)
        last: Json = notes[-1] if is_array(notes) and notes else None
        rest: Json = last.get(KEY) if is_object(last) else None
        if not is_array(notes) or not is_object(rest):
            return None
        kept = without(message, name)
        return ({**message, name: notes[:-1]} if len(notes) > 1 else kept), rest

    return _in_first(put, take)


def _in_first(
    put_in: Callable[[JsonObject, JsonObject], JsonObject | None],
    take_from: Callable[[JsonObject], tuple[JsonObject, JsonObject] | None],
) -> Slot:
    """Return a slot in the first message that has room. A payload may be one message, or a list of them."""

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
    """Return the holder without the sidecar, and without an object that was only added for it."""
    if not path:
        rest = holder.get(KEY)
        return (without(holder, KEY), rest) if is_object(rest) else None
    inner = holder.get(path[0])
    found = _take(inner, path[1:], is_always_there) if is_object(inner) else None
    if found is None:
        return None
    bare, rest = found
    kept = without(holder, path[0])
    return ({**holder, path[0]: bare} if bare or is_always_there else kept), rest


# The sidecar


def embed(payload: Json, loaded: Loaded, writing: Format) -> Json | None:
    """Return the payload with everything that it lacks in its slot, or `None` if it has no place for that."""
    if writing.slot is None or writing.load is None:
        return None
    rest = _rest(writing.load(payload), loaded)
    if rest is None:
        return payload
    filled = writing.slot.put(payload, rest)
    back = extract(filled, writing)
    return filled if back is not None and _is_same(back, loaded) else None


def extract(payload: Json, reading: Format) -> Loaded | None:
    """Return the messages of a payload together with its sidecar, or `None` if it has no sidecar."""
    if reading.slot is None or reading.load is None:
        return None
    bare, rest = reading.slot.take(payload)
    if rest is None:
        return None
    loaded = reading.load(bare)
    try:
        return _restored(loaded, rest)
    except (PartitaError, ValueError, TypeError, LookupError, AttributeError):
        loss = Loss.of("$", rest, UNREADABLE)
        return Loaded(loaded.messages, lambda: (*loaded.losses, loss), loaded.request)


def _is_same(back: Loaded, loaded: Loaded) -> bool:
    wanted, found = loaded.request or Request(), back.request or Request()
    is_same_request = (found.tools, found.settings) == (wanted.tools, wanted.settings)
    return is_same_request and to_json(back.messages) == to_json(loaded.messages)


def _rest(found: Loaded, wanted: Loaded) -> JsonObject | None:
    """Return the sidecar: whatever is missing when the payload is read. `None` if nothing is."""
    rest: JsonObject = {}
    spans = list(_spans(json_messages(found.messages), json_messages(wanted.messages)))
    if spans:
        rest["spans"] = spans
    if wanted.request is not None and found.request != wanted.request:
        tools = [to_json(tool) for tool in wanted.request.tools]
        rest["request"] = {
            "tools": tools,
            "settings": wanted.request.settings,
            "api": wanted.request.api,
        }
    return {"version": VERSION, **rest} if rest else None


def _spans(found: list[JsonObject], wanted: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield patches for the messages: one for each, or one for all if messages are missing or added."""
    if len(found) != len(wanted):
        yield {"of": [_digest(one) for one in found], "patch": json_patch(found, wanted)}
        return
    for old, new in zip(found, wanted, strict=True):
        patch = json_patch([old], [new])
        if patch is not None:
            yield {"of": [_digest(old)], "patch": patch}


def _restored(loaded: Loaded, rest: JsonObject) -> Loaded:
    apply = _PATCHED[rest["version"]]
    messages, stale = json_messages(loaded.messages), list[Loss]()
    start = 0
    for span in rest.get("spans", ()):
        at = _find(messages, span["of"], start)
        if at is None:
            stale.append(Loss.of("$", span, STALE))
            continue
        restored = apply(messages[at : at + len(span["of"])], span["patch"])
        messages[at : at + len(span["of"])] = restored
        start = at + len(restored)
    request = _request(rest) or loaded.request
    return Loaded(MESSAGES.read(messages), lambda: (*loaded.losses, *stale), request)


def _request(rest: JsonObject) -> Request | None:
    kept = rest.get("request")
    if kept is None:
        return None
    tools = tuple(_TOOL.read(tool) for tool in kept["tools"])
    return Request(tools, kept["settings"], kept["api"])


def _find(messages: Sequence[JsonObject], digests: Sequence[str], start: int) -> int | None:
    """Return the index of consecutive messages with those digests."""
    for at in range(start, len(messages) - len(digests) + 1):
        if all(_digest(messages[at + offset]) == one for offset, one in enumerate(digests)):
            return at
    return None


def _digest(message: JsonObject) -> str:
    try:
        text = msgspec.json.encode(message, order="sorted")
    except UnicodeEncodeError:  # lone surrogates
        text = json.dumps(message, sort_keys=True).encode()
    return sha256(text).hexdigest()[:16]


def json_messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Return messages as plain JSON."""
    values = to_json(tuple(messages))
    return [one for one in values if is_object(one)] if is_array(values) else []


def _patched_v1(value: Json, patch: JsonObject) -> Json:
    """Apply a patch of version 1.

    `{"is": value}` replaces; `{"of": {name: patch}, "without": [name]}` is for an object, and `{"at": {index:
    patch}, "length": n, "more": [value]}` for an array, which is cut before it grows.
    """
    if "is" in patch:
        return patch["is"]
    if is_object(value):
        kept = without(value, *patch.get("without", ()))
        inside: JsonObject = patch.get("of", {})
        return kept | {key: _patched_v1(kept.get(key), one) for key, one in inside.items()}
    if is_array(value):
        items: list[Any] = [*value[: patch.get("length", len(value))]]
        for index, one in patch.get("at", {}).items():
            items[int(index)] = _patched_v1(items[int(index)], one)
        return [*items, *patch.get("more", ())]
    raise ValueError("the patch is for another value")


_PATCHED: Final[Mapping[int, Callable[[Json, Any], Json]]] = {1: _patched_v1, VERSION: apply_patch}
"""The function that applies a patch, by version of the sidecar."""
