"""`store.search`: full-text search of messages and titles, and the passages that show why they were found.

The same tokens are found on every engine; the score is the engine's own.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, Table, select

from partita.store.messages.rows import read_messages
from partita.store.schema import messages, threads
from partita.store.sql.pages import from_cursor, page_size, to_cursor
from partita.store.sql.transaction import Transaction, batched
from partita.store.values import Page, SearchField, SearchFilter, SearchHit
from partita.types.messages import Message

from .fields import texts_by_field
from .index import ranked
from .query import NEWEST, Match, Query, message_fields, parse
from .snippet import NO_PASSAGE, best_passage, composed, draw, snippet


def search(
    tx: Transaction,
    query: str,
    filter: SearchFilter | None = None,
    *,
    limit: int = 20,
    cursor: str | None = None,
) -> Page[SearchHit]:
    """A page of messages and titles that contain all words of a query, the best first.

    `"a phrase"`, `-without`, `prefix*`; the last word is also a prefix.
    """
    limit, selected = page_size(limit), filter or SearchFilter()
    offset, newest, newest_thread = _position(cursor)
    parsed = parse(query)
    if not parsed.required:
        return Page(())
    titles = ranked(tx, parsed, selected, titles=True, newest=newest_thread)
    found = ranked(tx, parsed, selected, titles=False, newest=newest)
    matches = [*((True, match) for match in titles), *((False, match) for match in found)]
    hits = _hits(tx, matches[offset : offset + limit], parsed, selected)
    if offset + limit >= len(matches):
        return Page(hits)
    # Later pages are of what was there for the first one.
    top = max((match.key for match in found), default=0)
    top_thread = max((match.key for match in titles), default=0)
    return Page(hits, to_cursor(offset + limit, top, top_thread))


def _position(cursor: str | None) -> tuple[int, ...]:
    """The number of hits on earlier pages, and the newest keys of messages and threads at that time."""
    numbers: Any = (0, NEWEST, NEWEST) if cursor is None else from_cursor(cursor, int, int, int)
    return tuple(min(max(number, 0), NEWEST) for number in numbers)


def _hits(
    tx: Transaction, matches: Sequence[tuple[bool, Match]], query: Query, filter: SearchFilter
) -> tuple[SearchHit, ...]:
    titles = _rows(tx, select(threads), threads, [match.key for is_title, match in matches if is_title])
    # Not a join: without statistics of the tables, a server would start with the threads.
    title = select(threads.c.title).where(
        threads.c.owner == messages.c.owner, threads.c.id == messages.c.thread_id
    )
    with_title = select(messages, title.scalar_subquery().label("thread_title"))
    found = _rows(tx, with_title, messages, [match.key for is_title, match in matches if not is_title])
    return tuple(
        _title_hit(titles[match.key], match, query)
        if is_title
        else _message_hit(tx, found[match.key], match, query, filter)
        for is_title, match in matches
    )


def _rows(tx: Transaction, query: Select[Any], table: Table, keys: Sequence[int]) -> dict[int, Row[Any]]:
    owned = query.where(tx.owned(table))
    return {row.key: row for batch in batched(keys) for row in tx.rows(owned.where(table.c.key.in_(batch)))}


def _title_hit(thread: Row[Any], match: Match, query: Query) -> SearchHit:
    text, highlights = snippet(thread.title or "", query.required)
    return SearchHit(
        thread_id=thread.id,
        resource_id=thread.owner or None,
        title=thread.title,
        field="title",
        snippet=text,
        highlights=highlights,
        score=1.0 + match.score,
        created_at=thread.created_at,
    )


def _message_hit(
    tx: Transaction, row: Row[Any], match: Match, query: Query, filter: SearchFilter
) -> SearchHit:
    best = _best_field(tx, row, query, filter)
    return SearchHit(
        thread_id=row.thread_id,
        message_id=row.id,
        seq=row.seq,
        role=row.role,
        resource_id=row.owner or None,
        title=row.thread_title,
        field=best.field,
        snippet=best.snippet,
        highlights=best.highlights,
        score=match.score,
        created_at=row.created_at,
    )


class _FieldSnippet(NamedTuple):
    """The snippet of a field."""

    field: SearchField
    snippet: str
    highlights: tuple[tuple[int, int], ...]


def _best_field(tx: Transaction, row: Row[Any], query: Query, filter: SearchFilter) -> _FieldSnippet:
    """The field that best shows why a message was found. Blobs are only read if nothing else shows it."""
    (message,) = read_messages(tx, [row], "reference")
    best = _best_of(message, query, filter)
    if best.highlights or row.blobs is None:
        return best
    (whole,) = read_messages(tx, [row], "inline")
    return _best_of(whole, query, filter)


def _best_of(message: Message, query: Query, filter: SearchFilter) -> _FieldSnippet:
    texts = {name: composed(text) for name, text in texts_by_field(message).items()}
    names = message_fields(filter)
    passages = {name: best_passage(texts[name], query.required) for name in names}
    best = max(names, key=lambda name: (passages[name].terms, bool(texts[name])))
    text, highlights = draw(texts[best], passages[best])
    # The output of a call whose blob is missing has no text: the name of its tool is shown instead.
    return _FieldSnippet(best, text or draw(texts["tool-input"], NO_PASSAGE)[0], highlights)
