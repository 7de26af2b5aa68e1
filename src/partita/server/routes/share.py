"""Share threads as files: an HTML page, Markdown, JSON lines of any format, or a fixture for tests."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import StreamingResponse

from partita.formats.losses import Loss
from partita.formats.redaction.defaults import default_kinds
from partita.formats.redaction.kinds import KINDS
from partita.formats.redaction.redactor import Finding
from partita.server.callers import ActingCaller, CallerView
from partita.server.endpoints import Body, ResponseSpec, post
from partita.server.responses import SpooledFile, while_connected
from partita.server.routes.run_log import redact_requests
from partita.server.sharing.request import ShareRequest
from partita.server.sharing.shared_file import MEDIA_TYPES, SUFFIXES, SharedFile, shared_file
from partita.server.sharing.thread_content import RunLog, ThreadContent, read_content
from partita.server.sharing.threads_file import ThreadsFile
from partita.server.worker_pool import single_value, spooled
from partita.version import __version__

from .convert import ConversionLoss, losses_of
from .parameters import MAX_ITEMS
from .threads import thread_of

MAX_LISTED: Final = 2000
"""The largest number of findings, and of losses, that are listed."""

PIECE: Final = 64 * 1024
MEMORY_PART: Final = 8
"""Messages may use this part of a worker process's memory: it has several copies of them."""


class SecretFinding(msgspec.Struct):
    """A secret that was found."""

    id: Annotated[str, Meta(description="Its id. Send it in `redact.keep` to keep the secret.")]
    kind: str
    mark: Annotated[str, Meta(description="The placeholder that replaces it.")]
    preview: Annotated[str, Meta(description="Its first and last characters.")]
    kept: bool
    times: int
    places: Annotated[list[str], Meta(description="The first twenty places where it occurs.")]


class SecretKind(msgspec.Struct):
    """A kind of secret."""

    name: str
    what: str
    wanted: Annotated[bool, Meta(description="Whether it is searched by default.")]


class SharePreview(msgspec.Struct):
    """What a file would contain, and what would be removed."""

    name: Annotated[str, Meta(description="The name of the file.")]
    bytes: int
    messages: int
    findings: list[SecretFinding]
    removed: Annotated[dict[str, int], Meta(description="What is left out, and how often.")]
    losses: Annotated[tuple[ConversionLoss, ...], Meta(description="What the format could not carry over.")]
    notices: list[str]
    kinds: list[SecretKind]


AS_PAGE: Final = {"format": "html"}
WITHOUT_OUTPUTS: Final = {"format": "jsonl", "as": "ui", "leaveOut": {"kinds": ["tool-outputs"]}}
ShareBody = Annotated[ShareRequest, Body(examples=[AS_PAGE, WITHOUT_OUTPUTS])]


@post(
    "/api/threads/{thread_id}/share",
    tags=["sharing"],
    summary="Share a thread as a file",
    responses={200: ResponseSpec("The file.", media_type="application/octet-stream")},
)
async def share_thread(
    caller: ActingCaller, request: Request, thread_id: str, data: ShareBody
) -> StreamingResponse:
    """Downloads the file, without secrets and without what is left out."""
    name, file = await while_connected(request, _file(caller, thread_id, data))
    return _download(name, file, data)


class SharedThreads(ShareRequest, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """The file to make of several threads."""

    ids: Annotated[list[str], Meta(min_length=1, max_length=MAX_ITEMS, description="Ids of the threads.")]


@post(
    "/api/share",
    tags=["sharing"],
    summary="Share several threads as one file",
    responses={200: ResponseSpec("The file.", media_type="application/octet-stream")},
)
async def share_threads(
    caller: ActingCaller,
    request: Request,
    data: Annotated[SharedThreads, Body(examples=[{"format": "html", "ids": ["t1", "t2"]}])],
) -> StreamingResponse:
    """Downloads one file in the order of the ids: a page with an index, Markdown, or canonical messages."""
    name, file = await while_connected(request, _file_of_threads(caller, data))
    return _download(name, file, data)


@post(
    "/api/threads/{thread_id}/share/preview",
    tags=["sharing"],
    summary="Preview a shared file",
)
async def preview_share(
    caller: ActingCaller, request: Request, thread_id: str, data: ShareBody
) -> SharePreview:
    """What would be replaced or left out, what the format cannot carry over, and the size of the file."""
    summary = await while_connected(request, _summary(caller, thread_id, data))
    return SharePreview(
        name=summary.name,
        bytes=summary.size,
        messages=summary.messages,
        findings=[
            SecretFinding(one.id, one.kind, one.mark, one.preview, one.kept, one.times, one.places)
            for one in summary.findings
        ],
        removed=dict(summary.removed),
        losses=losses_of(summary.losses),
        notices=list(summary.notices),
        kinds=[SecretKind(kind.name, kind.what, kind.name in default_kinds()) for kind in KINDS],
    )


def _download(name: str, file: SpooledFile, data: ShareRequest) -> StreamingResponse:
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "content-length": str(file.size),
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }
    return StreamingResponse(file.pieces(), media_type=MEDIA_TYPES[data.format], headers=headers)


