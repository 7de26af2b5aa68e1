"""Messages, artifacts, tasks and streams of A2A → canonical messages.

Read are protocol 1.0 and the JSON before it, bare or in the envelopes of JSON-RPC. Lost: the numbers of such
envelopes, and how an artifact was cut into pieces.
"""

from partita.errors import ConversionError
from partita.formats.format import Loaded, Request
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of

from .story import HINT, Story

ENVELOPE = "the envelope of a call says nothing of the talk"
ASKED = ("configuration", "metadata", "tenant")
"""What a request to send a message says besides it."""


def load(payload: Json) -> Loaded:
    """One of them, or a list; also the messages of `{messages}`."""
    story = Story()
    settings: JsonObject = {}
    if is_object(payload) and is_array(payload.get("messages")):
        payload, rest = payload["messages"], {k: v for k, v in payload.items() if k != "messages"}
        settings |= rest
    if not is_array(payload) and not is_object(payload):
        raise ConversionError(f"a message is {kind_of(payload)}", where="$", hint=HINT)
    for number, item in enumerate(payload if is_array(payload) else [payload]):
        path = f"$[{number}]" if is_array(payload) else "$"
        raw, where = _opened(item, path, story)
        if is_object(raw) and is_object(raw.get("message")) and not raw.keys().isdisjoint(ASKED):
            settings |= {key: value for key, value in raw.items() if key in ASKED}
            raw = {key: value for key, value in raw.items() if key not in ASKED}
        story.take(raw, where)
    request = Request((), settings) if settings else None
    return Loaded(tuple(fold(story.messages())), tuple(story.losses), request)


def _opened(item: Json, path: str, story: Story) -> tuple[Json, str]:
    """What an envelope of JSON-RPC holds, or the item itself."""
    if not is_object(item) or "jsonrpc" not in item:
        return item, path
    found = next((key for key in ("result", "params") if is_object(item.get(key))), None)
    if found is None:
        raise ConversionError("an envelope without a result", where=path, hint=HINT)
    for key, value in item.items():
        if key != found:
            story.losses.append(Loss.of(f"{path}.{key}", value, ENVELOPE, "minor"))
    return item[found], f"{path}.{found}"
