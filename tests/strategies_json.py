"""JSON values and JSON texts that Python and JavaScript read alike, with the traps left in.

Making a strategy costs more than drawing from it, so those that take no data are made once.
"""

import json
import re
from functools import cache
from itertools import pairwise

from hypothesis import strategies as st

from partita.types.json import Json, JsonObject, heal

# Every integer up to here is a double of its own. Above it, and below 1e21, JavaScript writes integers
# whose last digits it made up, so a number there comes back as another one.
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


@cache
def texts() -> st.SearchStrategy[str]:
    """Short texts in many scripts; one in a while ends in half of a surrogate pair."""
    whole = st.lists(st.sampled_from(FRAGMENTS), max_size=4).map("".join) | st.text(max_size=6)
    halved = st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from(LONE_HALVES)).map("".join)
    return st.one_of(whole, whole, whole, halved)


@cache
def json_numbers() -> st.SearchStrategy[int | float]:
    """Numbers that survive a trip through a double and through JavaScript's spelling of it."""
    return st.one_of(
        st.integers(-10, 1000),
        st.integers(-LARGEST_INTEGER, LARGEST_INTEGER),
        st.floats(-LARGEST_INTEGER, LARGEST_INTEGER),
        st.sampled_from(EXACT_FLOATS),
    )


@cache
def json_values(max_leaves: int = 4) -> st.SearchStrategy[Json]:
    """Small JSON values of every kind."""
    leaves = st.none() | st.booleans() | json_numbers() | texts()
    return st.recursive(leaves, _containers, max_leaves=max_leaves)


@cache
def json_objects(max_leaves: int = 4) -> st.SearchStrategy[JsonObject]:
    """Small JSON objects."""
    return st.dictionaries(st.sampled_from(KEYS), json_values(max_leaves), max_size=3)


def _containers(inner: st.SearchStrategy[Json], min_size: int = 0) -> st.SearchStrategy[Json]:
    keys = st.sampled_from(KEYS)
    arrays = st.lists(inner, min_size=min_size, max_size=3)
    return arrays | st.dictionaries(keys, inner, min_size=min_size, max_size=3)


@cache
def provider_metadata() -> st.SearchStrategy[JsonObject]:
    """Metadata by provider: two levels of objects, then anything."""
    values = st.dictionaries(st.sampled_from(KEYS), json_values(2), max_size=2)
    return st.dictionaries(st.sampled_from(("openai", "anthropic", "x.y")), values, max_size=2)


@st.composite
def cuts(draw: st.DrawFn, text: str, max_pieces: int = 4) -> list[str]:
    """`text` in pieces, cut between UTF-16 units as JavaScript cuts: a pair may lose its other half."""
    units = text.encode("utf-16-le", "surrogatepass")
    places = draw(st.lists(st.integers(0, len(units) // 2), max_size=max_pieces - 1).map(sorted))
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
STYLES: tuple[dict[str, Json], ...] = (
    {"separators": (",", ":"), "ensure_ascii": False},
    {"separators": (",", ":"), "ensure_ascii": True},
    {"separators": (" , ", " : "), "ensure_ascii": False},
    {"indent": 1, "ensure_ascii": False},
)
# Cutting and joining may spell a number no double holds: 16 digits in a row, or an exponent of three.
UNSAFE_NUMBER = re.compile(r"\d{16}|\d[eE][+-]?\d{3}")


@cache
def json_texts() -> st.SearchStrategy[str]:
    """JSON texts whole, cut off anywhere, with a typo, and odd."""
    return st.one_of(
        whole_json_texts(), cut_json_texts(), cut_json_texts(), _misspelt_texts(), st.sampled_from(ODD_TEXTS)
    ).filter(lambda text: UNSAFE_NUMBER.search(text) is None)


@st.composite
def whole_json_texts(draw: st.DrawFn, values: st.SearchStrategy[Json] | None = None) -> str:
    """The text of a value, in one of several styles."""
    value = draw(_plain_values() if values is None else values)
    return heal(json.dumps(value, **draw(st.sampled_from(STYLES))))


@st.composite
def cut_json_texts(draw: st.DrawFn) -> str:
    """The beginning of a JSON text, cut between UTF-16 units."""
    return draw(cuts(draw(whole_json_texts()), max_pieces=2))[0]


@st.composite
def _misspelt_texts(draw: st.DrawFn) -> str:
    text: str = draw(whole_json_texts() | cut_json_texts())
    place = draw(st.integers(0, len(text)))
    insert = draw(st.sampled_from(TYPOS))
    skip = draw(st.integers(0, 2))
    return text[:place] + insert + text[place + skip :]


@cache
def _plain_values() -> st.SearchStrategy[Json]:
    numbers = st.integers(-999, 99999) | st.sampled_from(EXACT_FLOATS[:4])
    values = st.recursive(st.none() | st.booleans() | numbers | texts(), _containers, max_leaves=5)
    return values | st.dictionaries(st.sampled_from(KEYS), values, min_size=1, max_size=3)


# Keys that JavaScript must not meet as keys


@cache
def forbidden_json() -> st.SearchStrategy[Json]:
    """Values with a `__proto__`, `constructor` or `prototype` key somewhere: a parser may refuse them."""
    keys = st.sampled_from(FORBIDDEN_KEYS)
    inner = st.dictionaries(keys | st.sampled_from(KEYS), json_values(2), max_size=2)
    poison = st.dictionaries(keys, inner | json_values(2), min_size=1, max_size=2)
    return st.recursive(poison, lambda inner: _containers(inner, min_size=1), max_leaves=3)


@st.composite
def forbidden_json_texts(draw: st.DrawFn) -> str:
    """The texts of such values, the key spelt out or with an escape."""
    text = draw(whole_json_texts(forbidden_json()))
    return text.replace("__proto__", "\\u005f_proto__") if draw(st.booleans()) else text
