"""Rows without the row they belong to: foreign keys may have been off when someone deleted it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Table, and_, delete, exists, func, insert, select

from partita.store import rebuild, schema
from partita.store.search import index as search_index
from partita.store.search.sqlite import owner_token
from partita.store.sql.transaction import Transaction
from partita.store.threads import branches
from partita.store.threads import rows as threads

from .pages import PAGE, page
from .report import BACKUP, Cursor, Finding, Found, Scope


class Rule(NamedTuple):
    """What a row belongs to, by the columns that name it on both sides."""

    table: Table
    parent: Table
    columns: Mapping[str, str]
    what: str
    hint: str
    repairable: bool = True


_DERIVED = "--repair removes them: they say nothing that is not said elsewhere"
_THREAD = "--repair makes a thread for them, without a title"

RULES: Mapping[str, Rule] = {
    "messages": Rule(
        schema.messages, schema.threads, {"owner": "owner", "thread_id": "id"}, "messages", _THREAD
    ),
    "runs": Rule(schema.runs, schema.threads, {"owner": "owner", "thread_id": "id"}, "runs", _THREAD),
    "consumptions": Rule(
        schema.consumptions,
        schema.threads,
        {"owner": "owner", "thread_id": "id"},
        "consumptions",
        "--repair removes them, as they go when a thread is deleted",
    ),
    "labels": Rule(
        schema.thread_labels, schema.threads, {"owner": "owner", "thread_id": "id"}, "labels", _DERIVED
    ),
    "parts": Rule(
        schema.parts, schema.messages, {"owner": "owner", "message": "key"}, "rows of parts", _DERIVED
    ),
    "references": Rule(
        schema.blob_refs,
        schema.messages,
        {"owner": "owner", "message": "key"},
        "references to blobs",
        _DERIVED,
    ),
    "logs": Rule(
        schema.run_log,
        schema.runs,
        {"owner": "owner", "run_id": "id"},
        "pieces of a log",
        f"the run is gone: {BACKUP}",
        repairable=False,
    ),
}
"""In this order: a thread that is made again gives its messages and runs a home."""


def find_orphans(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Rows without their parent, one finding for all that miss the same one."""
    names = list(RULES)
    name = after[0] if after else names[0]
    rule = RULES[name]
    columns = [rule.table.c[column] for column in rule.columns]
    same = and_(*(rule.parent.c[theirs] == rule.table.c[own] for own, theirs in rule.columns.items()))
    query = select(*columns, func.count().label("total")).where(tx.owned(rule.table), ~exists().where(same))
    rows, more = page(tx, query.group_by(*columns), columns, tuple(after[1:]))
    findings = [_finding(name, rule, row[0], row[1], row.total) for row in rows]
    if more is not None:
        return Found(findings, (name, *more))
    following = names[names.index(name) + 1 :]
    return Found(findings, (following[0],) if following else None)


def _finding(name: str, rule: Rule, owner: str, parent: Any, total: int) -> Finding:
    return Finding(
        what=f"{total} {rule.what} of {rule.parent.name[:-1]} {parent}, which is not there",
        hint=rule.hint,
        repairable=rule.repairable,
        resource_id=owner or None,
        thread_id=str(parent) if "thread_id" in rule.columns else None,
        run_id=str(parent) if "run_id" in rule.columns else None,
        keys=(name, owner, parent),
    )


def adopt_or_remove(tx: Transaction, finding: Finding) -> None:
    """Remove derived rows; give messages and runs a thread."""
    name, owner, parent = finding.keys
    rule = RULES[name]
    if name in ("messages", "runs"):
        _make_thread(tx, owner, parent)
        return
    first, second = (rule.table.c[column] for column in rule.columns)
    tx.run(delete(rule.table).where(first == owner, second == parent))


def _make_thread(tx: Transaction, owner: str, id: str) -> None:
    """A thread for messages and runs that have none, its last message the active leaf."""
    table, message = schema.threads, schema.messages
    if tx.row(select(table.c.id).where(table.c.owner == owner, table.c.id == id)):
        return
    mine = (message.c.owner == owner, message.c.thread_id == id)
    first, last = func.min(message.c.created_at), func.max(message.c.created_at)
    times = tx.run(select(first.label("first"), last.label("last")).where(*mine)).one()
    leaf = tx.row(select(message.c.id).where(*mine).order_by(message.c.seq.desc()).limit(1))
    fields: dict[str, Any] = {
        "key": tx.next_keys("threads", 1)[0],
        "owner": owner,
        "id": id,
        "active_leaf_id": None if leaf is None else leaf.id,
        "next_seq": 1,
        "message_count": 0,
        "error_count": 0,
        "created_at": times.first or tx.now,
        "updated_at": times.last or tx.now,
        "changed_at": tx.now,
    }
    tx.run(insert(table).values(fields))
    row = threads.find(Transaction(tx.connection, owner, tx.now), id)
    rebuild.recount(tx, row)
    branches.mark_active(tx, owner, id, row.active_leaf_id)


# Entries of the search index have no table of ours: each engine keeps them in its own way.

STRAY = """
SELECT {columns} FROM search WHERE {mine}
AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.key = search.{key} {owner})
AND NOT EXISTS (SELECT 1 FROM threads WHERE threads.key = -search.{key} {thread_owner})
ORDER BY {columns} LIMIT ?
"""
STRAY_LITE = STRAY.format(
    columns="rowid", key="rowid", mine="rowid > ? AND (? OR owner = ?)", owner="", thread_owner=""
)
STRAY_POSTGRES = STRAY.format(
    columns="owner, key",
    key="key",
    mine="(owner, key) > (?::text, ?::bigint) AND (?::boolean OR owner = ?::text)",
    owner="AND messages.owner = search.owner",
    thread_owner="AND threads.owner = search.owner",
).replace("SELECT owner, key", "SELECT DISTINCT owner, key", 1)


def find_stray_entries(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Entries of the search index whose message or thread is not there."""
    everyone, owner = tx.owner is None, tx.owner or ""
    if tx.is_sqlite:
        start = after or (-(2**62),)
        rows: list[Any] = list(tx.sql(STRAY_LITE, (*start, everyone, owner_token(owner), PAGE)))
        found = [("", row[0]) for row in rows]
    else:
        start = after or ("", -(2**62))
        rows = list(tx.sql(STRAY_POSTGRES, (*start, everyone, owner, PAGE)))
        found = [(row[0], row[1]) for row in rows]
    findings = [
        Finding(
            what=f"an index entry of {'message' if key > 0 else 'title'} {abs(key)}, which is not there",
            hint=_DERIVED,
            repairable=True,
            keys=(owner, key),
        )
        for owner, key in found
    ]
    return Found(findings, tuple(rows[-1]) if len(rows) == PAGE else None)


def remove_entry(tx: Transaction, finding: Finding) -> None:
    """Remove an entry from the search index."""
    owner, key = finding.keys
    if tx.is_sqlite:  # the entry says whose it is in a way that cannot be read back
        tx.sql("DELETE FROM search WHERE rowid = ?", (key,))
    else:
        search_index.delete(tx, [(owner, key)])
