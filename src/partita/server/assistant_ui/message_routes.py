"""Messages for assistant-ui: what its `ThreadHistoryAdapter`, `withFormat`, calls.

    load()            GET    /api/assistant-ui/threads/{id}/messages         rows, `x-head-id`
    append(item)      POST   /api/assistant-ui/threads/{id}/messages         {id, parent_id, format, content}
    update(item, id)  PUT    /api/assistant-ui/threads/{id}/messages/{id}    {parent_id, format, content}
    delete(items)     DELETE /api/assistant-ui/threads/{id}/messages/{id}    one by one

All branches are given, parents before their children; the row of the shown branch's last message is last. For
`?shape=page` the answer is `{headId, messages}`.

A server that ran the turn has stored its messages before the page appends them: those stay as they are.
"""

from typing import Annotated, Any, Final

import msgspec
from litestar import delete, get, post, put
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath, QueryParameter
from msgspec import Meta

from partita.errors import NotFoundError
from partita.server.chat.rows import rows_from
from partita.server.files import with_addresses, with_references
from partita.server.hub import Caller, CallerView
from partita.server.replies import Reply
from partita.types.messages import Message

from .history import keep, read_row
from .rows import DEFAULT, FORMATS, Row, checked_format, content_of, tree_of
from .thread_routes import TAGS, THREAD, Shape, thread_of

MESSAGES: Final = f"{THREAD}/messages"
MESSAGE: Final = f"{MESSAGES}/{{message_id:str}}"

QUESTION: Final = {"role": "user", "parts": [{"type": "text", "text": "How tall is it?"}]}
APPENDED: Final = Example(
    summary="A question",
    value={"id": "m1", "parent_id": None, "format": DEFAULT, "content": QUESTION},
)


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
    caller: Caller,
    thread_id: FromPath[str],
    format_: Annotated[
        str | None, QueryParameter(name="format", description=f"{', '.join(FORMATS)}; {DEFAULT} unless said.")
    ] = None,
    shape: Shape = "rows",
) -> Reply[Any]:
    """Every message that is shown on some branch, and which branch is the current one."""
    name = checked_format(format_)
    thread = await thread_of(caller, thread_id)
    page = await caller.store.list_messages(thread_id, limit=None, branch="all", internal=None, blobs="files")
    tree = tree_of(with_addresses(caller, page.items), thread.active_leaf_id, name)
    headers = {} if tree.head is None or not tree.head.isascii() else {"x-head-id": tree.head}
    return Reply(Repository(tree.head, tree.rows) if shape == "page" else tree.rows, headers=headers)


@post(MESSAGES, status_code=200, tags=TAGS, summary="Append a message")
async def append_message(
    caller: Caller, thread_id: FromPath[str], data: Annotated[Row, Body(examples=[APPENDED])]
) -> Reply[Row]:
    """A message under its parent; with `null`, at the beginning of a branch.

    One that a run wrote, or that says the same, is left as it is, and given.
    """
    return Reply(await _kept(caller, thread_id, data))


@put(MESSAGE, tags=TAGS, summary="Change a message")
async def update_message(
    caller: Caller,
    thread_id: FromPath[str],
    message_id: FromPath[str],
    data: Annotated[
        RowBody,
        Body(examples=[Example(summary="A question", value={"format": DEFAULT, "content": QUESTION})]),
    ],
) -> Reply[Row]:
    """A message in its place; one that is not there is appended. What a run wrote is left as it is."""
    row = Row(id=message_id, parent_id=data.parent_id, format=data.format, content=data.content)
    return Reply(await _kept(caller, thread_id, row))


async def _kept(caller: CallerView, thread_id: str, row: Row) -> Row:
    message = await with_references(caller, read_row(row), "$.content")
    kept = await caller.store.write(keep, thread_id, row, message, caller.principal)
    return _row(kept, checked_format(row.format))


def _row(message: Message, format_: str) -> Row:
    content = content_of([message], format_)
    return Row(id=message.id, parent_id=message.parent_id, format=format_, content=content)


@delete(MESSAGE, tags=TAGS, summary="Delete a message")
async def delete_message(caller: Caller, thread_id: FromPath[str], message_id: FromPath[str]) -> None:
    """What followed it follows what it followed. The row of a run stands for all of its messages."""
    stored = await caller.store.get_message(thread_id, message_id)
    rows = [] if stored is None else await rows_from(caller.store, stored)
    if not await caller.store.delete_messages(thread_id, [row.id for row in rows]):
        raise NotFoundError(
            f"no message {message_id!r} in thread {thread_id!r}",
            hint="GET /api/assistant-ui/threads/ID/messages lists them",
        )


ASSISTANT_UI_MESSAGES: Final = [list_messages, append_message, update_message, delete_message]
