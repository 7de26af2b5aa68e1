"""Checks that derived data is what its source gives now.

Of messages: flags, previews, part rows, index entries. Of threads: titles in the index, labels, counters,
active branches. Of the ledger: which row of a response is counted.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    case,
    cast,
    column,
    func,
    select,
    text,
    true,
    tuple_,
    update,
)

from partita.errors import PartitaError
from partita.store import rebuild
from partita.store.messages.parts_summary import PartRow
from partita.store.messages.prepared import Prepared, prepare
from partita.store.messages.rows import MESSAGES, read_messages
from partita.store.schema import messages, parts, thread_labels
from partita.store.schema import threads as thread_table
from partita.store.search.fields import NO_FIELDS, SearchEntry
from partita.store.search.postgres import vectors
from partita.store.sql.transaction import Transaction, batched
from partita.store.threads import branches
from partita.store.threads import rows as threads
from partita.store.usage import choose_counted, lock_ledger, ranked_rows
from partita.types.json import is_object, loads

from .check import Cursor, Findings, Scope, page
from .contents import moves_of
from .report import Finding

HINT = "--repair rebuilds it"

# Messages

FLAGS = ("has_tool_calls", "has_reasoning", "has_files", "has_errors", "preview", "parts_summary")


def find_outdated(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Messages whose flags, preview, part rows or index entry do not match their content."""
    query = select(messages).where(tx.owned(messages), messages.c.key % scope.every == 0)
    rows, more = page(tx, query, (messages.c.key,), after)
    part_rows = _part_rows(tx, rows)
    indexed = _indexed(tx, [(row.owner, row.key) for row in rows])
    findings: list[Finding] = []
    for row in rows:
        prepared = _prepared(tx, row)
        if prepared is None:
            continue  # the check of contents reports it
        outdated = [name for name in FLAGS if getattr(row, name) != getattr(prepared.derived, name)]
        if part_rows.get((row.owner, row.key), []) != prepared.derived.parts:
            outdated.append("part rows")
        if ((row.owner, row.key) in indexed) != _should_be_indexed(tx, row, prepared):
            outdated.append("index entry")
        if outdated:
            findings.append(
                Finding(
                    what=f"out of date: {', '.join(outdated)}",
                    hint=HINT,
                    repairable=True,
                    resource_id=row.owner or None,
                    thread_id=row.thread_id,
                    message_id=row.id,
                    keys=(row.owner, row.key),
                )
            )
    return Findings(findings, more)


def _prepared(tx: Transaction, row: Row[Any]) -> Prepared | None:
    """What is derived from a message; `None` if it cannot be read."""
    if row.role not in MESSAGES or (row.blobs is not None and moves_of(row) is None):
        return None
    try:
        return prepare(read_messages(tx, [row], "inline")[0], row.thread_id)
    except PartitaError:
        return None


def _part_rows(tx: Transaction, rows: Sequence[Row[Any]]) -> dict[tuple[str, int], list[PartRow]]:
    """The part rows of messages, by owner and key."""
    found: dict[tuple[str, int], list[PartRow]] = {}
    query = select(parts.c.owner, parts.c.message, *(parts.c[name] for name in PartRow._fields))
    for batch in batched((row.owner, row.key) for row in rows):
        of_messages = query.where(tuple_(parts.c.owner, parts.c.message).in_(batch))
        for row in tx.rows(of_messages.order_by(parts.c.message, parts.c.number)):
            found.setdefault((row.owner, row.message), []).append(PartRow._make(row[2:]))
    return found


def _should_be_indexed(tx: Transaction, row: Row[Any], prepared: Prepared) -> bool:
    """Whether a message has an index entry: in SQLite each one, in PostgreSQL those with tokens."""
    return tx.is_sqlite or bool(vectors(SearchEntry(row.owner, row.key, "", prepared.fields)))


