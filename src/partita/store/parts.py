"""Parts across threads: by tool, state, error, duration, kind."""

from datetime import timedelta
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Interval, Row, and_, select, type_coerce

from .cursors import from_cursor, to_cursor
from .microseconds import MICROSECOND
from .tables import messages, parts, threads
from .transaction import Transaction
from .values import Page, PartFilter, StoredPart


def find(tx: Transaction, wanted: PartFilter, *, limit: int, cursor: str | None) -> Page[StoredPart]:
    """Parts that fit all that is asked, newest message first, in the order of the message."""
    query = _query().where(tx.mine(parts), *_conditions(wanted), *_durations(tx, wanted))
    if cursor is not None:
        message, number = from_cursor(cursor, int, int)
        rest = and_(parts.c.message == message, parts.c.number > number)
        query = query.where((parts.c.message < message) | rest)
    rows = tx.rows(query.limit(limit + 1))
    more = to_cursor(rows[limit - 1].message, rows[limit - 1].number) if len(rows) > limit else None
    return Page(tuple(map(_part, rows[:limit])), more)


def _query() -> Any:
    same_message = and_(messages.c.owner == parts.c.owner, messages.c.key == parts.c.message)
    same_thread = and_(threads.c.owner == messages.c.owner, threads.c.id == messages.c.thread_id)
    return (
        select(parts, messages.c.thread_id, messages.c.id, messages.c.seq)
        .join(messages, same_message)
        .join(threads, same_thread)
        .order_by(parts.c.message.desc(), parts.c.number)
    )


def _conditions(wanted: PartFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.thread_id is not None:
        conditions.append(messages.c.thread_id == wanted.thread_id)
    if wanted.types:
        conditions.append(parts.c.type.in_(wanted.types))
    if wanted.tool is not None:
        conditions.append(parts.c.tool_name == wanted.tool)
    if wanted.states:
        conditions.append(parts.c.state.in_(wanted.states))
    if wanted.has_error is not None:
        conditions.append(parts.c.error.is_not(None) if wanted.has_error else parts.c.error.is_(None))
    if wanted.agent is not None:
        conditions.append(threads.c.agent == wanted.agent)
    if wanted.project is not None:
        conditions.append(threads.c.project == wanted.project)
    if wanted.since is not None:
        conditions.append(messages.c.created_at >= wanted.since)
    if wanted.until is not None:
        conditions.append(messages.c.created_at < wanted.until)
    return conditions


def _durations(tx: Transaction, wanted: PartFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.longer_than is not None:
        conditions.append(_took(tx) > _span(tx, wanted.longer_than))
    if wanted.shorter_than is not None:
        conditions.append(_took(tx) < _span(tx, wanted.shorter_than))
    return conditions


def _took(tx: Transaction) -> ColumnElement[Any]:
    if tx.lite:  # microseconds, as integers
        return type_coerce(parts.c.ended_at, BigInteger) - type_coerce(parts.c.started_at, BigInteger)
    return type_coerce(parts.c.ended_at - parts.c.started_at, Interval)


def _span(tx: Transaction, span: timedelta) -> Any:
    return span // MICROSECOND if tx.lite else span


def _part(row: Row[Any]) -> StoredPart:
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
