"""What a format has no place for, embedded in its metadata field, and put back when it is read.

The sidecar has patches: what turns the messages that are read from the payload into those that were written.
Each names the messages that it is for by their digests. So messages that were added since stay as they are,
and a patch for a message that was changed since is reported and not applied.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from partita.errors import PartitaError
from partita.types.codec import MESSAGES, Codec, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message

from .format import Format, Loaded, Request, ToolSpec
from .losses import Loss
from .patch import difference, patched

VERSION: Final = 2
STALE: Final = "it was carried along for messages that have been changed since"
UNREADABLE: Final = "it is where carried values are, and cannot be read"
_TOOL: Codec[ToolSpec] = Codec(ToolSpec)


def embed(payload: Json, loaded: Loaded, writing: Format) -> Json | None:
    """The payload with everything that it lacks in its slot, or `None` if there is no place for it."""
    if writing.slot is None or writing.load is None:
        return None
    rest = _rest(writing.load(payload), loaded)
    if rest is None:
        return payload
    filled = writing.slot.put(payload, rest)
    back = extract(filled, writing)
    return filled if back is not None and _is_same(back, loaded) else None


def extract(payload: Json, reading: Format) -> Loaded | None:
    """What a payload contains together with its sidecar; `None` if it has none."""
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
    """What is missing when a payload is read."""
    rest: JsonObject = {}
    spans = list(_spans(_json(found.messages), _json(wanted.messages)))
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
    """Patches for the messages: one for each if none is missing or added, otherwise one for all of them."""
    if len(found) != len(wanted):
        yield {"of": [_digest(one) for one in found], "patch": difference(found, wanted)}
        return
    for old, new in zip(found, wanted, strict=True):
        patch = difference([old], [new])
        if patch is not None:
            yield {"of": [_digest(old)], "patch": patch}


def _restored(loaded: Loaded, rest: JsonObject) -> Loaded:
    apply = _PATCHED[rest["version"]]
    messages, stale = _json(loaded.messages), list[Loss]()
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
    """The index of consecutive messages with those digests."""
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


def _json(messages: Sequence[Message]) -> list[JsonObject]:
    values = to_json(tuple(messages))
    return [one for one in values if is_object(one)] if is_array(values) else []


def _patched_v1(value: Json, patch: JsonObject) -> Json:
    """The value that a patch of version 1 turns another into.

    `{"is": value}` replaces; `{"of": {name: patch}, "without": [name]}` is for an object, and
    `{"at": {index: patch}, "length": n, "more": [value]}` for an array, which is cut before it grows.
    """
    if "is" in patch:
        return patch["is"]
    if is_object(value):
        kept = {key: inner for key, inner in value.items() if key not in patch.get("without", ())}
        inside: JsonObject = patch.get("of", {})
        return kept | {key: _patched_v1(kept.get(key), one) for key, one in inside.items()}
    if is_array(value):
        items: list[Any] = [*value[: patch.get("length", len(value))]]
        for index, one in patch.get("at", {}).items():
            items[int(index)] = _patched_v1(items[int(index)], one)
        return [*items, *patch.get("more", ())]
    raise ValueError("the patch is for another value")


_PATCHED: Final[Mapping[int, Callable[[Json, Any], Json]]] = {1: _patched_v1, VERSION: patched}
"""How a patch is applied, by the version of the sidecar."""
