"""Lines of a log: they do not depend on how the bytes are cut, and no byte is lost."""

import json
from itertools import islice, pairwise
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from partita.formats.log.sink import Position
from partita.logs.lines import recovery
from partita.logs.lines.blocks import open_log
from partita.logs.lines.line import (
    BESIDE,
    CONTROLS,
    CUT,
    GLUED,
    JOINED,
    NOT_JSON,
    PADDED,
    TOO_LONG,
    UNFINISHED,
)
from partita.logs.lines.reader import MAX_LENGTH, Line, LineReader
from partita.logs.lines.recovery import MAX_RETRIED
from partita.types.json import Json, loads
from tests import recordings
from tests.sampling import HUGE
from tests.strategies_json import json_objects
from tests.tables import each_row

# Real logs with counted truth, where a folder with them lies beside the repository.

Fields: TypeAlias = tuple[int, bytes, Json, str | None]


def read(data: bytes, *, longest: int = MAX_LENGTH, cuts: tuple[int, ...] = ()) -> list[Line]:
    reader = LineReader(longest=longest)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    lines = [line for start, end in pairwise(edges) for line in reader.feed(data[start:end])]
    return lines + reader.finish()


def fields_of(lines: list[Line]) -> list[Fields]:
    return [(line.number, line.raw, line.value, line.problem) for line in lines]


