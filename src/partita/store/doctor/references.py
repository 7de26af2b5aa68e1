"""Checks of references: rows without their parent row, stray index entries, missing and unused blobs.

Rows without a parent row exist if foreign keys were off when the parent was deleted.
"""

from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final, NamedTuple

from sqlalchemy import Table, and_, delete, exists, func, insert, select, tuple_

from partita.errors import StoreError
from partita.store import rebuild, schema
from partita.store.blobs import blobs
from partita.store.blobs.moves import BLOB, REFERENCE
from partita.store.compress import decompress
from partita.store.schema import blob_refs, messages
from partita.store.schema import blobs as blob_table
from partita.store.search import index as search_index
from partita.store.search.sqlite import owner_token
from partita.store.sql.transaction import Transaction
from partita.store.threads import branches
from partita.store.threads import rows as threads

from .check import PAGE_SIZE, Cursor, Findings, Scope, page
from .contents import moves_of
from .report import BACKUP, Finding

# Rows without their parent row


class Relation(NamedTuple):
    """The table that the rows of a table belong to, and the columns that refer to it."""

    table: Table
    parent: Table
    columns: Mapping[str, str]
    what: str
    hint: str
    repairable: bool = True


_TO_THREAD: Final = {"owner": "owner", "thread_id": "id"}
_TO_MESSAGE: Final = {"owner": "owner", "message": "key"}
_DERIVED: Final = "--repair deletes them: they are derived data"
_THREAD: Final = "--repair creates a thread for them, without a title"
_USAGE: Final = "--repair deletes them, as when a thread is deleted"
_NO_RUN: Final = f"the run is missing: {BACKUP}"

RELATIONS: Final[Mapping[str, Relation]] = {
    # In this order: a thread that is created again is the parent of its messages and runs.
    "messages": Relation(schema.messages, schema.threads, _TO_THREAD, "messages", _THREAD),
    "runs": Relation(schema.runs, schema.threads, _TO_THREAD, "runs", _THREAD),
    "consumptions": Relation(schema.consumptions, schema.threads, _TO_THREAD, "usage records", _USAGE),
    "labels": Relation(schema.thread_labels, schema.threads, _TO_THREAD, "labels", _DERIVED),
    "parts": Relation(schema.parts, schema.messages, _TO_MESSAGE, "part rows", _DERIVED),
    "references": Relation(schema.blob_refs, schema.messages, _TO_MESSAGE, "references to blobs", _DERIVED),
    "logs": Relation(
        schema.run_log, schema.runs, {"owner": "owner", "run_id": "id"}, "log rows", _NO_RUN, repairable=False
    ),
}


def find_orphans(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Rows without their parent row, one finding for each missing row."""
    names = list(RELATIONS)
    name = after[0] if after else names[0]
    relation = RELATIONS[name]
    columns = [relation.table.c[column] for column in relation.columns]
    same = and_(
        *(
            relation.parent.c[target] == relation.table.c[column]
            for column, target in relation.columns.items()
        )
    )
    query = select(*columns, func.count().label("total")).where(
        tx.owned(relation.table), ~exists().where(same)
    )
    rows, more = page(tx, query.group_by(*columns), columns, tuple(after[1:]))
    findings = [_orphans(name, relation, row[0], row[1], row.total) for row in rows]
    if more is not None:
        return Findings(findings, (name, *more))
    following = names[names.index(name) + 1 :]
    return Findings(findings, (following[0],) if following else None)


def _orphans(name: str, relation: Relation, owner: str, parent: Any, total: int) -> Finding:
    return Finding(
        what=f"{total} {relation.what} of the missing {relation.parent.name[:-1]} {parent}",
        hint=relation.hint,
        repairable=relation.repairable,
        resource_id=owner or None,
        thread_id=str(parent) if "thread_id" in relation.columns else None,
        run_id=str(parent) if "run_id" in relation.columns else None,
        keys=(name, owner, parent),
    )


def repair_orphans(tx: Transaction, finding: Finding) -> None:
    """Delete derived rows; create a thread for messages and runs."""
    name, owner, parent = finding.keys
    relation = RELATIONS[name]
    if name in ("messages", "runs"):
        _create_thread(tx, owner, parent)
        return
    first, second = (relation.table.c[column] for column in relation.columns)
    tx.run(delete(relation.table).where(first == owner, second == parent))


def _create_thread(tx: Transaction, owner: str, id: str) -> None:
    """Create a thread for messages and runs that have none; its last message is the active leaf."""
    table = schema.threads
    if tx.row(select(table.c.id).where(table.c.owner == owner, table.c.id == id)):
        return
    of_thread = (messages.c.owner == owner, messages.c.thread_id == id)
    first, last = func.min(messages.c.created_at), func.max(messages.c.created_at)
    times = tx.run(select(first.label("first"), last.label("last")).where(*of_thread)).one()
    leaf = tx.row(select(messages.c.id).where(*of_thread).order_by(messages.c.seq.desc()).limit(1))
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


# Entries of the search index, whose table differs by engine

STRAY = """
SELECT {columns} FROM search WHERE {bounds}
AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.key = search.{key} {owner})
AND NOT EXISTS (SELECT 1 FROM threads WHERE threads.key = -search.{key} {thread_owner})
ORDER BY {columns} LIMIT ?
"""
STRAY_SQLITE = STRAY.format(
    columns="rowid", key="rowid", bounds="rowid > ? AND (? OR owner = ?)", owner="", thread_owner=""
)
STRAY_POSTGRES = STRAY.format(
    columns="owner, key",
    key="key",
    bounds="(owner, key) > (?::text, ?::bigint) AND (?::boolean OR owner = ?::text)",
    owner="AND messages.owner = search.owner",
    thread_owner="AND threads.owner = search.owner",
).replace("SELECT owner, key", "SELECT DISTINCT owner, key", 1)


def find_stray_entries(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Entries of the search index whose message or thread does not exist."""
    all_owners, owner = tx.owner is None, tx.owner or ""
    if tx.is_sqlite:
        start = after or (-(2**62),)
        rows: list[Any] = list(tx.sql(STRAY_SQLITE, (*start, all_owners, owner_token(owner), PAGE_SIZE)))
        entries = [("", row[0]) for row in rows]
    else:
        start = after or ("", -(2**62))
        rows = list(tx.sql(STRAY_POSTGRES, (*start, all_owners, owner, PAGE_SIZE)))
        entries = [(row[0], row[1]) for row in rows]
    findings = [
        Finding(
            what=f"index entry of the missing {'message' if key > 0 else 'title'} {abs(key)}",
            hint="--repair deletes it: it is derived data",
            repairable=True,
            keys=(owner, key),
        )
        for owner, key in entries
    ]
    return Findings(findings, tuple(rows[-1]) if len(rows) == PAGE_SIZE else None)


