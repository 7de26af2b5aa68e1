"""Messages of a thread: read, saved, changed and deleted, in any format."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, TypeAlias
from urllib.parse import urlencode

import msgspec
from msgspec import Meta
from msgspec.structs import replace
from starlette.requests import Request

from partita.errors import ConflictError, FormatError, NotFoundError
from partita.formats.ai_sdk.ui.chat import dump_chat, group_runs, join_chat
from partita.formats.format import GENERATED_ID, Format, Loaded
from partita.formats.registry import get_dump, get_format
from partita.server.callers import ActingCaller, CallerView, require
from partita.server.endpoints import Body, Query, delete, endpoint, get, post, put
from partita.server.file_urls import with_file_urls, with_references
from partita.server.open_calls import save_checked, update_part_checked
from partita.server.responses import Reply
from partita.store.ids import new_id
from partita.store.messages.prepared import prepare
from partita.store.messages.queries import PartTime
from partita.store.threads.branches import OutlineRow
from partita.store.threads.opened_thread import open_thread
from partita.store.values import BlobMode, Page, UsageTotals
from partita.stream.state import RULES, Version
from partita.types.codec import Codec, encode
from partita.types.json import Json, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    Part,
    SystemMessage,
    SystemPart,
    ToolMessage,
    ToolPart,
    UserMessage,
    UserPart,
)
from partita.types.threads import Thread
from partita.types.tool_views import PartView
from partita.types.value import Value
from partita.views.messages import part_views

from .convert import ConversionLoss, losses_of
from .message_choice import MAX_IDS, Blobs, Choice
from .threads import THREADS, thread_of

TAGS: Final = ["messages"]
CANONICAL: Final = "canonical"

CHAT_FORMATS: Final[Mapping[str, Version]] = {f"ai-sdk-ui-v{version}": version for version in RULES}
"""The formats of UI messages whose clients read streams of this server."""

PARTS: Final[Mapping[type[Message], Codec[Any]]] = {
    SystemMessage: Codec(SystemPart),
    UserMessage: Codec(UserPart),
    AssistantMessage: Codec(AssistantPart),
    ToolMessage: Codec(ToolPart),
}
"""The parts that a message of each role can have."""

FormatName: TypeAlias = Annotated[
    str, Query(name="format", description="The name or an alias of a format, such as `ai-sdk-ui-v7`.")
]

QUESTION: Final = [{"id": "m1", "role": "user", "content": "How tall is the lighthouse?"}]


class MessagePage(Value):
    """Messages of a thread, in a format."""

    items: Annotated[
        Any,
        Meta(description="The messages: a list, or the payload of the format, such as an object or a text."),
    ]
    next: Annotated[str | None, Meta(description="The cursor of the next page; the last page has none.")] = (
        None
    )
    losses: Annotated[
        tuple[ConversionLoss, ...], Meta(description="What the format could not carry over.")
    ] = ()
    timings: Annotated[
        Mapping[str, Sequence[PartTime]] | None,
        Meta(description="By message: the paths of parts, and the times when they started and ended."),
    ] = None
    views: Annotated[
        Mapping[str, Mapping[str, PartView]] | None,
        Meta(description="By message: the views of its tool calls and notices, by JSON Pointer."),
    ] = None


class MessageIds(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Messages by their ids."""

    ids: Annotated[list[str], Meta(description="Ids of messages.", examples=[["m1", "m2"]])]


class Deleted(msgspec.Struct, rename="camel"):
    """The result of deleting messages."""

    deleted: Annotated[int, Meta(description="The number of deleted messages.")]


def no_message(thread_id: str, message_id: str, threads: str = THREADS) -> NotFoundError:
    """The error for a message that does not exist. `threads` is the path of the list of threads."""
    return NotFoundError(
        f"no message {message_id!r} in thread {thread_id!r}",
        hint=f"GET {threads}/ID/messages lists the messages",
    )


