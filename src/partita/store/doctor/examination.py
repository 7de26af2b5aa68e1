"""Examining a store: every check, step by step; with repairs, and then once more."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from sqlalchemy import func, select

from partita.errors import StoreError
from partita.store.schema import blobs, messages
from partita.store.sql.transaction import Transaction
from partita.store.store import Store

from .audit import audit as find_strings
from .checks import CHECKS, Check
from .report import KEPT, CheckResult, Cursor, Finding, Found, Health, Scope

Progress: TypeAlias = Callable[[int, int], None]
"""Called with how many checks are done, and how many there are."""

MESSAGES_LOOKED_INTO = 2000
BLOBS_LOOKED_INTO = 500
"""About how many are compared with what is derived from them, unless all are."""


async def examine(
    store: Store,
    *,
    repair: bool = False,
    full: bool = False,
    audit: bool = False,
    progress: Progress | None = None,
) -> Health:
    """What is wrong with a store. A scoped store examines its owner's rows only.

    What takes long to compare is compared for a sample, unless `full`. With `repair`, what can be put right
    without guessing is put right, and the store is examined again. With `audit`, every message is searched
    for structures that are stored as JSON in a string.
    """
    scope = await store.read(_scope, full)
    passes = 2 if repair else 1
    results: list[CheckResult] = []
    for number, check in enumerate(CHECKS):
        result = await _examine(store, check, scope)
        if repair and result.repairable:
            result = replace(result, repaired=await _repair(store, check, scope._replace(every=1)))
        results.append(result)
        _tell(progress, number + 1, passes)
    if repair:
        for number, before in enumerate(results):
            after = await _examine(store, CHECKS[number], scope)
            results[number] = replace(after, repaired=before.repaired)
            _tell(progress, len(CHECKS) + number + 1, passes)
    return Health(tuple(results), await find_strings(store) if audit else None)


def _tell(progress: Progress | None, done: int, passes: int) -> None:
    if progress is not None:
        progress(done, passes * len(CHECKS))


def _scope(tx: Transaction, full: bool) -> Scope:
    if full:
        return Scope(full=True)
    total = tx.run(select(func.count()).select_from(messages).where(tx.owned(messages))).scalar_one()
    bytes_ = tx.run(select(func.count()).select_from(blobs).where(tx.owned(blobs))).scalar_one()
    digits = 0
    while bytes_ // 16**digits > BLOBS_LOOKED_INTO:
        digits += 1
    return Scope(full=False, every=max(1, total // MESSAGES_LOOKED_INTO), prefix="7" * digits)


async def _examine(store: Store, check: Check, scope: Scope) -> CheckResult:
    """All that a check finds; that it could not be done is a finding too."""
    kept: list[Finding] = []
    problems = notices = repairable = 0
    cursor: Cursor | None = ()
    while cursor is not None:
        try:
            found: Found = await store.read(check.find, cursor, scope)
        except StoreError as error:
            found = Found([Finding(what=f"this could not be examined: {error.what}", hint=error.hint)])
        kept.extend(found.findings[: KEPT - len(kept)])
        problems += sum(finding.severity == "problem" for finding in found.findings)
        notices += sum(finding.severity == "notice" for finding in found.findings)
        repairable += sum(finding.repairable for finding in found.findings)
        cursor = found.next
    return CheckResult(
        name=check.name,
        title=check.title,
        findings=tuple(kept),
        problems=problems,
        notices=notices,
        repairable=repairable,
    )


async def _repair(store: Store, check: Check, scope: Scope) -> int:
    """Put right what a check finds, one step a transaction; gives how many findings that were."""
    repaired = 0
    cursor: Cursor | None = ()
    while cursor is not None:
        count, cursor = await store.write(_repair_step, check, cursor, scope)
        repaired += count
    return repaired


def _repair_step(tx: Transaction, check: Check, cursor: Cursor, scope: Scope) -> tuple[int, Cursor | None]:
    found = check.find(tx, cursor, scope)
    repaired = sum(_mend(tx, check, finding) for finding in found.findings if finding.repairable)
    return repaired, found.next


def _mend(tx: Transaction, check: Check, finding: Finding) -> bool:
    """Put one finding right; what the store refuses stays, and is found again."""
    assert check.repair is not None, "its findings say they can be repaired"
    savepoint = tx.connection.begin_nested()
    try:
        check.repair(tx, finding)
    except StoreError:
        savepoint.rollback()
        return False
    savepoint.commit()
    return True
