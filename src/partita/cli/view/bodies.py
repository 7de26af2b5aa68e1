"""What stands under a title: lines of output, words, JSON values; folded unless all is asked for."""

from collections.abc import Sequence
from typing import ClassVar, TypeAlias, assert_never

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import UNSET
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from partita.errors import DecodeError
from partita.types.codec import to_json
from partita.types.json import Json, dumps, is_array, is_object
from partita.types.parts import (
    CustomPart,
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    SourceDocumentPart,
    SourceUrlPart,
    UnknownPart,
)
from partita.views.text import counted, size_of

from .console import Row
from .look import LONGEST_LINE, Look
from .text import clipped, fold, lines_of, one_line, safe

DEEPEST = 3
"""How many levels of a value are drawn as a tree when not all is asked for."""

WIDEST_INDENT = 40
BROKEN = 20_000
"""How many characters are broken into rows although only some of these are shown: to count the others."""

INLINE = 100
"""How long a value may be to stand on one line."""


def folded(lines: Sequence[str], look: Look, head: int, tail: int = 0, style: str = "") -> list[Row]:
    """Lines, or the first and last of them with a word on what is left out."""
    if look.full:
        return [Row(line, style) for line in lines]
    first, hidden, last = fold(lines, head, tail)
    return [
        *(Row(clipped(line, LONGEST_LINE), style) for line in first),
        *([Row(f"… {counted(hidden, 'more line')}", "dim")] if hidden else []),
        *(Row(clipped(line, LONGEST_LINE), style) for line in last),
    ]


class Prose:
    """Words broken between words, the first rows of them unless all is asked for."""

    def __init__(self, text: str, look: Look, rows: int, style: str = "") -> None:
        self.text = "\n".join(lines_of(text))
        self.most = None if look.full else rows
        self.style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text
        rest = ""
        if self.most is not None:  # no need to break megabytes to show six rows
            room = max((self.most + 2) * options.max_width, BROKEN)
            text, rest = text[:room], text[room:]
        lines = [line.plain.rstrip() for line in Text(text).wrap(console, options.max_width)]
        folds = self.most is not None and (len(lines) > self.most + 1 or bool(rest))
        style = console.get_style(self.style)
        for line in lines[: self.most] if folds else lines:
            yield Segment(line, style)
            yield Segment.line()
        if folds and self.most is not None:
            hidden = len(lines) - self.most + (len(rest) // options.max_width if rest else 0)
            about = "about " if rest else ""
            yield Segment(f"… {about}{counted(hidden, 'more line')}", console.get_style("dim"))
            yield Segment.line()


def tree(value: Json, look: Look, most: int = 14) -> list[Row]:
    """A JSON value, a member a line, members of members indented."""
    rows: list[Row] = []
    waiting: list[tuple[int, str, Json]] = [(0, "", value)]
    while waiting:  # no recursion: values may nest as deep as they like
        depth, name, item = waiting.pop()
        if (is_object(item) or is_array(item)) and item and (look.full or depth < DEEPEST or not name):
            inline = _inline(item) if name else ""
            if inline:
                rows.append(_row(depth, name, inline))
                continue
            if name:
                rows.append(_row(depth, name, ""))
            waiting.extend(reversed([(depth + bool(name), key, inner) for key, inner in _members(item)]))
        else:
            rows.extend(_leaf(depth, name, item, look))
    if look.full or len(rows) <= most + 1:
        return rows
    return [*rows[:most], Row(f"… {counted(len(rows) - most, 'more line')}", "dim")]


def _members(value: Json) -> list[tuple[str, Json]]:
    if is_object(value):
        return [(f"{one_line(key, INLINE)}:", inner) for key, inner in value.items()]
    return [("-", inner) for inner in value]


def _inline(value: Json) -> str:
    """An array or object of short scalars as one line; nothing when it is more than that."""
    items: list[Json] = list(value.values()) if is_object(value) else value
    if len(items) > INLINE or any(is_object(item) or is_array(item) for item in items):
        return ""
    names = [f"{one_line(key, INLINE)}: " for key in value] if is_object(value) else [""] * len(items)
    line = ", ".join(f"{name}{_scalar(item)}" for name, item in zip(names, items, strict=True))
    return line if len(line) <= INLINE and "\n" not in line else ""


def _leaf(depth: int, name: str, value: Json, look: Look) -> list[Row]:
    if is_object(value) or is_array(value):
        return [_row(depth, name, compact(value, INLINE))]
    text = _scalar(value)
    if "\n" in text:
        indent = _indent(depth + bool(name))
        lines = [row._replace(prefix=indent) for row in folded(text.split("\n"), look, head=6, tail=2)]
        return [_row(depth, name, ""), *lines] if name else lines
    return [_row(depth, name, text if look.full else clipped(text, LONGEST_LINE))]


def _row(depth: int, name: str, text: str) -> Row:
    return Row(text, prefix=f"{_indent(depth)}{name} " if name else _indent(depth), prefix_style="cyan dim")


def _indent(depth: int) -> str:
    return " " * min(2 * depth, WIDEST_INDENT)


def _scalar(value: Json) -> str:
    return "\n".join(lines_of(value)) if isinstance(value, str) else compact(value)


def compact(value: Json, limit: int | None = None) -> str:
    """A value as JSON on one line."""
    try:
        text = dumps(value).decode()
    except DecodeError:
        return "…"
    return one_line(text, limit)


# Markdown for a terminal that may have no colours: marks that carry meaning stay, and nothing vanishes.

LONGEST_MARKDOWN = 200_000
DEEPEST_MARKDOWN = 30
"""Beyond this, text is drawn as it is: no one writes such markdown, but someone may send it."""

PARSER = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST_MARKDOWN + 10}).enable(
    ["strikethrough", "table"]
)
"""HTML is text here: `<div>` in an answer is something the reader should see."""


