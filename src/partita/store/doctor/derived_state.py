"""What is derived from messages and titles: whether it is what would be derived today."""

from typing import Any

from sqlalchemy import Row, select, tuple_

from partita.errors import PartitaError
from partita.store import rebuild
from partita.store.messages.prepared import PartRow, Prepared, prepare
from partita.store.messages.rows import MESSAGES, read_messages
from partita.store.schema import messages, parts
from partita.store.schema import threads as thread_table
from partita.store.search.fields import NO_FIELDS, SearchEntry
from partita.store.search.postgres import vectors
from partita.store.sql.transaction import Transaction, batched
from partita.store.threads import rows as threads

from .contents import moves_of
from .pages import page
from .report import Cursor, Finding, Found, Scope

FLAGS = ("has_tool_calls", "has_reasoning", "has_files", "has_errors", "preview")
HINT = "--repair derives it anew"


def find_outdated(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Messages whose flags, previews, part rows or index entries are not those of their content."""
    query = select(messages).where(tx.owned(messages), messages.c.key % scope.every == 0)
    rows, more = page(tx, query, (messages.c.key,), after)
    there = _part_rows(tx, rows)
    indexed = _indexed(tx, [(row.owner, row.key) for row in rows])
    findings: list[Finding] = []
    for row in rows:
        prepared = _prepared(tx, row)
        if prepared is None:
            continue  # told by the check that reads contents
        wrong = [name for name in FLAGS if _differs(row, prepared, name)]
        if there.get((row.owner, row.key), []) != prepared.derived.parts:
            wrong.append("rows of parts")
        if ((row.owner, row.key) in indexed) != _is_indexed(tx, row, prepared):
            wrong.append("index entry")
        if wrong:
            findings.append(_finding(row, ", ".join(wrong)))
    return Found(findings, more)


def _prepared(tx: Transaction, row: Row[Any]) -> Prepared | None:
    if row.role not in MESSAGES or (row.blobs is not None and moves_of(row) is None):
        return None
    try:
        return prepare(read_messages(tx, [row], "inline")[0], row.thread_id)
    except PartitaError:
        return None


def _differs(row: Row[Any], prepared: Prepared, name: str) -> bool:
    return bool(getattr(row, name) != getattr(prepared.derived, name))


def _part_rows(tx: Transaction, rows: Any) -> dict[tuple[str, int], list[PartRow]]:
    found: dict[tuple[str, int], list[PartRow]] = {}
    names = PartRow._fields
    query = select(parts.c.owner, parts.c.message, *(parts.c[name] for name in names))
    for batch in batched((row.owner, row.key) for row in rows):
        mine = query.where(tuple_(parts.c.owner, parts.c.message).in_(batch))
        for row in tx.rows(mine.order_by(parts.c.message, parts.c.number)):
            found.setdefault((row.owner, row.message), []).append(PartRow._make(row[2:]))
    return found


def _is_indexed(tx: Transaction, row: Row[Any], prepared: Prepared) -> bool:
    """Whether a message should have an entry: SQLite has one for each, PostgreSQL for those with words."""
    return tx.is_sqlite or bool(vectors(SearchEntry(row.owner, row.key, "", prepared.fields)))


def _indexed(tx: Transaction, keys: list[tuple[str, int]]) -> set[tuple[str, int]]:
    """Those of the keys that the search index has an entry of."""
    if not keys:
        return set()
    if tx.is_sqlite:
        marks = ", ".join("?" * len(keys))
        query = f"SELECT rowid FROM search WHERE rowid IN ({marks})"
        found = {row[0] for row in tx.sql(query, tuple(key for _, key in keys))}
        return {(owner, key) for owner, key in keys if key in found}
    query = "SELECT DISTINCT owner, key FROM search WHERE key = ANY(?::bigint[])"
    return {(row.owner, row.key) for row in tx.sql(query, ([key for _, key in keys],))} & set(keys)


def _finding(row: Row[Any], what: str) -> Finding:
    return Finding(
        what=f"out of date: {what}",
        hint=HINT,
        repairable=True,
        resource_id=row.owner or None,
        thread_id=row.thread_id,
        message_id=row.id,
        keys=(row.owner, row.key),
    )


def rederive(tx: Transaction, finding: Finding) -> None:
    """Derive what hangs on a message anew."""
    owner, key = finding.keys
    row = tx.row(select(messages).where(messages.c.owner == owner, messages.c.key == key))
    if row is not None:
        rebuild.rederive(tx, owner, [row])


def find_outdated_titles(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Threads whose title is not in the search index, or is there without a title."""
    query = select(thread_table).where(tx.owned(thread_table))
    rows, more = page(tx, query, (thread_table.c.key,), after)
    indexed = _indexed(tx, [(row.owner, -row.key) for row in rows])
    findings = [
        Finding(
            what="its title is not in the search index"
            if _title_words(tx, row)
            else "an index entry too many",
            hint=HINT,
            repairable=True,
            resource_id=row.owner or None,
            thread_id=row.id,
            keys=(row.owner, row.id),
        )
        for row in rows
        if ((row.owner, -row.key) in indexed) != _title_words(tx, row)
    ]
    return Found(findings, more)


def _title_words(tx: Transaction, row: Row[Any]) -> bool:
    if not row.title:
        return False
    return tx.is_sqlite or bool(vectors(SearchEntry(row.owner, -row.key, row.title, NO_FIELDS)))


def rederive_title(tx: Transaction, finding: Finding) -> None:
    """Put the title of a thread into the search index anew."""
    owner, thread_id = finding.keys
    row = threads.find(Transaction(tx.connection, owner, tx.now), thread_id, lock=True)
    threads.rewrite_derived(tx, row)
