"""`store.blobs`: bytes by their hash, stored once per owner for as long as a message or a log uses them."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, BinaryIO, Final

from sqlalchemy import ColumnElement, Row, delete, exists, func, or_, select

from partita.errors import NotFoundError, StoreError
from partita.store.compress import PLAIN, compress, decompress, decompress_pieces
from partita.store.context import Namespace
from partita.store.schema import blob_refs, blobs, run_blobs
from partita.store.sql.texts import storable
from partita.store.sql.transaction import Transaction, batched, owner_of
from partita.store.values import Blob

from .moves import BLOB, REFERENCE

LARGE: Final = 4 * 1024 * 1024
"""A larger file is not compressed, so that any range of it can be read without the rest."""

PIECE: Final = 1024 * 1024
"""The number of bytes that are read or written at once."""

MAX_SIZE: Final = 1_000_000_000
"""The maximal size of a value in SQLite, in bytes. That of PostgreSQL is nearly the same."""


def hash_of(url: str) -> str:
    """The hash in a `blob:` URL. A hash alone is accepted too."""
    match = REFERENCE.fullmatch(url if url.startswith(BLOB) else f"{BLOB}{url}")
    if match is None:
        raise StoreError(
            "this is not a blob URL", where=url[:100], hint="use blob:sha256: with 64 hexadecimal digits"
        )
    return match["hash"]


def write(tx: Transaction, owner: str, contents: Sequence[tuple[str, bytes, str | None]]) -> None:
    """Store bytes that are not stored yet. `contents` are hashes, bytes and media types."""
    new = {digest: (data, media_type) for digest, data, media_type in contents}
    for digest in known(tx, owner, new):
        del new[digest]
    tx.many(
        "INSERT INTO blobs (owner, hash, size, media_type, encoding, data, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [
            (owner, digest, len(data), media_type, *compress(data), tx.instant(tx.now))
            for digest, (data, media_type) in sorted(new.items())
        ],
    )


def known(tx: Transaction, owner: str, hashes: Iterable[str]) -> set[str]:
    """Those of the hashes for which the owner has a blob."""
    return {
        row.hash
        for batch in batched(hashes)
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
            found[owner, digest] = decompress(row.encoding, row.data)
    return found


def put(tx: Transaction, data: bytes, media_type: str | None, resource_id: str | None) -> Blob:
    """Store bytes that no message refers to yet."""
    owner = owner_of(tx, resource_id)
    digest = sha256(data).hexdigest()
    write(tx, owner, [(digest, data, storable(media_type, "the media type"))])
    return describe(tx, digest)


def put_file(
    tx: Transaction, file: BinaryIO, size: int, digest: str, media_type: str | None, resource_id: str | None
) -> Blob:
    """Store a file as `put` does. A large one is not read into memory."""
    owner = owner_of(tx, resource_id)
    file.seek(0)
    if size <= LARGE:
        return put(tx, file.read(), media_type, resource_id)
    if size > MAX_SIZE:
        raise StoreError(
            f"a blob of {size} bytes is too large: the limit is {MAX_SIZE}", hint="store a URL of the file"
        )
    if not known(tx, owner, [digest]):
        kind = storable(media_type, "the media type")
        row = (owner, digest, size, kind, PLAIN, tx.instant(tx.now))
        pieces = iter(lambda: file.read(PIECE), b"")
        if tx.driver is not None:
            tx.sql(
                "INSERT INTO blobs (owner, hash, size, media_type, encoding, created_at, data)"
                " VALUES (?, ?, ?, ?, ?, ?, zeroblob(?))",
                (*row, size),
            )
            with tx.driver.blobopen("blobs", "data", _rowid(tx, owner, digest)) as blob:
                for piece in pieces:
                    blob.write(piece)
        else:  # a large object can be written in pieces
            number = tx.sql("SELECT lo_create(0)").scalar_one()
            for index, piece in enumerate(pieces):
                tx.sql("SELECT lo_put(?, ?, ?)", (number, index * PIECE, piece))
            tx.sql(
                "INSERT INTO blobs (owner, hash, size, media_type, encoding, created_at, data)"
                " VALUES (?, ?, ?, ?, ?, ?, lo_get(?)) ON CONFLICT DO NOTHING",
                (*row, number),
            )
            tx.sql("SELECT lo_unlink(?)", (number,))
    return describe(tx, digest)


def _rowid(tx: Transaction, owner: str, digest: str) -> int:
    found: int = tx.sql("SELECT rowid FROM blobs WHERE owner = ? AND hash = ?", (owner, digest)).scalar_one()
    return found


def describe(tx: Transaction, url: str) -> Blob:
    """The size, media type and time of a blob."""
    digest = hash_of(url)
    row = tx.row(
        select(blobs.c.size, blobs.c.media_type, blobs.c.created_at).where(
            blobs.c.hash == digest, tx.owned(blobs)
        )
    )
    if row is None:
        raise _missing(digest)
    return Blob(url=f"{BLOB}{digest}", size=row.size, media_type=row.media_type, created_at=row.created_at)


def read(tx: Transaction, url: str) -> bytes:
    """The bytes of a blob."""
    digest = hash_of(url)
    row = tx.row(select(blobs.c.encoding, blobs.c.data).where(blobs.c.hash == digest, tx.owned(blobs)))
    if row is None:
        raise _missing(digest)
    return decompress(row.encoding, row.data)


def read_range(tx: Transaction, url: str, start: int, end: int) -> bytes | None:
    """A range of the bytes of a blob. `None` if it is large and compressed: use `copy`."""
    row = _find(tx, url)
    if row.encoding == PLAIN:
        return b"".join(_stored(tx, row, start, end))
    return read(tx, url)[start:end] if row.size <= LARGE else None


def copy(tx: Transaction, url: str, start: int, end: int, target: BinaryIO) -> None:
    """Write a range of the bytes of a blob to a file, without reading the blob into memory."""
    row = _find(tx, url)
    target.seek(0)
    target.truncate()
    if row.encoding == PLAIN:
        target.writelines(_stored(tx, row, start, end))
        return
    position = 0
    for piece in decompress_pieces(_stored(tx, row, 0, row.length), PIECE):
        target.write(piece[max(start - position, 0) : max(end - position, 0)])
        position += len(piece)
        if position >= end:
            return


def _find(tx: Transaction, url: str) -> Row[Any]:
    digest = hash_of(url)
    row = tx.row(
        select(
            blobs.c.owner,
            blobs.c.hash,
            blobs.c.size,
            blobs.c.encoding,
            func.length(blobs.c.data).label("length"),
        ).where(blobs.c.hash == digest, tx.owned(blobs))
    )
    if row is None:
        raise _missing(digest)
    return row


def _stored(tx: Transaction, row: Row[Any], start: int, end: int) -> Iterator[bytes]:
    """A range of the stored bytes of a blob, in pieces."""
    end = min(end, row.length)
    if tx.driver is not None:
        with tx.driver.blobopen("blobs", "data", _rowid(tx, row.owner, row.hash), readonly=True) as blob:
            blob.seek(start)
            while start < end:
                piece = blob.read(min(PIECE, end - start))
                start += len(piece)
                yield piece
        return
    while start < end:
        size = min(PIECE, end - start)
        yield tx.sql(
            "SELECT substring(data FROM CAST(? AS integer) FOR CAST(? AS integer)) FROM blobs"
            " WHERE owner = ? AND hash = ?",
            (start + 1, size, row.owner, row.hash),
        ).scalar_one()
        start += size


def _missing(digest: str) -> NotFoundError:
    return NotFoundError(f"no blob {digest}", hint="a blob is deleted with the last message that uses it")


def drop_unreferred(tx: Transaction, owner: str, hashes: Iterable[str]) -> None:
    """Delete those of the blobs that no message and no sealed log refers to."""
    for batch in batched(hashes):
        tx.run(delete(blobs).where(blobs.c.owner == owner, blobs.c.hash.in_(batch), ~referred()))


def referred() -> ColumnElement[bool]:
    """The condition that a message or a sealed log refers to a blob."""
    by_message = exists().where(blob_refs.c.owner == blobs.c.owner, blob_refs.c.hash == blobs.c.hash)
    by_log = exists().where(run_blobs.c.owner == blobs.c.owner, run_blobs.c.hash == blobs.c.hash)
    return or_(by_message, by_log)


class Blobs(Namespace):
    """Store and read bytes by their hash."""

    async def put(
        self, data: bytes, *, media_type: str | None = None, resource_id: str | None = None
    ) -> Blob:
        """Store bytes. Messages can refer to them by the `blob:` URL of the result."""
        return await self._write(put, data, media_type, resource_id)

    async def get(self, url: str) -> bytes:
        """The bytes of a `blob:` URL."""
        return await self._read(read, url)

    async def describe(self, url: str) -> Blob:
        """The size and type of a `blob:` URL, without its bytes."""
        return await self._read(describe, url)
