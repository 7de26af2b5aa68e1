"""The stored form of log entries: rows while the run is active, compressed blocks once the log is sealed.

A row is a sequence of msgpack arrays, one for each entry: cheap to append to, and rows can be joined. A block
has the same entries by column (time differences, lengths, all chunks, all raw bytes), compressed. Reading an
entry takes one row or block.

Images and other files in raw lines are base64, which does not compress. When a log is sealed, they are
extracted and stored as blobs, once, shared with the message that has them; on read they are put back.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

import msgspec

from partita.errors import StoreError
from partita.store.compress import PLAIN, ZSTD, zstd

BLOCK_BYTES: Final = 512 * 1024
"""The size of a block. With 64 KiB, logs of coding agents would take a tenth more."""

BLOCK_ENTRIES: Final = 4096

OPEN: Final = "open"
"""The encoding of a row."""

LEVEL: Final = 9
"""The zstd level of blocks that are written in the background: 5 % smaller than level 3."""

FAST_LEVEL: Final = 1
"""The zstd level of blocks that an import writes."""

MIN_FILE_LENGTH: Final = 4096
"""Base64 that is shorter (in characters) stays in its line."""

BASE64: Final = re.compile(rb"[A-Za-z0-9+/]{%d,}={0,2}" % MIN_FILE_LENGTH)


class Cut(NamedTuple):
    """A file that was extracted: its position in the remaining text, and the hash of its bytes."""

    position: int
    hash: str


class StoredEntry(NamedTuple):
    """An entry as it is stored: microseconds since 1970, the JSON of the chunk, raw bytes of the agent."""

    time: int
    chunk: bytes | None
    raw: bytes | None
    cuts: tuple[Cut, ...] = ()
    """The files that were extracted from `raw`, in a block."""

    @property
    def size(self) -> int:
        """The number of bytes of the chunk and the raw bytes."""
        return len(self.chunk or b"") + len(self.raw or b"")


class _Columns(msgspec.Struct, array_like=True, frozen=True):
    """The entries of a block by column. The length of an absent value is null."""

    time_steps: list[int]  # the first time, then the differences
    chunk_lengths: list[int | None]
    raw_lengths: list[int | None]
    chunks: bytes
    raws: bytes
    cuts: list[tuple[int, Cut]] = []  # with the index of the entry in the block


_ENCODER: Final = msgspec.msgpack.Encoder()
_ENTRIES: Final = msgspec.msgpack.Decoder(list[StoredEntry])
_BLOCK: Final = msgspec.msgpack.Decoder(_Columns)


# Rows


def encode_entry(row: bytearray, time: int, chunk: bytes | None, raw: bytes | None) -> None:
    """Append an entry to a row."""
    _ENCODER.encode_into((time, chunk, raw), row, -1)


def encode_plain(entries: Sequence[StoredEntry]) -> bytes:
    """Entries as one msgpack array."""
    data = bytearray(_array_head(len(entries)))
    for entry in entries:
        encode_entry(data, *entry[:3])
    return bytes(data)


def _array_head(count: int) -> bytes:
    return b"\xdd" + count.to_bytes(4, "big")


def decode(encoding: str, data: bytes, count: int) -> list[StoredEntry]:
    """The `count` entries of a row or a block."""
    try:
        if encoding == ZSTD:
            entries = _entries(_BLOCK.decode(zstd.decompress(data)))
        else:
            entries = _ENTRIES.decode(_array_head(count) + data if encoding == OPEN else data)
    except (msgspec.MsgspecError, zstd.ZstdError, ValueError):
        entries = []
    if len(entries) != count:
        raise StoreError(
            "a block of the log is damaged",
            hint="the rest of the log is whole; restore this part from a backup",
        )
    return entries


# Blocks


def split_blocks(entries: Iterable[StoredEntry]) -> Iterator[list[StoredEntry]]:
    """Entries in groups that fill a block."""
    block: list[StoredEntry] = []
    size = 0
    for entry in entries:
        block.append(entry)
        size += entry.size
        if size >= BLOCK_BYTES or len(block) >= BLOCK_ENTRIES:
            yield block
            block, size = [], 0
    if block:
        yield block


def encode_block(entries: Sequence[StoredEntry], level: int = LEVEL) -> tuple[str, bytes]:
    """The encoding and the data of a block: compressed if that is smaller."""
    columns = _columns(entries)
    plain = encode_plain(entries)
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: level,
        zstd.CompressionParameter.checksum_flag: 1,
    }
    compressed = zstd.compress(_ENCODER.encode(columns), options=options)
    # The plain form has no place for cuts.
    return (ZSTD, compressed) if columns.cuts or len(compressed) < len(plain) else (PLAIN, plain)


def _columns(entries: Sequence[StoredEntry]) -> _Columns:
    times = [entry.time for entry in entries]
    return _Columns(
        time_steps=[time - previous for time, previous in zip(times, [0, *times], strict=False)],
        chunk_lengths=[None if entry.chunk is None else len(entry.chunk) for entry in entries],
        raw_lengths=[None if entry.raw is None else len(entry.raw) for entry in entries],
        chunks=b"".join(entry.chunk or b"" for entry in entries),
        raws=b"".join(entry.raw or b"" for entry in entries),
        cuts=[(index, cut) for index, entry in enumerate(entries) for cut in entry.cuts],
    )


def _entries(columns: _Columns) -> list[StoredEntry]:
    time = 0
    times = [time := time + step for step in columns.time_steps]
    chunks = _slices(columns.chunks, columns.chunk_lengths)
    raws = _slices(columns.raws, columns.raw_lengths)
    entries = [StoredEntry(*fields) for fields in zip(times, chunks, raws, strict=True)]
    for index, cut in columns.cuts:
        entries[index] = entries[index]._replace(cuts=(*entries[index].cuts, cut))
    return entries


def _slices(data: bytes, lengths: Iterable[int | None]) -> Iterator[bytes | None]:
    start = 0
    for length in lengths:
        if length is None:
            yield None
        else:
            yield data[start : start + length]
            start += length


# Files


class Extracted(NamedTuple):
    """A line without its files, their positions, and their bytes by hash."""

    rest: bytes
    cuts: tuple[Cut, ...]
    files: dict[str, bytes]


def extract_files(raw: bytes) -> Extracted:
    """Take the files out of a line."""
    if len(raw) < MIN_FILE_LENGTH or not _may_have_file(raw):
        return Extracted(raw, (), {})
    kept: list[bytes] = []
    cuts: list[Cut] = []
    files: dict[str, bytes] = {}
    start = length = 0
    for match in BASE64.finditer(raw):
        end = match.start() + len(match.group()) // 4 * 4
        data = _decode_base64(raw[match.start() : end])
        if data is None:
            continue
        kept.append(raw[start : match.start()])
        length += len(kept[-1])
        cuts.append(Cut(length, sha256(data).hexdigest()))
        files[cuts[-1].hash] = data
        start = end
    kept.append(raw[start:])
    return Extracted(b"".join(kept), tuple(cuts), files)


def _may_have_file(raw: bytes) -> bool:
    """Whether a piece without quotes and spaces is long enough. Much cheaper than the regular expression."""
    return any(
        len(piece) >= MIN_FILE_LENGTH
        for quoted in raw.split(b'"')
        if len(quoted) >= MIN_FILE_LENGTH
        for piece in quoted.split()
    )


def _decode_base64(text: bytes) -> bytes | None:
    """The bytes, if encoding them gives the same text."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data) == text else None


def restore_files(entries: Sequence[StoredEntry], files: Mapping[str, bytes]) -> list[StoredEntry]:
    """Entries with their files in the lines again."""
    return [
        entry._replace(raw=_restored(entry.raw or b"", entry.cuts, files), cuts=()) if entry.cuts else entry
        for entry in entries
    ]


def _restored(rest: bytes, cuts: Iterable[Cut], files: Mapping[str, bytes]) -> bytes:
    pieces: list[bytes] = []
    start = 0
    for position, digest in cuts:
        pieces += (rest[start:position], base64.b64encode(files[digest]))
        start = position
    return b"".join([*pieces, rest[start:]])
