"""Incomplete JSON is read like by the npm package `ai`, wherever the text is split."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.errors import DecodeError, FormatError
from partita.stream.partial_json import Parsed, PartialJson, parse_partial_json, secure_loads
from partita.types.json import Json, JsonObject, is_array, is_object
from tests.recordings import at_least, cases
from tests.tables import each_row

# Recorded results of the real package, if the folder exists.
VERSIONS = (5, 6, 7)

WHOLE: dict[str, Json] = {
    '{"a":1}': {"a": 1},
    " [1, 2.5, -3e2]\n": [1, 2.5, -300],
    "12": 12,
    "true": True,
    "null": None,
    '"x"': "x",
    '"\\ud83d\\ude00"': "😀",
    '"\\ud83d"': "\ud83d",
    '{"a\\":":1}': {'a":': 1},
    '{"a":1,"a":2}': {"a": 2},
    '{"constructor":1,"prototype":2}': {"constructor": 1, "prototype": 2},
    '"__proto__"': "__proto__",
    '["\\"__proto__\\":", {"constructor":["prototype"]}]': ['"__proto__":', {"constructor": ["prototype"]}],
}

REPAIRED: dict[str, Json] = {
    "{": {},
    '{"a': {},
    '{"a"': {},
    '{"a":': {},
    '{"a":1': {"a": 1},
    '{"a":1.': {"a": 1},
    '{"a":1.5e': {"a": 1.5},
    '{"a":1e+1': {"a": 1},
    '{"a":-': {},
    '{"a":12,"b":-': {"a": 12},
    '{"a":tr': {"a": True},
    '{"a":fals': {"a": False},
    '{"a":n': {"a": None},
    '{"a":true,': {"a": True},
    "[null,fa": [None, False],
    '{"a":"x': {"a": "x"},
    '{"a":"': {"a": ""},
    '{"a":"x\\': {"a": "x"},
    '{"a":"x\\n': {"a": "x\n"},
    '{"a":"x\\"': {"a": 'x"'},
    '{"a":"x\\u0041': {"a": "xA"},
    '{"a":"x\\ud83d': {"a": "x\ud83d"},
    '{"a":"x\ud83d': {"a": "x\ud83d"},
    '{"a":"x",': {"a": "x"},
    '{"a":"x","b': {"a": "x"},
    '{"a":{"b":[{"c":"d': {"a": {"b": [{"c": "d"}]}},
    '{"a":[1,': {"a": [1]},
    "[1,]": [1],
    "[[1],[2": [[1], [2]],
    "[1e+5": [1e5],
    '{"a":1,}': {"a": 1},
    '{"a":1}x': {"a": 1},
    '{"a":1}{"b":2}': {"a": 1},
    "{bad": {},
    '{"a":1 "b":2': {"a": 1},
    '"str': "str",
    "tru": True,
    "12,": 12,
    "1.": 1,
    '{"a":1,"__proto__": ': {"a": 1},
    '{"a":NaN': {},
    '{"a":1\U0001f600': {"a": 1},
}

FAILED = [
    "",
    " \n",
    "-",
    "nope",
    "undefined",
    "NaN",
    "-Infinity",
    '{"a":01',
    "[1 x",
    "[x]",
    '{"a":"line\nbreak',
    '{"a":"\\x',
    "{'a':1}x]",
    "\ufeff1",
    "\u00a01\u00a0",
    '{"__proto__":1}',
    '{"__proto__":1',
    '[{"a":{"\\u005f_prot\\u006F__":1}}]',
    '{"constructor":{"prototype":{}}}',
    '{"\\u0063onstructor":{"prototype":1',
    "[1\U0001f600",
    "[1\U0001f600]",
    "[true\U0001f600",
]

# Text and its value by version; absent where the parse fails.
BY_VERSION: dict[str, dict[int, Json]] = {
    '{"a":"x\\u00': {6: {"a": "x"}, 7: {"a": "x"}},
    '{"a":"x\\u': {6: {"a": "x"}, 7: {"a": "x"}},
    '["\\u00zz': {6: [""], 7: [""]},
    "[x": {7: []},
    "[-": {7: []},
    '{"a":[-': {7: {"a": []}},
    "[ ": {5: [], 6: [], 7: []},
}


def same(one: Json, other: Json) -> bool:
    """Return whether JSON values are equal: numbers by value, but `True` is not 1."""
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(same(item, other[key]) for key, item in one.items())
    if is_array(one) and is_array(other):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def all_equal(one: Parsed, other: Parsed) -> bool:
    return one.state == other.state and same(one.value, other.value)


@each_row("version", VERSIONS)
@each_row("text", WHOLE)
def test_complete_json_is_parsed(text: str, version: int) -> None:
    assert all_equal(parse_partial_json(text, version), Parsed("successful-parse", WHOLE[text]))


@each_row("version", VERSIONS)
@each_row("text", REPAIRED)
def test_a_prefix_is_truncated_and_closed(text: str, version: int) -> None:
    assert all_equal(parse_partial_json(text, version), Parsed("repaired-parse", REPAIRED[text]))


@each_row("version", VERSIONS)
@each_row("text", FAILED)
def test_irreparable_text_has_no_value(text: str, version: int) -> None:
    assert parse_partial_json(text, version) == Parsed("failed-parse", msgspec.UNSET)


@each_row("version", VERSIONS)
@each_row("text", BY_VERSION)
def test_versions_differ_in_unicode_escapes_and_array_starts(text: str, version: int) -> None:
    values = BY_VERSION[text]
    expected = Parsed("repaired-parse", values[version]) if version in values else Parsed("failed-parse")
    assert parse_partial_json(text, version) == expected


def test_none_differs_from_an_empty_text() -> None:
    assert parse_partial_json(None) == Parsed("undefined-input")
    assert parse_partial_json("") == Parsed("failed-parse")


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(FormatError, match="use version 5, 6 or 7"):
        PartialJson(version=8)


@each_row("opened", ["[", '{"a":', '[{"a":'])
def test_json_nested_too_deeply_is_a_failed_parse(opened: str) -> None:
    assert parse_partial_json(opened * 10_000) == Parsed("failed-parse")


@pytest.mark.parametrize("version", [6, 7])
def test_results_equal_those_of_the_real_package(version: int) -> None:
    known = cases("ai-sdk/partial_json.jsonl")
    assert len(known) >= at_least(50, 400)
    different = [
        case["id"]
        for case in known
        if "js-number" not in case["tags"]
        and not all_equal(parse_partial_json(case["text"], version), recorded(case["expected"][str(version)]))
    ]
    assert different == []


def recorded(result: JsonObject) -> Parsed:
    return Parsed(result["state"], result.get("value", msgspec.UNSET))


def test_deltas_are_read_as_one_text() -> None:
    partial = PartialJson('{"a": "on')
    seen = [partial.read().value]
    for delta in ["e\\", "u00", '41", "b', '": [tr', "ue, -", "1", "]}"]:
        partial.feed(delta)
        seen.append(partial.read().value)
    assert seen == [
        {"a": "on"},
        {"a": "one"},
        {"a": "one"},
        {"a": "oneA"},
        {"a": "oneA", "b": [True]},
        {"a": "oneA", "b": [True]},
        {"a": "oneA", "b": [True, -1]},
        {"a": "oneA", "b": [True, -1]},
    ]
    assert partial.read().state == "successful-parse"


@each_row(
    ("before", "after", "value"),
    [
        ('{"a":"', '"}', {"a": "😀"}),
        ('{"a":"\\ud83d', '"}', {"a": "\ud83d😀"}),
        ('{"', '":1}', {"😀": 1}),
        ("[1", "", msgspec.UNSET),
        ("[true", "", msgspec.UNSET),
        ('{"a":1', "", {"a": 1}),
    ],
)
def test_a_delta_may_end_within_a_surrogate_pair(before: str, after: str, value: Json) -> None:
    partial = PartialJson(before)
    for delta in ["\ud83d", "\ude00" + after]:
        partial.read()
        partial.feed(delta)
    assert partial.text == before + "😀" + after
    assert partial.read() == parse_partial_json(partial.text)
    assert partial.read().value == value


def test_a_lone_surrogate_joins_an_escaped_one() -> None:
    assert secure_loads('["\ud83d\\ude00", "\\ud83d\ude00", "\ud83d"]') == ["😀", "😀", "\ud83d"]
    with pytest.raises(DecodeError):
        secure_loads('"\\\ud83d"')


def test_a_string_with_many_escapes_is_read() -> None:
    assert parse_partial_json('["' + "\\n\\u0041" * 5_000 + "\\").value == ["\nA" * 5_000]


def test_regular_reads_of_a_long_stream_take_linear_time() -> None:
    partial = PartialJson('{"code":"')
    for count in range(1, 100_001):
        partial.feed("x{\\n")
        if count % 5_000 == 0:
            assert partial.read().value == {"code": "x{\n" * count}


def test_one_read_after_many_deltas() -> None:
    text = json.dumps({"rows": [{"id": number, "name": f"row {number}"} for number in range(2_000)]})
    partial = PartialJson()
    for start in range(0, len(text), 4):
        partial.feed(text[start : start + 4])
    assert partial.text == text
    assert partial.read() == Parsed("successful-parse", json.loads(text))


FORBIDDEN = {
    '{"__proto__":1}': "$.__proto__",
    '[{"a":{"__proto__":null}}]': "$[0].a.__proto__",
    '{"\\u005F\\u005fproto__":1}': "$.__proto__",
    '{"a":[1,{"constructor":{"x":1,"prototype":{}}}]}': "$.a[1].constructor.prototype",
    '{"constructor":{"proto\\u0074ype":1}}': "$.constructor.prototype",
}


@each_row("text", FORBIDDEN)
def test_a_forbidden_key_is_refused_with_its_path(text: str) -> None:
    with pytest.raises(DecodeError, match="forbidden key") as caught:
        secure_loads(text)
    assert caught.value.where == FORBIDDEN[text]
    assert caught.value.hint


@settings(deadline=None)
@given(st.integers(0, 2**9 - 1), st.booleans())
def test_escapes_do_not_hide_a_forbidden_key(escaped: int, upper: bool) -> None:
    spell = [f"\\u{ord(char):04X}" if upper else f"\\u{ord(char):04x}" for char in "__proto__"]
    key = "".join(spell[at] if escaped >> at & 1 else char for at, char in enumerate("__proto__"))
    with pytest.raises(DecodeError, match="__proto__"):
        secure_loads(f'{{"{key}" : 1}}')


KEYS = st.text(st.sampled_from("ab é😀:,{}[]1"), max_size=4)
STRINGS = st.text(st.sampled_from('ab"\\\n é😀\ud83d:,{}[]1/'), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e30, 1e30) | STRINGS
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
TOKENS = st.sampled_from(
    [*'{}[]:,"\\u04aeE+-. \ntnx', "true", "null", "😀", "\ud83d", "\ude00", "\\u00", "é"]
)


@st.composite
def json_texts(draw: st.DrawFn, values: st.SearchStrategy[Json] = VALUES) -> str:
    """JSON texts in many layouts."""
    indent = draw(st.sampled_from([None, 1]))
    return json.dumps(draw(values), ensure_ascii=draw(st.booleans()), indent=indent, separators=(",", ":"))


@st.composite
def broken_texts(draw: st.DrawFn) -> str:
    """Texts that are damaged JSON, or not JSON."""
    text, junk = draw(json_texts() | st.just("")), "".join(draw(st.lists(TOKENS, max_size=12)))
    at = draw(st.integers(0, len(text)))
    return text[:at] + junk + text[at:]


def units(text: str) -> list[str]:
    """Return the UTF-16 code units of `text`, between which JavaScript splits."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return [raw[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(raw), 2)]


