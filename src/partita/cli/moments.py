"""Moments as options: a date, a time, or how long ago."""

from datetime import datetime
from typing import Any

import click

from partita.types.moments import AGO, SECONDS, parse_moment


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


MOMENT = MomentType()

__all__ = ["AGO", "MOMENT", "SECONDS", "MomentType", "parse_moment"]
