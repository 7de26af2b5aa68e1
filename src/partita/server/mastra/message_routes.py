"""Messages, in the words of Mastra's memory API."""

from typing import Annotated, Any, Final, Literal

import msgspec
from litestar import Request, get, post
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath, QueryParameter
from msgspec import Meta

from partita.server.hub import Caller
from partita.server.problems import Problem
from partita.server.replies import Reply
from partita.server.roles import require
from partita.store.numbered_messages import NumberedMessages, NumberedQuery
from partita.store.numbered_pages import NumberedPage
from partita.store.texts import required
from partita.types.json import Json, is_array, is_object

from .access import open_thread
from .query import filtered, included_of, order_of, page_of, whole_number
from .saving import save_messages
from .thread_routes import TAGS, THREAD, Page, PerPage, ResourceId
from .views import UI, ui_format, ui_messages, v1_messages, v2_messages

PER_PAGE: Final = 40
SAVE: Final = ["/api/memory/save-messages", "/api/memory/network/save-messages"]
DELETE: Final = ["/api/memory/messages/delete", "/api/memory/network/messages/delete"]

SAVED: Final = Example(
    summary="A question",
    value={
        "messages": [
            {
                "id": "m1",
                "threadId": "thread-1",
                "resourceId": "user-1",
                "role": "user",
                "content": {"format": 2, "parts": [{"type": "text", "text": "How tall is it?"}]},
            }
        ]
    },
)


class MessagePage(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A page of messages, in several views of the same."""

    messages: Annotated[list[Any], Meta(description="As V2, or as V1 if that was asked for.")]
    ui_messages: Annotated[list[Any], Meta(description="As a page of the AI SDK draws them.")]
    legacy_messages: Annotated[
        list[Any] | None, Meta(description="UI messages of AI SDK 4, for those who ask for V1.")
    ] = None
    total: Annotated[int, Meta(description="How many match, those that are included apart.")]
    page: Annotated[int, Meta(description="The number of this page.")]
    per_page: Annotated[int | bool, Meta(description="Its size; `false`: everything is on it.")]
    has_more: Annotated[bool, Meta(description="Whether there are more.")]


class MessagesBody(msgspec.Struct):
    """Messages to save."""

    messages: Annotated[list[Any], Meta(description="V2 or V1. Each says its `threadId` and `resourceId`.")]


class SavedMessages(msgspec.Struct):
    """Messages as they are stored."""

    messages: Annotated[list[Any], Meta(description="As V2.")]


class DeletedBody(msgspec.Struct, rename="camel"):
    """Messages to delete."""

    message_ids: Annotated[Any, Meta(description="An id, `{id}`, or a list of either.")]
    thread_id: Annotated[str | None, Meta(description="The thread, if several have messages of one id.")] = (
        None
    )


class Success(msgspec.Struct, omit_defaults=True):
    """That it was done."""

    success: Annotated[bool, Meta(description="Always true; what fails is a problem.")]
    message: Annotated[str | None, Meta(description="What was done.")] = None


@get([f"{path}/messages" for path in THREAD], tags=TAGS, summary="Messages of a thread, in pages by number")
async def list_messages(
    caller: Caller,
    request: Request[Any, Any, Any],
    thread_id: FromPath[str],
    *,
    resource_id: ResourceId = None,
    page: Page = None,
    per_page: PerPage = None,
    limit: Annotated[
        str | None, QueryParameter(description="As old clients ask: so many of the last, oldest first.")
    ] = None,
    version: Annotated[
        Literal["v1", "v2"], QueryParameter(name="format", description="How `messages` are written.")
    ] = "v2",
    ui: Annotated[
        str | None,
        QueryParameter(
            name="uiFormat", description="How `uiMessages` are: `v4` to `v7`; else as the server's."
        ),
    ] = None,
    reminders: Annotated[
        bool,
        QueryParameter(name="includeSystemReminders", description="What agents said among themselves, too."),
    ] = False,
) -> Reply[MessagePage]:
    """The branch that is shown, by time. `orderBy`, `filter` and `include` are JSON, or in brackets.

    `uiMessages` are filled: a network execution is a `dynamic-tool` part in them, with what its agents said.
    """
    if reminders:
        require(caller.principal, "logs", "read internal messages", where="query includeSystemReminders")
    format_ = ui_format(ui, caller.hub.settings.client)
    wanted = NumberedQuery(
        page=page_of(page, per_page, PER_PAGE),
        order=order_of(request, "asc").order,
        include=included_of(request),
        internal=reminders,
        newest=None if limit is None else whole_number(limit, "limit"),
    )
    wanted = filtered(wanted, request)
    opened = await open_thread(caller, thread_id, resource_id)
    found = await opened.store.list_messages_by_number(thread_id, wanted)
    return Reply(_answer(found, wanted, format_, is_v1=version == "v1"))


def _answer(found: NumberedMessages, wanted: NumberedQuery, format_: str, *, is_v1: bool) -> MessagePage:
    page = wanted.page if wanted.newest is None else NumberedPage(0, wanted.newest)
    legacy = is_v1 or wanted.newest is not None
    return MessagePage(
        messages=v1_messages(found.items) if is_v1 else v2_messages(found.items),
        ui_messages=ui_messages(found.items, format_, wanted.order),
        legacy_messages=ui_messages(found.items, f"{UI}4") if legacy else None,
        total=found.total,
        page=page.number,
        per_page=False if page.size is None else page.size,
        has_more=_has_more(found, wanted, page),
    )


def _has_more(found: NumberedMessages, wanted: NumberedQuery, page: NumberedPage) -> bool:
    """Whether there are more; with messages included, whether some of the thread are still missing."""
    if wanted.include and not wanted.metadata and page.size:
        return found.own < found.total
    return page.has_more(found.total)


@post(SAVE, status_code=200, tags=TAGS, summary="Save messages")
async def save(caller: Caller, data: Annotated[MessagesBody, Body(examples=[SAVED])]) -> Reply[SavedMessages]:
    """All or none. A message whose id is known is changed in its place; a thread must be there."""
    saved = await save_messages(caller, data.messages)
    return Reply(SavedMessages(v2_messages(saved)))


@post(DELETE, status_code=200, tags=TAGS, summary="Delete messages")
async def delete_messages(
    caller: Caller,
    data: Annotated[DeletedBody, Body(examples=[Example(summary="Two", value={"messageIds": ["m1", "m2"]})])],
    resource_id: ResourceId = None,
) -> Reply[Success]:
    """Messages by their ids, wherever they are. Ids that nobody knows are ignored."""
    store = caller.acting_for(resource_id).store
    count = await store.delete_messages_by_id(_ids(data.message_ids), thread_id=data.thread_id)
    return Reply(Success(True, f"{count} message{'' if count == 1 else 's'} deleted successfully"))


def _ids(told: Json) -> list[str]:
    """The ids of the four ways to name messages."""
    items = told if is_array(told) else [told]
    ids = [item.get("id") if is_object(item) else item for item in items]
    if not ids:
        raise Problem(400, "no message ids", where="$.messageIds", hint='give "m1", {"id": "m1"}, or a list')
    return [required(id_ if isinstance(id_, str) else None, "message id") for id_ in ids]


MASTRA_MESSAGES: Final = [list_messages, save, delete_messages]
