"""What happened to the runs of a process, counted for metrics."""

from collections import Counter

from partita.runtime.failures import FailureKind


class RunCounts:
    """Failures by kind, and runs that were recovered."""

    def __init__(self) -> None:
        self.failures: Counter[FailureKind] = Counter()
        self.recovered = 0
        """Runs of other processes that ended without releasing them."""

    def add(self, kind: FailureKind) -> None:
        """Count a failure."""
        self.failures[kind] += 1