@get("/api/threads/{thread_id}/messages", tags=TAGS, summary="List the messages of a thread")
async def list_messages(
    caller: ActingCaller,
    request: Request,
    thread_id: str,
    choice: Choice,
    *,
    format_name: FormatName = CANONICAL,
    timings: Annotated[bool, Query(description="Include the times when parts started and ended.")] = False,
    views: Annotated[bool, Query(description="Include the views of tool calls and notices.")] = False,
) -> Reply[MessagePage]:
    """A page of messages, by their numbers.

    In formats other than `canonical`, the items of a page are in the order of the conversation, also with
    `order=desc`. `?format=ai-sdk-ui-v7&bare=true` returns the value for `useChat({messages})`: the messages
    that a client has at the end of each stream, so the messages of one run are one message.
    """
    if choice.filter.internal is not False:
        require(caller.principal, "logs", "read internal messages", where="query internal")
    format_ = get_format(format_name)
    version = None if choice.filter.internal else CHAT_FORMATS.get(format_.name)
    if version is None:
        page = _visible(caller, await choice.read(caller.store, thread_id))
        result = _written(page, format_, is_reversed=choice.is_reversed)
    else:
        page = _visible(caller, await choice.read_whole_runs(caller.store, thread_id))
        items = with_file_urls(caller, page.items) if choice.blobs is None else page.items
        dumped = dump_chat(items[::-1] if choice.is_reversed else items, version)
        result = MessagePage(items=dumped.payload, next=page.next, losses=losses_of(dumped.losses))
    if timings:
        result = replace(result, timings=await _timings(caller, thread_id, page.items))
    if views:
        thread = await caller.store.threads.get(thread_id)
        result = replace(result, views=_views(page.items, thread))
    return _bare(request, result) if choice.bare else Reply(result)


async def _timings(
    caller: CallerView, thread_id: str, messages: Sequence[Message]
) -> Mapping[str, Sequence[PartTime]]:
    return await caller.store.messages.part_times(thread_id, [message.id for message in messages])


def _views(messages: Sequence[Message], thread: Thread | None) -> Mapping[str, Mapping[str, PartView]]:
    directory = None if thread is None else thread.project
    found = {message.id: part_views(message, directory) for message in messages}
    return {key: calls for key, calls in found.items() if calls}


def _visible(caller: CallerView, page: Page[Message]) -> Page[Message]:
    """A page without internal messages, unless the caller may read them: `ids` and `around` can name any."""
    if caller.principal.may("logs"):
        return page
    return Page(tuple(message for message in page.items if not message.internal), page.next)


def _written(page: Page[Message], format_: Format, *, is_reversed: bool) -> MessagePage:
    """A page in a format."""
    dump = get_dump(format_.name, where="query format")
    if format_.name == CANONICAL:
        return MessagePage(items=page.items, next=page.next)
    dumped = dump(page.items[::-1] if is_reversed else page.items)
    return MessagePage(items=dumped.payload, next=page.next, losses=losses_of(dumped.losses))


def _bare(request: Request, page: MessagePage) -> Reply[Any]:
    """The items alone, with a header `Link` to the next page."""
    if page.next is None:
        return Reply(page.items)
    parameters = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    query = urlencode([*parameters, ("cursor", page.next)], errors="replace")
    return Reply(page.items, headers={"link": f'<?{query}>; rel="next"'})


