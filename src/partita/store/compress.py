"""zstd: from the standard library where it is there, else its backport."""

import sys
from collections.abc import Iterable, Iterator

from partita.errors import StoreError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 3

PLAIN, ZSTD = "plain", "zstd"


def packed(data: bytes) -> tuple[str, bytes]:
    """Data as it is kept: compressed when that makes it smaller, and how it is kept."""
    small = zstd.compress(data, LEVEL)
    return (ZSTD, small) if len(small) < len(data) else (PLAIN, data)


def unpacked_pieces(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Compressed data as it was, in pieces of at most so many bytes."""
    stream = zstd.ZstdDecompressor()
    try:
        for piece in pieces:
            yield stream.decompress(piece, most)
            while not (stream.eof or stream.needs_input):
                yield stream.decompress(b"", most)
    except zstd.ZstdError:
        raise _damaged() from None


def unpacked(encoding: str, data: bytes) -> bytes:
    """Data as it was."""
    try:
        return zstd.decompress(data) if encoding == ZSTD else data
    except zstd.ZstdError:
        raise _damaged() from None


def _damaged() -> StoreError:
    return StoreError("compressed data is damaged", hint="run: partita doctor; take it from a backup")
