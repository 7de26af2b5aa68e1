"""Payloads of one format in another, and streams as the message they amount to."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.requests import Request

from partita.errors import FormatError
from partita.formats.conversion import convert as convert_payload
from partita.formats.detection.guess import SAMPLE_SIZE, sniff
from partita.formats.detection.guess import FormatGuess as Guess
from partita.formats.event_streams import FoldedEvents, fold_events
from partita.formats.losses import Loss, Severity
from partita.formats.registry import ALIASES, all_formats, get_format
from partita.server.callers import ActingCaller, CallerView
from partita.server.endpoints import RequestBody, get, post
from partita.server.problems import NO_BODY_HINT, Problem, invalid_value
from partita.server.responses import Listing, SpooledReply, while_connected
from partita.server.settings import Limits
from partita.server.worker_pool import check_expansion, spooled
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, is_array, loads

T = TypeVar("T")

CANONICAL: Final = "canonical"
PIECE: Final = 256 * 1024
"""How many bytes of an answer leave a worker process at once."""


class LostValue(msgspec.Struct):
    """Something that a format cannot carry."""

    path: Annotated[str, Meta(description="Where it was.", examples=["$[0].parts[1]"])]
    what: Annotated[str, Meta(description="What it was.")]
    why: Annotated[str, Meta(description="Why it could not be carried.")]
    severity: Annotated[Severity, Meta(description="Whether it is lost, changed, a repair, or minor.")] = (
        "lost"
    )


class RivalFormat(msgspec.Struct):
    """A format that a payload could be in as well, or nearly."""

    format: str
    confidence: Annotated[float, Meta(description="How sure that is, from 0 to 1.")]
    why: Annotated[str, Meta(description="What speaks for it.")]


class FormatGuess(msgspec.Struct, omit_defaults=True):
    """Which format a payload was taken for."""

    format: str
    confidence: Annotated[float, Meta(description="How sure that is, from 0 to 1.")]
    why: Annotated[str, Meta(description="What gave it away.")]
    rivals: Annotated[
        list[RivalFormat], Meta(description="What it could be nearly as well, the likeliest first.")
    ] = []


def format_guess(guess: Guess) -> FormatGuess:
    """A guess, as it is sent."""
    rivals = [RivalFormat(one.format, one.confidence, one.why) for one in guess.rivals]
    return FormatGuess(guess.format, guess.confidence, guess.why, rivals)


# What there is


class FormatInfo(msgspec.Struct):
    """A format."""

    name: str
    title: str
    reads: Annotated[bool, Meta(description="Whether messages can be read from it.")]
    writes: Annotated[bool, Meta(description="Whether messages can be written in it.")]
    streams: Annotated[bool, Meta(description="Whether a stream of events can be folded.")]
    carries: Annotated[bool, Meta(description="Whether it has room for what it has no place for.")]
    aliases: Annotated[list[str], Meta(description="Shorter names for it.")]


@get("/api/formats", tags=["formats"], summary="The formats there are")
async def list_formats() -> Listing[FormatInfo]:
    """Every format, and what can be done with it."""
    return Listing(
        tuple(
            FormatInfo(
                one.name,
                one.title,
                one.load is not None,
                one.dump is not None,
                one.decoder is not None,
                one.slot is not None,
                [alias for alias, full in ALIASES.items() if full == one.name],
            )
            for one in all_formats().values()
        )
    )


# Converted


class ConvertRequest(msgspec.Struct):
    """A payload, and what to make of it."""

    payload: Annotated[
        Json, Meta(description="Messages, a request, an answer or the events of a stream, in any format.")
    ]
    to: Annotated[str, Meta(description="The format to write, or an alias of it.")]
    source: Annotated[
        str | None, Meta(description="The format of the payload; guessed when it is not given.")
    ] = msgspec.field(default=None, name="from")
    carry: Annotated[
        bool,
        Meta(
            description="Put what the target has no place for into its metadata, where it has some: "
            "converted back, it is there again."
        ),
    ] = False


class Converted(msgspec.Struct, omit_defaults=True):
    """A payload in another format."""

    payload: Json
    to: str
    source: Annotated[str, Meta(description="The format that it was read as.")] = msgspec.field(name="from")
    losses: list[LostValue]
    guess: Annotated[FormatGuess | None, Meta(description="Why, when no format was named.")] = None


UI_TO_MODEL: Final[JsonObject] = {
    "payload": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "How tall is it?"}]}],
    "to": "ai-sdk-model-v7",
}


@post(
    "/api/convert",
    tags=["formats"],
    summary="Convert messages",
    request_body=RequestBody({"application/json": ConvertRequest}, examples=[UI_TO_MODEL]),
)
async def convert(caller: ActingCaller, request: Request) -> SpooledReply[Converted]:
    """The messages in another format, and everything that could not be carried. Events are folded first."""
    return await _in_worker(caller, request, converted_json)


async def _in_worker(
    caller: CallerView,
    request: Request,
    function: Callable[[bytes, Limits], Iterator[bytes]],
) -> SpooledReply[Any]:
    body = await request.body()
    limits = caller.state.settings.limits
    work = caller.state.workers.run(len(body), spooled, function, body, limits)
    return SpooledReply(await while_connected(request, work))


def converted_json(body: bytes, limits: Limits) -> Iterator[bytes]:
    """The answer to a request to convert."""
    return json_pieces(_convert(_request_of(body, ConvertRequest)), len(body), limits)


def folded_json(body: bytes, limits: Limits) -> Iterator[bytes]:
    """The answer to a request to fold."""
    return json_pieces(_fold(_request_of(body, FoldRequest)), len(body), limits)


def warm_up() -> None:
    """Convert a message to every format: a process that has done so is twice as fast at the next one."""
    for name, format_ in all_formats().items():
        if format_.dump is not None:
            _convert(ConvertRequest(UI_TO_MODEL["payload"], name))


def _request_of(body: bytes, type_: type[T]) -> T:
    if not body:
        raise Problem(400, "the request has no body", where="body", hint=NO_BODY_HINT)
    try:
        return msgspec.convert(loads(body), type_)
    except msgspec.ValidationError as error:
        invalid = invalid_value(str(error), "$")
        raise Problem(400, f"{invalid['where']}: {invalid['what']}", where=invalid["where"]) from None


def json_pieces(value: msgspec.Struct, received: int, limits: Limits) -> Iterator[bytes]:
    """The JSON of an answer to a body of so many bytes."""
    data = encode(value)
    check_expansion(received, len(data), limits)
    for start in range(0, len(data), PIECE):
        yield data[start : start + PIECE]


def _convert(data: ConvertRequest) -> Converted:
    if data.source is None:
        guess_of(data.payload)  # an error that names what was looked for, when there is nothing
    converted = convert_payload(data.payload, data.source, data.to, carry=data.carry)
    return Converted(
        payload=converted.payload,
        to=get_format(data.to).name,
        source=converted.source,
        losses=[lost(loss) for loss in converted.losses],
        guess=None if converted.guess is None else format_guess(converted.guess),
    )


def guess_of(payload: Json) -> Guess:
    """The likeliest format of a payload; an error that says what was looked for when there is none."""
    guesses = sniff(payload)
    if not guesses:
        raise FormatError(
            "cannot detect the format",
            hint=f"name it; looked for {', '.join(sorted(all_formats()))}",
        )
    return guesses[0]


def lost(loss: Loss) -> LostValue:
    """A loss, as it is sent."""
    return LostValue(*loss)


# Folded


class FoldRequest(msgspec.Struct, rename="camel"):
    """A recorded stream."""

    chunks: Annotated[
        list[Json] | UnsetType, Meta(description="Its events: chunks of the AI SDK, or any others.")
    ] = UNSET
    events: Annotated[list[Json] | UnsetType, Meta(description="The same under another name.")] = UNSET
    format: Annotated[str | None, Meta(description="Their format; guessed when it is not given.")] = None
    to: Annotated[str, Meta(description="The format of the message.")] = CANONICAL
    lenient: Annotated[
        bool, Meta(description="Pass over events that do not fit, and tell; otherwise they are an error.")
    ] = False


class StreamDiagnostic(msgspec.Struct):
    """Something that was passed over."""

    chunk: Annotated[int, Meta(description="The number of the chunk, from 0.")]
    what: str


class Folded(msgspec.Struct, omit_defaults=True):
    """The messages of a stream."""

    message: Annotated[
        Json,
        Meta(description="The message. A list if the stream, or the format, has several."),
    ]
    format: Annotated[str, Meta(description="The format that the events were read as.")]
    to: str
    diagnostics: list[StreamDiagnostic]
    errors: Annotated[list[str], Meta(description="The errors that the stream itself reports.")]
    losses: list[LostValue]
    guess: FormatGuess | None = None


SPOKEN: Final[JsonObject] = {
    "chunks": [
        {"type": "start", "messageId": "m1"},
        {"type": "text-start", "id": "t"},
        {"type": "text-delta", "id": "t", "delta": "Forty-one metres."},
        {"type": "text-end", "id": "t"},
        {"type": "finish"},
    ],
    "to": "ui",
}


@post(
    "/api/fold",
    tags=["formats"],
    summary="Fold a stream",
    request_body=RequestBody({"application/json": FoldRequest}, examples=[SPOKEN]),
)
async def fold(caller: ActingCaller, request: Request) -> SpooledReply[Folded]:
    """The message of a stream, or all its messages, as a client would have made them."""
    return await _in_worker(caller, request, folded_json)


def _fold(data: FoldRequest) -> Folded:
    if (data.chunks is UNSET) == (data.events is UNSET):
        raise Problem(400, "give `chunks` or `events`, one of them", where="body")
    events = data.events if data.chunks is UNSET else data.chunks
    assert not isinstance(events, UnsetType), "one of them is there"
    guess = guess_of(events[:SAMPLE_SIZE]) if data.format is None else None
    source = get_format(data.format or (guess.format if guess else "")).name
    writing = get_format(data.to)
    if writing.dump is None:
        raise FormatError(f"{writing.name} can be read but not written", hint="choose another target")
    folded = fold_payload(events, source, lenient=data.lenient)
    dumped = writing.dump(folded.messages)
    return Folded(
        message=_only(dumped.payload),
        format=source,
        to=writing.name,
        diagnostics=[StreamDiagnostic(*one) for one in folded.diagnostics],
        errors=list(folded.errors),
        losses=[lost(loss) for loss in (*folded.losses, *dumped.losses)],
        guess=None if guess is None else format_guess(guess),
    )


def fold_payload(events: list[Json], source: str, *, lenient: bool = False) -> FoldedEvents:
    """The messages of a stream of that format, and what of it they do not hold."""
    reading = get_format(source)
    if reading.decoder is None:
        raise FormatError(f"{reading.name} holds messages, not a stream", hint="POST /api/convert takes them")
    return fold_events(reading.decoder(), events, lenient=lenient, losses=True)


def _only(payload: Json) -> Json:
    """The one item of a list; a list of any other length as it is."""
    return payload[0] if is_array(payload) and len(payload) == 1 else payload
