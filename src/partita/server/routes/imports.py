"""Import uploads: logs of agents, and messages of any format."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta
from starlette.requests import Request

from partita.server.callers import ActingCaller, CallerView
from partita.server.endpoints import Query, RequestBody, post
from partita.server.problems import Problem
from partita.server.responses import while_connected
from partita.server.uploads.files import DetectedUpload, Upload, detect_upload, is_companion, receive
from partita.server.uploads.logs import import_uploaded_logs
from partita.server.uploads.messages import Payload, import_payload, read_payload
from partita.server.worker_pool import single_value
from partita.store.bulk.writer import Counts
from partita.types.json import JsonObject

from .convert import ConversionLoss, losses_of

MAX_LISTED: Final = 1000
"""The largest number of losses, findings, problems and threads that are listed."""


class ImportedFile(msgspec.Struct, rename="camel", omit_defaults=True):
    """A file of an upload, and its detected format."""

    name: str
    kind: Literal["log", "messages"]
    format: str
    why: Annotated[str, Meta(description="Why this format was detected.")]
    bytes: Annotated[int, Meta(description="Its size, decompressed.")]
    agent: Annotated[str | None, Meta(description="The agent that wrote the log.")] = None


class ImportedThread(msgspec.Struct, rename="camel", omit_defaults=True):
    """A thread of an upload."""

    id: str
    title: str | None = None
    agent: str | None = None


class MessageCounts(msgspec.Struct):
    """The numbers of messages."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0


class ImportFinding(msgspec.Struct):
    """A kind of record that is unknown. Its records are preserved."""

    file: str
    what: str
    times: int
    lines: Annotated[list[int], Meta(description="The first lines with it, from 1.")]
    detail: str


class ImportProblem(msgspec.Struct):
    """Something that could not be imported."""

    file: str
    what: str


class ImportResult(msgspec.Struct, rename="camel"):
    """The result of an import."""

    dry_run: bool
    files: list[ImportedFile]
    threads: list[ImportedThread]
    new_threads: int
    messages: MessageCounts
    runs: Annotated[int, Meta(description="The number of runs in the logs.")]
    lines: Annotated[int, Meta(description="The number of lines of logs that were read.")]
    findings: list[ImportFinding]
    problems: list[ImportProblem]
    losses: Annotated[list[ConversionLoss], Meta(description="What messages could not carry over.")]


BINARY: Final[JsonObject] = {"type": "string", "format": "binary"}
FORM: Final[JsonObject] = {
    "type": "object",
    "properties": {"files": {"type": "array", "items": BINARY}},
    "description": "Files in fields of any name.",
}
FILES: Final = RequestBody(
    {
        "application/x-ndjson": BINARY,
        "application/json": BINARY,
        "application/octet-stream": BINARY,
        "multipart/form-data": FORM,
    }
)


@post(
    "/api/import",
    tags=["import"],
    summary="Import logs or messages",
    request_body=FILES,
)
async def import_upload(
    caller: ActingCaller,
    request: Request,
    dry_run: Annotated[
        bool, Query(name="dryRun", description="Report what would be imported, without storing it.")
    ] = False,
    name: Annotated[
        str | None,
        Query(max_length=1000, description="The name of the file, for a body that is not a form."),
    ] = None,
    format: Annotated[
        str | None, Query(max_length=100, description="The format, if it is not detected.")
    ] = None,
    thread_id: Annotated[
        str | None, Query(name="threadId", description="The thread to add messages to.")
    ] = None,
) -> ImportResult:
    """The log of a coding agent (Claude Code, Codex, Gemini CLI, OpenCode), or messages in any format: as the
    body of the request (JSON or JSON lines, plain, gzip or zstd), or as files of a form. Send a session and
    its sub-agents in one form.

    A log keeps the id of its session, and messages keep their ids: importing them again changes nothing, and
    imports what was added meanwhile. Messages that name no thread are added to a new one.
    """
    with TemporaryDirectory(prefix="partita-") as temporary:
        folder = Path(temporary)
        uploads = await receive(request, folder, name=name, limits=caller.state.settings.limits)
        chosen = [upload for upload in uploads if not is_companion(upload)]
        if not chosen:
            raise Problem(400, "nothing to import", hint="send a log or messages")
        return await while_connected(request, _import(caller, chosen, folder, format, thread_id, dry_run))


class ReadUploads(NamedTuple):
    """Uploads with their formats, and the messages of those that are not logs."""

    detected: Sequence[DetectedUpload]
    payloads: Sequence[Payload]


def read_uploads(uploads: Sequence[Upload], format: str | None, thread_id: str | None) -> ReadUploads:
    """Detect the formats of uploads, and read messages. For a worker process."""
    detected = [detect_upload(upload, format) for upload in uploads]
    return ReadUploads(detected, [read_payload(one, thread_id) for one in detected if one.agent is None])


async def _import(
    caller: CallerView,
    uploads: Sequence[Upload],
    folder: Path,
    format: str | None,
    thread_id: str | None,
    dry_run: bool,
) -> ImportResult:
    size = sum(upload.size for upload in uploads)
    pool = caller.state.workers
    read: ReadUploads = await pool.run(size, single_value, read_uploads, uploads, format, thread_id)
    result = ImportResult(dry_run, list(map(_file, read.detected)), [], 0, MessageCounts(), 0, 0, [], [], [])
    messages = [one for one in read.detected if one.agent is None]
    for one, payload in zip(messages, read.payloads, strict=True):
        imported = await import_payload(caller.store, payload, one.upload.name, dry_run=dry_run)
        _add_counts(result, imported.counts)
        result.losses += losses_of(payload.losses[:MAX_LISTED])
        result.threads += [ImportedThread(thread.id, thread.title) for thread in imported.threads]
    logs = [one for one in read.detected if one.agent is not None]
    if logs:
        report, threads, result.runs = await import_uploaded_logs(
            caller.store, logs, folder, pool, dry_run=dry_run
        )
        _add_counts(result, report.counts)
        result.lines = report.lines
        result.threads += [
            ImportedThread(thread.id, thread.title, thread.agent) for thread in threads.values()
        ][:MAX_LISTED]
        result.findings += [
            ImportFinding(
                file, one.what, one.times, [position.line for position in one.positions], one.detail
            )
            for file, unknown in sorted(report.unknown_records.items())
            for one in unknown
        ][:MAX_LISTED]
        result.problems += [
            ImportProblem(file, str(problem))
            for file, problems in sorted(report.problems.items())
            for problem in problems
        ][:MAX_LISTED]
    return result


def _file(one: DetectedUpload) -> ImportedFile:
    kind: Literal["log", "messages"] = "messages" if one.agent is None else "log"
    return ImportedFile(one.upload.name, kind, one.format, one.why, one.upload.size, one.agent)


def _add_counts(result: ImportResult, counts: Counts) -> None:
    result.new_threads += counts.new_threads
    result.messages.new += counts.new
    result.messages.changed += counts.changed
    result.messages.unchanged += counts.unchanged
