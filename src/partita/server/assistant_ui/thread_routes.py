"""Threads for assistant-ui: what its `RemoteThreadListAdapter` calls.

    list({after})               GET    /api/assistant-ui/threads?after=…        rows, `x-next-cursor`
    initialize(threadId)        POST   /api/assistant-ui/threads                {id}; may be done again
    fetch(threadId)             GET    /api/assistant-ui/threads/{id}
    rename(id, title)           PATCH  /api/assistant-ui/threads/{id}           {title}
    archive(id), unarchive(id)  PATCH  /api/assistant-ui/threads/{id}           {status}
    updateCustom(id, custom)    PATCH  /api/assistant-ui/threads/{id}           {custom}
    delete(id)                  DELETE /api/assistant-ui/threads/{id}
    generateTitle(id, messages) POST   /api/assistant-ui/threads/{id}/title     {title}, or plain text

A row has both names of everything that goes by two: `id` and `remoteId`. The adapter's own answer to `list`,
`{threads, nextCursor}`, is given for `?shape=page`. A title is stored before its answer is sent, as
`generateTitle` wants it; as plain text it can be read by `PlainTextDecoder` of `assistant-stream`.

A body must say that it is `application/json`: a `fetch` that says nothing sends plain text, which is refused.
"""

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from litestar import Request, Response, delete, get, patch, post
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath, QueryParameter
from msgspec import UNSET, Meta, UnsetType

from partita.errors import ConflictError, NotFoundError
from partita.server.hub import Caller, CallerView
from partita.server.replies import Reply
from partita.server.routes.parameters import MOST
from partita.store import threads as stored
from partita.store.display_titles import with_display_titles
from partita.store.ids import new_id
from partita.store.transaction import Transaction
from partita.types.json import JsonObject, is_object
from partita.types.threads import Thread
from partita.types.times import Moment

from .titles import title_in, title_of

TAGS: Final = ["assistant-ui"]
THREADS: Final = "/api/assistant-ui/threads"
THREAD: Final = THREADS + "/{thread_id:str}"

Status: TypeAlias = Literal["regular", "archived"]
Shape: TypeAlias = Annotated[
    Literal["rows", "page"], QueryParameter(description="Just the rows, or an object around them.")
]

ARCHIVED: Final = "archived"
CUSTOM: Final = "custom"
EXTERNAL_ID: Final = "externalId"
"""Members of a thread's metadata."""


