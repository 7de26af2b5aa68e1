"""What Mastra's memory is, what an agent is to remember of a thread, and the search in it."""

import asyncio
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from partita.errors import ConflictError, NotFoundError
from partita.server.callers import Caller, CallerView
from partita.server.dialects.mastra_messages import Success
from partita.server.endpoints import Body, Query, get, post
from partita.server.problems import Problem
from partita.store.messages.prepared import ROLES
from partita.store.sql.texts import storable
from partita.store.store import Store
from partita.store.values import MESSAGE_FIELDS, SearchFilter, SearchHit
from partita.types.json import JsonObject
from partita.types.messages import Message, text_of
from partita.types.times import javascript_date

from .mastra_query import whole_number
from .mastra_threads import TAGS, THREAD, ResourceId, open_thread

STATUS: Final = ["/api/memory/status", "/api/memory/network/status"]

WORKING_MEMORY: Final = "workingMemory"
"""The member of a thread's metadata that holds it; Mastra has it there too."""

FOUND: Final = 20
MOST_FOUND: Final = 500


class MemoryStatus(msgspec.Struct, rename="camel"):
    """Whether there is a memory."""

    result: Annotated[bool, Meta(description="Always: the store is the memory.")]
    memory_type: Annotated[str, Meta(description="Where it is.")]
    observational_memory: Annotated[dict[str, bool], Meta(description="There is none.")]


class MemoryConfig(msgspec.Struct):
    """How the memory behaves."""

    config: Annotated[dict[str, Any], Meta(description="In Mastra's words.")]


class WorkingMemory(msgspec.Struct, rename="camel", kw_only=True):
    """What an agent is to keep in mind in a thread."""

    working_memory: Annotated[Any, Meta(description="The text; `null` when there is none.")]
    source: Annotated[str, Meta(description="Whose it is: the thread's.")] = "thread"
    working_memory_template: Annotated[Any, Meta(description="There is none.")] = None
    thread_exists: Annotated[bool, Meta(description="Whether there is such a thread.")]


class WorkingMemoryBody(msgspec.Struct, rename="camel", kw_only=True):
    """What is to be kept in mind from now on."""

    working_memory: Annotated[str, Meta(description="The text.", examples=["# User\n- Name: Ada"])]
    resource_id: str | None = None


class Neighbour(msgspec.Struct, rename="camel", kw_only=True):
    """A message beside one that was found."""

    id: Annotated[str, Meta(description="Its id.")]
    role: Annotated[str, Meta(description="Who said it.")]
    content: Annotated[str, Meta(description="What it says.")]
    created_at: Annotated[str | None, Meta(description="When.")] = None


class Context(msgspec.Struct):
    """What was said around it."""

    before: Annotated[list[Neighbour], Meta(description="Before it.")]
    after: Annotated[list[Neighbour], Meta(description="After it.")]


class Result(Neighbour, kw_only=True):
    """A message that was found."""

    thread_id: Annotated[str, Meta(description="Where it is.")]
    thread_title: Annotated[str | None, Meta(description="What that thread is called.")] = None
    context: Annotated[Context, Meta(description="What was said around it.")]


class Results(msgspec.Struct, rename="camel", kw_only=True):
    """What a search found, the best first."""

    results: Annotated[list[Result], Meta(description="The messages.")]
    count: Annotated[int, Meta(description="How many.")]
    query: Annotated[str, Meta(description="What was searched.")]
    search_scope: Annotated[str, Meta(description="`thread` or `resource`.")]
    search_type: Annotated[str, Meta(description="By words.")] = "text"


@get(STATUS, tags=TAGS, summary="Whether there is a memory")
async def memory_status() -> MemoryStatus:
    """There is: the store."""
    return MemoryStatus(True, "local", {"enabled": False})


@get("/api/memory/config", tags=TAGS, summary="How the memory behaves")
async def memory_config() -> MemoryConfig:
    """Working memory is kept by thread; recall by meaning and observations there are none."""
    config: JsonObject = {
        "semanticRecall": False,
        "workingMemory": {"enabled": True, "scope": "thread"},
        "observationalMemory": {"enabled": False},
    }
    return MemoryConfig(config)


