"""Full-text search: what is found, in which order, and how it is shown.

The same words are found on every engine; the score is the engine's own. Only the newest matches are ranked,
a fixed number of them, so that a common word in a large store costs no more than in a small one.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, Table, select

from partita.store.cursors import from_cursor, to_cursor
from partita.store.message_rows import read_messages
from partita.store.tables import messages, threads
from partita.store.transaction import Transaction, cut
from partita.store.values import Page
from partita.types.messages import Message
from partita.types.times import Moment
from partita.types.value import Value

from . import postgres, sqlite
from .filter import FIELDS, NEWEST, Field, Match, SearchFilter
from .query import Query, parse
from .snippet import NOTHING, best_passage, composed, shown, snippet
from .text import SearchEntry, fields_of

CANDIDATES = 1000
"""How many of the newest matching messages, and of the newest matching titles, are ranked."""

THREAD_CANDIDATES = 20_000
"""How many of the newest matching messages tell which threads match."""

ANY = SearchFilter()


class Shown(NamedTuple):
    """How a message shows why it was found."""

    field: Field
    snippet: str
    highlights: tuple[tuple[int, int], ...]


class Hit(Value, kw_only=True):
    """A message that was found, or a thread by its title: where it is, and the passage that shows why."""

    thread_id: str
    message_id: str | None = None  # of a title: none
    seq: int | None = None
    role: str | None = None
    resource_id: str | None = None
    title: str | None = None  # of the thread
    field: Field
    snippet: str
    highlights: tuple[tuple[int, int], ...]  # from where to where in the snippet, in characters
    score: float  # higher is better; a title has 1 more than a message can have
    created_at: Moment


def index(tx: Transaction, entries: Sequence[SearchEntry]) -> None:
    """Make entries findable: messages by their keys, titles by the negative of their thread's key."""
    prepare(tx, entries)()


def prepare(tx: Transaction, entries: Sequence[SearchEntry]) -> Callable[[], None]:
    """Get entries ready, perhaps while the server is busy with something else; call to write them."""
    return sqlite.prepare(tx, entries) if tx.lite else postgres.prepare(tx, entries)


def forget(tx: Transaction, keys: Sequence[tuple[str, int]]) -> None:
    """Make entries, by owner and key, unfindable. Those of others stay."""
    mine = [(owner, key) for owner, key in keys if tx.owner in (None, owner)]
    (sqlite if tx.lite else postgres).delete(tx, mine)


def find(
    tx: Transaction,
    query: str,
    *,
    limit: int = 20,
    cursor: str | None = None,
    thread_id: str | None = None,
    roles: Sequence[str] = (),
    tool: str | None = None,
    agent: str | None = None,
    project: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    fields: Sequence[str] = (),
) -> Page[Hit]:
    """Titles, then messages, that hold all words of a query, the best first. Any text is a query."""
    wanted = SearchFilter(
        thread_id=thread_id, roles=roles, tool=tool, agent=agent, project=project,
        since=since, until=until, fields=fields,
    )  # fmt: skip
    offset, newest, newest_thread = _position(cursor)
    parsed = parse(query)
    if not parsed.wanted:
        return Page(())
    found_titles = _ranked(tx, parsed, wanted, titles=True, newest=newest_thread)
    found_messages = _ranked(tx, parsed, wanted, titles=False, newest=newest)
    ranked = [*((True, match) for match in found_titles), *((False, match) for match in found_messages)]
    hits = _hits(tx, ranked[offset : offset + limit], parsed, wanted)
    if offset + limit >= len(ranked):
        return Page(hits)
    # Later pages look at what was there for the first one.
    top = max((match.key for match in found_messages), default=0)
    top_thread = max((match.key for match in found_titles), default=0)
    return Page(hits, to_cursor(offset + limit, top, top_thread))


def _position(cursor: str | None) -> tuple[int, ...]:
    """How many hits were given before, and the newest keys of messages and threads at that time."""
    numbers: Any = (0, NEWEST, NEWEST) if cursor is None else from_cursor(cursor, int, int, int)
    return tuple(min(max(number, 0), NEWEST) for number in numbers)


