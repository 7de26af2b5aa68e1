"""Pages of a thread's messages by number: by time, with messages of other threads among them if asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Select, and_, false, func, or_, select

from partita.errors import DecodeError
from partita.types.json import Json, dumps, is_object, loads
from partita.types.messages import Message

from .message_rows import read_messages
from .numbered_pages import Numbered, NumberedPage
from .tables import messages
from .threads import find
from .transaction import Transaction
from .values import Order

EVERYTHING = NumberedPage()


class Included(NamedTuple):
    """A message to give besides the page, with neighbours from its own thread."""

    id: str
    thread_id: str | None = None
    previous: int = 0
    following: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedQuery:
    """Which messages of a thread, in which order. What is not given does not narrow."""

    page: NumberedPage = EVERYTHING
    order: Order = "asc"
    start: datetime | None = None
    start_exclusive: bool = False
    end: datetime | None = None
    end_exclusive: bool = False
    roles: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    include: tuple[Included, ...] = ()
    internal: bool = False
    newest: int | None = None  # instead of a page: so many of the last ones


@dataclass(frozen=True, slots=True)
class NumberedMessages(Numbered[Message]):
    """Messages of a page and those included, and how many of the thread itself are among them."""

    own: int


def list_messages(tx: Transaction, thread_id: str, wanted: NumberedQuery) -> NumberedMessages:
    """A page of the shown branch of a thread, with what is included, all in order."""
    thread = find(tx, thread_id)
    rows, total = _rows_of_page(tx, thread, wanted)
    own = {row.key for row in rows}
    found = {row.key: row for row in rows}
    for item in wanted.include:
        near = _around(tx, thread, item, internal=wanted.internal)
        found.update({row.key: row for row in near})
        own.update(row.key for row in near if (row.owner, row.thread_id) == (thread.owner, thread.id))
    ordered = sorted(found.values(), key=lambda row: (row.created_at, row.thread_id != thread.id, row.seq))
    if wanted.order == "desc":
        ordered.reverse()
    return NumberedMessages(read_messages(tx, ordered, "inline"), total, len(own))


def _rows_of_page(tx: Transaction, thread: Row[Any], wanted: NumberedQuery) -> tuple[Sequence[Row[Any]], int]:
    page = wanted.page
    if page.size == 0 and wanted.newest is None:  # only what is included
        return [], 0
    query = select(messages).where(_of_thread(thread), messages.c.active, *_conditions(wanted))
    if wanted.metadata:
        rows = _matching(tx, query, wanted)
        total = len(rows)
        if wanted.newest is not None:
            return rows[max(total - wanted.newest, 0) :], total
        return rows[page.offset : None if page.size is None else page.offset + page.size], total
    total = tx.run(query.with_only_columns(func.count())).scalar_one()
    if wanted.newest is not None:
        return tx.rows(_ordered(query, "desc").limit(wanted.newest)), total
    return tx.rows(page.cut(_ordered(query, wanted.order))), total


def _of_thread(thread: Row[Any]) -> ColumnElement[bool]:
    return and_(messages.c.owner == thread.owner, messages.c.thread_id == thread.id)


def _ordered(query: Select[Any], order: Order) -> Select[Any]:
    """By time; of two at one time, the one that was said first."""
    by = (messages.c.created_at, messages.c.seq)
    return query.order_by(*(by if order == "asc" else (column.desc() for column in by)))


def _conditions(wanted: NumberedQuery) -> list[ColumnElement[bool]]:
    made = messages.c.created_at
    conditions: list[ColumnElement[bool]] = []
    if not wanted.internal:
        conditions.append(messages.c.internal == false())
    if wanted.start is not None:
        conditions.append(made > wanted.start if wanted.start_exclusive else made >= wanted.start)
    if wanted.end is not None:
        conditions.append(made < wanted.end if wanted.end_exclusive else made <= wanted.end)
    if wanted.roles:
        conditions.append(or_(*(messages.c.role == role for role in wanted.roles)))
    return conditions


def _matching(tx: Transaction, query: Select[Any], wanted: NumberedQuery) -> list[Row[Any]]:
    """The rows whose metadata matches. It is in the content, so all have to be looked at."""
    rows = tx.rows(_ordered(query, "asc" if wanted.newest is not None else wanted.order))
    return [row for row in rows if matches(_metadata(row), wanted.metadata)]


def matches(metadata: Json, wanted: Mapping[str, Json]) -> bool:
    """Whether metadata has all of these, of the same kind: `1` is not `true`, and absent is not `null`."""
    return is_object(metadata) and all(
        key in metadata and dumps(metadata[key]) == dumps(value) for key, value in wanted.items()
    )


def _metadata(row: Row[Any]) -> Json:
    try:
        content = loads(row.content)
    except DecodeError:
        return None
    return content.get("metadata") if is_object(content) else None


def _around(tx: Transaction, thread: Row[Any], item: Included, *, internal: bool) -> list[Row[Any]]:
    """A message and its neighbours in its own thread, which is one of the same owner. Unknown: nothing."""
    mine = (messages.c.owner == thread.owner, messages.c.id == item.id)
    query = select(messages).where(*mine).order_by(messages.c.thread_id != thread.id, messages.c.key)
    if item.thread_id is not None:
        query = query.where(messages.c.thread_id == item.thread_id)
    middle = tx.row(query.limit(1))
    if middle is None:
        return []
    near = select(messages).where(
        messages.c.owner == middle.owner, messages.c.thread_id == middle.thread_id, messages.c.active
    )
    if not internal:
        near = near.where(messages.c.internal == false())
    at_once = messages.c.created_at == middle.created_at
    earlier = or_(messages.c.created_at < middle.created_at, and_(at_once, messages.c.seq < middle.seq))
    later = or_(messages.c.created_at > middle.created_at, and_(at_once, messages.c.seq > middle.seq))
    before = tx.rows(_ordered(near.where(earlier), "desc").limit(item.previous))
    after = tx.rows(_ordered(near.where(later), "asc").limit(item.following))
    return [*before, middle, *after]
