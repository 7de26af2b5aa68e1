"""How long each test module takes: measured whenever tests run, and used by `tests.affected` to choose."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

DURATIONS = Path(__file__).parents[1] / ".pytest_cache" / "durations.json"
UNKNOWN = 1.0
"""Seconds that a module counts for which was never measured."""


class Durations:
    """A plugin of the process that reports; its workers report to it."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what one test took."""
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write what was measured over what was known."""
        known: dict[str, float] = json.loads(DURATIONS.read_text()) if DURATIONS.is_file() else {}
        measured = {name: round(seconds, 2) for name, seconds in self._seconds.items()}
        if DURATIONS.parent.is_dir():
            DURATIONS.write_text(json.dumps({**known, **measured}))
