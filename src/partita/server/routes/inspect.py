"""Anything that somebody pastes: what it is, the messages in it, and these in another format."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from litestar import Request, post
from litestar.params import QueryParameter
from litestar.types import ControllerRouterHandler
from msgspec import Meta

from partita.errors import FormatError, PartitaError
from partita.formats.conversion import write
from partita.formats.format import Loaded
from partita.formats.losses import Loss, Severity
from partita.formats.registry import all_formats, get_format
from partita.formats.sniff import Guess
from partita.logs.places.detection import AGENT_OF
from partita.server.hub import Caller
from partita.server.problems import Problem
from partita.server.replies import SpooledReply
from partita.server.settings import Limits
from partita.server.streaming import while_connected
from partita.server.worker_pool import spooled
from partita.types.codec import to_json
from partita.types.json import Json

from .convert import FormatGuess, json_pieces, told
from .imports import TakesFiles
from .inspecting.guessing import guess
from .inspecting.reading import Note, Read, known_format, read
from .inspecting.source import Source, read_source
from .parameters import routes_for_callers

LARGEST: Final = 32 * 1024 * 1024
"""How many bytes may be pasted."""

TOLD: Final = 5000
"""How many losses and notes are told one by one."""

Side: TypeAlias = Literal["reading", "writing"]


class InspectedLoss(msgspec.Struct):
    """Something that could not be carried."""

    path: Annotated[
        str, Meta(description="Where it was: in the text when it was lost in reading, else in `messages`.")
    ]
    what: str
    why: str
    severity: Annotated[Severity, Meta(description="Whether it is lost, changed, a repair, or minor.")]
    side: Side


class InspectionNote(msgspec.Struct, omit_defaults=True):
    """Something that was passed over, or not understood but kept."""

    what: str
    times: int = 1
    path: Annotated[str | None, Meta(description="Where it was, if that is known.")] = None
    lines: Annotated[list[int], Meta(description="Where it was in a log: numbers of lines, from 1.")] = []
    detail: str = ""


class InspectionProblem(msgspec.Struct, omit_defaults=True):
    """Why a text could not be read, or not be written."""

    what: str
    where: Annotated[str, Meta(description="`line 3, column 7`, `event 4`, or a path.")] = ""
    hint: str = ""


class Inspection(msgspec.Struct, rename="camel", omit_defaults=True):
    """What was found in a text. With a `problem`, as far as it went."""

    bytes: int
    guesses: Annotated[list[FormatGuess], Meta(description="What it may be, the likeliest first.")]
    losses: list[InspectedLoss]
    notes: list[InspectionNote]
    shape: Annotated[
        Literal["document", "lines", "events", "data-stream-v4", "text"] | None,
        Meta(description="How it is written down."),
    ] = None
    values: Annotated[int, Meta(description="How many values it holds: messages, events, records.")] = 0
    source: Annotated[str | None, Meta(description="The format that it was read as.")] = msgspec.field(
        default=None, name="from"
    )
    kind: Literal["messages", "stream", "log"] | None = None
    messages: Annotated[Json, Meta(description="Canonical messages.")] = None
    to: str | None = None
    payload: Annotated[Json, Meta(description="The messages in the format `to`.")] = None
    errors: Annotated[list[str], Meta(description="The errors that a stream itself reports.")] = []
    lost: Annotated[int, Meta(description="How many losses there are, if more than are told.")] = 0
    problem: InspectionProblem | None = None


@post(
    "/api/inspect",
    tags=["formats"],
    summary="Look at anything",
    status_code=200,
    operation_class=TakesFiles,
)
async def inspect(
    caller: Caller,
    request: Request[Any, Any, Any],
    source: Annotated[
        str | None,
        QueryParameter(name="from", max_length=100, description="The format, if the guess is wrong."),
    ] = None,
    to: Annotated[
        str | None, QueryParameter(max_length=100, description="A format to write the messages in.")
    ] = None,
    carry: Annotated[
        bool, QueryParameter(description="Put what that format has no place for into its metadata.")
    ] = False,
) -> SpooledReply[Inspection]:
    """The body is JSON, JSON lines or server-sent events: messages of any format, a recorded stream, a
    provider's answer, the log of an agent. Nothing is stored.

    What is wrong with the text is told in the answer, beside what was understood.
    """
    named = None if source is None else known_format(source)
    target = None if to is None else _target(to)
    data = await _body(request)
    limits = caller.hub.settings.limits
    work = caller.hub.workers.run(len(data), spooled, inspected_json, data, named, target, carry, limits)
    return SpooledReply(await while_connected(request, work))


def inspected_json(
    data: bytes, named: str | None, target: str | None, carry: bool, limits: Limits
) -> Iterator[bytes]:
    """The answer to a text that was pasted."""
    return json_pieces(_inspect(data, named, target, carry), len(data), limits)


async def _body(request: Request[Any, Any, Any]) -> bytes:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > LARGEST:
            raise Problem(413, f"more than {LARGEST} bytes", hint="import it: partita import FILE")
    return bytes(data)


def _target(name: str) -> str:
    known = get_format(name)
    if known.dump is None:
        raise FormatError(
            f"{known.name} can be read but not written", where="query to", hint="choose another target"
        )
    return known.name


def _inspect(data: bytes, named: str | None, target: str | None, carry: bool) -> Inspection:
    said = Inspection(len(data), [], [], [])
    try:
        source = read_source(data)
        source, guesses = _guessed(source)
        said.shape, said.values = source.shape, len(source.values)
        said.guesses = [told(one) for one in guesses]
        said.source = named or _best(guesses)
        found = read(source, said.source)
        _tell(said, found)
        if target is not None:
            _write(said, found, target, carry)
    except PartitaError as error:
        said.problem = InspectionProblem(error.what, error.where, error.hint)
    except RecursionError:
        said.problem = InspectionProblem("the JSON is nested too deep")
    return said


def _guessed(source: Source) -> tuple[Source, list[Guess]]:
    """The source and what it may be; what nobody knows may hold a list that somebody knows."""
    guesses = guess(source)
    inside = None if guesses else source.inside()
    return (source, guesses) if inside is None else (inside, guess(inside))


def _best(guesses: Sequence[Guess]) -> str:
    if not guesses:
        known = sorted(set(all_formats()) | set(AGENT_OF))
        raise FormatError("cannot tell what this is", hint=f"name it; there are {', '.join(known)}")
    return guesses[0].format


def _tell(said: Inspection, found: Read) -> None:
    said.kind, said.messages = found.kind, to_json(found.messages)
    said.errors = list(found.errors)
    said.notes = [_note(one) for one in found.notes[:TOLD]]
    _lose(said, found.losses, "reading")


def _note(note: Note) -> InspectionNote:
    return InspectionNote(note.what, note.times, note.path, list(note.lines), note.detail)


def _lose(said: Inspection, losses: Sequence[Loss], side: Side) -> None:
    room = max(TOLD - len(said.losses), 0)
    said.losses += [InspectedLoss(*loss, side) for loss in losses[:room]]
    said.lost += len(losses)


def _write(said: Inspection, found: Read, target: str, carry: bool) -> None:
    said.to = target
    loaded = Loaded(tuple(found.messages), request=found.request)
    dumped = write(loaded, get_format(target), carry=carry)
    said.payload = dumped.payload
    _lose(said, dumped.losses, "writing")


INSPECT: Final[list[ControllerRouterHandler]] = [routes_for_callers(inspect)]
