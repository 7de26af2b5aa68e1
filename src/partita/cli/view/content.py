"""Rendering of content: lines, prose, JSON values, Markdown and files; folded unless `full` is set."""

import re
from collections.abc import Sequence
from typing import ClassVar, TypeAlias, assert_never

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
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
from .context import LONGEST_LINE, ViewContext
from .text import clipped, fold, lines_of, one_line, safe

DEEPEST = 3
"""How many levels of a value are drawn as a tree without `full`."""

WIDEST_INDENT = 40
WRAPPED = 20_000
"""How many characters are wrapped to count the hidden rows. The rest is estimated."""

INLINE = 100
"""The maximum length of a value on one line."""


def folded(
    lines: Sequence[str], context: ViewContext, head: int, tail: int = 0, style: str = ""
) -> list[Row]:
    """Return all lines, or the first and last with the number of hidden ones between them."""
    if context.full:
        return [Row(line, style) for line in lines]
    first, hidden, last = fold(lines, head, tail)
    return [
        *(Row(clipped(line, LONGEST_LINE), style) for line in first),
        *([Row(f"… {counted(hidden, 'more line')}", "dim")] if hidden else []),
        *(Row(clipped(line, LONGEST_LINE), style) for line in last),
    ]


class Prose:
    """Text wrapped between words; without `full`, its first rows."""

    def __init__(self, text: str, context: ViewContext, rows: int, style: str = "") -> None:
        self.text = "\n".join(lines_of(text))
        self.limit = None if context.full else rows
        self.style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text
        rest = ""
        if self.limit is not None:  # the text may have megabytes
            room = max((self.limit + 2) * options.max_width, WRAPPED)
            text, rest = text[:room], text[room:]
        lines = [line.plain.rstrip() for line in Text(text).wrap(console, options.max_width)]
        folds = self.limit is not None and (len(lines) > self.limit + 1 or bool(rest))
        style = console.get_style(self.style)
        for line in lines[: self.limit] if folds else lines:
            yield Segment(line, style)
            yield Segment.line()
        if folds and self.limit is not None:
            hidden = len(lines) - self.limit + (len(rest) // options.max_width if rest else 0)
            about = "about " if rest else ""
            yield Segment(f"… {about}{counted(hidden, 'more line')}", console.get_style("dim"))
            yield Segment.line()


def tree(value: Json, context: ViewContext, limit: int = 14) -> list[Row]:
    """Return a JSON value as rows, one per member, with nested members indented."""
    rows: list[Row] = []
    waiting: list[tuple[int, str, Json]] = [(0, "", value)]
    while waiting:  # not recursive: values may be nested to any depth
        depth, name, item = waiting.pop()
        if (is_object(item) or is_array(item)) and item and (context.full or depth < DEEPEST or not name):
            inline = _inline(item) if name else ""
            if inline:
                rows.append(_row(depth, name, inline))
                continue
            if name:
                rows.append(_row(depth, name, ""))
            waiting.extend(reversed([(depth + bool(name), key, inner) for key, inner in _members(item)]))
        else:
            rows.extend(_leaf(depth, name, item, context))
    if context.full or len(rows) <= limit + 1:
        return rows
    return [*rows[:limit], Row(f"… {counted(len(rows) - limit, 'more line')}", "dim")]


def _members(value: Json) -> list[tuple[str, Json]]:
    if is_object(value):
        return [(f"{one_line(key, INLINE)}:", inner) for key, inner in value.items()]
    return [("-", inner) for inner in value]


def _inline(value: Json) -> str:
    """Return an array or object of short scalars on one line, or an empty text for any other value."""
    items: list[Json] = list(value.values()) if is_object(value) else value
    if len(items) > INLINE or any(is_object(item) or is_array(item) for item in items):
        return ""
    names = [f"{one_line(key, INLINE)}: " for key in value] if is_object(value) else [""] * len(items)
    line = ", ".join(f"{name}{_scalar(item)}" for name, item in zip(names, items, strict=True))
    return line if len(line) <= INLINE and "\n" not in line else ""


def _leaf(depth: int, name: str, value: Json, context: ViewContext) -> list[Row]:
    if is_object(value) or is_array(value):
        return [_row(depth, name, compact(value, INLINE))]
    text = _scalar(value)
    if "\n" in text:
        indent = _indent(depth + bool(name))
        lines = [row._replace(prefix=indent) for row in folded(text.split("\n"), context, head=6, tail=2)]
        return [_row(depth, name, ""), *lines] if name else lines
    return [_row(depth, name, text if context.full else clipped(text, LONGEST_LINE))]


def _row(depth: int, name: str, text: str) -> Row:
    return Row(text, prefix=f"{_indent(depth)}{name} " if name else _indent(depth), prefix_style="cyan dim")


def _indent(depth: int) -> str:
    return " " * min(2 * depth, WIDEST_INDENT)


def _scalar(value: Json) -> str:
    return "\n".join(lines_of(value)) if isinstance(value, str) else compact(value)


def compact(value: Json, limit: int | None = None) -> str:
    """Return a value as JSON on one line."""
    try:
        text = dumps(value).decode()
    except DecodeError:
        return "…"
    return one_line(text, limit)


# Markdown for terminals that may have no colours: meaningful marks, such as `#` and backquotes, are kept.

LONGEST_MARKDOWN = 200_000
DEEPEST_MARKDOWN = 30
"""More deeply nested Markdown is shown as plain text: rendering it could exhaust the stack."""

PARSER = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST_MARKDOWN + 10}).enable(
    ["strikethrough", "table"]
)
"""HTML is treated as text: `<div>` in a response must stay visible."""

