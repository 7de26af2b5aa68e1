"""Blobs: whether those that messages refer to are there and whole, and those that nobody refers to."""

from datetime import timedelta
from hashlib import sha256

from sqlalchemy import delete, select, tuple_

from partita.errors import StoreError
from partita.store.blobs import blobs
from partita.store.blobs.moves import BLOB, REFERENCE
from partita.store.compress import decompress
from partita.store.schema import blob_refs, messages
from partita.store.schema import blobs as blob_table
from partita.store.sql.transaction import Transaction

from .contents import moves_of
from .pages import page
from .report import BACKUP, Cursor, Finding, Found, Scope

BLOBS = 20
"""How many blobs are unpacked at once."""

GRACE = timedelta(days=1)
"""How long a blob may wait for a message to refer to it."""


def find_missing(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Messages whose blobs are not there, or that are not known to refer to them."""
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
        known = blobs.known(tx, row.owner, hashes)
        unknown = [digest for digest in hashes if digest not in known]
        untold = [digest for digest in known if (row.owner, row.key, digest) not in referred]
        for digest in (*unknown, *untold):
            there = digest in known
            findings.append(
                Finding(
                    what=f"blob {digest} is {'not known to be used' if there else 'missing'}",
                    hint="--repair notes it" if there else BACKUP,
                    repairable=there,
                    resource_id=row.owner or None,
                    thread_id=row.thread_id,
                    message_id=row.id,
                    keys=(row.owner, row.key, digest),
                )
            )
    return Found(findings, more)


def note_reference(tx: Transaction, finding: Finding) -> None:
    """Note that a message refers to a blob."""
    tx.insert(blob_refs, [finding.keys])


def find_damaged(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Blobs whose bytes are not those of their hash."""
    keys = (blob_table.c.owner, blob_table.c.hash)
    query = select(*keys, blob_table.c.size, blob_table.c.encoding, blob_table.c.data)
    query = query.where(tx.owned(blob_table))
    if scope.prefix:
        query = query.where(blob_table.c.hash.startswith(scope.prefix))
    rows, more = page(tx, query, keys, after, BLOBS)
    findings: list[Finding] = []
    for row in rows:
        what = _damage(row.hash, row.size, row.encoding, row.data)
        if what:
            findings.append(
                Finding(what=f"blob {row.hash}: {what}", hint=BACKUP, resource_id=row.owner or None)
            )
    return Found(findings, more)


def _damage(digest: str, size: int, encoding: str, data: bytes) -> str:
    try:
        whole = decompress(encoding, data)
    except StoreError:
        return "its bytes cannot be unpacked"
    if sha256(whole).hexdigest() != digest:
        return "its bytes are not those of its hash"
    return "" if len(whole) == size else f"it has {len(whole)} bytes, and says {size}"


def find_unreferred(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Blobs that no message refers to. A young one may be waiting for its message."""
    keys = (blob_table.c.owner, blob_table.c.hash)
    query = select(*keys, blob_table.c.size, blob_table.c.created_at)
    query = query.where(tx.owned(blob_table), ~blobs.referred())
    rows, more = page(tx, query, keys, after)
    findings = [
        Finding(
            what=f"blob {row.hash} of {row.size:,} bytes is used by no message and no log",
            hint="--repair removes it" if row.created_at < tx.now - GRACE else "it may be waiting for one",
            severity="notice",
            repairable=row.created_at < tx.now - GRACE,
            resource_id=row.owner or None,
            keys=(row.owner, row.hash),
        )
        for row in rows
    ]
    return Found(findings, more)


def remove_blob(tx: Transaction, finding: Finding) -> None:
    """Remove a blob, unless some message speaks of it after all."""
    owner, digest = finding.keys
    speaks = select(messages.c.key).where(
        messages.c.owner == owner, messages.c.content.contains(f"{BLOB}{digest}", autoescape=True)
    )
    if tx.row(speaks.limit(1)) is None and REFERENCE.fullmatch(f"{BLOB}{digest}"):
        tx.run(delete(blob_table).where(blob_table.c.owner == owner, blob_table.c.hash == digest))
