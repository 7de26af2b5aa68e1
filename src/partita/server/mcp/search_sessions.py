"""`search_sessions`: where in past sessions certain words stand."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from msgspec import Meta

from partita.types.messages import Message

from .archive import Archive
from .budget import USUAL, MaxChars, how_many_fit
from .cleaning import MARGIN, Keep, beginning
from .filters import Agent, Cursor, Project, SessionId, Since, Until
from .tool import Answer, Arguments, Tool, noted
from .wording import time_of

if TYPE_CHECKING:  # loaded with the store
    from partita.store.store import Store
    from partita.store.values import Page, SearchHit

LONGEST_TITLE = 200


class SearchArguments(Arguments, kw_only=True):
    """What to search for."""

    query: Annotated[
        str,
        Meta(
            min_length=1,
            description='Words that must all occur in one message; "a phrase", -without, begin*. '
            "Few words find more.",
        ),
    ]
    agent: Agent = None
    project: Project = None
    role: Annotated[
        Literal["system", "user", "assistant", "tool"] | None,
        Meta(description="Only what this role said; user: what the person asked for."),
    ] = None
    tool: Annotated[str | None, Meta(description="Only messages that call this tool.")] = None
    session: Annotated[SessionId | None, Meta(description="Only in this session.")] = None
    since: Since = None
    until: Until = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    cursor: Cursor = None
    max_chars: MaxChars = USUAL


class Found(Answer, kw_only=True):
    """A message, or a session by its title."""

    session: str
    title: str | None = None
    message: str | None = None  # its id, for read_session
    number: int | None = None
    role: str | None = None
    time: str | None = None
    where: str  # title, text, reasoning, tool-input, tool-output
    passage: str  # what was found stands between ** and **


class SearchAnswer(Answer, kw_only=True):
    """What was found, the best first."""

    found: list[Found]
    next_cursor: str | None = None
    note: str | None = None


class Shown(NamedTuple):
    """A hit, and how it is told; `None` when it is not to be seen."""

    hit: "SearchHit"
    found: Found | None


async def search(archive: Archive, given: SearchArguments) -> SearchAnswer:
    """Messages and titles that hold all words of a query."""
    store = await archive.store()
    thread_id = None if given.session is None else (await archive.find(given.session)).id
    page = await _page(archive, store, given, thread_id, given.limit)
    shown = await _shown(archive, store, page.items, given.query)
    fits = how_many_fit([one.found for one in shown], given.max_chars)
    if fits < len(shown):  # again, so that the cursor goes on where this answer ends
        page = await _page(archive, store, given, thread_id, fits)
    found = [one.found for one in shown[:fits] if one.found is not None]
    return SearchAnswer(found=found, next_cursor=page.next, note=_note(found, page.next))


async def _page(
    archive: Archive, store: "Store", given: SearchArguments, thread_id: str | None, limit: int
) -> "Page[SearchHit]":
    from partita.store.values import SearchFilter

    return await store.search(
        given.query,
        SearchFilter(
            thread_id=thread_id,
            roles=() if given.role is None else (given.role,),
            tool=given.tool,
            agent=archive.scope.agent_for(given.agent),
            project=archive.scope.project_for(given.project),
            since=archive.moment(given.since, "since"),
            until=archive.moment(given.until, "until"),
        ),
        limit=limit,
        cursor=given.cursor,
    )


async def _shown(archive: Archive, store: "Store", hits: "Sequence[SearchHit]", query: str) -> list[Shown]:
    messages = [
        None if hit.message_id is None else await store.messages.get(hit.thread_id, hit.message_id)
        for hit in hits
    ]
    titles = tuple(hit.title for hit in hits)
    clean, titles = await archive.cleaner().clean((tuple(messages), titles), _near(query))
    pairs = zip(hits, clean, titles, strict=True)
    return await asyncio.to_thread(
        lambda: [Shown(hit, _found(hit, message, title, query)) for hit, message, title in pairs]
    )


def _found(hit: "SearchHit", message: Message | None, title: str | None, query: str) -> Found | None:
    if hit.message_id is not None and (message is None or message.internal):
        return None
    return Found(
        session=hit.thread_id,
        title=None if title is None else title[:LONGEST_TITLE],
        message=hit.message_id,
        number=hit.seq,
        role=hit.role,
        time=time_of(hit.created_at),
        where=hit.field,
        passage=_passage(hit, message, title or "", query),
    )


def _passage(hit: "SearchHit", message: Message | None, title: str, query: str) -> str:
    """The passage, cut from what is left without secrets: one that is cut in two would not be known."""
    from partita.store.search.fields import texts_by_field
    from partita.store.search.query import parse
    from partita.store.search.snippet import snippet

    shown = title if message is None else texts_by_field(message)[hit.field]
    text, marks = snippet(shown, parse(query).required)
    for start, end in reversed(marks):
        text = f"{text[:start]}**{text[start:end]}**{text[end:]}"
    return text


def _near(query: str) -> Keep:
    """Keep of each long text what stands around the passage that would be shown."""
    from partita.store.search.fields import MAX_FIELD
    from partita.store.search.query import parse
    from partita.store.search.snippet import best_passage, composed

    terms = parse(query).required
    shorten = beginning(0)

    def keep(text: str) -> str:
        if text.startswith("data:"):
            return shorten(text)
        if len(text) <= 2 * MARGIN:
            return text
        searched = composed(text[:MAX_FIELD])
        found = best_passage(searched, terms).occurrences
        if not found:
            return shorten(text)
        return searched[max(found[0].start - MARGIN, 0) : found[-1].end + MARGIN]

    return keep


def _note(found: Sequence[Found], cursor: str | None) -> str | None:
    if cursor is not None:
        return "there is more: ask again with next_cursor as cursor"
    if not found:
        return "nothing found: try fewer or other words, begin*, or fewer filters"
    return None


def text(answer: SearchAnswer) -> str:
    """The answer in words."""
    lines: list[str] = []
    for one in answer.found:
        place = f"message {one.message} (#{one.number}, {one.role}, {one.where})" if one.message else "title"
        lines.append(f"- {one.title or 'without a title'} · {one.time}\n  session {one.session}, {place}")
        lines.append(f"  {one.passage}")
    cursor = f'; cursor: "{answer.next_cursor}"' if answer.next_cursor else ""
    return noted(lines, f"{answer.note}{cursor}" if answer.note else None)


SEARCH = Tool(
    name="search_sessions",
    title="Search past sessions",
    description=(
        "Search everything that was said and done in past sessions of coding agents and chats on this "
        "machine: prompts, answers, reasoning, tool calls and their outputs. Use it to find out what was "
        "done about something before, why, and how an error was solved. Gives passages with the ids of "
        "session and message; read_session with `around` shows what stands beside one."
    ),
    takes=SearchArguments,
    gives=SearchAnswer,
    call=search,
    text=text,
)
