"""What routes take, and how it is read: whatever a client writes in a query, the worst it gets is a 400."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

from partita.server.endpoints import Query
from partita.server.problems import Problem
from partita.types.json import JsonObject, is_object, kind_of, loads
from partita.types.times import in_utc

T = TypeVar("T", bound=str)

MOST: Final = 500
"""How many items a page holds at most."""

SEVERAL: Final = "Several are given with commas, or one by one."

Limit: TypeAlias = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]
Cursor: TypeAlias = Annotated[
    str | None, Query(description="Where to go on: `next` of the page before, unchanged.")
]
Direction: TypeAlias = Literal["asc", "desc"]
Since: TypeAlias = Annotated[
    str | None,
    Query(
        description="Not before this moment: `2026-03-01` or `2026-03-01T14:00+01:00`; without a zone, UTC.",
        format="date-time",
    ),
]
Until: TypeAlias = Annotated[str | None, Query(description="Before this moment.", format="date-time")]
Agent: TypeAlias = Annotated[str | None, Query(description="Of this agent.")]
Project: TypeAlias = Annotated[str | None, Query(description="Of this project.")]
Text: TypeAlias = Annotated[str | None, Query(description="Words in the title or in messages.")]
HasErrors: TypeAlias = Annotated[
    bool | None, Query(name="hasErrors", description="With, or without, a call that failed.")
]
Model: TypeAlias = Annotated[str | None, Query(description="In which this model answered.")]
Tool: TypeAlias = Annotated[str | None, Query(description="With a call of this tool.")]
Pinned: TypeAlias = Annotated[
    bool | None, Query(description="Pinned, or not: `pinned` of the metadata is `true`.")
]
Ids: TypeAlias = Annotated[list[str] | None, Query(description=f"Of these ids. {SEVERAL}")]


def moment_of(text: str | None, name: str) -> datetime | None:
    """The moment that a parameter means. Without a zone it is one in UTC."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Problem(
            400,
            f"{text[:80]!r} is no time",
            where=f"query {name}",
            hint="write 2026-03-01 or 2026-03-01T14:00:00Z, and a + as %2B",
        ) from None
    return in_utc(moment if moment.tzinfo else moment.replace(tzinfo=UTC), f"query {name}")


def each_of(values: Sequence[str] | None) -> tuple[str, ...]:
    """The values of a parameter that may be given several times, or once with commas."""
    return tuple(value for given in values or () for value in given.split(",") if value)


def chosen(values: Sequence[str] | None, choices: Sequence[T], name: str) -> tuple[T, ...]:
    """The values of a parameter that names some of a few things."""
    known = {str(choice): choice for choice in choices}
    asked = each_of(values)
    for value in asked:
        if value not in known:
            raise Problem(
                400,
                f"there is no {value[:80]!r}",
                where=f"query {name}",
                hint=f"choose from {', '.join(known)}",
            )
    return tuple(known[value] for value in asked)


def object_of(text: str | None, name: str) -> JsonObject | None:
    """The JSON object that a parameter holds."""
    value = None if text is None else loads(text)
    if text is not None and not is_object(value):
        raise Problem(
            400,
            f"{name} is {kind_of(value)}, not an object",
            where=f"query {name}",
            hint='write JSON such as {"topic":"lights"}',
        )
    return value
