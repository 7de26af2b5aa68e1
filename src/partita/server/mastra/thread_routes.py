"""Threads, in the words of Mastra's memory API."""

from typing import Annotated, Any, Final

import msgspec
from litestar import Request, delete, get, patch, post
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath, QueryParameter
from msgspec import Meta
from msgspec.structs import replace

from partita.errors import ConflictError
from partita.server.hub import Caller, CallerView
from partita.server.problems import Problem
from partita.server.replies import Reply
from partita.server.roles import require
from partita.store import threads as stored
from partita.store.display_titles import with_display_titles
from partita.store.excerpts import Excerpt
from partita.store.ids import new_id
from partita.store.numbered_messages import NumberedQuery
from partita.store.texts import storable
from partita.store.transaction import Transaction
from partita.types.json import JsonObject
from partita.types.threads import Thread
from partita.types.times import Moment

from .access import open_thread
from .query import metadata_of, order_of, page_of
from .views import v2_messages

TAGS: Final = ["mastra"]
THREADS: Final = ["/api/memory/threads", "/api/memory/network/threads"]
THREAD: Final = [f"{path}/{{thread_id:str}}" for path in THREADS]
"""Where threads are, today and in older clients."""

PER_PAGE: Final = 100

ResourceId = Annotated[
    str | None,
    QueryParameter(
        name="resourceId",
        description="Whose threads are meant. A thread of another resource is refused.",
    ),
]
Page = Annotated[str | None, QueryParameter(name="page", description="The number of the page, from 0.")]
PerPage = Annotated[
    str | None, QueryParameter(name="perPage", description="How many on a page; `false`: everything.")
]


