"""Time expressions of options."""

from datetime import UTC, datetime, timedelta, timezone

from partita.types.times import parse_time_expression
from tests.tables import each_row

NOW = datetime(2026, 3, 2, 12, 30, tzinfo=timezone(timedelta(hours=2)))
MOMENTS = {
    "2026-03-01": "2026-02-28T22:00:00",
    "2026-03-01T14:00": "2026-03-01T12:00:00",
    "2026-03-01 14:00:05": "2026-03-01T12:00:05",
    "2026-03-01T14:00Z": "2026-03-01T14:00:00",
    "2026-03-01T14:00+05:00": "2026-03-01T09:00:00",
    "today": "2026-03-01T22:00:00",
    "Yesterday": "2026-02-28T22:00:00",
    "90m": "2026-03-02T09:00:00",
    "5 min ago": "2026-03-02T10:25:00",
    "3h": "2026-03-02T07:30:00",
    "2 d": "2026-02-28T10:30:00",
    "1w": "2026-02-23T10:30:00",
    "2026-02": "2026-01-31T22:00:00",
    "2 days ago": "2026-02-28T10:30:00",
    "1 hour ago": "2026-03-02T09:30:00",
    "3 Weeks": "2026-02-09T10:30:00",
    "last week": "2026-02-23T10:30:00",
    "Last month": "2026-01-31T10:30:00",
    "2 years ago": "2024-03-02T10:30:00",
}


@each_row(("text", "utc"), MOMENTS.items())
def test_time_expression_is_parsed(text: str, utc: str) -> None:
    assert parse_time_expression(text, NOW) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


@each_row(
    "text",
    [
        "",
        "soon",
        "3",
        "3y",
        "-3h",
        "2026-13-01",
        "999999w",
        "ago",
        "last",
        "last lamp",
        "last 2 days ago ago",
        "2026-00",
        "0001-01-01T00:00+14:00",
    ],
)
def test_invalid_time_expression_is_none(text: str) -> None:
    assert parse_time_expression(text, NOW) is None
