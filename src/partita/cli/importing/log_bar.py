"""The bar of an import of logs: files, megabytes a second, messages."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from partita.cli.progress import PATIENCE

if TYPE_CHECKING:  # rich is loaded when something is drawn
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from partita.logs.importing.report import Progress


class LogBar:
    """Called with how far an import is; shown on a terminal, once it is worth it, and gone at the end."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown: tuple[RichProgress, TaskID] | None = None

    def __enter__(self) -> "LogBar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown[0].stop()

    def __call__(self, done: "Progress") -> None:
        """Show how far this is."""
        seconds = time.monotonic() - self._began
        if self._shown is None and sys.stderr.isatty() and seconds > PATIENCE:
            self._shown = self._show()
        if self._shown is not None:
            bar, task = self._shown
            bar.update(
                task,
                completed=done.bytes,
                total=max(done.all_bytes, done.bytes),
                files=f"{done.files:,}/{done.all_files:,} files",
                speed=f"{done.bytes / max(seconds, 0.001) / 1e6:.1f} MB/s",
                messages=f"{done.messages:,} messages",
            )

    def _show(self) -> "tuple[RichProgress, TaskID]":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        bar = Progress(
            TextColumn("reading"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[files]}"),
            TextColumn("{task.fields[speed]}"),
            TextColumn("{task.fields[messages]}"),
            console=Console(stderr=True),
            transient=True,
        )
        task = bar.add_task("reading", total=None, files="", speed="", messages="")
        bar.start()
        return bar, task
