"""Threads: list, create, read, change, copy and delete them, and what a list of them shows."""

from dataclasses import replace
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from partita.errors import NotFoundError
from partita.server.callers import ActingCaller, CallerView, require
from partita.server.endpoints import Body, Depends, Query, ResponseSpec, delete, get, patch, post
from partita.server.feed import events
from partita.server.problems import Problem
from partita.server.responses import EventStream, Listing, listing
from partita.store.sql.transaction import Transaction
from partita.store.threads import rows as threads
from partita.store.threads.facets import Facets
from partita.store.threads.lists import ThreadSummary
from partita.store.values import Page, ThreadFilter, UsageTotals
from partita.types.json import JsonObject
from partita.types.threads import Thread

from .parameters import (
    Agent,
    Cursor,
    Direction,
    HasErrors,
    Ids,
    Limit,
    Model,
    Pinned,
    Project,
    Since,
    Text,
    Tool,
    Until,
    each_of,
    moment_of,
    object_of,
)

TAGS: Final = ["threads"]


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
        ids=None if ids is None else each_of(ids),
    )


Wanted: TypeAlias = Annotated[ThreadFilter, Depends(thread_filter)]
"""An argument of an endpoint: the conditions for threads."""


class NewThread(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """A thread to be made. Everything may be left out."""

    id: Annotated[
        str | None, Meta(description="Its id, if it shall not be a new one.", examples=["chat-1"])
    ] = None
    title: Annotated[str | None, Meta(examples=["Lighthouses"])] = None
    metadata: Annotated[JsonObject | None, Meta(description="Whatever you want to know of it later.")] = None
    agent: Annotated[str | None, Meta(description="Who answers in it.")] = None
    project: Annotated[str | None, Meta(description="What it belongs to.")] = None


class ThreadChange(
    msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True
):
    """What shall be different. What is left out stays."""

    title: Annotated[str | UnsetType | None, Meta(description="`null` takes the title away.")] = UNSET
    metadata: Annotated[
        JsonObject | UnsetType, Meta(description="Members to change; `null` removes one, others stay.")
    ] = UNSET


class Copy(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """What a copy is called."""

    id: Annotated[str | None, Meta(description="Its id, if it shall not be a new one.")] = None
    title: Annotated[str | None, Meta(description="Its title; without one it has that of the original.")] = (
        None
    )


class Fork(Copy, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """Up to which message a copy goes."""

    message_id: Annotated[str, Meta(description="The last message of the new thread.", examples=["m2"])]


class BranchChoice(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """Which branch shall be shown."""

    message_id: Annotated[str, Meta(description="A message on it.", examples=["m2"])]


def no_thread(thread_id: str) -> NotFoundError:
    """There is no such thread."""
    return NotFoundError(f"no thread {thread_id!r}", hint="GET /api/threads lists them")


async def thread_of(caller: CallerView, thread_id: str) -> Thread:
    """The thread of that id, as far as the caller may see it."""
    thread = await caller.store.threads.get(thread_id)
    if thread is None:
        raise no_thread(thread_id)
    return thread


def usable_id(thread_id: str | None) -> str | None:
    """An id for a new thread, which must fit into an address."""
    if thread_id is not None and ("/" in thread_id or thread_id in (".", "..")):
        raise Problem(
            400,
            f"{thread_id!r} cannot stand in an address",
            where="$.id",
            hint="choose an id without a slash",
        )
    return thread_id


@get("/api/threads", tags=TAGS, summary="Threads by what was said last")
async def list_threads(
    caller: ActingCaller,
    wanted: Wanted,
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    order: Annotated[
        Direction, Query(description="`desc`: where something was said last comes first.")
    ] = "desc",
    metadata: Annotated[
        str | None,
        Query(description='Members of the metadata, as a JSON object: `{"topic":"lights"}`.'),
    ] = None,
) -> Listing[Thread]:
    """Every condition must hold. `since` and `until` are about when something was said last. A thread without
    a title is shown under the first words of its first question.
    """
    narrowed = replace(wanted, metadata=object_of(metadata, "metadata") or {})
    page = await caller.store.threads.list(narrowed, limit=limit, cursor=cursor, order=order)
    shown = await caller.store.threads.with_display_titles(page.items)
    return listing(Page(tuple(shown), page.next))


@post("/api/threads", tags=TAGS, summary="Make a thread", status_code=201)
async def create_thread(
    caller: ActingCaller,
    data: Annotated[NewThread, Body(examples=[{"title": "Lighthouses", "metadata": {"topic": "lights"}}])],
) -> Thread:
    """An id that is taken is refused with 409. The role `chat` may not set metadata and project."""
    if data.metadata is not None or data.project is not None:
        require(caller.principal, "write", "set the metadata and the project of a thread", where="$.metadata")
    return await caller.store.threads.create(
        usable_id(data.id), title=data.title, metadata=data.metadata, agent=data.agent, project=data.project
    )


@get("/api/threads/{thread_id}", tags=TAGS, summary="A thread")
async def get_thread(caller: ActingCaller, thread_id: str) -> Thread:
    """What a thread says of itself; its messages are apart."""
    (thread,) = await caller.store.threads.with_display_titles([await thread_of(caller, thread_id)])
    return thread


@patch("/api/threads/{thread_id}", tags=TAGS, summary="Change a thread")
async def change_thread(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[ThreadChange, Body(examples=[{"title": "Lamps", "metadata": {"topic": None}}])],
) -> Thread:
    """Another title, other members of the metadata: both or neither. The role `chat` may set the title."""
    if data.metadata is not UNSET:
        require(caller.principal, "write", "set the metadata of a thread", where="$.metadata")
    return await caller.store.write(_changed, thread_id, data)


def _changed(tx: Transaction, thread_id: str, change: ThreadChange) -> Thread:
    thread = threads.from_row(threads.find(tx, thread_id, lock=True))
    if change.title is not UNSET:
        thread = threads.set_title(tx, thread_id, change.title)
    if change.metadata is not UNSET:
        thread = threads.merge_metadata(tx, thread_id, change.metadata)
    return thread


@delete("/api/threads/{thread_id}", tags=TAGS, summary="Delete a thread")
async def delete_thread(caller: ActingCaller, thread_id: str) -> None:
    """With its messages, its runs and their logs, and the blobs that nothing else refers to."""
    if not await caller.store.threads.delete(thread_id):
        raise no_thread(thread_id)
    caller.state.feed.report_deleted(caller.store.owner, thread_id)


@post("/api/threads/{thread_id}/clone", tags=TAGS, summary="Copy a thread", status_code=201)
async def clone_thread(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[Copy | None, Body(examples=[{"title": "Another try"}])] = None,
) -> Thread:
    """With all its branches. The metadata of the copy says under `clone` where it is from."""
    wanted = data or Copy()
    return await caller.store.threads.clone(thread_id, new_id=usable_id(wanted.id), title=wanted.title)


@post("/api/threads/{thread_id}/fork", tags=TAGS, summary="Copy a thread up to a message", status_code=201)
async def fork_thread(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[Fork, Body(examples=[{"messageId": "m2"}])],
) -> Thread:
    """A new thread with what leads to the message, and the message, to go on from there."""
    return await caller.store.threads.fork(
        thread_id, data.message_id, new_id=usable_id(data.id), title=data.title
    )


@post("/api/threads/{thread_id}/branch", tags=TAGS, summary="Show another branch")
async def switch_branch(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[BranchChoice, Body(examples=[{"messageId": "m2"}])],
) -> Thread:
    """The branch through this message is the active one from now on; below it, the latest answers."""
    return await caller.store.threads.switch_branch(thread_id, data.message_id)


@get("/api/threads/{thread_id}/usage", tags=TAGS, summary="What a thread consumed")
async def thread_usage(caller: ActingCaller, thread_id: str) -> UsageTotals:
    """Tokens and costs of all its responses, those that it shares with other threads included."""
    return await caller.store.usage.of_thread(thread_id)


@get("/api/summaries", tags=TAGS, summary="Threads as a list shows them")
async def list_summaries(
    caller: ActingCaller,
    wanted: Wanted,
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    order: Annotated[
        Direction, Query(description="`desc`: where something was said last comes first.")
    ] = "desc",
) -> Listing[ThreadSummary]:
    """As `/api/threads`, each thread with its models, what is at work in it, whether it waits for somebody
    to allow a call, and what it took. The role `chat` does not see models, errors, tokens and costs.
    """
    page = await caller.store.threads.summaries(wanted, limit=limit, cursor=cursor, order=order)
    asking = caller.session.awaiting_approval()
    items = tuple(
        msgspec.structs.replace(one, waiting=True) if one.run_id in asking else one for one in page.items
    )
    if not caller.principal.may("logs"):
        hidden = {"models": (), "errors": 0, "input_tokens": 0, "output_tokens": 0, "cost": None}
        items = tuple(msgspec.structs.replace(one, **hidden) for one in items)
    return Listing(items, page.next)


@get("/api/facets", tags=TAGS, summary="What there is to choose threads by")
async def get_facets(caller: ActingCaller, wanted: Wanted) -> Facets:
    """How many threads there are by agent, project, model, tool and time. Each is narrowed by all conditions
    but its own: it says what else there is. Models and tools are those of the newest threads (`searched`).
    """
    return await caller.store.threads.facets(wanted)


# What changes, as it changes.

DAY: Final = 86_400.0
EVENTS: Final = ResponseSpec(
    "Server-sent events: `threads`, `runs`, `deleted`, `import`.", media_type="text/event-stream"
)


@get("/api/feed", tags=["threads"], summary="What changes, as it changes", responses={200: EVENTS})
async def follow_changes(
    caller: ActingCaller,
    seconds: Annotated[
        float | None, Query(ge=0, le=DAY, description="Seconds until it ends; it need not.")
    ] = None,
) -> EventStream:
    """Events by name: `threads` (those that are new or have changed, by id), `runs` (those that began,
    went on or ended), `deleted` (ids of threads that were deleted through this server) and `import` (how far
    the import of logs on this server is). What was missed is not told again: load the list first.
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