def _indexed(tx: Transaction, keys: list[tuple[str, int]]) -> set[tuple[str, int]]:
    """Those of the keys that have an entry in the search index."""
    if not keys:
        return set()
    if tx.is_sqlite:
        marks = ", ".join("?" * len(keys))
        query = f"SELECT rowid FROM search WHERE rowid IN ({marks})"
        found = {row[0] for row in tx.sql(query, tuple(key for _, key in keys))}
        return {(owner, key) for owner, key in keys if key in found}
    query = "SELECT DISTINCT owner, key FROM search WHERE key = ANY(?::bigint[])"
    return {(row.owner, row.key) for row in tx.sql(query, ([key for _, key in keys],))} & set(keys)


def rebuild_message(tx: Transaction, finding: Finding) -> None:
    """Rebuild what is derived from a message."""
    owner, key = finding.keys
    row = tx.row(select(messages).where(messages.c.owner == owner, messages.c.key == key))
    if row is not None:
        rebuild.rebuild_rows(tx, owner, [row])


# Threads

WRONG_FLAGS = f"""{branches.PATH}
SELECT count(*) FROM messages
WHERE owner = ? AND thread_id = ? AND (CASE WHEN active THEN 1 ELSE 0 END)
    <> (CASE WHEN id IN (SELECT id FROM path) THEN 1 ELSE 0 END)
"""


def _threads(tx: Transaction, after: Cursor) -> tuple[Sequence[Row[Any]], Cursor | None]:
    query = select(thread_table).where(tx.owned(thread_table))
    return page(tx, query, (thread_table.c.key,), after)


def _finding(thread: Row[Any], what: str, hint: str = HINT) -> Finding:
    return Finding(
        what=what,
        hint=hint,
        repairable=True,
        resource_id=thread.owner or None,
        thread_id=thread.id,
        keys=(thread.owner, thread.id),
    )


def _find_thread(tx: Transaction, finding: Finding) -> Row[Any]:
    owner, thread_id = finding.keys
    return threads.find(Transaction(tx.connection, owner, tx.now), thread_id, lock=True)


def rebuild_thread(tx: Transaction, finding: Finding) -> None:
    """Rebuild the labels of a thread, and the entry of its title in the search index."""
    threads.rewrite_derived(tx, _find_thread(tx, finding))


