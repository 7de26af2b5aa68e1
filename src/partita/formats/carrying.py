"""What a format has no place for, carried along in its metadata field, and put back when it is read again.

The rest of the messages is kept as patches: what to do to the messages that reading the payload gives, to
have the ones that were written. Each names the messages it is for by a digest, so that messages that were
added since are left alone, and a patch for a message that was changed is told and not applied.
"""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

import msgspec

from partita.errors import PartitaError
from partita.types.codec import MESSAGES, Codec, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message

from .format import Format, Loaded, Request, ToolSpec
from .losses import Loss
from .patch import difference, patched

VERSION: Final = 1
STALE: Final = "it was carried along for messages that have been changed since"
NOT_OURS: Final = "it stands where things are carried along, and nobody can read it"
_TOOL: Codec[ToolSpec] = Codec(ToolSpec)


def carried(payload: Json, loaded: Loaded, writing: Format) -> Json | None:
    """The payload with all that it lacks in its slot, or `None` if there is no room for it."""
    if writing.slot is None or writing.load is None:
        return None
    rest = _rest(writing.load(payload), loaded)
    if rest is None:
        return payload
    filled = writing.slot.put(payload, rest)
    back = unpacked(filled, writing)
    return filled if back is not None and _is_same(back, loaded) else None


def unpacked(payload: Json, reading: Format) -> Loaded | None:
    """What a payload says together with what it carries along; `None` if it carries nothing."""
    if reading.slot is None or reading.load is None:
        return None
    bare, rest = reading.slot.take(payload)
    if rest is None:
        return None
    loaded = reading.load(bare)
    try:
        return _restored(loaded, rest)
    except (PartitaError, ValueError, TypeError, LookupError, AttributeError):
        told = Loss.of("$", rest, NOT_OURS)
        return Loaded(loaded.messages, (*loaded.losses, told), loaded.request)


def _is_same(back: Loaded, loaded: Loaded) -> bool:
    wanted, found = loaded.request or Request(), back.request or Request()
    is_asked = (found.tools, found.settings) == (wanted.tools, wanted.settings)
    return is_asked and to_json(back.messages) == to_json(loaded.messages)


def _rest(found: Loaded, wanted: Loaded) -> JsonObject | None:
    """What is missing when a payload is read again."""
    rest: JsonObject = {}
    spans = list(_spans(_plain(found.messages), _plain(wanted.messages)))
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
    """Patches for the messages, one by one if there are as many as there should be, else for all of them."""
    if len(found) != len(wanted):
        yield {"of": [_digest(one) for one in found], "patch": difference(found, wanted)}
        return
    for old, new in zip(found, wanted, strict=True):
        patch = difference([old], [new])
        if patch is not None:
            yield {"of": [_digest(old)], "patch": patch}


def _restored(loaded: Loaded, rest: JsonObject) -> Loaded:
    if rest.get("version") != VERSION:
        raise ValueError("another version")
    messages, losses = _plain(loaded.messages), list(loaded.losses)
    start = 0
    for span in rest.get("spans", ()):
        place = _place(messages, span["of"], start)
        if place is None:
            losses.append(Loss.of("$", span, STALE))
            continue
        now = patched(messages[place : place + len(span["of"])], span["patch"])
        messages[place : place + len(span["of"])] = now
        start = place + len(now)
    return Loaded(MESSAGES.read(messages), tuple(losses), _request(rest) or loaded.request)


def _request(rest: JsonObject) -> Request | None:
    kept = rest.get("request")
    if kept is None:
        return None
    tools = tuple(_TOOL.read(tool) for tool in kept["tools"])
    return Request(tools, kept["settings"], kept["api"])


def _place(messages: Sequence[JsonObject], digests: Sequence[str], start: int) -> int | None:
    """Where the messages of those digests stand, one behind the other."""
    for place in range(start, len(messages) - len(digests) + 1):
        if all(_digest(messages[place + offset]) == one for offset, one in enumerate(digests)):
            return place
    return None


def _digest(message: JsonObject) -> str:
    try:
        text = msgspec.json.encode(message, order="sorted")
    except UnicodeEncodeError:  # lone surrogates
        text = json.dumps(message, sort_keys=True).encode()
    return sha256(text).hexdigest()[:16]


def _plain(messages: Sequence[Message]) -> list[JsonObject]:
    said = to_json(tuple(messages))
    return [one for one in said if is_object(one)] if is_array(said) else []
