"""Recovery of damaged lines: only the damaged part is lost."""

import json
from typing import TypeAlias

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import UNSET

from partita.logs.lines.line import (
    BESIDE,
    CONTROLS,
    CUT,
    GLUED,
    HALVES,
    NO_NUMBER,
    NOT_JSON,
    NOT_UTF8,
    PADDED,
    TOO_DEEP,
    TOO_LARGE,
)
from partita.logs.lines.recovery import is_record, recover
from partita.types.json import Json, JsonObject
from tests.strategies_json import json_objects, json_values
from tests.tables import each_row

Piece: TypeAlias = tuple[bytes, Json, str | None]

DIGITS = b"9" * 5000
DEEP = b'{"a":' * 5000 + b"1" + b"}" * 5000

PIECES: dict[str, list[Piece]] = {
    "blank": [],
    "a record": [(b'{"a":1}', {"a": 1}, None)],
    "white space around": [(b' {"a":1}\t\r', {"a": 1}, None)],
    "no object": [(b"[1, 2]", [1, 2], None)],
    "a number": [(b"12", 12, None)],
    "a string": [(b'"{\\"a\\":1}"', '{"a":1}', None)],
    "glued": [(b'{"a":1}', {"a": 1}, GLUED), (b'{"b":2}', {"b": 2}, GLUED)],
    "glued with things between": [
        (b'{"a":1}', {"a": 1}, GLUED),
        (b' \0{"b":2} ', {"b": 2}, f"{GLUED}; {PADDED}"),
    ],
    "three glued": [(b"{}", {}, GLUED), (b'{"b":{}}', {"b": {}}, GLUED), (b'{"c":3}', {"c": 3}, GLUED)],
    "cut in a string": [(b'{"a":{"b":"cu', UNSET, CUT), (b'{"c":"}{"}', {"c": "}{"}, BESIDE)],
    "cut in a key": [(b'{"a":1,"cu', UNSET, CUT), (b'{"c":2}', {"c": 2}, BESIDE)],
    "cut before a key": [(b'{"a":1,', UNSET, CUT), (b'{"c":2}', {"c": 2}, BESIDE)],
    "cut in an escape": [(b'{"a":"cu\\', UNSET, CUT), (b'{"c":2}', {"c": 2}, BESIDE)],
    "cut in a long escape": [(b'{"a":"cu\\u00', UNSET, CUT), (b'{"c":2}', {"c": 2}, BESIDE)],
    "cut in a number": [(b'{"a":-', UNSET, CUT), (b'{"c":2}', {"c": 2}, BESIDE)],
    "cut in a word": [(b'{"a":tr', UNSET, CUT), (b'{"true":2}', {"true": 2}, BESIDE)],
    "cut in a character": [(b'{"a":"\xf0\x9f', UNSET, CUT), (b'{"c":"\xc3\xa9"}', {"c": "é"}, BESIDE)],
    "cut, then NULs": [(b'{"a":"cu\0\0\0', UNSET, CUT), (b'{"":2}', {"": 2}, BESIDE)],
    "cut, then two": [
        (b'{"a":"cu', UNSET, CUT),
        (b'{"c":2}', {"c": 2}, BESIDE),
        (b'{"d":3}', {"d": 3}, BESIDE),
    ],
    "cut twice": [(b'{"a":"cu{"b":"cu', UNSET, CUT), (b'{"c":[{"d":4}]}', {"c": [{"d": 4}]}, BESIDE)],
    "one, then one cut": [(b'{"a":1}', {"a": 1}, BESIDE), (b'{"b":"cu', UNSET, CUT)],
    "text before": [(b"[12:30] got ", UNSET, NOT_JSON), (b'{"a":{"b":1}}', {"a": {"b": 1}}, BESIDE)],
    "text after": [(b'{"a":1}', {"a": 1}, BESIDE), (b" ok", UNSET, NOT_JSON)],
    "a bracket too many": [(b'{"a":1}', {"a": 1}, BESIDE), (b"}", UNSET, NOT_JSON)],
    "text and numbers": [(b'2 tries, 3 "hits"', UNSET, NOT_JSON)],
    "a number before": [(b"12 ", UNSET, NOT_JSON), (b'{"a":1}', {"a": 1}, BESIDE)],
    "broken inside, whole parts behind": [(b'{"a":x,"b":{"c":1},"d":{"e":2}}', UNSET, NOT_JSON)],
    "a quote too many": [(b'{"a":"b"c","d":{"e":2}}', UNSET, NOT_JSON)],
    "the end of a record": [(b'ing","b":{"c":2}}', UNSET, NOT_JSON)],
    "cut": [(b'{"a":{"b":1}', UNSET, CUT)],
    "NULs before": [(b'\0\0\0{"a":1}', {"a": 1}, PADDED)],
    "NULs behind": [(b'{"a":1}\0\0', {"a": 1}, PADDED)],
    "NULs alone": [(b"\0\0\0", UNSET, NOT_JSON)],
    "a byte order mark": [(b'\xef\xbb\xbf{"a":1}', {"a": 1}, PADDED)],
    "half a pair": [(b'{"a":"x\\ud83d"}', {"a": "x\ufffd"}, HALVES)],
    "the other half": [(b'{"\\uDE00 y":1}', {"\ufffd y": 1}, HALVES)],
    "halves the wrong way round": [(b'["\\ude00\\ud83d\\ud83d\\ude00"]', ["\ufffd\ufffd😀"], HALVES)],
    "a half that is none": [(b'{"a":"\\\\ud83d\x01"}', {"a": "\\ud83d\x01"}, CONTROLS)],
    "no UTF-8": [(b'{"a":"x\xff","b":"\xc3\xa9"}', {"a": "x\ufffd", "b": "é"}, NOT_UTF8)],
    "a cut character": [(b'{"a":"\xf0\x9f\x98"}', {"a": "\ufffd"}, NOT_UTF8)],
    "control characters": [(b'{"a":"x\x00\x1b[0m\ty"}', {"a": "x\x00\x1b[0m\ty"}, CONTROLS)],
    "no numbers": [
        (b"[NaN,Infinity,-Infinity,1]", ["NaN", "Infinity", "-Infinity", 1], NO_NUMBER),
    ],
    "a large integer": [(b"[123456789012345678901234567890]", [123456789012345678901234567890], None)],
    "an integer of thousands of digits": [(b"[" + DIGITS + b"]", [DIGITS.decode()], TOO_LARGE)],
    "a float too large": [
        (b'{"a":1e999,"b":-1E999,"c":1e-999}', {"a": "1e999", "b": "-1E999", "c": 0.0}, TOO_LARGE)
    ],
    "several things": [
        (
            b'\0{"a":"\xff\x01\\ud83d","b":NaN}',
            {"a": "\ufffd\x01\ufffd", "b": "NaN"},
            f"{NOT_UTF8}; {NO_NUMBER}; {CONTROLS}; {HALVES}; {PADDED}",
        ),
    ],
    "too deep": [(DEEP, UNSET, TOO_DEEP)],
    "too deep, glued": [(DEEP, UNSET, TOO_DEEP), (b'{"a":1}', {"a": 1}, BESIDE)],
    "too deep, cut": [(b'{"a":' * 5000, UNSET, CUT)],
}


