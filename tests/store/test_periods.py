"""Days, weeks and months in a time zone: the database computes the same as the calendar of Python."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from itertools import count, pairwise
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from partita.store.sql.transaction import Transaction
from partita.store.stats.periods import Period, changes, period_of
from partita.store.stats.stats import PERIODS
from partita.store.store import Store
from tests.store.emptying import in_empty_store
from tests.store.ledger import record_of
from tests.tables import each_row

BERLIN = ZoneInfo("Europe/Berlin")
ZONES: list[tzinfo] = [
    UTC,
    BERLIN,
    ZoneInfo("America/New_York"),
    ZoneInfo("Asia/Kathmandu"),  # offset of a quarter of an hour
    ZoneInfo("Australia/Lord_Howe"),  # daylight saving of half an hour
    ZoneInfo("Africa/Casablanca"),  # four changes a year
    timezone(timedelta(hours=-11, minutes=-30)),
]


def named(moment: datetime, period: Period, zone: tzinfo) -> str:
    """The name of a period by Python."""
    local = moment.astimezone(zone)
    day: date = local.date()
    match period:
        case "day":
            return day.isoformat()
        case "week":
            return (day - timedelta(days=day.weekday())).isoformat()
        case "month":
            return f"{day:%Y-%m}"
        case "hour":
            return f"{local:%u-%H}"


async def names_in_database(store: Store, moments: list[datetime], period: Period, zone: tzinfo) -> list[str]:
    """The names of the periods of times by the database."""
    await store.threads.create("t")
    await store.usage.record(
        [record_of("t", f"{number:09}", time=moment) for number, moment in enumerate(moments)]
    )

    def work(tx: Transaction) -> list[str]:
        name = period_of(tx, period, "time", changes(zone, min(moments), max(moments)))
        rows = tx.sql(f"SELECT {name} AS name FROM consumptions WHERE owner = ? ORDER BY key", (store.owner,))
        return [row.name for row in rows]

    return await store.read(work)


MOMENTS: dict[str, tuple[str, Period, tzinfo, str]] = {
    "the last microsecond of a day": ("2026-03-01T23:59:59.999999Z", "day", UTC, "2026-03-01"),
    "the last hour of a Sunday": ("2026-03-01T23:59:59Z", "hour", UTC, "7-23"),
    "the first of the Monday in the east": ("2026-03-01T23:00:00Z", "hour", BERLIN, "1-00"),
    "the first of the next day": ("2026-03-02T00:00:00Z", "day", UTC, "2026-03-02"),
    "the next day in the east": ("2026-03-01T23:00:00Z", "day", BERLIN, "2026-03-02"),
    "an hour earlier in summer": ("2026-07-01T22:00:00Z", "day", BERLIN, "2026-07-02"),
    "before the clock change": ("2026-03-28T23:30:00Z", "day", BERLIN, "2026-03-29"),
    "after": ("2026-03-29T22:30:00Z", "day", BERLIN, "2026-03-30"),
    "the day before in the west": (
        "2026-03-01T02:00:00Z",
        "day",
        timezone(timedelta(hours=-3)),
        "2026-02-28",
    ),
    "a Sunday is in the week of the Monday before": ("2026-03-01T12:00:00Z", "week", UTC, "2026-02-23"),
    "a Monday starts its week": ("2026-03-02T00:00:00Z", "week", UTC, "2026-03-02"),
    "a week over the new year": ("2026-01-01T00:00:00Z", "week", UTC, "2025-12-29"),
    "a month": ("2026-02-28T23:59:59Z", "month", UTC, "2026-02"),
    "the next period in the east": ("2026-02-28T23:59:59Z", "month", BERLIN, "2026-03"),
    "half a second before 1970": ("1969-12-31T23:59:59.5Z", "day", UTC, "1969-12-31"),
}


@each_row(("moment", "period", "zone", "expected"), MOMENTS.values(), ids=MOMENTS)
@in_empty_store
async def test_the_name_of_a_period(
    store: Store, moment: str, period: Period, zone: tzinfo, expected: str
) -> None:
    # Other times, so that the clock changes in between.
    moments = [datetime.fromisoformat(text) for text in (moment, "1969-01-01T00:00Z", "2026-12-31T00:00Z")]
    assert (await names_in_database(store.scoped("ada"), moments, period, zone))[0] == expected


_owners = count(1)
SECONDS = 2**31
"""From 1970 to 2038. The first second of 1970 is an unknown time."""


@settings(max_examples=25)
@given(
    moments=st.lists(
        st.floats(1, SECONDS).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
        min_size=1,
        max_size=20,
    ),
    period=st.sampled_from(PERIODS),
    zone=st.sampled_from(ZONES),
)
async def test_the_database_agrees_with_python(
    store: Store, moments: list[datetime], period: Period, zone: tzinfo
) -> None:
    mine = store.scoped(f"owner-{next(_owners)}")
    expected = [named(moment, period, zone) for moment in moments]
    assert await names_in_database(mine, moments, period, zone) == expected


@each_row("zone", ZONES, ids=str)
def test_every_change_of_the_clock_is_found_to_the_second(zone: tzinfo) -> None:
    first, last = datetime(2023, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    hours = [first + timedelta(hours=number) for number in range(int((last - first) / timedelta(hours=1)))]
    offsets = [moment.astimezone(zone).utcoffset() for moment in hours]
    expected = sum(before != after for before, after in pairwise(offsets))
    found = changes(zone, first, last)
    assert len(found) == 1 + expected
    for change in found[1:]:
        before = (change.at - timedelta(seconds=1)).astimezone(zone).utcoffset()
        assert before != timedelta(seconds=change.seconds) == change.at.astimezone(zone).utcoffset()
