"""Runs: listed, looked at, waited for, stopped; replied to; compared, and read anew."""

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

from .parameters import SEVERAL, Agent, Cursor, Limit, chosen
from .threads import no_thread

STATUSES: Final[tuple[RunStatus, ...]] = get_args(RunStatus)

Status: TypeAlias = Annotated[
    list[str] | None, Query(description=f"Only runs that are {', '.join(STATUSES)}. {SEVERAL}")
]
Seconds: TypeAlias = Annotated[float, Query(ge=0, le=300, description="Seconds to wait at most.")]

PATIENCE: Final = 60.0
"""So many seconds a run has to stop, or to take a reply. A process that died is noticed much earlier."""


def no_run(run_id: str) -> NotFoundError:
    """There is no such run."""
    return NotFoundError(f"no run {run_id!r}", hint="GET /api/runs lists them")


async def run_of(caller: CallerView, run_id: str) -> Run:
    """The run of that id, if the caller may see it."""
    run = await caller.store.runs.get(run_id)
    if run is None:
        raise no_run(run_id)
    return run


# Looked at


@get("/api/runs", tags=["runs"], summary="Runs, the newest first")
async def list_runs(
    caller: ActingCaller,
    thread_id: Annotated[str | None, Query(name="threadId", description="Only of this thread.")] = None,
    status: Status = None,
    agent: Agent = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Listing[Run]:
    """All runs that may be seen: those of agents at work here, and those that were read from logs."""
    page = await caller.store.runs.list(
        RunFilter(thread_id=thread_id, status=chosen(status, STATUSES, "status"), agent=agent),
        limit=limit,
        cursor=cursor,
    )
    return listing(page)


@get("/api/threads/{thread_id}/runs", tags=["runs"], summary="The runs of a thread, the newest first")
async def list_runs_of_thread(
    caller: ActingCaller, thread_id: str, status: Status = None, limit: Limit = 50, cursor: Cursor = None
) -> Listing[Run]:
    """A thread that does not exist is a 404, one without runs an empty page."""
    if await caller.store.threads.get(thread_id) is None:
        raise no_thread(thread_id)
    page = await caller.store.runs.list(
        RunFilter(thread_id=thread_id, status=chosen(status, STATUSES, "status")), limit=limit, cursor=cursor
    )
    return listing(page)


@get("/api/runs/{run_id}", tags=["runs"], summary="A run")
async def get_run(caller: ActingCaller, run_id: str) -> Run:
    """What a run says of itself: whether it is at work, how it ended, what it consumed."""
    return await run_of(caller, run_id)


@get("/api/runs/{run_id}/wait", tags=["runs"], summary="A run, once it has ended")
async def wait_for_run(caller: ActingCaller, run_id: str, timeout: Seconds = 30.0) -> Run:
    """The run as soon as it has ended and its messages are stored, or as it is when the time is up."""
    run = await run_of(caller, run_id)
    if run.status in ACTIVE:
        await _patiently(caller.session.wait(run_id), timeout)
        run = await run_of(caller, run_id)
    return run


# Stopped, and replied to


class StopRequest(msgspec.Struct, rename="camel", omit_defaults=True):
    """How to stop a run."""

    reason: Annotated[str | None, Meta(description="Why; it is stored with the run.")] = None


STOP: Final = {"reason": "It has found the file already."}


@post("/api/runs/{run_id}/stop", tags=["runs"], summary="Stop a run")
async def stop_run(
    caller: ActingCaller, run_id: str, data: Annotated[StopRequest | None, Body(examples=[STOP])] = None
) -> Run:
    """The run, once it has stopped, whichever process works on it. To stop what has ended is harmless."""
    _check_ours(await run_of(caller, run_id), "stopped")
    reason = None if data is None else data.reason
    await _patiently(caller.session.stop(run_id, reason), PATIENCE)
    return await run_of(caller, run_id)


class AnswerRequest(msgspec.Struct, rename="camel", omit_defaults=True):
    """Yes or no to a call that asks. What is shown of the call must be what is stored of it."""

    approval_id: Annotated[str, Meta(description="The id of the question: `approval.id` of the call.")]
    approved: Annotated[bool, Meta(description="Whether the call may run.")]
    reason: Annotated[str | None, Meta(description="Why; the model is told.")] = None
    tool_call_id: Annotated[str | None, Meta(description="The call, to be sure that it is that one.")] = None
    tool_name: Annotated[str | None, Meta(description="The tool, likewise.")] = None
    input: Annotated[Json | UnsetType, Meta(description="The input that was agreed to, likewise.")] = UNSET


YES: Final = {"approvalId": "approval-1", "approved": True, "toolName": "bash"}
NO: Final = {"approvalId": "approval-1", "approved": False, "reason": "not on main"}


@post("/api/runs/{run_id}/answer", tags=["runs"], summary="Allow or refuse a call")
async def answer_run(
    caller: ActingCaller, run_id: str, data: Annotated[AnswerRequest, Body(examples=[YES, NO])]
) -> Run:
    """Whether the run waits for the answer or has long ended: it is stored with the call. An answer stands:
    a second one, or one that is about another call than the stored one, is a 409.
    """
    run = await run_of(caller, run_id)
    _check_ours(run, "answered")
    answer = ApprovalResponse(
        data.approval_id,
        data.approved,
        by=caller.principal.name,
        reason=data.reason,
        tool_call_id=data.tool_call_id,
        tool_name=data.tool_name,
        input=data.input,
    )
    await _taken(caller.session.add_approval_response(run.thread_id, answer))
    return await run_of(caller, run_id)


class OutputRequest(msgspec.Struct, rename="camel", omit_defaults=True):
    """What came of a call that the client has run: an output, or the text of an error."""

    tool_call_id: Annotated[str, Meta(description="The call.")]
    output: Annotated[Json | UnsetType, Meta(description="What it gave: any JSON.")] = UNSET
    error_text: Annotated[str | None, Meta(description="Or why it failed.")] = None
    tool_name: Annotated[str | None, Meta(description="The tool, to be sure that it is that one.")] = None
    input: Annotated[Json | UnsetType, Meta(description="The input that was run with, likewise.")] = UNSET


GAVE: Final = {"toolCallId": "call-1", "output": {"degrees": 21}}
FAILED: Final = {"toolCallId": "call-1", "errorText": "The user closed the map."}


@post("/api/runs/{run_id}/output", tags=["runs"], summary="Give the output of a call")
async def give_output(
    caller: ActingCaller, run_id: str, data: Annotated[OutputRequest, Body(examples=[GAVE, FAILED])]
) -> Run:
    """For tools that the client runs. Only a call whose input is there and that has no output takes one."""
    run = await run_of(caller, run_id)
    _check_ours(run, "given an output")
    work = caller.session.add_tool_output(
        run.thread_id,
        data.tool_call_id,
        _output(data),
        tool_name=data.tool_name,
        input=data.input,
        server_tools=caller.server_tools,
    )
    await _taken(work)
    return await run_of(caller, run_id)


def _output(data: OutputRequest) -> ToolOutput:
    if (data.output is UNSET) == (data.error_text is None):
        raise Problem(400, "give `output` or `errorText`, one of them", where="body")
    return output_of(data.output) if data.error_text is None else ErrorTextOutput(data.error_text)


def _check_ours(run: Run, what: str) -> None:
    """Refuse a run of an agent at work elsewhere, whose log is only read here: it would never hear of it."""
    if is_imported(run) and run.status in ACTIVE:
        raise ConflictError(
            f"run {run.id!r} cannot be {what} from here",
            hint="its agent runs elsewhere, and only its log is read",
        )


async def _patiently(work: Awaitable[object], seconds: float) -> None:
    """Wait for something, but not for ever: what it does goes on by itself."""
    with suppress(TimeoutError):
        await asyncio.wait_for(work, seconds)


async def _taken(work: Awaitable[None]) -> None:
    try:
        await asyncio.wait_for(work, PATIENCE)
    except TimeoutError:
        raise Problem(503, "the process that works on the run did not take it", hint="try again") from None


# Compared, and read anew


@get("/api/runs/{run_id}/diff/{other_id}", tags=["runs"], summary="Two runs compared")
async def diff(caller: ActingCaller, run_id: str, other_id: str) -> JsonObject:
    """What both said and did, part by part (`same`, `changed`, `removed`, `added`; texts word by word), and
    facts of each: status, model, tokens, cost, seconds.
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
    dry_run: Annotated[bool, Query(name="dryRun", description="Only tell what would change.")] = False,
    force: Annotated[bool, Query(description="Write also what loses something.")] = False,
) -> JsonObject:
    """Make the messages of a run again from the raw bytes of its log, with today's decoders. Runs that went
    on with each other's messages are made together, and so are those of an imported session.
    """
    await run_of(caller, run_id)
    report = await reproject(caller.store, [run_id], dry_run=dry_run, force=force)
    return {"runs": [one.to_json() for one in report.runs], "dryRun": dry_run}
