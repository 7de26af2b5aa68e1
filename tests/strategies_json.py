"""JSON values and texts that Python and JavaScript read alike, including difficult ones.

Making a strategy costs more than drawing from it, so those that take no data are made once.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from partita.types.json import Json, JsonObject, join_surrogates

# All integers up to here are exact doubles. Above it, and below 1e21, JavaScript writes integers with
# invented last digits, so such a number is read as another one.
LARGEST_INTEGER = 2**53
EXACT_FLOATS = (0.5, -2.25, 3.14159, 1e-7, 1e21, 6.02e23, 1e300, 5e-324, 1.7976931348623157e308)

FRAGMENTS = (
    *("Hello", " world", ", ", "\n", "\t", " ", "data: x", "\r\n\r\n", "\x00", "</script>"),
    *("naïve", "日本語", "שלום", "e\u0301", "😀", "👨‍👩‍👧", "\u2028", "\ufeff", "\U00010000"),
    *('"quoted"', "back\\slash", "\\ud83d", "{", "[1", "\\"),
)
KEYS = ("a", "b", "items", "x y", "0", "10", "café", "🔑", 'say "hi"', "path\\to", "", "toString", "length")
FORBIDDEN_KEYS = ("__proto__", "constructor", "prototype")
LONE_HALVES = ("\ud83d", "\ude00")


# Compound values with few draws, because each draw is slow.


@cache
def _masks(size: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=size, max_size=size)


@st.composite
def _records(
    draw: st.DrawFn, fields: tuple[tuple[str, st.SearchStrategy[Any], bool], ...], bare: bool
) -> dict[str, Any]:
    first, *mask = draw(_masks(len(fields) + 1))
    share = max(2 * first - 255, 0) if bare else first  # the share of optional fields, in 256ths
    chosen = [one for one in zip(mask, fields, strict=True) if one[0] + share > 255 or one[1][2]]
    chosen.sort(key=lambda one: one[0])
    return {name: draw(strategy) for _, (name, strategy, _) in chosen}


def records(
    required: Mapping[str, st.SearchStrategy[Any]],
    optional: Mapping[str, st.SearchStrategy[Any]] | None = None,
    *,
    bare: bool = False,
) -> st.SearchStrategy[dict[str, Any]]:
    """Dictionaries with all required fields and none, some or all of the optional ones, in any order.

    With `bare`, every other one has no optional field. Which fields are there is one draw.
    """
    fields = [(name, strategy, True) for name, strategy in required.items()]
    fields += [(name, strategy, False) for name, strategy in (optional or {}).items()]
    return _records(tuple(fields), bare)


@st.composite
def json_trees(
    draw: st.DrawFn,
    leaves: tuple[st.SearchStrategy[Json], ...],
    keys: st.SearchStrategy[str],
    max_leaves: int,
    max_size: int,
) -> Json:
    """JSON values with these leaves: a single leaf, or nested arrays and objects."""
    kinds, sizes = _integers(0, len(leaves) + 3), _integers(0, max_size)
    left = max_leaves

    def tree(depth: int) -> Json:
        nonlocal left
        kind = draw(kinds) if depth else draw(_integers(0, len(leaves) - 1))
        if kind < len(leaves):
            left -= 1
            return draw(leaves[kind])
        size = min(draw(sizes), max(left, 0))
        if kind % 2:
            return [tree(depth - 1) for _ in range(size)]
        return {draw(keys): tree(depth - 1) for _ in range(size)}

    return tree(max_leaves.bit_length())


@cache
def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


_LETTERS = "".join(chr(0x100 + number) for number in range(len(FRAGMENTS)))
"""A letter for each fragment, so that a text is one draw."""


def _spelled(letters: str) -> str:
    return "".join(FRAGMENTS[ord(letter) - 0x100] for letter in letters)


@st.composite
def _texts(draw: st.DrawFn) -> str:
    kind = draw(_integers(0, 7))
    if kind < 3:
        return _spelled(draw(_FRAGMENTED))
    return draw(_ANY_TEXT) if kind < 6 else _spelled(draw(_ONE_FRAGMENT)) + draw(_HALVES)


_FRAGMENTED = st.text(_LETTERS, max_size=4)
_ONE_FRAGMENT = st.text(_LETTERS, min_size=1, max_size=1)
_ANY_TEXT = st.text(max_size=6)
_HALVES = st.sampled_from(LONE_HALVES)


@cache
def texts() -> st.SearchStrategy[str]:
    """Short texts in many scripts, some with a lone surrogate at the end."""
    return _texts()


@cache
def json_numbers() -> st.SearchStrategy[int | float]:
    """Numbers that are equal after a conversion to a double and to JavaScript's notation."""
    return st.one_of(
        st.integers(-10, 1000),
        st.integers(-LARGEST_INTEGER, LARGEST_INTEGER),
        st.floats(-LARGEST_INTEGER, LARGEST_INTEGER),
        st.sampled_from(EXACT_FLOATS),
    )


@cache
def json_values(max_leaves: int = 4) -> st.SearchStrategy[Json]:
    """Small JSON values of every type."""
    numbers, words = json_numbers(), texts()
    leaves = (st.none(), st.booleans(), numbers, numbers, words, words)
    return json_trees(leaves, _KEYS, max_leaves, 3)


@cache
def json_objects(max_leaves: int = 4) -> st.SearchStrategy[JsonObject]:
    """Small JSON objects."""
    return _objects(_KEYS, json_values(max_leaves), 3)


