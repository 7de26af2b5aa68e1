"""Wrapping of rows, and escaping of all output."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from partita.cli.view.console import Beside, Row, Rows
from tests.cli.rendering import render
from tests.tables import each_row

WORDS = st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=200)


@given(WORDS, st.integers(20, 60), st.sampled_from(["", "12 + ", "│ "]))
def test_no_line_is_wider_than_the_terminal(text: str, width: int, prefix: str) -> None:
    shown = render(Rows([Row(text, prefix=prefix)]), width=width)
    assert all(cell_len(line) <= width for line in shown.split("\n"))


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=200), st.integers(20, 60)
)
def test_wrapped_lines_contain_the_whole_text(text: str, width: int) -> None:
    assert render(Rows([Row(text)]), width=width).replace("\n", "") == text


def test_prefix_is_on_the_first_line_only() -> None:
    assert render(Rows([Row("x" * 30, prefix="12 + ")]), width=25) == f"12 + {'x' * 20}\n     {'x' * 10}\n"


@each_row(
    ("text", "shown"),
    [
        ("one two three four five", ["one two three four", "five"]),
        ("    indented code that is wrapped", ["    indented code", "that is wrapped"]),
        (f"a {'x' * 25} b", [f"a {'x' * 18}", f"{'x' * 7} b"]),
        ("eins zwei 三四五六七八九 十", ["eins zwei", "三四五六七八九 十"]),
    ],
)
def test_lines_are_wrapped_between_words(text: str, shown: list[str]) -> None:
    assert render(Rows([Row(text)]), width=20).splitlines() == shown


def test_row_can_be_cut_at_the_width() -> None:
    assert (
        render(Rows([Row("x" * 30, cut=True), Row("short", cut=True)]), width=20) == f"{'x' * 19}…\nshort\n"
    )


@each_row(("once", "shown"), [(False, "> a\n> b\n"), (True, "> a\n  b\n")])
def test_mark_is_on_each_line_or_the_first(once: bool, shown: str) -> None:
    assert render(Beside("> ", Text("a\nb"), once=once)) == shown


def test_output_is_escaped_whatever_is_rendered() -> None:
    text = Text("a\x1b[2Jb\u202e", "link https://bad.example/\x1b")
    assert render(text) == "a\\x1b[2Jb\\u202e\n"


def test_megabytes_are_rendered_completely() -> None:
    lines = render(Rows([Row("0123456789" * 8)] * 20_000), width=80).split("\n")
    assert len(lines) == 20_001
