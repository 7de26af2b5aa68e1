"""Time zones as people give them: by name, or that of the machine."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import click


class MachineZone(tzinfo):
    """The zone of the machine, summer time included."""

    def fromutc(self, dt: datetime) -> datetime:
        """The machine's time of a moment."""
        return dt.replace(tzinfo=UTC).astimezone()

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        """How far the machine's clock is from UTC."""
        return None if dt is None else dt.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, dt: datetime | None) -> timedelta | None:
        """The machine does not say."""
        return None

    def tzname(self, dt: datetime | None) -> str | None:
        """What the machine calls it."""
        return None if dt is None else dt.replace(tzinfo=None).astimezone().tzname()


class ZoneType(click.ParamType[tzinfo]):
    """`Europe/Berlin`, `UTC`."""

    name = "zone"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tzinfo:
        """The zone of that name."""
        if isinstance(value, tzinfo):
            return value
        try:
            return ZoneInfo(str(value))
        except (LookupError, ValueError, OSError):
            self.fail(f"{value!r} is no time zone; say Europe/Berlin, or UTC", param, ctx)


ZONE = ZoneType()
