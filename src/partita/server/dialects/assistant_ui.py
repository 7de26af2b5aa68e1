"""Threads and messages for assistant-ui.

The routes of its `RemoteThreadListAdapter`:

    list({after})               GET    /api/assistant-ui/threads?after=…        rows, `x-next-cursor`
    initialize(threadId)        POST   /api/assistant-ui/threads                {id}; may be repeated
    fetch(threadId)             GET    /api/assistant-ui/threads/{id}
    rename(id, title)           PATCH  /api/assistant-ui/threads/{id}           {title}
    archive(id), unarchive(id)  PATCH  /api/assistant-ui/threads/{id}           {status}
    updateCustom(id, custom)    PATCH  /api/assistant-ui/threads/{id}           {custom}
    delete(id)                  DELETE /api/assistant-ui/threads/{id}
    generateTitle(id, messages) POST   /api/assistant-ui/threads/{id}/title     {title}, or plain text

The routes of its `ThreadHistoryAdapter`, `withFormat`:

    load()            GET    /api/assistant-ui/threads/{id}/messages         rows, `x-head-id`
    append(item)      POST   /api/assistant-ui/threads/{id}/messages         {id, parent_id, format, content}
    update(item, id)  PUT    /api/assistant-ui/threads/{id}/messages/{id}    {parent_id, format, content}
    delete(items)     DELETE /api/assistant-ui/threads/{id}/messages/{id}    one by one

A row of a thread has the id twice, as `id` and `remoteId`. With `?shape=page`, the response to `list` is that
of the adapter, `{threads, nextCursor}`, and the response to `load` is `{headId, messages}`. A title is stored
before its response is sent, as `generateTitle` requires; `PlainTextDecoder` of `assistant-stream` reads plain
text.

Messages of all branches are returned, parents before their children; the row of the last message of the
active branch is last. If this server ran the turn, it has stored its messages before the client appends them:
they do not change.

A body must have the content type `application/json`. Without it, `fetch` sends plain text, which is refused.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from partita.errors import ConflictError
from partita.server.callers import ActingCaller, CallerView
from partita.server.endpoints import Body, Query, delete, get, patch, post, put
from partita.server.file_urls import with_file_urls, with_references
from partita.server.responses import Reply
from partita.server.routes.messages import no_message
from partita.server.routes.parameters import MAX_ITEMS
from partita.server.routes.threads import no_thread, thread_of
from partita.store.ids import new_id
from partita.store.threads.lists import first_words
from partita.store.values import MessageFilter
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message, UserMessage, text_of
from partita.types.threads import Thread
from partita.types.times import Timestamp

from .assistant_ui_rows import DEFAULT, FORMATS, Row, checked_format, content_of, read_row, save_row, tree_of
from .client_messages import rows_from

TAGS: Final = ["assistant-ui"]
THREADS: Final = "/api/assistant-ui/threads"
THREAD: Final = THREADS + "/{thread_id}"
MESSAGES: Final = f"{THREAD}/messages"
MESSAGE: Final = f"{MESSAGES}/{{message_id}}"

Status: TypeAlias = Literal["regular", "archived"]
Shape: TypeAlias = Annotated[
    Literal["rows", "page"], Query(description="The rows alone, or an object with the rows.")
]

ARCHIVED: Final = "archived"
CUSTOM: Final = "custom"
EXTERNAL_ID: Final = "externalId"
"""Members of a thread's metadata."""

QUESTION: Final = {"role": "user", "parts": [{"type": "text", "text": "How tall is it?"}]}
APPENDED: Final = {"id": "m1", "parent_id": None, "format": DEFAULT, "content": QUESTION}


