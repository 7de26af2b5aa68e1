"""Formats: list them, convert payloads between them, and fold streams into messages."""

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.requests import Request

from partita.errors import FormatError
from partita.formats.conversion import convert as convert_payload
from partita.formats.detection.guess import SAMPLE_SIZE, sniff
from partita.formats.detection.guess import FormatGuess as Guess
from partita.formats.event_streams import FoldedEvents, fold_events
from partita.formats.losses import Loss, Severity, in_messages
from partita.formats.registry import ALIASES, all_formats, get_dump, get_format
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
"""The number of bytes that a worker process sends at once."""


class ConversionLoss(msgspec.Struct):
    """A value that a conversion could not carry over."""

    path: Annotated[
        str,
        Meta(
            description="Its path: from `$` in what was sent, or from `messages` in the canonical messages "
            "read from it.",
            examples=["$[0].parts[1]"],
        ),
    ]
    what: Annotated[str, Meta(description="The value.")]
    why: Annotated[str, Meta(description="The reason.")]
    severity: Annotated[
        Severity,
        Meta(description="Whether it is lost, changed, a repair that the target requires, or minor."),
    ] = "lost"


def losses_of(losses: Iterable[Loss]) -> tuple[ConversionLoss, ...]:
    """Losses as they are sent."""
    return tuple(ConversionLoss(*loss) for loss in losses)


class RivalFormat(msgspec.Struct):
    """Another format that a payload could be in."""

    format: str
    confidence: Annotated[float, Meta(description="How certain that is, from 0 to 1.")]
    why: Annotated[str, Meta(description="The reason.")]


class FormatGuess(msgspec.Struct, omit_defaults=True):
    """The format that was detected."""

    format: str
    confidence: Annotated[float, Meta(description="How certain that is, from 0 to 1.")]
    why: Annotated[str, Meta(description="The reason.")]
    rivals: Annotated[
        list[RivalFormat], Meta(description="Other formats that are possible, the likeliest first.")
    ] = []


def format_guess(guess: Guess) -> FormatGuess:
    """A guess, as it is sent."""
    rivals = [RivalFormat(one.format, one.confidence, one.why) for one in guess.rivals]
    return FormatGuess(guess.format, guess.confidence, guess.why, rivals)


class FormatInfo(msgspec.Struct):
    """A format."""

    name: str
    title: str
    reads: Annotated[bool, Meta(description="Whether messages can be read from it.")]
    writes: Annotated[bool, Meta(description="Whether messages can be written in it.")]
    streams: Annotated[bool, Meta(description="Whether a stream of its events can be folded.")]
    carries: Annotated[
        bool, Meta(description="Whether it has metadata in which other values can be carried along.")
    ]
    aliases: Annotated[list[str], Meta(description="Its shorter names.")]


@get("/api/formats", tags=["formats"], summary="List the formats")
async def list_formats() -> Listing[FormatInfo]:
    """All formats, and what each of them supports."""
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


# Converting


class ConvertRequest(msgspec.Struct):
    """A payload, and the format to convert it to."""

    payload: Annotated[
        Json, Meta(description="Messages, a request, a response or the events of a stream, in any format.")
    ]
    to: Annotated[str, Meta(description="The format to write, or an alias of it.")]
    source: Annotated[
        str | None, Meta(description="The format of the payload. By default, it is detected.")
    ] = msgspec.field(default=None, name="from")
    carry: Annotated[
        bool,
        Meta(
            description="Carry values that the target has no place for along in its metadata, if it has "
            "metadata. Converting it back restores them."
        ),
    ] = False


class Converted(msgspec.Struct, omit_defaults=True):
    """A payload in another format."""

    payload: Json
    to: str
    source: Annotated[str, Meta(description="The format that it was read as.")] = msgspec.field(name="from")
    losses: tuple[ConversionLoss, ...]
    guess: Annotated[FormatGuess | None, Meta(description="The detected format, if none was named.")] = None


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
    """The messages in another format, and all that could not be carried over. Events are folded first."""
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
    """The response to a conversion request, as JSON. For a worker process."""
    return json_pieces(_convert(_request_of(body, ConvertRequest)), len(body), limits)


