"""Moments as people write them: a date, a time, or how long ago."""

import re
from datetime import UTC, datetime, timedelta

AGO = re.compile(r"(?P<count>\d{1,6})\s*(?P<unit>min|[mhdw])(?:\s*ago)?")
SECONDS = {"min": 60, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
DAYS = {"today": 0, "yesterday": 1}


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
