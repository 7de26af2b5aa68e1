"""The file of a backup: a line that says what it is, zstd-compressed records, and the hash of all before it.

Each record is its length in four bytes and a value in MessagePack: a `Head`, rows of tables, and an `End`
with the sum of every table. Nothing has to be in memory but a record and the compressor's last window.
"""

import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

import msgspec

from partita.errors import StoreError
from partita.private_files import told

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

KIND: Final = b"partita backup "
MAGIC: Final = KIND + b"1\n"
DIGEST: Final = 32
LENGTH: Final = 4
LEVEL: Final = 3
AT_ONCE: Final = 1024 * 1024


class Head(msgspec.Struct, tag="head", forbid_unknown_fields=True):
    """Whose backup this is. `tables` has the columns of each, in the order of its rows."""

    schema: str
    partita: str
    engine: str
    made_at: str
    tables: dict[str, list[str]]


class Rows(msgspec.Struct, tag="rows", forbid_unknown_fields=True):
    """Some rows of a table."""

    table: str
    rows: msgspec.Raw


class TableSum(msgspec.Struct, forbid_unknown_fields=True):
    """How many rows a table has, and the sum of them."""

    rows: int
    digest: str


class End(msgspec.Struct, tag="end", forbid_unknown_fields=True):
    """What the tables amount to, and the last key of those that count."""

    tables: dict[str, TableSum]
    last_keys: dict[str, int]


Record: TypeAlias = Head | Rows | End
_DECODER: Final = msgspec.msgpack.Decoder(Record)


class Writer:
    """Records, on their way into a file."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._hash = sha256()
        self._zstd = zstd.ZstdCompressor(LEVEL)
        with told(path):  # it may be the second attempt
            file.seek(0)
            file.truncate()
        self._put(MAGIC)

    def write(self, record: Record) -> None:
        """Add a record."""
        data = msgspec.msgpack.encode(record)
        self._put(self._zstd.compress(len(data).to_bytes(LENGTH)))
        self._put(self._zstd.compress(data))

    def finish(self) -> None:
        """Write what is left, and the hash."""
        self._put(self._zstd.flush(zstd.ZstdCompressor.FLUSH_FRAME))
        with told(self._path):
            self._file.write(self._hash.digest())
            self._file.flush()

    def _put(self, data: bytes) -> None:
        self._hash.update(data)
        with told(self._path):
            self._file.write(data)


def verify(path: Path, file: BinaryIO) -> int:
    """Refuse a file that is no backup, or not what it was when it was written; gives how long its body is."""
    file.seek(0)
    start = file.read(len(MAGIC))
    if not start.startswith(KIND):
        raise StoreError("this is no backup", where=str(path), hint="partita backup writes one")
    if start != MAGIC:
        raise StoreError(
            "a newer Partita wrote this backup", where=str(path), hint="upgrade: pip install -U partita"
        )
    file.seek(0, 2)
    left = body = file.tell() - DIGEST
    file.seek(0)
    found = sha256()
    while left > 0 and (data := file.read(min(left, AT_ONCE))):
        found.update(data)
        left -= len(data)
    if body < len(MAGIC) or file.read(DIGEST) != found.digest():
        raise _damaged(path)
    return body


def records(path: Path, file: BinaryIO, body: int) -> Iterator[tuple[Record, int]]:
    """The records of a verified file, and how many bytes of it are read."""
    stream = _Stream(path, file, body)
    while (length := stream.take(LENGTH, may_end=True)) is not None:
        data = stream.take(int.from_bytes(length))
        assert data is not None, "it may not end here"
        try:
            yield _DECODER.decode(data), stream.read
        except msgspec.DecodeError as error:
            raise StoreError(f"a record of the backup cannot be read: {error}", where=str(path)) from None


class _Stream:
    """What is in the compressed part of a file, as many bytes at a time as are asked for."""

    def __init__(self, path: Path, file: BinaryIO, body: int) -> None:
        self._path = path
        self._file = file
        self._body = body
        self._zstd = zstd.ZstdDecompressor()
        self._held = bytearray()
        file.seek(len(MAGIC))
        self.read = len(MAGIC)

    def take(self, count: int, *, may_end: bool = False) -> bytes | None:
        """The next bytes; `None` at the end, where it may be."""
        while len(self._held) < count:
            data = self._more()
            if not data:
                if may_end and not self._held and self._zstd.eof:
                    return None
                raise _damaged(self._path)
            self._held += data
        taken = bytes(self._held[:count])
        del self._held[:count]
        return taken

    def _more(self) -> bytes:
        try:
            while not self._zstd.eof:
                given = b""
                if self._zstd.needs_input:
                    given = self._file.read(min(AT_ONCE, self._body - self.read))
                    self.read += len(given)
                    if not given:
                        return b""
                if data := self._zstd.decompress(given, AT_ONCE):
                    return data
        except zstd.ZstdError:
            raise _damaged(self._path) from None
        return b""


def _damaged(path: Path) -> StoreError:
    return StoreError(
        "the backup is damaged: it is not what was written", where=str(path), hint="take another copy of it"
    )
