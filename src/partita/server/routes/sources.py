"""Where the logs of agents are searched for, and what was found: for the user of this machine."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from partita.errors import PartitaError
from partita.importers.logs.locations import Location, configured_scope, list_locations
from partita.server.callers import Caller, require_local
from partita.server.endpoints import get, post
from partita.types.times import Timestamp

TAGS: Final = ["settings"]
MAX_PROBLEMS: Final = 100
"""The largest number of problems that are listed for a place."""


class SourceProblem(msgspec.Struct, rename="camel"):
    """Something that could not be read or imported."""

    file: str
    what: str
    hint: str


class LogLocation(msgspec.Struct, rename="camel"):
    """A place where logs are searched for, and what it contains."""

    agent: Annotated[str | None, Meta(description="The agent that writes there; null for an added folder.")]
    path: str
    exists: bool
    is_imported: Annotated[bool, Meta(description="Whether its logs are imported (`import.agents`).")]
    is_followed: Annotated[bool, Meta(description="Whether new lines are imported as they are written.")]
    files: Annotated[int, Meta(description="The number of logs.")]
    new_files: Annotated[int, Meta(description="How many of them were never imported.")]
    sessions: Annotated[int, Meta(description="The number of stored sessions that were imported from it.")]
    updated_at: Annotated[Timestamp | None, Meta(description="When a log was last written to.")]
    problems: list[SourceProblem]
    problem_count: int


class Sources(msgspec.Struct, rename="camel"):
    """The places where logs are searched for."""

    items: list[LogLocation]
    is_following: Annotated[bool, Meta(description="Whether new sessions are imported (`serve.import`).")]


@get("/api/sources", tags=TAGS, summary="List where the logs of agents are searched for")
async def list_sources(caller: Caller) -> Sources:
    """Every place where logs are searched for, and what was found. Only for the user of this machine."""
    require_local(caller.principal, "see the files of this machine")
    state = caller.state
    found = await list_locations(state.store, configured_scope())
    followed = state.log_import.followed
    problems = dict(state.log_import.problems)
    items: list[LogLocation] = []
    for place in sorted(found, key=lambda one: -len(one.path.parts)):  # the innermost place has the file
        own = [path for path in problems if _is_in(path, place)]
        listed = [
            *(_problem(error.where, error) for error in place.problems),
            *(_problem(path, error) for path in sorted(own) for error in problems.pop(path)),
        ]
        items.append(
            LogLocation(
                agent=place.agent,
                path=str(place.path),
                exists=place.exists,
                is_imported=place.is_imported,
                is_followed=place.is_imported and any(one.is_relative_to(place.path) for one in followed),
                files=place.files,
                new_files=place.new_files,
                sessions=place.sessions,
                updated_at=place.updated_at,
                problems=listed[:MAX_PROBLEMS],
                problem_count=len(listed),
            )
        )
    order = {str(place.path): number for number, place in enumerate(found)}
    return Sources(sorted(items, key=lambda one: order[one.path]), state.log_import.is_following)


@post("/api/sources/import", tags=TAGS, summary="Import the logs of agents now")
async def import_sources(caller: Caller) -> None:
    """Import what is new in all places, in the background. `GET /api/feed` reports the progress. Only for the
    user of this machine.
    """
    require_local(caller.principal, "import the files of this machine")
    caller.state.log_import.start()


def _is_in(path: str, place: Location) -> bool:
    return path == str(place.path) or path.startswith(f"{place.path}/")


def _problem(path: str, error: PartitaError) -> SourceProblem:
    return SourceProblem(path, error.what, error.hint)
