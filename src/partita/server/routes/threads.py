"""Threads: list, create, read, change, copy and delete them, their summaries and facets, and changes."""

from dataclasses import replace
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from partita.errors import NotFoundError
from partita.server.callers import ActingCaller, Caller, CallerView, require
from partita.server.endpoints import Body, Depends, Query, ResponseSpec, delete, get, patch, post
from partita.server.feed import events
from partita.server.problems import Problem
from partita.server.responses import EventStream, Listing, listing
from partita.store.owners import OwnerReport
from partita.store.threads.facets import Facets
from partita.store.threads.filter import GIT_BRANCH
from partita.store.threads.lists import ThreadSummary
from partita.store.values import Page, ThreadFilter, ThreadSort, UsageTotals
from partita.types.json import JsonObject
from partita.types.threads import Thread

from .parameters import (
    Active,
    Agent,
    Cursor,
    Direction,
    Empty,
    GitBranch,
    HasErrors,
    Ids,
    Limit,
    Model,
    Pinned,
    Project,
    Since,
    Tags,
    Text,
    Tool,
    Until,
    each_of,
    moment_of,
    object_of,
)

TAGS: Final = ["threads"]
THREADS: Final = "/api/threads"

PAGE: Final = 500
"""How many threads of an owner are read at once."""


def thread_filter(
    *,
    agent: Agent = None,
    project: Project = None,
    model: Model = None,
    tool: Tool = None,
    text: Text = None,
    since: Since = None,
    until: Until = None,
    has_errors: HasErrors = None,
    pinned: Pinned = None,
    active: Active = None,
    tags: Tags = None,
    empty: Empty = None,
    branch: GitBranch = None,
    ids: Ids = None,
) -> ThreadFilter:
    """The conditions of a request, all of which must hold."""
    return ThreadFilter(
        agent=agent,
        project=project,
        model=model,
        tool=tool,
        text=text,
        since=moment_of(since, "since"),
        until=moment_of(until, "until"),
        has_errors=has_errors,
        pinned=pinned,
        active=active,
        tags=each_of(tags),
        empty=empty,
        metadata={} if branch is None else {GIT_BRANCH: branch},
        ids=None if ids is None else each_of(ids),
    )


Filter: TypeAlias = Annotated[ThreadFilter, Depends(thread_filter)]
"""An argument of an endpoint: the conditions on threads."""

ThreadOrder: TypeAlias = Annotated[Direction, Query(description="`desc`: the latest, or the largest, first.")]
Sort: TypeAlias = Annotated[
    ThreadSort, Query(description="What to sort by. `time` is that of the last message.")
]


