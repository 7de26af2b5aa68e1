"""`list_sessions`: past sessions, the newest first."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, field

from .archive import Archive
from .budget import USUAL, MaxChars, how_many_fit
from .filters import Agent, Cursor, Project, Since, Until
from .tool import Answer, Arguments, Tool, noted
from .wording import time_of

if TYPE_CHECKING:  # loaded with the store
    from partita.store.threads.lists import ThreadSummary

LONGEST_TITLE = 200


class ListArguments(Arguments, kw_only=True):
    """Which sessions to list."""

    agent: Agent = None
    project: Project = None
    text: Annotated[str | None, Meta(description="Only sessions with these words, in title or messages.")] = (
        None
    )
    tool: Annotated[str | None, Meta(description="Only sessions in which this tool was called.")] = None
    model: Annotated[str | None, Meta(description="Only sessions in which this model answered.")] = None
    errors: Annotated[bool, Meta(description="Only sessions in which a tool failed.")] = False
    since: Since = None
    until: Until = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    cursor: Cursor = None
    max_chars: MaxChars = USUAL


class Session(Answer, kw_only=True):
    """A session in a few words."""

    id: str
    title: str | None = None  # without one, how the first prompt begins
    agent: str | None = None
    project: str | None = None
    began: str | None = None
    updated: str | None = None
    messages: int = 0
    errors: int = 0  # messages with a call that failed
    models: list[str] = field(default_factory=list[str])
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class ListAnswer(Answer, kw_only=True):
    """Sessions, the newest first."""

    sessions: list[Session]
    next_cursor: str | None = None
    note: str | None = None


async def list_sessions(archive: Archive, given: ListArguments) -> ListAnswer:
    """Sessions by when something was last said in them."""
    from partita.store.values import ThreadFilter

    store = await archive.store()
    wanted = ThreadFilter(
        agent=archive.scope.agent_for(given.agent),
        project=archive.scope.project_for(given.project),
        text=given.text,
        tool=given.tool,
        model=given.model,
        has_errors=True if given.errors else None,
        since=archive.moment(given.since, "since"),
        until=archive.moment(given.until, "until"),
    )
    page = await store.threads.summaries(wanted, limit=given.limit, cursor=given.cursor)
    sessions = [told(one) for one in await archive.cleaner().clean(page.items)]
    fits = how_many_fit(sessions, given.max_chars)
    if fits < len(sessions):  # again, so that the cursor goes on where this answer ends
        page = await store.threads.summaries(wanted, limit=fits, cursor=given.cursor)
    note = "there are more: ask again with next_cursor as cursor" if page.next else None
    if not sessions:
        note = "no sessions: use fewer filters, or the user runs `partita import`"
    return ListAnswer(sessions=sessions[:fits], next_cursor=page.next, note=note)


def told(summary: "ThreadSummary") -> Session:
    """A session as it is listed."""
    thread = summary.thread
    title = thread.title or summary.preview
    return Session(
        id=thread.id,
        title=None if title is None else title[:LONGEST_TITLE],
        agent=thread.agent,
        project=thread.project,
        began=time_of(thread.created_at),
        updated=time_of(thread.updated_at),
        messages=thread.message_count or 0,
        errors=summary.errors,
        models=list(summary.models),
        input_tokens=summary.input_tokens,
        output_tokens=summary.output_tokens,
        cost_usd=summary.cost,
    )


def text(answer: ListAnswer) -> str:
    """The answer in words."""
    lines: list[str] = []
    for one in answer.sessions:
        facts = [
            one.agent,
            one.project,
            f"{one.messages} messages",
            f"{one.errors} failed" if one.errors else None,
        ]
        lines.append(f"- {one.title or 'without a title'} · {one.updated}\n  session {one.id}")
        lines.append(f"  {' · '.join(fact for fact in facts if fact)}")
    cursor = f'; cursor: "{answer.next_cursor}"' if answer.next_cursor else ""
    return noted(lines, f"{answer.note}{cursor}" if answer.note else None)


LIST = Tool(
    name="list_sessions",
    title="List past sessions",
    description=(
        "List past sessions of coding agents and chats, the newest first, with title, project, size and "
        "cost. Use it to see what was worked on lately, or in a project; search_sessions finds by words."
    ),
    takes=ListArguments,
    gives=ListAnswer,
    call=list_sessions,
    text=text,
)
