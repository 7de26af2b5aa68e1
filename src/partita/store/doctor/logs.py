"""Runs and their logs: gaps, ends that do not fit, damaged blocks, runs that nobody holds or has sealed."""

from sqlalchemy import and_, func, or_, select, update

from partita.errors import StoreError
from partita.store.logs import maintenance
from partita.store.logs import run_log as log
from partita.store.runs.rows import ACTIVE
from partita.store.schema import runs
from partita.store.sql.transaction import Transaction

from .pages import page
from .report import BACKUP, Cursor, Finding, Found, Scope

BLOCKS = 50
"""How many blocks are unpacked at once: each may hold a quarter of a megabyte."""


def find_gaps(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Rows of a log that do not begin right behind the row before them."""
    row = log.every_row(tx).c
    before = func.lag(row.last_seq).over(partition_by=(row.owner, row.run_id), order_by=row.first_seq)
    rows_of = select(
        row.owner, row.run_id, row.first_seq, (func.coalesce(before, 0) + 1).label("expected")
    ).subquery()
    query = select(rows_of).where(rows_of.c.first_seq != rows_of.c.expected)
    rows, more = page(tx, query, (rows_of.c.owner, rows_of.c.run_id, rows_of.c.first_seq), after)
    return Found([_gap(*row) for row in rows], more)


def _gap(owner: str, run_id: str, first: int, expected: int) -> Finding:
    missing = first > expected
    what = f"entries {expected}-{first - 1} are missing" if missing else f"entry {first} is there twice"
    return Finding(what=what, hint=BACKUP, resource_id=owner or None, run_id=run_id)


def find_wrong_ends(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Runs whose log is longer or shorter than they say."""
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
            what=f"the log ends at entry {row.last}, the run says {row.last_seq}",
            # A run that says too little hides entries that are there; what is missing cannot be made.
            hint="--repair lets the run say so" if row.last > row.last_seq else BACKUP,
            repairable=row.last > row.last_seq,
            resource_id=row.owner or None,
            thread_id=row.thread_id,
            run_id=row.id,
            keys=(row.owner, row.id, row.last),
        )
        for row in rows
    ]
    return Found(findings, more)


def set_end(tx: Transaction, finding: Finding) -> None:
    """Let a run say where its log ends."""
    owner, run_id, last = finding.keys
    tx.run(update(runs).where(runs.c.owner == owner, runs.c.id == run_id).values(last_seq=last))


def find_damaged_blocks(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Rows of logs that cannot be unpacked."""
    if not scope.full:
        return Found([])
    row = log.every_row(tx).c
    keys = (row.owner, row.run_id, row.first_seq)
    query = select(*keys, row.last_seq, row.encoding, row.data)
    rows, more = page(tx, query, keys, after, BLOCKS)
    findings: list[Finding] = []
    for found in rows:
        try:
            log.decode_row(tx, found.owner, found.run_id, found)
        except StoreError as error:
            what = f"{error.what}: entries {found.first_seq}-{found.last_seq}"
            findings.append(
                Finding(what=what, hint=BACKUP, resource_id=found.owner or None, run_id=found.run_id)
            )
    return Found(findings, more)


def find_abandoned(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Runs at work whose owner's time is up."""
    query = select(runs.c.owner, runs.c.id, runs.c.thread_id, runs.c.lease_owner).where(
        tx.owned(runs),
        runs.c.finished_at.is_(None),
        or_(*(runs.c.status == status for status in ACTIVE)),
        runs.c.lease_expires_at <= tx.now,
    )
    rows, more = page(tx, query, (runs.c.owner, runs.c.id), after)
    findings = [
        Finding(
            what=f"{row.lease_owner or 'its owner'} went away while it was at work",
            hint="it is taken up by the next server that starts; or end it with store.runs.interrupt()",
            resource_id=row.owner or None,
            thread_id=row.thread_id,
            run_id=row.id,
        )
        for row in rows
    ]
    return Found(findings, more)


def find_unsealed(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Runs that have ended and whose log could be smaller."""
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
            what="it has ended, and its log is not sealed",
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
    return Found(findings, more)


def seal(tx: Transaction, finding: Finding) -> None:
    """Seal the log of a run."""
    owner, run_id = finding.keys
    maintenance.seal_run(Transaction(tx.connection, owner, tx.now), run_id)