def draw_markdown(text: str) -> RenderableType:
    """Markdown, or the text as it is when it is too much of it."""
    clean = safe(text, tabs=4).strip("\n")
    if len(clean) > LONGEST_MARKDOWN:
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
        self.too_deep = any(token.level > DEEPEST_MARKDOWN for token in self.parsed)
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


# Pictures, files and other things that a terminal names in one line.

Thing: TypeAlias = (
    ImagePart
    | FilePart
    | ReasoningFilePart
    | SourceUrlPart
    | SourceDocumentPart
    | DataPart
    | CustomPart
    | ForeignPart
    | UnknownPart
)
LONGEST_DATA = 300


def describe(part: Thing, look: Look) -> Row:
    """The line that names a thing: what it is, its name, its type, its size."""
    match part:
        case ImagePart(url=url, media_type=kind, name=name):
            return _file("image", name, kind, url, look)
        case FilePart(url=url, media_type=kind, filename=name):
            return _file("file", name, kind, url, look)
        case ReasoningFilePart(url=url, media_type=kind, filename=name):
            return _file("file of the reasoning", name, kind, url, look)
        case SourceUrlPart(url=url, title=title):
            return Row("  ".join(one_line(word) for word in (title, url) if word), "blue", "↗ ")
        case SourceDocumentPart(title=title, filename=name, media_type=kind):
            return Row(" · ".join(one_line(word) for word in (title, name, kind) if word), "blue", "↗ ")
        case DataPart(name=name, data=data):
            said = "" if data is UNSET else compact(data, None if look.full else LONGEST_DATA)
            return Row(f"{one_line(name, 80)}  {said}".rstrip(), "dim", "◆ ", cut=not look.full)
        case CustomPart(kind=kind):
            return Row(one_line(kind), "dim", "◇ ")
        case ForeignPart(format=format_, value=value):
            said = compact(value, None if look.full else LONGEST_DATA)
            return Row(f"{one_line(format_, 80)}  {said}", "dim", "? ", cut=not look.full)
        case UnknownPart():
            said = compact(to_json(part), None if look.full else LONGEST_DATA)
            return Row(f"{one_line(part.type, 80)}  {said}", "dim", "? ", cut=not look.full)
        case _:
            assert_never(part)


def _file(what: str, name: str | None, kind: str | None, url: str, look: Look) -> Row:
    size = url_size(url, look)
    words = [name, kind, None if size is None else size_of(size), None if _is_content(url) else url]
    return Row(" · ".join(one_line(word) for word in words if word), "cyan", f"▣ {what}  ", "cyan")


def _is_content(url: str) -> bool:
    """Whether a url holds or names content and would tell the reader nothing."""
    return url.startswith(("data:", "blob:"))


def url_size(url: str, look: Look) -> int | None:
    """How many bytes a url stands for, if it can be known without asking anyone."""
    if url.startswith("blob:"):
        return look.blobs.size(url)
    head, comma, data = url.partition(",")
    if not url.startswith("data:") or not comma:
        return None
    return len(data) * 3 // 4 - data[-2:].count("=") if head.endswith(";base64") else len(data)
