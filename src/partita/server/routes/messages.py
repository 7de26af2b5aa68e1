"""Messages of a thread: read and written, in our own shape or in any format there is."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, TypeAlias
from urllib.parse import urlencode

import msgspec
from litestar import Request, delete, get, post, put, route
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath, QueryParameter
from litestar.types import ControllerRouterHandler
from msgspec import Meta
from msgspec.structs import replace

from partita.errors import ConflictError, FormatError
from partita.formats.ai_sdk.ui.chat import dump_chat, group_runs, join_chat
from partita.formats.format import Format, Loaded
from partita.formats.losses import Loss
from partita.formats.registry import get_format
from partita.server.files import with_addresses, with_references
from partita.server.hub import Caller, CallerView
from partita.server.open_calls import save_checked, update_part_checked
from partita.server.replies import Reply
from partita.server.roles import require
from partita.store.ids import new_id
from partita.store.part_times import PartTime, part_times
from partita.store.prepared import prepare
from partita.store.values import BlobMode, Page
from partita.stream.rules import RULES, Version
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
from partita.types.value import Value

from .convert import LostValue, lost
from .message_choice import CHOSEN, Blobs, Choice
from .missing import no_message
from .parameters import routes_for_callers
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
    str, QueryParameter(name="format", description="The name or alias of a format, such as `ai-sdk-ui-v7`.")
]

QUESTION: Final = Example(
    summary="A question", value=[{"id": "m1", "role": "user", "content": "How tall is the lighthouse?"}]
)


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


class MessageIds(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Which messages."""

    ids: Annotated[list[str], Meta(description="Their ids.", examples=[["m1", "m2"]])]


class Deleted(msgspec.Struct, rename="camel"):
    """What was deleted."""

    deleted: Annotated[int, Meta(description="How many there were.")]


@get("/api/threads/{thread_id:str}/messages", tags=TAGS, summary="Messages of a thread", dependencies=CHOSEN)
async def list_messages(
    caller: Caller,
    request: Request[Any, Any, Any],
    thread_id: FromPath[str],
    choice: Choice,
    *,
    format_name: FormatName = CANONICAL,
    timings: Annotated[bool, QueryParameter(description="Also when parts began and ended.")] = False,
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
        items = with_addresses(caller, page.items) if choice.blobs is None else page.items
        dumped = dump_chat(items[::-1] if choice.backwards else items, version)
        answer = MessagePage(items=dumped.payload, next=page.next, losses=_lost(dumped.losses))
    if timings:
        times = await caller.store.read(part_times, thread_id, [message.id for message in page.items])
        answer = replace(answer, timings=times)
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


def _bare(request: Request[Any, Any, Any], page: MessagePage) -> Reply[Any]:
    """The items alone; that there are more is said beside them."""
    if page.next is None:
        return Reply(page.items)
    asked = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    query = urlencode([*asked, ("cursor", page.next)], errors="replace")
    return Reply(page.items, headers={"link": f'<?{query}>; rel="next"'})


@route(
    "/api/threads/{thread_id:str}/messages",
    http_method=["POST", "PUT"],
    status_code=200,
    tags=TAGS,
    summary="Save messages",
)
async def save_messages(
    caller: Caller,
    thread_id: FromPath[str],
    data: Annotated[Any, Body(description="A message, or a list of messages.", examples=[QUESTION])],
    format_name: FormatName = CANONICAL,
) -> Reply[MessagePage]:
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
        saved = await caller.store.save_messages(new, thread_id=thread_id)
    else:
        prepared = [prepare(message, thread_id) for message in new]
        saved = await caller.store.write(save_checked, prepared)
    return Reply(MessagePage(items=(*kept, *saved), losses=_lost(loaded.losses)))


async def _without_joined(
    caller: CallerView, thread_id: str, loaded: Sequence[Message], payload: Json, format_name: str
) -> tuple[Sequence[Message], Sequence[Message]]:
    """The messages to save, and the stored ones that a client only repeats in a joined form."""
    version = CHAT_FORMATS.get(get_format(format_name).name)
    if version is None or not any(isinstance(message, AssistantMessage) for message in loaded):
        return loaded, ()
    stored = (await caller.store.list_messages(thread_id, limit=None)).items
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
    "/api/threads/{thread_id:str}/messages/delete",
    status_code=200,
    tags=TAGS,
    summary="Delete several messages",
)
async def delete_messages(
    caller: Caller,
    thread_id: FromPath[str],
    data: Annotated[MessageIds, Body(examples=[Example(value={"ids": ["m1"]})])],
) -> Reply[Deleted]:
    """What followed them follows what they followed. Those that are not there are not counted."""
    return Reply(Deleted(await caller.store.delete_messages(thread_id, data.ids)))


@get("/api/threads/{thread_id:str}/messages/{message_id:str}", tags=TAGS, summary="A message")
async def get_message(
    caller: Caller, thread_id: FromPath[str], message_id: FromPath[str], blobs: Blobs = "inline"
) -> Reply[Message]:
    """One message, in our own shape."""
    message = await _message_of(caller, thread_id, message_id, blobs)
    if message.internal and not caller.principal.may("logs"):
        raise no_message(thread_id, message_id)
    return Reply(message)


async def _message_of(caller: CallerView, thread_id: str, message_id: str, blobs: BlobMode) -> Message:
    message = await caller.store.get_message(thread_id, message_id, blobs=blobs)
    if message is None:
        raise no_message(thread_id, message_id)
    return message


@delete("/api/threads/{thread_id:str}/messages/{message_id:str}", tags=TAGS, summary="Delete a message")
async def delete_message(caller: Caller, thread_id: FromPath[str], message_id: FromPath[str]) -> None:
    """What followed it follows what it followed."""
    if not await caller.store.delete_messages(thread_id, [message_id]):
        raise no_message(thread_id, message_id)


@put(
    "/api/threads/{thread_id:str}/messages/{message_id:str}/parts/{index:int}",
    tags=TAGS,
    summary="Replace a part of a message",
)
async def replace_part(
    caller: Caller,
    thread_id: FromPath[str],
    message_id: FromPath[str],
    index: FromPath[int],
    data: Annotated[
        Any,
        Body(
            description="A part that the role may have.",
            examples=[Example(value={"type": "text", "text": "41 m"})],
        ),
    ],
) -> Reply[Message]:
    """Puts another part in the place of one, counted from 0, and gives the message.

    For calls without an output the same holds as where messages are saved.
    """
    message = await _message_of(caller, thread_id, message_id, "reference")
    part: Part = PARTS[type(message)].read(data)
    if caller.principal.may("admin"):
        return Reply(await caller.store.update_part(thread_id, message_id, index, part))
    return Reply(await caller.store.write(update_part_checked, thread_id, message_id, index, part))


MESSAGES: Final[list[ControllerRouterHandler]] = [
    routes_for_callers(
        list_messages,
        save_messages,
        delete_messages,
        get_message,
        delete_message,
        replace_part,
    )
]
