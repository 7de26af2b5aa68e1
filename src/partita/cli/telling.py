"""Lines for a person: on a terminal they fit it, and nothing in them is obeyed."""

import sys

import click

from .view.text import escaped

HANG = 4
"""How far the rest of a broken line stands in, from where the line began."""


def tell(
    text: str = "", *, mark: str = "", colour: str | None = None, hang: int = HANG, err: bool = False
) -> None:
    """Write lines, the first behind a mark. A pipe gets them as they are."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        text = _fitting(escaped(text), mark, hang)
    click.echo(f"{click.style(mark, fg=colour) if colour else mark}{text}", err=err)


def _fitting(text: str, mark: str, hang: int) -> str:
    """Lines broken between words where the terminal ends. A longer word, such as a path, stays whole."""
    import shutil

    width = shutil.get_terminal_size().columns
    first, *rest = text.split("\n")
    lines = [_broken(mark + first, width, hang)[len(mark) :], *(_broken(line, width, hang) for line in rest)]
    return "\n".join(lines)


def _broken(line: str, width: int, hang: int) -> str:
    if len(line) <= width:
        return line
    import textwrap

    indent = len(line) - len(line.lstrip()) + hang
    pieces = textwrap.wrap(
        line,
        width,
        subsequent_indent=" " * (indent if indent <= width // 2 else HANG),
        break_long_words=False,
        break_on_hyphens=False,
        expand_tabs=False,
        replace_whitespace=False,
    )
    return "\n".join(pieces)
