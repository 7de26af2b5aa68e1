"""Steps as events."""

from .telling import Telling


class Steps:
    """The steps of one agent, one at a time. Those without a name get a number."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._count = 0
        self._open: str | None = None
        self.next_name: str | None = None
        """What the next step is called."""

    def start(self) -> None:
        """A step begins."""
        self._count += 1
        self._open = self.next_name or f"step-{self._count}"
        self.next_name = None
        self._telling.emit("STEP_STARTED", stepName=self._open)

    def end(self) -> None:
        """The step at hand has ended, if there is one."""
        if self._open is not None:
            self._telling.emit("STEP_FINISHED", stepName=self._open)
            self._open = None
