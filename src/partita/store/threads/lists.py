"""Lists of threads: pages by cursor or by number, with titles and with summaries."""

from collections.abc import Mapping, Sequence
from dataclasses import replace as replace_fields
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CursorResult,
    Row,
    cast,
    func,
    literal,
    literal_column,
    select,
    tuple_,
)

from partita.store.runs.rows import ACTIVE, OF_SUB_AGENT, SECONDS, is_idle
from partita.store.schema import NEVER, Instant, consumptions, runs, threads
from partita.store.sql.pages import Numbered, NumberedPage, from_cursor, page_size, time_and_id, to_cursor
from partita.store.sql.transaction import Transaction
from partita.store.values import Order, Page, ThreadFilter, ThreadSort
from partita.types.json import Json
from partita.types.threads import RunStatus, Thread
from partita.types.value import Value
from partita.views.prompts import clean_title, is_telling

from .filter import CHOSEN, PINNED, conditions
from .rows import NOTE, find, find_or_none, from_row, tags_of

Key: TypeAlias = tuple[str, str]
"""The owner and the id of a thread."""


def list_threads(
    tx: Transaction,
    filter: ThreadFilter | None = None,
    *,
    limit: int = 50,
    cursor: str | None = None,
    order: Order = "desc",
    sort: ThreadSort = "time",
) -> Page[Thread]:
    """A page of threads: by default the one with the newest message first."""
    rows, more = _page_of_rows(tx, filter, limit, cursor, order, sort)
    return Page(tuple(map(from_row, rows)), more)


def latest(tx: Transaction, filter: ThreadFilter | None = None) -> Thread | None:
    """The thread with the newest message, which `last` names; `None` if no thread has messages."""
    found = list_threads(tx, replace_fields(filter or ThreadFilter(), empty=False), limit=1)
    return found.items[0] if found.items else None


def _consumed(total: ColumnElement[Any]) -> ColumnElement[int]:
    """A sum over the responses of a thread, as a whole number."""
    of_thread = (consumptions.c.owner == threads.c.owner, consumptions.c.thread_id == threads.c.id)
    found = select(cast(func.coalesce(func.sum(total), 0), BigInteger)).where(*of_thread)
    return found.scalar_subquery()


SORTS: Final[Mapping[ThreadSort, ColumnElement[Any]]] = {
    "time": threads.c.updated_at,
    "created": threads.c.created_at,
    "cost": _consumed(consumptions.c.cost * 1_000_000),
    "tokens": _consumed(consumptions.c.input_tokens + consumptions.c.output_tokens),
    "messages": threads.c.message_count,
}

DURATION: Final = {
    is_sqlite: literal_column(
        f"(SELECT CAST(coalesce(sum({seconds} * 1000), 0) AS BIGINT) FROM runs r"
        " WHERE r.owner = threads.owner AND r.thread_id = threads.id AND r.finished_at > r.started_at"
        f" AND NOT {OF_SUB_AGENT})",
        BigInteger,
    )
    for is_sqlite, seconds in SECONDS.items()
}
"""The sum of the durations of the runs of a thread without those of sub-agents, in milliseconds."""


def _page_of_rows(
    tx: Transaction,
    filter: ThreadFilter | None,
    limit: int,
    cursor: str | None,
    order: Order,
    sort: ThreadSort,
) -> tuple[Sequence[Row[Any]], str | None]:
    """The rows of a page of threads, and the cursor of the next one."""
    limit = page_size(limit)
    by = DURATION[tx.is_sqlite] if sort == "duration" else SORTS[sort]
    is_time = isinstance(by.type, Instant)
    columns = (by, threads.c.id)
    query = select(threads, by.label("rank")).where(
        tx.owned(threads), *conditions(tx, filter or ThreadFilter())
    )
    if cursor is not None:
        rank, last = time_and_id(cursor) if is_time else from_cursor(cursor, int, str)
        end = tuple_(literal(rank, by.type), literal(last))
        query = query.where(tuple_(*columns) > end if order == "asc" else tuple_(*columns) < end)
    query = query.order_by(*(columns if order == "asc" else (column.desc() for column in columns)))
    rows = tx.rows(query.limit(limit + 1))
    if len(rows) <= limit:
        return rows, None
    last_row = rows[limit - 1]
    return rows[:limit], to_cursor((last_row.rank or NEVER) if is_time else last_row.rank, last_row.id)


def agents(tx: Transaction) -> list[str]:
    """The agents of threads and runs, by name."""
    found = {
        row.agent
        for table in (threads, runs)
        for row in tx.rows(
            select(table.c.agent).where(tx.owned(table), table.c.agent.is_not(None)).distinct()
        )
    }
    return sorted(found)


ThreadTime: TypeAlias = Literal["created_at", "updated_at"]
"""What numbered pages of threads can be ordered by."""

