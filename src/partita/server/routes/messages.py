"""Messages of a thread: read and written, in our own shape or in any format there is."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, TypeAlias
from urllib.parse import urlencode

import msgspec
from msgspec import Meta
from msgspec.structs import replace
from starlette.requests import Request

from partita.errors import ConflictError, FormatError, NotFoundError
from partita.formats.ai_sdk.ui.chat import dump_chat, group_runs, join_chat
from partita.formats.format import Format, Loaded
from partita.formats.losses import Loss
from partita.formats.registry import get_format
from partita.server.callers import ActingCaller, CallerView, require
from partita.server.endpoints import Body, Query, delete, endpoint, get, post, put
from partita.server.file_urls import with_file_urls, with_references
from partita.server.open_calls import save_checked, update_part_checked
from partita.server.responses import Reply
from partita.store.ids import new_id
from partita.store.messages.prepared import prepare
from partita.store.messages.queries import PartTime
from partita.store.threads.branches import OutlineRow
from partita.store.values import BlobMode, Page, UsageTotals
from partita.stream.state import RULES, Version
from partita.types.codec import Codec
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
from partita.types.tool_views import ToolView
from partita.types.value import Value
from partita.views.messages import tool_views

from .convert import LostValue, lost
from .message_choice import Blobs, Choice
from .threads import thread_of

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
"""What may stand in a message of each role."""

UNNAMED: Final = re.compile(r"message-[0-9]+")
"""The ids that formats give to messages that came without one: the same in every payload."""

FormatName: TypeAlias = Annotated[
    str, Query(name="format", description="The name or alias of a format, such as `ai-sdk-ui-v7`.")
]

QUESTION: Final = [{"id": "m1", "role": "user", "content": "How tall is the lighthouse?"}]


class MessagePage(Value):
    """Messages of a thread, as they are or as a format writes them."""

    items: Annotated[
        Any,
        Meta(description="The messages: a list, or what a format makes of them, such as a body or a text."),
    ]
    next: Annotated[
        str | None, Meta(description="The cursor of the page after this; without one it was the last.")
    ] = None
    losses: Annotated[
        tuple[LostValue, ...], Meta(description="What the format could not carry, one by one.")
    ] = ()
    timings: Annotated[
        Mapping[str, Sequence[PartTime]] | None,
        Meta(description="By message: the paths of parts, and when each began and ended, where it is known."),
    ] = None
    views: Annotated[
        Mapping[str, Mapping[str, ToolView]] | None,
        Meta(description="By message: what its tool calls are, by their JSON Pointers into the message."),
    ] = None


class MessageIds(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Which messages."""

    ids: Annotated[list[str], Meta(description="Their ids.", examples=[["m1", "m2"]])]


class Deleted(msgspec.Struct, rename="camel"):
    """What was deleted."""

    deleted: Annotated[int, Meta(description="How many there were.")]


def no_message(thread_id: str, message_id: str) -> NotFoundError:
    """There is no such message in a thread."""
    return NotFoundError(
        f"no message {message_id!r} in thread {thread_id!r}", hint="GET /api/threads/ID/messages lists them"
    )


@get("/api/threads/{thread_id}/messages", tags=TAGS, summary="Messages of a thread")
async def list_messages(
    caller: ActingCaller,
    request: Request,
    thread_id: str,
    choice: Choice,
    *,
    format_name: FormatName = CANONICAL,
    timings: Annotated[bool, Query(description="Also when parts began and ended.")] = False,
    views: Annotated[bool, Query(description="Also what the tool calls of the messages are.")] = False,
) -> Reply[MessagePage]:
    """A page of messages, by their numbers.

    In another format than `canonical` the items are a conversation: oldest first, whichever end the pages are
    taken from. `?format=ai-sdk-ui-v7&bare=true` gives what `useChat({messages})` takes: what its client had
    at the end of each stream, so the messages of one run are one message.
    """
    if choice.wanted.internal is not False:
        require(caller.principal, "logs", "read internal messages", where="query internal")
    known = get_format(format_name)
    version = None if choice.wanted.internal else CHAT_FORMATS.get(known.name)
    if version is None:
        page = _visible(caller, await choice.read(caller.store, thread_id))
        answer = _written(page, known, backwards=choice.backwards)
    else:
        page = _visible(caller, await choice.read_whole_runs(caller.store, thread_id))
        items = with_file_urls(caller, page.items) if choice.blobs is None else page.items
        dumped = dump_chat(items[::-1] if choice.backwards else items, version)
        answer = MessagePage(items=dumped.payload, next=page.next, losses=_lost(dumped.losses))
    if timings:
        times = await caller.store.messages.part_times(thread_id, [message.id for message in page.items])
        answer = replace(answer, timings=times)
    if views:
        thread = await caller.store.threads.get(thread_id)
        directory = thread.project if thread is not None else None
        found = {message.id: tool_views(message, directory) for message in page.items}
        answer = replace(answer, views={key: calls for key, calls in found.items() if calls})
    return _bare(request, answer) if choice.bare else Reply(answer)


def _visible(caller: CallerView, page: Page[Message]) -> Page[Message]:
    """A page without internal messages, unless the caller may read them: by its id, any can be asked for."""
    if caller.principal.may("logs"):
        return page
    return Page(tuple(message for message in page.items if not message.internal), page.next)


def _written(page: Page[Message], known: Format, *, backwards: bool) -> MessagePage:
    """A page in a format."""
    if known.dump is None:
        raise FormatError(
            f"{known.name} can be read but not written", where="query format", hint="choose another format"
        )
    if known.name == CANONICAL:
        return MessagePage(items=page.items, next=page.next)
    dumped = known.dump(page.items[::-1] if backwards else page.items)
    return MessagePage(items=dumped.payload, next=page.next, losses=_lost(dumped.losses))