@endpoint(
    ["POST", "PUT"],
    "/api/threads/{thread_id}/messages",
    tags=TAGS,
    summary="Save messages",
)
async def save_messages(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[Any, Body(description="A message, or a list of messages.", examples=[QUESTION])],
    format_name: FormatName = CANONICAL,
) -> MessagePage:
    """Saves all messages or none.

    A message whose id exists in the thread is changed in its place. A new message is added at the end of the
    active branch, or after its `parentId`. A message without an id gets a new one each time.

    A call without an output must be the same as in the store, because only an agent leaves calls open. The
    role `admin` may save any call.

    UI messages of the AI SDK that join several messages of a run, or leave out messages of sub-agents, are
    accepted if they are unchanged, and refused otherwise.
    """
    await thread_of(caller, thread_id)
    loaded = _read(data, format_name)
    messages = [
        await with_references(caller, message, f"$[{index}]") for index, message in enumerate(loaded.messages)
    ]
    new, unchanged = await _without_joined(caller, thread_id, messages, data, format_name)
    if caller.principal.may("admin"):
        saved = await caller.store.messages.save(new, thread_id=thread_id)
    else:
        prepared = [prepare(message, thread_id) for message in new]
        saved = await caller.store.write(save_checked, prepared)
    return MessagePage(items=(*unchanged, *saved), losses=losses_of(loaded.losses))


async def _without_joined(
    caller: CallerView, thread_id: str, loaded: Sequence[Message], payload: Json, format_name: str
) -> tuple[Sequence[Message], Sequence[Message]]:
    """The messages to save, and the stored messages that a client repeats in a joined form."""
    version = CHAT_FORMATS.get(get_format(format_name).name)
    if version is None or not any(isinstance(message, AssistantMessage) for message in loaded):
        return loaded, ()
    stored = (await caller.store.messages.list(thread_id, limit=None)).items
    groups = {group[0].id: group for group in group_runs(stored)}
    new: list[Message] = []
    unchanged: list[Message] = []
    for message, raw in zip(loaded, payload if is_array(payload) else [payload], strict=True):
        rows = groups.get(message.id, [])
        if join_chat(rows, version) == rows:
            new.append(message)
        elif dump_chat(rows, version).payload != [raw]:
            raise ConflictError(
                f"message {message.id!r} joins several messages of a run, or messages of sub-agents",
                where=f"query format={format_name}",
                hint="change the stored messages in the format canonical",
            )
        else:
            unchanged.extend(rows)
    return new, unchanged


def _read(payload: Json, format_name: str) -> Loaded:
    """The messages of a payload. Those without an id get a new one: a generated id may exist already."""
    format_ = get_format(format_name)
    if format_.load is None:
        raise FormatError(
            f"{format_.name} is a stream, not a list of messages", where="query format", hint="fold it first"
        )
    loaded = format_.load(payload)
    raws = payload if is_array(payload) else [payload]
    ids = {str(raw.get("id")) for raw in raws if is_object(raw)}
    messages = [
        replace(message, id=new_id())
        if GENERATED_ID.fullmatch(message.id) and message.id not in ids
        else message
        for message in loaded.messages
    ]
    return Loaded(tuple(messages), loaded.losses)


@post(
    "/api/threads/{thread_id}/messages/delete",
    tags=TAGS,
    summary="Delete several messages",
)
async def delete_messages(
    caller: ActingCaller,
    thread_id: str,
    data: Annotated[MessageIds, Body(examples=[{"ids": ["m1"]}])],
) -> Deleted:
    """Their children become children of their parents. Messages that do not exist are not counted."""
    return Deleted(await caller.store.messages.delete(thread_id, data.ids))


@get("/api/threads/{thread_id}/messages/{message_id}", tags=TAGS, summary="Get a message")
async def get_message(
    caller: ActingCaller, thread_id: str, message_id: str, blobs: Blobs = "inline"
) -> Message:
    """A message in the format `canonical`."""
    message = await _message_of(caller, thread_id, message_id, blobs)
    if message.internal and not caller.principal.may("logs"):
        raise no_message(thread_id, message_id)
    return message


async def _message_of(caller: CallerView, thread_id: str, message_id: str, blobs: BlobMode) -> Message:
    message = await caller.store.messages.get(thread_id, message_id, blobs=blobs)
    if message is None:
        raise no_message(thread_id, message_id)
    return message


