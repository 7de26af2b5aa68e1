"""Durations of test modules, measured in every run and used by `tests.affected`."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

DURATIONS = Path(__file__).parents[1] / ".pytest_cache" / "durations.json"
UNKNOWN = 1.0
"""Assumed seconds of an unmeasured module."""


class Durations:
    """A plugin of the reporting process, to which its workers report."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the duration of one test."""
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the measured durations over the known ones."""
        known: dict[str, float] = json.loads(DURATIONS.read_text()) if DURATIONS.is_file() else {}
        measured = {name: round(seconds, 2) for name, seconds in self._seconds.items()}
        if DURATIONS.parent.is_dir():
            DURATIONS.write_text(json.dumps({**known, **measured}))