FILES: dict[str, tuple[bytes, list[Fields]]] = {
    "nothing": (b"", []),
    "blank lines are counted": (
        b'\n \t\r\n{"a":1}\n\n2\n',
        [(3, b'{"a":1}', {"a": 1}, None), (5, b"2", 2, None)],
    ),
    "any value": (
        b'null\n"a"\n[1]\n',
        [(1, b"null", None, None), (2, b'"a"', "a", None), (3, b"[1]", [1], None)],
    ),
    "only a line feed ends a line": (
        '"a\u2028b\u2029c\u0085d\x7f"\r\n{}\r\n'.encode(),
        [
            (1, '"a\u2028b\u2029c\u0085d\x7f"\r'.encode(), "a\u2028b\u2029c\u0085d\x7f", None),
            (2, b"{}\r", {}, None),
        ],
    ),
    "a carriage return alone": (
        b'{"a":1}\r{"b":2}\n',
        [(1, b'{"a":1}', {"a": 1}, GLUED), (1, b'\r{"b":2}', {"b": 2}, GLUED)],
    ),
    "no line feed at the end": (
        b'{"a":1}\n{"b":2}',
        [(1, b'{"a":1}', {"a": 1}, None), (2, b'{"b":2}', {"b": 2}, None)],
    ),
    "an unfinished line": (
        b'{"a":1}\n{"b":',
        [(1, b'{"a":1}', {"a": 1}, None), (2, b'{"b":', UNSET, UNFINISHED)],
    ),
    "an unfinished word": (b"tru", [(1, b"tru", UNSET, UNFINISHED)]),
    "an unfinished record behind a whole one": (
        b'{"a":1}{"b":',
        [(1, b'{"a":1}', {"a": 1}, BESIDE), (1, b'{"b":', UNSET, UNFINISHED)],
    ),
    "a whole record at the end behind a cut one": (
        b'{"a":"cu{"b":2}',
        [(1, b'{"a":"cu', UNSET, CUT), (1, b'{"b":2}', {"b": 2}, BESIDE)],
    ),
    "glued": (
        b'{"a":1}{"b":2}\n{"c":3}\n',
        [(1, b'{"a":1}', {"a": 1}, GLUED), (1, b'{"b":2}', {"b": 2}, GLUED), (2, b'{"c":3}', {"c": 3}, None)],
    ),
    "noise": (b'hello\n{"a":1}\n', [(1, b"hello", UNSET, NOT_JSON), (2, b'{"a":1}', {"a": 1}, None)]),
    "NULs alone": (b'\0\0\n{"a":1}\n', [(1, b"\0\0", UNSET, NOT_JSON), (2, b'{"a":1}', {"a": 1}, None)]),
    "pretty-printed": (
        b'{\n  "a": [\n    1\n\n  ]\n}\n{"b":2}\n',
        [(1, b'{\n  "a": [\n    1\n\n  ]\n}', {"a": [1]}, JOINED), (7, b'{"b":2}', {"b": 2}, None)],
    ),
    "pretty-printed, no line feed at the end": (b'{\n"a": 1\n}', [(1, b'{\n"a": 1\n}', {"a": 1}, JOINED)]),
    "pretty-printed, glued": (
        b'[\n1]{\n"a": 1}{"b":2} \nx\n',
        [
            (1, b"[\n1]", [1], JOINED),
            (2, b'{\n"a": 1}', {"a": 1}, JOINED),
            (3, b'{"b":2} ', {"b": 2}, None),
            (4, b"x", UNSET, NOT_JSON),
        ],
    ),
    "pretty-printed behind NULs": (
        b'\0{\n"a":1}\0\n',
        [(1, b'\0{\n"a":1}\0', {"a": 1}, f"{JOINED}; {PADDED}")],
    ),
    "pretty-printed, unfinished": (b'1\n{\n"a":\n', [(1, b"1", 1, None), (2, b'{\n"a":', UNSET, UNFINISHED)]),
    "a line feed in a string": (
        b'{"a":"b\n\nc"}\n{"d":4}\n',
        [(1, b'{"a":"b\n\nc"}', {"a": "b\n\nc"}, f"{JOINED}; {CONTROLS}"), (4, b'{"d":4}', {"d": 4}, None)],
    ),
    "a line feed in a string of a glued record": (
        b'{"x":0}{"a":"b\nc"}\n',
        [(1, b'{"x":0}', {"x": 0}, BESIDE), (1, b'{"a":"b\nc"}', {"a": "b\nc"}, f"{JOINED}; {CONTROLS}")],
    ),
    "a cut record does not swallow a record": (
        b'{"a":"cu\n{"b":2}\n',
        [(1, b'{"a":"cu', UNSET, CUT), (2, b'{"b":2}', {"b": 2}, None)],
    ),
    "nor one where a value may follow": (
        b'{"a":[\n{"b":2}\n]}\n',
        [(1, b'{"a":[', UNSET, CUT), (2, b'{"b":2}', {"b": 2}, None), (3, b"]}", UNSET, NOT_JSON)],
    ),
    "nor one that is damaged": (
        b'{"a":[\n{"b":"\x01"}\n',
        [(1, b'{"a":[', UNSET, CUT), (2, b'{"b":"\x01"}', {"b": "\x01"}, CONTROLS)],
    ),
    "nor other values, nor blank lines": (
        b'{"a":"cu\n\n12\n{\n"b":2}\n{"c":3}\n',
        [
            (1, b'{"a":"cu', UNSET, CUT),
            (3, b"12", 12, None),
            (4, b'{\n"b":2}', {"b": 2}, JOINED),
            (6, b'{"c":3}', {"c": 3}, None),
        ],
    ),
    "cut records in a row": (
        b'{"a":"cu\n{"b":\n[1,\n{"c":3}\n',
        [
            (1, b'{"a":"cu', UNSET, CUT),
            (2, b'{"b":', UNSET, CUT),
            (3, b"[1,", UNSET, CUT),
            (4, b'{"c":3}', {"c": 3}, None),
        ],
    ),
    "many lines behind a cut record": (
        b'{"a":"cu\n' + b"12\n" * MAX_RETRIED + b'{"c":3}\n',
        [
            (1, b'{"a":"cu', UNSET, CUT),
            *((number, b"12", 12, None) for number in range(2, MAX_RETRIED + 2)),
            (MAX_RETRIED + 2, b'{"c":3}', {"c": 3}, None),
        ],
    ),
}


@each_row(("data", "lines"), FILES.values(), ids=FILES)
def test_lines(data: bytes, lines: list[Fields]) -> None:
    assert fields_of(read(data)) == lines


def test_a_line_has_its_position() -> None:
    reader = LineReader(offset=100, number=7)
    first, second, third = reader.feed(b'{"a":1}\n\n{"b":2}{"c":3}\n')
    assert [first.position, second.position, third.position] == [
        Position(8, 100),
        Position(10, 109),
        Position(10, 116),
    ]
    assert (reader.offset, reader.number) == (124, 10)


CHECKPOINTS: dict[str, tuple[bytes, int, int]] = {
    "after the last line": (b'{"a":1}\n{"b":2}\n', 16, 2),
    "a line without a line feed is read, its line feed is not": (b'{"a":1}\n{"b":2}', 15, 1),
    "before an unfinished line": (b'{"a":1}\n{"b":', 8, 1),
    "before the unfinished piece of a line": (b'{"a":1}\n{"b":2}{"c":', 15, 1),
    "before the first of several lines that may be one value": (b'{"a":1}\n{\n"b":\n', 8, 1),
    "before white space": (b'{"a":1}\n  ', 8, 1),
}


