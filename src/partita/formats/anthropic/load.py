"""Requests and answers of the Messages API → canonical messages.

Read are a request, a list of its messages or one of them, a whole answer, and the events of a stream.
Unknown blocks and members are kept. Lost: the place of results that stand behind words or far from their
call, and counts of a stream that later ones replace.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.events import UNNAMED, load_events
from partita.formats.folding import fold
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import AssistantMessage, Message
from partita.types.parts import ReasoningPart, StepStartPart

from .conversation import read_system, read_turns
from .decoder import TAKERS, AnthropicDecoder
from .replaced import replaced_losses, strange
from .settings import request_of
from .words import text_of

HINT: Final = "give a request, its messages, an answer, or the events of a stream"


def load(payload: Json) -> Loaded:
    """Whatever the API was sent or answered."""
    if is_array(payload):
        is_stream = any(is_object(item) and "role" not in item and "type" in item for item in payload)
        return _load_stream(payload) if is_stream else _load_turns(payload, "$")
    if is_object(payload):
        if "messages" in payload:
            return _load_request(payload)
        if "role" in payload and payload.get("type") != "message":
            return _load_turns([payload], "$")
        if _is_answer(payload):
            return load_answer(payload)
    raise ConversionError(f"{_found(payload)} is nothing the Messages API knows", where="$", hint=HINT)


def load_answer(payload: Json) -> Loaded:
    """An answer: its body, or the events that it came in."""
    if is_array(payload):
        return _load_stream(payload)
    if not is_object(payload) or not _is_answer(payload):
        raise ConversionError(f"{_found(payload)} is no answer", where="$", hint="give a body or its events")
    if payload.get("type", "error") not in ("message", "error"):
        return _load_stream([payload])
    folded = fold([("$", chunk) for chunk in AnthropicDecoder().read_body(payload)], UNNAMED)
    odd = strange(payload, "$") if payload.get("type") == "message" else ()
    losses = (*folded.losses, *odd)
    return Loaded((_named(folded.message),), losses)


def _is_answer(payload: JsonObject) -> bool:
    kind = payload.get("type")
    return (isinstance(kind, str) and kind in TAKERS) or "error" in payload


def _load_request(payload: JsonObject) -> Loaded:
    turns = payload["messages"]
    if not is_array(turns):
        raise ConversionError(f"messages is {kind_of(turns)}", where="$.messages", hint="make it a list")
    losses: list[Loss] = []
    system: Sequence[Message] = read_system(payload.get("system"), "$.system")
    messages = read_turns(turns, "$.messages", losses)
    return Loaded((*system, *messages), tuple(losses), request_of(payload))


def _load_turns(turns: Sequence[Json], path: str) -> Loaded:
    losses: list[Loss] = []
    return Loaded(tuple(read_turns(turns, path, losses)), tuple(losses))


def _load_stream(events: Sequence[Json]) -> Loaded:
    loaded = load_events(AnthropicDecoder(), events)
    messages = tuple(
        _named(message) if isinstance(message, AssistantMessage) else message for message in loaded.messages
    )
    return Loaded(messages, (*loaded.losses, *replaced_losses(events)))


def _named(message: AssistantMessage) -> AssistantMessage:
    """The message under the id that the answer has, without what only a stream says of its parts."""
    said = message.parts[1:] if message.parts[:1] == (StepStartPart(),) else message.parts
    parts = tuple(replace(part, id=None) if isinstance(part, ReasoningPart) else part for part in said)
    content = replace(message.content, parts=parts)
    metadata = message.content.metadata
    name = text_of(metadata.get("responseId")) if is_object(metadata) else None
    return replace(message, id=name or message.id, content=content)


def _found(payload: Json) -> str:
    if is_object(payload):
        return f"an object with {', '.join(list(payload)[:5])}" if payload else "an empty object"
    return kind_of(payload)