def joined(fragments: list[str]) -> str:
    """Return the fragments joined as in JavaScript."""
    raw = "".join(fragments).encode("utf-16-le", "surrogatepass")
    return raw.decode("utf-16-le", "surrogatepass")


@settings(deadline=None)
@given(json_texts() | broken_texts(), st.sampled_from(VERSIONS), st.data())
def test_any_deltas_and_reads_give_the_value_of_the_complete_text(
    text: str, version: int, data: st.DataObject
) -> None:
    fragments = units(text)
    cuts = data.draw(st.lists(st.integers(0, len(fragments)), max_size=8).map(sorted))
    begin, *ends = [*cuts, len(fragments)]
    partial = PartialJson(joined(fragments[:begin]), version)
    for end in ends:
        partial.feed("".join(fragments[begin:end]))
        begin = end
        if data.draw(st.booleans()):
            prefix = joined(fragments[:end])
            assert partial.text == prefix
            assert all_equal(partial.read(), parse_partial_json(prefix, version))


@settings(deadline=None)
@given(json_texts(), st.sampled_from(VERSIONS))
def test_complete_json_gives_its_value(text: str, version: int) -> None:
    assert parse_partial_json(text, version) == Parsed("successful-parse", json.loads(text))


@settings(deadline=None)
@given(json_texts(st.lists(VALUES, max_size=3) | st.dictionaries(KEYS, VALUES, max_size=3)))
def test_the_value_of_a_prefix_is_a_partial_value(text: str) -> None:
    whole, fragments = json.loads(text), units(text)
    for end in range(1, len(fragments) + 1):
        parsed = parse_partial_json(joined(fragments[:end]))
        assert parsed.state != "failed-parse"
        assert is_partial_of(parsed.value, whole)


