"""A thread as a file: one HTML page, Markdown, JSON lines of any format, or a fixture for tests."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from litestar import Request, post
from litestar.openapi import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath
from litestar.response import Stream
from litestar.types import ControllerRouterHandler
from msgspec import Meta

from partita.formats.losses import Loss
from partita.formats.redaction.kinds import KINDS
from partita.formats.redaction.redactor import Finding
from partita.server.hub import Caller, CallerView
from partita.server.replies import Reply, SpooledFile
from partita.server.sharing.gathering import Gathered, RunLog, gather
from partita.server.sharing.making import MEDIA_TYPES, SharedFile, make
from partita.server.sharing.request import ShareRequest
from partita.server.streaming import while_connected
from partita.server.withholding import as_told_to
from partita.server.worker_pool import only, spooled
from partita.version import __version__

from .convert import LostValue, lost
from .parameters import routes_for_callers
from .threads import thread_of

TOLD: Final = 2000
"""How many findings and losses are told one by one."""

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


AS_PAGE: Final = Example("one page", value={"format": "html"})
WITHOUT_OUTPUTS: Final = Example(
    "messages of the AI SDK without outputs of tools",
    value={"format": "jsonl", "as": "ui", "leaveOut": {"kinds": ["tool-outputs"]}},
)
ShareBody = Annotated[ShareRequest, Body(examples=[AS_PAGE, WITHOUT_OUTPUTS])]


@post(
    "/api/threads/{thread_id:str}/share",
    tags=["sharing"],
    summary="A thread as a file",
    status_code=200,
    responses={200: ResponseSpec(str, media_type="application/octet-stream", description="The file.")},
)
async def share_thread(
    caller: Caller, request: Request[Any, Any, Any], thread_id: FromPath[str], data: ShareBody
) -> Stream:
    """The file to be downloaded, without secrets and without what is left out."""
    name, file = await while_connected(request, _file(caller, thread_id, data))
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "content-length": str(file.size),
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }
    return Stream(file.pieces(), media_type=MEDIA_TYPES[data.format], headers=headers)


@post(
    "/api/threads/{thread_id:str}/share/preview",
    tags=["sharing"],
    summary="What would leave",
    status_code=200,
)
async def preview_share(
    caller: Caller, request: Request[Any, Any, Any], thread_id: FromPath[str], data: ShareBody
) -> Reply[SharePreview]:
    """What would be replaced and left out, what the format cannot carry, and how large the file would be."""
    about = await while_connected(request, _about(caller, thread_id, data))
    return Reply(
        SharePreview(
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
    return await caller.hub.workers.run(
        gathered.size, _received, shared_pieces, gathered, request, __version__
    )


def _received(items: Iterator[Any]) -> tuple[str, SpooledFile]:
    """The name of a file, and the file."""
    return next(items), spooled(items)


async def _about(caller: CallerView, thread_id: str, request: ShareRequest) -> AboutFile:
    gathered = await _gathered(caller, thread_id, request)
    about: AboutFile = await caller.hub.workers.run(
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
        cleaned.findings[:TOLD],
        cleaned.removed,
        file.losses[:TOLD],
        file.notices,
    )


async def _gathered(caller: CallerView, thread_id: str, request: ShareRequest) -> Gathered:
    thread = await thread_of(caller, thread_id)
    most = caller.hub.settings.limits.memory_bytes // MEMORY_PART
    logs = request.format == "fixture"
    gathered = await gather(caller.store, thread, request.messages, logs=logs, most_bytes=most)
    return gathered._replace(runs=[_as_told(caller, log) for log in gathered.runs])


def _as_told(caller: CallerView, log: RunLog) -> RunLog:
    return log._replace(entries=[as_told_to(caller.principal, entry) for entry in log.entries])


def _even(pieces: Sequence[bytes]) -> Iterator[bytes]:
    """The file in pieces that are neither tiny nor huge."""
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= AT_ONCE:
            yield bytes(held[:AT_ONCE])
            del held[:AT_ONCE]
    yield bytes(held)


SHARE: Final[list[ControllerRouterHandler]] = [routes_for_callers(share_thread, preview_share)]
