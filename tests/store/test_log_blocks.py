"""The stored form of log entries: rows and blocks, and files in raw lines."""

import base64
from datetime import UTC, timedelta, timezone
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from partita.store.logs.blocks import (
    MIN_FILE_LENGTH,
    OPEN,
    StoredEntry,
    decode,
    encode_block,
    encode_plain,
    extract_files,
    restore_files,
    split_blocks,
)
from partita.store.logs.run_log import LogEntry, encode_entries
from partita.store.schema import to_microseconds
from partita.types.codec import encode
from tests.tables import each_row

from .test_run_log import CHUNKS

stored = st.builds(
    StoredEntry,
    st.integers(-(2**62), 2**62),
    st.none() | st.binary(max_size=50),
    st.none() | st.binary(max_size=50),
    st.just(()),
)


@given(st.lists(stored, min_size=1))
def test_a_block_decodes_to_its_entries(entries: list[StoredEntry]) -> None:
    assert decode(*encode_block(entries), len(entries)) == entries
    assert decode("plain", encode_plain(entries), len(entries)) == entries


@given(st.lists(stored), st.integers(1, 5))
def test_splitting_into_blocks_keeps_the_order(entries: list[StoredEntry], times: int) -> None:
    entries = entries * times
    assert [entry for block in split_blocks(entries) for entry in block] == entries


@given(
    st.lists(
        st.builds(
            LogEntry,
            st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7))])),
            st.none() | st.sampled_from(CHUNKS),
            st.none() | st.binary(),
        )
    )
)
def test_a_row_decodes_to_its_entries(entries: list[LogEntry]) -> None:
    assert decode(OPEN, bytes(encode_entries(entries)), len(entries)) == [
        StoredEntry(to_microseconds(time), None if chunk is None else encode(chunk), raw)
        for time, chunk, raw in entries
    ]


FILE = base64.b64encode(Random(1).randbytes(6000))
OTHER = base64.b64encode(Random(2).randbytes(5002))

LINES = {
    "no file": (b'{"text":"none"}', 0),
    "one": (b'{"data":"' + FILE + b'"}', 1),
    "padded": (b'{"data":"' + OTHER + b'"}', 1),
    "the same twice": (b'{"a":"' + FILE + b'","b":"' + FILE + b'"}', 2),
    "two files, with text around them": (b"before " + FILE + b" between " + OTHER + b" after", 2),
    "in a data URL": (b'{"url":"data:image/png;base64,' + FILE + b'"}', 1),
    "letters that follow": (FILE + b"AAA", 1),
    "too short": (FILE[: MIN_FILE_LENGTH - 4], 0),
    "not canonical base64": (OTHER[:-3] + b"B==", 0),
    "nothing": (b"", 0),
}


def restored(line: bytes) -> bytes | None:
    """A line after its files were extracted and put back."""
    rest, cuts, files = extract_files(line)
    (entry,) = restore_files([StoredEntry(0, None, rest, cuts)], files)
    return entry.raw


@each_row(("line", "count"), LINES.values(), ids=LINES)
def test_files_are_extracted_and_restored(line: bytes, count: int) -> None:
    extracted = extract_files(line)
    assert len(extracted.cuts) == count
    assert restored(line) == line
    if count:
        assert len(extracted.rest) < len(line) - MIN_FILE_LENGTH * count + 10


PIECES = st.one_of(
    st.binary(max_size=20),
    st.sampled_from([FILE, OTHER, FILE[:-3], b"A" * MIN_FILE_LENGTH, b"=", b"\xff" * 10, b'","b":"']),
)


@given(st.lists(PIECES, max_size=6))
def test_any_line_is_restored_exactly(pieces: list[bytes]) -> None:
    line = b"".join(pieces)
    assert restored(line) == line
