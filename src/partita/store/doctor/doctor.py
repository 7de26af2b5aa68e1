"""Check a store and repair it."""

from dataclasses import replace

from sqlalchemy import func, select

from partita.errors import StoreError
from partita.store.schema import blobs, messages
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import OnProgress

from . import contents, derived, files, references, runs
from .check import Check, Cursor, Findings, Scope
from .report import CheckResult, Finding, Health

MAX_FINDINGS = 100
"""The number of findings of a check that are returned; all of them are counted."""

SAMPLED_MESSAGES = 2000
SAMPLED_BLOBS = 500
"""The approximate size of samples."""

CHECKS: tuple[Check, ...] = (
    # In this order, because later repairs depend on earlier ones.
    Check("file", "The database file is intact", files.find_damage),
    Check("permissions", "Files are private", files.find_shared_files),
    Check("orphans", "Every row has its parent row", references.find_orphans, references.repair_orphans),
    Check("contents", "Messages can be read", contents.find_damaged_messages),
    Check("columns", "Threads, runs, sources and usage can be read", contents.find_damaged_columns),
    Check("blobs", "Blobs of messages exist", references.find_missing_blobs, references.add_reference),
    Check("blob-bytes", "Blobs match their hashes", references.find_damaged_blobs),
    Check("derived", "Derived data is up to date", derived.find_outdated, derived.rebuild_message),
    Check("titles", "Titles are in the search index", derived.find_outdated_titles, derived.rebuild_thread),
    Check("labels", "Thread labels match the metadata", derived.find_wrong_labels, derived.rebuild_thread),
    Check(
        "index",
        "The search index has no deleted messages",
        references.find_stray_entries,
        references.delete_entry,
    ),
    Check("counters", "Thread counters are correct", derived.find_wrong_counters, derived.recount),
    Check("branches", "Active branches are correct", derived.find_wrong_branches, derived.mark_branch),
    Check("ledger", "Every response is counted once", derived.find_miscounted, derived.choose_counted_row),
    Check("unused-blobs", "Every blob is used", references.find_unused_blobs, references.delete_blob),
    Check("log-gaps", "Logs have no gaps", runs.find_gaps),
    Check("log-ends", "Log lengths are correct", runs.find_wrong_ends, runs.set_end),
    Check("log-blocks", "Logs can be decompressed", runs.find_damaged_blocks),
    Check("abandoned-runs", "Active runs have a valid lease", runs.find_abandoned),
    Check("unsealed-runs", "Logs of ended runs are sealed", runs.find_unsealed, runs.seal),
    Check("open-calls", "Tool calls have a result", runs.find_open_calls),
    Check("repeated-calls", "Tool call ids are unique", runs.find_repeated_calls),
)


async def check_store(
    store: Store,
    *,
    repair: bool = False,
    full: bool = False,
    audit: bool = False,
    progress: OnProgress | None = None,
) -> Health:
    """Check a store. For a scoped store only the rows of its owner are checked.

    Slow checks use a sample, unless `full`. With `repair`, damage that can be repaired with certainty is
    repaired, and the store is checked again. With `audit`, every message is searched for JSON in strings.
    """
    scope = await store.read(_scope, full)
    total = len(CHECKS) * (2 if repair else 1)
    results: list[CheckResult] = []
    for number, check in enumerate(CHECKS, 1):
        result = await _check(store, check, scope)
        if repair and result.repairable:
            result = replace(result, repaired=await _repair(store, check, scope._replace(every=1)))
        results.append(result)
        if progress is not None:
            progress(number, total)
    if repair:
        for index, check in enumerate(CHECKS):
            after = await _check(store, check, scope)
            results[index] = replace(after, repaired=results[index].repaired)
            if progress is not None:
                progress(len(CHECKS) + index + 1, total)
    return Health(tuple(results), await contents.audit(store) if audit else None)


def _scope(tx: Transaction, full: bool) -> Scope:
    if full:
        return Scope(full=True)
    message_count = tx.run(select(func.count()).select_from(messages).where(tx.owned(messages))).scalar_one()
    blob_count = tx.run(select(func.count()).select_from(blobs).where(tx.owned(blobs))).scalar_one()
    digits = 0
    while blob_count // 16**digits > SAMPLED_BLOBS:
        digits += 1
    return Scope(full=False, every=max(1, message_count // SAMPLED_MESSAGES), prefix="7" * digits)


async def _check(store: Store, check: Check, scope: Scope) -> CheckResult:
    """The result of a check. If it fails, that is a finding too."""
    kept: list[Finding] = []
    problems = notices = repairable = 0
    cursor: Cursor | None = ()
    while cursor is not None:
        try:
            findings, cursor = await store.read(check.find, cursor, scope)
        except StoreError as error:
            failure = Finding(what=f"the check failed: {error.what}", hint=error.hint)
            findings, cursor = Findings([failure])
        kept.extend(findings[: MAX_FINDINGS - len(kept)])
        problems += sum(finding.severity == "problem" for finding in findings)
        notices += sum(finding.severity == "notice" for finding in findings)
        repairable += sum(finding.repairable for finding in findings)
    return CheckResult(
        name=check.name,
        title=check.title,
        findings=tuple(kept),
        problems=problems,
        notices=notices,
        repairable=repairable,
    )


async def _repair(store: Store, check: Check, scope: Scope) -> int:
    """Repair what a check finds, each step in a transaction; returns the number of repaired findings."""
    repaired = 0
    cursor: Cursor | None = ()
    while cursor is not None:
        count, cursor = await store.write(_repair_step, check, cursor, scope)
        repaired += count
    return repaired


def _repair_step(tx: Transaction, check: Check, cursor: Cursor, scope: Scope) -> tuple[int, Cursor | None]:
    findings, following = check.find(tx, cursor, scope)
    repaired = sum(_repair_finding(tx, check, finding) for finding in findings if finding.repairable)
    return repaired, following


def _repair_finding(tx: Transaction, check: Check, finding: Finding) -> bool:
    """Repair a finding, if the store accepts it. Otherwise the next check has it again."""
    assert check.repair is not None, "its findings are repairable"
    savepoint = tx.connection.begin_nested()
    try:
        check.repair(tx, finding)
    except StoreError:
        savepoint.rollback()
        return False
    savepoint.commit()
    return True
