"""Blocks of logs: reading from an offset, compressed files, damaged files."""

import asyncio
import gzip
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import DecodeError
from partita.logs.lines.blocks import BLOCK, PLAIN_BLOCK, Decompressor, open_log, read_blocks_async
from tests.tables import each_row

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = b"".join(b'{"line": %d, "square": %d}\n' % (number, number * number) for number in range(20_000))

PACKINGS: dict[str, Callable[[bytes], bytes]] = {"plain": bytes, "gzip": gzip.compress, "zstd": zstd.compress}
COMPRESSED = {name: pack for name, pack in PACKINGS.items() if name != "plain"}

packings = pytest.mark.parametrize("pack", PACKINGS.values(), ids=PACKINGS)
compressed = pytest.mark.parametrize("pack", COMPRESSED.values(), ids=COMPRESSED)


@cache
def packed_text(pack: Callable[[bytes], bytes]) -> bytes:
    return pack(TEXT)


def drained(blocks: Iterator[bytes]) -> tuple[bytes, str]:
    """What could be read, and what was the matter."""
    text = bytearray()
    try:
        for block in blocks:
            text += block
    except DecodeError as error:
        return bytes(text), str(error)
    return bytes(text), ""


@each_row("offset", [0, 1, 12_345, len(TEXT) - 1, len(TEXT), len(TEXT) + 1])
@each_row("name", ["log.jsonl", "log.jsonl.gz", "log.jsonl.zst"])
@each_row("pack", PACKINGS.values(), ids=PACKINGS)
def test_a_log_is_read_from_an_offset(
    tmp_path: Path, pack: Callable[[bytes], bytes], name: str, offset: int
) -> None:
    path = tmp_path / name  # the name does not show the compression
    path.write_bytes(packed_text(pack))
    assert b"".join(open_log(path, offset)) == TEXT[offset:]
    assert b"".join(open_log(str(path), offset)) == TEXT[offset:]


@packings
def test_short_and_empty_logs(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log"
    for text in (b"", b"1", b"\x1f", b"[1]\n"):
        path.write_bytes(pack(text))
        assert b"".join(open_log(path)) == text


def test_a_large_file_is_read_in_blocks(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * (2 * BLOCK + 5))
    assert [len(block) for block in open_log(path, 2)] == [BLOCK, BLOCK, 3]


@compressed
def test_a_small_compressed_file_with_much_data_is_read_in_blocks(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "log"
    path.write_bytes(pack(bytes(20_000_000)))
    sizes = [len(block) for block in open_log(path)]
    assert sum(sizes) == 20_000_000
    assert max(sizes) <= PLAIN_BLOCK


@compressed
def test_a_file_may_have_several_compressed_members(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log"
    path.write_bytes(pack(TEXT[:500]) + pack(b"") + pack(TEXT[500:]) + bytes(512))
    assert b"".join(open_log(path)) == TEXT


@compressed
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_cut_compressed_file_is_read_up_to_the_cut(
    tmp_path: Path, pack: Callable[[bytes], bytes], part: float
) -> None:
    path = tmp_path / "log.packed"
    packed = packed_text(pack)
    path.write_bytes(packed[: int(len(packed) * part)])
    text, problem = drained(open_log(path))
    assert TEXT.startswith(text)
    assert len(text) > len(TEXT) * part - 3 * PLAIN_BLOCK
    assert problem.startswith(f"compressed file is cut off (at {path}); hint: everything before the cut")


@compressed
def test_a_damaged_compressed_file_is_read_up_to_the_damage(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "log.packed"
    packed = packed_text(pack)
    path.write_bytes(packed + b"no packed bytes")
    text, problem = drained(open_log(path))
    assert text == TEXT
    assert problem.startswith("compressed file is damaged: ")
    assert f"(at {path})" in problem


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "no such file": lambda path: path,
    "a folder, not a file": lambda path: path.mkdir(),
    "file cannot be read: ": lambda path: path.symlink_to(path),
}


@pytest.mark.parametrize(("what", "prepare"), UNREADABLE.items(), ids=UNREADABLE)
def test_a_file_that_cannot_be_read_is_reported(
    tmp_path: Path, what: str, prepare: Callable[[Path], object]
) -> None:
    prepare(tmp_path / "log")
    with pytest.raises(DecodeError) as caught:
        next(open_log(tmp_path / "log"))
    assert caught.value.what.startswith(what)
    assert caught.value.where == str(tmp_path / "log")
    assert caught.value.hint


def test_a_file_without_permission_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # the tests may run as a user that can read everything
    assert drained(open_log(tmp_path))[1] == (
        f"file may not be read (at {tmp_path}); hint: check its permissions"
    )


@given(st.sampled_from(sorted(PACKINGS)), st.integers(0, 3000), st.lists(st.integers(0, 3000), max_size=8))
def test_cutting_the_bytes_changes_nothing(name: str, size: int, cuts: list[int]) -> None:
    packed = PACKINGS[name](TEXT[:size])
    edges = [0, *sorted(min(cut, len(packed)) for cut in cuts), len(packed)]
    unpacker = Decompressor()
    blocks = [block for start, end in pairwise(edges) for block in unpacker.feed(packed[start:end])]
    assert b"".join([*blocks, *unpacker.finish()]) == TEXT[:size]


async def pieces(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def stream(data: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return reader


@packings
@pytest.mark.parametrize("size", [1, 1000])
async def test_an_async_source_is_read(pack: Callable[[bytes], bytes], size: int) -> None:
    text = TEXT[:5000]
    assert b"".join([block async for block in read_blocks_async(pieces(pack(text), size))]) == text


@packings
async def test_an_async_source_with_a_read_method_is_read(pack: Callable[[bytes], bytes]) -> None:
    assert b"".join([block async for block in read_blocks_async(stream(packed_text(pack)))]) == TEXT


async def test_a_cut_async_source_is_an_error() -> None:
    source = stream(gzip.compress(TEXT)[:5000])
    blocks = read_blocks_async(source, "upload")
    assert TEXT.startswith(await anext(blocks))
    with pytest.raises(DecodeError, match=r"cut off \(at upload\)"):
        await anext(blocks)
