"""Days, weeks, months and hours of the week in a time zone, as SQL expressions.

SQLite has no time zones. So the changes of the clock are written into the expressions, for both engines.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal, NamedTuple, TypeAlias

from partita.store.schema import NEVER, to_microseconds
from partita.store.sql.transaction import Transaction

Period: TypeAlias = Literal["day", "week", "month", "hour"]

# SQLite's `weekday 1` goes forward to a Monday, and stays on one.
SQLITE: dict[Period, str] = {
    "day": "strftime('%Y-%m-%d', {local}, 'unixepoch')",
    "week": "strftime('%Y-%m-%d', {local}, 'unixepoch', '-6 days', 'weekday 1')",
    "month": "strftime('%Y-%m', {local}, 'unixepoch')",
    "hour": "((strftime('%w', {local}, 'unixepoch') + 6) % 7 + 1) || strftime('-%H', {local}, 'unixepoch')",
}
POSTGRES: dict[Period, str] = {
    "day": "to_char({local}, 'YYYY-MM-DD')",
    "week": "to_char(date_trunc('week', {local}), 'YYYY-MM-DD')",
    "month": "to_char({local}, 'YYYY-MM')",
    "hour": "to_char({local}, 'ID-HH24')",
}

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""Changes of the clock are searched between these times."""

STEP = timedelta(days=7)
"""Clocks never change twice within a week."""


class Change(NamedTuple):
    """A time from which on the clock is this many seconds ahead of UTC."""

    at: datetime
    seconds: int


def changes(zone: tzinfo, first: datetime, last: datetime) -> list[Change]:
    """The offset of the clock from UTC at the first time, and every change until the last."""
    time, end = max(first, EARLIEST), min(last, LATEST)
    found = [Change(time, _seconds(zone, time))]
    while time < end:
        following = min(time + STEP, end)
        if _seconds(zone, following) != found[-1].seconds:
            found.append(_change(zone, time, following))
        time = following
    return found


def _seconds(zone: tzinfo, time: datetime) -> int:
    offset = time.astimezone(zone).utcoffset()
    return 0 if offset is None else round(offset.total_seconds())


def _change(zone: tzinfo, before: datetime, after: datetime) -> Change:
    """The second at which the clock changed between two times."""
    low, high = int(before.timestamp()), int(after.timestamp())
    old = _seconds(zone, before)
    while high - low > 1:
        middle = (low + high) // 2
        if _seconds(zone, datetime.fromtimestamp(middle, UTC)) == old:
            low = middle
        else:
            high = middle
    time = datetime.fromtimestamp(high, UTC)
    return Change(time, _seconds(zone, time))


def period_of(tx: Transaction, period: Period, column: str, clock: Sequence[Change]) -> str:
    """The expression for the period of a time: `2026-03-04`, the date of its Monday, `2026-03`, or `3-14`.

    It is NULL if the time is unknown.
    """
    offset = _offset(tx, column, clock)
    if tx.is_sqlite:
        fraction = f"(({column} % 1000000 + 1000000) % 1000000)"  # of a second, also before 1970
        text = SQLITE[period].format(local=f"({column} - {fraction}) / 1000000 + ({offset})")
    else:
        local = f"({column} AT TIME ZONE 'UTC' + interval '1 second' * ({offset}))"
        text = POSTGRES[period].format(local=local)
    return f"CASE WHEN {column} <> {_literal(tx, NEVER)} THEN {text} END"


def _offset(tx: Transaction, column: str, clock: Sequence[Change]) -> str:
    """The expression for the seconds that the clock is ahead of UTC at a time."""
    first, *later = clock
    if not later:
        return str(first.seconds)
    cases = [
        f"WHEN {column} >= {_literal(tx, change.at)} THEN {change.seconds}" for change in reversed(later)
    ]
    return f"CASE {' '.join(cases)} ELSE {first.seconds} END"


def _literal(tx: Transaction, time: datetime) -> str:
    return str(to_microseconds(time)) if tx.is_sqlite else f"TIMESTAMPTZ '{time.isoformat()}'"
