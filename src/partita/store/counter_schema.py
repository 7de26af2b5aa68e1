"""The seventh schema: counters that all processes share, for rate limits and budgets."""

from collections.abc import Iterator

REVISION = "0007"


def statements(*, lite: bool) -> Iterator[str]:
    """The statements that make the table."""
    number, instant = ("REAL", "INTEGER") if lite else ("DOUBLE PRECISION", "TIMESTAMPTZ")
    yield (
        f"CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, value {number} NOT NULL,"
        f" expires_at {instant} NOT NULL)"
    )
