"""Formatting of times and durations."""

from datetime import UTC, datetime, timedelta

from partita.cli.view.text import ago, clock, format_duration, iso
from tests.tables import each_row

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
AGO = {
    "just now": 59,
    "1 min ago": 60,
    "59 min ago": 3599,
    "1 h ago": 3600,
    "23 h ago": 86_399,
    "1 d ago": 86_400,
    "13 d ago": 13 * 86_400,
    "2026-02-16": 14 * 86_400,
    "2026-03-03": -86_400,  # another machine's clock
}


@each_row(("text", "seconds"), AGO.items())
def test_relative_time(text: str, seconds: int) -> None:
    assert ago(NOW - timedelta(seconds=seconds), NOW, UTC) == text


DURATIONS = {
    0.04: "0.0 s",
    9.94: "9.9 s",
    12.3: "12 s",
    59.7: "1 min",
    200: "3 min 20 s",
    7500: "2 h 5 min",
    273_600: "3 d 4 h",
}


@each_row(("seconds", "text"), DURATIONS.items())
def test_duration(seconds: float, text: str) -> None:
    assert format_duration(timedelta(seconds=seconds)) == text


def test_negative_duration_is_zero() -> None:
    assert format_duration(timedelta(seconds=-5)) == "0.0 s"


def test_date_is_shown_when_it_changes() -> None:
    assert clock(NOW, None, UTC) == "2026-03-02 12:00:00"
    assert clock(NOW, NOW - timedelta(hours=1), UTC) == "12:00:00"
    assert clock(NOW, NOW - timedelta(hours=13), UTC) == "2026-03-02 12:00:00"


def test_exact_times_are_in_utc() -> None:
    assert iso(datetime.fromisoformat("2026-03-02T14:00:01.5+02:00")) == "2026-03-02T12:00:01Z"
