"""The nesting depth of JSON is measured without decoding, whatever its strings contain."""

from hypothesis import given
from hypothesis import strategies as st

from partita.server.guard.bodies import has_more_values, is_deeper
from partita.types.json import Json, dumps, is_array, is_object
from tests.strategies_json import json_values
from tests.tables import each_row


def depth(value: Json) -> int:
    """The depth of a decoded value."""
    if is_object(value):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if is_array(value) else 0


def reference(text: bytes) -> int:
    """The depth of JSON text, byte by byte."""
    height = deepest = 0
    inside = escaped = False
    for byte in text:
        if inside:
            inside = escaped or byte != ord('"')
            escaped = not escaped and byte == ord("\\")
        elif byte == ord('"'):
            inside = True
        elif byte in b"[{":
            height += 1
            deepest = max(deepest, height)
        elif byte in b"]}":
            height -= 1
    return deepest


TRICKY = st.text(alphabet='[]{}"\\,:an', max_size=8)
JSON = st.recursive(
    st.none() | TRICKY | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TRICKY, inner, max_size=3),
    max_leaves=40,
)


@given(value=JSON | json_values(), limit=st.integers(0, 8))
def test_json_is_as_deep_as_its_value(value: Json, limit: int) -> None:
    assert is_deeper(dumps(value), limit) == (depth(value) > limit)


@given(shape=st.lists(st.integers(1, 60), min_size=1, max_size=30), limit=st.integers(0, 70))
def test_chains_of_every_depth(shape: list[int], limit: int) -> None:
    text = b"[" + b",".join(b'{"[":' * n + b"1" + b"}" * n for n in shape) + b"]"
    assert is_deeper(text, limit) == (max(shape) + 1 > limit)


@given(value=JSON, cut=st.integers(0, 400), limit=st.integers(0, 6))
def test_truncated_json_that_is_too_deep_is_found(value: Json, cut: int, limit: int) -> None:
    text = dumps(value)[:cut]
    if reference(text) > limit:
        assert is_deeper(text, limit)


@given(text=st.binary(), limit=st.integers(0, 5))
def test_any_bytes_are_checked_without_an_error(text: bytes, limit: int) -> None:
    assert is_deeper(text, limit) in (True, False)


CASES: dict[str, tuple[bytes, int, bool]] = {
    "nothing": (b"", 0, False),
    "a scalar": (b"1", 0, False),
    "as deep as allowed": (b"[" * 200 + b"]" * 200, 200, False),
    "one deeper": (b"[" * 201 + b"]" * 201, 200, True),
    "a million, never closed": (b"[" * 1_000_000, 200, True),
    "objects": (b'{"a":' * 201 + b"1" + b"}" * 201, 200, True),
    "both in turn": (b'[{"a":' * 101 + b"1" + b"}]" * 101, 200, True),
    "wide": (b"[" + b"[[]]," * 5000 + b"1]", 3, False),
    "wide and one too deep": (b"[" + b"[[]]," * 5000 + b"[[[]]]]", 3, True),
    "brackets in a string": (b'["' + b"[" * 500 + b'"]', 200, False),
    "brackets in a key": (b'{"' + b"{[" * 500 + b'":1}', 200, False),
    "closing brackets in strings hide nothing": (b'["]]]",' * 201 + b"1" + b"]" * 201, 200, True),
    "an escaped quote ends no string": (b'["\\"' + b"[" * 500 + b'"]', 200, False),
    "an escaped backslash does not escape": (b'["\\\\",' + b"[" * 250 + b"]" * 251, 200, True),
    "an escaped newline before a quote": (b'["\\n",' + b"[" * 250 + b"]" * 251, 200, True),
    "three backslashes and a quote": (b'["\\\\\\"' + b"[" * 500 + b'"]', 200, False),
    "empty strings": (b'["",""' + b',""' * 300 + b',"[[["' * 300 + b"]", 2, False),
}


@each_row(("text", "limit", "deeper"), CASES.values(), ids=CASES)
def test_examples(text: bytes, limit: int, deeper: bool) -> None:
    assert is_deeper(text, limit) is deeper


def value_count(value: Json) -> int:
    """The number of values as it is counted: one for each list, each object and each comma."""
    if not is_object(value) and not is_array(value):
        return 0
    inner = list(value.values()) if is_object(value) else value
    return 1 + max(len(inner) - 1, 0) + sum(map(value_count, inner))


@given(JSON)
def test_values_are_counted_whatever_strings_contain(value: Json) -> None:
    text = dumps(value)
    assert not has_more_values(text, value_count(value))
    assert value_count(value) == 0 or has_more_values(text, value_count(value) - 1)