def _ranked(tx: Transaction, query: Query, wanted: SearchFilter, *, titles: bool, newest: int) -> list[Match]:
    if not (wanted.titles if titles else wanted.columns):
        return []
    engine = sqlite if tx.lite else postgres
    matches = engine.matches(tx, query, wanted, titles=titles, newest=newest, limit=CANDIDATES)
    ranked = sorted(matches, key=lambda match: (-match.score, -match.key))
    if tx.lite and tx.owner is not None:
        # FTS5 weighs words by how rare they are in everybody's messages: an owner is told the order alone.
        return [match._replace(score=1 / (2 + place)) for place, match in enumerate(ranked)]
    return ranked


def thread_ids_matching(tx: Transaction, query: str, limit: int = 1000) -> list[tuple[str, str]]:
    """Owners and ids of the threads that match a query by title or by a message, the latest first."""
    parsed = parse(query)
    if not parsed.wanted:
        return []
    engine = sqlite if tx.lite else postgres
    found = [
        pair
        for titles in (True, False)
        for pair in engine.threads_of_matches(
            tx, parsed, ANY, titles=titles, limit=limit, within=THREAD_CANDIDATES
        )
    ]
    return list(dict.fromkeys(found))[:limit]


def _hits(
    tx: Transaction, ranked: Sequence[tuple[bool, Match]], query: Query, wanted: SearchFilter
) -> tuple[Hit, ...]:
    titles = _rows(tx, select(threads), threads, [match.key for is_title, match in ranked if is_title])
    # Not a join: a server that knows little of the tables would begin with the threads.
    title = select(threads.c.title).where(
        threads.c.owner == messages.c.owner, threads.c.id == messages.c.thread_id
    )
    with_title = select(messages, title.scalar_subquery().label("thread_title"))
    found = _rows(tx, with_title, messages, [match.key for is_title, match in ranked if not is_title])
    return tuple(
        _of_title(titles[match.key], match, query)
        if is_title
        else _of_message(tx, found[match.key], match, query, wanted)
        for is_title, match in ranked
    )


def _rows(tx: Transaction, query: Select[Any], table: Table, keys: Sequence[int]) -> dict[int, Row[Any]]:
    mine = query.where(tx.mine(table))
    return {row.key: row for batch in cut(keys) for row in tx.rows(mine.where(table.c.key.in_(batch)))}


def _of_title(thread: Row[Any], match: Match, query: Query) -> Hit:
    text, highlights = snippet(thread.title or "", query.wanted)
    return Hit(
        thread_id=thread.id,
        resource_id=thread.owner or None,
        title=thread.title,
        field="title",
        snippet=text,
        highlights=highlights,
        score=1.0 + match.score,
        created_at=thread.created_at,
    )


def _of_message(tx: Transaction, row: Row[Any], match: Match, query: Query, wanted: SearchFilter) -> Hit:
    shown_as = _shown(tx, row, query, wanted)
    return Hit(
        thread_id=row.thread_id,
        message_id=row.id,
        seq=row.seq,
        role=row.role,
        resource_id=row.owner or None,
        title=row.thread_title,
        field=shown_as.field,
        snippet=shown_as.snippet,
        highlights=shown_as.highlights,
        score=match.score,
        created_at=row.created_at,
    )


def _shown(tx: Transaction, row: Row[Any], query: Query, wanted: SearchFilter) -> Shown:
    """The field that shows best why a message was found; what moved to blobs is fetched only if it must."""
    (message,) = read_messages(tx, [row], "reference")
    best = _best(message, query, wanted)
    if best.highlights or row.blobs is None:
        return best
    (whole,) = read_messages(tx, [row], "inline")
    return _best(whole, query, wanted)


def _best(message: Message, query: Query, wanted: SearchFilter) -> Shown:
    texts: dict[Field, str] = dict(zip(FIELDS[1:], map(composed, fields_of(message)), strict=True))
    passages = {name: best_passage(texts[name], query.wanted) for name in wanted.columns}
    best = max(wanted.columns, key=lambda name: (passages[name].terms, bool(texts[name])))
    text, highlights = shown(texts[best], passages[best])
    # An output whose blob is gone has nothing to show: the name of its tool says at least what it was.
    return Shown(best, text or shown(texts["tool-input"], NOTHING)[0], highlights)


__all__ = ["CANDIDATES", "Hit", "SearchEntry", "find", "forget", "index", "thread_ids_matching"]
