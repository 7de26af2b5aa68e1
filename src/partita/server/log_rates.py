"""Log lines that any caller can cause: a few a minute at most, so that they cannot fill a disk."""

from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from partita.runtime.log_context import ContextLogger

PER_MINUTE: Final = 10


class RateLimitedLog:
    """Writes at most so many lines a minute, and says how many it left out."""

    def __init__(
        self,
        log: ContextLogger,
        dropped: Callable[[], None],
        *,
        per_minute: int = PER_MINUTE,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`dropped` is called for every line that is left out."""
        self._log = log
        self._dropped = dropped
        self._per_minute = per_minute
        self._clock = clock
        self._since = clock()
        self._written = self._left_out = 0

    def warning(self, message: str, *values: Any) -> None:
        """Write a line, unless there were too many in this minute."""
        now = self._clock()
        if now - self._since >= 60:
            left_out, self._since, self._written, self._left_out = self._left_out, now, 0, 0
            if left_out:
                self._log.warning("%d more lines like the next one were left out", left_out)
        if self._written == self._per_minute:
            self._left_out += 1
            self._dropped()
            return
        self._written += 1
        self._log.warning(message, *values)