def find_outdated_titles(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Threads whose title is not in the search index, or that have an entry but no title."""
    rows, more = _threads(tx, after)
    indexed = _indexed(tx, [(row.owner, -row.key) for row in rows])
    findings: list[Finding] = []
    for row in rows:
        should_be_indexed = _has_searchable_title(tx, row)
        if ((row.owner, -row.key) in indexed) != should_be_indexed:
            what = "its title is not in the search index" if should_be_indexed else "unneeded index entry"
            findings.append(_finding(row, what))
    return Findings(findings, more)


def _has_searchable_title(tx: Transaction, row: Row[Any]) -> bool:
    if not row.title:
        return False
    return tx.is_sqlite or bool(vectors(SearchEntry(row.owner, -row.key, row.title, NO_FIELDS)))


def find_wrong_labels(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Threads whose labels are not the scalars of their metadata."""
    rows, more = _threads(tx, after)
    keys = [(row.owner, row.id) for row in rows]
    query = select(thread_labels).where(tuple_(thread_labels.c.owner, thread_labels.c.thread_id).in_(keys))
    stored: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for label in tx.rows(query):
        stored.setdefault((label.owner, label.thread_id), set()).add((label.name, label.value))
    findings = [
        _finding(row, "its labels do not match its metadata")
        for row in rows
        if (expected := _labels(row)) is not None and stored.get((row.owner, row.id), set()) != expected
    ]
    return Findings(findings, more)


def _labels(row: Row[Any]) -> set[tuple[str, str]] | None:
    """The labels that a thread should have; `None` if its metadata cannot be read."""
    try:
        metadata = None if row.metadata is None else loads(row.metadata)
    except PartitaError:
        return None
    return set(threads.labels(metadata)) if metadata is None or is_object(metadata) else None


def find_wrong_counters(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Threads with a wrong number of visible messages or errors, or a next `seq` that exists already."""
    rows, more = _threads(tx, after)
    of_thread = (messages.c.owner, messages.c.thread_id)
    visible = messages.c.active & messages.c.internal.is_(False)
    query = (
        select(*of_thread, _number_of(visible).label("total"), func.max(messages.c.seq).label("last"))
        .add_columns(_number_of(messages.c.has_errors).label("errors"))
        .where(tuple_(*of_thread).in_([(row.owner, row.id) for row in rows]))
        .group_by(*of_thread)
    )
    counted = {(row.owner, row.thread_id): (row.total, row.errors, row.last) for row in tx.rows(query)}
    findings: list[Finding] = []
    for row in rows:
        total, with_errors, last = counted.get((row.owner, row.id), (0, 0, 0))
        if (row.message_count, row.error_count) != (total, with_errors):
            what = (
                f"it counts {row.message_count} messages and {row.error_count} errors"
                f" instead of {total} and {with_errors}"
            )
            findings.append(_finding(row, what))
        elif row.next_seq <= last:
            findings.append(_finding(row, f"its next number is {row.next_seq}, but {last} exists already"))
    return Findings(findings, more)


def _number_of(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return cast(func.sum(case((condition, 1), else_=0)), Integer)


def recount(tx: Transaction, finding: Finding) -> None:
    """Count the messages of a thread again."""
    rebuild.recount(tx, _find_thread(tx, finding))


def find_wrong_branches(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Threads whose active leaf does not exist, or whose messages are marked wrongly."""
    rows, more = _threads(tx, after)
    findings: list[Finding] = []
    for row in rows:
        leaf = row.active_leaf_id
        of_thread = (messages.c.owner == row.owner, messages.c.thread_id == row.id)
        every = select(messages.c.key).where(*of_thread).limit(1)
        is_missing = leaf is not None and tx.row(every.where(messages.c.id == leaf)) is None
        if is_missing or (leaf is None and tx.row(every) is not None):
            what = "it has no active leaf" if leaf is None else f"its active leaf {leaf} does not exist"
            findings.append(_finding(row, what, "--repair makes its last message the active leaf"))
            continue
        thread = (row.owner, row.id)
        wrong = tx.sql(WRONG_FLAGS, (*thread, leaf or "", *thread, *thread)).scalar()
        if wrong:
            findings.append(_finding(row, f"{wrong} messages are wrongly marked as active or inactive"))
    return Findings(findings, more)


def mark_branch(tx: Transaction, finding: Finding) -> None:
    """Mark the messages of the active branch. Without an active leaf, the last message becomes it."""
    row = _find_thread(tx, finding)
    of_thread = (messages.c.owner == row.owner, messages.c.thread_id == row.id)
    leaf = tx.row(select(messages.c.id).where(*of_thread, messages.c.id == (row.active_leaf_id or "")))
    if leaf is None:
        leaf = tx.row(select(messages.c.id).where(*of_thread).order_by(messages.c.seq.desc()).limit(1))
    leaf_id = None if leaf is None else leaf.id
    same = (thread_table.c.owner == row.owner, thread_table.c.id == row.id)
    tx.run(update(thread_table).where(*same).values(active_leaf_id=leaf_id))
    branches.mark_active(tx, row.owner, row.id, leaf_id)


# The ledger


def find_miscounted(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Responses whose best row is not the counted one."""
    names = ("owner", "key", "thread_id", "counted", "best")
    ranked = text(ranked_rows(tx)).columns(*map(column, names)).subquery()
    owned = true() if tx.owner is None else ranked.c.owner == tx.owner
    keys = (ranked.c.owner, ranked.c.key)
    query = select(*keys, ranked.c.thread_id).where(owned, ranked.c.best, ~ranked.c.counted)
    rows, more = page(tx, query, keys, after)
    findings = [
        Finding(
            what=f"response {row.key} is not counted in the right thread",
            hint="--repair counts it in this thread only",
            repairable=True,
            resource_id=row.owner or None,
            thread_id=row.thread_id,
            keys=(row.owner, row.key),
        )
        for row in rows
    ]
    return Findings(findings, more)


def choose_counted_row(tx: Transaction, finding: Finding) -> None:
    """Make the best row of a response the counted one."""
    owner, key = finding.keys
    lock_ledger(tx, owner)
    choose_counted(tx, owner, [key])
