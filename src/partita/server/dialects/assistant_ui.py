"""Threads and messages for assistant-ui.

What its `RemoteThreadListAdapter` calls:

    list({after})               GET    /api/assistant-ui/threads?after=…        rows, `x-next-cursor`
    initialize(threadId)        POST   /api/assistant-ui/threads                {id}; may be done again
    fetch(threadId)             GET    /api/assistant-ui/threads/{id}
    rename(id, title)           PATCH  /api/assistant-ui/threads/{id}           {title}
    archive(id), unarchive(id)  PATCH  /api/assistant-ui/threads/{id}           {status}
    updateCustom(id, custom)    PATCH  /api/assistant-ui/threads/{id}           {custom}
    delete(id)                  DELETE /api/assistant-ui/threads/{id}
    generateTitle(id, messages) POST   /api/assistant-ui/threads/{id}/title     {title}, or plain text

What its `ThreadHistoryAdapter`, `withFormat`, calls:

    load()            GET    /api/assistant-ui/threads/{id}/messages         rows, `x-head-id`
    append(item)      POST   /api/assistant-ui/threads/{id}/messages         {id, parent_id, format, content}
    update(item, id)  PUT    /api/assistant-ui/threads/{id}/messages/{id}    {parent_id, format, content}
    delete(items)     DELETE /api/assistant-ui/threads/{id}/messages/{id}    one by one

A row of a thread has the id twice, as `id` and `remoteId`. With `?shape=page`, the response to `list` is the
adapter's own, `{threads, nextCursor}`, and that to `load` is `{headId, messages}`. A title is stored before
its response is sent, as `generateTitle` requires; `PlainTextDecoder` of `assistant-stream` reads plain text.

Messages of all branches are returned, parents before their children; the row of the last message of the
active branch is last. A server that ran the turn has stored its messages before the page appends them: those
stay as they are.

A body must have the content type `application/json`: `fetch` sends plain text otherwise, which is refused.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from partita.errors import ConflictError, NotFoundError
from partita.server.callers import ActingCaller, CallerView
from partita.server.dialects.client_messages import rows_from
from partita.server.endpoints import Body, Query, delete, get, patch, post, put
from partita.server.file_urls import with_file_urls, with_references
from partita.server.responses import Reply
from partita.server.routes.parameters import MOST
from partita.store.ids import new_id
from partita.store.sql.transaction import Transaction
from partita.store.threads import rows as stored
from partita.store.threads.lists import first_words
from partita.store.values import MessageFilter
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message, UserMessage, text_of
from partita.types.threads import Thread
from partita.types.times import Timestamp

from .assistant_ui_rows import DEFAULT, FORMATS, Row, checked_format, content_of, keep, read_row, tree_of

TAGS: Final = ["assistant-ui"]
THREADS: Final = "/api/assistant-ui/threads"
THREAD: Final = THREADS + "/{thread_id}"
MESSAGES: Final = f"{THREAD}/messages"
MESSAGE: Final = f"{MESSAGES}/{{message_id}}"

Status: TypeAlias = Literal["regular", "archived"]
Shape: TypeAlias = Annotated[
    Literal["rows", "page"], Query(description="Just the rows, or an object around them.")
]

ARCHIVED: Final = "archived"
CUSTOM: Final = "custom"
EXTERNAL_ID: Final = "externalId"
"""Members of a thread's metadata."""


QUESTION: Final = {"role": "user", "parts": [{"type": "text", "text": "How tall is it?"}]}
APPENDED: Final = {"id": "m1", "parent_id": None, "format": DEFAULT, "content": QUESTION}