def is_partial_of(part: Json, whole: Json) -> bool:
    """Return whether more text could turn `part` into `whole`."""
    if is_object(part) and is_object(whole):
        return part.keys() <= whole.keys() and all(
            is_partial_of(item, whole[key]) for key, item in part.items()
        )
    if is_array(part) and is_array(whole):
        return len(part) <= len(whole) and all(map(is_partial_of, part, whole))
    if isinstance(part, str) and isinstance(whole, str):
        return "".join(units(whole)).startswith("".join(units(part)))
    if isinstance(part, int | float) and not isinstance(part, bool):
        return isinstance(whole, int | float) and not isinstance(whole, bool)
    return part is whole


ODD_STRINGS = st.text(st.sampled_from('ab"\\\n/é😀\u2028'), max_size=12)


@st.composite
def texts_with_strings(draw: st.DrawFn) -> str:
    """Objects and arrays with many strings, repeated keys, and both spellings of escapes."""
    leaf = st.builds(json.dumps, ODD_STRINGS, ensure_ascii=st.booleans())

    def containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        members = st.builds("{}:{}".format, st.sampled_from(['"a"', '"b"', '"__proto__"']), inner)
        return st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]") | st.lists(
            members, max_size=4
        ).map(lambda items: f"{{{','.join(items)}}}")

    return draw(st.recursive(leaf | st.just("1"), containers, max_leaves=6))


@pytest.mark.parametrize("version", VERSIONS)
@given(text=texts_with_strings(), data=st.data())
def test_an_open_string_is_extended_as_if_parsed_from_the_start(
    version: int, text: str, data: st.DataObject
) -> None:
    partial = PartialJson(version=version)
    position = 0
    while position < len(text):
        step = data.draw(st.integers(1, 4))
        partial.feed(text[position : position + step])
        position += step
        assert all_equal(partial.read(), parse_partial_json(text[:position], version))


def test_a_returned_value_is_not_changed_by_later_reads() -> None:
    partial = PartialJson('{"a": {"b": "x')
    first = partial.read().value
    partial.feed("yz\\n")
    assert partial.read().value == {"a": {"b": "xyz\n"}}
    assert first == {"a": {"b": "x"}}
