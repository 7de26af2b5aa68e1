"""Messages, in the words of Mastra's memory API."""

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
    mastra_thread,
    open_thread,
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

# Messages as Mastra gives them to its clients: V2, V1 and UI messages.

UI: Final = "ai-sdk-ui-v"
VERSIONS: Final = ("4", "5", "6", "7")


def ui_format(asked: str | None, client: Target) -> str:
    """The name of the format of UI messages: `5`, `v5` and `ai-sdk-ui-v5` are the same."""
    version = str(client.major) if asked is None else asked.removeprefix(UI).removeprefix("v")
    if version not in VERSIONS:
        raise Problem(
            400, f"no UI messages of version {version[:40]!r}", where="query uiFormat", hint="use v4 to v7"
        )
    return UI + version


def ui_messages(messages: Sequence[Message], format_: str, order: Order = "asc") -> list[JsonObject]:
    """Messages as a page draws them. What agents said among themselves is not among them."""
    talk = [strip_notes(message) for message in messages if not message.internal]
    times = {message.id: message for message in talk}
    dump = get_format(format_).dump
    assert dump is not None, "UI messages are written"
    # Clients of release 4 cannot read our streams, so they have each message of a run by itself.
    shown: Sequence[Message] = talk
    if format_ != f"{UI}4":
        shown = join_runs(talk) if order == "asc" else join_runs(talk[::-1])[::-1]
    return [_placed(raw, times.get(raw["id"])) for raw in dump(shown).payload]


def _placed(raw: JsonObject, message: Message | None) -> JsonObject:
    """A UI message with its time, thread and owner in the metadata, where Mastra puts them."""
    metadata: Json = raw.get("metadata")
    if message is None or not (metadata is None or is_object(metadata)):
        return raw
    placed: JsonObject = {"threadId": message.thread_id, "resourceId": message.resource_id}
    if message.created_at is not None:
        placed["createdAt"] = javascript_date(message.created_at)
    return {**raw, "metadata": {key: item for key, item in placed.items() if item} | (metadata or {})}


def v1_messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Messages as V1: the calls, the results and the words of an answer are messages of their own."""
    return [_owned(row) for row in v1.write_messages([_spoken(strip_notes(one)) for one in messages])]


def v2_messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Messages as V2, with the words of each in one string too."""
    return [_owned(v2.write_message(_spoken(message))) for message in messages]


def _owned(row: JsonObject) -> JsonObject:
    """A message that says whose it is, even if it is nobody's."""
    return {"threadId": "", "resourceId": "", **row}


def _spoken(message: Message) -> Message:
    """A message with the string that clients read who know no parts."""
    texts = [part.text for part in message.content.parts if isinstance(part, TextPart)]
    if message.content.content is not None or not any(texts):
        return message
    content: Any = replace(message.content, content="\n".join(texts))
    changed: Message = replace(message, content=content)
    return changed


NEEDED: Final = ("threadId", "resourceId")
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
    request: Request,
    thread_id: str,
    *,
    resource_id: ResourceId = None,
    page: Page = None,
    per_page: PerPage = None,
    limit: Annotated[
        str | None, Query(description="As old clients ask: so many of the last, oldest first.")
    ] = None,
    version: Annotated[
        Literal["v1", "v2"], Query(name="format", description="How `messages` are written.")
    ] = "v2",
    ui: Annotated[
        str | None,
        Query(name="uiFormat", description="How `uiMessages` are: `v4` to `v7`; else as the server's."),
    ] = None,
    reminders: Annotated[
        bool,
        Query(name="includeSystemReminders", description="What agents said among themselves, too."),
    ] = False,
) -> MessagePage:
    """The branch that is shown, by time. `orderBy`, `filter` and `include` are JSON, or in brackets.

    `uiMessages` are filled: a network execution is a `dynamic-tool` part in them, with what its agents said.
    """
    if reminders:
        require(caller.principal, "logs", "read internal messages", where="query includeSystemReminders")
    format_ = ui_format(ui, caller.state.settings.client)
    wanted = NumberedQuery(
        page=page_of(page, per_page, PER_PAGE),
        order=order_of(request, "asc").order,
        include=included_of(request),
        internal=reminders,
        newest=None if limit is None else whole_number(limit, "limit"),
    )
    wanted = filtered(wanted, request)
    opened = await open_thread(caller, thread_id, resource_id)
    found = await opened.store.messages.page(thread_id, wanted)
    return _answer(found, wanted, format_, is_v1=version == "v1")


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


