"""`read_session`: a past session, or a stretch of it, as it went."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from msgspec import Meta, field

from partita.errors import NotFoundError, StoreError
from partita.store.values import MessageFilter
from partita.types.messages import Message
from partita.types.threads import Thread

from .archive import Archive
from .budget import USUAL, MaxChars, size_of
from .cleaning import Cleaner, beginning
from .filters import SessionId
from .tool import Answer, Arguments, Tool, noted
from .wording import SHORT, sizes_of, time_of, words_of

if TYPE_CHECKING:  # loaded with the store
    from partita.store.store import Store

Number: TypeAlias = Annotated[int, Meta(ge=1)]

AT_ONCE: Final = 10
"""How many messages are read at once: mostly, more would not have room."""

NEIGHBOURS: Final = 10
LONGEST_TITLE: Final = 200


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
        str | None, Meta(description="The id of a message, to read it with what stands beside it.")
    ] = None
    full: Annotated[
        bool, Meta(description="Shorten nothing: whole outputs, inputs, reasoning and sub-agents.")
    ] = False
    max_chars: MaxChars = USUAL


class Said(Answer, kw_only=True):
    """A message."""

    id: str
    number: int
    role: str
    time: str | None = None
    text: str  # words as they are; in [brackets] what was done
    shortened: bool = False


class ReadAnswer(Answer, kw_only=True):
    """A stretch of a session, in order."""

    session: str
    title: str | None = None
    agent: str | None = None
    project: str | None = None
    began: str | None = None
    messages: list[Said]
    total: int = 0  # messages in the session, on all its branches
    earlier_before: int | None = None  # give as `before`, to read what came earlier
    next_from: int | None = None  # give as `from`, to read on
    note: str | None = None


async def read(archive: Archive, given: ReadArguments) -> ReadAnswer:
    """As many messages as there is room for."""
    if sum(one is not None for one in (given.first, given.last or given.before, given.around)) > 1:
        raise StoreError("`from`, `last` and `around` exclude each other", hint="give one of them")
    store = await archive.store()
    thread = await archive.find(given.session)
    cleaner = archive.cleaner()
    said = await _said(cleaner, _messages(store, thread, given), given)
    said.sort(key=lambda one: one.number)
    (titled,) = await store.threads.with_display_titles([thread])
    answer = _told(await cleaner.clean(titled), said)
    if said:
        answer.earlier_before = await _neighbour(store, thread, before=said[0].number)
        answer.next_from = await _neighbour(store, thread, after=said[-1].number)
    answer.note = _note(answer, given)
    return answer


async def _messages(store: "Store", thread: Thread, given: ReadArguments) -> AsyncIterator[Sequence[Message]]:
    """The messages that are asked for, the most wanted first, some at a time."""
    if given.around is not None:
        yield await _around(store, thread, given.around)
        return
    backwards = given.last is not None or given.before is not None
    left = given.last or thread.message_count or AT_ONCE
    after, before = (given.first or 1) - 1, given.before
    while left > 0:
        page = await store.messages.list(
            thread.id,
            MessageFilter(before=before, after=None if backwards else after),
            limit=min(AT_ONCE, left),
            order="desc" if backwards else "asc",
        )
        if not page.items:
            return
        yield page.items
        left -= len(page.items)
        edge = page.items[-1].seq or 0
        after, before = edge, edge if backwards else before


async def _around(store: "Store", thread: Thread, message_id: str) -> Sequence[Message]:
    """A message, then its neighbours, the nearest first."""
    try:
        page = await store.messages.around(thread.id, message_id, previous=NEIGHBOURS, following=NEIGHBOURS)
    except NotFoundError as error:
        error.hint = "search_sessions and read_session give the ids of messages"
        raise
    places = {one.id: place for place, one in enumerate(page)}
    shown = [one for one in page if not one.internal]
    return sorted(shown, key=lambda one: abs(places[one.id] - places[message_id]))


async def _said(
    cleaner: Cleaner, pages: AsyncIterator[Sequence[Message]], given: ReadArguments
) -> list[Said]:
    said: list[Said] = []
    room = given.max_chars
    async for page in pages:
        sizes = sizes_of(page)
        for message in await cleaner.clean(tuple(page), beginning(given.max_chars if given.full else SHORT)):
            one = _one(message, sizes, full=given.full)
            size = size_of(one)
            if size > room and said:
                return said
            said.append(one if size <= room else _cut(one, room))
            room -= size
    return said


def _one(message: Message, sizes: Mapping[str, int], *, full: bool) -> Said:
    words = words_of(message, full=full, sizes=sizes)
    return Said(
        id=message.id,
        number=message.seq or 0,
        role=str(message.__struct_config__.tag),
        time=time_of(message.created_at),
        text=words.text,
        shortened=words.shortened,
    )


def _cut(said: Said, room: int) -> Said:
    """The beginning of a message that is larger than an answer may be."""
    kept = said.text[:room]
    left = len(said.text) - len(kept)
    if not left:
        return said
    said.text = f"{kept}… [{left:,} more characters: a larger max_chars shows more]"
    said.shortened = True
    return said


def _told(thread: Thread, said: list[Said]) -> ReadAnswer:
    return ReadAnswer(
        session=thread.id,
        title=thread.title[:LONGEST_TITLE] if thread.title else None,
        agent=thread.agent,
        project=thread.project,
        began=time_of(thread.created_at),
        messages=said,
        total=thread.message_count or 0,
    )


async def _neighbour(
    store: "Store", thread: Thread, *, before: int | None = None, after: int | None = None
) -> int | None:
    """The number to go on with on this side, if there is anything."""
    page = await store.messages.list(
        thread.id,
        MessageFilter(before=before, after=after),
        limit=1,
        order="desc" if after is None else "asc",
        blobs="reference",
    )
    if not page.items:
        return None
    return before if after is None else page.items[0].seq


def _note(answer: ReadAnswer, given: ReadArguments) -> str | None:
    if not answer.messages:
        return f"no messages there; the session has {answer.total}"
    told: list[str] = []
    if answer.earlier_before is not None and given.first is None:
        told.append(f"earlier messages: before {answer.earlier_before}")
    if answer.next_from is not None:
        told.append(f"later messages: from {answer.next_from}")
    return "; ".join(told) or None


def text(answer: ReadAnswer) -> str:
    """The answer in words."""
    facts = [answer.agent, answer.project, answer.began, f"{answer.total} messages"]
    told = " · ".join(fact for fact in facts if fact)
    said = [
        f"\n#{one.number} {one.role} · {one.time} · message {one.id}\n{one.text}" for one in answer.messages
    ]
    title = answer.title or "without a title"
    return noted([title, f"session {answer.session} · {told}", *said], answer.note)


READ = Tool(
    name="read_session",
    title="Read a past session",
    description=(
        "Read a past session message by message: what the person asked, what the agent answered and did. "
        "Begins at the start unless `from`, `last` or `around` says otherwise. Long tool outputs, inputs and "
        "reasoning are shortened, with a word on how to get the rest. If not everything has room, the answer "
        "says how to read on."
    ),
    takes=ReadArguments,
    gives=ReadAnswer,
    call=read,
    text=text,
)
