"""Markdown for a terminal that may have no colours: marks that carry meaning stay, and nothing vanishes."""

from collections.abc import Sequence
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from .text import safe

LONGEST = 200_000
DEEPEST = 30
"""Beyond this, text is drawn as it is: no one writes such markdown, but someone may send it."""

PARSER = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST + 10}).enable(
    ["strikethrough", "table"]
)
"""HTML is text here: `<div>` in an answer is something the reader should see."""


def draw_markdown(text: str) -> RenderableType:
    """Markdown, or the text as it is when it is too much of it."""
    clean = safe(text, tabs=4).strip("\n")
    if len(clean) > LONGEST:
        return Text(clean)
    drawn = _Markdown(clean)
    return Text(clean) if drawn.too_deep else drawn


class _Heading(Heading):
    """A heading with its marks, on the left."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = Text(f"{'#' * int(self.tag[1:])} ", "bold").append_text(self.text)
        text.stylize("bold")
        yield text


class _Code(CodeBlock):
    """A block of code between its fences."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Text(f"```{'' if self.lexer_name == 'text' else self.lexer_name}", "dim")
        yield Syntax(code, self.lexer_name, theme="ansi_dark", background_color="default", word_wrap=True)
        yield Text("```", "dim")


class _Table(TableElement):
    """A table in lines that every terminal has."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for drawn in super().__rich_console__(console, options):
            if isinstance(drawn, Table):
                drawn.box, drawn.padding = box.MARKDOWN, (0, 1)
                drawn.pad_edge, drawn.collapse_padding = True, False
                yield drawn
            else:
                yield drawn


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "table_open": _Table,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False)
        self.markup = text
        self.parsed = PARSER.parse(text)
        self.too_deep = any(token.level > DEEPEST for token in self.parsed)
        for token in self.parsed:
            if token.children:
                token.children = _plain(token.children)


def _plain(tokens: Sequence[Token]) -> list[Token]:
    """Inline tokens with what colours alone would tell: code keeps its quotes, pictures their addresses."""
    result: list[Token] = []
    skipped = 0
    for place, token in enumerate(tokens):
        match token.type:
            case "code_inline":
                token.content = f"`{token.content}`"
            case "image":
                name = f"{token.content} " if token.content else ""
                result.append(Token("text", "", 0, content=f"[image {name}{token.attrs.get('src', '')}]"))
                continue
            case "link_open" if _says_its_address(tokens, place):
                skipped += 1
                continue
            case "link_close" if skipped:
                skipped -= 1
                continue
            case _:
                pass
        result.append(token)
    return result


def _says_its_address(tokens: Sequence[Token], place: int) -> bool:
    """Whether the words of a link are where it leads."""
    words = tokens[place + 1] if place + 1 < len(tokens) else None
    return words is not None and words.type == "text" and words.content == tokens[place].attrs.get("href")
