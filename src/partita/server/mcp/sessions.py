"""`list_sessions` and `read_session`: past sessions, and their messages."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from msgspec import Meta, field

from partita.errors import NotFoundError, StoreError
from partita.store.values import MessageFilter, ThreadFilter
from partita.types.messages import Message
from partita.types.threads import Thread

from .archive import Archive
from .message_text import SHORT, format_time, output_sizes, render_message
from .redaction import ResultRedactor, beginning
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
    size_of,
)

if TYPE_CHECKING:  # loaded with the store
    from partita.store.store import Store
    from partita.store.threads.lists import ThreadSummary

Number: TypeAlias = Annotated[int, Meta(ge=1)]

PAGE_SIZE: Final = 10
"""How many messages are read from the store at once. A result seldom has room for more."""

NEIGHBOURS: Final = 10
"""How many messages on each side of a message are read with it."""


# list_sessions


class ListArguments(Arguments, kw_only=True):
    """Which sessions to list."""

    agent: Agent = None
    project: Project = None
    text: Annotated[
        str | None, Meta(description="Only sessions whose title or messages match, as in search_sessions.")
    ] = None
    tool: Annotated[str | None, Meta(description="Only sessions in which this tool was called.")] = None
    model: Annotated[str | None, Meta(description="Only sessions with responses of this model.")] = None
    errors: Annotated[bool, Meta(description="Only sessions in which a tool failed.")] = False
    empty: Annotated[bool, Meta(description="Also sessions without messages.")] = False
    since: Since = None
    until: Until = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    cursor: Cursor = None
    max_chars: MaxChars = DEFAULT_CHARS


class Session(Result, kw_only=True):
    """A session."""

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


class ListResult(Result, kw_only=True):
    """Sessions, the newest first."""

    sessions: list[Session]
    next_cursor: str | None = None
    note: str | None = None


async def list_sessions(archive: Archive, arguments: ListArguments) -> ListResult:
    """List sessions, the last active one first."""
    store = await archive.store()
    wanted = ThreadFilter(
        agent=archive.scope.agent_filter(arguments.agent),
        project=archive.scope.project_filter(arguments.project),
        text=arguments.text,
        tool=arguments.tool,
        model=arguments.model,
        has_errors=True if arguments.errors else None,
        empty=None if arguments.empty else False,
        since=archive.parse_time(arguments.since, "since"),
        until=archive.parse_time(arguments.until, "until"),
    )
    page = await store.threads.summaries(wanted, limit=arguments.limit, cursor=arguments.cursor)
    sessions = [_session(one) for one in await archive.redactor().redact(page.items)]
    fits = count_fitting(sessions, arguments.max_chars)
    if fits < len(sessions):  # list again, so that the cursor continues where this result ends
        page = await store.threads.summaries(wanted, limit=fits, cursor=arguments.cursor)
    note = "there are more: call again with next_cursor as cursor" if page.next else None
    if not sessions:
        note = "no sessions: use fewer filters, or the user runs `partita import`"
    return ListResult(sessions=sessions[:fits], next_cursor=page.next, note=note)


def _session(summary: "ThreadSummary") -> Session:
    thread = summary.thread
    title = summary.title
    return Session(
        id=thread.id,
        title=None if title is None else title[:MAX_TITLE],
        agent=thread.agent,
        project=thread.project,
        began=format_time(thread.created_at),
        updated=format_time(thread.updated_at),
        messages=thread.message_count or 0,
        errors=summary.errors,
        models=list(summary.models),
        input_tokens=summary.input_tokens,
        output_tokens=summary.output_tokens,
        cost_usd=summary.cost,
    )


def _render_list(result: ListResult) -> str:
    lines: list[str] = []
    for one in result.sessions:
        facts = [
            one.agent,
            one.project,
            f"{one.messages} messages",
            f"{one.errors} failed" if one.errors else None,
        ]
        lines.append(f"- {one.title or 'untitled'} · {one.updated}\n  session {one.id}")
        lines.append(f"  {' · '.join(fact for fact in facts if fact)}")
    cursor = f'; cursor: "{result.next_cursor}"' if result.next_cursor else ""
    return result_text(lines, f"{result.note}{cursor}" if result.note else None)


LIST_SESSIONS = Tool(
    name="list_sessions",
    title="List past sessions",
    summary=(
        "List past sessions of coding agents and chats, the newest first, with title, project, size and "
        "cost. Use it to see the recent work, or that in a project; search_sessions finds by words."
    ),
    takes=ListArguments,
    gives=ListResult,
    function=list_sessions,
    render=_render_list,
)


# read_session


class ReadArguments(Arguments, kw_only=True):
    """What to read."""

    session: SessionId
    first: Annotated[Number | None, Meta(description="Begin with the message of this number.")] = field(
        name="from", default=None
    )
    last: Annotated[
        Number | None, Meta(description="Only the last so many messages; with `before`, those before it.")
    ] = None
    before: Annotated[Number | None, Meta(description="Only messages before this number, the nearest.")] = (
        None
    )
    around: Annotated[
        str | None, Meta(description="The id of a message, to read it with its neighbours.")
    ] = None
    full: Annotated[bool, Meta(description="Return whole outputs, inputs, reasoning and sub-agents.")] = False
    max_chars: MaxChars = DEFAULT_CHARS


class SessionMessage(Result, kw_only=True):
    """A message."""

    id: str
    number: int
    role: str
    time: str | None = None
    text: str  # text as it is, and calls and other parts in [brackets]
    shortened: bool = False


class ReadResult(Result, kw_only=True):
    """Consecutive messages of a session."""

    session: str
    title: str | None = None
    agent: str | None = None
    project: str | None = None
    began: str | None = None
    messages: list[SessionMessage]
    total: int = 0  # messages of the session
    earlier_before: int | None = None  # give as `before`, to read earlier messages
    next_from: int | None = None  # give as `from`, to read on
    note: str | None = None


async def read_session(archive: Archive, arguments: ReadArguments) -> ReadResult:
    """Read as many messages of a session as fit."""
    starts = (arguments.first, arguments.last or arguments.before, arguments.around)
    if sum(one is not None for one in starts) > 1:
        raise StoreError("`from`, `last` and `around` exclude each other", hint="give one of them")
    store = await archive.store()
    thread = await archive.find(arguments.session)
    redactor = archive.redactor()
    messages = await _fitting_messages(redactor, _pages(store, thread, arguments), arguments)
    messages.sort(key=lambda one: one.number)
    (titled,) = await store.threads.with_display_titles([thread])
    result = _read_result(await redactor.redact(titled), messages)
    if messages:
        result.earlier_before = await _number_before(store, thread, messages[0].number)
        result.next_from = await _number_after(store, thread, messages[-1].number)
    result.note = _note(result, arguments)
    return result


async def _pages(
    store: "Store", thread: Thread, arguments: ReadArguments
) -> AsyncIterator[Sequence[Message]]:
    """The requested messages in pages, the most relevant first."""
    if arguments.around is not None:
        yield await _around(store, thread, arguments.around)
        return
    backwards = arguments.last is not None or arguments.before is not None
    remaining = arguments.last or thread.message_count or PAGE_SIZE
    after, before = (arguments.first or 1) - 1, arguments.before
    while remaining > 0:
        page = await store.messages.list(
            thread.id,
            MessageFilter(before=before, after=None if backwards else after),
            limit=min(PAGE_SIZE, remaining),
            order="desc" if backwards else "asc",
        )
        if not page.items:
            return
        yield page.items
        remaining -= len(page.items)
        edge = page.items[-1].seq or 0
        after, before = edge, edge if backwards else before


async def _around(store: "Store", thread: Thread, message_id: str) -> Sequence[Message]:
    """A message, then its neighbours, the nearest first."""
    try:
        page = await store.messages.around(thread.id, message_id, previous=NEIGHBOURS, following=NEIGHBOURS)
    except NotFoundError as error:
        error.hint = "search_sessions and read_session return the ids of messages"
        raise
    positions = {one.id: position for position, one in enumerate(page)}
    visible = [one for one in page if not one.internal]
    return sorted(visible, key=lambda one: abs(positions[one.id] - positions[message_id]))


async def _fitting_messages(
    redactor: ResultRedactor, pages: AsyncIterator[Sequence[Message]], arguments: ReadArguments
) -> list[SessionMessage]:
    fitting: list[SessionMessage] = []
    remaining = arguments.max_chars
    cut = beginning(arguments.max_chars if arguments.full else SHORT)
    async for page in pages:
        sizes = output_sizes(page)
        for message in await redactor.redact(tuple(page), cut):
            one = _session_message(message, sizes, full=arguments.full)
            size = size_of(one)
            if size > remaining and fitting:
                return fitting
            fitting.append(one if size <= remaining else _shortened(one, remaining))
            remaining -= size
    return fitting


def _session_message(message: Message, sizes: Mapping[str, int], *, full: bool) -> SessionMessage:
    rendered = render_message(message, full=full, sizes=sizes)
    return SessionMessage(
        id=message.id,
        number=message.seq or 0,
        role=str(message.__struct_config__.tag),
        time=format_time(message.created_at),
        text=rendered.text,
        shortened=rendered.shortened,
    )


def _shortened(message: SessionMessage, max_chars: int) -> SessionMessage:
    """The beginning of a message that is larger than a result may be."""
    kept = message.text[:max_chars]
    remaining = len(message.text) - len(kept)
    if not remaining:
        return message
    message.text = f"{kept}… [{remaining:,} more characters: a larger max_chars shows more]"
    message.shortened = True
    return message


def _read_result(thread: Thread, messages: list[SessionMessage]) -> ReadResult:
    return ReadResult(
        session=thread.id,
        title=thread.title[:MAX_TITLE] if thread.title else None,
        agent=thread.agent,
        project=thread.project,
        began=format_time(thread.created_at),
        messages=messages,
        total=thread.message_count or 0,
    )


async def _number_before(store: "Store", thread: Thread, number: int) -> int | None:
    """The number itself if the thread has earlier messages: `before` excludes it."""
    page = await store.messages.list(
        thread.id, MessageFilter(before=number), limit=1, order="desc", blobs="reference"
    )
    return number if page.items else None


async def _number_after(store: "Store", thread: Thread, number: int) -> int | None:
    """The number of the next message."""
    page = await store.messages.list(
        thread.id, MessageFilter(after=number), limit=1, order="asc", blobs="reference"
    )
    return page.items[0].seq if page.items else None


def _note(result: ReadResult, arguments: ReadArguments) -> str | None:
    if not result.messages:
        return f"no messages there; the session has {result.total}"
    notes: list[str] = []
    if result.earlier_before is not None and arguments.first is None:
        notes.append(f"earlier messages: before {result.earlier_before}")
    if result.next_from is not None:
        notes.append(f"later messages: from {result.next_from}")
    return "; ".join(notes) or None


def _render_messages(result: ReadResult) -> str:
    facts = [result.agent, result.project, result.began, f"{result.total} messages"]
    described = " · ".join(fact for fact in facts if fact)
    messages = [
        f"\n#{one.number} {one.role} · {one.time} · message {one.id}\n{one.text}" for one in result.messages
    ]
    title = result.title or "untitled"
    return result_text([title, f"session {result.session} · {described}", *messages], result.note)


READ_SESSION = Tool(
    name="read_session",
    title="Read a past session",
    summary=(
        "Read a past session message by message: what the person asked, what the agent answered and did. "
        "Begins at the start unless `from`, `last` or `around` is given. Long tool outputs, inputs and "
        "reasoning are shortened, with a hint how to read the rest. If not everything has room, the answer "
        "says how to read on."
    ),
    takes=ReadArguments,
    gives=ReadResult,
    function=read_session,
    render=_render_messages,
)