@delete("/api/threads/{thread_id}/messages/{message_id}", tags=TAGS, summary="Delete a message")
async def delete_message(caller: ActingCaller, thread_id: str, message_id: str) -> None:
    """Its children become children of its parent."""
    if not await caller.store.messages.delete(thread_id, [message_id]):
        raise no_message(thread_id, message_id)


@put(
    "/api/threads/{thread_id}/messages/{message_id}/parts/{index}",
    tags=TAGS,
    summary="Replace a part of a message",
)
async def replace_part(
    caller: ActingCaller,
    thread_id: str,
    message_id: str,
    index: int,
    data: Annotated[
        Any,
        Body(
            description="A part that a message of this role can have.",
            examples=[{"type": "text", "text": "41 m"}],
        ),
    ],
) -> Message:
    """Replaces the part with this index, from 0, and returns the message.

    The rule for calls without an output is that of saving messages.
    """
    message = await _message_of(caller, thread_id, message_id, "reference")
    part: Part = PARTS[type(message)].read(data)
    if caller.principal.may("admin"):
        return await caller.store.messages.update_part(thread_id, message_id, index, part)
    return await caller.store.write(update_part_checked, thread_id, message_id, index, part)


# The outline of a thread


class ThreadOutline(msgspec.Struct, rename="camel"):
    """A short row for each message of a branch, oldest first."""

    items: Sequence[OutlineRow]
    """Of each message: its id, number (`seq`), role, type, time, size in bytes and version; whether it is
    internal, has reasoning, has errors; how many calls of each kind it has, and how many failed; the indexes
    where its texts start and end (its other parts are calls and reasoning; an `end` of null: the last part);
    how many calls are before and between these indexes; the time when its last call ended; its tokens and
    cost."""
    siblings: Mapping[str, Sequence[str]]
    """Of each message with alternatives on other branches: the ids of all alternatives, in order."""
    total: int
    """The number of messages that are not internal."""
    running: bool
    """Whether an agent is at work in the thread."""
    opens_at_end: bool
    """Whether the newest messages are of interest first: the thread can be continued, or is running."""
    models: Sequence[str]
    """The models of the responses, the most used first."""
    usage: UsageTotals
    """The usage of all responses of the thread."""
    page: MessagePage | None
    """The messages to display first, with their timings and views, if `messages` is above 0."""
    complete: bool
    """Whether `items` has all messages of the branch."""


@get("/api/threads/{thread_id}/outline", tags=TAGS, summary="Get the outline of a thread")
async def get_outline(
    caller: ActingCaller,
    thread_id: str,
    branch: Annotated[
        str | None, Query(description="A message on the branch. Default: the active branch.")
    ] = None,
    internal: Annotated[bool, Query(description="Include internal messages, which agents exchange.")] = False,
    messages: Annotated[
        int,
        Query(
            ge=0,
            le=MAX_IDS,
            description="How many messages to include in `page`, fewer if they are large. "
            "Where the active branch opens, `items` then has only so many, too.",
        ),
    ] = 0,
    around: Annotated[
        str | None,
        Query(
            description="A message in the middle of `page`. Default: its start or, with `opensAtEnd`, end."
        ),
    ] = None,
) -> ThreadOutline:
    """A short row for each message of a branch: enough to display a long list and load what is visible.

    To open a long thread fast, request it with `messages` first, and without if it is not `complete`.
    """
    options = {"through": branch, "internal": internal, "count": messages, "around": around}
    found = await caller.store.read(open_thread, thread_id, **options)
    rows = found.outline.rows
    page: Any = None
    if messages:
        items = _visible(caller, Page(found.messages)).items
        # Encoded apart from the rows: unknown members take a slower way.
        page = msgspec.Raw(
            encode(MessagePage(items=items, timings=found.times, views=_views(items, found.thread)))
        )
    return ThreadOutline(
        items=rows,
        siblings=found.outline.siblings,
        total=found.outline.total,
        running=found.outline.running,
        opens_at_end=found.at_end,
        models=found.outline.models,
        usage=found.usage,
        page=page,
        complete=found.complete,
    )