def delete_entry(tx: Transaction, finding: Finding) -> None:
    """Delete an entry of the search index."""
    owner, key = finding.keys
    if tx.is_sqlite:  # the owner of the entry is stored as a hash
        tx.sql("DELETE FROM search WHERE rowid = ?", (key,))
    else:
        search_index.delete(tx, [(owner, key)])


# Blobs

BLOBS_PER_STEP: Final = 20
"""The number of blobs that are decompressed in one step."""

UNUSED_AGE: Final = timedelta(days=1)
"""A younger blob may be used by a message that is not saved yet."""


def find_missing_blobs(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Missing blobs of messages, and missing references to blobs."""
    keys = (messages.c.key,)
    query = select(*keys, messages.c.owner, messages.c.thread_id, messages.c.id, messages.c.blobs)
    query = query.add_columns(messages.c.content).where(tx.owned(messages), messages.c.blobs.is_not(None))
    rows, more = page(tx, query, keys, after)
    pairs = [(row.owner, row.key) for row in rows]
    refs = select(blob_refs).where(tuple_(blob_refs.c.owner, blob_refs.c.message).in_(pairs))
    referred = {(ref.owner, ref.message, ref.hash) for ref in tx.rows(refs)}
    findings: list[Finding] = []
    for row in rows:
        hashes = sorted({move.hash for move in moves_of(row) or ()})
        stored = blobs.known(tx, row.owner, hashes)
        missing = [digest for digest in hashes if digest not in stored]
        without_reference = [digest for digest in stored if (row.owner, row.key, digest) not in referred]
        for digest in (*missing, *without_reference):
            is_stored = digest in stored
            findings.append(
                Finding(
                    what=f"the {'reference to blob ' if is_stored else 'blob '}{digest} is missing",
                    hint="--repair adds it" if is_stored else BACKUP,
                    repairable=is_stored,
                    resource_id=row.owner or None,
                    thread_id=row.thread_id,
                    message_id=row.id,
                    keys=(row.owner, row.key, digest),
                )
            )
    return Findings(findings, more)


def add_reference(tx: Transaction, finding: Finding) -> None:
    """Add the reference of a message to a blob."""
    tx.insert(blob_refs, [finding.keys])


def find_damaged_blobs(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Blobs whose bytes do not match their hash."""
    keys = (blob_table.c.owner, blob_table.c.hash)
    query = select(*keys, blob_table.c.size, blob_table.c.encoding, blob_table.c.data)
    query = query.where(tx.owned(blob_table))
    if scope.prefix:
        query = query.where(blob_table.c.hash.startswith(scope.prefix))
    rows, more = page(tx, query, keys, after, BLOBS_PER_STEP)
    findings = [
        Finding(what=f"blob {row.hash}: {damage}", hint=BACKUP, resource_id=row.owner or None)
        for row in rows
        if (damage := _damage(row.hash, row.size, row.encoding, row.data))
    ]
    return Findings(findings, more)


def _damage(digest: str, size: int, encoding: str, data: bytes) -> str:
    try:
        content = decompress(encoding, data)
    except StoreError:
        return "its bytes cannot be decompressed"
    if sha256(content).hexdigest() != digest:
        return "its bytes do not match its hash"
    return "" if len(content) == size else f"it has {len(content)} bytes instead of {size}"


def find_unused_blobs(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Blobs that no message and no log refers to."""
    keys = (blob_table.c.owner, blob_table.c.hash)
    query = select(*keys, blob_table.c.size, blob_table.c.created_at)
    query = query.where(tx.owned(blob_table), ~blobs.referred())
    rows, more = page(tx, query, keys, after)
    findings: list[Finding] = []
    for row in rows:
        is_old = row.created_at < tx.now - UNUSED_AGE
        findings.append(
            Finding(
                what=f"blob {row.hash} of {row.size:,} bytes is used by no message and no log",
                hint="--repair deletes it" if is_old else "its message may not be saved yet",
                severity="notice",
                repairable=is_old,
                resource_id=row.owner or None,
                keys=(row.owner, row.hash),
            )
        )
    return Findings(findings, more)


def delete_blob(tx: Transaction, finding: Finding) -> None:
    """Delete a blob, unless the content of a message contains its URL."""
    owner, digest = finding.keys
    containing = select(messages.c.key).where(
        messages.c.owner == owner, messages.c.content.contains(f"{BLOB}{digest}", autoescape=True)
    )
    if tx.row(containing.limit(1)) is None and REFERENCE.fullmatch(f"{BLOB}{digest}"):
        tx.run(delete(blob_table).where(blob_table.c.owner == owner, blob_table.c.hash == digest))
