"""Reading messages: by id, in pages, with neighbours, by numbered page; and parts across threads."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Interval,
    Row,
    Select,
    and_,
    bindparam,
    false,
    func,
    or_,
    select,
    type_coerce,
)

from partita.errors import DecodeError, NotFoundError
from partita.store.projects import matches_project
from partita.store.schema import MICROSECOND, NEVER, is_before, messages, parts
from partita.store.schema import threads as thread_table
from partita.store.sql.pages import (
    Numbered,
    NumberedPage,
    from_cursor,
    page_size,
    to_cursor,
    wrong_cursor,
)
from partita.store.sql.statement import Statement
from partita.store.sql.transaction import Transaction, batched
from partita.store.threads import rows as threads
from partita.store.threads.branches import no_message
from partita.store.values import BlobMode, MessageFilter, Order, Page, PartFilter, StoredPart
from partita.types.json import Json, dumps, is_object, loads
from partita.types.messages import Message

from .rows import read_messages


def of_thread(thread: Row[Any]) -> ColumnElement[bool]:
    """The condition that a message belongs to a thread."""
    return and_(messages.c.owner == thread.owner, messages.c.thread_id == thread.id)


_ONE = Statement(
    select(messages).where(
        messages.c.owner == bindparam("of_owner"),
        messages.c.thread_id == bindparam("of_thread"),
        messages.c.id == bindparam("of_id"),
    )
)


def get(tx: Transaction, thread_id: str, message_id: str, *, blobs: BlobMode = "inline") -> Message | None:
    """The message with that id in a thread, or `None`."""
    try:
        thread = threads.find(tx, thread_id)
    except NotFoundError:
        return None
    row = _ONE.row(tx, of_owner=thread.owner, of_thread=thread.id, of_id=message_id)
    return None if row is None else read_messages(tx, [row], blobs)[0]


def get_many(
    tx: Transaction, thread_id: str, message_ids: Sequence[str], *, blobs: BlobMode = "inline"
) -> tuple[Message, ...]:
    """Those of the messages that a thread has, on any branch, by number."""
    thread = threads.find(tx, thread_id)
    query = select(messages).where(of_thread(thread)).order_by(messages.c.seq)
    rows = [row for batch in batched(message_ids) for row in tx.rows(query.where(messages.c.id.in_(batch)))]
    return read_messages(tx, rows, blobs)


def require(tx: Transaction, thread: Row[Any], message_id: str) -> Row[Any]:
    """The row of a message, or a `NotFoundError`."""
    row = tx.row(select(messages).where(of_thread(thread), messages.c.id == message_id))
    if row is None:
        raise no_message(thread.id, message_id)
    return row


_READ = ("key", "owner", "thread_id", "seq", "id", "role", "type", "content", "blobs", "extra")
_HISTORY = Statement(
    select(*(messages.c[name] for name in (*_READ, "parent_id", "run_id", "internal", "created_at")))
    .where(messages.c.owner == bindparam("of_owner"), messages.c.thread_id == bindparam("of_thread"))
    .where(messages.c.active, messages.c.internal == false())
    .order_by(messages.c.seq)
)


def history(tx: Transaction, thread: Row[Any], blobs: BlobMode = "inline") -> tuple[Message, ...]:
    """All messages of the active branch of a thread that are not internal."""
    return read_messages(tx, _HISTORY.rows(tx, of_owner=thread.owner, of_thread=thread.id), blobs)


def list_messages(
    tx: Transaction,
    thread_id: str,
    filter: MessageFilter | None = None,
    *,
    limit: int | None = 50,
    order: Order = "asc",
    cursor: str | None = None,
    blobs: BlobMode = "inline",
) -> Page[Message]:
    """A page of the messages of a thread, ordered by `seq`.

    With `blobs="reference"` large values are `blob:` URLs.
    """
    selected, size = filter or MessageFilter(), None if limit is None else page_size(limit)
    thread = threads.find(tx, thread_id)
    if size is None and cursor is None and order == "asc" and selected == MessageFilter():
        return Page(history(tx, thread, blobs), None)
    query = select(messages).where(of_thread(thread), *_conditions(selected))
    if cursor is not None:
        number = _number(cursor)
        query = query.where(messages.c.seq > number if order == "asc" else messages.c.seq < number)
    query = query.order_by(messages.c.seq if order == "asc" else messages.c.seq.desc())
    rows = tx.rows(query if size is None else query.limit(size + 1))
    more = size is not None and len(rows) > size
    shown = rows[:size] if more else rows
    return Page(read_messages(tx, shown, blobs), str(shown[-1].seq) if more else None)


def _number(cursor: str) -> int:
    """The number of the last message of a page."""
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 18:
        raise wrong_cursor(cursor)
    return int(cursor)


def _conditions(filter: MessageFilter) -> list[ColumnElement[bool]]:
    columns = messages.c
    conditions: list[ColumnElement[bool]] = []
    if filter.before is not None:
        conditions.append(columns.seq < filter.before)
    if filter.after is not None:
        conditions.append(columns.seq > filter.after)
    if filter.since is not None:
        conditions.append(columns.created_at >= filter.since)
    if filter.until is not None:
        conditions.append(is_before(columns.created_at, filter.until))
    if filter.roles:
        conditions.append(columns.role.in_(filter.roles))
    if filter.types:
        conditions.append(columns.type.in_(filter.types))
    if filter.internal is not None:
        conditions.append(columns.internal == filter.internal)
    if filter.branch == "active":
        conditions.append(columns.active)
    return conditions


_TREE = Statement(
    select(messages.c.id, messages.c.parent_id, messages.c.internal)
    .where(messages.c.owner == bindparam("of_owner"), messages.c.thread_id == bindparam("of_thread"))
    .order_by(messages.c.seq)
)


def numbers(tx: Transaction, thread_id: str) -> dict[str, int]:
    """The numbers of the messages of a thread, by id, as people see them: 1 is the first one of a branch.

    Internal messages have none. The last number of the active branch is the message count of the thread.
    """
    thread = threads.find(tx, thread_id)
    tree = {row.id: row for row in _TREE.rows(tx, of_owner=thread.owner, of_thread=thread.id)}
    counts: dict[str | None, int] = {None: 0}  # how many numbered messages a path has
    for message_id in tree:
        path: list[str] = []
        at: str | None = message_id
        while at is not None and at not in counts:
            counts[at] = 0  # ends a cycle
            path.append(at)
            parent: str | None = tree[at].parent_id
            at = parent if parent in tree else None
        before = counts[at]
        for one in reversed(path):
            before += not tree[one].internal
            counts[one] = before
    return {row.id: counts[row.id] for row in tree.values() if not row.internal}


def around(
    tx: Transaction,
    thread_id: str,
    message_id: str,
    filter: MessageFilter | None = None,
    *,
    previous: int = 10,
    following: int = 10,
    blobs: BlobMode = "inline",
) -> tuple[Message, ...]:
    """A message with its neighbours. The filter applies to the neighbours."""
    thread = threads.find(tx, thread_id)
    middle = require(tx, thread, message_id)
    near = select(messages).where(of_thread(thread), *_conditions(filter or MessageFilter()))
    earlier = near.where(messages.c.seq < middle.seq).order_by(messages.c.seq.desc()).limit(previous)
    later = near.where(messages.c.seq > middle.seq).order_by(messages.c.seq).limit(following)
    before = reversed(tx.rows(earlier)) if previous > 0 else ()
    after = tx.rows(later) if following > 0 else ()
    return read_messages(tx, [*before, middle, *after], blobs)


# Pages by number, by time, as clients of Mastra request them

EVERYTHING = NumberedPage()


class Included(NamedTuple):
    """A message to return in addition to a page, with neighbours from its own thread."""

    id: str
    thread_id: str | None = None
    previous: int = 0
    following: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedQuery:
    """Selects messages of a thread and their order. A field that is not set matches everything."""

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
    newest: int | None = None  # instead of a page: this many of the last messages


@dataclass(frozen=True, slots=True)
class NumberedMessages(Numbered[Message]):
    """Messages of a page and those included, and the number of those that belong to the thread."""

    own: int


def numbered_page(tx: Transaction, thread_id: str, query: NumberedQuery) -> NumberedMessages:
    """A page of the active branch by its number, ordered by time, and the total number of messages."""
    thread = threads.find(tx, thread_id)
    rows, total = _rows_of_page(tx, thread, query)
    own = {row.key for row in rows}
    found = {row.key: row for row in rows}
    for item in query.include:
        near = _included(tx, thread, item, internal=query.internal)
        found.update({row.key: row for row in near})
        own.update(row.key for row in near if (row.owner, row.thread_id) == (thread.owner, thread.id))
    ordered = sorted(
        found.values(), key=lambda row: (row.created_at or NEVER, row.thread_id != thread.id, row.seq)
    )
    if query.order == "desc":
        ordered.reverse()
    return NumberedMessages(read_messages(tx, ordered, "inline"), total, len(own))


def _rows_of_page(tx: Transaction, thread: Row[Any], query: NumberedQuery) -> tuple[Sequence[Row[Any]], int]:
    page = query.page
    if page.size == 0 and query.newest is None:  # only what is included
        return [], 0
    found = select(messages).where(of_thread(thread), messages.c.active, *_numbered_conditions(query))
    if query.metadata:
        rows = _with_metadata(tx, found, query)
        total = len(rows)
        if query.newest is not None:
            return rows[max(total - query.newest, 0) :], total
        return rows[page.offset : None if page.size is None else page.offset + page.size], total
    total = tx.run(found.with_only_columns(func.count())).scalar_one()
    if query.newest is not None:
        return tx.rows(_by_time(found, "desc").limit(query.newest)), total
    return tx.rows(page.limit(_by_time(found, query.order))), total


def _by_time(query: Select[Any], order: Order) -> Select[Any]:
    """By time; of two at the same time, by number."""
    by = (messages.c.created_at, messages.c.seq)
    return query.order_by(*(by if order == "asc" else (column.desc() for column in by)))


def _numbered_conditions(query: NumberedQuery) -> list[ColumnElement[bool]]:
    created = messages.c.created_at
    conditions: list[ColumnElement[bool]] = []
    if not query.internal:
        conditions.append(messages.c.internal == false())
    if query.start is not None:
        conditions.append(created > query.start if query.start_exclusive else created >= query.start)
    if query.end is not None:
        conditions.append(created < query.end if query.end_exclusive else created <= query.end)
    if query.roles:
        conditions.append(or_(*(messages.c.role == role for role in query.roles)))
    return conditions


def _with_metadata(tx: Transaction, found: Select[Any], query: NumberedQuery) -> list[Row[Any]]:
    """The rows whose metadata matches. It is part of the content, so all rows are read."""
    rows = tx.rows(_by_time(found, "asc" if query.newest is not None else query.order))
    return [row for row in rows if _matches(_metadata(row), query.metadata)]


def _matches(metadata: Json, members: Mapping[str, Json]) -> bool:
    """Whether metadata has these members, of the same type: `1` is not `true`, and absent is not `null`."""
    return is_object(metadata) and all(
        key in metadata and dumps(metadata[key]) == dumps(value) for key, value in members.items()
    )


def _metadata(row: Row[Any]) -> Json:
    try:
        content = loads(row.content)
    except DecodeError:
        return None
    return content.get("metadata") if is_object(content) else None


def _included(tx: Transaction, thread: Row[Any], item: Included, *, internal: bool) -> list[Row[Any]]:
    """A message and its neighbours in its own thread, of the same owner. An unknown id gives no rows."""
    same = (messages.c.owner == thread.owner, messages.c.id == item.id)
    query = select(messages).where(*same).order_by(messages.c.thread_id != thread.id, messages.c.key)
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
    created, time = messages.c.created_at, middle.created_at or NEVER
    earlier = or_(created < time, and_(created == time, messages.c.seq < middle.seq))
    later = or_(created > time, and_(created == time, messages.c.seq > middle.seq))
    before = tx.rows(_by_time(near.where(earlier), "desc").limit(item.previous))
    after = tx.rows(_by_time(near.where(later), "asc").limit(item.following))
    return [*before, middle, *after]


# Parts


def find_parts(
    tx: Transaction, filter: PartFilter | None = None, *, limit: int = 50, cursor: str | None = None
) -> Page[StoredPart]:
    """A page of parts across threads, those of the newest message first."""
    limit = page_size(limit)
    same_message = and_(messages.c.owner == parts.c.owner, messages.c.key == parts.c.message)
    same_thread = and_(thread_table.c.owner == messages.c.owner, thread_table.c.id == messages.c.thread_id)
    query = (
        select(parts, messages.c.thread_id, messages.c.id, messages.c.seq)
        .join(messages, same_message)
        .join(thread_table, same_thread)
        .where(tx.owned(parts), *_part_conditions(tx, filter or PartFilter()))
        .order_by(parts.c.message.desc(), parts.c.number)
    )
    if cursor is not None:
        message, number = from_cursor(cursor, int, int)
        same = and_(parts.c.message == message, parts.c.number > number)
        query = query.where((parts.c.message < message) | same)
    rows = tx.rows(query.limit(limit + 1))
    more = to_cursor(rows[limit - 1].message, rows[limit - 1].number) if len(rows) > limit else None
    return Page(tuple(map(_stored_part, rows[:limit])), more)


def _part_conditions(tx: Transaction, filter: PartFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if filter.thread_id is not None:
        conditions.append(messages.c.thread_id == filter.thread_id)
    if filter.types:
        conditions.append(parts.c.type.in_(filter.types))
    if filter.tool is not None:
        conditions.append(parts.c.tool_name == filter.tool)
    if filter.states:
        conditions.append(parts.c.state.in_(filter.states))
    if filter.has_error is not None:
        conditions.append(parts.c.error.is_not(None) if filter.has_error else parts.c.error.is_(None))
    if filter.agent is not None:
        conditions.append(thread_table.c.agent == filter.agent)
    if filter.project is not None:
        conditions.append(matches_project(tx, thread_table, filter.project))
    if filter.since is not None:
        conditions.append(messages.c.created_at >= filter.since)
    if filter.until is not None:
        conditions.append(is_before(messages.c.created_at, filter.until))
    if filter.longer_than is not None:
        conditions.append(_duration(tx) > _interval(tx, filter.longer_than))
    if filter.shorter_than is not None:
        conditions.append(_duration(tx) < _interval(tx, filter.shorter_than))
    return conditions


def _duration(tx: Transaction) -> ColumnElement[Any]:
    if tx.is_sqlite:  # in microseconds
        return type_coerce(parts.c.ended_at, BigInteger) - type_coerce(parts.c.started_at, BigInteger)
    return type_coerce(parts.c.ended_at - parts.c.started_at, Interval)


def _interval(tx: Transaction, interval: timedelta) -> Any:
    return interval // MICROSECOND if tx.is_sqlite else interval


def _stored_part(row: Row[Any]) -> StoredPart:
    return StoredPart(
        thread_id=row.thread_id,
        message_id=row.id,
        seq=row.seq,
        path=row.path,
        type=row.type,
        resource_id=row.owner or None,
        tool_name=row.tool_name,
        call_id=row.call_id,
        state=row.state,
        error=row.error,
        started_at=row.started_at,
        ended_at=row.ended_at,
    )


class PartTime(NamedTuple):
    """The path of a part, and its start and end if they are known."""

    path: str
    started_at: datetime | None
    ended_at: datetime | None


def part_times(
    tx: Transaction, thread_id: str, message_ids: Sequence[str]
) -> Mapping[str, Sequence[PartTime]]:
    """The known times of the parts of messages, by message."""
    thread = threads.find(tx, thread_id)
    columns = parts.c
    query = (
        select(messages.c.id, columns.path, columns.started_at, columns.ended_at)
        .join(messages, (messages.c.key == columns.message) & (messages.c.owner == columns.owner))
        .where(of_thread(thread))
        .where(or_(columns.started_at.is_not(None), columns.ended_at.is_not(None)))
        .order_by(columns.message, columns.number)
    )
    found: defaultdict[str, list[PartTime]] = defaultdict(list)
    for some in batched(message_ids):
        for row in tx.rows(query.where(messages.c.id.in_(some))):
            found[row.id].append(PartTime(row.path, row.started_at, row.ended_at))
    return found
