"""Requests and answers of the Responses API, and streams of its events → messages.

A payload is a request body, its items alone or one of them, words, a response, or the events of a stream.
Instructions are a system message that says where it stood. Items that are not known are kept whole.
"""

from collections.abc import Mapping
from typing import Final

from partita.errors import ConversionError
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.formats.openai_responses.fields import NAMESPACE, text
from partita.formats.openai_responses.tools import read_request
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import Message, SystemContent, SystemMessage, UserContent, UserMessage
from partita.types.parts import TextPart

from .answer import read_answer
from .conversation import message_id, read_conversation
from .stream import read_stream

PLACE: Final = "place"
"""Says that a message stood elsewhere than among the items."""

INSTRUCTIONS: Final = "instructions"

REQUEST: Final = frozenset({"input", INSTRUCTIONS, "model", "previous_response_id", "conversation", "prompt"})
"""A request has one of these."""

ANSWERS: Final = "give a response, or the events of a stream"
SHAPES: Final = "give a request, its items, a response, or the events of a stream"


def load(payload: Json) -> Loaded:
    """The messages of a payload."""
    if isinstance(payload, str):
        return Loaded((_words(payload, {PLACE: "input"}),))
    if is_array(payload):
        if is_stream(payload):
            return read_stream(payload)
        losses: list[Loss] = []
        return Loaded(tuple(read_conversation(payload, "$", losses)), tuple(losses))
    if is_object(payload):
        return _load_object(payload)
    raise ConversionError(f"the payload is {kind_of(payload)}", where="$", hint=SHAPES)


def load_answer(payload: Json) -> Loaded:
    """The message of a response, or of the events that it came in."""
    if is_array(payload):
        return read_stream(payload)
    if is_object(payload):
        return read_stream([payload]) if is_event(payload) else read_answer(payload)
    raise ConversionError(f"the answer is {kind_of(payload)}", where="$", hint=ANSWERS)


def is_stream(payload: list[Json]) -> bool:
    """Whether a list is of events. Items never have such types."""
    return any(is_object(one) and is_event(one) for one in payload[:20])


def is_event(one: JsonObject) -> bool:
    """Whether an object is an event of a stream."""
    return text(one, "type").startswith("response.") or one.get("type") == "error"


def is_response(payload: JsonObject) -> bool:
    """Whether an object is an answer, or the error that came instead."""
    if is_array(payload.get("output")) and "type" not in payload:
        return True
    return payload.get("object") == "response" or (
        payload.get("error") is not None and "input" not in payload
    )


def _load_object(payload: JsonObject) -> Loaded:
    if text(payload, "type") and is_event(payload):
        return read_stream([payload])
    if "type" in payload or "role" in payload:
        return load([payload])
    if is_response(payload):
        return read_answer(payload)
    if REQUEST & payload.keys():
        return _load_request(payload)
    raise ConversionError("no request and no response", where="$", hint=SHAPES)


def _load_request(body: JsonObject) -> Loaded:
    losses: list[Loss] = []
    messages: list[Message] = []
    said, given = body.get(INSTRUCTIONS), body.get("input")
    told = {"input"} if given is not None else set[str]()
    if isinstance(said, str):
        content = SystemContent(
            parts=(TextPart(said),), content=said, provider_metadata={NAMESPACE: {PLACE: INSTRUCTIONS}}
        )
        messages.append(SystemMessage(id=INSTRUCTIONS, content=content))
        told.add(INSTRUCTIONS)
    if isinstance(given, str):
        messages.append(_words(given, {PLACE: "input"}))
    elif is_array(given):
        messages += read_conversation(given, "$.input", losses)
    elif given is not None:
        raise ConversionError(
            f"input is {kind_of(given)}", where="$.input", hint="give words, or a list of items"
        )
    rest = {name: value for name, value in body.items() if name not in told}
    request = read_request(rest, losses)
    return Loaded(tuple(messages), tuple(losses), request)


def _words(words: str, metadata: Mapping[str, Json]) -> UserMessage:
    content = UserContent(
        parts=(TextPart(words),), content=words, provider_metadata={NAMESPACE: dict(metadata)}
    )
    return UserMessage(id=message_id(0), content=content)
