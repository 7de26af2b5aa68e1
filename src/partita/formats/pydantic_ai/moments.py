"""Moments as Pydantic AI writes them: the shortest ISO text, in UTC."""

from datetime import datetime

from partita.formats.rows import read_moment
from partita.types.json import Json


def written_moment(moment: datetime) -> str:
    """A moment as text."""
    return moment.isoformat().replace("+00:00", "Z")


def moment_in(value: Json) -> datetime | None:
    """The moment that a text names, if that is how it is written."""
    moment = read_moment(value) if isinstance(value, str) else None
    return moment if moment is not None and written_moment(moment) == value else None
