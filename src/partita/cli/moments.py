"""Moments as people give them: a date, a time, or how long ago."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import click

AGO = re.compile(r"(?P<count>\d{1,6})\s*(?P<unit>min|[mhdw])(?:\s*ago)?")
SECONDS = {"min": 60, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
DAYS = {"today": 0, "yesterday": 1}


class MomentType(click.ParamType[datetime]):
    """`2026-03-01`, `2026-03-01T14:00`, `today`, `yesterday`, `90m`, `3h`, `2d`, `1w`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The moment in UTC; without a zone the machine's is meant."""
        moment = (
            value if isinstance(value, datetime) else parse_moment(str(value), datetime.now().astimezone())
        )
        if moment is None:
            self.fail(f"{value!r} is no time; say 2026-03-01, 2026-03-01T14:00, today, 3h or 2d", param, ctx)
        return moment


def parse_moment(text: str, now: datetime) -> datetime | None:
    """The moment that a text means, or `None`. `now` says what time it is, and in which zone."""
    words = text.strip().lower()
    if words in DAYS:
        day = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS[words])
        return day.astimezone(UTC)
    match = AGO.fullmatch(words)
    try:
        if match is not None:
            return (now - timedelta(seconds=int(match["count"]) * SECONDS[match["unit"]])).astimezone(UTC)
        moment = datetime.fromisoformat(text.strip())
        return (moment.replace(tzinfo=now.tzinfo) if moment.tzinfo is None else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


MOMENT = MomentType()
