"""OpenAI's Responses API: requests, their items, responses, and streams of events ↔ canonical messages.

Besides `wire`, `parts` and `stream` it has `calls` (the items of tools), `items` (the items of the model),
`conversation` (items ↔ messages) and `response` (bodies), because requests, responses, streams and the
sessions of the Agents SDK share them.

Wire: https://platform.openai.com/docs/api-reference/responses
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.core.members import text_in, without
from partita.formats.core.request import request_report
from partita.formats.event_streams import load_events
from partita.formats.format import Dumped, Format, Loaded, Request
from partita.formats.losses import UNREAD, Loss, json_losses
from partita.types.chunks import Chunk, ReasoningDelta, ReasoningStart, TextStart
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import Message

from .conversation import (
    INSTRUCTIONS,
    ONLY_INPUT,
    PLACE,
    Reader,
    Writer,
    input_message,
    instructions_message,
)
from .items import BEGINS, CONTINUES, FORM
from .response import (
    TOOLS,
    dump_response,
    echoed_request,
    is_response,
    load_body,
    read_request,
)
from .stream import ResponsesDecoder, unread_losses
from .wire import NAME, NAMESPACE

REQUEST: Final = frozenset({"input", INSTRUCTIONS, "model", "previous_response_id", "conversation", "prompt"})
"""A request has one of these."""

SHAPES: Final = "give a request, its items, a response, or the events of a stream"
RESPONSES: Final = "give a response, or the events of a stream"

REPORT: Final = request_report(
    NAMESPACE,
    {
        **dict.fromkeys(("signature", "citations", "reasoning"), "it is of another provider"),
        "tool-call": "a call that another provider ran, or that has no output, cannot be sent",
        "inputEncoding": "the input of a function is JSON",
        "approval": "only tools of MCP servers are approved here",
        "output": "an output is text or content, without a flag for errors",
        "mediaType": "it follows from the URL",
        "filename": "only files that are sent as data have a name",
    },
    frozenset({FORM, BEGINS, CONTINUES, PLACE}),
)


# Requests


def load(payload: Json) -> Loaded:
    """Read a request, its items, one of them, a text, a response, or the events of a stream."""
    if isinstance(payload, str):
        return Loaded((input_message(payload),), is_complete=True)
    if is_array(payload):
        return load_stream(payload) if _is_stream(payload) else _load_items(payload)
    if not is_object(payload):
        raise ConversionError(f"the payload is {kind_of(payload)}", where="$", hint=SHAPES)
    if is_event(payload):
        return load_stream([payload])
    if "type" in payload or "role" in payload:
        return _load_items([payload])
    if is_response(payload) or (payload.get("error") is not None and "input" not in payload):
        return load_body(payload)
    if REQUEST & payload.keys():
        return _load_request(payload)
    raise ConversionError("neither a request nor a response", where="$", hint=SHAPES)


def _load_items(items: Sequence[Json]) -> Loaded:
    reader = Reader(items, "$")
    messages = tuple(reader.messages)
    return Loaded(messages, lambda: _unwritten(items, messages, "$", reader.losses), is_complete=True)


def _load_request(payload: JsonObject) -> Loaded:
    messages: list[Message] = []
    losses: list[Loss] = []
    text, given = payload.get(INSTRUCTIONS), payload.get(ONLY_INPUT)
    named: set[str] = set()
    if isinstance(text, str):
        messages.append(instructions_message(text))
        named.add(INSTRUCTIONS)
    items: Sequence[Json] = ()
    if isinstance(given, str):
        messages.append(input_message(given))
        named.add(ONLY_INPUT)
    elif is_array(given):
        reader = Reader(given, "$.input")
        messages += reader.messages
        losses += reader.losses
        items = given
        named |= {ONLY_INPUT} if given else set()
    elif given is not None:
        hint = "give a text, or a list of items"
        raise ConversionError(f"input is {kind_of(given)}", where="$.input", hint=hint)
    request = read_request(without(payload, *named))

    def found() -> Iterator[Loss]:
        yield from _unwritten(items, messages, "$.input", losses)
        again: JsonObject = dump(messages, request).payload
        around = without(payload, ONLY_INPUT)
        yield from json_losses(around, again, "$", UNREAD) if around else ()

    return Loaded(tuple(messages), found, request, is_complete=True)


def _unwritten(
    items: Sequence[Json], messages: Sequence[Message], path: str, losses: Sequence[Loss]
) -> Iterator[Loss]:
    """What of items is not written back. The reader reports items whose place is not kept."""
    yield from losses
    again: Json = Writer(is_sent=False).write(messages)[ONLY_INPUT]
    left = [*again] if is_array(again) else []
    for index, item in enumerate(items):
        if item in left:
            left.remove(item)
        else:
            other = again[index] if is_array(again) and index < len(again) else None
            yield from json_losses(item, other, f"{path}[{index}]", UNREAD)


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    """Write `instructions` and `input`, or a whole request."""
    settings = {} if request is None else request.settings
    writer = Writer(is_stored=settings.get("store") is not False)
    payload = writer.write(messages)
    if request is not None:
        if not payload[ONLY_INPUT]:
            del payload[ONLY_INPUT]
        payload = TOOLS.add(request, {**settings, **payload}, writer.record)
    given = payload.get(ONLY_INPUT)

    def losses() -> Iterable[Loss]:
        items = given if is_array(given) else [{"role": "user", "content": given}] if given else []
        return REPORT.compare(writer.record, writer.read_back(Reader(items, "$")))

    return Dumped(payload, losses)


# Responses and streams


def load_response(payload: Json) -> Loaded:
    """Read a response, or the events of a stream."""
    if is_array(payload):
        return load_stream(payload)
    if is_object(payload):
        return load_stream([payload]) if is_event(payload) else load_body(payload)
    raise ConversionError(f"the response is {kind_of(payload)}", where="$", hint=RESPONSES)


def _is_stream(payload: Sequence[Json]) -> bool:
    """Whether a list is of events. Items never have such types."""
    return any(is_object(one) and is_event(one) for one in payload[:20])


def is_event(value: JsonObject) -> bool:
    """Whether an object is an event of a stream."""
    return text_in(value, "type").startswith("response.") or value.get("type") == "error"


class _Recording(ResponsesDecoder):
    """The decoder, without metadata that come again when a text is complete."""

    def feed(self, event: Json) -> list[Chunk]:
        return [_without_metadata(chunk) for chunk in super().feed(event)]


def _without_metadata(chunk: Chunk) -> Chunk:
    is_repeated = isinstance(chunk, TextStart | ReasoningStart | ReasoningDelta)
    return replace(chunk, provider_metadata=None) if is_repeated else chunk


def load_stream(events: Sequence[Json]) -> Loaded:
    """The message of a stream, and the request as far as the response repeats it."""
    loaded = load_events(_Recording(), events)
    responses = [
        event["response"] for event in events if is_object(event) and is_object(event.get("response"))
    ]
    return Loaded(
        loaded.messages,
        lambda: (*loaded.losses, *unread_losses(events)),
        echoed_request(*responses),
        is_complete=True,
    )


FORMAT: Final = Format(
    NAME,
    "OpenAI's Responses API, requests and responses",
    load,
    dump,
    ResponsesDecoder,
    takes_request=True,
    is_complete=True,
)
RESPONSE: Final = Format(
    f"{NAME}-response",
    "responses of OpenAI's Responses API",
    load_response,
    dump_response,
    ResponsesDecoder,
    takes_request=True,
    is_complete=True,
)