class ThreadRow(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A conversation."""

    id: Annotated[str, Meta(description="Its id.", examples=["thread-1"])]
    remote_id: Annotated[str, Meta(description="The same, as the adapter calls it.")]
    status: Annotated[Status | None, Meta(description="Whether it was put away.")]
    title: Annotated[str | None, Meta(description="What it is called.")] = None
    external_id: Annotated[str | None, Meta(description="What an application calls it.")] = None
    custom: Annotated[dict[str, Any] | None, Meta(description="What an application keeps with it.")] = None
    last_message_at: Annotated[Timestamp | None, Meta(description="When something last happened in it.")] = (
        None
    )
    created_at: Annotated[Timestamp | None, Meta(description="When it was begun.")] = None


class ThreadRows(msgspec.Struct, rename="camel", omit_defaults=True):
    """A page of threads."""

    threads: Annotated[list[ThreadRow], Meta(description="The newest first.")]
    next_cursor: Annotated[str | None, Meta(description="`after` of the next page, if there is one.")] = None


class NewThreadRow(msgspec.Struct, rename="camel", kw_only=True):
    """A thread to be made."""

    id: Annotated[str | None, Meta(description="Its id; without one it gets a new one.")] = None
    title: str | None = None
    custom: dict[str, Any] | None = None
    external_id: str | None = None


class ThreadRowChange(msgspec.Struct, kw_only=True):
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
    thread = await caller.store.threads.get(thread_id)
    if thread is None:
        raise NotFoundError(f"no thread {thread_id!r}", hint=f"GET {THREADS} lists them")
    return thread


@get(THREADS, tags=TAGS, summary="Threads by what was said last")
async def list_threads(
    caller: ActingCaller,
    limit: Annotated[int, Query(ge=1, le=MOST, description="How many at most.")] = 100,
    after: Annotated[str | None, Query(description="Where to go on: the cursor that was given.")] = None,
    shape: Shape = "rows",
) -> Reply[Any]:
    """The newest first. The header `x-next-cursor` says that there are more."""
    page = await caller.store.threads.list(limit=limit, cursor=after)
    rows = [row_of(thread) for thread in await caller.store.threads.with_display_titles(page.items)]
    headers = {} if page.next is None else {"x-next-cursor": page.next}
    return Reply(ThreadRows(rows, page.next) if shape == "page" else rows, headers=headers)


@post(THREADS, tags=TAGS, summary="Make a thread", status_code=201)
async def create_thread(
    caller: ActingCaller,
    data: Annotated[NewThreadRow | None, Body(examples=[{"id": "thread-1"}])] = None,
) -> ThreadRow:
    """A new thread; one that is there is given as it is."""
    asked = data or NewThreadRow()
    members: JsonObject = {CUSTOM: asked.custom, EXTERNAL_ID: asked.external_id}
    metadata = {name: value for name, value in members.items() if value is not None}
    id_ = asked.id or new_id()
    try:
        thread = await caller.store.threads.create(id_, title=asked.title, metadata=metadata or None)
    except ConflictError:  # asked for again
        thread = await thread_of(caller, id_)
    return row_of(thread)


@get(THREAD, tags=TAGS, summary="A thread")
async def get_thread(caller: ActingCaller, thread_id: str) -> ThreadRow:
    """What a thread says of itself."""
    (thread,) = await caller.store.threads.with_display_titles([await thread_of(caller, thread_id)])
    return row_of(thread)


@patch(THREAD, tags=TAGS, summary="Rename a thread, or put it away")
async def update_thread(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[ThreadRowChange, Body(examples=[{"status": "archived"}])],
) -> ThreadRow:
    """Title, status and what the application keeps with it."""
    return row_of(await caller.store.write(_change, thread_id, data))


def _change(tx: Transaction, thread_id: str, change: ThreadRowChange) -> Thread:
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
async def delete_thread(caller: ActingCaller, thread_id: str) -> None:
    """The thread and all its messages."""
    if not await caller.store.threads.delete(thread_id):
        raise NotFoundError(f"no thread {thread_id!r}", hint=f"GET {THREADS} lists them")


@post(f"{THREAD}/title", tags=TAGS, summary="Give a thread a title")
async def make_title(
    caller: ActingCaller,
    request: Request,
    thread_id: str,
    data: Annotated[
        TitleBody | None,
        Body(examples=[{"messages": [{"role": "user", "parts": [{"type": "text", "text": "How tall?"}]}]}]),
    ] = None,
) -> Title | PlainTextResponse:
    """The title it has, or the first words of its first question, which become its title.

    With `Accept: text/plain` it is the body.
    """
    thread = await thread_of(caller, thread_id)
    title = thread.title or await _made_title(caller, thread_id, data or TitleBody())
    if "text/plain" in request.headers.get("accept", ""):
        return PlainTextResponse(title)
    return Title(title)


async def _made_title(caller: CallerView, thread_id: str, body: TitleBody) -> str:
    first = await caller.store.messages.list(
        thread_id, MessageFilter(roles=("user",)), limit=10, blobs="reference"
    )
    title = title_of(first) or title_in(body.messages)
    if title:
        await caller.store.threads.set_title(thread_id, title)
    return title


def title_of(messages: Iterable[Message]) -> str:
    """The first words of the first message of a user that has any; empty if there is none."""
    said = (text_of(message) for message in messages if isinstance(message, UserMessage))
    return next((title for text in said if (title := first_words(text))), "")


def title_in(raws: Json) -> str:
    """The same, of messages as a page has them: with `parts`, or with a `content` of parts."""
    for raw in raws if is_array(raws) else []:
        if is_object(raw) and raw.get("role") == "user":
            parts = raw.get("parts", raw.get("content"))
            title = first_words(" ".join(_texts(parts)))
            if title:
                return title
    return ""


def _texts(parts: Json) -> list[str]:
    if isinstance(parts, str):
        return [parts]
    items = parts if is_array(parts) else []
    return [item["text"] for item in items if is_object(item) and isinstance(item.get("text"), str)]


# Messages


class Repository(msgspec.Struct, rename="camel"):
    """The messages of a thread, all branches."""

    head_id: Annotated[str | None, Meta(description="The last message of the branch that is shown.")]
    messages: Annotated[list[Row], Meta(description="Parents before their children.")]


class RowBody(msgspec.Struct, kw_only=True):
    """A message, whose id stands in the path."""

    parent_id: str | None = None
    format: str = DEFAULT
    content: dict[str, Any]


@get(MESSAGES, tags=TAGS, summary="Messages of a thread, all branches")
async def list_messages(
    caller: ActingCaller,
    thread_id: str,
    format_: Annotated[
        str | None, Query(name="format", description=f"{', '.join(FORMATS)}; {DEFAULT} unless said.")
    ] = None,
    shape: Shape = "rows",
) -> Reply[Any]:
    """Every message that is shown on some branch, and which branch is the current one."""
    name = checked_format(format_)
    thread = await thread_of(caller, thread_id)
    page = await caller.store.messages.list(
        thread_id, MessageFilter(branch="all", internal=None), limit=None, blobs="files"
    )
    tree = tree_of(with_file_urls(caller, page.items), thread.active_leaf_id, name)
    headers = {} if tree.head is None or not tree.head.isascii() else {"x-head-id": tree.head}
    return Reply(Repository(tree.head, tree.rows) if shape == "page" else tree.rows, headers=headers)


@post(MESSAGES, tags=TAGS, summary="Append a message")
async def append_message(
    caller: ActingCaller, thread_id: str, data: Annotated[Row, Body(examples=[APPENDED])]
) -> Row:
    """A message under its parent; with `null`, at the beginning of a branch.

    One that a run wrote, or that says the same, is left as it is, and given.
    """
    return await _kept(caller, thread_id, data)


@put(MESSAGE, tags=TAGS, summary="Change a message")
async def update_message(
    caller: ActingCaller,
    thread_id: str,
    message_id: str,
    data: Annotated[
        RowBody,
        Body(examples=[{"format": DEFAULT, "content": QUESTION}]),
    ],
) -> Row:
    """A message in its place; one that is not there is appended. What a run wrote is left as it is."""
    row = Row(id=message_id, parent_id=data.parent_id, format=data.format, content=data.content)
    return await _kept(caller, thread_id, row)


async def _kept(caller: CallerView, thread_id: str, row: Row) -> Row:
    message = await with_references(caller, read_row(row), "$.content")
    kept = await caller.store.write(keep, thread_id, row, message, caller.principal)
    return _row(kept, checked_format(row.format))


def _row(message: Message, format_: str) -> Row:
    content = content_of([message], format_)
    return Row(id=message.id, parent_id=message.parent_id, format=format_, content=content)


@delete(MESSAGE, tags=TAGS, summary="Delete a message")
async def delete_message(caller: ActingCaller, thread_id: str, message_id: str) -> None:
    """What followed it follows what it followed. The row of a run stands for all of its messages."""
    stored = await caller.store.messages.get(thread_id, message_id)
    rows = [] if stored is None else await rows_from(caller.store, stored)
    if not await caller.store.messages.delete(thread_id, [row.id for row in rows]):
        raise NotFoundError(
            f"no message {message_id!r} in thread {thread_id!r}",
            hint="GET /api/assistant-ui/threads/ID/messages lists them",
        )
