"""Markdown that can be read without colours, and in which nothing vanishes."""

from partita.cli.view.bodies import draw_markdown
from tests.cli.view_drawing import drawn
from tests.tables import each_row

DRAWINGS = {
    "headings keep their marks": ("# One\n\n### Three", "# One\n\n### Three\n"),
    "code keeps its quotes": ("run `ls`", "run `ls`\n"),
    "a block keeps its fences": ("```sh\nls\n```", "```sh\nls\n```\n"),
    "HTML is text": ("<details>seen</details>\n\na <b>b</b>", "<details>seen</details>\n\na <b>b</b>\n"),
    "a link tells where it leads": ("[safe](https://bad.example)", "safe (https://bad.example)\n"),
    "an address is told once": ("<https://a.example>", "https://a.example\n"),
    "a picture is named": ("![a cat](c.png)", "[image a cat c.png]\n"),
    "markup of rich is text": (
        "[bold]x[/bold] :smile: [link=x]y[/link]",
        "[bold]x[/bold] :smile: [link=x]y[/link]\n",
    ),
    "a list": ("- a\n- b", " • a\n • b\n"),
    "a table": ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
    "turned text from an entity": ("&#x202e;x", "\\u202ex\n"),
    "an escape in code": ("`\x1b[2J`", "`\\x1b[2J`\n"),
}


@each_row(("text", "shown"), DRAWINGS.values(), ids=DRAWINGS)
def test_drawing(text: str, shown: str) -> None:
    lines = [line.rstrip() for line in drawn(draw_markdown(text)).strip("\n").split("\n")]
    assert [line for line in lines if line] == [line for line in shown.split("\n") if line]


def test_what_nests_too_deeply_is_shown_as_it_is() -> None:
    assert drawn(draw_markdown(">" * 60 + " x")) == ">" * 60 + " x\n"


def test_what_is_too_long_is_shown_as_it_is() -> None:
    assert "**x**" in drawn(draw_markdown("**x** " * 50_000))
