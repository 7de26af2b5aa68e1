"""The file format of backups: a line with the version, zstd-compressed records, and the hash of all of that.

Each record is its length in four bytes and a value in MessagePack: a `Head`, rows of tables, and an `End`
with the checksum of every table. Only one record and the compressor's window are in memory.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

import msgspec

from partita.errors import StoreError
from partita.private_files import convert_write_errors
from partita.store.compress import LEVEL, zstd

KIND: Final = b"partita backup "
MAGIC: Final = KIND + b"1\n"
HASH_SIZE: Final = 32
LENGTH_SIZE: Final = 4
READ_SIZE: Final = 1024 * 1024


class Head(msgspec.Struct, tag="head", forbid_unknown_fields=True):
    """The store of the backup. `tables` has the columns of each table, in the order of its values."""

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
    """The number of rows of a table, and their checksum."""

    rows: int
    digest: str


class End(msgspec.Struct, tag="end", forbid_unknown_fields=True):
    """The checksums of the tables, and the last keys of those whose keys are numbers."""

    tables: dict[str, TableSum]
    last_keys: dict[str, int]


Record: TypeAlias = Head | Rows | End
_DECODER: Final = msgspec.msgpack.Decoder(Record)


class Writer:
    """Writes records to a file."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._hash = sha256()
        self._zstd = zstd.ZstdCompressor(LEVEL)
        with convert_write_errors(path):  # it has the records of a first attempt that was repeated
            file.seek(0)
            file.truncate()
        self._put(MAGIC)

    def write(self, record: Record) -> None:
        """Write a record."""
        data = msgspec.msgpack.encode(record)
        self._put(self._zstd.compress(len(data).to_bytes(LENGTH_SIZE)))
        self._put(self._zstd.compress(data))

    def finish(self) -> None:
        """Write the end of the compressed data, and the hash."""
        self._put(self._zstd.flush(zstd.ZstdCompressor.FLUSH_FRAME))
        with convert_write_errors(self._path):
            self._file.write(self._hash.digest())
            self._file.flush()

    def _put(self, data: bytes) -> None:
        self._hash.update(data)
        with convert_write_errors(self._path):
            self._file.write(data)


def verify(path: Path, file: BinaryIO) -> int:
    """Refuse a file that is not a backup, or is damaged; returns the length of the file without the hash."""
    file.seek(0)
    start = file.read(len(MAGIC))
    if not start.startswith(KIND):
        raise StoreError("this is not a backup", where=str(path), hint="partita backup writes one")
    if start != MAGIC:
        raise StoreError(
            "a newer Partita wrote this backup", where=str(path), hint="upgrade: pip install -U partita"
        )
    file.seek(0, 2)
    remaining = length = file.tell() - HASH_SIZE
    file.seek(0)
    computed = sha256()
    while remaining > 0 and (data := file.read(min(remaining, READ_SIZE))):
        computed.update(data)
        remaining -= len(data)
    if length < len(MAGIC) or file.read(HASH_SIZE) != computed.digest():
        raise _damaged(path)
    return length


def records(path: Path, file: BinaryIO, length: int) -> Iterator[tuple[Record, int]]:
    """The records of a verified file, and the number of bytes that were read so far."""
    stream = _Stream(path, file, length)
    while (size := stream.take(LENGTH_SIZE, may_end=True)) is not None:
        data = stream.take(int.from_bytes(size))
        assert data is not None, "it may not end here"
        try:
            yield _DECODER.decode(data), stream.read
        except msgspec.DecodeError as error:
            raise StoreError(f"a record of the backup cannot be read: {error}", where=str(path)) from None


class _Stream:
    """Decompresses the records of a file."""

    def __init__(self, path: Path, file: BinaryIO, length: int) -> None:
        self._path = path
        self._file = file
        self._length = length
        self._zstd = zstd.ZstdDecompressor()
        self._buffer = bytearray()
        file.seek(len(MAGIC))
        self.read = len(MAGIC)

    def take(self, count: int, *, may_end: bool = False) -> bytes | None:
        """The next bytes; `None` at the end, if that is allowed."""
        while len(self._buffer) < count:
            data = self._decompress()
            if not data:
                if may_end and not self._buffer and self._zstd.eof:
                    return None
                raise _damaged(self._path)
            self._buffer += data
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _decompress(self) -> bytes:
        try:
            while not self._zstd.eof:
                compressed = b""
                if self._zstd.needs_input:
                    compressed = self._file.read(min(READ_SIZE, self._length - self.read))
                    self.read += len(compressed)
                    if not compressed:
                        return b""
                if data := self._zstd.decompress(compressed, READ_SIZE):
                    return data
        except zstd.ZstdError:
            raise _damaged(self._path) from None
        return b""


def _damaged(path: Path) -> StoreError:
    return StoreError(
        "the backup is damaged: its content has changed", where=str(path), hint="use another copy of it"
    )