@each_row("pieces", PIECES.values(), ids=PIECES)
def test_recover(pieces: list[Piece]) -> None:
    recovered = recover(b"".join(raw for raw, _, _ in pieces))
    assert [(piece.raw, piece.value, piece.problem) for piece in recovered] == pieces


@each_row("raw", [b"", b" \t\r"])
def test_a_blank_line_has_no_pieces(raw: bytes) -> None:
    assert recover(raw) == []


OPEN = {
    b'{"a":"b': True,
    b"[1,": True,
    b'{"a":1}{"b":': True,
    b'\0{"b":': True,
    b'{"a":tr': False,
    b'"text': False,
    b"text": False,
    b'{"a":1}[1,': False,
    b'text {"a":': False,
    b'{"a":1}': False,
}


@each_row(("raw", "is_open"), OPEN.items())
def test_the_beginning_of_a_value_may_be_completed(raw: bytes, is_open: bool) -> None:
    *before, last = recover(raw)
    assert last.open is is_open
    assert not any(piece.open for piece in before)


RECORDS = {
    b'{"a":1}': True,
    b'{"a":1}\r': True,
    b'{"a":"\xff\\ud83d\x01"}': True,
    b' {"a":1}': False,
    b"{}": False,
    b'{"a":1': False,
    b'{"a":1}{"b":2}': False,
    b'{"a":1},': False,
    b'{"a":}': False,
}


@each_row(("raw", "expected"), RECORDS.items())
def test_a_record_is_an_object_alone_on_its_line(raw: bytes, expected: bool) -> None:
    assert is_record(raw) is expected


def damaged_lines() -> st.SearchStrategy[bytes]:
    parts = json_values(4).map(lambda value: json.dumps(value).encode()) | st.binary(max_size=6)
    odd = st.sampled_from([b"\0\0", b"\xef\xbb\xbf", b'{"', b"}{", b'"\\ud83d"', b"NaN", b" ", b"\\"])
    return st.lists(parts | odd, max_size=6).map(lambda pieces: b"".join(pieces).replace(b"\n", b""))


@given(damaged_lines())
def test_the_pieces_are_the_line_and_every_value_can_be_written(raw: bytes) -> None:
    pieces = recover(raw)
    assert b"".join(piece.raw for piece in pieces) == (raw if raw.strip() else b"")
    position = 0
    for piece in pieces:
        assert piece.start == position
        position += len(piece.raw)
        assert piece.problem or msgspec.json.decode(raw) == piece.value
        if piece.value is not UNSET:
            msgspec.json.encode(piece.value)


@given(st.lists(json_objects(), min_size=2, max_size=5), st.data())
def test_every_record_behind_a_cut_one_is_found(records: list[JsonObject], data: st.DataObject) -> None:
    stump, *raws = [json.dumps({"id": number, "in": value}).encode() for number, value in enumerate(records)]
    cut = stump[: data.draw(st.integers(1, len(stump) - 1))]
    assume(not recover(cut + b"{}")[-1].open)  # cut before a value, the next record looks like that value
    assert [piece.raw for piece in recover(cut + b"".join(raws))] == [cut, *raws]
