"""A bar for what takes more than a moment: on a terminal only, and gone when it is done."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # rich is loaded when something is drawn
    from rich.progress import Progress, TaskID

PATIENCE = 1.0
"""How many seconds something may take without a bar."""


class Bar:
    """Called with how much is done and how much there is; shows it once it is worth it."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._began = time.monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> "Bar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown[0].stop()

    def __call__(self, done: int, total: int) -> None:
        """Show how far this is."""
        if self._shown is None and sys.stderr.isatty() and time.monotonic() - self._began > PATIENCE:
            self._shown = self._show()
        if self._shown is not None:
            progress, task = self._shown
            progress.update(task, completed=done, total=total or None)  # none: nobody knows how much

    def _show(self) -> "tuple[Progress, TaskID]":
        from rich.console import Console
        from rich.progress import Progress

        progress = Progress(console=Console(stderr=True), transient=True)
        task = progress.add_task(self._label, total=None)
        progress.start()
        return progress, task
