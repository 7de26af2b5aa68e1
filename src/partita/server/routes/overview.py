"""What happened in a thread: its overview, and the files that it changed."""

from typing import Annotated, Final

from msgspec.structs import replace

from partita.errors import PartitaError
from partita.importers.resume import resumable
from partita.server.callers import ActingCaller
from partita.server.endpoints import Query, get
from partita.store.threads.overview import overview
from partita.types.overview import ResumeCommand, ThreadOverview

from .threads import thread_of

TAGS: Final = ["messages"]


@get("/api/threads/{thread_id}/overview", tags=TAGS, summary="Get the overview of a thread")
async def get_overview(
    caller: ActingCaller,
    thread_id: str,
    branch: Annotated[
        str | None, Query(description="A message on the branch. Default: the active branch.")
    ] = None,
) -> ThreadOverview:
    """What happened on a branch: its turns, calls, changed files, commits and pull requests, each with its
    place. Calls of sub-agents are included, with the path of their part.

    Tokens and cost are those of all responses of the thread. `resume` is the command of the agent that
    continues the session in a terminal.
    """
    thread = await thread_of(caller, thread_id)
    found = await caller.store.read(overview, thread_id, through=branch)
    try:
        known = await resumable(caller.store, thread)
    except PartitaError:
        return found
    return replace(found, resume=ResumeCommand(command=known.text, directory=known.folder))
