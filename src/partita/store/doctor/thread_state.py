"""What a thread says of its messages: how many there are, which branch is active; and its labels."""

from typing import Any

from sqlalchemy import Integer, Row, case, cast, func, select, tuple_, update

from partita.errors import PartitaError
from partita.store import rebuild
from partita.store.schema import messages, thread_labels
from partita.store.schema import threads as thread_table
from partita.store.sql.transaction import Transaction
from partita.store.threads import branches
from partita.store.threads import rows as threads
from partita.types.json import is_object, loads

from .pages import page
from .report import Cursor, Finding, Found, Scope

WRONG_FLAGS = f"""{branches.PATH}
SELECT count(*) FROM messages
WHERE owner = ? AND thread_id = ? AND (CASE WHEN active THEN 1 ELSE 0 END)
    <> (CASE WHEN id IN (SELECT id FROM path) THEN 1 ELSE 0 END)
"""


def _finding(row: Row[Any], what: str, hint: str = "--repair derives it anew") -> Finding:
    return Finding(
        what=what,
        hint=hint,
        repairable=True,
        resource_id=row.owner or None,
        thread_id=row.id,
        keys=(row.owner, row.id),
    )


def _threads(tx: Transaction, after: Cursor) -> tuple[list[Row[Any]], Cursor | None]:
    query = select(thread_table).where(tx.owned(thread_table))
    rows, more = page(tx, query, (thread_table.c.key,), after)
    return list(rows), more


def _thread(tx: Transaction, finding: Finding) -> Row[Any]:
    owner, thread_id = finding.keys
    return threads.find(Transaction(tx.connection, owner, tx.now), thread_id, lock=True)


def find_wrong_counters(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Threads that count their messages or errors wrong, or would give a number twice."""
    rows, more = _threads(tx, after)
    of_thread = (messages.c.owner, messages.c.thread_id)
    errors = cast(func.sum(case((messages.c.has_errors, 1), else_=0)), Integer)
    query = (
        select(*of_thread, func.count().label("total"), func.max(messages.c.seq).label("last"))
        .add_columns(errors.label("errors"))
        .where(tuple_(*of_thread).in_([(row.owner, row.id) for row in rows]))
        .group_by(*of_thread)
    )
    counted = {(row.owner, row.thread_id): (row.total, row.errors, row.last) for row in tx.rows(query)}
    findings: list[Finding] = []
    for row in rows:
        total, wrong, last = counted.get((row.owner, row.id), (0, 0, 0))
        if (row.message_count, row.error_count) != (total, wrong):
            said = f"{row.message_count} messages and {row.error_count} errors"
            findings.append(_finding(row, f"says {said}, has {total} and {wrong}"))
        elif row.next_seq <= last:
            findings.append(_finding(row, f"would give number {row.next_seq} again: {last} is taken"))
    return Found(findings, more)


def recount(tx: Transaction, finding: Finding) -> None:
    """Count a thread's messages anew."""
    rebuild.recount(tx, _thread(tx, finding))


def find_wrong_branches(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Threads whose active branch leads nowhere, or is marked wrong."""
    rows, more = _threads(tx, after)
    findings: list[Finding] = []
    for row in rows:
        leaf = row.active_leaf_id
        mine = (messages.c.owner == row.owner, messages.c.thread_id == row.id)
        if (leaf is not None or row.message_count) and not tx.row(
            select(messages.c.key).where(*mine, messages.c.id == (leaf or "")).limit(1)
        ):
            hint = "--repair makes its last message the end of the active branch"
            findings.append(_finding(row, f"its active branch ends at {leaf or 'nothing'}, not there", hint))
            continue
        place = (row.owner, row.id)
        wrong = tx.sql(WRONG_FLAGS, (*place, leaf or "", *place, *place)).scalar()
        if wrong:
            findings.append(_finding(row, f"{wrong} messages are marked wrong as active or not"))
    return Found(findings, more)


def mark(tx: Transaction, finding: Finding) -> None:
    """Mark the active branch of a thread anew; without an end it gets that of the last message."""
    row = _thread(tx, finding)
    mine = (messages.c.owner == row.owner, messages.c.thread_id == row.id)
    leaf = tx.row(select(messages.c.id).where(*mine, messages.c.id == (row.active_leaf_id or "")))
    if leaf is None:
        leaf = tx.row(select(messages.c.id).where(*mine).order_by(messages.c.seq.desc()).limit(1))
    end = None if leaf is None else leaf.id
    own = (thread_table.c.owner == row.owner, thread_table.c.id == row.id)
    tx.run(update(thread_table).where(*own).values(active_leaf_id=end))
    branches.mark_active(tx, row.owner, row.id, end)


def find_wrong_labels(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Threads whose labels are not the scalars of their metadata."""
    rows, more = _threads(tx, after)
    keys = [(row.owner, row.id) for row in rows]
    query = select(thread_labels).where(tuple_(thread_labels.c.owner, thread_labels.c.thread_id).in_(keys))
    there: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for label in tx.rows(query):
        there.setdefault((label.owner, label.thread_id), set()).add((label.name, label.value))
    findings = [
        _finding(row, "its labels are not those of its metadata")
        for row in rows
        if (expected := _labels(row)) is not None and there.get((row.owner, row.id), set()) != expected
    ]
    return Found(findings, more)


def _labels(row: Row[Any]) -> set[tuple[str, str]] | None:
    """The labels that a thread should have; `None` when its metadata cannot be read."""
    try:
        metadata = None if row.metadata is None else loads(row.metadata)
    except PartitaError:
        return None
    return set(threads.labels(metadata)) if metadata is None or is_object(metadata) else None


def relabel(tx: Transaction, finding: Finding) -> None:
    """Derive the labels of a thread anew."""
    threads.rewrite_derived(tx, _thread(tx, finding))