_KEYS = st.sampled_from(KEYS)


@st.composite
def _objects(
    draw: st.DrawFn, keys: st.SearchStrategy[str], values: st.SearchStrategy[Json], max_size: int
) -> JsonObject:
    return {draw(keys): draw(values) for _ in range(draw(_integers(0, max_size)))}


def _containers(inner: st.SearchStrategy[Json], min_size: int = 0) -> st.SearchStrategy[Json]:
    keys = st.sampled_from(KEYS)
    arrays = st.lists(inner, min_size=min_size, max_size=3)
    return arrays | st.dictionaries(keys, inner, min_size=min_size, max_size=3)


@cache
def provider_metadata() -> st.SearchStrategy[JsonObject]:
    """Metadata by provider: two levels of objects, then any value."""
    values = _objects(_KEYS, json_values(2), 2)
    return _objects(st.sampled_from(("openai", "anthropic", "x.y")), values, 2)


@st.composite
def cuts(draw: st.DrawFn, text: str, max_pieces: int = 4) -> list[str]:
    """`text` in fragments, split between UTF-16 units as in JavaScript: also within surrogate pairs."""
    units = text.encode("utf-16-le", "surrogatepass")
    anywhere = _integers(0, len(units) // 2)
    places = sorted(draw(anywhere) for _ in range(draw(_integers(0, max_pieces - 1))))
    edges = [0, *places, len(units) // 2]
    return [units[2 * a : 2 * b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(edges)]


# Partial JSON

ODD_TEXTS = (
    *("", " ", "-", "-0", "01", "1.", "1e", "1e+", ".5", "+1", "tru", "nulL", "fals e", "NaN", "Infinity"),
    *('"', '"\\', '"\\u', '"\\u12', '"\\u12G4"', '"\\x"', '"a\nb"', "'a'", '"\ud83d', '"\\ud83d\\u'),
    *("{", "{}", "{,", '{"a"', '{"a":', '{"a":,', '{"a":1,}', "{'a':1}", '{"a" 1}', '{"a":1}}', '{"a":1}x'),
    *("[", "[,", "[1,", "[1,]", "[1 x", "[[[", "]", "}", ",", ":", "//", "\ufeff{}", "[1]\u2028", "[{]"),
)
TYPOS: tuple[str, ...] = ("", *'{}[]",:\\tnu-.e1 \n', "\\u", "true", "//", "🔑")
_TYPOS = st.sampled_from(TYPOS)
STYLES: tuple[dict[str, Json], ...] = (
    {"separators": (",", ":"), "ensure_ascii": False},
    {"separators": (",", ":"), "ensure_ascii": True},
    {"separators": (" , ", " : "), "ensure_ascii": False},
    {"indent": 1, "ensure_ascii": False},
)
_STYLES = st.sampled_from(STYLES)
# Splitting and joining may create a number that no double represents: 16 digits, or a three-digit exponent.
UNSAFE_NUMBER = re.compile(r"\d{16}|\d[eE][+-]?\d{3}")


@cache
def json_texts() -> st.SearchStrategy[str]:
    """JSON texts: complete, truncated, with a typo, or unusual."""
    return st.one_of(
        whole_json_texts(), cut_json_texts(), cut_json_texts(), _misspelt_texts(), st.sampled_from(ODD_TEXTS)
    ).filter(lambda text: UNSAFE_NUMBER.search(text) is None)


@st.composite
def whole_json_texts(draw: st.DrawFn, values: st.SearchStrategy[Json] | None = None) -> str:
    """The text of a value, in one of several layouts."""
    value = draw(_plain_values() if values is None else values)
    return join_surrogates(json.dumps(value, **draw(_STYLES)))


@st.composite
def cut_json_texts(draw: st.DrawFn) -> str:
    """A prefix of a JSON text, truncated between UTF-16 units."""
    return draw(cuts(draw(whole_json_texts()), max_pieces=2))[0]


@st.composite
def _misspelt_texts(draw: st.DrawFn) -> str:
    text: str = draw(whole_json_texts() | cut_json_texts())
    place = draw(st.integers(0, len(text)))
    insert = draw(_TYPOS)
    skip = draw(_integers(0, 2))
    return text[:place] + insert + text[place + skip :]


@cache
def _plain_values() -> st.SearchStrategy[Json]:
    numbers = st.integers(-999, 99999) | st.sampled_from(EXACT_FLOATS[:4])
    leaves = (st.none(), st.booleans(), numbers, texts())
    values = json_trees(leaves, _KEYS, 5, 3)
    return values | st.dictionaries(_KEYS, values, min_size=1, max_size=3)


# Keys that are dangerous in JavaScript


@cache
def forbidden_json() -> st.SearchStrategy[Json]:
    """Values with a `__proto__`, `constructor` or `prototype` key, which a parser may refuse."""
    keys = st.sampled_from(FORBIDDEN_KEYS)
    inner = st.dictionaries(keys | st.sampled_from(KEYS), json_values(2), max_size=2)
    poison = st.dictionaries(keys, inner | json_values(2), min_size=1, max_size=2)
    return st.recursive(poison, lambda inner: _containers(inner, min_size=1), max_leaves=3)


@st.composite
def forbidden_json_texts(draw: st.DrawFn) -> str:
    """The texts of such values, the key plain or with an escape."""
    text = draw(whole_json_texts(forbidden_json()))
    return text.replace("__proto__", "\\u005f_proto__") if draw(st.booleans()) else text
