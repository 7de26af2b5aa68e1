"""`search_sessions`: passages of past sessions that contain the words of a query."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from msgspec import Meta

from partita.types.messages import Message

from .archive import Archive
from .message_text import format_time
from .redaction import MARGIN, Cut, beginning
from .tool import (
    DEFAULT_CHARS,
    MAX_TITLE,
    Agent,
    Arguments,
    Cursor,
    MaxChars,
    Project,
    Result,
    SessionId,
    Since,
    Tool,
    Until,
    count_fitting,
    result_text,
)

if TYPE_CHECKING:  # loaded with the store
    from partita.store.store import Store
    from partita.store.values import Page, SearchHit


PER_SESSION: Final = 3
"""The number of messages of a session that are returned if all sessions are searched."""


class SearchArguments(Arguments, kw_only=True):
    """What to search for."""

    query: Annotated[
        str,
        Meta(
            min_length=1,
            description='Words that must all occur in one message; "a phrase", -without, this OR that, '
            "begin*, and qualifiers: file:app.py (calls that name this file), tool:Bash, project:app, "
            "agent:codex, role:user, title:word, in:FIELD, before:2026-03-01, after:2w; -tool:Bash excludes. "
            "Few words find more; qualifiers alone list the newest messages.",
        ),
    ]
    agent: Agent = None
    project: Project = None
    role: Annotated[
        Literal["system", "user", "assistant", "tool"] | None,
        Meta(description="Only messages of this role; user: the prompts."),
    ] = None
    tool: Annotated[str | None, Meta(description="Only messages that call this tool.")] = None
    session: Annotated[SessionId | None, Meta(description="Only in this session.")] = None
    since: Since = None
    until: Until = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    cursor: Cursor = None
    max_chars: MaxChars = DEFAULT_CHARS


class Found(Result, kw_only=True):
    """A message, or a session by its title."""

    session: str
    title: str | None = None
    message: str | None = None  # its id, for read_session
    number: int | None = None
    role: str | None = None
    time: str | None = None
    where: str  # title, text, reasoning, tool-input, tool-output
    matches: int  # the number of messages of this session that match
    passage: str  # the match is between ** and **


class SearchResult(Result, kw_only=True):
    """What was found, the best first: of each session its title and the best messages."""

    found: list[Found]
    next_cursor: str | None = None
    note: str | None = None


class ShownHit(NamedTuple):
    """A hit, and how the result shows it; `None` if its message is hidden or gone."""

    hit: "SearchHit"
    found: Found | None


async def search_sessions(archive: Archive, arguments: SearchArguments) -> SearchResult:
    """Find messages and titles that match a query."""
    store = await archive.store()
    thread_id = None if arguments.session is None else (await archive.find(arguments.session)).id
    page = await _search(archive, store, arguments, thread_id, arguments.limit)
    shown = await _shown_hits(archive, store, page.items, arguments.query)
    fits = count_fitting([one.found for one in shown], arguments.max_chars)
    if fits < len(shown):  # search again, so that the cursor continues where this result ends
        page = await _search(archive, store, arguments, thread_id, fits)
    found = [one.found for one in shown[:fits] if one.found is not None]
    return SearchResult(found=found, next_cursor=page.next, note=_note(found, page.next))


async def _search(
    archive: Archive, store: "Store", arguments: SearchArguments, thread_id: str | None, limit: int
) -> "Page[SearchHit]":
    from partita.store.values import SearchFilter

    return await store.search(
        arguments.query,
        SearchFilter(
            thread_id=thread_id,
            roles=() if arguments.role is None else (arguments.role,),
            tool=arguments.tool,
            agent=archive.scope.agent_filter(arguments.agent),
            project=archive.scope.project_filter(arguments.project),
            since=archive.parse_time(arguments.since, "since"),
            until=archive.parse_time(arguments.until, "until"),
        ),
        limit=limit,
        cursor=arguments.cursor,
        per_thread=PER_SESSION if thread_id is None else None,
    )


async def _shown_hits(
    archive: Archive, store: "Store", hits: "Sequence[SearchHit]", query: str
) -> list[ShownHit]:
    messages = [
        None if hit.message_id is None else await store.messages.get(hit.thread_id, hit.message_id)
        for hit in hits
    ]
    titles = tuple(hit.title for hit in hits)
    redactor = archive.redactor()
    redacted, titles = await redactor.redact((tuple(messages), titles), _around_match(query))
    rows = zip(hits, redacted, titles, strict=True)
    return await asyncio.to_thread(
        lambda: [ShownHit(hit, _found(hit, message, title, query)) for hit, message, title in rows]
    )


def _found(hit: "SearchHit", message: Message | None, title: str | None, query: str) -> Found | None:
    if hit.message_id is not None and (message is None or message.internal):
        return None
    return Found(
        session=hit.thread_id,
        title=None if title is None else title[:MAX_TITLE],
        message=hit.message_id,
        number=hit.seq,
        role=hit.role,
        time=format_time(hit.created_at),
        where=hit.field,
        matches=hit.thread_matches,
        passage=_passage(hit, message, title or "", query),
    )


def _passage(hit: "SearchHit", message: Message | None, title: str, query: str) -> str:
    """The passage, cut from the redacted text: a secret that the cut splits would not be recognized."""
    from partita.store.search.fields import texts_by_field
    from partita.store.search.query import parse
    from partita.store.search.snippet import snippet

    shown = title if message is None else texts_by_field(message)[hit.field]
    text, marks = snippet(shown, parse(query).terms_in(hit.field))
    for start, end in reversed(marks):
        text = f"{text[:start]}**{text[start:end]}**{text[end:]}"
    return text


def _around_match(query: str) -> Cut:
    """Keep the part of each long text around the passage that is shown."""
    from partita.store.search.fields import MAX_FIELD
    from partita.store.search.query import parse
    from partita.store.search.snippet import best_passage, composed

    terms = parse(query).required
    cut_beginning = beginning(0)

    def cut(text: str) -> str:
        if text.startswith("data:"):
            return cut_beginning(text)
        if len(text) <= 2 * MARGIN:
            return text
        searched = composed(text[:MAX_FIELD])
        found = best_passage(searched, terms).occurrences
        if not found:
            return cut_beginning(text)
        return searched[max(found[0].start - MARGIN, 0) : found[-1].end + MARGIN]

    return cut


def _note(found: Sequence[Found], cursor: str | None) -> str | None:
    if cursor is not None:
        return "there is more: call again with next_cursor as cursor"
    if not found:
        return "nothing found: try fewer or other words, this OR that, begin*, or fewer conditions"
    return None


def _render(result: SearchResult) -> str:
    lines: list[str] = []
    before: str | None = None
    for one in result.found:
        if one.session != before:
            count = f"{one.matches} matching message{'' if one.matches == 1 else 's'}"
            lines.append(f"- {one.title or 'untitled'}\n  session {one.session}, {count}")
        before = one.session
        place = f"message {one.message} (#{one.number}, {one.role}, {one.where})" if one.message else "title"
        lines.append(f"  {place} · {one.time}\n    {one.passage}")
    cursor = f'; cursor: "{result.next_cursor}"' if result.next_cursor else ""
    return result_text(lines, f"{result.note}{cursor}" if result.note else None)


SEARCH_SESSIONS = Tool(
    name="search_sessions",
    title="Search past sessions",
    summary=(
        "Search everything in past sessions of coding agents and chats on this "
        "machine: prompts, answers, reasoning, tool calls and their outputs. Use it to find out what was "
        "done about something before, why, and how an error was solved. Returns passages with the ids of "
        "session and message; read_session with `around` returns the messages around one."
    ),
    takes=SearchArguments,
    gives=SearchResult,
    function=search_sessions,
    render=_render,
)
