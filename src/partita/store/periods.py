"""Days, weeks and months in somebody's time zone, as expressions of a statement.

SQLite knows no zones, so both engines are told when the clocks were changed, and answer the same.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal, NamedTuple, TypeAlias

from .microseconds import to_microseconds
from .transaction import Transaction

Period: TypeAlias = Literal["day", "week", "month"]

# SQLite's `weekday 1` goes forward to a Monday, and stays on one.
LITE: dict[Period, str] = {
    "day": "strftime('%Y-%m-%d', {local}, 'unixepoch')",
    "week": "strftime('%Y-%m-%d', {local}, 'unixepoch', '-6 days', 'weekday 1')",
    "month": "strftime('%Y-%m', {local}, 'unixepoch')",
}
POSTGRES: dict[Period, str] = {
    "day": "to_char({local}, 'YYYY-MM-DD')",
    "week": "to_char(date_trunc('week', {local}), 'YYYY-MM-DD')",
    "month": "to_char({local}, 'YYYY-MM')",
}

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""Between these, changes of the clock are looked for."""

STEP = timedelta(days=7)
"""Clocks are never changed twice within a week."""


class Change(NamedTuple):
    """A moment from which on the clock shows so many seconds more than UTC."""

    at: datetime
    seconds: int


def changes(zone: tzinfo, first: datetime, last: datetime) -> list[Change]:
    """How far the clock was from UTC at first, and every change until the last moment."""
    moment, end = max(first, EARLIEST), min(last, LATEST)
    found = [Change(moment, _seconds(zone, moment))]
    while moment < end:
        following = min(moment + STEP, end)
        if _seconds(zone, following) != found[-1].seconds:
            found.append(_change(zone, moment, following))
        moment = following
    return found


def _seconds(zone: tzinfo, moment: datetime) -> int:
    offset = moment.astimezone(zone).utcoffset()
    return 0 if offset is None else round(offset.total_seconds())


def _change(zone: tzinfo, before: datetime, after: datetime) -> Change:
    """The second at which the clock was changed between two moments."""
    low, high = int(before.timestamp()), int(after.timestamp())
    old = _seconds(zone, before)
    while high - low > 1:
        middle = (low + high) // 2
        if _seconds(zone, datetime.fromtimestamp(middle, UTC)) == old:
            low = middle
        else:
            high = middle
    moment = datetime.fromtimestamp(high, UTC)
    return Change(moment, _seconds(zone, moment))


def name_of(tx: Transaction, period: Period, column: str, clock: Sequence[Change]) -> str:
    """The expression that names the period of a moment: `2026-03-04`, its Monday, or `2026-03`."""
    offset = _offset(tx, column, clock)
    if not tx.lite:
        local = f"({column} AT TIME ZONE 'UTC' + interval '1 second' * ({offset}))"
        return POSTGRES[period].format(local=local)
    part = f"(({column} % 1000000 + 1000000) % 1000000)"  # of a second, before 1970 too
    return LITE[period].format(local=f"({column} - {part}) / 1000000 + ({offset})")


def _offset(tx: Transaction, column: str, clock: Sequence[Change]) -> str:
    """The seconds that the clock was ahead of UTC at a moment."""
    first, *later = clock
    if not later:
        return str(first.seconds)
    cases = [
        f"WHEN {column} >= {_literal(tx, change.at)} THEN {change.seconds}" for change in reversed(later)
    ]
    return f"CASE {' '.join(cases)} ELSE {first.seconds} END"


def _literal(tx: Transaction, moment: datetime) -> str:
    return str(to_microseconds(moment)) if tx.lite else f"TIMESTAMPTZ '{moment.isoformat()}'"
