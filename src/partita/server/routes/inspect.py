"""Inspect a text of any format: detect the format, read the messages, and write them in another format."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta
from starlette.requests import Request

from partita.errors import FormatError, PartitaError
from partita.formats.conversion import losses_of_writing, write
from partita.formats.detection.guess import SAMPLE_SIZE, first_of, sniff
from partita.formats.detection.guess import FormatGuess as Guess
from partita.formats.format import Loaded
from partita.formats.losses import Loss, Severity
from partita.formats.registry import all_formats, get_dump, get_format
from partita.logs.detection import detect
from partita.logs.sources.registry import LOG_FORMATS
from partita.server.callers import ActingCaller
from partita.server.endpoints import Query, post
from partita.server.problems import Problem
from partita.server.responses import SpooledReply, while_connected
from partita.server.settings import Limits
from partita.server.worker_pool import spooled
from partita.types.codec import to_json
from partita.types.json import Json
from partita.types.tool_views import PartView
from partita.views.messages import part_views

from .convert import FormatGuess, format_guess, json_pieces
from .imports import FILES
from .pasted_text import MessagesOfText, Note, Source, known_format, read, read_source

V4: Final = Guess("ai-sdk-data-stream-v4", 0.95, "lines that begin with a code")

MAX_BYTES: Final = 32 * 1024 * 1024
"""The largest number of bytes of a text."""

MAX_LISTED: Final = 5000
"""The largest number of losses, and of notes, that are listed."""

Side: TypeAlias = Literal["reading", "writing"]


class InspectedLoss(msgspec.Struct):
    """A value that could not be carried over."""

    path: Annotated[
        str,
        Meta(description="Its path: from `$` in the text if it was lost when reading, else from `messages`."),
    ]
    what: Annotated[str, Meta(description="The value.")]
    why: Annotated[str, Meta(description="The reason.")]
    severity: Annotated[
        Severity,
        Meta(description="Whether it is lost, changed, a repair that the target requires, or minor."),
    ]
    side: Side


class InspectionNote(msgspec.Struct, omit_defaults=True):
    """Something that was skipped, or that is unknown but preserved."""

    what: str
    times: int = 1
    path: Annotated[str | None, Meta(description="Its path, if it is known.")] = None
    lines: Annotated[list[int], Meta(description="Its lines in a log, from 1.")] = []
    detail: str = ""


class InspectionProblem(msgspec.Struct, omit_defaults=True):
    """Why a text could not be read, or its messages could not be written."""

    what: str
    where: Annotated[str, Meta(description="`line 3, column 7`, `event 4`, or a path.")] = ""
    hint: str = ""


class Inspection(msgspec.Struct, rename="camel", omit_defaults=True):
    """What a text contains. If there is a `problem`, what was found before it."""

    bytes: int
    guesses: Annotated[list[FormatGuess], Meta(description="The possible formats, the likeliest first.")]
    losses: list[InspectedLoss]
    notes: list[InspectionNote]
    shape: Annotated[
        Literal["document", "lines", "events", "data-stream-v4", "text"] | None,
        Meta(description="The encoding of the text."),
    ] = None
    values: Annotated[int, Meta(description="The number of its values: messages, events or records.")] = 0
    source: Annotated[str | None, Meta(description="The format that it was read as.")] = msgspec.field(
        default=None, name="from"
    )
    kind: Literal["messages", "stream", "log"] | None = None
    messages: Annotated[Json, Meta(description="Canonical messages.")] = None
    views: Annotated[
        list[Mapping[str, PartView]],
        Meta(description="For each message: the views of its tool calls and notices, by JSON Pointer."),
    ] = []
    to: str | None = None
    payload: Annotated[Json, Meta(description="The messages in the format `to`.")] = None
    errors: Annotated[list[str], Meta(description="The errors that a stream itself reports.")] = []
    lost: Annotated[int, Meta(description="The number of all losses; not all of them may be listed.")] = 0
    problem: InspectionProblem | None = None


@post(
    "/api/inspect",
    tags=["formats"],
    summary="Inspect a text",
    request_body=FILES._replace(required=False),
)
async def inspect(
    caller: ActingCaller,
    request: Request,
    source: Annotated[
        str | None,
        Query(name="from", max_length=100, description="The format, if it is detected wrongly."),
    ] = None,
    to: Annotated[str | None, Query(max_length=100, description="A format to write the messages in.")] = None,
    carry: Annotated[
        bool, Query(description="Carry values that the format has no place for along in its metadata.")
    ] = False,
    views: Annotated[bool, Query(description="Include the views of tool calls and notices.")] = False,
) -> SpooledReply[Inspection]:
    """The body is JSON, JSON lines or server-sent events: messages of any format, a recorded stream, a
    response of a provider, or the log of an agent. Nothing is stored.

    Errors in the text are reported in the response, together with what could be read.
    """
    named = None if source is None else known_format(source)
    if to is not None:
        get_dump(to, where="query to")
    target = None if to is None else get_format(to).name
    data = await _body(request)
    job = InspectionJob(data, named, target, carry, views)
    limits = caller.state.settings.limits
    work = caller.state.workers.run(len(data), spooled, inspected_json, job, limits)
    return SpooledReply(await while_connected(request, work))


class InspectionJob(NamedTuple):
    """What a worker process inspects: a text, and what the response includes."""

    data: bytes
    source: str | None
    """The format that the text is read as, if it is not detected."""
    target: str | None
    carry: bool
    views: bool


def inspected_json(job: InspectionJob, limits: Limits) -> Iterator[bytes]:
    """The inspection of a text, as JSON. For a worker process."""
    return json_pieces(_inspect(job), len(job.data), limits)


async def _body(request: Request) -> bytes:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > MAX_BYTES:
            raise Problem(413, f"more than {MAX_BYTES} bytes", hint="import it: partita import FILE")
    return bytes(data)


def _inspect(job: InspectionJob) -> Inspection:
    inspection = Inspection(len(job.data), [], [], [])
    try:
        source = read_source(job.data)
        source, guesses = _guessed(source)
        inspection.shape, inspection.values = source.shape, len(source.values)
        inspection.guesses = [format_guess(one) for one in guesses]
        inspection.source = job.source or _best(guesses)
        contents = read(source, inspection.source)
        _add_messages(inspection, contents)
        if job.views:
            inspection.views = [part_views(message) for message in contents.messages]
        if job.target is not None:
            _write(inspection, contents, job.target, job.carry)
    except PartitaError as error:
        inspection.problem = InspectionProblem(error.what, error.where, error.hint)
    except RecursionError:
        inspection.problem = InspectionProblem("the JSON is nested too deep")
    return inspection


def _guessed(source: Source) -> tuple[Source, list[Guess]]:
    """The source and its possible formats. An object of an unknown format may contain a known list."""
    guesses = guess(source)
    inner = None if guesses else source.inner()
    return (source, guesses) if inner is None else (inner, guess(inner))


def guess(source: Source) -> list[Guess]:
    """The possible formats of a text, the likeliest first. It names its rivals."""
    if source.shape == "data-stream-v4":
        return [V4]
    if source.shape == "text":
        return sniff(source.payload)
    values = source.values[:SAMPLE_SIZE]
    found = sniff(values)
    log = detect(values)
    if log is not None:
        found.append(Guess(log.format, log.confidence, log.why))
    best: dict[str, Guess] = {}
    for one in sorted(found, key=lambda one: -one.confidence):
        best.setdefault(one.format, one)
    guesses = list(best.values())
    return [first_of(guesses), *guesses[1:]] if guesses else []


def _best(guesses: Sequence[Guess]) -> str:
    if not guesses:
        known = sorted(set(all_formats()) | set(LOG_FORMATS))
        raise FormatError("cannot detect the format", hint=f"name it: {', '.join(known)}")
    return guesses[0].format


def _add_messages(inspection: Inspection, contents: MessagesOfText) -> None:
    inspection.kind, inspection.messages = contents.kind, to_json(contents.messages)
    inspection.errors = list(contents.errors)
    inspection.notes = [_note(one) for one in contents.notes[:MAX_LISTED]]
    _add_losses(inspection, contents.losses, "reading")


def _note(note: Note) -> InspectionNote:
    return InspectionNote(note.what, note.times, note.path, list(note.lines), note.detail)


def _add_losses(inspection: Inspection, losses: Sequence[Loss], side: Side) -> None:
    room = max(MAX_LISTED - len(inspection.losses), 0)
    inspection.losses += [InspectedLoss(*loss, side) for loss in losses[:room]]
    inspection.lost += len(losses)


def _write(inspection: Inspection, contents: MessagesOfText, target: str, carry: bool) -> None:
    inspection.to = target
    loaded = Loaded(tuple(contents.messages), request=contents.request)
    dumped = write(loaded, get_format(target), carry=carry)
    inspection.payload = dumped.payload
    losses = losses_of_writing(dumped.losses, inspection.source or "")
    _add_losses(inspection, tuple(losses), "writing")
