"""Uploads: logs of agents and messages of any format, brought into the store."""

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
from partita.server.uploads.files import Recognised, Upload, is_beside, receive, recognise
from partita.server.uploads.logs import bring_in_logs
from partita.server.uploads.messages import Payload, bring_in_messages, read_payload
from partita.server.worker_pool import only
from partita.store.bulk.writer import Counts
from partita.types.json import JsonObject

from .convert import LostValue, lost

MOST_LISTED: Final = 1000
"""How many losses, findings, problems and threads are listed."""


class ImportedFile(msgspec.Struct, rename="camel", omit_defaults=True):
    """A file of an upload, and what it was taken for."""

    name: str
    kind: Literal["log", "messages"]
    format: str
    why: Annotated[str, Meta(description="What gave the format away.")]
    bytes: Annotated[int, Meta(description="How much it holds, unpacked.")]
    agent: Annotated[str | None, Meta(description="Whose log it is.")] = None


class ImportedThread(msgspec.Struct, rename="camel", omit_defaults=True):
    """A thread that an upload is about."""

    id: str
    title: str | None = None
    agent: str | None = None


class MessageCounts(msgspec.Struct):
    """What came of messages."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0


class ImportFinding(msgspec.Struct):
    """Something that was not understood, but kept."""

    file: str
    what: str
    times: int
    lines: Annotated[list[int], Meta(description="Where it was first: numbers of lines, from 1.")]
    detail: str


class ImportProblem(msgspec.Struct):
    """Something that could not be brought in."""

    file: str
    what: str


class ImportAnswer(msgspec.Struct, rename="camel"):
    """What came of an upload."""

    dry_run: bool
    files: list[ImportedFile]
    threads: list[ImportedThread]
    new_threads: int
    messages: MessageCounts
    runs: Annotated[int, Meta(description="How many runs the logs tell of.")]
    lines: Annotated[int, Meta(description="How many lines of logs were read.")]
    findings: list[ImportFinding]
    problems: list[ImportProblem]
    losses: Annotated[list[LostValue], Meta(description="What a message of ours cannot carry.")]


BINARY: Final[JsonObject] = {"type": "string", "format": "binary"}
FORM: Final[JsonObject] = {
    "type": "object",
    "properties": {"files": {"type": "array", "items": BINARY}},
    "description": "Files under any name.",
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
    summary="Import an upload",
    request_body=FILES,
)
async def import_upload(
    caller: ActingCaller,
    request: Request,
    dry_run: Annotated[bool, Query(name="dryRun", description="Only tell what would be.")] = False,
    name: Annotated[
        str | None,
        Query(max_length=1000, description="The name of the file, for a body that is no form."),
    ] = None,
    format: Annotated[
        str | None, Query(max_length=100, description="The format, if it is not recognised.")
    ] = None,
    thread_id: Annotated[
        str | None, Query(name="threadId", description="For messages: the thread that they go to.")
    ] = None,
) -> ImportAnswer:
    """The log of a coding agent (Claude Code, Codex, Gemini CLI, OpenCode), or messages in any format: as the
    body of the request (JSON or JSON lines, plain, gzip or zstd), or as files of a form. A session and its
    sub-agents belong in one form.

    A log keeps its session's id, and messages keep theirs: uploaded again, nothing changes, and what was
    added is added. Messages that name no thread go to one of their own.
    """
    with TemporaryDirectory(prefix="partita-") as temporary:
        folder = Path(temporary)
        uploads = await receive(request, folder, name=name, limits=caller.state.settings.limits)
        chosen = [upload for upload in uploads if not is_beside(upload)]
        if not chosen:
            raise Problem(400, "there is nothing to import", hint="send a log or messages")
        return await while_connected(request, _bring_in(caller, chosen, folder, format, thread_id, dry_run))


class ReadUploads(NamedTuple):
    """What uploads are, and the messages of those that are no logs."""

    found: Sequence[Recognised]
    payloads: Sequence[Payload]


def read_uploads(uploads: Sequence[Upload], format: str | None, thread_id: str | None) -> ReadUploads:
    """Recognise uploads, and read messages. For a worker process."""
    found = [recognise(upload, format) for upload in uploads]
    return ReadUploads(found, [read_payload(one, thread_id) for one in found if one.agent is None])


async def _bring_in(
    caller: CallerView,
    uploads: Sequence[Upload],
    folder: Path,
    format: str | None,
    thread_id: str | None,
    dry_run: bool,
) -> ImportAnswer:
    size = sum(upload.size for upload in uploads)
    pool = caller.state.workers
    read: ReadUploads = await pool.run(size, only, read_uploads, uploads, format, thread_id)
    answer = _Answer(read.found, dry_run)
    messages = [one for one in read.found if one.agent is None]
    for one, payload in zip(messages, read.payloads, strict=True):
        brought = await bring_in_messages(caller.store, payload, one.upload.name, dry_run=dry_run)
        answer.count(brought.counts)
        answer.response.losses += [lost(loss) for loss in payload.losses][:MOST_LISTED]
        answer.response.threads += [ImportedThread(thread.id, thread.title) for thread in brought.threads]
    logs = [one for one in read.found if one.agent is not None]
    if logs:
        imported = await bring_in_logs(caller.store, logs, folder, pool, dry_run=dry_run)
        answer.count(imported.report.counts)
        answer.response.runs, answer.response.lines = imported.runs, imported.report.lines
        answer.response.threads += [
            ImportedThread(thread.id, thread.title, thread.agent) for thread in imported.threads.values()
        ][:MOST_LISTED]
        answer.response.findings += [
            ImportFinding(
                file, one.what, one.times, [position.line for position in one.positions], one.detail
            )
            for file, unknown in sorted(imported.report.unknown_records.items())
            for one in unknown
        ][:MOST_LISTED]
        answer.response.problems += [
            ImportProblem(file, what)
            for file, problems in sorted(imported.report.problems.items())
            for what in problems
        ][:MOST_LISTED]
    return answer.response


class _Answer:
    """The answer while it grows."""

    def __init__(self, found: Sequence[Recognised], dry_run: bool) -> None:
        files = [
            ImportedFile(
                one.upload.name,
                "messages" if one.agent is None else "log",
                one.format,
                one.why,
                one.upload.size,
                one.agent,
            )
            for one in found
        ]
        self.response = ImportAnswer(dry_run, files, [], 0, MessageCounts(), 0, 0, [], [], [])

    def count(self, counts: Counts) -> None:
        response = self.response
        response.new_threads += counts.new_threads
        response.messages.new += counts.new
        response.messages.changed += counts.changed
        response.messages.unchanged += counts.unchanged
