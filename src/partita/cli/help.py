"""Help texts that fit the terminal, and groups of commands with suggestions for mistyped names.

In help texts, a paragraph after a line with `\\b` keeps its lines: examples of commands, each with a
description after two or more blanks. On a narrow terminal, descriptions move below their commands, and long
commands are continued on the next line.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from types import TracebackType
from typing import NamedTuple

import click

EXAMPLES = "Examples:"
"""The first line of a paragraph of commands for the shell."""

VERBATIM = "\b"
QUOTED = re.compile(r"""(['"]).*?\1""")


class HelpFormatter(click.HelpFormatter):
    """Writes help texts."""

    def write_text(self, text: str) -> None:
        """Write paragraphs: wrapped, or with their lines as they are if they fit."""
        width = self.width - self.current_indent
        super().write_text("\n\n".join(_fit(paragraph, width) for paragraph in text.split("\n\n")))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write a list of options or commands. A long list of choices is broken between them."""
        super().write_dl([(self._term(first), second) for first, second in rows], col_max, col_spacing)

    def _term(self, text: str) -> str:
        margin = " " * (self.current_indent + 4)
        lines = _wrapped(text.replace("|", "| "), self.width - self.current_indent, "", margin)
        return text if len(lines) < 2 else "\n".join(line.replace("| ", "|") for line in lines)


def _fit(paragraph: str, width: int) -> str:
    head, *lines = paragraph.split("\n")
    if head.strip() != VERBATIM:
        return paragraph
    # Two paragraphs may follow each other without an empty line.
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip() == VERBATIM:
            blocks.append([])
        else:
            blocks[-1].append(line)
    return "\n\n".join("\n".join([VERBATIM, *fit_lines(block, width)]) for block in blocks)


class Example(NamedTuple):
    """A line of a paragraph: its indentation, a command, and a description."""

    indent: int
    command: str
    description: str

    def end(self, column: int) -> int:
        """Return the width of the line if descriptions begin at a column."""
        return column + len(self.description) if self.description else self.indent + len(self.command)


def fit_lines(lines: Sequence[str], width: int) -> list[str]:
    """Return lines of examples that are not wider than `width`, except for words that are."""
    if all(len(line) <= width for line in lines):
        return list(lines)
    are_commands = any(line.strip() == EXAMPLES for line in lines)
    examples = [_example(line) for line in lines]
    ends = (one.indent + len(one.command) for one in examples if one.description)
    column = max(ends, default=0) + 2
    are_aligned = all(one.end(column) <= width for one in examples)
    fitted: list[str] = []
    for one in examples:
        if are_aligned and one.description:
            fitted.append(f"{' ' * one.indent}{one.command}".ljust(column) + one.description)
            continue
        fitted += _broken(one, width, is_command=are_commands and one.indent > 0)
        if one.description:
            margin = " " * (one.indent + 4)
            fitted += _wrapped(one.description, width, margin, margin)
    return fitted


def _example(line: str) -> Example:
    text = line.lstrip()
    command, *description = re.split(r" {2,}", text, maxsplit=1)
    return Example(len(line) - len(text), command, description[0] if description else "")


def _broken(one: Example, width: int, *, is_command: bool) -> Iterator[str]:
    """Yield a command on as many lines as it needs, which a shell reads as one."""
    margin = " " * one.indent
    if one.indent + len(one.command) <= width:
        yield margin + one.command
        return
    end = " \\" if is_command else ""
    lines = _wrapped(one.command, width - len(end), margin, f"{margin}  ")
    yield from (f"{line}{end}" for line in lines[:-1])
    yield lines[-1]


def _wrapped(text: str, width: int, first: str, following: str) -> list[str]:
    """Return lines that are broken between words, but not in quotes."""
    lines = textwrap.wrap(
        QUOTED.sub(lambda found: found[0].replace(" ", "\0"), text),
        width,
        initial_indent=first,
        subsequent_indent=following,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in lines]


class Context(click.Context):
    """The context of a command: its help fits the terminal, and its usage errors name it."""

    formatter_class = HelpFormatter

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        tb: TracebackType | None,
    ) -> bool | None:
        if isinstance(exc_value, click.UsageError) and exc_value.ctx is None:
            exc_value.ctx = self
        return super().__exit__(exc_type, exc_value, tb)


class Group(click.Group):
    """A group of commands that suggests one for a mistyped name."""

    context_class = Context

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            command.context_class = Context
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments. A group that does nothing by itself needs a command."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            raise click.UsageError(f"name a command: {', '.join(self.list_commands(ctx))}", ctx)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names, or raise an error with a suggestion."""
        name = args[0]
        if name.startswith("-") or ctx.resilient_parsing or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        near = get_close_matches(name, self.list_commands(ctx), n=1)
        raise click.UsageError(
            f"there is no command {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""), ctx
        )