class ThreadRow(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A conversation."""

    id: Annotated[str, Meta(description="Its id.", examples=["thread-1"])]
    remote_id: Annotated[str, Meta(description="The same, as the adapter calls it.")]
    status: Annotated[Status | None, Meta(description="Whether it was put away.")]
    title: Annotated[str | None, Meta(description="What it is called.")] = None
    external_id: Annotated[str | None, Meta(description="What an application calls it.")] = None
    custom: Annotated[dict[str, Any] | None, Meta(description="What an application keeps with it.")] = None
    last_message_at: Annotated[Moment | None, Meta(description="When something last happened in it.")] = None
    created_at: Annotated[Moment | None, Meta(description="When it was begun.")] = None


class ThreadRows(msgspec.Struct, rename="camel", omit_defaults=True):
    """A page of threads."""

    threads: Annotated[list[ThreadRow], Meta(description="The newest first.")]
    next_cursor: Annotated[str | None, Meta(description="`after` of the next page, if there is one.")] = None


class NewThread(msgspec.Struct, rename="camel", kw_only=True):
    """A thread to be made."""

    id: Annotated[str | None, Meta(description="Its id; without one it gets a new one.")] = None
    title: str | None = None
    custom: dict[str, Any] | None = None
    external_id: str | None = None


class ThreadChange(msgspec.Struct, kw_only=True):
    """What is to be different. What is not named stays."""

    title: str | UnsetType | None = UNSET
    status: Status | UnsetType = UNSET
    custom: dict[str, Any] | UnsetType | None = UNSET


class TitleBody(msgspec.Struct):
    """Messages as the page has them, for a thread whose own are not stored yet."""

    messages: list[Any] = []


class Title(msgspec.Struct):
    """What a thread is called."""

    title: Annotated[str, Meta(description="Empty when nothing has been said yet.")]


def row_of(thread: Thread) -> ThreadRow:
    """A thread as a row."""
    metadata = thread.metadata or {}
    custom, external = metadata.get(CUSTOM), metadata.get(EXTERNAL_ID)
    return ThreadRow(
        id=thread.id,
        remote_id=thread.id,
        status="archived" if metadata.get(ARCHIVED) is True else "regular",
        title=thread.title,
        external_id=external if isinstance(external, str) else None,
        custom=custom if is_object(custom) else None,
        last_message_at=thread.updated_at,
        created_at=thread.created_at,
    )


async def thread_of(caller: CallerView, thread_id: str) -> Thread:
    """The thread of that id."""
    thread = await caller.store.get_thread_by_id(thread_id)
    if thread is None:
        raise NotFoundError(f"no thread {thread_id!r}", hint=f"GET {THREADS} lists them")
    return thread


@get(THREADS, tags=TAGS, summary="Threads by what was said last")
async def list_threads(
    caller: Caller,
    limit: Annotated[int, QueryParameter(ge=1, le=MOST, description="How many at most.")] = 100,
    after: Annotated[
        str | None, QueryParameter(description="Where to go on: the cursor that was given.")
    ] = None,
    shape: Shape = "rows",
) -> Reply[Any]:
    """The newest first. The header `x-next-cursor` says that there are more."""
    page = await caller.store.list_threads(limit=limit, cursor=after)
    rows = [row_of(thread) for thread in await caller.store.read(with_display_titles, page.items)]
    headers = {} if page.next is None else {"x-next-cursor": page.next}
    return Reply(ThreadRows(rows, page.next) if shape == "page" else rows, headers=headers)


@post(THREADS, tags=TAGS, summary="Make a thread")
async def create_thread(
    caller: Caller,
    data: Annotated[
        NewThread | None, Body(examples=[Example(summary="With an id", value={"id": "thread-1"})])
    ] = None,
) -> Reply[ThreadRow]:
    """A new thread; one that is there is given as it is."""
    asked = data or NewThread()
    told: JsonObject = {CUSTOM: asked.custom, EXTERNAL_ID: asked.external_id}
    metadata = {name: value for name, value in told.items() if value is not None}
    id_ = asked.id or new_id()
    try:
        thread = await caller.store.create_thread(id_, title=asked.title, metadata=metadata or None)
    except ConflictError:  # asked for again
        thread = await thread_of(caller, id_)
    return Reply(row_of(thread))


@get(THREAD, tags=TAGS, summary="A thread")
async def get_thread(caller: Caller, thread_id: FromPath[str]) -> Reply[ThreadRow]:
    """What a thread says of itself."""
    (thread,) = await caller.store.read(with_display_titles, [await thread_of(caller, thread_id)])
    return Reply(row_of(thread))


@patch(THREAD, tags=TAGS, summary="Rename a thread, or put it away")
async def update_thread(
    caller: Caller,
    thread_id: FromPath[str],
    data: Annotated[ThreadChange, Body(examples=[Example(summary="Put away", value={"status": "archived"})])],
) -> Reply[ThreadRow]:
    """Title, status and what the application keeps with it."""
    return Reply(row_of(await caller.store.write(_change, thread_id, data)))


def _change(tx: Transaction, thread_id: str, change: ThreadChange) -> Thread:
    thread = stored.from_row(stored.find(tx, thread_id, lock=True))
    members: JsonObject = {}
    if change.status is not UNSET:
        members[ARCHIVED] = True if change.status == "archived" else None
    if change.custom is not UNSET:
        members[CUSTOM] = change.custom
    if members:
        thread = stored.merge_metadata(tx, thread_id, members)
    return thread if change.title is UNSET else stored.set_title(tx, thread_id, change.title)


@delete(THREAD, tags=TAGS, summary="Delete a thread")
async def delete_thread(caller: Caller, thread_id: FromPath[str]) -> None:
    """The thread and all its messages."""
    if not await caller.store.delete_thread(thread_id):
        raise NotFoundError(f"no thread {thread_id!r}", hint=f"GET {THREADS} lists them")


@post(f"{THREAD}/title", status_code=200, tags=TAGS, summary="Give a thread a title")
async def make_title(
    caller: Caller,
    request: Request[Any, Any, Any],
    thread_id: FromPath[str],
    data: Annotated[
        TitleBody | None,
        Body(
            examples=[
                Example(
                    summary="A question",
                    value={"messages": [{"role": "user", "parts": [{"type": "text", "text": "How tall?"}]}]},
                )
            ]
        ),
    ] = None,
) -> Reply[Title] | Response[str]:
    """The title it has, or the first words of its first question, which become its title.

    With `Accept: text/plain` it is the body.
    """
    thread = await thread_of(caller, thread_id)
    title = thread.title or await _made_title(caller, thread_id, data or TitleBody())
    if "text/plain" in request.headers.get("accept", ""):
        return Response(title, media_type="text/plain")
    return Reply(Title(title))


async def _made_title(caller: CallerView, thread_id: str, told: TitleBody) -> str:
    first = await caller.store.list_messages(thread_id, limit=10, roles=("user",), blobs="reference")
    title = title_of(first) or title_in(told.messages)
    if title:
        await caller.store.set_title(thread_id, title)
    return title


ASSISTANT_UI_THREADS: Final = [
    list_threads,
    create_thread,
    get_thread,
    update_thread,
    delete_thread,
    make_title,
]
