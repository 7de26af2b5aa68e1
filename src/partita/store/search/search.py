"""`store.search`: full-text search of messages and titles, and the passages that show why they were found.

The same tokens are found on every engine; the score is the engine's own.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from msgspec.structs import replace
from sqlalchemy import Row, Select, Table, select

from partita.store.messages.rows import read_messages
from partita.store.schema import messages, threads
from partita.store.sql.pages import from_cursor, page_size, to_cursor
from partita.store.sql.transaction import Transaction, batched
from partita.store.threads.filter import conditions
from partita.store.threads.lists import with_display_titles
from partita.store.values import (
    MESSAGE_FIELDS,
    SearchField,
    SearchFilter,
    SearchHit,
    SearchPage,
    ThreadFilter,
)
from partita.types.messages import Message
from partita.types.threads import Thread

from .conditions import NEWEST, Key, Match, shown_fields
from .fields import fields_by_part, texts_by_field
from .index import CANDIDATES, counted, ranked
from .query import Condition, Query, parse, with_filter
from .snippet import NO_PASSAGE, best_passage, composed, draw, snippet


def search(
    tx: Transaction,
    query: str,
    filter: SearchFilter | None = None,
    *,
    limit: int = 20,
    cursor: str | None = None,
    per_thread: int | None = None,
) -> SearchPage:
    """A page of messages and titles that match a query, the best first.

    With `per_thread`, the hits of a thread follow each other: its title, and at most so many of its messages.
    Every hit has the number of messages of its thread that match.
    """
    limit = page_size(limit)
    offset, newest, newest_thread = _position(cursor)
    parsed = _selected(tx, parse(query), filter or SearchFilter())
    titles = ranked(tx, parsed, titles=True, newest=newest_thread)
    found = ranked(tx, parsed, titles=False, newest=newest)
    threads = len({(match.owner, match.thread_id) for match in (*titles, *found)})
    complete = max(len(titles), len(found)) < CANDIDATES
    matches = [*((True, match) for match in titles), *((False, match) for match in found)]
    if per_thread is not None:
        matches = _by_thread(matches, per_thread)
    shown = matches[offset : offset + limit]
    ids = sorted({match.thread_id for _, match in shown})
    counts = counted(tx, parsed, found, ids, newest=newest)
    hits = _hits(tx, shown, parsed, counts)
    if offset + limit >= len(matches):
        return SearchPage(hits, None, threads, len(found), complete)
    # Later pages are of what was there for the first one.
    top = max((match.key for match in found), default=0)
    top_thread = max((match.key for match in titles), default=0)
    more = to_cursor(offset + limit, top, top_thread)
    return SearchPage(hits, more, threads, len(found), complete)


def _selected(tx: Transaction, query: Query, filter: SearchFilter) -> Query:
    """The query with the conditions of a filter. The keys of the threads that it selects are read first."""
    narrowed = with_filter(query, filter)
    wanted = filter.threads
    if wanted is None or wanted == ThreadFilter():
        return narrowed
    found = tx.rows(select(threads.c.key).where(tx.owned(threads), *conditions(tx, wanted)))
    keys = Condition("thread-keys", ([row.key for row in found],))
    return narrowed._replace(conditions=(*narrowed.conditions, keys))


def _position(cursor: str | None) -> tuple[int, ...]:
    """The number of hits on earlier pages, and the newest keys of messages and threads at that time."""
    numbers: Any = (0, NEWEST, NEWEST) if cursor is None else from_cursor(cursor, int, int, int)
    return tuple(min(max(number, 0), NEWEST) for number in numbers)


Found: TypeAlias = tuple[bool, Match]
"""Whether it is a title, and the match."""


def _by_thread(matches: Sequence[Found], per_thread: int) -> list[Found]:
    """Matches grouped by thread, in the order of the best match of each: its title and its best messages."""
    groups: dict[Key, list[Found]] = {}
    for is_title, match in matches:
        groups.setdefault((match.owner, match.thread_id), []).append((is_title, match))
    return [
        one
        for group in groups.values()
        for one in group[: per_thread + group[0][0]]  # a title is first
    ]


def _hits(
    tx: Transaction, matches: Sequence[Found], query: Query, counts: Mapping[Key, int]
) -> tuple[SearchHit, ...]:
    titles = _rows(tx, select(threads), threads, [match.key for is_title, match in matches if is_title])
    # Not a join: without statistics of the tables, a server would start with the threads.
    title = select(threads.c.title).where(
        threads.c.owner == messages.c.owner, threads.c.id == messages.c.thread_id
    )
    with_title = select(messages, title.scalar_subquery().label("thread_title"))
    found = _rows(tx, with_title, messages, [match.key for is_title, match in matches if not is_title])
    hits = [
        _title_hit(titles[match.key], match, query, counts)
        if is_title
        else _message_hit(tx, found[match.key], match, query, counts)
        for is_title, match in matches
    ]
    untitled = {(hit.resource_id, hit.thread_id) for hit in hits if not hit.title}
    shown = with_display_titles(tx, [Thread(id=one, resource_id=owner) for owner, one in untitled])
    names = {(thread.resource_id, thread.id): thread.title for thread in shown}
    return tuple(
        hit if hit.title else replace(hit, title=names[hit.resource_id, hit.thread_id]) for hit in hits
    )


def _rows(tx: Transaction, query: Select[Any], table: Table, keys: Sequence[int]) -> dict[int, Row[Any]]:
    owned = query.where(tx.owned(table))
    return {row.key: row for batch in batched(keys) for row in tx.rows(owned.where(table.c.key.in_(batch)))}


def _title_hit(thread: Row[Any], match: Match, query: Query, counts: Mapping[Key, int]) -> SearchHit:
    text, highlights = snippet(thread.title or "", query.terms_in("title"))
    return SearchHit(
        thread_id=thread.id,
        resource_id=thread.owner or None,
        title=thread.title,
        field="title",
        snippet=text,
        highlights=highlights,
        score=1.0 + match.score,
        created_at=thread.updated_at,
        thread_matches=counts.get((thread.owner, thread.id), 0),
    )


def _message_hit(
    tx: Transaction, row: Row[Any], match: Match, query: Query, counts: Mapping[Key, int]
) -> SearchHit:
    best = _best_field(tx, row, query)
    return SearchHit(
        thread_id=row.thread_id,
        message_id=row.id,
        seq=row.seq,
        role=row.role,
        part=best.part,
        resource_id=row.owner or None,
        title=row.thread_title,
        field=best.field,
        snippet=best.snippet,
        highlights=best.highlights,
        score=match.score,
        created_at=row.created_at,
        thread_matches=counts.get((row.owner, row.thread_id), 0),
    )


class _FieldSnippet(NamedTuple):
    """The snippet of a field, and the path of the part that it is from."""

    field: SearchField
    part: str | None
    snippet: str
    highlights: tuple[tuple[int, int], ...]


def _best_field(tx: Transaction, row: Row[Any], query: Query) -> _FieldSnippet:
    """The field that best shows why a message was found. Blobs are only read if nothing else shows it."""
    (message,) = read_messages(tx, [row], "reference")
    best = _best_of(message, query)
    if best.highlights or row.blobs is None:
        return best
    (whole,) = read_messages(tx, [row], "inline")
    return _best_of(whole, query)


def _best_of(message: Message, query: Query) -> _FieldSnippet:
    texts = {name: composed(text) for name, text in texts_by_field(message).items()}
    names = shown_fields(query)
    passages = {name: best_passage(texts[name], query.terms_in(name)) for name in names}
    best = max(names, key=lambda name: (passages[name].terms, bool(texts[name])))
    text, highlights = draw(texts[best], passages[best])
    # The output of a call whose blob is missing has no text: the name of its tool is shown instead.
    shown = text or draw(texts["tool-input"], NO_PASSAGE)[0]
    return _FieldSnippet(best, _part_with(message, best, query) if highlights else None, shown, highlights)


def _part_with(message: Message, field: SearchField, query: Query) -> str | None:
    """The path of the part whose field has the best passage."""
    terms = query.terms_in(field)
    number = MESSAGE_FIELDS.index(field)
    found = [
        (best_passage(composed(fields[number]), terms), path) for path, fields in fields_by_part(message)
    ]
    passage, path = max(found, key=lambda one: one[0].rank, default=(NO_PASSAGE, ""))
    return path if passage.terms and path else None
