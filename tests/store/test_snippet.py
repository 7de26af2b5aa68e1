"""Snippets of texts."""

from hypothesis import given
from hypothesis import strategies as st

from partita.errors import StoreError
from partita.store.search.query import parse
from partita.store.search.snippet import BLOCK, LENGTH, SLACK, snippet
from partita.store.search.tokens import tokens_of
from tests.tables import each_row


def marked(text: str, query: str) -> str:
    """The snippet with brackets around its highlights."""
    drawn, highlights = snippet(text, parse(query).required)
    for start, end in reversed(highlights):
        drawn = f"{drawn[:start]}[{drawn[start:end]}]{drawn[end:]}"
    return drawn


SHORT = {
    "a word": ("The quick fox", "quick", "The [quick] fox"),
    "a prefix shows the word": ("The quickest fox", "quick", "The [quickest] fox"),
    "every place": ("fox, Fox and FOX", "fox", "[fox], [Fox] and [FOX]"),
    "several words": ("a fox and a dog", "dog fox", "a [fox] and a [dog]"),
    "a phrase": ("red fox, fox red", '"red fox"', "[red fox], fox red"),
    "no match within a word": ("outfox the foxes", '"fox"', "outfox the foxes"),
    "diacritics": ("Un Café crème", "cafe creme", "Un [Café] [crème]"),
    "decomposed": ("Un Cafe\u0301", "café", "Un [Café]"),
    "folding that lengthens the text": ("die Straße hier", "strasse", "die [Straße] hier"),
    "CJK": ("今日は東京タワーへ", "京タ", "今日は東[京タ]ワーへ"),
    "CJK beside Latin": ("新しいPython入門", "python", "新しい[Python]入門"),
    "camelCase": ("call getUserName()", "getUserName", "call [getUserName]()"),
    "a piece": ("call getUserName()", "user", "call get[User]Name()"),
    "pieces": ("call getUserName()", '"user name"', "call get[UserName]()"),
    "another spelling": ("call user_name now", "userName", "call [user_name] now"),
    "a path": ("see src/a/b.py there", "src/a/b.py", "see [src/a/b.py] there"),
    "an option": ("try --dry-run first", "--dry-run", "try --[dry-run] first"),
    "excluded words are not highlighted": ("fox and hen", "fox -hen", "[fox] and hen"),
    "blanks": ("a\n\n  fox\t\x00ran \n", "fox", "a [fox] ran"),
    "half a pair": ("fox \ud800 ran", "fox", "[fox] \ufffd ran"),
    "nothing there": ("a hen", "fox", "a hen"),
    "an empty text": ("", "fox", ""),
}


@each_row(("text", "query", "expected"), SHORT.values(), ids=SHORT)
def test_short_texts_are_not_cut(text: str, query: str, expected: str) -> None:
    assert marked(text, query) == expected


def test_a_long_text_is_cut_between_words() -> None:
    text = "lorem ipsum dolor " * 50 + "the fox ran " + "sit amet elit " * 50
    drawn = marked(text, "fox")
    assert drawn.startswith("…")
    assert drawn.endswith("…")
    assert "the [fox] ran" in drawn
    assert set(drawn.strip("…").split()) <= {*text.split(), "[fox]"}
    assert LENGTH - 2 * SLACK <= len(drawn) <= LENGTH + 4


def test_the_start_and_the_end_have_no_ellipsis() -> None:
    text = "fox " + "lorem ipsum " * 50 + "hen"
    assert marked(text, "fox").startswith("[fox] lorem")
    assert marked(text, "fox").endswith("…")
    assert marked(text, "hen").endswith("ipsum [hen]")
    assert marked(text, "hen").startswith("…")
    assert marked(text, "nothing").startswith("fox lorem")


def test_the_snippet_is_around_the_most_terms() -> None:
    apart = "lorem ipsum " * 40
    assert "a [fox] and a [dog]" in marked(f"fox fox fox {apart} a fox and a dog {apart} dog", "fox dog")
    assert "[fox] [fox]" in marked(f"one fox {apart} fox fox {apart}", "fox")


@each_row("position", [0, 1, BLOCK - 5, BLOCK - 2, BLOCK, BLOCK + 100, 10 * BLOCK + 7])
def test_matches_are_found_anywhere_in_a_large_text(position: int) -> None:
    text = "x " * (position // 2) + "red fox" + " y" * BLOCK
    assert "[red fox]" in marked(text, '"red fox"')
    assert "[red fox]" in marked(text.replace("y", "ü"), '"red fox"')


def test_a_word_across_two_blocks_is_not_another_word() -> None:
    text = "x" * (BLOCK - 3) + "outfox " + "lorem " * BLOCK
    assert "[" not in marked(text, '"fox"')


def test_a_very_long_word_is_cut() -> None:
    drawn, highlights = snippet("fox" + "x" * 10_000, parse("foxx").required)
    assert len(drawn) <= LENGTH + 2
    assert highlights == ((0, LENGTH),)


TEXTS = st.text(st.sampled_from("ab é東京\n.-_AB\u0301")) | st.text()


@given(TEXTS, TEXTS)
def test_any_text_and_any_words_give_a_snippet(text: str, query: str) -> None:
    try:
        terms = parse(query).required
    except StoreError:
        terms = ()
    drawn, highlights = snippet(text, terms)
    assert len(drawn) <= max(LENGTH, 2 * len(query)) + SLACK + 2
    ends = [0, *(position for pair in highlights for position in pair), len(drawn)]
    assert ends == sorted(ends)


@given(st.text(min_size=1), st.data())
def test_every_word_of_a_text_is_highlighted(text: str, data: st.DataObject) -> None:
    words = tokens_of(text)
    if words:
        word = data.draw(st.sampled_from(words))
        assert snippet(text, parse(f'"{word}"').required)[1]
