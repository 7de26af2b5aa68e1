"""Parsing of search queries."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import StoreError
from partita.store.search.query import (
    MAX_PHRASE,
    MAX_TERMS,
    QUALIFIERS,
    Condition,
    Phrase,
    Query,
    Term,
    parse,
)
from partita.store.values import SearchField
from tests.tables import each_row


def term(*phrases: str, field: SearchField | None = None) -> Term:
    """A term with alternatives: words separated by spaces, with a star after a prefix."""
    return Term(tuple(Phrase(tuple(text.rstrip("*").split()), text.endswith("*")) for text in phrases), field)


TERMS: dict[str, tuple[tuple[Term, ...], tuple[Term, ...]]] = {
    "one": ((term("one*"),), ()),
    "one two": ((term("one"), term("two*")), ()),
    "on* two": ((term("on*"), term("two*")), ()),
    "a": ((term("a*"),), ()),
    "a b": ((term("a"), term("b*")), ()),
    "a*": ((term("a*"),), ()),
    '"one two"': ((term("one two"),), ()),
    '"one two" three': ((term("one two"), term("three*")), ()),
    'one"two three"four': ((term("one"), term("two three"), term("four*")), ()),
    '"open end': ((term("open end"),), ()),
    "one -two": ((term("one"),), (term("two"),)),
    'one -"two three"': ((term("one"),), (term("two three"),)),
    "--dry-run": ((term("dry run*"),), ()),
    "one - two": ((term("one"), term("two*")), ()),
    "foo.bar": ((term("foo bar*"),), ()),
    "a.b": ((term("a b*"),), ()),
    "c++": ((term("c"),), ()),
    "getName now": ((term("getname", "get name"), term("now*")), ()),
    "getName": ((term("getname*", "get name*"),), ()),
    "getX": ((term("getx*", "get x*"),), ()),
    "東京": ((term("東 京*"),), ()),
    "one AND two": ((term("one"), term("and"), term("two*")), ()),
    "col:word NEAR(a b)": ((term("col word"), term("near a"), term("b")), ()),
    "http://x foo:bar": ((term("http x"), term("foo bar*")), ()),
    "a:tool:Bash": ((term("a tool bash*"),), ()),
    "tool: x": ((term("tool"), term("x*")), ()),
    '"tool:Bash"': ((term("tool bash"),), ()),
    "Tool:Bash": ((term("tool bash*"),), ()),
    # Alternatives bind tighter than the words around them.
    "one OR two": ((term("one", "two*"),), ()),
    "one OR two three": ((term("one", "two"), term("three*")), ()),
    'zero one OR "two three" OR four*': ((term("zero"), term("one", "two three", "four*")), ()),
    "getName OR name": ((term("getname", "get name", "name*"),), ()),
    "one OR *": ((term("one"),), ()),
    # An `OR` that is not between two terms is a word.
    "OR one": ((term("or"), term("one*")), ()),
    "one OR": ((term("one"), term("or*")), ()),
    "one OR -two": ((term("one"), term("or")), (term("two"),)),
    "one -two OR three": ((term("one"), term("or"), term("three*")), (term("two"),)),
    'one "OR" two': ((term("one"), term("or"), term("two*")), ()),
    "one or two": ((term("one"), term("or"), term("two*")), ()),
    # Terms of one field.
    "file:src/app.py": ((term("src app py*", field="tool-input"),), ()),
    "file:src/app.py x": ((term("src app py", field="tool-input"), term("x*")), ()),
    'file:"my file" title:lamp*': (
        (term("my file", field="tool-input"), term("lamp*", field="title")),
        (),
    ),
    "one -file:app.py": ((term("one"),), (term("app py", field="tool-input"),)),
    "file:a OR file:b": ((term("a", "b*", field="tool-input"),), ()),
}


@each_row(("text", "expected"), TERMS.items(), ids=TERMS)
def test_the_terms_of_a_query(text: str, expected: tuple[tuple[Term, ...], tuple[Term, ...]]) -> None:
    assert parse(text) == Query(*expected)


NOW = datetime(2030, 5, 4, 12, tzinfo=timezone(timedelta(hours=2)))
CONDITIONS: dict[str, tuple[Condition, ...]] = {
    "tool:Bash": (Condition("tool", ("Bash",)),),
    "-tool:Bash x": (Condition("tool", ("Bash",), True),),
    "tool:Read OR tool:Edit": (Condition("tool", ("Read", "Edit")),),
    "tool:Read tool:Edit": (Condition("tool", ("Read",)), Condition("tool", ("Edit",))),
    'project:"my app"': (Condition("project", ("my app",)),),
    "project:D:\\x\\y": (Condition("project", ("D:\\x\\y",)),),
    "agent:codex role:user": (Condition("agent", ("codex",)), Condition("role", ("user",))),
    "in:title OR in:text x": (Condition("in", ("title", "text")),),
    "before:2030-01-01": (Condition("before", (datetime(2029, 12, 31, 22, tzinfo=UTC),)),),
    "after:2d": (Condition("after", (datetime(2030, 5, 2, 10, tzinfo=UTC),)),),
    'after:"2030-01-01 14:00Z"': (Condition("after", (datetime(2030, 1, 1, 14, tzinfo=UTC),)),),
}


@each_row(("text", "expected"), CONDITIONS.items(), ids=CONDITIONS)
def test_the_conditions_of_a_query(text: str, expected: tuple[Condition, ...]) -> None:
    assert parse(text, now=NOW).conditions == expected


REFUSED = {
    "": "nothing to search for",
    "   ": "nothing to search for",
    '* ( ) - "" "-" -* :': "nothing to search for",
    "-one": "nothing to search for",
    "-tool:Bash": "nothing to search for",
    "in:text": "nothing to search for",
    "before:soon": "'soon' is not a time",
    "role:king": "role:king is not known",
    "in:smell": "in:smell is not known",
    "file:*": "file: has no word",
    "one OR tool:Bash": "OR between different qualifiers",
    "tool:Bash OR agent:codex": "OR between different qualifiers",
    "tool:a\x00": "holds a NUL",
}


@each_row(("text", "message"), REFUSED.items(), ids=REFUSED)
def test_a_query_that_is_not_valid_is_refused_with_a_hint(text: str, message: str) -> None:
    with pytest.raises(StoreError, match=re.escape(message)) as caught:
        parse(text)
    assert caught.value.hint


TYPED = st.lists(
    st.sampled_from(("OR", "-", '"', " ", "one", "*", *(f"{name}:" for name in QUALIFIERS), "2d", "title"))
).map("".join)


@given(st.text() | st.text(' "-*ab:') | TYPED)
def test_any_text_is_a_query_or_an_error_with_a_hint(text: str) -> None:
    try:
        query = parse(text)
    except StoreError as error:
        if not error.hint:
            raise
        return
    assert all(phrase.tokens for one in (*query.required, *query.excluded) for phrase in one.phrases)


def test_very_long_queries_are_truncated() -> None:
    query = parse("word " * 1000 + "-gone " * 1000)
    assert len(query.required) == MAX_TERMS
    (one,) = parse(f'"{"word " * 1000}"').required
    assert one == Term((Phrase(("word",) * MAX_PHRASE),))
    (one,) = parse("a." * 1000 + "word").required
    assert one == Term((Phrase(("a",) * MAX_PHRASE),))
