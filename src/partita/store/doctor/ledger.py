"""Responses that several threads tell of: whether the right one of their rows is counted."""

from sqlalchemy import column, select, text, true

from partita.store.sql.transaction import Transaction
from partita.store.usage import choose_counted, lock_ledger, ranked_rows

from .pages import page
from .report import Cursor, Finding, Found, Scope


def find_miscounted(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Responses whose best row is not the counted one."""
    names = ("owner", "key", "thread_id", "counted", "best")
    ranked = text(ranked_rows(tx)).columns(*map(column, names)).subquery()
    rows_of = ranked.c
    mine = true() if tx.owner is None else rows_of.owner == tx.owner
    keys = (rows_of.owner, rows_of.key)
    query = select(*keys, rows_of.thread_id).where(mine, rows_of.best, ~rows_of.counted)
    rows, more = page(tx, query, keys, after)
    findings = [
        Finding(
            what=f"response {row.key} is not counted where it should be",
            hint="--repair counts it there, and nowhere else",
            repairable=True,
            resource_id=row.owner or None,
            thread_id=row.thread_id,
            keys=(row.owner, row.key),
        )
        for row in rows
    ]
    return Found(findings, more)


def settle(tx: Transaction, finding: Finding) -> None:
    """Let the best row of a response be the counted one."""
    owner, key = finding.keys
    lock_ledger(tx, owner)
    choose_counted(tx, owner, [key])