class NewThread(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """A thread to create. All members are optional."""

    id: Annotated[str | None, Meta(description="Its id. Default: a new one.", examples=["chat-1"])] = None
    title: Annotated[str | None, Meta(examples=["Lighthouses"])] = None
    metadata: Annotated[JsonObject | None, Meta(description="Any values of your application.")] = None
    agent: Annotated[str | None, Meta(description="The agent that responds in the thread.")] = None
    project: Annotated[str | None, Meta(description="The project that the thread belongs to.")] = None


class ThreadChange(
    msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True
):
    """Changes of a thread. Members that are left out do not change."""

    title: Annotated[str | UnsetType | None, Meta(description="`null` removes the title.")] = UNSET
    metadata: Annotated[
        JsonObject | UnsetType,
        Meta(
            description="Members to change; `null` removes one. Others do not change. `pinned: true` pins "
            "the thread, `tags` is the list of its tags."
        ),
    ] = UNSET


class ThreadCopy(
    msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True
):
    """The id and the title of a copy."""

    id: Annotated[str | None, Meta(description="Its id. Default: a new one.")] = None
    title: Annotated[str | None, Meta(description="Its title. Default: that of the original.")] = None


class ThreadFork(ThreadCopy, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """A copy that ends with a message."""

    message_id: Annotated[str, Meta(description="The last message of the copy.", examples=["m2"])]


class BranchChoice(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """The branch to switch to."""

    message_id: Annotated[str, Meta(description="A message on the branch.", examples=["m2"])]


def no_thread(thread_id: str, threads: str = THREADS) -> NotFoundError:
    """The error for a thread that does not exist. `threads` is the path of the list of threads."""
    return NotFoundError(f"no thread {thread_id!r}", hint=f"GET {threads} lists the threads")


async def thread_of(caller: CallerView, thread_id: str, threads: str = THREADS) -> Thread:
    """The thread of that id. Raises if it does not exist, or belongs to another owner."""
    thread = await caller.store.threads.get(thread_id)
    if thread is None:
        raise no_thread(thread_id, threads)
    return thread


def usable_id(thread_id: str | None) -> str | None:
    """The id of a new thread. Raises if it cannot be a segment of a path."""
    if thread_id is not None and ("/" in thread_id or thread_id in (".", "..")):
        raise Problem(
            400,
            f"{thread_id!r} cannot be used in a URL",
            where="$.id",
            hint="choose an id without a slash",
        )
    return thread_id


@get(THREADS, tags=TAGS, summary="List threads")
async def list_threads(
    caller: ActingCaller,
    filter: Filter,
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    order: ThreadOrder = "desc",
    sort: Sort = "time",
    metadata: Annotated[
        str | None,
        Query(description='Only with these members in the metadata: a JSON object, `{"topic":"lights"}`.'),
    ] = None,
) -> Listing[Thread]:
    """Threads that match all conditions. `since` and `until` apply to the time of the last message. A thread
    without a title has the first words of its first user message as title.
    """
    members = {**filter.metadata, **(object_of(metadata, "metadata") or {})}
    conditions = replace(filter, metadata=members)
    page = await caller.store.threads.list(conditions, limit=limit, cursor=cursor, order=order, sort=sort)
    titled = await caller.store.threads.with_display_titles(page.items)
    return listing(Page(tuple(titled), page.next))


@post(THREADS, tags=TAGS, summary="Create a thread", status_code=201)
async def create_thread(
    caller: ActingCaller,
    data: Annotated[NewThread, Body(examples=[{"title": "Lighthouses", "metadata": {"topic": "lights"}}])],
) -> Thread:
    """If the id exists, the response is 409. The role `chat` may not set metadata and project."""
    if data.metadata is not None or data.project is not None:
        require(caller.principal, "write", "set the metadata and the project of a thread", where="$.metadata")
    return await caller.store.threads.create(
        usable_id(data.id), title=data.title, metadata=data.metadata, agent=data.agent, project=data.project
    )


@get("/api/threads/{thread_id}", tags=TAGS, summary="Get a thread")
async def get_thread(caller: ActingCaller, thread_id: str) -> Thread:
    """A thread, without its messages."""
    (thread,) = await caller.store.threads.with_display_titles([await thread_of(caller, thread_id)])
    return thread


@patch("/api/threads/{thread_id}", tags=TAGS, summary="Change a thread")
async def change_thread(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[
        ThreadChange, Body(examples=[{"title": "Lamps", "metadata": {"tags": ["lights"], "pinned": True}}])
    ],
) -> Thread:
    """Change the title, and members of the metadata. The role `chat` may only change the title."""
    if data.metadata is not UNSET:
        require(caller.principal, "write", "set the metadata of a thread", where="$.metadata")
    return await caller.store.threads.change(
        thread_id, title=data.title, metadata=None if data.metadata is UNSET else data.metadata
    )


@delete("/api/threads/{thread_id}", tags=TAGS, summary="Delete a thread")
async def delete_thread(caller: ActingCaller, thread_id: str) -> None:
    """Also deletes its messages, its runs with their logs, and blobs that nothing else refers to. The server
    does not import a deleted session again, unless its log is uploaded.
    """
    if not await caller.store.threads.delete(thread_id):
        raise no_thread(thread_id)
    caller.state.feed.report_deleted(caller.store.owner, thread_id)


@delete("/api/owners/{owner_id}", tags=TAGS, summary="Delete everything of an owner")
async def delete_owner(caller: Caller, owner_id: str) -> OwnerReport:
    """Deletes the threads of an owner with all that belongs to them, and blobs, keys, positions in imported
    files and counters. Returns how many of each there were.
    """
    store = caller.acting_for(owner_id).store
    cursor: str | None = None
    deleted: list[str] = []
    while page := await store.threads.list(limit=PAGE, cursor=cursor):
        deleted += [thread.id for thread in page]
        if (cursor := page.next) is None:
            break
    report = await store.delete_owner(owner_id)
    for thread_id in deleted:
        caller.state.feed.report_deleted(owner_id, thread_id)
    return report


@post("/api/threads/{thread_id}/clone", tags=TAGS, summary="Copy a thread", status_code=201)
async def clone_thread(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[ThreadCopy | None, Body(examples=[{"title": "Another try"}])] = None,
) -> Thread:
    """Copies all branches. The metadata of the copy names the original under `clone`."""
    copy = data or ThreadCopy()
    return await caller.store.threads.clone(thread_id, new_id=usable_id(copy.id), title=copy.title)


@post("/api/threads/{thread_id}/fork", tags=TAGS, summary="Copy a thread up to a message", status_code=201)
async def fork_thread(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[ThreadFork, Body(examples=[{"messageId": "m2"}])],
) -> Thread:
    """Creates a thread with a message and the messages that lead to it."""
    return await caller.store.threads.fork(
        thread_id, data.message_id, new_id=usable_id(data.id), title=data.title
    )


@post("/api/threads/{thread_id}/branch", tags=TAGS, summary="Switch to another branch")
async def switch_branch(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[BranchChoice, Body(examples=[{"messageId": "m2"}])],
) -> Thread:
    """Makes the branch through a message the active one, down to its latest message."""
    return await caller.store.threads.switch_branch(thread_id, data.message_id)


@get("/api/threads/{thread_id}/usage", tags=TAGS, summary="Get the usage of a thread")
async def thread_usage(caller: ActingCaller, thread_id: str) -> UsageTotals:
    """Tokens and costs of all its responses, including those that it shares with other threads."""
    return await caller.store.usage.of_thread(thread_id)


@get("/api/summaries", tags=TAGS, summary="List summaries of threads")
async def list_summaries(
    caller: ActingCaller,
    filter: Filter,
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    order: ThreadOrder = "desc",
    sort: Sort = "time",
) -> Listing[ThreadSummary]:
    """Like `/api/threads`, with the models, the active run, the tokens and the costs of each thread, and
    whether it waits for an approval. The role `chat` does not see models, errors, tokens and costs.
    """
    page = await caller.store.threads.summaries(filter, limit=limit, cursor=cursor, order=order, sort=sort)
    waiting = caller.session.awaiting_approval()
    items = tuple(
        msgspec.structs.replace(one, waiting=True) if one.run_id in waiting else one for one in page.items
    )
    if not caller.principal.may("logs"):
        hidden = {"models": (), "errors": 0, "input_tokens": 0, "output_tokens": 0, "cost": None}
        items = tuple(msgspec.structs.replace(one, **hidden) for one in items)
    return Listing(items, page.next)


@get("/api/facets", tags=TAGS, summary="List the values to filter threads by")
async def get_facets(caller: ActingCaller, filter: Filter) -> Facets:
    """The number of threads by agent, project, model, tool, tag and time. Each is counted with all conditions
    except its own. Models, tools and tags are those of the newest threads (`searched`).
    """
    return await caller.store.threads.facets(filter)


# Changes of threads and runs

DAY: Final = 86_400.0
EVENTS: Final = ResponseSpec(
    "Server-sent events: `threads`, `runs`, `deleted`, `import`.", media_type="text/event-stream"
)


@get("/api/feed", tags=["threads"], summary="Follow changes", responses={200: EVENTS})
async def follow_changes(
    caller: ActingCaller,
    seconds: Annotated[
        float | None,
        Query(ge=0, le=DAY, description="Seconds until the stream ends. Default: it does not end."),
    ] = None,
) -> EventStream:
    """Server-sent events by name: `threads` (ids of new and changed threads), `runs` (runs that started,
    continued or ended), `deleted` (ids of threads that were deleted through this server) and `import` (the
    progress of the import of logs on this server). Earlier changes are not sent: load the list first.
    """
    settings = caller.state.settings
    body = events(
        caller.state.feed,
        caller.state.progress,
        caller.store.owner,
        keep_alive=settings.keep_alive,
        seconds=seconds,
    )
    return EventStream(body, stall=settings.limits.stall_seconds)
