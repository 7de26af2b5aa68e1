"""Checks of runs, their logs and their tool calls."""

from typing import Final

from sqlalchemy import Integer, and_, case, cast, func, or_, select, update

from partita.errors import StoreError
from partita.store.logs import maintenance
from partita.store.logs import run_log as log
from partita.store.runs.rows import ACTIVE
from partita.store.schema import messages, parts, runs, threads
from partita.store.sql.transaction import Transaction

from .check import Cursor, Findings, Scope, page
from .report import BACKUP, Finding

# Logs

BLOCKS_PER_STEP: Final = 50
"""The number of blocks that are decompressed in one step: each may have half a megabyte."""


def find_gaps(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Rows of a log that do not continue the row before."""
    row = log.every_row(tx).c
    before = func.lag(row.last_seq).over(partition_by=(row.owner, row.run_id), order_by=row.first_seq)
    rows_of = select(
        row.owner, row.run_id, row.first_seq, (func.coalesce(before, 0) + 1).label("expected")
    ).subquery()
    query = select(rows_of).where(rows_of.c.first_seq != rows_of.c.expected)
    rows, more = page(tx, query, (rows_of.c.owner, rows_of.c.run_id, rows_of.c.first_seq), after)
    return Findings([_gap(*row) for row in rows], more)


def _gap(owner: str, run_id: str, first: int, expected: int) -> Finding:
    is_missing = first > expected
    what = f"entries {expected}-{first - 1} are missing" if is_missing else f"entry {first} exists twice"
    return Finding(what=what, hint=BACKUP, resource_id=owner or None, run_id=run_id)


def find_wrong_ends(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Runs whose log is longer or shorter than recorded."""
    row = log.every_row(tx).c
    end = (
        select(row.owner, row.run_id, func.max(row.last_seq).label("last"))
        .group_by(row.owner, row.run_id)
        .subquery()
    )
    last = func.coalesce(end.c.last, 0)
    query = (
        select(runs.c.owner, runs.c.id, runs.c.thread_id, runs.c.last_seq, last.label("last"))
        .join(end, and_(end.c.owner == runs.c.owner, end.c.run_id == runs.c.id), isouter=True)
        .where(tx.owned(runs), runs.c.log_dropped_at.is_(None), runs.c.last_seq != last)
    )
    rows, more = page(tx, query, (runs.c.owner, runs.c.id), after)
    findings = [
        Finding(
            what=f"the log ends at entry {row.last}, but the run at {row.last_seq}",
            # With a smaller number, entries of the log cannot be read; missing entries cannot be restored.
            hint="--repair corrects the number" if row.last > row.last_seq else BACKUP,
            repairable=row.last > row.last_seq,
            resource_id=row.owner or None,
            thread_id=row.thread_id,
            run_id=row.id,
            keys=(row.owner, row.id, row.last),
        )
        for row in rows
    ]
    return Findings(findings, more)


def set_end(tx: Transaction, finding: Finding) -> None:
    """Record the end of a log in its run."""
    owner, run_id, last = finding.keys
    tx.run(update(runs).where(runs.c.owner == owner, runs.c.id == run_id).values(last_seq=last))


def find_damaged_blocks(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Rows of logs that cannot be decompressed."""
    if not scope.full:
        return Findings([])
    row = log.every_row(tx).c
    keys = (row.owner, row.run_id, row.first_seq)
    query = select(*keys, row.last_seq, row.encoding, row.data)
    rows, more = page(tx, query, keys, after, BLOCKS_PER_STEP)
    findings: list[Finding] = []
    for block in rows:
        try:
            log.decode_row(tx, block.owner, block.run_id, block)
        except StoreError as error:
            what = f"{error.what}: entries {block.first_seq}-{block.last_seq}"
            findings.append(
                Finding(what=what, hint=BACKUP, resource_id=block.owner or None, run_id=block.run_id)
            )
    return Findings(findings, more)


def find_abandoned(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Active runs whose lease has expired."""
    query = select(runs.c.owner, runs.c.id, runs.c.thread_id, runs.c.lease_owner).where(
        tx.owned(runs),
        runs.c.finished_at.is_(None),
        or_(*(runs.c.status == status for status in ACTIVE)),
        runs.c.lease_expires_at <= tx.now,
    )
    rows, more = page(tx, query, (runs.c.owner, runs.c.id), after)
    findings = [
        Finding(
            what=f"the lease of {row.lease_owner or 'its owner'} has expired",
            hint="the next server that starts takes it over; or end it with store.runs.interrupt()",
            resource_id=row.owner or None,
            thread_id=row.thread_id,
            run_id=row.id,
        )
        for row in rows
    ]
    return Findings(findings, more)


def find_unsealed(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Ended runs whose log is not compressed into blocks."""
    query = select(runs.c.owner, runs.c.id, runs.c.thread_id).where(
        tx.owned(runs),
        runs.c.sealed.is_(False),
        runs.c.status.not_in(ACTIVE),
        runs.c.finished_at.is_not(None),
        runs.c.log_dropped_at.is_(None),
    )
    rows, more = page(tx, query, (runs.c.owner, runs.c.id), after)
    findings = [
        Finding(
            what="the run has ended, but its log is not sealed",
            hint="--repair seals it",
            severity="notice",
            repairable=True,
            resource_id=row.owner or None,
            thread_id=row.thread_id,
            run_id=row.id,
            keys=(row.owner, row.id),
        )
        for row in rows
    ]
    return Findings(findings, more)


def seal(tx: Transaction, finding: Finding) -> None:
    """Seal the log of a run."""
    owner, run_id = finding.keys
    maintenance.seal_run(Transaction(tx.connection, owner, tx.now), run_id)


# Tool calls

OPEN: Final = ("input-streaming", "input-available", "approval-requested", "approval-responded")
"""The states of calls without a result."""

_OF_MESSAGE = and_(messages.c.owner == parts.c.owner, messages.c.key == parts.c.message)
_OF_THREAD = and_(threads.c.owner == messages.c.owner, threads.c.id == messages.c.thread_id)
_OF_RUN = and_(runs.c.owner == messages.c.owner, runs.c.id == messages.c.run_id)


def find_open_calls(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Calls that will get no result: the conversation has continued, or the run has ended."""
    keys = (parts.c.message, parts.c.number)
    has_continued = or_(threads.c.active_leaf_id.is_(None), threads.c.active_leaf_id != messages.c.id)
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
            or_(has_continued, runs.c.status.not_in(ACTIVE)),
        )
    )
    rows, more = page(tx, query, keys, after)
    findings = [
        Finding(
            what=f"call {row.call_id} of {row.tool_name} is {row.state} and will get no result",
            hint="a model may refuse a conversation with an open call: set a result with update_part()",
            severity="notice",
            resource_id=row.owner or None,
            thread_id=row.thread_id,
            message_id=row.id,
            run_id=row.run_id,
        )
        for row in rows
    ]
    return Findings(findings, more)


def find_repeated_calls(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Call ids that occur more than once in a thread."""
    keys = (messages.c.owner, messages.c.thread_id, parts.c.call_id)
    active = cast(func.sum(case((messages.c.active, 1), else_=0)), Integer)
    query = (
        select(*keys, func.count().label("total"), active.label("active"))
        .join(messages, _OF_MESSAGE)
        .where(tx.owned(parts), parts.c.type == "tool-call", parts.c.path.not_like("%.%"))
        .group_by(*keys)
        .having(func.count() > 1)
    )
    rows, more = page(tx, query, keys, after)
    findings = [
        Finding(
            what=f"call id {row.call_id} occurs {row.total} times, {row.active} of them in the active branch",
            hint="a model may confuse the results of these calls",
            severity="notice",
            resource_id=row.owner or None,
            thread_id=row.thread_id,
        )
        for row in rows
    ]
    return Findings(findings, more)
