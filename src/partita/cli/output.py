"""Printing: results go to stdout, everything else to stderr.

Control characters are never sent to a terminal. Every command imports this module, so it imports nothing slow
at the top.
"""

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from .view.text import escaped, json_escaped, safe

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from partita.formats.losses import Loss
    from partita.types.json import Json

INDENT = 4
"""How many columns the rest of a wrapped line is indented."""

BAR_DELAY = 1.0
"""After how many seconds a progress bar appears."""

REASONS_SHOWN = 4
"""How many reasons the summary of losses lists."""


def echo(
    text: str = "", *, mark: str = "", colour: str | None = None, indent: int = INDENT, err: bool = False
) -> None:
    """Print lines, the first after a mark. On a terminal they are wrapped; a pipe gets them unchanged."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        text = _wrap_lines(escaped(text), mark, indent)
    click.echo(f"{click.style(mark, fg=colour) if colour else mark}{text}", err=err)


def _wrap_lines(text: str, mark: str, indent: int) -> str:
    """Wrap lines between words at the width of the terminal. A longer word, such as a path, stays whole."""
    import shutil

    width = shutil.get_terminal_size().columns
    first, *rest = text.split("\n")
    lines = [_wrap(mark + first, width, indent)[len(mark) :], *(_wrap(line, width, indent) for line in rest)]
    return "\n".join(lines)


def _wrap(line: str, width: int, indent: int) -> str:
    if len(line) <= width:
        return line
    import textwrap

    column = len(line) - len(line.lstrip()) + indent
    pieces = textwrap.wrap(
        line,
        width,
        subsequent_indent=" " * (column if column <= width // 2 else INDENT),
        break_long_words=False,
        break_on_hyphens=False,
        expand_tabs=False,
        replace_whitespace=False,
    )
    return "\n".join(pieces)


def print_notice(text: str) -> None:
    """Print a message for the user on stderr."""
    echo(f"partita: {text}", err=True)


def print_json(value: "Json") -> None:
    """Print a JSON document: indented on a terminal, compact in a pipe."""
    from partita.types.json import dumps, indented

    print_json_bytes(indented(value) if sys.stdout.buffer.isatty() else dumps(value))


def print_json_line(value: "Json") -> None:
    """Print a JSON value on one line."""
    from partita.types.json import dumps

    print_json_bytes(dumps(value))


def print_json_bytes(data: bytes) -> None:
    """Print encoded JSON and a line break. On a terminal control characters are escaped."""
    stdout = sys.stdout.buffer
    stdout.write((json_escaped(data) if stdout.isatty() else data) + b"\n")


def print_text(text: str) -> None:
    """Print a text unchanged; on a terminal control characters are escaped."""
    stdout = sys.stdout.buffer
    shown = safe(text) if stdout.isatty() else text
    stdout.write(shown.encode("utf-8", "surrogatepass") + (b"" if shown.endswith("\n") else b"\n"))


def print_losses(losses: "Sequence[Loss]", *, every: bool, source: str = "") -> None:
    """Print a summary of the losses of a conversion on stderr; with `every`, each loss on a line.

    `source` names what was converted, if a command converts several things.
    """
    start = f"{source}: " if source else ""
    if every:
        for loss in losses:
            print_notice(f"{start}{loss.severity} {loss}")
        if not losses:
            print_notice(f"{start}nothing was lost")
    elif losses:
        print_notice(f"{start}{summarize_losses(losses)}; --losses lists all")


def summarize_losses(losses: "Sequence[Loss]") -> str:
    """Return the number of losses by severity, the worst first, and the most frequent reasons."""
    from collections import Counter
    from typing import get_args

    from partita.formats.losses import Severity
    from partita.views.text import counted

    severities = Counter(loss.severity for loss in losses)
    by_severity = [f"{severities[one]:,} {one}" for one in get_args(Severity) if severities[one]]
    detail = "" if severities.keys() == {"lost"} else f" ({', '.join(by_severity)})"
    reasons = Counter(loss.why for loss in losses).most_common()
    listed = [f"{count:,} × {why}" if len(reasons) > 1 else why for why, count in reasons[:REASONS_SHOWN]]
    hidden = sum(count for _, count in reasons[REASONS_SHOWN:])
    more = [f"{hidden:,} for other reasons"] if hidden else []
    return f"{counted(len(losses), 'loss', 'losses')}{detail}: {', '.join([*listed, *more])}"


class Bar:
    """A progress bar on stderr: only on a terminal, after `BAR_DELAY` seconds, and removed at the end."""

    def __init__(self, label: str, fields: Sequence[str] = ()) -> None:
        self._label = label
        self._fields = fields
        self._began = time.monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown[0].stop()

    def __call__(self, done: int, total: int) -> None:
        """Show how much is done. A total of 0 means that the total is not known."""
        self.update(done, total)

    @property
    def seconds(self) -> float:
        """The time since the bar was created."""
        return time.monotonic() - self._began

    def update(self, done: int, total: int, **fields: str) -> None:
        """Show how much is done, followed by the texts of the fields."""
        if self._shown is None and sys.stderr.isatty() and self.seconds > BAR_DELAY:
            self._shown = self._show()
        if self._shown is not None:
            progress, task = self._shown
            progress.update(task, completed=done, total=total or None)
            progress.tasks[0].fields.update(fields)

    def _show(self) -> "tuple[Progress, TaskID]":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        last = [TextColumn(f"{{task.fields[{name}]}}") for name in self._fields] or [TimeRemainingColumn()]
        progress = Progress(
            TextColumn(self._label),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            *last,
            console=Console(stderr=True),
            transient=True,
        )
        task = progress.add_task(self._label, total=None)
        progress.tasks[0].fields.update(dict.fromkeys(self._fields, ""))
        progress.start()
        return progress, task
