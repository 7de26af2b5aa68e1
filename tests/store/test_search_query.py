"""Parsing of search queries."""

from hypothesis import given
from hypothesis import strategies as st

from partita.store.search.query import MAX_PHRASE, MAX_TERMS, Phrase, Query, Term, parse
from tests.tables import each_row


def term(*phrases: str) -> Term:
    """A term with spellings: words separated by spaces, with a star after a prefix."""
    return Term(tuple(Phrase(tuple(text.rstrip("*").split()), text.endswith("*")) for text in phrases))


PARSED = {
    "": ((), ()),
    "one": ((term("one*"),), ()),
    "one two": ((term("one"), term("two*")), ()),
    "on* two": ((term("on*"), term("two*")), ()),
    "a": ((term("a"),), ()),
    "a*": ((term("a*"),), ()),
    '"one two"': ((term("one two"),), ()),
    '"one two" three': ((term("one two"), term("three*")), ()),
    'one"two three"four': ((term("one"), term("two three"), term("four*")), ()),
    '"open end': ((term("open end"),), ()),
    "one -two": ((term("one"),), (term("two"),)),
    'one -"two three"': ((term("one"),), (term("two three"),)),
    "-one": ((), (term("one"),)),
    "--dry-run": ((term("dry run*"),), ()),
    "one - two": ((term("one"), term("two*")), ()),
    "foo.bar": ((term("foo bar*"),), ()),
    "a.b": ((term("a b"),), ()),
    "getName now": ((term("getname", "get name"), term("now*")), ()),
    "getName": ((term("getname*", "get name*"),), ()),
    "getX": ((term("getx*", "get x"),), ()),
    "東京": ((term("東 京"),), ()),
    '* ( ) - "" "-" -* :': ((), ()),
    "one AND two": ((term("one"), term("and"), term("two*")), ()),
    "col:word NEAR(a b)": ((term("col word"), term("near a"), term("b")), ()),
}


@each_row(("text", "expected"), PARSED.items(), ids=PARSED)
def test_parse(text: str, expected: tuple[tuple[Term, ...], tuple[Term, ...]]) -> None:
    assert parse(text) == Query(*expected)


@given(st.text() | st.text(' "-*ab'))
def test_any_text_is_a_query(text: str) -> None:
    query = parse(text)
    assert all(phrase.tokens for one in (*query.required, *query.excluded) for phrase in one.phrases)


def test_very_long_queries_are_truncated() -> None:
    query = parse("word " * 1000 + "-gone " * 1000)
    assert len(query.required) == MAX_TERMS
    (one,) = parse(f'"{"word " * 1000}"').required
    assert one == Term((Phrase(("word",) * MAX_PHRASE),))
    (one,) = parse("a." * 1000 + "word").required
    assert one == Term((Phrase(("a",) * MAX_PHRASE),))
