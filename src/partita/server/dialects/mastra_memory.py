"""The memory for Mastra's clients: its status, working memory of threads, and search."""

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
from partita.store.values import MESSAGE_FIELDS, SearchFilter, SearchHit
from partita.types.json import JsonObject
from partita.types.messages import Message, text_of
from partita.types.times import javascript_date

from .mastra_query import whole_number
from .mastra_threads import TAGS, THREAD, ResourceId, find_thread

STATUS: Final = ["/api/memory/status", "/api/memory/network/status"]

WORKING_MEMORY: Final = "workingMemory"
"""The member of a thread's metadata with its working memory, as in Mastra."""

RESULTS: Final = 20
MAX_RESULTS: Final = 500


class MemoryStatus(msgspec.Struct, rename="camel"):
    """The status of the memory."""

    result: Annotated[bool, Meta(description="Always true: the store is the memory.")]
    memory_type: str
    observational_memory: Annotated[dict[str, bool], Meta(description="Not supported.")]


class MemoryConfig(msgspec.Struct):
    """The configuration of the memory."""

    config: Annotated[dict[str, Any], Meta(description="The options of Mastra's memory.")]


class WorkingMemory(msgspec.Struct, rename="camel", kw_only=True):
    """What an agent remembers in a thread."""

    working_memory: Annotated[Any, Meta(description="The text; `null` if there is none.")]
    source: Annotated[str, Meta(description="Always `thread`.")] = "thread"
    working_memory_template: Annotated[Any, Meta(description="Not supported.")] = None
    thread_exists: Annotated[bool, Meta(description="Whether the thread exists.")]


class WorkingMemoryBody(msgspec.Struct, rename="camel", kw_only=True):
    """The new working memory of a thread."""

    working_memory: Annotated[str, Meta(description="The text.", examples=["# User\n- Name: Ada"])]
    resource_id: str | None = None


class SearchedMessage(msgspec.Struct, rename="camel", kw_only=True):
    """A message."""

    id: Annotated[str, Meta(description="Its id.")]
    role: str
    content: Annotated[str, Meta(description="Its text.")]
    created_at: str | None = None


class SearchContext(msgspec.Struct):
    """The messages next to a result."""

    before: list[SearchedMessage]
    after: list[SearchedMessage]


class SearchResult(SearchedMessage, kw_only=True):
    """A message that matches a search."""

    thread_id: Annotated[str, Meta(description="Its thread.")]
    thread_title: str | None = None
    context: SearchContext


class SearchResults(msgspec.Struct, rename="camel", kw_only=True):
    """The results of a search, the best first."""

    results: list[SearchResult]
    count: Annotated[int, Meta(description="The number of results.")]
    query: Annotated[str, Meta(description="The searched words.")]
    search_scope: Annotated[str, Meta(description="`thread` or `resource`.")]
    search_type: Annotated[str, Meta(description="Always `text`: full-text search.")] = "text"


@get(STATUS, tags=TAGS, summary="Get the status of the memory")
async def memory_status() -> MemoryStatus:
    """There always is a memory: the store."""
    return MemoryStatus(True, "local", {"enabled": False})


@get("/api/memory/config", tags=TAGS, summary="Get the configuration of the memory")
async def memory_config() -> MemoryConfig:
    """Working memory belongs to threads. Semantic recall and observational memory are not supported."""
    config: JsonObject = {
        "semanticRecall": False,
        "workingMemory": {"enabled": True, "scope": "thread"},
        "observationalMemory": {"enabled": False},
    }
    return MemoryConfig(config)


@get([f"{path}/working-memory" for path in THREAD], tags=TAGS, summary="Get the working memory of a thread")
async def get_working_memory(caller: Caller, thread_id: str, resource_id: ResourceId = None) -> WorkingMemory:
    """The working memory; `null` if the thread does not exist."""
    try:
        thread = (await find_thread(caller, thread_id, resource_id)).thread
    except NotFoundError:
        return WorkingMemory(working_memory=None, thread_exists=False)
    return WorkingMemory(working_memory=(thread.metadata or {}).get(WORKING_MEMORY), thread_exists=True)


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
    """Stores the working memory in the metadata of the thread."""
    found = await find_thread(caller, thread_id, data.resource_id)
    await found.store.threads.update_metadata(thread_id, {WORKING_MEMORY: data.working_memory})
    return Success(True)


@get("/api/memory/search", tags=TAGS, summary="Search messages")
async def search_memory(
    caller: Caller,
    *,
    words: Annotated[str | None, Query(name="searchQuery", description="The words to search.")] = None,
    resource_id: ResourceId = None,
    thread_id: Annotated[str | None, Query(name="threadId", description="Only in this thread.")] = None,
    limit: Annotated[str | None, Query(description="The number of results at most. Default: 20.")] = None,
) -> SearchResults:
    """Messages with all words, not a semantic search. Each result has the messages next to it."""
    if not words or not words.strip():
        raise Problem(400, "no searchQuery", where="query searchQuery", hint="send the words to search")
    if thread_id:
        store = (await find_thread(caller, thread_id, resource_id)).store
    else:
        store = caller.acting_for(storable(resource_id, "the resource id")).store
    most = RESULTS if limit is None else min(whole_number(limit, "limit"), MAX_RESULTS)
    in_messages = SearchFilter(thread_id=thread_id, fields=MESSAGE_FIELDS)
    hits = (await store.search(words, in_messages, limit=most)).items if most else ()
    results = [
        one for one in await asyncio.gather(*(_result(caller, hit) for hit in hits)) if one is not None
    ]
    scope = "thread" if thread_id else "resource"
    return SearchResults(results=results, count=len(results), query=words, search_scope=scope)


async def _result(caller: CallerView, hit: SearchHit) -> SearchResult | None:
    """A result with the messages next to it; `None` if the message was deleted meanwhile."""
    store = caller.store if hit.resource_id is None else caller.store.scoped(hit.resource_id)
    assert hit.message_id is not None, "only messages are searched"
    try:
        near = await store.messages.around(
            hit.thread_id, hit.message_id, previous=1, following=1, blobs="reference"
        )
    except (NotFoundError, ConflictError):
        return None
    index = next(number for number, message in enumerate(near) if message.id == hit.message_id)
    messages = [_searched(message) for message in near]
    result = messages[index]
    return SearchResult(
        id=result.id,
        role=result.role,
        content=result.content or hit.snippet,
        created_at=result.created_at,
        thread_id=hit.thread_id,
        thread_title=hit.title,
        context=SearchContext(messages[:index], messages[index + 1 :]),
    )


def _searched(message: Message) -> SearchedMessage:
    time = None if message.created_at is None else javascript_date(message.created_at)
    return SearchedMessage(
        id=message.id, role=ROLES[type(message)], content=text_of(message), created_at=time
    )