def folded_json(body: bytes, limits: Limits) -> Iterator[bytes]:
    """The response to a request to fold, as JSON. For a worker process."""
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
    """The JSON of a response, in pieces. `received` is the size of the request's body."""
    data = encode(value)
    check_expansion(received, len(data), limits)
    for start in range(0, len(data), PIECE):
        yield data[start : start + PIECE]


def _convert(data: ConvertRequest) -> Converted:
    if data.source is None:
        guess_of(data.payload)  # its error lists all formats
    converted = convert_payload(data.payload, data.source, data.to, carry=data.carry)
    return Converted(
        payload=converted.payload,
        to=get_format(data.to).name,
        source=converted.source,
        losses=losses_of(converted.losses),
        guess=None if converted.guess is None else format_guess(converted.guess),
    )


def guess_of(payload: Json) -> Guess:
    """The likeliest format of a payload. The error for an unknown format lists all formats."""
    guesses = sniff(payload)
    if not guesses:
        raise FormatError(
            "cannot detect the format",
            hint=f"name it: {', '.join(sorted(all_formats()))}",
        )
    return guesses[0]


# Folding


class FoldRequest(msgspec.Struct, rename="camel"):
    """A recorded stream."""

    chunks: Annotated[
        list[Json] | UnsetType, Meta(description="Its events: chunks of the AI SDK, or of another format.")
    ] = UNSET
    events: Annotated[list[Json] | UnsetType, Meta(description="The same as `chunks`.")] = UNSET
    format: Annotated[str | None, Meta(description="Their format. By default, it is detected.")] = None
    to: Annotated[str, Meta(description="The format of the message.")] = CANONICAL
    lenient: Annotated[
        bool, Meta(description="Skip and report events that do not fit. By default, they are an error.")
    ] = False


class StreamDiagnostic(msgspec.Struct):
    """An event that was skipped."""

    chunk: Annotated[int, Meta(description="The number of the chunk, from 0.")]
    what: Annotated[str, Meta(description="Why it does not fit.")]


class Folded(msgspec.Struct, omit_defaults=True):
    """The messages of a stream."""

    message: Annotated[
        Json,
        Meta(description="The message. A list if the stream has several, or the format writes several."),
    ]
    format: Annotated[str, Meta(description="The format that the events were read as.")]
    to: str
    diagnostics: list[StreamDiagnostic]
    errors: Annotated[list[str], Meta(description="The errors that the stream itself reports.")]
    losses: tuple[ConversionLoss, ...]
    guess: FormatGuess | None = None


RECORDED: Final[JsonObject] = {
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
    request_body=RequestBody({"application/json": FoldRequest}, examples=[RECORDED]),
)
async def fold(caller: ActingCaller, request: Request) -> SpooledReply[Folded]:
    """The message of a stream, or all its messages, as a client receives them."""
    return await _in_worker(caller, request, folded_json)


def _fold(data: FoldRequest) -> Folded:
    if (data.chunks is UNSET) == (data.events is UNSET):
        raise Problem(400, "send either `chunks` or `events`", where="body")
    events = data.events if data.chunks is UNSET else data.chunks
    assert not isinstance(events, UnsetType), "one of them is set"
    guess = guess_of(events[:SAMPLE_SIZE]) if data.format is None else None
    source = get_format(data.format or (guess.format if guess else "")).name
    dump = get_dump(data.to)
    folded = fold_payload(events, source, lenient=data.lenient)
    dumped = dump(folded.messages)
    return Folded(
        message=_only(dumped.payload),
        format=source,
        to=get_format(data.to).name,
        diagnostics=[StreamDiagnostic(*one) for one in folded.diagnostics],
        errors=list(folded.errors),
        losses=losses_of((*folded.losses, *in_messages(dumped.losses))),
        guess=None if guess is None else format_guess(guess),
    )


def fold_payload(events: list[Json], source: str, *, lenient: bool = False) -> FoldedEvents:
    """The messages of a stream in that format, with losses and diagnostics."""
    reading = get_format(source, "streamed", hint="use POST /api/convert")
    assert reading.decoder is not None, "it can be streamed"
    return fold_events(reading.decoder(), events, lenient=lenient, losses=True)


def _only(payload: Json) -> Json:
    """The one item of a list; a list of any other length as it is."""
    return payload[0] if is_array(payload) and len(payload) == 1 else payload