class ThreadRow(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A thread."""

    id: Annotated[str, Meta(description="Its id.", examples=["thread-1"])]
    remote_id: Annotated[str, Meta(description="The same id, as the adapter expects it.")]
    status: Annotated[Status | None, Meta(description="Whether it is archived.")]
    title: str | None = None
    external_id: Annotated[str | None, Meta(description="Its id in an application.")] = None
    custom: Annotated[dict[str, Any] | None, Meta(description="Any values of an application.")] = None
    last_message_at: Annotated[Timestamp | None, Meta(description="The time of its last message.")] = None
    created_at: Annotated[Timestamp | None, Meta(description="When it was created.")] = None


class ThreadRows(msgspec.Struct, rename="camel", omit_defaults=True):
    """A page of threads."""

    threads: Annotated[list[ThreadRow], Meta(description="The newest first.")]
    next_cursor: Annotated[str | None, Meta(description="`after` of the next page, if there is one.")] = None


class NewThreadRow(msgspec.Struct, rename="camel", kw_only=True):
    """A thread to create."""

    id: Annotated[str | None, Meta(description="Its id. Default: a new one.")] = None
    title: str | None = None
    custom: dict[str, Any] | None = None
    external_id: str | None = None


class ThreadRowChange(msgspec.Struct, kw_only=True):
    """Changes of a thread. Members that are left out do not change."""

    title: str | UnsetType | None = UNSET
    status: Status | UnsetType = UNSET
    custom: dict[str, Any] | UnsetType | None = UNSET


class TitleBody(msgspec.Struct):
    """Messages of the client, for a thread whose messages are not stored yet."""

    messages: list[Any] = []


class Title(msgspec.Struct):
    """The title of a thread."""

    title: Annotated[str, Meta(description="The title; empty if there is no message yet.")]


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


@get(THREADS, tags=TAGS, summary="List threads")
async def list_threads(
    caller: ActingCaller,
    limit: Annotated[int, Query(ge=1, le=MAX_ITEMS, description="The number of threads at most.")] = 100,
    after: Annotated[str | None, Query(description="The cursor of the previous page.")] = None,
    shape: Shape = "rows",
) -> Reply[Any]:
    """The newest threads first. If there are more, the header `x-next-cursor` has a cursor."""
    page = await caller.store.threads.list(limit=limit, cursor=after)
    rows = [row_of(thread) for thread in await caller.store.threads.with_display_titles(page.items)]
    headers = {} if page.next is None else {"x-next-cursor": page.next}
    return Reply(ThreadRows(rows, page.next) if shape == "page" else rows, headers=headers)


@post(THREADS, tags=TAGS, summary="Create a thread", status_code=201)
async def create_thread(
    caller: ActingCaller,
    data: Annotated[NewThreadRow | None, Body(examples=[{"id": "thread-1"}])] = None,
) -> ThreadRow:
    """Creates a thread. If its id exists, returns that thread unchanged."""
    new = data or NewThreadRow()
    members: JsonObject = {CUSTOM: new.custom, EXTERNAL_ID: new.external_id}
    metadata = {name: value for name, value in members.items() if value is not None}
    id_ = new.id or new_id()
    try:
        thread = await caller.store.threads.create(id_, title=new.title, metadata=metadata or None)
    except ConflictError:  # the request is repeated
        thread = await thread_of(caller, id_, THREADS)
    return row_of(thread)


@get(THREAD, tags=TAGS, summary="Get a thread")
async def get_thread(caller: ActingCaller, thread_id: str) -> ThreadRow:
    """A thread, without its messages."""
    (thread,) = await caller.store.threads.with_display_titles([await thread_of(caller, thread_id, THREADS)])
    return row_of(thread)


@patch(THREAD, tags=TAGS, summary="Rename or archive a thread")
async def update_thread(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[ThreadRowChange, Body(examples=[{"status": "archived"}])],
) -> ThreadRow:
    """Changes the title, the status and the values of the application."""
    metadata: JsonObject = {}
    if data.status is not UNSET:
        metadata[ARCHIVED] = True if data.status == "archived" else None
    if data.custom is not UNSET:
        metadata[CUSTOM] = data.custom
    return row_of(await caller.store.threads.change(thread_id, title=data.title, metadata=metadata or None))


@delete(THREAD, tags=TAGS, summary="Delete a thread")
async def delete_thread(caller: ActingCaller, thread_id: str) -> None:
    """Deletes the thread and all its messages."""
    if not await caller.store.threads.delete(thread_id):
        raise no_thread(thread_id, THREADS)
    caller.state.feed.report_deleted(caller.store.owner, thread_id)


@post(f"{THREAD}/title", tags=TAGS, summary="Generate the title of a thread")
async def make_title(
    caller: ActingCaller,
    request: Request,
    thread_id: str,
    data: Annotated[
        TitleBody | None,
        Body(examples=[{"messages": [{"role": "user", "parts": [{"type": "text", "text": "How tall?"}]}]}]),
    ] = None,
) -> Title | PlainTextResponse:
    """The title of the thread. If it has none, the first words of its first user message become its title.

    With `Accept: text/plain`, the title is the body.
    """
    thread = await thread_of(caller, thread_id, THREADS)
    title = thread.title or await _generated_title(caller, thread_id, data or TitleBody())
    if "text/plain" in request.headers.get("accept", ""):
        return PlainTextResponse(title)
    return Title(title)


async def _generated_title(caller: CallerView, thread_id: str, body: TitleBody) -> str:
    first = await caller.store.messages.list(
        thread_id, MessageFilter(roles=("user",)), limit=10, blobs="reference"
    )
    title = title_of(first) or title_in(body.messages)
    if title:
        await caller.store.threads.set_title(thread_id, title)
    return title


def title_of(messages: Iterable[Message]) -> str:
    """The first words of the first user message with text; empty if there is none."""
    texts = (text_of(message) for message in messages if isinstance(message, UserMessage))
    return next((title for text in texts if (title := first_words(text))), "")


def title_in(raws: Json) -> str:
    """The same for messages of the client, which have their parts in `parts` or `content`."""
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
    """The messages of a thread, of all branches."""

    head_id: Annotated[str | None, Meta(description="The last message of the active branch.")]
    messages: Annotated[list[Row], Meta(description="Parents before their children.")]


class RowBody(msgspec.Struct, kw_only=True):
    """A message. Its id is in the path."""

    parent_id: str | None = None
    format: str = DEFAULT
    content: dict[str, Any]


@get(MESSAGES, tags=TAGS, summary="List the messages of a thread")
async def list_messages(
    caller: ActingCaller,
    thread_id: str,
    format_: Annotated[
        str | None, Query(name="format", description=f"{', '.join(FORMATS)}. Default: {DEFAULT}.")
    ] = None,
    shape: Shape = "rows",
) -> Reply[Any]:
    """The messages of all branches, and the last message of the active branch."""
    name = checked_format(format_)
    thread = await thread_of(caller, thread_id, THREADS)
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
    """Appends a message to its parent, or starts a branch if `parent_id` is `null`.

    A message of a run does not change.
    """
    return await _save(caller, thread_id, data)


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
    """Changes a message, or appends it if it does not exist. A message of a run does not change."""
    row = Row(id=message_id, parent_id=data.parent_id, format=data.format, content=data.content)
    return await _save(caller, thread_id, row)


async def _save(caller: CallerView, thread_id: str, row: Row) -> Row:
    row = replace(row, format=checked_format(row.format))
    message = await with_references(caller, read_row(row), "$.content")
    saved = await caller.store.write(save_row, thread_id, row, message, caller.principal)
    return replace(row, parent_id=saved.parent_id, content=content_of([saved], row.format))


@delete(MESSAGE, tags=TAGS, summary="Delete a message")
async def delete_message(caller: ActingCaller, thread_id: str, message_id: str) -> None:
    """Its children become children of its parent. The row of a run is all messages of the run."""
    stored = await caller.store.messages.get(thread_id, message_id)
    rows = [] if stored is None else await rows_from(caller.store, stored)
    if not await caller.store.messages.delete(thread_id, [row.id for row in rows]):
        raise no_message(thread_id, message_id, THREADS)
