"""The scan of a JSON value agrees with a parser, and finds where a broken value ends."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from partita.logs.lines.scan import Scan, State
from tests.strategies_json import json_objects, json_texts
from tests.tables import each_row

SCANS: dict[str, tuple[bytes, State, int]] = {
    "an object": (b'{"a":[1,{"b":null}]} ', State.WHOLE, 20),
    "an object and more": (b'{"a":1}{"b":2}', State.WHOLE, 7),
    "white space first": (b' \t{"a" : 1 , "b":[ ]}x', State.WHOLE, 21),
    "a number": (b"-1.5e+3,", State.WHOLE, 7),
    "a string": (b'"a\\"b\\u00e9" ', State.WHOLE, 12),
    "no numbers of JSON": (b"[NaN,Infinity,-Infinity]", State.WHOLE, 24),
    "control characters": (b'{"a\x00":"\x01\t\n"}', State.WHOLE, 12),
    "no UTF-8": (b'{"a":"\xff\xc3"}', State.WHOLE, 10),
    "nothing": (b"", State.OPEN, 0),
    "an open string": (b'{"a":"b', State.OPEN, 7),
    "an open array": (b"[1, ", State.OPEN, 4),
    "an open object": (b'{"a":', State.OPEN, 5),
    "a word": (b"hello", State.BROKEN, 0),
    "a cut word": (b'{"a":tr', State.BROKEN, 5),
    "a comma too many": (b'{"a":1,}', State.BROKEN, 7),
    "no comma": (b"[1 2]", State.BROKEN, 3),
    "brackets that do not fit": (b'{"a":[1}', State.BROKEN, 7),
    "a cut escape": (b'["ab\\u12', State.BROKEN, 4),
    "no escape": (b'["\\x"]', State.BROKEN, 2),
    "a string cut by another record": (b'{"a":"cut{"type":1}', State.BROKEN, 11),
    "a leading zero": (b"[01]", State.BROKEN, 2),
    "single quotes": (b"{'a':1}", State.BROKEN, 1),
    "a key that is not a string": (b"{1:2}", State.BROKEN, 1),
    "deeper than any parser goes": (b"[" * 20_000 + b"]" * 20_000 + b"]", State.WHOLE, 40_000),
}


@each_row(("data", "state", "end"), SCANS.values(), ids=SCANS)
def test_scan(data: bytes, state: State, end: int) -> None:
    scan = Scan()
    assert (scan.feed(data), scan.state) == (end, state)


@given(json_texts())
def test_a_scan_agrees_with_a_parser(text: str) -> None:
    try:
        json.loads(text, strict=False)
        read = True
    except ValueError:
        read = False
    data = text.encode(errors="surrogatepass")
    scan = Scan()
    end = scan.feed(data)
    assert (scan.state is State.WHOLE and not data[end:].strip(b" \t\r\n")) is read


@given(json_objects(6), st.data())
def test_a_scan_may_be_fed_line_by_line(value: object, data: st.DataObject) -> None:
    text = json.dumps(value, indent=1).encode()
    places = data.draw(st.lists(st.sampled_from([i for i, byte in enumerate(text) if byte == 10] or [0])))
    edges = [0, *sorted(set(places) - {0}), len(text)]
    scan = Scan()
    for start, end in pairwise(edges):
        assert scan.state is State.OPEN
        assert scan.feed(text[start:end]) == end - start
    assert scan.state is State.WHOLE
