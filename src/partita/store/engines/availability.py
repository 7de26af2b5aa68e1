"""Whether the database can be used. An outage is logged when it begins and when it ends, not per call."""

import logging
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Final

from partita.errors import UnavailableError

LOG: Final = logging.getLogger("partita.store")


class Availability:
    """Counts and logs the outages of one kind of work: `with availability:` around each call."""

    def __init__(self, work: str, where: Callable[[], str]) -> None:
        """`work` names it in log lines: `reading`, `writing`."""
        self._work = work
        self._where = where
        self._since: float | None = None
        self.outages = 0
        """How many outages there were."""
        self.failures = 0
        """How many calls failed because of them."""
        self.waiting = 0
        """How many calls have begun and not ended."""

    @property
    def is_down(self) -> bool:
        """Whether the last call failed."""
        return self._since is not None

    def __enter__(self) -> None:
        self.waiting += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.waiting -= 1
        if isinstance(error, UnavailableError):
            self.failures += 1
            self.begin_outage(error)
        elif error is None and self._since is not None:
            seconds, self._since = monotonic() - self._since, None
            LOG.warning("the store is available again for %s, after %.1f s", self._work, seconds)

    def begin_outage(self, error: UnavailableError) -> None:
        """Note that the database cannot be used. A call that succeeds ends the outage."""
        if self._since is not None:
            return
        self._since = monotonic()
        self.outages += 1
        where = error.where or self._where()
        LOG.error("the store is not available for %s: %s (%s)", self._work, error.what, where, exc_info=error)


class EngineHealth:
    """What an engine reports for metrics."""

    def __init__(self, where: Callable[[], str]) -> None:
        self.reading = Availability("reading", where)
        self.writing = Availability("writing", where)
        self.retries = 0
        """How often work was done again because the server was away, or another writer in the way."""