TIMES: Final[Mapping[ThreadTime, ColumnElement[Any]]] = {
    "created_at": threads.c.created_at,
    "updated_at": threads.c.updated_at,
}


def numbered_page(
    tx: Transaction,
    page: NumberedPage,
    filter: ThreadFilter | None = None,
    *,
    by: ThreadTime = "created_at",
    order: Order = "desc",
) -> Numbered[Thread]:
    """A page of threads by its number, and the total number of threads."""
    selected = (tx.owned(threads), *conditions(tx, filter or ThreadFilter()))
    total = tx.run(select(func.count()).select_from(threads).where(*selected)).scalar_one()
    columns = (TIMES[by], threads.c.key)
    ordered = columns if order == "asc" else [column.desc() for column in columns]
    query = select(threads).where(*selected).order_by(*ordered)
    return Numbered(tuple(map(from_row, tx.rows(page.limit(query)))), total)


class ThreadName(NamedTuple):
    """The id and the title of a thread."""

    id: str
    title: str | None


def starting_with(tx: Transaction, prefix: str, *, limit: int) -> list[ThreadName]:
    """The threads whose id starts with a prefix, by id."""
    query = select(threads.c.id, threads.c.title).where(
        tx.owned(threads), threads.c.id.startswith(prefix, autoescape=True)
    )
    return [ThreadName(row.id, row.title) for row in tx.rows(query.order_by(threads.c.id).limit(limit))]


# Titles of threads that have none: the start of a prompt. They are not stored.

MAX_TITLE: Final = 60
"""The number of characters of a title that is made from a message."""

PROMPTS: Final = """
SELECT t.owner, t.id, m.preview FROM {chosen} CROSS JOIN messages m
WHERE m.key IN (
    SELECT p.key FROM messages p WHERE p.owner = t.owner AND p.thread_id = t.id AND p.role = 'user'
        AND NOT p.internal AND p.preview <> '' ORDER BY p.seq LIMIT 5
) ORDER BY m.seq
"""


def with_display_titles(tx: Transaction, listed: Sequence[Thread]) -> list[Thread]:
    """The threads, each with a title: one that has none gets the start of a prompt."""
    untitled = [thread for thread in listed if not thread.title]
    rows = [find_or_none(tx, thread.id, thread.resource_id or "") for thread in untitled]
    titles = _titles_from_prompts(tx, [row for row in rows if row is not None])
    found = {key: first_words(title) for key, title in titles.items()}
    return [
        thread
        if thread.title
        else replace(thread, title=found.get((thread.resource_id or "", thread.id), thread.title))
        for thread in listed
    ]


def display_titles(tx: Transaction, rows: Sequence[Row[Any]]) -> dict[Key, str]:
    """The titles of threads without what tools added, or the start of a prompt if there is none."""
    named = {_key(row): clean_title(row.title or "") for row in rows}
    prompts = _titles_from_prompts(tx, [row for row in rows if not named[_key(row)]])
    return {**{key: title for key, title in named.items() if title}, **prompts}


def _titles_from_prompts(tx: Transaction, rows: Sequence[Row[Any]]) -> dict[Key, str]:
    """For each thread the first prompt that says something, or else the first one."""
    found: dict[Key, str] = {}
    for row in _query(tx, PROMPTS, rows) if rows else ():
        title, known = clean_title(row.preview), found.get(_key(row))
        if title and (known is None or (is_telling(title) and not is_telling(known))):
            found[_key(row)] = title
    return found


def first_words(text: str) -> str:
    """The start of a text, on one line, cut between words."""
    line = " ".join(text.split())
    if len(line) <= MAX_TITLE:
        return line
    start = line[: MAX_TITLE - 1]
    words = start.rpartition(" ")[0] if " " in start and line[MAX_TITLE - 1] != " " else start
    return f"{words.rstrip(' ,;:.')}…"


# Summaries: threads with their active run, pending approvals and usage.

USAGE: Final = """
SELECT t.owner, t.id, c.model, CAST(sum(c.input_tokens) AS BIGINT) AS input_tokens,
    CAST(sum(c.output_tokens) AS BIGINT) AS output_tokens, sum(c.cost) AS cost
FROM {chosen} CROSS JOIN consumptions c WHERE c.owner = t.owner AND c.thread_id = t.id
GROUP BY t.owner, t.id, c.model ORDER BY sum(c.input_tokens + c.output_tokens) DESC, c.model
"""
WAITING_FOR_APPROVAL: Final = """
SELECT DISTINCT t.owner, t.id FROM {chosen} CROSS JOIN messages m CROSS JOIN parts p
WHERE m.owner = t.owner AND m.thread_id = t.id AND m.id = t.active_leaf_id
    AND p.owner = m.owner AND p.message = m.key AND p.state = 'approval-requested'
"""
RUNS: Final = f"""
SELECT t.owner, t.id, count(*) AS runs,
    sum(CASE WHEN r.finished_at > r.started_at AND NOT {OF_SUB_AGENT} THEN {{seconds}} END) AS seconds
FROM {{chosen}} CROSS JOIN runs r WHERE r.owner = t.owner AND r.thread_id = t.id GROUP BY t.owner, t.id
"""