@each_row(("data", "offset", "number"), CHECKPOINTS.values(), ids=CHECKPOINTS)
def test_reading_continues_after_the_end(data: bytes, offset: int, number: int) -> None:
    reader = LineReader()
    lines = [*reader.feed(data), *reader.finish()]
    assert (reader.offset, reader.number) == (offset, number)
    longer = data + b'5}\n{"z":0}\n'
    resumed = LineReader(reader.offset, reader.number)
    known = [line for line in lines if line.problem != UNFINISHED]
    again = [*known, *resumed.feed(longer[offset:]), *resumed.finish()]
    assert [line.position for line in again] == [line.position for line in read(longer)]


def test_lines_that_were_not_consumed_are_returned_by_the_next_call() -> None:
    reader = LineReader()
    reader.feed(b"1\n2\n{}{}\n")
    left = reader.feed(b"3\n")
    assert next(left).value == 1
    assert (reader.offset, reader.number) == (2, 1)
    assert [line.value for line in reader.feed(b"4\n5")] == [2, {}, {}, 3, 4]
    assert list(left) == []
    assert [line.value for line in reader.finish()] == [5]


def test_reading_continues_between_the_parts_of_a_line() -> None:
    reader = LineReader()
    lines = reader.feed(b"1\n{}{}\n")
    assert [next(lines).value, next(lines).value] == [1, {}]
    assert (reader.offset, reader.number) == (4, 1)


LONG: dict[str, tuple[bytes, list[Fields]]] = {
    "just short enough": (b'"abcdef"\n1\n', [(1, b'"abcdef"', "abcdef", None), (2, b"1", 1, None)]),
    "one byte too long": (
        b'"abcdefg"\n1\n',
        [(1, b'"abcdefg', UNSET, TOO_LONG), (1, b'"', UNSET, TOO_LONG), (2, b"1", 1, None)],
    ),
    "twice as long": (
        b'"' + b"a" * 14 + b'"\n',
        [(1, b'"aaaaaaa', UNSET, TOO_LONG), (1, b'aaaaaaa"', UNSET, TOO_LONG)],
    ),
    "unfinished": (
        b'1\n"abcdefghij',
        [(1, b"1", 1, None), (2, b'"abcdefg', UNSET, TOO_LONG), (2, b"hij", UNSET, UNFINISHED)],
    ),
    "behind the beginning of a value": (
        b"[\n1,\n 23456789\n]\n",
        [
            (1, b"[", UNSET, CUT),
            (2, b"1,", UNSET, NOT_JSON),
            (3, b" 2345678", UNSET, TOO_LONG),
            (3, b"9", UNSET, TOO_LONG),
            (4, b"]", UNSET, NOT_JSON),
        ],
    ),
}


@each_row("piece", [1, 3, 100])
@each_row(("data", "lines"), LONG.values(), ids=LONG)
def test_a_line_that_is_too_long_is_split(data: bytes, lines: list[Fields], piece: int) -> None:
    assert fields_of(read(data, longest=8, cuts=tuple(range(0, len(data), piece)))) == lines


def test_a_huge_line_in_small_pieces() -> None:
    text = "x" * HUGE
    lines = read(b'{"a":"' + text.encode() + b'"}\n{"b":2}\n', cuts=tuple(range(0, HUGE, 1 << 16)))
    assert [line.value for line in lines] == [{"a": text}, {"b": 2}]


ENDLESS = {"MAX_LINES": b"[" + b"1,\n" * 50, "MAX_BYTES": b"[" + b'"xyz",\n' * 50}


@each_row(("limit", "data"), ENDLESS.items(), ids=ENDLESS)
def test_a_value_over_too_many_lines_is_not_joined(
    limit: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, limit, 40)
    first, *lines = read(data + b'{"a":1}\n')
    assert (first.number, first.problem) == (1, CUT)
    assert {line.problem for line in lines[:-1]} == {NOT_JSON}
    assert lines[-1].value == {"a": 1}