def _lost(losses: Sequence[Loss]) -> tuple[LostValue, ...]:
    return tuple(map(lost, losses))


def _bare(request: Request, page: MessagePage) -> Reply[Any]:
    """The items alone; that there are more is said beside them."""
    if page.next is None:
        return Reply(page.items)
    asked = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    query = urlencode([*asked, ("cursor", page.next)], errors="replace")
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
    """All or none.

    A message whose id is known in the thread is changed in its place, a new one goes to the end of the active
    branch, or under its `parentId`. What has no id in its format gets a new one every time.

    A call that has no output yet must stand so in the store: only an agent leaves calls open. Who has the
    role `admin` may bring such calls along.

    UI messages of the AI SDK that join several messages of a run, or leave out messages of sub-agents, are
    accepted as they were given, and change nothing; changed ones are refused.
    """
    await thread_of(caller, thread_id)
    loaded = _read(data, format_name)
    messages = [
        await with_references(caller, message, f"$[{place}]") for place, message in enumerate(loaded.messages)
    ]
    new, kept = await _without_joined(caller, thread_id, messages, data, format_name)
    if caller.principal.may("admin"):
        saved = await caller.store.messages.save(new, thread_id=thread_id)
    else:
        prepared = [prepare(message, thread_id) for message in new]
        saved = await caller.store.write(save_checked, prepared)
    return MessagePage(items=(*kept, *saved), losses=_lost(loaded.losses))


async def _without_joined(
    caller: CallerView, thread_id: str, loaded: Sequence[Message], payload: Json, format_name: str
) -> tuple[Sequence[Message], Sequence[Message]]:
    """The messages to save, and the stored ones that a client only repeats in a joined form."""
    version = CHAT_FORMATS.get(get_format(format_name).name)
    if version is None or not any(isinstance(message, AssistantMessage) for message in loaded):
        return loaded, ()
    stored = (await caller.store.messages.list(thread_id, limit=None)).items
    groups = {group[0].id: group for group in group_runs(stored)}
    new: list[Message] = []
    kept: list[Message] = []
    for message, raw in zip(loaded, payload if is_array(payload) else [payload], strict=True):
        rows = groups.get(message.id, [])
        if join_chat(rows, version) == rows:
            new.append(message)
        elif dump_chat(rows, version).payload != [raw]:
            raise ConflictError(
                f"message {message.id!r} stands for several messages of a run, or for sub-agents",
                where=f"query format={format_name}",
                hint="change the stored messages in the format canonical",
            )
        else:
            kept.extend(rows)
    return new, kept


def _read(payload: Json, format_name: str) -> Loaded:
    known = get_format(format_name)
    if known.load is None:
        raise FormatError(
            f"{known.name} is a stream, not a list of messages", where="query format", hint="fold it first"
        )
    loaded = known.load(payload)
    raws = payload if is_array(payload) else [payload]
    named = {str(raw.get("id")) for raw in raws if is_object(raw)}
    return Loaded(tuple(_named(message, named) for message in loaded.messages), loaded.losses)


def _named(message: Message, named: set[str]) -> Message:
    """The message with an id of its own: it must not take the place of another that had none either."""
    unnamed = UNNAMED.fullmatch(message.id) and message.id not in named
    return replace(message, id=new_id()) if unnamed else message


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
    """What followed them follows what they followed. Those that are not there are not counted."""
    return Deleted(await caller.store.messages.delete(thread_id, data.ids))


@get("/api/threads/{thread_id}/messages/{message_id}", tags=TAGS, summary="A message")
async def get_message(
    caller: ActingCaller, thread_id: str, message_id: str, blobs: Blobs = "inline"
) -> Message:
    """One message, in our own shape."""
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
    """What followed it follows what it followed."""
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
            description="A part that the role may have.",
            examples=[{"type": "text", "text": "41 m"}],
        ),
    ],
) -> Message:
    """Puts another part in the place of one, counted from 0, and gives the message.

    For calls without an output the same holds as where messages are saved.
    """
    message = await _message_of(caller, thread_id, message_id, "reference")
    part: Part = PARTS[type(message)].read(data)
    if caller.principal.may("admin"):
        return await caller.store.messages.update_part(thread_id, message_id, index, part)
    return await caller.store.write(update_part_checked, thread_id, message_id, index, part)


# The outline of a thread


class ThreadOutline(msgspec.Struct, rename="camel"):
    """All messages of a branch in a few words, oldest first."""

    items: Sequence[OutlineRow]
    """Of each: id, number (`seq`), role, type, time, how many bytes it takes, and its version."""
    siblings: Mapping[str, Sequence[str]]
    """Of a message with others in its place on other branches: the ids of all of them, in order."""
    total: int
    """How many there are."""
    models: Sequence[str]
    """The models that answered, the busiest first."""
    usage: UsageTotals
    """What all responses of the thread consumed."""


@get("/api/threads/{thread_id}/outline", tags=TAGS, summary="The outline of a thread")
async def get_outline(
    caller: ActingCaller,
    thread_id: str,
    branch: Annotated[
        str | None, Query(description="A message on the branch; without one, the active branch.")
    ] = None,
    internal: Annotated[bool, Query(description="Also what agents said among themselves.")] = False,
) -> ThreadOutline:
    """Every message of a branch as one short row, to draw a list of any length and to load what is seen."""
    found = await caller.store.threads.outline(thread_id, through=branch, internal=internal)
    usage = await caller.store.usage.of_thread(thread_id)
    return ThreadOutline(
        items=found.rows,
        siblings=found.siblings,
        total=len(found.rows),
        models=found.models,
        usage=usage,
    )
