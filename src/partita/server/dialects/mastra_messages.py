"""Messages for Mastra's clients, as V2, V1 and UI messages."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace
from starlette.requests import Request

from partita.errors import ConversionError
from partita.formats.ai_sdk.ui.chat import join_runs
from partita.formats.mastra import v1, v2
from partita.formats.mastra.format import load
from partita.formats.mastra.notes import strip_notes
from partita.formats.registry import get_format
from partita.server.callers import Caller, CallerView, require
from partita.server.dialects.mastra_query import filtered, included_of, order_of, page_of, whole_number
from partita.server.dialects.mastra_threads import (
    TAGS,
    THREAD,
    MastraThread,
    Page,
    PerPage,
    ResourceId,
    find_thread,
    mastra_thread,
)
from partita.server.endpoints import Body, Query, get, post
from partita.server.open_calls import save_checked
from partita.server.problems import Problem
from partita.store.ids import new_id
from partita.store.messages.prepared import prepare
from partita.store.messages.queries import NumberedMessages, NumberedQuery
from partita.store.sql.pages import NumberedPage
from partita.store.sql.texts import required
from partita.store.threads.copies import Excerpt
from partita.store.values import Order
from partita.stream.targets import Target
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import Message
from partita.types.parts import TextPart
from partita.types.times import Timestamp, javascript_date

UI: Final = "ai-sdk-ui-v"
VERSIONS: Final = ("4", "5", "6", "7")


def ui_format(name: str | None, client: Target) -> str:
    """The format of UI messages: `5`, `v5` and `ai-sdk-ui-v5` are the same."""
    version = str(client.major) if name is None else name.removeprefix(UI).removeprefix("v")
    if version not in VERSIONS:
        raise Problem(
            400, f"no UI messages of version {version[:40]!r}", where="query uiFormat", hint="use v4 to v7"
        )
    return UI + version


def ui_messages(messages: Sequence[Message], format_: str, order: Order = "asc") -> list[JsonObject]:
    """UI messages, without internal messages. Clients join the messages of a run."""
    visible = [strip_notes(message) for message in messages if not message.internal]
    by_id = {message.id: message for message in visible}
    dump = get_format(format_).dump
    assert dump is not None, "UI messages can be written"
    # Clients of release 4 cannot read our streams, so they do not join messages.
    joined: Sequence[Message] = visible
    if format_ != f"{UI}4":
        joined = join_runs(visible) if order == "asc" else join_runs(visible[::-1])[::-1]
    return [_with_thread(raw, by_id.get(raw["id"])) for raw in dump(joined).payload]


def _with_thread(raw: JsonObject, message: Message | None) -> JsonObject:
    """A UI message with its time, thread and owner in the metadata, as in Mastra."""
    metadata: Json = raw.get("metadata")
    if message is None or not (metadata is None or is_object(metadata)):
        return raw
    added: JsonObject = {"threadId": message.thread_id, "resourceId": message.resource_id}
    if message.created_at is not None:
        added["createdAt"] = javascript_date(message.created_at)
    return {**raw, "metadata": {key: item for key, item in added.items() if item} | (metadata or {})}


def v1_messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Messages as V1: the calls, results and texts of a response are separate messages."""
    return [_with_owner(row) for row in v1.write_messages([_with_text(strip_notes(one)) for one in messages])]


def v2_messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Messages as V2. Each also has its text as one string."""
    return [_with_owner(v2.write_message(_with_text(message))) for message in messages]


def _with_owner(row: JsonObject) -> JsonObject:
    """A message with the ids of its thread and owner, which Mastra's clients expect; empty if it has none."""
    return {"threadId": "", "resourceId": "", **row}


def _with_text(message: Message) -> Message:
    """A message with its text as one string, for clients that do not know parts."""
    texts = [part.text for part in message.content.parts if isinstance(part, TextPart)]
    if message.content.content is not None or not any(texts):
        return message
    content: Any = replace(message.content, content="\n".join(texts))
    changed: Message = replace(message, content=content)
    return changed


REQUIRED: Final = ("threadId", "resourceId")
PER_PAGE: Final = 40
SAVE: Final = ["/api/memory/save-messages", "/api/memory/network/save-messages"]
DELETE: Final = ["/api/memory/messages/delete", "/api/memory/network/messages/delete"]

SAVED: Final = {
    "messages": [
        {
            "id": "m1",
            "threadId": "thread-1",
            "resourceId": "user-1",
            "role": "user",
            "content": {"format": 2, "parts": [{"type": "text", "text": "How tall is it?"}]},
        }
    ]
}