FRAGMENTS = (
    *(
        b'{"a":1}',
        b'{"a":"x","b":[{"c":2}]}',
        b"[1]",
        b"12",
        b"null",
        b'"\\ud83d"',
        b'{"a":NaN}',
        b'{"a":"\xff"}',
    ),
    *(b'{"a":"cu', b'{"a":', b"[", b"{", b"}", b"]", b'"b": 1,', b'"', b'b"}', b'  "c": {}', b"1,", b"tr"),
    *(b"", b"", b" ", b"\r", b"\0\0", b"\xef\xbb\xbf", b"hello", b'{"a":1},', b"\\", b"\xe2\x80\xa8", b"}{"),
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    lines = st.lists(st.sampled_from(FRAGMENTS), max_size=3).map(b"".join)
    return b"\n".join(draw(st.lists(lines, max_size=10)))


positions = st.lists(st.integers(0, 120), max_size=8).map(tuple)
limits = st.sampled_from([MAX_LENGTH, MAX_LENGTH, 7, 1])


@given(files(), positions, limits)
def test_cutting_the_bytes_changes_nothing(data: bytes, cuts: tuple[int, ...], longest: int) -> None:
    assert read(data, cuts=cuts, longest=longest) == read(data, longest=longest)


@given(files(), limits)
def test_every_byte_is_in_one_line_or_between_lines(data: bytes, longest: int) -> None:
    position = 0
    for line in read(data, longest=longest):
        assert not data[position : line.offset].strip()
        assert data.count(b"\n", 0, line.offset) == line.number - 1
        position = line.offset + len(line.raw)
        assert data[line.offset : position] == line.raw
        assert line.value is not UNSET or line.problem
    assert not data[position:].strip()


@given(files(), st.integers(0, 10))
def test_continuing_between_lines_gives_the_same_lines(data: bytes, stop: int) -> None:
    reader = LineReader()
    before = list(islice(reader.feed(data), stop))
    offset, number = reader.offset, reader.number
    assert fields_of(before) == fields_of(read(data))[: len(before)]
    if not offset or data[:offset].endswith(b"\n"):  # inside a line, less is known of it
        resumed = LineReader(offset, number)
        assert [*before, *resumed.feed(data[offset:]), *resumed.finish()] == read(data)


@st.composite
def garbled(draw: st.DrawFn, raw: bytes) -> bytes:
    """A line with something wrong, or nothing wrong after all; still one line."""
    place, end = sorted((draw(st.integers(0, len(raw))), draw(st.integers(0, len(raw)))))
    noise = draw(
        st.binary(max_size=4)
        | st.sampled_from([b"\0" * 9, raw, b'"', b"\\", b"{", b"}", b'{"a":1}', b"[" * 3000])
    )
    return (raw[:place] + noise + raw[end:]).replace(b"\n", b"\r")


@given(
    st.lists(json_objects().map(lambda value: json.dumps({"id": value}).encode()), min_size=1, max_size=5),
    st.data(),
)
def test_a_damaged_line_changes_no_other_line(raws: list[bytes], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(raws) - 1))
    bad = data.draw(garbled(raws[place]))
    whole = read(b"".join(raw + b"\n" for raw in raws))
    lines = read(b"".join(raw + b"\n" for raw in [*raws[:place], bad, *raws[place + 1 :]]))
    others = [line for line in lines if line.number != place + 1]
    assert fields_of(others) == fields_of(whole[:place] + whole[place + 1 :])
    pieces = [line for line in lines if line.number == place + 1]
    assert b"".join(line.raw for line in pieces) == (bad if bad.strip() else b"")
    assert all(line.problem or line.value == loads(bad) for line in pieces)


@each_row("path", recordings.files("agent-logs", "claude-code/malformed/*"))
def test_recorded_broken_logs_have_the_expected_lines(path: Path) -> None:
    truth = recordings.counted(path)
    data = b"".join(open_log(path))
    lines = read(data)
    numbers = {
        number for line in lines for number in range(line.number, line.number + line.raw.count(b"\n") + 1)
    }
    alone = {line.number for line in read_alone(data)}
    assert len(numbers) == truth["lines"]
    assert len(numbers - alone) == truth["bad_lines"]
    assert sum(line.problem == GLUED for line in lines) == truth.get("glued", 0)


def read_alone(data: bytes) -> list[Line]:
    """The lines that are values by themselves, each read by a reader of its own."""
    lines = [LineReader(number=number).feed(raw + b"\n") for number, raw in enumerate(data.split(b"\n"))]
    return [line for feed in lines for line in feed if line.problem is None]


def test_real_logs_have_no_problems() -> None:
    for path in recordings.files("agent-logs", "**/*.jsonl*"):
        if path.parent.name != "malformed":
            data = b"".join(open_log(path))
            lines = read(data)
            assert [line.raw for line in lines] == [raw for raw in data.split(b"\n") if raw.strip()]
            assert {line.problem for line in lines} <= {None}
