"""Threads for Mastra's clients.

https://mastra.ai/reference/client-js/memory
"""

from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, Meta
from starlette.requests import Request

from partita.errors import ConflictError, NotFoundError
from partita.server.callers import Caller, CallerView, require
from partita.server.endpoints import Body, Query, delete, get, patch, post
from partita.server.problems import Problem
from partita.store.ids import new_id
from partita.store.sql.texts import storable
from partita.store.store import Store
from partita.store.values import ThreadFilter
from partita.types.json import JsonObject
from partita.types.threads import Thread
from partita.types.times import Timestamp

from .mastra_query import metadata_of, order_of, page_of

TAGS: Final = ["mastra"]
THREADS: Final = ["/api/memory/threads", "/api/memory/network/threads"]
THREAD: Final = [f"{path}/{{thread_id}}" for path in THREADS]
"""The paths of threads, for current and for older clients."""

PER_PAGE: Final = 100

ResourceId = Annotated[
    str | None,
    Query(
        name="resourceId",
        description="The owner of the threads. A thread of another owner is refused.",
    ),
]
Page = Annotated[str | None, Query(name="page", description="The number of the page, from 0.")]
PerPage = Annotated[str | None, Query(name="perPage", description="The size of a page; `false`: all items.")]


class MastraThread(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A thread."""

    id: Annotated[str, Meta(description="Its id.", examples=["thread-1"])]
    resource_id: Annotated[str, Meta(description="Its owner; empty if it has none.")]
    title: str | None = None
    metadata: Annotated[dict[str, Any] | None, Meta(description="Any values of applications.")] = None
    created_at: Annotated[Timestamp | None, Meta(description="When it was created.")] = None
    updated_at: Annotated[Timestamp | None, Meta(description="When it was last updated.")] = None


class ThreadPage(msgspec.Struct, rename="camel", kw_only=True):
    """A page of threads."""

    threads: list[MastraThread]
    total: Annotated[int, Meta(description="The number of threads on all pages.")]
    page: Annotated[int, Meta(description="The number of this page, from 0.")]
    per_page: Annotated[int | bool, Meta(description="The size of a page; `false`: it has all threads.")]
    has_more: Annotated[bool, Meta(description="Whether there is another page.")]


class NewMastraThread(msgspec.Struct, rename="camel", kw_only=True):
    """A thread to create. If its id exists, that thread is changed."""

    resource_id: Annotated[str | None, Meta(description="Its owner.")] = None
    thread_id: Annotated[str | None, Meta(description="Its id. Default: a new one.")] = None
    title: str | None = None
    metadata: dict[str, Any] | None = None


class MastraThreadChange(msgspec.Struct, rename="camel", kw_only=True):
    """Changes of a thread. Members that are left out do not change."""

    title: str | None = None
    metadata: Annotated[dict[str, Any] | None, Meta(description="Members to set; `null` removes one.")] = None
    resource_id: str | None = None


class Deletion(msgspec.Struct):
    """The result of a deletion."""

    result: str


def mastra_thread(thread: Thread) -> MastraThread:
    """A thread as Mastra's clients expect it."""
    return MastraThread(
        id=thread.id,
        resource_id=thread.resource_id or "",
        title=thread.title,
        metadata=thread.metadata,
        created_at=thread.created_at,
        updated_at=thread.updated_at,
    )


class ThreadInStore(NamedTuple):
    """A thread, and the store that is limited to its owner."""

    store: Store
    thread: Thread


async def find_thread(caller: CallerView, thread_id: str, resource_id: str | None) -> ThreadInStore:
    """The thread of that id. If an owner is named, the thread must be of that owner, or of none."""
    owner = storable(resource_id, "the resource id")
    acting = caller.acting_for(owner)
    thread = await acting.store.threads.get(thread_id)
    if thread is None and owner and caller.principal.resource_id is None:
        thread = await _without_owner(caller.store, thread_id)
        acting = caller
    if thread is None:
        raise NotFoundError(f"no thread {thread_id!r}", hint="create it first")
    return ThreadInStore(acting.store, thread)


async def _without_owner(store: Store, thread_id: str) -> Thread | None:
    """A thread without an owner. A thread of another owner is refused."""
    try:
        thread = await store.threads.get(thread_id)
    except ConflictError:  # several owners have a thread of that id
        raise _refusal(thread_id) from None
    if thread is not None and thread.resource_id is not None:
        raise _refusal(thread_id)
    return thread


def _refusal(thread_id: str) -> Problem:
    return Problem(403, f"thread {thread_id!r} belongs to another resource", hint="send its resourceId")


@get(THREADS, tags=TAGS, summary="List threads")
async def list_threads(
    caller: Caller,
    request: Request,
    resource_id: ResourceId = None,
    page: Page = None,
    per_page: PerPage = None,
) -> ThreadPage:
    """Threads in numbered pages, the newest first. `orderBy` changes the order: as JSON, in brackets, or with
    `sortDirection`. `metadata` is a JSON object whose members the threads must have.
    """
    requested = page_of(page, per_page, PER_PAGE)
    by, order = order_of(request, "desc")
    acting = caller.acting_for(storable(resource_id, "the resource id"))
    found = await acting.store.threads.page(
        requested,
        ThreadFilter(resource_id=resource_id or None, metadata=metadata_of(request)),
        by=by,
        order=order,
    )
    return ThreadPage(
        threads=[mastra_thread(one) for one in await acting.store.threads.with_display_titles(found.items)],
        total=found.total,
        page=requested.number,
        per_page=False if requested.size is None else requested.size,
        has_more=requested.has_more(found.total),
    )


@get(THREAD, tags=TAGS, summary="Get a thread")
async def get_thread(caller: Caller, thread_id: str, resource_id: ResourceId = None) -> MastraThread:
    """A thread, without its messages."""
    store, thread = await find_thread(caller, thread_id, resource_id)
    (titled,) = await store.threads.with_display_titles([thread])
    return mastra_thread(titled)


@post(THREADS, tags=TAGS, summary="Create a thread")
async def create_thread(
    caller: Caller,
    data: Annotated[
        NewMastraThread,
        Body(examples=[{"resourceId": "user-1", "title": "Lighthouses"}]),
    ],
) -> MastraThread:
    """Creates a thread. If its id exists, changes that thread."""
    owner = data.resource_id or caller.principal.resource_id
    if owner is None:
        raise Problem(400, "no resourceId", where="$.resourceId", hint="name the owner of the thread")
    _check_metadata(caller, data.metadata)
    store = caller.acting_for(owner).store
    id_ = data.thread_id or new_id()
    try:
        thread = await store.threads.create(id_, title=data.title, metadata=data.metadata, resource_id=owner)
    except ConflictError:
        thread = await _change(store, id_, data.title, data.metadata)
    return mastra_thread(thread)


@patch(THREAD, tags=TAGS, summary="Change a thread")
async def update_thread(
    caller: Caller,
    thread_id: str,
    data: Annotated[MastraThreadChange, Body(examples=[{"title": "Lamps"}])],
) -> MastraThread:
    """Changes the title, and members of the metadata. The owner does not change."""
    _check_metadata(caller, data.metadata)
    found = await find_thread(caller, thread_id, data.resource_id)
    return mastra_thread(await _change(found.store, thread_id, data.title, data.metadata))


def _check_metadata(caller: CallerView, metadata: JsonObject | None) -> None:
    if metadata:
        require(caller.principal, "write", "set the metadata of a thread", where="$.metadata")


async def _change(store: Store, thread_id: str, title: str | None, metadata: JsonObject | None) -> Thread:
    """The changed thread. As in Mastra, its time of the last update changes, too."""
    return await store.threads.change(
        thread_id, title=UNSET if title is None else title, metadata=metadata or None, touch=True
    )


@delete(THREAD, tags=TAGS, summary="Delete a thread")
async def delete_thread(caller: Caller, thread_id: str, resource_id: ResourceId = None) -> Deletion:
    """Deletes the thread and all its messages."""
    found = await find_thread(caller, thread_id, resource_id)
    await found.store.threads.delete(thread_id)
    caller.state.feed.report_deleted(found.store.owner, thread_id)
    return Deletion("Thread deleted")