@post(SAVE, tags=TAGS, summary="Save messages")
async def save(caller: Caller, data: Annotated[MessagesBody, Body(examples=[SAVED])]) -> SavedMessages:
    """All or none. A message whose id is known is changed in its place; a thread must be there."""
    saved = await save_messages(caller, data.messages)
    return SavedMessages(v2_messages(saved))


async def save_messages(caller: CallerView, raws: Sequence[Json]) -> tuple[Message, ...]:
    """Save V2 and V1 messages; each says its thread and its resource."""
    messages = [_read(_checked(caller, raw, place), place) for place, raw in enumerate(raws)]
    owners = {(message.thread_id, message.resource_id) for message in messages}
    threads = {
        pair: (await open_thread(caller, pair[0] or "", pair[1])).thread for pair in sorted(owners, key=str)
    }
    placed = [
        replace(message, resource_id=threads[message.thread_id, message.resource_id].resource_id)
        for message in messages
    ]
    return await caller.store.write(save_checked, [prepare(message, None) for message in placed])


def _checked(caller: CallerView, raw: Json, place: int) -> JsonObject:
    """A message with an id, a thread and a resource."""
    where = f"$.messages[{place}]"
    if not is_object(raw):
        raise ConversionError(
            f"a message is an object, found {kind_of(raw)}",
            where=where,
            hint="give {id, threadId, role, content}",
        )
    message = dict(raw)
    if caller.principal.resource_id is not None and "resourceId" not in raw:
        message["resourceId"] = caller.principal.resource_id
    for name in NEEDED:
        if not isinstance(message.get(name), str) or not message[name]:
            raise Problem(400, f"a message without {name}", where=where, hint="each needs both")
    if message.get("id") is None:
        message["id"] = new_id()
    return message


def _read(raw: JsonObject, place: int) -> Message:
    try:
        return load(raw).messages[0]
    except ConversionError as error:
        where = f"$.messages[{place}]{error.where.removeprefix('$')}"
        raise ConversionError(error.what, where=where, hint=error.hint) from None


@post(DELETE, tags=TAGS, summary="Delete messages")
async def delete_messages(
    caller: Caller,
    data: Annotated[DeletedBody, Body(examples=[{"messageIds": ["m1", "m2"]}])],
    resource_id: ResourceId = None,
) -> Success:
    """Messages by their ids, wherever they are. Ids that nobody knows are ignored."""
    store = caller.acting_for(resource_id).store
    count = await store.messages.delete_by_id(_ids(data.message_ids), thread_id=data.thread_id)
    return Success(True, f"{count} message{'' if count == 1 else 's'} deleted successfully")


def _ids(given: Json) -> list[str]:
    """The ids of the four ways to name messages."""
    items = given if is_array(given) else [given]
    ids = [item.get("id") if is_object(item) else item for item in items]
    if not ids:
        raise Problem(400, "no message ids", where="$.messageIds", hint='give "m1", {"id": "m1"}, or a list')
    return [required(id_ if isinstance(id_, str) else None, "message id") for id_ in ids]


class MessageChoice(msgspec.Struct, rename="camel", kw_only=True):
    """Which messages are copied."""

    start_date: Timestamp | None = None
    end_date: Timestamp | None = None
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


@post([f"{path}/clone" for path in THREAD], tags=TAGS, summary="Copy a thread")
async def clone_thread(
    caller: Caller,
    thread_id: str,
    data: Annotated[
        CloneBody | None,
        Body(examples=[{"options": {"messageLimit": 10}}]),
    ] = None,
) -> Cloned:
    """A new thread with copies of the messages that are shown, or of some of them. It keeps its owner."""
    asked = data or CloneBody()
    opened = await open_thread(caller, thread_id, asked.resource_id)
    thread = await opened.store.threads.copy_excerpt(
        thread_id,
        _excerpt(asked.options or CloneOptions()),
        new_id=asked.new_thread_id,
        title=asked.title,
        metadata=asked.metadata,
    )
    found = await opened.store.messages.page(thread.id, NumberedQuery(internal=True))
    return Cloned(thread=mastra_thread(thread), cloned_messages=v2_messages(found.items))


def _excerpt(options: CloneOptions) -> Excerpt:
    chosen = options.message_filter or MessageChoice()
    return Excerpt(
        newest=options.message_limit,
        start=chosen.start_date,
        end=chosen.end_date,
        ids=None if chosen.message_ids is None else frozenset(chosen.message_ids),
    )
