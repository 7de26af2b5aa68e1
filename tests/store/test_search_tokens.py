"""The tokens of texts."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from partita.store.search.tokens import LONGEST, index_text, subwords_of, token_spans, tokens_of
from tests.tables import each_row

INDEXED = {
    "Hello, World!": "hello world",
    "snake_case": "snake case",
    "foo.bar": "foo bar",
    "src/a/b.py": "src a b py",
    "--dry-run": "dry run",
    "x86_64": "x86 64",
    "getUserName": "getusername get user name",
    "GetUserName": "getusername get user name",
    "HTTPServer": "httpserver http server",
    "parseHTTP2Stream": "parsehttp2stream parse http2 stream",
    "sha256Sum": "sha256sum sha256 sum",
    "userID": "userid user id",
    "get_userName twice: userName": "get username twice username user name",
    "SHOUTING Title lower 42": "shouting title lower 42",
    "Café ÉTÉ naïve": "cafe ete naive",
    "e\u0301te\u0301": "ete",
    "Straße İstanbul": "strasse istanbul",
    "ﬁne ①②": "fine 12",
    "soft\u00adhyphen zero\u200bwidth": "softhyphen zero width",
    "it’s “so” — no…": "it s so no",
    "東京タワー": "東 京 タ ワ ー",
    "が\u304b\u3099": "が が",
    "Python入門": "python 入 門",
    "한국어": "한 국 어",
    "\u1112\u1161\u11ab": "한",
    "สวัสดี": "ส ว ั ส ด ี",
    "हिन्दी": "हिन्दी",
    "Ёлка Йод": "елка иод",
    "نَصّ": "نص",
    "a\x00b\ud800c": "a b c",
    "🎉 party 🎉": "party",
    "x" * (LONGEST + 9): "x" * LONGEST,
    "ß" * LONGEST: "s" * LONGEST,
    "": "",
    " \n\t": "",
}


@each_row(("text", "expected"), INDEXED.items(), ids=map(ascii, INDEXED))
def test_the_tokens_of_a_text(text: str, expected: str) -> None:
    assert " ".join(index_text(text).split()) == expected


@given(st.text())
def test_tokens_have_only_letters_marks_and_digits(text: str) -> None:
    for word in index_text(text).split():
        assert len(word) <= LONGEST
        assert all(unicodedata.category(char)[0] in "LMN" for char in word), word


@given(st.text(st.characters(max_codepoint=127) | st.characters()))
def test_whole_words_come_first_in_order(text: str) -> None:
    words = tokens_of(text)
    assert index_text(text).split()[: len(words)] == words


@given(st.text() | st.from_regex(r"[a-z]+([A-Z]+[a-z0-9]*)+", fullmatch=True))
def test_subwords_are_among_the_indexed_tokens(text: str) -> None:
    assert set(subwords_of(text)) <= set(index_text(text).split())


@given(st.text())
def test_the_spans_of_tokens_contain_the_tokens(text: str) -> None:
    """The tokens by span are those of the whole text, and each span contains its token."""
    composed = unicodedata.normalize("NFC", text)
    words, pieces = token_spans(composed)
    assert [word for word, _, _ in words] == tokens_of(composed)
    assert all(0 <= start < end <= len(composed) for _, start, end in words)
    for _, start, end in pieces:
        assert any(first <= start < end <= last for _, first, last in words)
