"""Nothing that a terminal would obey gets through, and nothing else is lost."""

import json

from hypothesis import given
from hypothesis import strategies as st

from partita.cli.view.text import (
    UNSAFE,
    clipped,
    escaped,
    fold,
    json_escaped,
    lines_of,
    one_line,
    safe,
    tokens_of,
)
from partita.views.text import counted, size_of
from tests.tables import each_row

HOSTILE = {
    "colours are removed": ("\x1b[1;31mred\x1b[0m", "red"),
    "a window title": ("\x1b]0;mine\x07", "\\x1b]0;mine\\x07"),
    "clear the screen": ("\x1b[2Jgone", "\\x1b[2Jgone"),
    "the one-byte escape": ("\x9b5n", "\\x9b5n"),
    "a bell, a backspace, a NUL": ("a\x07\x08\x00", "a\\x07\\x08\\x00"),
    "direction overrides": ("abc\u202efed\u202c", "abc\\u202efed\\u202c"),
    "direction isolates and marks": ("\u2066x\u2069\u200f", "\\u2066x\\u2069\\u200f"),
    "invisible characters": ("a\u200bb\ufeff\u00ad", "a\\u200bb\\ufeff\\xad"),
    "letters hidden in tags": ("x\U000e0041", "x\\U000e0041"),
    "half a surrogate pair": ("\ud83d", "\\ud83d"),
    "a carriage return is a line break": ("rm -rf /\rls", "rm -rf /\nls"),
    "Windows line breaks": ("a\r\nb", "a\nb"),
    "other line separators": ("a\u2028b\x0bc\x85d", "a\\u2028b\\x0bc\\x85d"),
    "tabs": ("a\tb", "a       b"),
    "letters and emoji are unchanged": (
        "schön 日本 👩\u200d🚀 ❤\ufe0f",
        "schön 日本 👩\u200d🚀 ❤\ufe0f",
    ),
}


@each_row(("text", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_unsafe_characters_are_escaped(text: str, shown: str) -> None:
    assert safe(text) == shown


@given(st.text(st.characters(codec=None)))
def test_safe_text_has_no_unsafe_characters(text: str) -> None:
    assert not UNSAFE.search(safe(text))
    assert "\r" not in safe(text)
    assert escaped(safe(text)) == safe(text)
    safe(text).encode()


@given(
    st.recursive(
        st.text() | st.integers() | st.none(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_escaped_json_has_the_same_value(value: object) -> None:
    written = json_escaped(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    assert json.loads(written) == json.loads(json.dumps(value))
    assert not UNSAFE.search(written.decode())


@given(st.lists(st.text()), st.integers(0, 5), st.integers(0, 5))
def test_fold_counts_the_hidden_lines(lines: list[str], head: int, tail: int) -> None:
    first, hidden, last = fold(lines, head, tail)
    assert len(first) + hidden + len(last) == len(lines)
    assert [*first, *lines[len(first) : len(first) + hidden], *last] == lines
    assert hidden != 1


@given(st.text(), st.integers(2, 40))
def test_one_line_respects_the_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line


def test_lines_of_strips_blank_lines_at_both_ends() -> None:
    assert lines_of("\n\n a\n\nb\n\n") == [" a", "", "b"]
    assert lines_of(" \n ") == []


def test_clipped_line_states_the_number_of_hidden_characters() -> None:
    assert clipped("abcdef", 4) == "abcd… (2 characters more)"
    assert clipped("abcd", 4) == "abcd"


@each_row(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (3400, "3.4 KB"), (34_000, "34 KB"), (20_688_889, "21 MB")],
)
def test_size_is_shortened(count: int, text: str) -> None:
    assert size_of(count) == text


@each_row(
    ("count", "text"),
    [(860, "860"), (12_480, "12.5k"), (123_456, "123k"), (999_499, "999k"), (1_240_000, "1.2M")],
)
def test_token_count_is_shortened(count: int, text: str) -> None:
    assert tokens_of(count) == text


def test_counted_noun_has_a_plural() -> None:
    assert (counted(1, "call"), counted(2000, "call")) == ("1 call", "2,000 calls")
