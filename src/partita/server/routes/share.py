"""A thread as a file: one HTML page, Markdown, JSON lines of any format, or a fixture for tests."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import StreamingResponse

from partita.formats.losses import Loss
from partita.formats.redaction.kinds import KINDS
from partita.formats.redaction.redactor import Finding
from partita.server.callers import ActingCaller, CallerView
from partita.server.endpoints import Body, ResponseSpec, post
from partita.server.responses import SpooledFile, while_connected
from partita.server.routes.run_log import redact_requests
from partita.server.sharing.request import ShareRequest
from partita.server.sharing.shared_file import MEDIA_TYPES, SharedFile, make
from partita.server.sharing.thread_content import Gathered, RunLog, gather
from partita.server.worker_pool import only, spooled
from partita.version import __version__

from .convert import LostValue, lost
from .threads import thread_of

MOST_LISTED: Final = 2000
"""How many findings and losses are listed."""

AT_ONCE: Final = 64 * 1024
MEMORY_PART: Final = 8
"""Messages may take this part of a worker process's memory: it holds them several times."""


class SecretFinding(msgspec.Struct):
    """A secret that was found."""

    id: Annotated[str, Meta(description="To keep it: `redact.keep`.")]
    kind: str
    mark: Annotated[str, Meta(description="What stands in its place.")]
    preview: Annotated[str, Meta(description="How it begins and ends.")]
    kept: bool
    times: int
    places: Annotated[list[str], Meta(description="Where it stands, the first twenty.")]


class SecretKind(msgspec.Struct):
    """A kind of secret that can be looked for."""

    name: str
    what: str
    wanted: Annotated[bool, Meta(description="Whether it is looked for unless something is said.")]


class SharePreview(msgspec.Struct):
    """What would leave."""

    name: Annotated[str, Meta(description="How the file is called.")]
    bytes: int
    messages: int
    findings: list[SecretFinding]
    removed: Annotated[dict[str, int], Meta(description="What is left out, and how often.")]
    losses: Annotated[list[LostValue], Meta(description="What the format cannot carry.")]
    notices: list[str]
    kinds: list[SecretKind]


AS_PAGE: Final = {"format": "html"}
WITHOUT_OUTPUTS: Final = {"format": "jsonl", "as": "ui", "leaveOut": {"kinds": ["tool-outputs"]}}
ShareBody = Annotated[ShareRequest, Body(examples=[AS_PAGE, WITHOUT_OUTPUTS])]


@post(
    "/api/threads/{thread_id}/share",
    tags=["sharing"],
    summary="A thread as a file",
    responses={200: ResponseSpec("The file.", media_type="application/octet-stream")},
)
async def share_thread(
    caller: ActingCaller, request: Request, thread_id: str, data: ShareBody
) -> StreamingResponse:
    """The file to be downloaded, without secrets and without what is left out."""
    name, file = await while_connected(request, _file(caller, thread_id, data))
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "content-length": str(file.size),
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }
    return StreamingResponse(file.pieces(), media_type=MEDIA_TYPES[data.format], headers=headers)


@post(
    "/api/threads/{thread_id}/share/preview",
    tags=["sharing"],
    summary="What would leave",
)
async def preview_share(
    caller: ActingCaller, request: Request, thread_id: str, data: ShareBody
) -> SharePreview:
    """What would be replaced and left out, what the format cannot carry, and how large the file would be."""
    about = await while_connected(request, _about(caller, thread_id, data))
    return SharePreview(
        name=about.name,
        bytes=about.size,
        messages=about.messages,
        findings=[
            SecretFinding(one.id, one.kind, one.mark, one.preview, one.kept, one.times, one.places)
            for one in about.findings
        ],
        removed=dict(about.removed),
        losses=[lost(loss) for loss in about.losses],
        notices=list(about.notices),
        kinds=[SecretKind(kind.name, kind.what, kind.wanted) for kind in KINDS],
    )


class AboutFile(NamedTuple):
    """What is reported of a file, without the file."""

    name: str
    size: int
    messages: int
    findings: Sequence[Finding]
    removed: Mapping[str, int]
    losses: Sequence[Loss]
    notices: Sequence[str]


async def _file(caller: CallerView, thread_id: str, request: ShareRequest) -> tuple[str, SpooledFile]:
    gathered = await _gathered(caller, thread_id, request)
    return await caller.state.workers.run(
        gathered.size, _received, shared_pieces, gathered, request, __version__
    )


def _received(items: Iterator[Any]) -> tuple[str, SpooledFile]:
    """The name of a file, and the file."""
    return next(items), spooled(items)


async def _about(caller: CallerView, thread_id: str, request: ShareRequest) -> AboutFile:
    gathered = await _gathered(caller, thread_id, request)
    about: AboutFile = await caller.state.workers.run(
        gathered.size, only, about_file, gathered, request, __version__
    )
    return about


def shared_pieces(gathered: Gathered, request: ShareRequest, version: str) -> Iterator[str | bytes]:
    """The name of the file that was asked for, then its bytes. For a worker process: it takes long."""
    file = make(gathered, request, version)
    yield file.name
    yield from _even(file.pieces)


def about_file(gathered: Gathered, request: ShareRequest, version: str) -> AboutFile:
    """What is reported of the file that was asked for."""
    file: SharedFile = make(gathered, request, version)
    cleaned = file.cleaned
    return AboutFile(
        file.name,
        file.size,
        len(cleaned.messages),
        cleaned.findings[:MOST_LISTED],
        cleaned.removed,
        file.losses[:MOST_LISTED],
        file.notices,
    )


async def _gathered(caller: CallerView, thread_id: str, request: ShareRequest) -> Gathered:
    thread = await thread_of(caller, thread_id)
    most = caller.state.settings.limits.memory_bytes // MEMORY_PART
    logs = request.format == "fixture"
    gathered = await gather(caller.store, thread, request.messages, logs=logs, most_bytes=most)
    return gathered._replace(runs=[_redacted(caller, log) for log in gathered.runs])


def _redacted(caller: CallerView, log: RunLog) -> RunLog:
    return log._replace(entries=[redact_requests(caller.principal, entry) for entry in log.entries])


def _even(pieces: Sequence[bytes]) -> Iterator[bytes]:
    """The file in pieces that are neither tiny nor huge."""
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= AT_ONCE:
            yield bytes(held[:AT_ONCE])
            del held[:AT_ONCE]
    yield bytes(held)
