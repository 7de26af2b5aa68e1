"""Threads, in the words of Mastra's memory API."""

from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace
from starlette.requests import Request

from partita.errors import ConflictError, NotFoundError
from partita.server.callers import Caller, CallerView, require
from partita.server.endpoints import Body, Query, delete, get, patch, post
from partita.server.problems import Problem
from partita.store.ids import new_id
from partita.store.sql.texts import storable
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.threads import rows as stored
from partita.store.values import ThreadFilter
from partita.types.json import JsonObject
from partita.types.threads import Thread
from partita.types.times import Timestamp

from .mastra_query import metadata_of, order_of, page_of

TAGS: Final = ["mastra"]
THREADS: Final = ["/api/memory/threads", "/api/memory/network/threads"]
THREAD: Final = [f"{path}/{{thread_id}}" for path in THREADS]
"""Where threads are, today and in older clients."""

PER_PAGE: Final = 100

ResourceId = Annotated[
    str | None,
    Query(
        name="resourceId",
        description="Whose threads are meant. A thread of another resource is refused.",
    ),
]
Page = Annotated[str | None, Query(name="page", description="The number of the page, from 0.")]
PerPage = Annotated[str | None, Query(name="perPage", description="How many on a page; `false`: everything.")]


class MastraThread(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A conversation."""

    id: Annotated[str, Meta(description="Its id.", examples=["thread-1"])]
    resource_id: Annotated[str, Meta(description="Who owns it; empty when nobody does.")]
    title: Annotated[str | None, Meta(description="What it is called.")] = None
    metadata: Annotated[dict[str, Any] | None, Meta(description="What applications keep with it.")] = None
    created_at: Annotated[Timestamp | None, Meta(description="When it was begun.")] = None
    updated_at: Annotated[Timestamp | None, Meta(description="When it was last written to.")] = None


class ThreadPage(msgspec.Struct, rename="camel", kw_only=True):
    """A page of threads."""

    threads: Annotated[list[MastraThread], Meta(description="The threads.")]
    total: Annotated[int, Meta(description="How many there are on all pages.")]
    page: Annotated[int, Meta(description="The number of this page.")]
    per_page: Annotated[int | bool, Meta(description="Its size; `false`: everything is on it.")]
    has_more: Annotated[bool, Meta(description="Whether there is another one.")]


class NewThread(msgspec.Struct, rename="camel", kw_only=True):
    """A thread to be made; one that is there is changed."""

    resource_id: Annotated[str | None, Meta(description="Who owns it.")] = None
    thread_id: Annotated[str | None, Meta(description="Its id; without one it gets a new one.")] = None
    title: str | None = None
    metadata: dict[str, Any] | None = None


class ThreadChange(msgspec.Struct, rename="camel", kw_only=True):
    """What is to be different. What is not named stays."""

    title: str | None = None
    metadata: Annotated[dict[str, Any] | None, Meta(description="Members to set; `null` takes one away.")] = (
        None
    )
    resource_id: str | None = None


class Done(msgspec.Struct):
    """That something was done."""

    result: Annotated[str, Meta(description="What was done.")]


def mastra_thread(thread: Thread) -> MastraThread:
    """A thread in Mastra's words."""
    return MastraThread(
        id=thread.id,
        resource_id=thread.resource_id or "",
        title=thread.title,
        metadata=thread.metadata,
        created_at=thread.created_at,
        updated_at=thread.updated_at,
    )


class Opened(NamedTuple):
    """A thread, and the store that has it."""

    store: Store
    thread: Thread


async def open_thread(caller: CallerView, thread_id: str, resource_id: str | None) -> Opened:
    """The thread of that id; with a resource, only if it is of that one, or of none."""
    named = storable(resource_id, "the resource id")
    acting = caller.acting_for(named)
    thread = await acting.store.threads.get(thread_id)
    if thread is None and named and caller.principal.resource_id is None:
        thread = await _ownerless(caller.store, thread_id)
        acting = caller
    if thread is None:
        raise NotFoundError(f"no thread {thread_id!r}", hint="create it first")
    return Opened(acting.store, thread)


async def _ownerless(store: Store, thread_id: str) -> Thread | None:
    """A thread that nobody owns. One that somebody else owns is refused."""
    try:
        thread = await store.threads.get(thread_id)
    except ConflictError:  # several have one of that name
        raise _refusal(thread_id) from None
    if thread is not None and thread.resource_id is not None:
        raise _refusal(thread_id)
    return thread


def _refusal(thread_id: str) -> Problem:
    return Problem(403, f"thread {thread_id!r} is of another resource", hint="name its own resource")


@get(THREADS, tags=TAGS, summary="Threads, in pages by number")
async def list_threads(
    caller: Caller,
    request: Request,
    resource_id: ResourceId = None,
    page: Page = None,
    per_page: PerPage = None,
) -> ThreadPage:
    """The newest first, unless `orderBy` says otherwise: as JSON, in brackets, or with `sortDirection`.

    `metadata` is a JSON object; threads must have all of it.
    """
    asked = page_of(page, per_page, PER_PAGE)
    by, order = order_of(request, "desc")
    acting = caller.acting_for(storable(resource_id, "the resource id"))
    found = await acting.store.threads.page(
        asked,
        ThreadFilter(resource_id=resource_id or None, metadata=metadata_of(request)),
        by=by,
        order=order,
    )
    return ThreadPage(
        threads=[mastra_thread(one) for one in await acting.store.threads.with_display_titles(found.items)],
        total=found.total,
        page=asked.number,
        per_page=False if asked.size is None else asked.size,
        has_more=asked.has_more(found.total),
    )


@get(THREAD, tags=TAGS, summary="A thread")
async def get_thread(caller: Caller, thread_id: str, resource_id: ResourceId = None) -> MastraThread:
    """What a thread says of itself."""
    opened = await open_thread(caller, thread_id, resource_id)
    (thread,) = await opened.store.threads.with_display_titles([opened.thread])
    return mastra_thread(thread)


@post(THREADS, tags=TAGS, summary="Make a thread")
async def create_thread(
    caller: Caller,
    data: Annotated[
        NewThread,
        Body(examples=[{"resourceId": "user-1", "title": "Lighthouses"}]),
    ],
) -> MastraThread:
    """A new thread. With the id of one that is there, that one is changed."""
    owner = data.resource_id or caller.principal.resource_id
    if owner is None:
        raise Problem(400, "no resourceId", where="$.resourceId", hint="say who owns the thread")
    _check_metadata(caller, data.metadata)
    store = caller.acting_for(owner).store
    id_ = data.thread_id or new_id()
    try:
        thread = await store.threads.create(id_, title=data.title, metadata=data.metadata, resource_id=owner)
    except ConflictError:
        thread = await store.write(change_thread, id_, data.title, data.metadata)
    return mastra_thread(thread)


@patch(THREAD, tags=TAGS, summary="Change a thread")
async def update_thread(
    caller: Caller,
    thread_id: str,
    data: Annotated[ThreadChange, Body(examples=[{"title": "Lamps"}])],
) -> MastraThread:
    """Title and metadata; the members of the metadata that are not named stay. A thread keeps its owner."""
    _check_metadata(caller, data.metadata)
    opened = await open_thread(caller, thread_id, data.resource_id)
    thread = await opened.store.write(change_thread, thread_id, data.title, data.metadata)
    return mastra_thread(thread)


def _check_metadata(caller: CallerView, metadata: JsonObject | None) -> None:
    if metadata:
        require(caller.principal, "write", "set the metadata of a thread", where="$.metadata")


def change_thread(tx: Transaction, thread_id: str, title: str | None, metadata: JsonObject | None) -> Thread:
    """The thread with what was named changed, in one step. As in Mastra, that counts as an update."""
    thread = stored.from_row(stored.find(tx, thread_id, lock=True))
    if metadata:
        thread = stored.merge_metadata(tx, thread_id, metadata)
    if title is not None:
        thread = stored.set_title(tx, thread_id, title)
    return stored.save(tx, replace(thread, updated_at=tx.now))


@delete(THREAD, tags=TAGS, summary="Delete a thread")
async def delete_thread(caller: Caller, thread_id: str, resource_id: ResourceId = None) -> Done:
    """The thread and all its messages."""
    opened = await open_thread(caller, thread_id, resource_id)
    await opened.store.threads.delete(thread_id)
    return Done("Thread deleted")
