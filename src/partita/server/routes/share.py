"""A thread as a file: one HTML page, Markdown, JSON lines of any format, or a fixture for tests."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Final

import msgspec
from litestar import post
from litestar.openapi import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath
from litestar.response import Stream
from litestar.types import ControllerRouterHandler
from msgspec import Meta

from partita.formats.redaction.kinds import KINDS
from partita.server.hub import Caller, CallerView
from partita.server.replies import Reply
from partita.server.sharing.gathering import RunLog, gather
from partita.server.sharing.making import MEDIA_TYPES, SharedFile, make
from partita.server.sharing.request import ShareRequest
from partita.server.withholding import as_told_to
from partita.version import __version__

from .convert import LostValue, lost
from .parameters import routes_for_callers
from .threads import thread_of

TOLD: Final = 2000
"""How many findings and losses are told one by one."""

AT_ONCE: Final = 64 * 1024


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
async def share_thread(caller: Caller, thread_id: FromPath[str], data: ShareBody) -> Stream:
    """The file to be downloaded, without secrets and without what is left out."""
    file = await _made(caller, thread_id, data)
    headers = {
        "content-disposition": f'attachment; filename="{file.name}"',
        "content-length": str(file.size),
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }
    return Stream(_sent(file.pieces), media_type=MEDIA_TYPES[data.format], headers=headers)


@post(
    "/api/threads/{thread_id:str}/share/preview",
    tags=["sharing"],
    summary="What would leave",
    status_code=200,
)
async def preview_share(caller: Caller, thread_id: FromPath[str], data: ShareBody) -> Reply[SharePreview]:
    """What would be replaced and left out, what the format cannot carry, and how large the file would be."""
    file = await _made(caller, thread_id, data)
    cleaned = file.cleaned
    return Reply(
        SharePreview(
            name=file.name,
            bytes=file.size,
            messages=len(cleaned.messages),
            findings=[
                SecretFinding(one.id, one.kind, one.mark, one.preview, one.kept, one.times, one.places)
                for one in cleaned.findings[:TOLD]
            ],
            removed=dict(cleaned.removed),
            losses=[lost(loss) for loss in file.losses[:TOLD]],
            notices=list(file.notices),
            kinds=[SecretKind(kind.name, kind.what, kind.wanted) for kind in KINDS],
        )
    )


async def _made(caller: CallerView, thread_id: str, request: ShareRequest) -> SharedFile:
    thread = await thread_of(caller, thread_id)
    gathered = await gather(caller.store, thread, request.messages, logs=request.format == "fixture")
    runs = [_as_told(caller, log) for log in gathered.runs]
    return await asyncio.to_thread(make, gathered._replace(runs=runs), request, __version__)


def _as_told(caller: CallerView, log: RunLog) -> RunLog:
    return log._replace(entries=[as_told_to(caller.principal, entry) for entry in log.entries])


async def _sent(pieces: Sequence[bytes]) -> AsyncGenerator[bytes, None]:
    """The file in pieces that are neither tiny nor huge."""
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= AT_ONCE:
            yield bytes(held[:AT_ONCE])
            del held[:AT_ONCE]
    yield bytes(held)


SHARE: Final[list[ControllerRouterHandler]] = [routes_for_callers(share_thread, preview_share)]
