"""Pictures in raw lines: out and back, byte for byte."""

import base64
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from partita.store.log.pictures import SHORTEST, put_back, take_out
from tests.tables import each_row

PICTURE = base64.b64encode(Random(1).randbytes(6000))
OTHER = base64.b64encode(Random(2).randbytes(5002))

LINES = {
    "no picture": (b'{"text":"none"}', 0),
    "one": (b'{"data":"' + PICTURE + b'"}', 1),
    "padded": (b'{"data":"' + OTHER + b'"}', 1),
    "the same twice": (b'{"a":"' + PICTURE + b'","b":"' + PICTURE + b'"}', 2),
    "two, and text around": (b"before " + PICTURE + b" between " + OTHER + b" after", 2),
    "behind a data url": (b'{"url":"data:image/png;base64,' + PICTURE + b'"}', 1),
    "letters that follow": (PICTURE + b"AAA", 1),
    "too short": (PICTURE[: SHORTEST - 4], 0),
    "written in another way": (OTHER[:-3] + b"B==", 0),
    "nothing": (b"", 0),
}


@each_row(("line", "count"), LINES.values(), ids=LINES)
def test_out_and_back(line: bytes, count: int) -> None:
    stripped = take_out(line)
    assert len(stripped.cuts) == count
    assert put_back(stripped.rest, stripped.cuts, stripped.pictures) == line
    if count:
        assert len(stripped.rest) < len(line) - SHORTEST * count + 10


PIECES = st.one_of(
    st.binary(max_size=20),
    st.sampled_from([PICTURE, OTHER, PICTURE[:-3], b"A" * SHORTEST, b"=", b"\xff" * 10, b'","b":"']),
)


@given(st.lists(PIECES, max_size=6))
def test_any_bytes_come_back(pieces: list[bytes]) -> None:
    line = b"".join(pieces)
    stripped = take_out(line)
    assert put_back(stripped.rest, stripped.cuts, stripped.pictures) == line
