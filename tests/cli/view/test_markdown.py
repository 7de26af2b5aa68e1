"""Rendering of Markdown: readable without colours, and without losing text."""

from partita.cli.view.content import draw_markdown
from tests.cli.rendering import render
from tests.tables import each_row

DRAWINGS = {
    "headings keep their marks": ("# One\n\n### Three", "# One\n\n### Three\n"),
    "code keeps its quotes": ("run `ls`", "run `ls`\n"),
    "a block keeps its fences": ("```sh\nls\n```", "```sh\nls\n```\n"),
    "HTML is text": ("<details>seen</details>\n\na <b>b</b>", "<details>seen</details>\n\na <b>b</b>\n"),
    "a link shows its URL": ("[safe](https://bad.example)", "safe (https://bad.example)\n"),
    "a bare URL is shown once": ("<https://a.example>", "https://a.example\n"),
    "an image is named": ("![a cat](c.png)", "[image a cat c.png]\n"),
    "markup of rich is text": (
        "[bold]x[/bold] :smile: [link=x]y[/link]",
        "[bold]x[/bold] :smile: [link=x]y[/link]\n",
    ),
    "a formula": (r"in $T = 12\,\mathrm{s}$, for $5 or \$6", r"in $T = 12\,\mathrm{s}$, for $5 or $6" + "\n"),
    "a list": ("- a\n- b", " • a\n • b\n"),
    "a table": ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
    "a direction override from an entity": ("&#x202e;x", "\\u202ex\n"),
    "an escape in code": ("`\x1b[2J`", "`\\x1b[2J`\n"),
}


@each_row(("text", "shown"), DRAWINGS.values(), ids=DRAWINGS)
def test_markdown_is_rendered(text: str, shown: str) -> None:
    lines = [line.rstrip() for line in render(draw_markdown(text)).strip("\n").split("\n")]
    assert [line for line in lines if line] == [line for line in shown.split("\n") if line]


def test_deeply_nested_markdown_is_shown_as_text() -> None:
    assert render(draw_markdown(">" * 60 + " x")) == ">" * 60 + " x\n"


def test_long_markdown_is_shown_as_text() -> None:
    assert "**x**" in render(draw_markdown("**x** " * 50_000))