class FileSummary(NamedTuple):
    """What is reported about a file, without its content."""

    name: str
    size: int
    messages: int
    findings: Sequence[Finding]
    removed: Mapping[str, int]
    losses: Sequence[Loss]
    notices: Sequence[str]


async def _file(caller: CallerView, thread_id: str, request: ShareRequest) -> tuple[str, SpooledFile]:
    content = await _content(caller, thread_id, request)
    return await caller.state.workers.run(
        content.size, _name_and_file, file_pieces, content, request, __version__
    )


async def _file_of_threads(caller: CallerView, data: SharedThreads) -> tuple[str, SpooledFile]:
    rest = _memory_for_messages(caller)
    contents: list[ThreadContent] = []
    for thread_id in dict.fromkeys(data.ids):
        thread = await thread_of(caller, thread_id)
        content = await read_content(caller.store, thread, data.messages, logs=False, max_bytes=rest)
        rest -= content.size
        contents.append(content)
    size = sum(content.size for content in contents)
    return await caller.state.workers.run(
        size, _name_and_file, threads_file_pieces, contents, data, __version__
    )


def _name_and_file(items: Iterator[Any]) -> tuple[str, SpooledFile]:
    return next(items), spooled(items)


async def _summary(caller: CallerView, thread_id: str, request: ShareRequest) -> FileSummary:
    content = await _content(caller, thread_id, request)
    summary: FileSummary = await caller.state.workers.run(
        content.size, single_value, file_summary, content, request, __version__
    )
    return summary


def file_pieces(content: ThreadContent, request: ShareRequest, version: str) -> Iterator[str | bytes]:
    """The name of the requested file, then its bytes. For a worker process."""
    file = shared_file(content, request, version)
    yield file.name
    yield from _even(file.pieces)


def threads_file_pieces(
    contents: Sequence[ThreadContent], request: ShareRequest, version: str
) -> Iterator[str | bytes]:
    """The name of a file with several threads, then its bytes. For a worker process."""
    writer = ThreadsFile(request, version)
    yield f"{len(contents)}-sessions.{SUFFIXES[request.format]}"
    pieces = [*writer.start(len(contents))]
    for content in contents:
        pieces += writer.add(content).pieces
    yield from _even([*pieces, *writer.end()])


def file_summary(content: ThreadContent, request: ShareRequest, version: str) -> FileSummary:
    """What is reported about the requested file. For a worker process."""
    file: SharedFile = shared_file(content, request, version)
    redacted = file.redacted
    return FileSummary(
        file.name,
        file.size,
        len(redacted.messages),
        redacted.findings[:MAX_LISTED],
        redacted.removed,
        file.losses[:MAX_LISTED],
        file.notices,
    )


async def _content(caller: CallerView, thread_id: str, request: ShareRequest) -> ThreadContent:
    thread = await thread_of(caller, thread_id)
    most = _memory_for_messages(caller)
    logs = request.format == "fixture"
    content = await read_content(caller.store, thread, request.messages, logs=logs, max_bytes=most)
    return content._replace(runs=[_without_requests(caller, log) for log in content.runs])


def _memory_for_messages(caller: CallerView) -> int:
    return caller.state.settings.limits.memory_bytes // MEMORY_PART


def _without_requests(caller: CallerView, log: RunLog) -> RunLog:
    return log._replace(entries=[redact_requests(caller.principal, entry) for entry in log.entries])


def _even(pieces: Sequence[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of equal size."""
    buffer = bytearray()
    for piece in pieces:
        buffer += piece
        while len(buffer) >= PIECE:
            yield bytes(buffer[:PIECE])
            del buffer[:PIECE]
    yield bytes(buffer)
