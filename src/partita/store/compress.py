"""zstd compression, from the standard library or its backport."""

import sys
from collections.abc import Iterable, Iterator

from partita.errors import StoreError

if sys.version_info >= (3, 14):
    from compression import zstd as zstd  # noqa: PLC0414 # other modules import it from here
else:
    from backports import zstd as zstd  # noqa: PLC0414

LEVEL = 3

PLAIN, ZSTD = "plain", "zstd"


def compress(data: bytes) -> tuple[str, bytes]:
    """The encoding and the stored bytes: compressed if that is smaller."""
    compressed = zstd.compress(data, LEVEL)
    return (ZSTD, compressed) if len(compressed) < len(data) else (PLAIN, data)


def decompress(encoding: str, data: bytes) -> bytes:
    """The original bytes."""
    try:
        return zstd.decompress(data) if encoding == ZSTD else data
    except zstd.ZstdError:
        raise _damaged() from None


def decompress_pieces(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The original bytes of a compressed stream, in pieces of at most `size` bytes."""
    stream = zstd.ZstdDecompressor()
    try:
        for piece in pieces:
            yield stream.decompress(piece, size)
            while not (stream.eof or stream.needs_input):
                yield stream.decompress(b"", size)
    except zstd.ZstdError:
        raise _damaged() from None


def _damaged() -> StoreError:
    return StoreError("compressed data is damaged", hint="run: partita doctor; restore it from a backup")
