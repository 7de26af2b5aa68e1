"""Tool calls that were never answered, and ids of calls that a thread has twice."""

from sqlalchemy import Integer, and_, case, cast, func, or_, select

from partita.store.runs.rows import ACTIVE
from partita.store.schema import messages, parts, runs, threads
from partita.store.sql.transaction import Transaction

from .pages import page
from .report import Cursor, Finding, Found, Scope

OPEN = ("input-streaming", "input-available", "approval-requested", "approval-responded")

_OF_MESSAGE = and_(messages.c.owner == parts.c.owner, messages.c.key == parts.c.message)
_OF_THREAD = and_(threads.c.owner == messages.c.owner, threads.c.id == messages.c.thread_id)
_OF_RUN = and_(runs.c.owner == messages.c.owner, runs.c.id == messages.c.run_id)


def find_unanswered(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Calls without an output that nobody will answer any more: the talk went on, or the run has ended."""
    keys = (parts.c.message, parts.c.number)
    went_on = or_(threads.c.active_leaf_id.is_(None), threads.c.active_leaf_id != messages.c.id)
    query = (
        select(*keys, parts.c.call_id, parts.c.tool_name, parts.c.state, messages.c.owner, messages.c.id)
        .add_columns(messages.c.thread_id, messages.c.run_id)
        .join(messages, _OF_MESSAGE)
        .join(threads, _OF_THREAD)
        .join(runs, _OF_RUN, isouter=True)
        .where(
            tx.owned(parts),
            parts.c.type == "tool-call",
            parts.c.state.in_(OPEN),
            or_(went_on, runs.c.status.not_in(ACTIVE)),
        )
    )
    rows, more = page(tx, query, keys, after)
    findings = [
        Finding(
            what=f"call {row.call_id} of {row.tool_name} is {row.state}, and nobody will answer it",
            hint="a model may refuse a talk with an open call: answer it with update_part()",
            severity="notice",
            resource_id=row.owner or None,
            thread_id=row.thread_id,
            message_id=row.id,
            run_id=row.run_id,
        )
        for row in rows
    ]
    return Found(findings, more)


def find_repeated(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Ids of calls that stand more than once in a thread."""
    keys = (messages.c.owner, messages.c.thread_id, parts.c.call_id)
    on_the_way = func.sum(case((messages.c.active, 1), else_=0))
    query = (
        select(*keys, func.count().label("total"), cast(on_the_way, Integer).label("active"))
        .join(messages, _OF_MESSAGE)
        .where(tx.owned(parts), parts.c.type == "tool-call", parts.c.path.not_like("%.%"))
        .group_by(*keys)
        .having(func.count() > 1)
    )
    rows, more = page(tx, query, keys, after)
    findings = [
        Finding(
            what=f"call id {row.call_id} stands {row.total} times, {row.active} of them in the active branch",
            hint="a model may take the output of one for that of the other",
            severity="notice",
            resource_id=row.owner or None,
            thread_id=row.thread_id,
        )
        for row in rows
    ]
    return Found(findings, more)