@get([f"{path}/working-memory" for path in THREAD], tags=TAGS, summary="The working memory of a thread")
async def get_working_memory(caller: Caller, thread_id: str, resource_id: ResourceId = None) -> WorkingMemory:
    """What was kept; of a thread that is not there, nothing."""
    try:
        thread = (await open_thread(caller, thread_id, resource_id)).thread
    except NotFoundError:
        return WorkingMemory(working_memory=None, thread_exists=False)
    kept = (thread.metadata or {}).get(WORKING_MEMORY)
    return WorkingMemory(working_memory=kept, thread_exists=True)


@post(
    [f"{path}/working-memory" for path in THREAD],
    tags=TAGS,
    summary="Replace the working memory of a thread",
)
async def set_working_memory(
    caller: Caller,
    thread_id: str,
    data: Annotated[WorkingMemoryBody, Body(examples=[{"workingMemory": "- Name: Ada"}])],
) -> Success:
    """It is kept in the metadata of the thread."""
    opened = await open_thread(caller, thread_id, data.resource_id)
    await opened.store.threads.update_metadata(thread_id, {WORKING_MEMORY: data.working_memory})
    return Success(True)


@get("/api/memory/search", tags=TAGS, summary="Search messages")
async def search_memory(
    caller: Caller,
    *,
    words: Annotated[str | None, Query(name="searchQuery", description="The words.")] = None,
    resource_id: ResourceId = None,
    thread_id: Annotated[str | None, Query(name="threadId", description="Only in this thread.")] = None,
    limit: Annotated[str | None, Query(description="How many at most; 20 unless said.")] = None,
) -> Results:
    """By words, not by meaning: all of them must be in a message. Each comes with its neighbours."""
    if not words or not words.strip():
        raise Problem(400, "no searchQuery", where="query searchQuery", hint="say what to search")
    if thread_id:
        store = (await open_thread(caller, thread_id, resource_id)).store
    else:
        store = caller.acting_for(storable(resource_id, "the resource id")).store
    most = FOUND if limit is None else min(whole_number(limit, "limit"), MOST_FOUND)
    hits = await _search(store, words, most, thread_id) if most else []
    results = await asyncio.gather(*(_result(caller, hit) for hit in hits))
    found = [result for result in results if result is not None]
    scope = "thread" if thread_id else "resource"
    return Results(results=found, count=len(found), query=words, search_scope=scope)


async def _search(store: Store, query: str, limit: int, thread_id: str | None) -> list[SearchHit]:
    in_messages = SearchFilter(thread_id=thread_id, fields=MESSAGE_FIELDS)
    return list(await store.search(query, in_messages, limit=limit))


async def _result(caller: CallerView, hit: SearchHit) -> Result | None:
    """A message that was found, with those beside it; `None` when it is gone by now."""
    store = caller.store if hit.resource_id is None else caller.store.scoped(hit.resource_id)
    assert hit.message_id is not None, "no titles were searched"
    try:
        near = await store.messages.around(
            hit.thread_id, hit.message_id, previous=1, following=1, blobs="reference"
        )
    except (NotFoundError, ConflictError):
        return None
    place = next(number for number, message in enumerate(near) if message.id == hit.message_id)
    neighbours = [_neighbour(message) for message in near]
    middle = neighbours[place]
    return Result(
        id=middle.id,
        role=middle.role,
        content=middle.content or hit.snippet,
        created_at=middle.created_at,
        thread_id=hit.thread_id,
        thread_title=hit.title,
        context=Context(neighbours[:place], neighbours[place + 1 :]),
    )


def _neighbour(message: Message) -> Neighbour:
    made = None if message.created_at is None else javascript_date(message.created_at)
    return Neighbour(id=message.id, role=ROLES[type(message)], content=text_of(message), created_at=made)
