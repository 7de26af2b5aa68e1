"""Runs: list, read, await and stop them, reply to their calls, compare them, and decode them again."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Annotated, Final, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from partita.errors import ConflictError, NotFoundError
from partita.runtime.compare.run_diff import diff_runs, to_object
from partita.runtime.rebuild.reproject import reproject
from partita.runtime.replay.message_chunks import is_imported
from partita.runtime.session.client_replies import ApprovalResponse
from partita.runtime.tools.outputs import output_of
from partita.server.callers import ActingCaller, CallerView
from partita.server.endpoints import Body, Query, get, post
from partita.server.problems import Problem
from partita.server.responses import Listing, listing
from partita.store.runs.rows import ACTIVE
from partita.store.values import RunFilter
from partita.types.json import Json, JsonObject
from partita.types.parts import ErrorTextOutput, ToolOutput
from partita.types.threads import Run, RunStatus

from .parameters import REPEATABLE, Agent, Cursor, Limit, Project, Since, Until, chosen, moment_of
from .threads import thread_of

STATUSES: Final[tuple[RunStatus, ...]] = get_args(RunStatus)

Status: TypeAlias = Annotated[
    list[str] | None, Query(description=f"Only with this status: {', '.join(STATUSES)}. {REPEATABLE}")
]
Seconds: TypeAlias = Annotated[float, Query(ge=0, le=300, description="Seconds to wait at most.")]

REPLY_SECONDS: Final = 60.0
"""Seconds that a run has to stop, or to accept a reply. A process that died is noticed much earlier."""


async def run_of(caller: CallerView, run_id: str) -> Run:
    """The run of that id. Raises if it does not exist, or belongs to another owner."""
    run = await caller.store.runs.get(run_id)
    if run is None:
        raise NotFoundError(f"no run {run_id!r}", hint="GET /api/runs lists the runs")
    return run


@get("/api/runs", tags=["runs"], summary="List runs")
async def list_runs(
    caller: ActingCaller,
    *,
    thread_id: Annotated[str | None, Query(name="threadId", description="Only runs of this thread.")] = None,
    status: Status = None,
    agent: Agent = None,
    project: Project = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Listing[Run]:
    """The newest runs first: those of agents of this server, and imported ones."""
    page = await caller.store.runs.list(
        RunFilter(
            thread_id=thread_id,
            status=chosen(status, STATUSES, "status"),
            agent=agent,
            project=project,
            since=moment_of(since, "since"),
            until=moment_of(until, "until"),
        ),
        limit=limit,
        cursor=cursor,
    )
    return listing(page)


@get("/api/threads/{thread_id}/runs", tags=["runs"], summary="List the runs of a thread")
async def list_runs_of_thread(
    caller: ActingCaller, thread_id: str, status: Status = None, limit: Limit = 50, cursor: Cursor = None
) -> Listing[Run]:
    """The newest runs first. A thread that does not exist is a 404."""
    await thread_of(caller, thread_id)
    page = await caller.store.runs.list(
        RunFilter(thread_id=thread_id, status=chosen(status, STATUSES, "status")), limit=limit, cursor=cursor
    )
    return listing(page)


@get("/api/runs/{run_id}", tags=["runs"], summary="Get a run")
async def get_run(caller: ActingCaller, run_id: str) -> Run:
    """A run: its status, agent, model, usage and times."""
    return await run_of(caller, run_id)


@get("/api/runs/{run_id}/wait", tags=["runs"], summary="Wait for the end of a run")
async def wait_for_run(caller: ActingCaller, run_id: str, timeout: Seconds = 30.0) -> Run:
    """The run, once it has ended and its messages are stored, or after `timeout` seconds."""
    run = await run_of(caller, run_id)
    if run.status in ACTIVE:
        await _wait_for(caller.session.wait(run_id), timeout)
        run = await run_of(caller, run_id)
    return run


# Stopping, and replies to calls


class StopRequest(msgspec.Struct, rename="camel", omit_defaults=True):
    """The reason for stopping a run."""

    reason: Annotated[str | None, Meta(description="The reason, which is stored with the run.")] = None


STOP: Final = {"reason": "It has found the file already."}


@post("/api/runs/{run_id}/stop", tags=["runs"], summary="Stop a run")
async def stop_run(
    caller: ActingCaller, run_id: str, data: Annotated[StopRequest | None, Body(examples=[STOP])] = None
) -> Run:
    """The run, once it has stopped. Any process may run it. Stopping a run that has ended does nothing."""
    _check_runs_here(await run_of(caller, run_id), "stopped")
    reason = None if data is None else data.reason
    await _wait_for(caller.session.stop(run_id, reason), REPLY_SECONDS)
    return await run_of(caller, run_id)


class ApprovalRequest(msgspec.Struct, rename="camel", omit_defaults=True):
    """The decision about a call that waits for approval. What it names of the call must match the store."""

    approval_id: Annotated[str, Meta(description="The id of the approval: `approval.id` of the call.")]
    approved: Annotated[bool, Meta(description="Whether the call may run.")]
    reason: Annotated[str | None, Meta(description="The reason, which is sent to the model.")] = None
    tool_call_id: Annotated[str | None, Meta(description="The id of the call, to check that it matches.")] = (
        None
    )
    tool_name: Annotated[str | None, Meta(description="The name of the tool, to check it.")] = None
    input: Annotated[Json | UnsetType, Meta(description="The approved input, to check it.")] = UNSET


ALLOW: Final = {"approvalId": "approval-1", "approved": True, "toolName": "bash"}
DENY: Final = {"approvalId": "approval-1", "approved": False, "reason": "not on main"}


@post("/api/runs/{run_id}/approval", tags=["runs"], summary="Approve or deny a call")
async def add_approval(
    caller: ActingCaller, run_id: str, data: Annotated[ApprovalRequest, Body(examples=[ALLOW, DENY])]
) -> Run:
    """The decision is stored with the call, whether the run waits for it or has ended. It is final: another
    decision about the same call, or a decision that does not match the stored call, is a 409.
    """
    run = await run_of(caller, run_id)
    _check_runs_here(run, "answered")
    response = ApprovalResponse(
        data.approval_id,
        data.approved,
        by=caller.principal.name,
        reason=data.reason,
        tool_call_id=data.tool_call_id,
        tool_name=data.tool_name,
        input=data.input,
    )
    await _add_reply(caller.session.add_approval_response(run.thread_id, response))
    return await run_of(caller, run_id)


class OutputRequest(msgspec.Struct, rename="camel", omit_defaults=True):
    """The output of a call that the client has run, or the text of an error."""

    tool_call_id: Annotated[str, Meta(description="The id of the call.")]
    output: Annotated[Json | UnsetType, Meta(description="The output: any JSON.")] = UNSET
    error_text: Annotated[str | None, Meta(description="The error, if the call failed.")] = None
    tool_name: Annotated[str | None, Meta(description="The name of the tool, to check it.")] = None
    input: Annotated[Json | UnsetType, Meta(description="The input of the call, to check it.")] = UNSET


SUCCESS: Final = {"toolCallId": "call-1", "output": {"degrees": 21}}
FAILURE: Final = {"toolCallId": "call-1", "errorText": "The user closed the map."}


@post("/api/runs/{run_id}/output", tags=["runs"], summary="Send the output of a call")
async def add_output(
    caller: ActingCaller, run_id: str, data: Annotated[OutputRequest, Body(examples=[SUCCESS, FAILURE])]
) -> Run:
    """For tools that the client runs. The call must have its input and no output yet."""
    run = await run_of(caller, run_id)
    _check_runs_here(run, "given an output")
    reply = caller.session.add_tool_output(
        run.thread_id,
        data.tool_call_id,
        _output(data),
        tool_name=data.tool_name,
        input=data.input,
        server_tools=caller.server_tools,
    )
    await _add_reply(reply)
    return await run_of(caller, run_id)


def _output(data: OutputRequest) -> ToolOutput:
    if (data.output is UNSET) == (data.error_text is None):
        raise Problem(400, "send either `output` or `errorText`", where="body")
    return output_of(data.output) if data.error_text is None else ErrorTextOutput(data.error_text)


def _check_runs_here(run: Run, what: str) -> None:
    """Refuse the active run of another program: only its log is imported, and it receives no replies."""
    if is_imported(run) and run.status in ACTIVE:
        raise ConflictError(
            f"run {run.id!r} cannot be {what} from here",
            hint="its agent runs in another program; this server only reads its log",
        )


async def _wait_for(work: Awaitable[object], seconds: float) -> None:
    """Wait for work that continues if the time is up."""
    with suppress(TimeoutError):
        await asyncio.wait_for(work, seconds)


async def _add_reply(work: Awaitable[None]) -> None:
    try:
        await asyncio.wait_for(work, REPLY_SECONDS)
    except TimeoutError:
        raise Problem(503, "the process of the run did not accept the reply", hint="try again") from None


@get("/api/runs/{run_id}/diff/{other_id}", tags=["runs"], summary="Compare two runs")
async def diff(caller: ActingCaller, run_id: str, other_id: str) -> JsonObject:
    """The parts of both runs (`same`, `changed`, `removed` or `added`; texts word by word), and the status,
    model, tokens, cost and duration of each.
    """
    await run_of(caller, run_id)
    await run_of(caller, other_id)
    return to_object(await diff_runs(caller.store, run_id, other_id))


@post(
    "/api/runs/{run_id}/reproject",
    tags=["runs"],
    summary="Decode a run again",
)
async def reproject_run(
    caller: ActingCaller,
    run_id: str,
    dry_run: Annotated[
        bool, Query(name="dryRun", description="Report what would change, without writing.")
    ] = False,
    force: Annotated[bool, Query(description="Also write messages that lose something.")] = False,
) -> JsonObject:
    """Rebuilds the messages of a run from the raw bytes of its log, with the current decoders. Runs that
    continue each other's messages are rebuilt together, and so are the runs of an imported session.
    """
    await run_of(caller, run_id)
    report = await reproject(caller.store, [run_id], dry_run=dry_run, force=force)
    return {"runs": [one.to_json() for one in report.runs], "dryRun": dry_run}
