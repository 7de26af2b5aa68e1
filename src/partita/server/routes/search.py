"""Search messages and titles, and find parts across threads."""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final

from msgspec import Meta

from partita.server.callers import ActingCaller
from partita.server.endpoints import Query, get
from partita.server.responses import Listing, listing
from partita.store.values import SEARCH_FIELDS, PartFilter, SearchFilter, SearchHit, StoredPart, ThreadMatches

from .parameters import (
    MAX_ITEMS,
    REPEATABLE,
    ROLES,
    Agent,
    Cursor,
    Limit,
    Project,
    Roles,
    Since,
    Until,
    chosen,
    each_of,
    moment_of,
)
from .threads import Filter

TAGS: Final = ["search"]

CENTURY: Final = 100 * 366 * 86_400.0

ThreadId = Annotated[str | None, Query(name="thread", description="Only in this thread.")]


class SearchListing(Listing[SearchHit]):
    """A page of hits, with the totals of all pages."""

    threads: Annotated[int, Meta(description="The number of threads with a hit.")] = 0
    matches: Annotated[int, Meta(description="The number of messages that match.")] = 0
    complete: Annotated[
        bool, Meta(description="Otherwise older messages match, too, and the totals are too low.")
    ] = True


@get("/api/search", tags=TAGS, summary="Search messages and titles")
async def search(
    caller: ActingCaller,
    *,
    q: Annotated[
        str,
        Query(
            description='Words, `"a phrase"`, `-without`, `this OR that`, `prefix*`, and qualifiers: '
            "`tool:Bash`, `file:app.py`, `project:app`, `agent:codex`, `role:user`, `in:title`, "
            "`title:word`, `before:2026-03-01`, `after:2w`. Each may be excluded (`-tool:Bash`) or quoted."
        ),
    ],
    limit: Limit = 20,
    cursor: Cursor = None,
    per_thread: Annotated[
        int | None,
        Query(
            name="perThread",
            ge=1,
            le=MAX_ITEMS,
            description="Group the hits by thread: its title, and at most this many of its messages.",
        ),
    ] = None,
    thread_id: ThreadId = None,
    roles: Roles = None,
    filter: Filter,
    fields: Annotated[
        list[str] | None, Query(description=f"Only in these fields: {', '.join(SEARCH_FIELDS)}. {REPEATABLE}")
    ] = None,
) -> SearchListing:
    """Messages and titles with all words, the best match first. The last word also matches as a prefix.

    Qualifiers without words list the newest messages. `threadMatches` is the number of messages of the thread
    that match, `threads` and `matches` are the totals of all pages. `highlights` are the positions of the
    words in the `snippet`, in characters (code points).

    The threads are selected as for `/api/summaries`. But `tool`, `since` and `until` are conditions on the
    messages themselves.
    """
    page = await caller.store.search(
        q,
        SearchFilter(
            thread_id=thread_id,
            roles=chosen(roles, ROLES, "roles"),
            tool=filter.tool,
            agent=filter.agent,
            project=filter.project,
            since=filter.since,
            until=filter.until,
            fields=chosen(fields, SEARCH_FIELDS, "fields"),
            threads=replace(filter, tool=None, agent=None, project=None, since=None, until=None),
        ),
        limit=limit,
        cursor=cursor,
        per_thread=per_thread,
    )
    return SearchListing(page.items, page.next, page.threads, page.matches, page.complete)


@get("/api/threads/{thread_id}/find", tags=TAGS, summary="Find in a thread")
async def find_in_thread(
    caller: ActingCaller,
    thread_id: str,
    *,
    q: Annotated[str, Query(description="Words and qualifiers, as for `/api/search`.")],
    match_case: Annotated[
        bool, Query(name="matchCase", description="Only words with the same capital and small letters.")
    ] = False,
) -> ThreadMatches:
    """Each part in which the words of a query occur, on all branches, in the order of the messages.

    `count` is the number of occurrences, `words` are the different texts that were found. A message that only
    a qualifier finds is one match without a part. With `"complete": false`, older messages match, too.
    """
    return await caller.store.find_in_thread(thread_id, q, match_case=match_case)


@get("/api/parts", tags=TAGS, summary="Find parts across threads")
async def find_parts(
    caller: ActingCaller,
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    thread_id: ThreadId = None,
    types: Annotated[
        list[str] | None, Query(description=f"Only these types, such as `tool-call`. {REPEATABLE}")
    ] = None,
    tool: Annotated[str | None, Query(description="Only calls of this tool.")] = None,
    states: Annotated[
        list[str] | None, Query(description=f"Only in these states, such as `output-error`. {REPEATABLE}")
    ] = None,
    has_error: Annotated[
        bool | None, Query(name="hasError", description="Only with an error, or only without.")
    ] = None,
    longer_than: Annotated[
        float | None,
        Query(name="longerThan", ge=0, le=CENTURY, description="Only parts that took more seconds."),
    ] = None,
    shorter_than: Annotated[
        float | None,
        Query(name="shorterThan", ge=0, le=CENTURY, description="Only parts that took fewer seconds."),
    ] = None,
    agent: Agent = None,
    project: Project = None,
    since: Since = None,
    until: Until = None,
) -> Listing[StoredPart]:
    """The position, type, state and duration of each part; those of the newest message first."""
    page = await caller.store.messages.find_parts(
        PartFilter(
            thread_id=thread_id,
            types=each_of(types),
            tool=tool,
            states=each_of(states),
            has_error=has_error,
            longer_than=None if longer_than is None else timedelta(seconds=longer_than),
            shorter_than=None if shorter_than is None else timedelta(seconds=shorter_than),
            agent=agent,
            project=project,
            since=moment_of(since, "since"),
            until=moment_of(until, "until"),
        ),
        limit=limit,
        cursor=cursor,
    )
    return listing(page)
