"""Blobs: bytes by their hash, kept once for each owner, for as long as a message or a log refers to them."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from sqlalchemy import ColumnElement, delete, exists, or_, select

from partita.errors import NotFoundError, StoreError

from .blob_moves import BLOB, REFERENCE
from .compress import packed, unpacked
from .owners import owner_of
from .tables import blob_refs, blobs, run_blobs
from .texts import storable
from .transaction import Transaction, cut
from .values import Blob


def hash_of(url: str) -> str:
    """The hash that a `blob:` url names; a bare hash is taken too."""
    match = REFERENCE.fullmatch(url if url.startswith(BLOB) else f"{BLOB}{url}")
    if match is None:
        raise StoreError(
            "this is no blob url", where=url[:100], hint="it looks like blob:sha256:… with 64 digits"
        )
    return match["hash"]


def write(tx: Transaction, owner: str, contents: Sequence[tuple[str, bytes, str | None]]) -> None:
    """Keep bytes under their hashes, unless they are there: hash, bytes, media type."""
    wanted = {digest: (data, media_type) for digest, data, media_type in contents}
    for digest in known(tx, owner, wanted):
        del wanted[digest]
    tx.many(
        "INSERT INTO blobs (owner, hash, size, media_type, encoding, data, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [
            (owner, digest, len(data), media_type, *packed(data), tx.instant(tx.now))
            for digest, (data, media_type) in sorted(wanted.items())
        ],
    )


def known(tx: Transaction, owner: str, hashes: Iterable[str]) -> set[str]:
    """Those of the hashes that the owner has a blob of."""
    return {
        row.hash
        for batch in cut(hashes)
        for row in tx.rows(select(blobs.c.hash).where(blobs.c.owner == owner, blobs.c.hash.in_(batch)))
    }


def load(tx: Transaction, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
    """The bytes of blobs, by owner and hash."""
    found: dict[tuple[str, str], bytes] = {}
    for owner, digest in set(pairs):
        row = tx.row(
            select(blobs.c.encoding, blobs.c.data).where(blobs.c.owner == owner, blobs.c.hash == digest)
        )
        if row is not None:
            found[owner, digest] = unpacked(row.encoding, row.data)
    return found


def put(tx: Transaction, data: bytes, media_type: str | None, resource_id: str | None) -> Blob:
    """Keep bytes that no message refers to yet."""
    owner = owner_of(tx, resource_id)
    digest = sha256(data).hexdigest()
    write(tx, owner, [(digest, data, storable(media_type, "the media type"))])
    return describe(tx, digest)


def describe(tx: Transaction, url: str) -> Blob:
    """What is known of a blob, without its bytes."""
    digest = hash_of(url)
    row = tx.row(
        select(blobs.c.size, blobs.c.media_type, blobs.c.created_at).where(
            blobs.c.hash == digest, tx.mine(blobs)
        )
    )
    if row is None:
        raise NotFoundError(f"no blob {digest}", hint="it may have gone with the last message that held it")
    return Blob(url=f"{BLOB}{digest}", size=row.size, media_type=row.media_type, created_at=row.created_at)


def read(tx: Transaction, url: str) -> bytes:
    """The bytes of a blob."""
    digest = hash_of(url)
    row = tx.row(select(blobs.c.encoding, blobs.c.data).where(blobs.c.hash == digest, tx.mine(blobs)))
    if row is None:
        raise NotFoundError(f"no blob {digest}", hint="it may have gone with the last message that held it")
    return unpacked(row.encoding, row.data)


def drop_unreferred(tx: Transaction, owner: str, hashes: Iterable[str]) -> None:
    """Drop those of the blobs that no message and no sealed log refers to any more."""
    for batch in cut(hashes):
        tx.run(delete(blobs).where(blobs.c.owner == owner, blobs.c.hash.in_(batch), ~referred()))


def referred() -> ColumnElement[bool]:
    """The condition that a message or a sealed log refers to a blob."""
    by_message = exists().where(blob_refs.c.owner == blobs.c.owner, blob_refs.c.hash == blobs.c.hash)
    by_log = exists().where(run_blobs.c.owner == blobs.c.owner, run_blobs.c.hash == blobs.c.hash)
    return or_(by_message, by_log)