class MastraMessagePage(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A page of messages, in several formats."""

    messages: Annotated[list[Any], Meta(description="The messages as V2, or as V1 if that is requested.")]
    ui_messages: Annotated[list[Any], Meta(description="The messages as UI messages of the AI SDK.")]
    legacy_messages: Annotated[
        list[Any] | None, Meta(description="The messages for AI SDK 4, if V1 is requested.")
    ] = None
    total: Annotated[
        int, Meta(description="The number of matching messages, not counting those of `include`.")
    ]
    page: Annotated[int, Meta(description="The number of this page, from 0.")]
    per_page: Annotated[int | bool, Meta(description="The size of a page; `false`: it has all messages.")]
    has_more: Annotated[bool, Meta(description="Whether there is another page.")]


class MessagesBody(msgspec.Struct):
    """Messages to save."""

    messages: Annotated[list[Any], Meta(description="V2 or V1 messages with `threadId` and `resourceId`.")]


class SavedMessages(msgspec.Struct):
    """The saved messages."""

    messages: Annotated[list[Any], Meta(description="The messages as V2.")]


class DeletedBody(msgspec.Struct, rename="camel"):
    """Messages to delete."""

    message_ids: Annotated[Any, Meta(description="An id, `{id}`, or a list of either.")]
    thread_id: Annotated[str | None, Meta(description="The thread, if several threads have these ids.")] = (
        None
    )


class Success(msgspec.Struct, omit_defaults=True):
    """The result of a successful request."""

    success: Annotated[bool, Meta(description="Always true: a failure is a problem response.")]
    message: str | None = None


@get([f"{path}/messages" for path in THREAD], tags=TAGS, summary="List the messages of a thread")
async def list_messages(
    caller: Caller,
    request: Request,
    thread_id: str,
    *,
    resource_id: ResourceId = None,
    page: Page = None,
    per_page: PerPage = None,
    limit: Annotated[
        str | None, Query(description="For old clients: the number of latest messages, oldest first.")
    ] = None,
    version: Annotated[
        Literal["v1", "v2"], Query(name="format", description="The format of `messages`.")
    ] = "v2",
    ui: Annotated[
        str | None,
        Query(
            name="uiFormat",
            description="The format of `uiMessages`: `v4` to `v7`. Default: as the server is configured.",
        ),
    ] = None,
    reminders: Annotated[
        bool,
        Query(name="includeSystemReminders", description="Include internal messages, which agents exchange."),
    ] = False,
) -> MastraMessagePage:
    """The messages of the active branch, by time. `orderBy`, `filter` and `include` are JSON, or in brackets.

    In `uiMessages`, a network execution is a `dynamic-tool` part with the messages of its agents.
    """
    if reminders:
        require(caller.principal, "logs", "read internal messages", where="query includeSystemReminders")
    format_ = ui_format(ui, caller.state.settings.client)
    query = NumberedQuery(
        page=page_of(page, per_page, PER_PAGE),
        order=order_of(request, "asc").order,
        include=included_of(request),
        internal=reminders,
        newest=None if limit is None else whole_number(limit, "limit"),
    )
    query = filtered(query, request)
    store = (await find_thread(caller, thread_id, resource_id)).store
    found = await store.messages.page(thread_id, query)
    return _page_of(found, query, format_, is_v1=version == "v1")


def _page_of(
    found: NumberedMessages, query: NumberedQuery, format_: str, *, is_v1: bool
) -> MastraMessagePage:
    page = query.page if query.newest is None else NumberedPage(0, query.newest)
    legacy = is_v1 or query.newest is not None
    return MastraMessagePage(
        messages=v1_messages(found.items) if is_v1 else v2_messages(found.items),
        ui_messages=ui_messages(found.items, format_, query.order),
        legacy_messages=ui_messages(found.items, f"{UI}4") if legacy else None,
        total=found.total,
        page=page.number,
        per_page=False if page.size is None else page.size,
        has_more=_has_more(found, query, page),
    )


def _has_more(found: NumberedMessages, query: NumberedQuery, page: NumberedPage) -> bool:
    """Whether there is another page; with `include`, whether messages of the thread are missing."""
    if query.include and not query.metadata and page.size:
        return found.own < found.total
    return page.has_more(found.total)


@post(SAVE, tags=TAGS, summary="Save messages")
async def save(caller: Caller, data: Annotated[MessagesBody, Body(examples=[SAVED])]) -> SavedMessages:
    """Saves all messages or none. A message whose id exists is changed in its place. Threads must exist."""
    saved = await save_messages(caller, data.messages)
    return SavedMessages(v2_messages(saved))


async def save_messages(caller: CallerView, raws: Sequence[Json]) -> tuple[Message, ...]:
    """Save V2 and V1 messages, each of which names its thread and its owner."""
    messages = [_read(_checked(caller, raw, index), index) for index, raw in enumerate(raws)]
    owners = {(message.thread_id, message.resource_id) for message in messages}
    threads = {
        pair: (await find_thread(caller, pair[0] or "", pair[1])).thread for pair in sorted(owners, key=str)
    }
    owned = [
        replace(message, resource_id=threads[message.thread_id, message.resource_id].resource_id)
        for message in messages
    ]
    return await caller.store.write(save_checked, [prepare(message, None) for message in owned])


def _checked(caller: CallerView, raw: Json, index: int) -> JsonObject:
    """A message with an id, a thread and an owner."""
    where = f"$.messages[{index}]"
    if not is_object(raw):
        raise ConversionError(
            f"a message is an object, found {kind_of(raw)}",
            where=where,
            hint="send {id, threadId, role, content}",
        )
    message = dict(raw)
    if caller.principal.resource_id is not None and "resourceId" not in raw:
        message["resourceId"] = caller.principal.resource_id
    for name in REQUIRED:
        if not isinstance(message.get(name), str) or not message[name]:
            raise Problem(
                400, f"a message without {name}", where=where, hint="send `threadId` and `resourceId`"
            )
    if message.get("id") is None:
        message["id"] = new_id()
    return message


def _read(raw: JsonObject, index: int) -> Message:
    try:
        return load(raw).messages[0]
    except ConversionError as error:
        where = f"$.messages[{index}]{error.where.removeprefix('$')}"
        raise ConversionError(error.what, where=where, hint=error.hint) from None


@post(DELETE, tags=TAGS, summary="Delete messages")
async def delete_messages(
    caller: Caller,
    data: Annotated[DeletedBody, Body(examples=[{"messageIds": ["m1", "m2"]}])],
    resource_id: ResourceId = None,
) -> Success:
    """Deletes messages of any thread by their ids. Unknown ids are ignored."""
    store = caller.acting_for(resource_id).store
    count = await store.messages.delete_by_id(_ids(data.message_ids), thread_id=data.thread_id)
    return Success(True, f"{count} message{'' if count == 1 else 's'} deleted successfully")


def _ids(value: Json) -> list[str]:
    """The ids in `messageIds`: one or a list, as strings or objects."""
    items = value if is_array(value) else [value]
    ids = [item.get("id") if is_object(item) else item for item in items]
    if not ids:
        raise Problem(400, "no message ids", where="$.messageIds", hint='send "m1", {"id": "m1"}, or a list')
    return [required(id_ if isinstance(id_, str) else None, "message id") for id_ in ids]


class MessageChoice(msgspec.Struct, rename="camel", kw_only=True):
    """The messages to copy."""

    start_date: Timestamp | None = None
    end_date: Timestamp | None = None
    message_ids: list[str] | None = None


class CloneOptions(msgspec.Struct, rename="camel", kw_only=True):
    """The part of a thread to copy."""

    message_limit: Annotated[int, Meta(ge=0, description="The number of latest messages.")] | None = None
    message_filter: MessageChoice | None = None


class CloneBody(msgspec.Struct, rename="camel", kw_only=True):
    """The id, title and metadata of a copy, and the messages to copy."""

    new_thread_id: str | None = None
    resource_id: str | None = None
    title: str | None = None
    metadata: dict[str, Any] | None = None
    options: CloneOptions | None = None


class Cloned(msgspec.Struct, rename="camel", kw_only=True):
    """A copy of a thread."""

    thread: MastraThread
    cloned_messages: Annotated[list[Any], Meta(description="Its messages as V2.")]


@post([f"{path}/clone" for path in THREAD], tags=TAGS, summary="Copy a thread")
async def clone_thread(
    caller: Caller,
    thread_id: str,
    data: Annotated[
        CloneBody | None,
        Body(examples=[{"options": {"messageLimit": 10}}]),
    ] = None,
) -> Cloned:
    """Creates a thread of the same owner with copies of all or some messages of the active branch."""
    clone = data or CloneBody()
    store = (await find_thread(caller, thread_id, clone.resource_id)).store
    thread = await store.threads.copy_excerpt(
        thread_id,
        _excerpt(clone.options or CloneOptions()),
        new_id=clone.new_thread_id,
        title=clone.title,
        metadata=clone.metadata,
    )
    found = await store.messages.page(thread.id, NumberedQuery(internal=True))
    return Cloned(thread=mastra_thread(thread), cloned_messages=v2_messages(found.items))


def _excerpt(options: CloneOptions) -> Excerpt:
    chosen = options.message_filter or MessageChoice()
    return Excerpt(
        newest=options.message_limit,
        start=chosen.start_date,
        end=chosen.end_date,
        ids=None if chosen.message_ids is None else frozenset(chosen.message_ids),
    )