MATH = re.compile(r"\$\$[^$]+\$\$|\$[^\s$](?:[^$\n]*[^\s$\\])?\$(?!\d)")


def _math(state: StateInline, silent: bool) -> bool:
    """Keep the source of a formula: its backslashes are not escapes."""
    found = MATH.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("text", "", 0).content = found[0]
    state.pos = found.end()
    return True


PARSER.inline.ruler.before("escape", "math", _math)


def draw_markdown(text: str) -> RenderableType:
    """Render Markdown. Text that is too long or too deeply nested is returned as plain text."""
    clean = safe(text, tabs=4).strip("\n")
    if len(clean) > LONGEST_MARKDOWN:
        return Text(clean)
    drawn = _Markdown(clean)
    return Text(clean) if drawn.too_deep else drawn


class _Heading(Heading):
    """A left-aligned heading with its `#` marks."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = Text(f"{'#' * int(self.tag[1:])} ", "bold").append_text(self.text)
        text.stylize("bold")
        yield text


class _Code(CodeBlock):
    """A block of code with its fences."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Text(f"```{'' if self.lexer_name == 'text' else self.lexer_name}", "dim")
        yield Syntax(code, self.lexer_name, theme="ansi_dark", background_color="default", word_wrap=True)
        yield Text("```", "dim")


class _Table(TableElement):
    """A table with ASCII lines."""

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
    """Return inline tokens that are readable without colours: code in backquotes, images with their URLs."""
    result: list[Token] = []
    skipped = 0
    for index, token in enumerate(tokens):
        match token.type:
            case "code_inline":
                token.content = f"`{token.content}`"
            case "image":
                name = f"{token.content} " if token.content else ""
                result.append(Token("text", "", 0, content=f"[image {name}{token.attrs.get('src', '')}]"))
                continue
            case "link_open" if _is_bare_url(tokens, index):
                skipped += 1
                continue
            case "link_close" if skipped:
                skipped -= 1
                continue
            case _:
                pass
        result.append(token)
    return result


def _is_bare_url(tokens: Sequence[Token], index: int) -> bool:
    """Whether the text of a link is its URL."""
    text = tokens[index + 1] if index + 1 < len(tokens) else None
    return text is not None and text.type == "text" and text.content == tokens[index].attrs.get("href")


# Images, files and other parts, which are described in one line.

OneLinePart: TypeAlias = (
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


def describe(part: OneLinePart, context: ViewContext) -> Row:
    """Return a line with the kind, name, media type and size of a part."""
    match part:
        case ImagePart(url=url, media_type=kind, name=name):
            return _file("image", name, kind, url, context)
        case FilePart(url=url, media_type=kind, filename=name):
            return _file("file", name, kind, url, context)
        case ReasoningFilePart(url=url, media_type=kind, filename=name):
            return _file("reasoning file", name, kind, url, context)
        case SourceUrlPart(url=url, title=title):
            return Row("  ".join(one_line(text) for text in (title, url) if text), "blue", "↗ ")
        case SourceDocumentPart(title=title, filename=name, media_type=kind):
            return Row(" · ".join(one_line(text) for text in (title, name, kind) if text), "blue", "↗ ")
        case DataPart(name=name, data=data):
            return _data(name, data, "◆ ", context)
        case CustomPart(kind=kind):
            return Row(one_line(kind), "dim", "◇ ")
        case ForeignPart(format=format_, value=value):
            return _data(format_, value, "? ", context)
        case UnknownPart():
            return _data(part.type, to_json(part), "? ", context)
        case _:
            assert_never(part)


def _data(name: str, value: Json, mark: str, context: ViewContext) -> Row:
    text = "" if value is UNSET else compact(value, None if context.full else LONGEST_DATA)
    return Row(f"{one_line(name, 80)}  {text}".rstrip(), "dim", mark, cut=not context.full)


def _file(what: str, name: str | None, kind: str | None, url: str, context: ViewContext) -> Row:
    size = url_size(url, context)
    shown_url = None if url.startswith(("data:", "blob:")) else url
    details = [name, kind, None if size is None else size_of(size), shown_url]
    return Row(" · ".join(one_line(text) for text in details if text), "cyan", f"▣ {what}  ", "cyan")


def url_size(url: str, context: ViewContext) -> int | None:
    """Return the number of bytes that a `data:` or `blob:` URL refers to; `None` for other URLs."""
    if url.startswith("blob:"):
        return context.blobs.size(url)
    head, comma, data = url.partition(",")
    if not url.startswith("data:") or not comma:
        return None
    return len(data) * 3 // 4 - data[-2:].count("=") if head.endswith(";base64") else len(data)
