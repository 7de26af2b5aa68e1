"""Bytes become records without losing a byte, wherever they are split."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType

from partita.stream.records import Framing, Record, reader_of
from partita.types.json import Json, dumps
from tests.recordings import cases_in, files
from tests.sampling import FULL
from tests.tables import each_row

FRAMINGS: tuple[Framing, ...] = ("sse", "lines", "body")

NONE = UNSET
SSE: dict[str, tuple[bytes, list[Json | UnsetType]]] = {
    "nothing": (b"", []),
    "LF": (b'data: {"a":1}\n\ndata: {"b":2}\n\n', [{"a": 1}, {"b": 2}]),
    "CRLF": (b'data: {"a":1}\r\n\r\ndata: {"b":2}\r\n\r\n', [{"a": 1}, {"b": 2}]),
    "CR": (b'data: {"a":1}\r\rdata: {"b":2}\r\r', [{"a": 1}, {"b": 2}]),
    "no space after the colon": (b"data:1\n\n", [1]),
    "only one space is removed": (b"data:  words\n\n", ["words"]),
    "several data lines": (b'data: {"a":\ndata: 1}\n\n', [{"a": 1}]),
    "event names": (b'event: ping\nid: 7\nretry: 9\ndata: {"a":1}\n\n', [{"a": 1}]),
    "an event name without data": (b"event: ping\n\n", [NONE]),
    "a comment": (b": wait\n\ndata: 1\n\n", [NONE, 1]),
    "a comment within an event": (b"data: 1\n: wait\n\n", [1]),
    "the done event": (b"data: 1\n\ndata: [DONE]\n\n", [1, NONE]),
    "an incomplete done event": (b"data: [DONE]", [NONE]),
    "empty data": (b"data:\n\n", [NONE]),
    "blank lines belong to the next record": (b"\n\n\ndata: 1\n\n\n", [1, NONE]),
    "the last blank line is missing": (b"data: 1\n\ndata: 2\n", [1, 2]),
    "the last line end is missing": (b"data: 1\n\ndata: 2", [1, 2]),
    "an incomplete last record": (b'data: 1\n\ndata: {"a', [1, '{"a']),
    "a byte order mark": (b"\xef\xbb\xbfdata: 1\n\n", [1]),
    "not JSON": (b"data: upstream\ndata: failed\n\n", ["upstream\nfailed"]),
    "not a field": (b"<p>Bad\nGateway</p>\n\n", ["<p>Bad\nGateway</p>"]),
    "an unknown field next to data": (b"datum: 1\ndata: 2\n\n", [2]),
    "invalid UTF-8": (b'data: {"a":"\xff"}\n\n', [{"a": "\ufffd"}]),
    "an error by its name": (
        b'event: error\ndata: {"error":{"message":"no"}}\n\n',
        [{"error": {"message": "no"}}],
    ),
    "a complete body": (b'{\n  "a": {"b": [1, "}"]}\n}\n', [{"a": {"b": [1, "}"]}}, NONE]),
    "a complete body, indented": (b'  {"a":1}\n', [{"a": 1}]),
    "JSON after the last record": (
        b'data: 1\n\n{\n  "error": {\n    "code": 499\n  }\n}\n',
        [1, {"error": {"code": 499}}, NONE],
    ),
    "JSON directly after a record": (b'data: 1\n{"error":2}', [1, {"error": 2}]),
    "JSON before records": (b'{"a":1}\n\ndata: 2\n\n', [{"a": 1}, 2]),
    "an array": (b'[{"a":1},\n{"b":[2]}\n]\n', [{"a": 1}, {"b": [2]}, NONE]),
    "an array, CRLF": (b'[{\r\n "a": 1\r\n}\r\n,\r\n{}]', [{"a": 1}, {}, NONE]),
    "an array of all types": (b'[1, "a,]", true ,null,[2],{}]', [1, "a,]", True, None, [2], {}, NONE]),
    "an empty array": (b"[ ]", [NONE]),
    "an incomplete array": (b'[{"a":1},{"b":', [{"a": 1}, '{"b":']),
    "escapes": (b'[{"a":"\\\\"},{"b":"\\"}"}]', [{"a": "\\"}, {"b": '"}'}, NONE]),
    "an incomplete value before a record": (b'{"a": 1,\ndata: 2\n\n', ['{"a": 1,', 2]),
    "an incomplete string before a record": (b'{"a": "b\ndata: 2\n\n', ['{"a": "b', 2]),
    "an incomplete escape before a record": (b'{"a": "b\\\ndata: 2\n\n', ['{"a": "b\\', 2]),
    "an incomplete array before a record": (b'[{"a": 1},\nevent: b\ndata: 2\n\n', [{"a": 1}, NONE, 2]),
    "a bracket that is not JSON": (b"[info] warming up\ndata: 2\n\n", ["info] warming up", 2]),
    "brackets that do not match": (b"[1}\ndata: 2\n\n", ["1}", 2]),
}

LINES: dict[str, tuple[bytes, list[Json | UnsetType]]] = {
    "nothing": (b"", []),
    "LF": (b'{"a":1}\n2\n', [{"a": 1}, 2]),
    "CRLF": (b'{"a":1}\r\n2\r\n', [{"a": 1}, 2]),
    "blank lines": (b"\n1\n \r\n", [NONE, 1, NONE]),
    "the last line end is missing": (b"1\n2", [1, 2]),
    "not JSON": (b"Starting up ...\n1\n", ["Starting up ...", 1]),
    "a byte order mark": (b"\xef\xbb\xbf1\n", [1]),
}

BODIES: dict[str, tuple[bytes, list[Json | UnsetType]]] = {
    "nothing": (b"", []),
    "white space": (b" \n", [NONE]),
    "JSON": (b'{\n"a": 1}\n', [{"a": 1}]),
    "an array": (b"[1, 2]", [[1, 2]]),
    "not JSON": (b"<p>\n\nBad Gateway", ["<p>\n\nBad Gateway"]),
}

TABLES: dict[Framing, dict[str, tuple[bytes, list[Json | UnsetType]]]] = {
    "sse": SSE,
    "lines": LINES,
    "body": BODIES,
}
CASES = {
    f"{framing}: {name}": (framing, *TABLES[framing][name]) for framing in TABLES for name in TABLES[framing]
}


def read(framing: Framing, fragments: list[bytes]) -> list[Record]:
    reader = reader_of(framing)
    records = [record for piece in fragments for record in reader.feed(piece)]
    return records + reader.finish()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def byte_by_byte(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def events(records: list[Record]) -> list[Json | UnsetType]:
    return [record.event for record in records]


@each_row(("framing", "data", "expected"), CASES.values(), ids=CASES)
def test_bytes_become_records(framing: Framing, data: bytes, expected: list[Json | UnsetType]) -> None:
    whole = read(framing, [data])
    assert events(whole) == expected
    assert read(framing, byte_by_byte(data)) == whole
    assert b"".join(record.raw for record in whole) == data


def test_a_record_is_returned_as_soon_as_it_is_complete() -> None:
    reader = reader_of("sse")
    assert reader.feed(b'[{"a":1') == []
    assert events(reader.feed(b"}")) == [{"a": 1}]
    assert reader.feed(b', "b') == []
    assert events(reader.feed(b'",')) == ["b"]


# Fragments of streams, and the markers that readers look for.
MARKS = b'data:|event: x|[DONE]|: hi|{"a":|}|[|]|,|"|1|true| |{|d|\\'.split(b"|")
BYTES = [b"\r", b"\n", b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"\xc3", b"\xa9", b"\x00", b"\xff"]
SCRAPS = st.sampled_from([*MARKS, *BYTES])
STREAMS = st.lists(SCRAPS | st.binary(max_size=6), max_size=30).map(b"".join)


@pytest.mark.parametrize("framing", FRAMINGS)
@given(data=STREAMS, places=st.lists(st.integers(0, 200), max_size=20))
def test_any_split_of_any_bytes_gives_the_same_records_and_all_bytes(
    framing: Framing, data: bytes, places: list[int]
) -> None:
    whole = read(framing, [data])
    assert b"".join(record.raw for record in whole) == data
    assert all(record.raw for record in whole)
    assert read(framing, cut(data, places)) == whole
    assert read(framing, byte_by_byte(data)) == whole


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), max_size=4)
LINE_ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(values=OBJECTS, end=LINE_ENDS)
def test_records_written_as_events_are_read(values: list[Json], end: bytes) -> None:
    stream = b"".join(b"event: e%bdata: %b%b%b" % (end, dumps(value), end, end) for value in values)
    assert events(read("sse", [stream])) == values


@given(values=st.lists(VALUES, max_size=5), space=st.sampled_from([b"", b" ", b"\n", b"\r\n  "]))
def test_records_written_as_an_array_are_read(values: list[Json], space: bytes) -> None:
    inside = (space + b"," + space).join(map(dumps, values))
    assert events(read("sse", [b"[" + space + inside + space + b"]"])) == [*values, UNSET]


@given(values=st.lists(VALUES, max_size=5), end=st.sampled_from([b"\n", b"\r\n"]))
def test_records_written_as_lines_are_read(values: list[Json], end: bytes) -> None:
    assert events(read("lines", [b"".join(dumps(value) + end for value in values)])) == values


LONG = 200_000 if FULL else 50_000
HUGE = {
    "an event": ("sse", b'data: {"a":"' + b"x" * LONG + b'"}\n\n'),
    "an event of many lines": ("sse", b"data: 1\n" * (LONG // 8) + b"\n"),
    "comments": ("sse", b": wait\n" * (LONG // 7)),
    "blank lines": ("sse", b"\n" * LONG),
    "plain JSON": ("sse", b'{"a":[' + b'"x",' * (LONG // 4) + b"1]}"),
    "a plain string": ("sse", b'{"a":"' + b"x" * LONG),
    "a deep array": ("sse", b"[" * LONG),
    "a line": ("lines", b'"' + b"x" * LONG + b'"\n'),
    "a body": ("body", b'"' + b"x" * LONG + b'"'),
}


@each_row(("framing", "data"), HUGE.values(), ids=HUGE)
def test_huge_records_in_small_fragments_take_linear_time(framing: Framing, data: bytes) -> None:
    whole = read(framing, [data])
    assert read(framing, byte_by_byte(data)) == whole
    assert b"".join(record.raw for record in whole) == data


def test_recorded_bodies_give_the_events_of_their_recordings() -> None:
    wrong: dict[str, object] = {}
    for path in files("providers/wire", "*.sse"):
        root = path.parents[1]
        (events_path,) = set(root.glob(f"*/{path.stem}.jsonl")) - set(root.glob("aisdk-chunks/*"))
        data, expected = path.read_bytes(), cases_in(events_path)
        for fragments in (
            [data],
            [data[at : at + 7] for at in range(0, len(data), 7)],
            byte_by_byte(data[:20_000]),
        ):
            records = read("sse", fragments)
            found_events = [event for event in events(records) if event is not UNSET]
            is_all = b"".join(fragments) == data
            if (is_all and found_events != expected) or b"".join(r.raw for r in records) != b"".join(
                fragments
            ):
                wrong[path.stem] = found_events
    assert not wrong