class MastraThread(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A conversation."""

    id: Annotated[str, Meta(description="Its id.", examples=["thread-1"])]
    resource_id: Annotated[str, Meta(description="Who owns it; empty when nobody does.")]
    title: Annotated[str | None, Meta(description="What it is called.")] = None
    metadata: Annotated[dict[str, Any] | None, Meta(description="What applications keep with it.")] = None
    created_at: Annotated[Moment | None, Meta(description="When it was begun.")] = None
    updated_at: Annotated[Moment | None, Meta(description="When it was last written to.")] = None


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


class MessageChoice(msgspec.Struct, rename="camel", kw_only=True):
    """Which messages are copied."""

    start_date: Moment | None = None
    end_date: Moment | None = None
    message_ids: list[str] | None = None


class CloneOptions(msgspec.Struct, rename="camel", kw_only=True):
    """How much is copied."""

    message_limit: Annotated[int, Meta(ge=0, description="So many of the last messages.")] | None = None
    message_filter: MessageChoice | None = None


class CloneBody(msgspec.Struct, rename="camel", kw_only=True):
    """What a copy is called, and what goes to it."""

    new_thread_id: str | None = None
    resource_id: str | None = None
    title: str | None = None
    metadata: dict[str, Any] | None = None
    options: CloneOptions | None = None


class Cloned(msgspec.Struct, rename="camel", kw_only=True):
    """A copy of a thread."""

    thread: Annotated[MastraThread, Meta(description="The new thread.")]
    cloned_messages: Annotated[list[Any], Meta(description="Its messages, as V2.")]


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


@get(THREADS, tags=TAGS, summary="Threads, in pages by number")
async def list_threads(
    caller: Caller,
    request: Request[Any, Any, Any],
    resource_id: ResourceId = None,
    page: Page = None,
    per_page: PerPage = None,
) -> Reply[ThreadPage]:
    """The newest first, unless `orderBy` says otherwise: as JSON, in brackets, or with `sortDirection`.

    `metadata` is a JSON object; threads must have all of it.
    """
    asked = page_of(page, per_page, PER_PAGE)
    by, order = order_of(request, "desc")
    acting = caller.acting_for(storable(resource_id, "the resource id"))
    found = await acting.store.list_threads_by_number(
        asked, by=by, order=order, resource_id=resource_id, metadata=metadata_of(request)
    )
    return Reply(
        ThreadPage(
            threads=[mastra_thread(one) for one in await acting.store.read(with_display_titles, found.items)],
            total=found.total,
            page=asked.number,
            per_page=False if asked.size is None else asked.size,
            has_more=asked.has_more(found.total),
        )
    )


@get(THREAD, tags=TAGS, summary="A thread")
async def get_thread(
    caller: Caller, thread_id: FromPath[str], resource_id: ResourceId = None
) -> Reply[MastraThread]:
    """What a thread says of itself."""
    opened = await open_thread(caller, thread_id, resource_id)
    (thread,) = await opened.store.read(with_display_titles, [opened.thread])
    return Reply(mastra_thread(thread))


@post(THREADS, status_code=200, tags=TAGS, summary="Make a thread")
async def create_thread(
    caller: Caller,
    data: Annotated[
        NewThread,
        Body(examples=[Example(summary="A thread", value={"resourceId": "user-1", "title": "Lighthouses"})]),
    ],
) -> Reply[MastraThread]:
    """A new thread. With the id of one that is there, that one is changed."""
    owner = data.resource_id or caller.principal.resource_id
    if owner is None:
        raise Problem(400, "no resourceId", where="$.resourceId", hint="say who owns the thread")
    _check_metadata(caller, data.metadata)
    store = caller.acting_for(owner).store
    id_ = data.thread_id or new_id()
    try:
        thread = await store.create_thread(id_, title=data.title, metadata=data.metadata, resource_id=owner)
    except ConflictError:
        thread = await store.write(change_thread, id_, data.title, data.metadata)
    return Reply(mastra_thread(thread))


@patch(THREAD, tags=TAGS, summary="Change a thread")
async def update_thread(
    caller: Caller,
    thread_id: FromPath[str],
    data: Annotated[ThreadChange, Body(examples=[Example(summary="A title", value={"title": "Lamps"})])],
) -> Reply[MastraThread]:
    """Title and metadata; the members of the metadata that are not named stay. A thread keeps its owner."""
    _check_metadata(caller, data.metadata)
    opened = await open_thread(caller, thread_id, data.resource_id)
    thread = await opened.store.write(change_thread, thread_id, data.title, data.metadata)
    return Reply(mastra_thread(thread))


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


@delete(THREAD, status_code=200, tags=TAGS, summary="Delete a thread")
async def delete_thread(
    caller: Caller, thread_id: FromPath[str], resource_id: ResourceId = None
) -> Reply[Done]:
    """The thread and all its messages."""
    opened = await open_thread(caller, thread_id, resource_id)
    await opened.store.delete_thread(thread_id)
    return Reply(Done("Thread deleted"))


@post([f"{path}/clone" for path in THREAD], status_code=200, tags=TAGS, summary="Copy a thread")
async def clone_thread(
    caller: Caller,
    thread_id: FromPath[str],
    data: Annotated[
        CloneBody | None,
        Body(examples=[Example(summary="The last ten", value={"options": {"messageLimit": 10}})]),
    ] = None,
) -> Reply[Cloned]:
    """A new thread with copies of the messages that are shown, or of some of them. It keeps its owner."""
    asked = data or CloneBody()
    opened = await open_thread(caller, thread_id, asked.resource_id)
    thread = await opened.store.copy_excerpt(
        thread_id,
        _excerpt(asked.options or CloneOptions()),
        new_id=asked.new_thread_id,
        title=asked.title,
        metadata=asked.metadata,
    )
    found = await opened.store.list_messages_by_number(thread.id, NumberedQuery(internal=True))
    return Reply(Cloned(thread=mastra_thread(thread), cloned_messages=v2_messages(found.items)))


def _excerpt(options: CloneOptions) -> Excerpt:
    chosen = options.message_filter or MessageChoice()
    return Excerpt(
        newest=options.message_limit,
        start=chosen.start_date,
        end=chosen.end_date,
        ids=None if chosen.message_ids is None else frozenset(chosen.message_ids),
    )


MASTRA_THREADS: Final = [list_threads, get_thread, create_thread, update_thread, delete_thread, clone_thread]