class ThreadSummary(Value, kw_only=True):
    """A thread with what a list shows of it."""

    thread: Thread
    title: str | None = None  # for display: without what tools added, or from a prompt if the thread has none
    repository: str | None = None  # the git repository with the project, or else the project
    models: tuple[str, ...] = ()  # the models that responded, the one with the most tokens first
    errors: int = 0  # messages with a failed call
    pinned: bool = False
    tags: tuple[str, ...] = ()
    note: str | None = None
    run_id: str | None = None  # the active run, if there is one
    run_status: RunStatus | None = None
    waiting: bool = False  # for the approval of a call
    runs: int = 0
    seconds: float | None = None  # of its runs without those of sub-agents, as far as they are known
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None  # in US dollars, of responses with a price


def list_summaries(
    tx: Transaction,
    filter: ThreadFilter | None = None,
    *,
    limit: int = 50,
    cursor: str | None = None,
    order: Order = "desc",
    sort: ThreadSort = "time",
) -> Page[ThreadSummary]:
    """A page of threads as `list` returns them, each with what a list shows of it."""
    rows, more = _page_of_rows(tx, filter, limit, cursor, order, sort)
    return Page(tuple(_summaries(tx, rows)), more)


def summary(tx: Transaction, thread_id: str) -> ThreadSummary:
    """A thread with what a list shows of it. A thread that does not exist is a `NotFoundError`."""
    return _summaries(tx, [find(tx, thread_id)])[0]


def _summaries(tx: Transaction, rows: Sequence[Row[Any]]) -> list[ThreadSummary]:
    if not rows:
        return []
    usage: dict[Key, list[Row[Any]]] = {}
    for row in _query(tx, USAGE, rows):
        usage.setdefault(_key(row), []).append(row)
    active = _active_runs(tx, rows)
    waiting = {_key(row) for row in _query(tx, WAITING_FOR_APPROVAL, rows)}
    done = {_key(row): row for row in _query(tx, RUNS.replace("{seconds}", SECONDS[tx.is_sqlite]), rows)}
    titles = display_titles(tx, rows)
    return [
        _summary(row, usage.get(key, []), active.get(key), done.get(key), key in waiting, titles.get(key))
        for row in rows
        for key in [_key(row)]
    ]


def _key(row: Row[Any]) -> Key:
    return (row.owner, row.id)


def _query(tx: Transaction, query: str, rows: Sequence[Row[Any]]) -> CursorResult[Any]:
    """The result of a query for the threads of a page."""
    keys = tx.list_parameter([row.key for row in rows])
    return tx.sql(query.format(chosen=CHOSEN[tx.is_sqlite]), (keys,))


def _active_runs(tx: Transaction, rows: Sequence[Row[Any]]) -> dict[Key, Row[Any]]:
    """The active runs of threads: running ones rather than pending ones."""
    query = (
        select(runs.c.owner, runs.c.thread_id, runs.c.id, runs.c.status, runs.c.metadata)
        .where(runs.c.finished_at.is_(None), runs.c.status.in_(ACTIVE), tx.owned(runs))
        .order_by(runs.c.status)  # of two the last one stays
    )
    listed = {_key(row) for row in rows}
    return {
        (row.owner, row.thread_id): row
        for row in tx.rows(query)
        if (row.owner, row.thread_id) in listed and not is_idle(row, tx.now)
    }


def _summary(
    row: Row[Any],
    usage: Sequence[Row[Any]],
    run: Row[Any] | None,
    done: Row[Any] | None,
    waiting: bool,
    title: str | None,
) -> ThreadSummary:
    thread = from_row(row)
    metadata = thread.metadata or {}
    costs = [one.cost for one in usage if one.cost is not None]
    note: Json = metadata.get(NOTE)
    return ThreadSummary(
        thread=thread,
        title=title,
        repository=row.repository,
        models=tuple(one.model for one in usage if one.model is not None),
        errors=row.error_count,
        pinned=metadata.get(PINNED) is True,
        tags=tags_of(metadata),
        note=note if isinstance(note, str) else None,
        run_id=None if run is None else run.id,
        run_status=None if run is None else run.status,
        waiting=waiting,
        runs=0 if done is None else done.runs,
        seconds=None if done is None or done.seconds is None else float(done.seconds),
        input_tokens=sum(one.input_tokens for one in usage),
        output_tokens=sum(one.output_tokens for one in usage),
        cost=sum(costs) if costs else None,
    )
