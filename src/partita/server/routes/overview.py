"""What happened in a thread: its overview, and the files that it changed."""

from typing import Annotated, Final, TypeAlias

from msgspec import Meta
from msgspec.structs import replace
from starlette.requests import Request

from partita.errors import PartitaError
from partita.importers.resume import resumable
from partita.server.callers import ActingCaller
from partita.server.endpoints import Query, get
from partita.server.responses import while_connected
from partita.store.threads.overview import diff, overview
from partita.types.overview import ResumeCommand, ThreadDiff, ThreadOverview

from .threads import thread_of

TAGS: Final = ["messages"]

Branch: TypeAlias = Annotated[
    str | None, Query(description="A message on the branch. Default: the active branch.")
]


@get("/api/threads/{thread_id}/overview", tags=TAGS, summary="Get the overview of a thread")
async def get_overview(
    caller: ActingCaller,
    request: Request,
    thread_id: str,
    branch: Branch = None,
) -> ThreadOverview:
    """What happened on a branch: its turns, calls, changed files, commits and pull requests, each with its
    place. Calls of sub-agents are included, with the path of their part.

    Tokens and cost are those of all responses of the thread. `resume` is the command of the agent that
    continues the session in a terminal.
    """
    thread = await thread_of(caller, thread_id)
    found = await while_connected(request, overview(caller.store, thread_id, through=branch))
    try:
        known = await resumable(caller.store, thread)
    except PartitaError:
        return found
    return replace(found, resume=ResumeCommand(command=known.text, directory=known.folder))


@get("/api/threads/{thread_id}/diff", tags=TAGS, summary="Get the diffs of the changed files of a thread")
async def get_diff(
    caller: ActingCaller,
    request: Request,
    thread_id: str,
    branch: Branch = None,
    path: Annotated[str | None, Query(description="One of the files of the overview. Default: all.")] = None,
    lines: Annotated[
        int | None, Query(description="The most lines of each file. Default: all of them."), Meta(ge=0)
    ] = None,
) -> ThreadDiff:
    """The files that a branch changed, each with all its edits as one diff: from the first known state of its
    lines to the last one. If it was also changed by something else in between, its hunks are in the order of
    the edits. Each hunk has the places of the calls that made it. The numbers are those of the overview.
    """
    await thread_of(caller, thread_id)
    work = diff(caller.store, thread_id, through=branch, path=path, lines=lines)
    return await while_connected(request, work)
