"""Threads: listed, made, looked at, changed, copied, deleted."""

from dataclasses import replace
from typing import Annotated, Final

import msgspec
from litestar import delete, get, patch, post
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath, QueryParameter
from litestar.types import ControllerRouterHandler
from msgspec import UNSET, Meta, UnsetType

from partita.server.hub import Caller, CallerView
from partita.server.problems import Problem
from partita.server.replies import Listing, Reply, listing
from partita.server.roles import require
from partita.store import threads
from partita.store.display_titles import with_display_titles
from partita.store.transaction import Transaction
from partita.store.values import Page, UsageTotals
from partita.types.json import JsonObject
from partita.types.threads import Thread

from .missing import no_thread
from .parameters import Cursor, Direction, Limit, object_of, routes_for_callers
from .thread_choice import NARROWED, Wanted

TAGS: Final = ["threads"]


class NewThread(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """A thread to be made. Everything may be left out."""

    id: Annotated[
        str | None, Meta(description="Its id, if it shall not be a new one.", examples=["chat-1"])
    ] = None
    title: Annotated[str | None, Meta(examples=["Lighthouses"])] = None
    metadata: Annotated[JsonObject | None, Meta(description="Whatever you want to know of it later.")] = None
    agent: Annotated[str | None, Meta(description="Who answers in it.")] = None
    project: Annotated[str | None, Meta(description="What it belongs to.")] = None


class ThreadChange(
    msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True
):
    """What shall be different. What is left out stays."""

    title: Annotated[str | UnsetType | None, Meta(description="`null` takes the title away.")] = UNSET
    metadata: Annotated[
        JsonObject | UnsetType, Meta(description="Members to change; `null` removes one, others stay.")
    ] = UNSET


class Copy(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """What a copy is called."""

    id: Annotated[str | None, Meta(description="Its id, if it shall not be a new one.")] = None
    title: Annotated[str | None, Meta(description="Its title; without one it has that of the original.")] = (
        None
    )


class Fork(Copy, rename="camel", omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """Up to which message a copy goes."""

    message_id: Annotated[str, Meta(description="The last message of the new thread.", examples=["m2"])]


class BranchChoice(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """Which branch shall be shown."""

    message_id: Annotated[str, Meta(description="A message on it.", examples=["m2"])]


async def thread_of(caller: CallerView, thread_id: str) -> Thread:
    """The thread of that id, as far as the caller may see it."""
    thread = await caller.store.get_thread_by_id(thread_id)
    if thread is None:
        raise no_thread(thread_id)
    return thread


def usable_id(thread_id: str | None) -> str | None:
    """An id for a new thread, which must fit into an address."""
    if thread_id is not None and ("/" in thread_id or thread_id in (".", "..")):
        raise Problem(
            400,
            f"{thread_id!r} cannot stand in an address",
            where="$.id",
            hint="choose an id without a slash",
        )
    return thread_id


@get("/api/threads", tags=TAGS, summary="Threads by what was said last", dependencies=NARROWED)
async def list_threads(
    caller: Caller,
    wanted: Wanted,
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    order: Annotated[
        Direction, QueryParameter(description="`desc`: where something was said last comes first.")
    ] = "desc",
    metadata: Annotated[
        str | None,
        QueryParameter(description='Members of the metadata, as a JSON object: `{"topic":"lights"}`.'),
    ] = None,
) -> Reply[Listing[Thread]]:
    """Every condition must hold. `since` and `until` are about when something was said last. A thread without
    a title is shown under the first words of its first question.
    """
    members = tuple((object_of(metadata, "metadata") or {}).items())
    narrowed = replace(wanted, metadata=members)
    page = await caller.store.read(threads.list_page, narrowed, limit=limit, cursor=cursor, order=order)
    shown = await caller.store.read(with_display_titles, page.items)
    return Reply(listing(Page(tuple(shown), page.next)))


@post("/api/threads", tags=TAGS, summary="Make a thread")
async def create_thread(
    caller: Caller,
    data: Annotated[
        NewThread, Body(examples=[Example(value={"title": "Lighthouses", "metadata": {"topic": "lights"}})])
    ],
) -> Reply[Thread]:
    """An id that is taken is refused with 409. The role `chat` may not set metadata and project."""
    if data.metadata is not None or data.project is not None:
        require(caller.principal, "write", "set the metadata and the project of a thread", where="$.metadata")
    thread = await caller.store.create_thread(
        usable_id(data.id), title=data.title, metadata=data.metadata, agent=data.agent, project=data.project
    )
    return Reply(thread)


@get("/api/threads/{thread_id:str}", tags=TAGS, summary="A thread")
async def get_thread(caller: Caller, thread_id: FromPath[str]) -> Reply[Thread]:
    """What a thread says of itself; its messages are apart."""
    (thread,) = await caller.store.read(with_display_titles, [await thread_of(caller, thread_id)])
    return Reply(thread)


@patch("/api/threads/{thread_id:str}", tags=TAGS, summary="Change a thread")
async def change_thread(
    caller: Caller,
    thread_id: FromPath[str],
    data: Annotated[
        ThreadChange, Body(examples=[Example(value={"title": "Lamps", "metadata": {"topic": None}})])
    ],
) -> Reply[Thread]:
    """Another title, other members of the metadata: both or neither. The role `chat` may set the title."""
    if data.metadata is not UNSET:
        require(caller.principal, "write", "set the metadata of a thread", where="$.metadata")
    return Reply(await caller.store.write(_changed, thread_id, data))


def _changed(tx: Transaction, thread_id: str, change: ThreadChange) -> Thread:
    thread = threads.from_row(threads.find(tx, thread_id, lock=True))
    if change.title is not UNSET:
        thread = threads.set_title(tx, thread_id, change.title)
    if change.metadata is not UNSET:
        thread = threads.merge_metadata(tx, thread_id, change.metadata)
    return thread


@delete("/api/threads/{thread_id:str}", tags=TAGS, summary="Delete a thread")
async def delete_thread(caller: Caller, thread_id: FromPath[str]) -> None:
    """With its messages, its runs and their logs, and the blobs that nothing else refers to."""
    if not await caller.store.delete_thread(thread_id):
        raise no_thread(thread_id)
    caller.hub.feed.tell_deleted(caller.store.owner, thread_id)


@post("/api/threads/{thread_id:str}/clone", tags=TAGS, summary="Copy a thread")
async def clone_thread(
    caller: Caller,
    thread_id: FromPath[str],
    data: Annotated[Copy | None, Body(examples=[Example(value={"title": "Another try"})])] = None,
) -> Reply[Thread]:
    """With all its branches. The metadata of the copy says under `clone` where it is from."""
    wanted = data or Copy()
    copied = await caller.store.clone_thread(thread_id, new_id=usable_id(wanted.id), title=wanted.title)
    return Reply(copied)


@post("/api/threads/{thread_id:str}/fork", tags=TAGS, summary="Copy a thread up to a message")
async def fork_thread(
    caller: Caller,
    thread_id: FromPath[str],
    data: Annotated[Fork, Body(examples=[Example(value={"messageId": "m2"})])],
) -> Reply[Thread]:
    """A new thread with what leads to the message, and the message, to go on from there."""
    copied = await caller.store.fork_thread(
        thread_id, data.message_id, new_id=usable_id(data.id), title=data.title
    )
    return Reply(copied)


@post("/api/threads/{thread_id:str}/branch", status_code=200, tags=TAGS, summary="Show another branch")
async def switch_branch(
    caller: Caller,
    thread_id: FromPath[str],
    data: Annotated[BranchChoice, Body(examples=[Example(value={"messageId": "m2"})])],
) -> Reply[Thread]:
    """The branch through this message is the active one from now on; below it, the latest answers."""
    return Reply(await caller.store.switch_branch(thread_id, data.message_id))


@get("/api/threads/{thread_id:str}/usage", tags=TAGS, summary="What a thread consumed")
async def thread_usage(caller: Caller, thread_id: FromPath[str]) -> Reply[UsageTotals]:
    """Tokens and costs of all its responses, those that it shares with other threads included."""
    return Reply(await caller.store.usage_of_thread(thread_id))


THREADS: Final[list[ControllerRouterHandler]] = [
    routes_for_callers(
        list_threads,
        create_thread,
        get_thread,
        change_thread,
        delete_thread,
        clone_thread,
        fork_thread,
        switch_branch,
        thread_usage,
    )
]
