"""Logs in blocks of bytes: from files, plain or compressed, and from async sources.

The first bytes decide whether a file is compressed; its name may be wrong.
"""

import sys
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from io import BufferedReader, RawIOBase
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol, runtime_checkable

from partita.errors import DecodeError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK: Final = 1024 * 1024
PLAIN_BLOCK: Final = 64 * 1024
"""Smaller, because a block with damaged compressed data is lost as a whole."""


@runtime_checkable
class AsyncReadable(Protocol):
    """Something like `asyncio.StreamReader`, or a file opened by an async library."""

    async def read(self, n: int, /) -> bytes:
        """At most `n` bytes; none at the end."""
        ...


def open_log(path: str | PathLike[str], offset: int = 0) -> Iterator[bytes]:
    """The bytes of a log from `offset` on, counted in uncompressed bytes.

    If a file is damaged or cut, what can be read is returned before the error is raised.
    """
    try:
        with Path(path).open("rb") as file:
            if _codec_of(file.read(_MAGIC_BYTES)) is None:
                file.seek(offset)
                yield from _blocks(file)
            else:
                file.seek(0)
                yield from _skip(_decompressed(_blocks(file, PLAIN_BLOCK), str(path)), offset)
    except OSError as error:
        raise _unreadable(error, str(path)) from None


def open_plain(file: BinaryIO, where: str = "") -> BinaryIO:
    """The bytes of an open file as a file, decompressed if needed; `where` names it in errors."""
    return BufferedReader(_PlainFile(_decompressed(_available(file), where)), PLAIN_BLOCK)


class _PlainFile(RawIOBase):
    """Blocks of bytes as a file."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        data = self._rest or next(self._blocks, b"")
        count = min(len(data), len(view))
        view[:count], self._rest = data[:count], data[count:]
        return count


def read_head(path: Path, size: int) -> bytes:
    """The first `size` bytes of a log. Raises an `OSError`, or a `DecodeError` if they are damaged."""
    with path.open("rb") as file:
        head = file.read(size)
        if _codec_of(head) is None:
            return head
        file.seek(0)
        found = b""
        for block in _decompressed(_blocks(file, PLAIN_BLOCK), str(path)):
            found += block
            if len(found) >= size:
                break
    return found[:size]


async def read_blocks_async(
    source: AsyncIterable[bytes] | AsyncReadable, where: str = ""
) -> AsyncIterator[bytes]:
    """The bytes of an async source, decompressed if needed; `where` names it in errors."""
    decompressor = Decompressor(where)
    async for data in _read_all(source) if isinstance(source, AsyncReadable) else source:
        for block in decompressor.feed(data):
            yield block
    for block in decompressor.finish():
        yield block


class Decompressor:
    """Bytes in, plain or compressed; blocks of plain bytes out. The bytes may be cut anywhere."""

    def __init__(self, where: str = "") -> None:
        self._where = where
        self._head: bytes | None = b""  # the first bytes, until they are enough to decide
        self._codec: Callable[[], _Member] | None = None
        self._member: _Member | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The plain bytes, in blocks of a limited size: a few compressed bytes may be gigabytes."""
        if self._head is not None:
            data = self._head + data
            self._head = data if len(data) < _MAGIC_BYTES else None
            if self._head is not None:
                return
            self._codec = _codec_of(data)
        if self._codec is None:
            yield data
        else:
            yield from self._members(self._codec, data)

    def finish(self) -> Iterator[bytes]:
        """The last bytes; raises a `DecodeError` if the data is cut."""
        if self._head:
            yield self._head
        if self._member is not None:
            raise DecodeError(
                "compressed file is cut off",
                where=self._where,
                hint="everything before the cut was read; copy the file again",
            )

    def _members(self, codec: "Callable[[], _Member]", data: bytes) -> Iterator[bytes]:
        while data or not (self._member is None or self._member.needs_input):
            if self._member is None:
                data = data.lstrip(b"\0")  # padding of tapes and some tools
                if not data:
                    return
                self._member = codec()
            block = self._decompress(self._member, data)
            data = b""
            if block:
                yield block
            if self._member.eof:
                data = self._member.unused_data
                self._member = None

    def _decompress(self, member: "_Member", data: bytes) -> bytes:
        try:
            return member.decompress(data, PLAIN_BLOCK)
        except (zlib.error, zstd.ZstdError) as error:
            raise DecodeError(
                f"compressed file is damaged: {error}",
                where=self._where,
                hint="everything before the damage was read; copy the file again",
            ) from None


class _Member(Protocol):
    """One of the compressed streams in a file."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _GzipMember:
    """gzip with the methods of the decompressor of zstd."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=zlib.MAX_WBITS + 16)  # 16: with the header of gzip
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        block = self._stream.decompress(self._stream.unconsumed_tail + data, max_length)
        self.needs_input = len(block) < max_length
        return block


_CODECS: Final[dict[bytes, Callable[[], _Member]]] = {
    b"\x1f\x8b": _GzipMember,
    b"\x28\xb5\x2f\xfd": zstd.ZstdDecompressor,
}
_MAGIC_BYTES = max(map(len, _CODECS))


def _codec_of(head: bytes) -> Callable[[], _Member] | None:
    return next((codec for magic, codec in _CODECS.items() if head.startswith(magic)), None)


def _blocks(file: BinaryIO, size: int = BLOCK) -> Iterator[bytes]:
    while block := file.read(size):
        yield block


def _available(file: BinaryIO) -> Iterator[bytes]:
    """Blocks of a file or pipe, each as soon as it can be read."""
    read = file.read1 if isinstance(file, BufferedReader) else file.read
    while block := read(PLAIN_BLOCK):
        yield block


def _decompressed(blocks: Iterator[bytes], where: str) -> Iterator[bytes]:
    decompressor = Decompressor(where)
    for block in blocks:
        yield from decompressor.feed(block)
    yield from decompressor.finish()


def _skip(blocks: Iterator[bytes], offset: int) -> Iterator[bytes]:
    for block in blocks:
        if offset < len(block):
            yield block[offset:]
        offset = max(0, offset - len(block))


async def _read_all(source: AsyncReadable) -> AsyncIterator[bytes]:
    while block := await source.read(BLOCK):
        yield block


def _unreadable(error: OSError, where: str) -> DecodeError:
    match error:
        case FileNotFoundError():
            return DecodeError("no such file", where=where, hint="agents delete old logs; check the path")
        case IsADirectoryError():
            return DecodeError("a folder, not a file", where=where, hint="give a file in it")
        case PermissionError():
            return DecodeError("file may not be read", where=where, hint="check its permissions")
        case _:
            return DecodeError(
                f"file cannot be read: {error.strerror or error}", where=where, hint="try again"
            )
