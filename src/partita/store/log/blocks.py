"""How entries of a run's log are kept: open rows while the run is at work, sealed blocks once it has ended.

An open row is a msgpack array of entries: cheap to add to. A sealed block holds the same entries by column
(steps of time, lengths, all chunks, all raw bytes), compressed: one block is all it takes to read an entry.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from partita.errors import StoreError
from partita.store.compress import PLAIN, ZSTD

from .pictures import Cut

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BLOCK_BYTES = 512 * 1024
"""A block is closed when it holds this much: on logs of agents 64 KiB would take a tenth more."""

BLOCK_ENTRIES = 4096
OPEN = "open"
"""How a row of the tail is kept: the entries of a plain row without its head, so that rows can be joined."""

LEVEL = 9
"""Blocks are written once, and not while anybody waits: level 9 saves a twentieth over level 3."""

QUICK = 1
"""The level for blocks that somebody waits for."""


Key: TypeAlias = tuple[str, str]
"""A run: its owner and its id."""


class Addition:
    """What one run gets: how many entries, in which pieces."""

    __slots__ = ("count", "pieces", "size")

    def __init__(self) -> None:
        self.count = 0
        self.size = 0
        self.pieces: list[bytes | bytearray] = []

    def add(self, count: int, data: bytes | bytearray) -> None:
        """Put encoded entries behind those that are there."""
        self.count += count
        self.size += len(data)
        self.pieces.append(data)

    def join(self, other: "Addition") -> None:
        """Put what another run of entries holds behind this."""
        self.count += other.count
        self.size += other.size
        self.pieces += other.pieces


class End(NamedTuple):
    """Where the log of a run ends; in SQLite also its key, its rows in the tail and where they begin."""

    last_seq: int
    run: int = 0
    rows: int = 0
    tail_seq: int | None = None


class Piece(NamedTuple):
    """A row of a log."""

    first_seq: int
    last_seq: int
    encoding: str
    data: bytes


class Stored(NamedTuple):
    """An entry as it is kept: microseconds since 1970, the JSON of the chunk, the agent's own bytes."""

    time: int
    chunk: bytes | None
    raw: bytes | None
    cuts: tuple[Cut, ...] = ()  # where pictures were taken out of `raw`, in a sealed block

    @property
    def size(self) -> int:
        """How many bytes it brings."""
        return len(self.chunk or b"") + len(self.raw or b"")


class _Columns(msgspec.Struct, array_like=True, frozen=True):
    """The entries of a block, by column. Absent and empty are told apart: no length is not length 0."""

    steps: list[int]  # the first time, then what each adds to the one before
    chunk_lengths: list[int | None]
    raw_lengths: list[int | None]
    chunks: bytes
    raws: bytes
    cuts: list[tuple[int, Cut]] = []  # by the place of the entry in the block


_ENCODER = msgspec.msgpack.Encoder()
_ROW: msgspec.msgpack.Decoder[list[Stored]] = msgspec.msgpack.Decoder(list[Stored])
_BLOCK = msgspec.msgpack.Decoder(_Columns)


def add(body: bytearray, time: int, chunk: bytes | None, raw: bytes | None) -> None:
    """Write an entry at the end of what is to become a row."""
    _ENCODER.encode_into((time, chunk, raw), body, -1)


def head(count: int) -> bytes:
    """What stands before so many entries to make a row of them: the head of an array."""
    return b"\xdd" + count.to_bytes(4, "big")


def row(entries: Sequence[Stored]) -> bytes:
    """The open row of entries."""
    body = bytearray(head(len(entries)))
    for entry in entries:
        add(body, *entry[:3])
    return bytes(body)


def seal(entries: Sequence[Stored], level: int = LEVEL) -> tuple[str, bytes]:
    """A block of entries and its encoding: compressed when that is smaller than the open row."""
    columns = _columns(entries)
    plain = row(entries)
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: level,
        zstd.CompressionParameter.checksum_flag: 1,
    }
    small = zstd.compress(_ENCODER.encode(columns), options=options)
    return (ZSTD, small) if columns.cuts or len(small) < len(plain) else (PLAIN, plain)


def _columns(entries: Sequence[Stored]) -> _Columns:
    times = [entry.time for entry in entries]
    return _Columns(
        steps=[time - before for time, before in zip(times, [0, *times], strict=False)],
        chunk_lengths=[None if entry.chunk is None else len(entry.chunk) for entry in entries],
        raw_lengths=[None if entry.raw is None else len(entry.raw) for entry in entries],
        chunks=b"".join(entry.chunk or b"" for entry in entries),
        raws=b"".join(entry.raw or b"" for entry in entries),
        cuts=[(number, cut) for number, entry in enumerate(entries) for cut in entry.cuts],
    )


def unpack(encoding: str, data: bytes) -> list[Stored]:
    """The entries of a row or a block."""
    try:
        return _ROW.decode(data) if encoding == PLAIN else _entries(_BLOCK.decode(zstd.decompress(data)))
    except (msgspec.MsgspecError, zstd.ZstdError, ValueError):
        raise StoreError(
            "a block of the log is damaged", hint="the rest of the log is whole; take this part from a backup"
        ) from None


def _entries(columns: _Columns) -> list[Stored]:
    time = 0
    times = [time := time + step for step in columns.steps]
    chunks = _pieces(columns.chunks, columns.chunk_lengths)
    raws = _pieces(columns.raws, columns.raw_lengths)
    entries = [Stored(*fields) for fields in zip(times, chunks, raws, strict=True)]
    for number, cut in columns.cuts:
        entries[number] = entries[number]._replace(cuts=(*entries[number].cuts, cut))
    return entries


def _pieces(data: bytes, lengths: Iterable[int | None]) -> Iterator[bytes | None]:
    start = 0
    for length in lengths:
        if length is None:
            yield None
        else:
            yield data[start : start + length]
            start += length


def blocks(entries: Iterable[Stored]) -> Iterator[list[Stored]]:
    """Entries, cut where a block is full."""
    block: list[Stored] = []
    size = 0
    for entry in entries:
        block.append(entry)
        size += entry.size
        if size >= BLOCK_BYTES or len(block) >= BLOCK_ENTRIES:
            yield block
            block, size = [], 0
    if block:
        yield block
