"""Parameters that several routes have, and the values in them. A value that is not valid is a 400."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, TypeAlias, TypeVar, get_args

from partita.server.endpoints import Query
from partita.server.problems import Problem
from partita.store.values import Role
from partita.types.json import JsonObject, is_object, kind_of, loads
from partita.types.times import in_utc

T = TypeVar("T", bound=str)

MAX_ITEMS: Final = 500
"""The largest number of items of a page."""

MAX_SEQ: Final = 2**53 - 1
"""The largest number of a message or a log record: the largest integer that JavaScript represents exactly."""

ROLES: Final[tuple[Role, ...]] = get_args(Role)
REPEATABLE: Final = "Repeat the parameter, or separate values by commas."

Limit: TypeAlias = Annotated[int, Query(ge=1, le=MAX_ITEMS, description="The number of items at most.")]
Cursor: TypeAlias = Annotated[
    str | None, Query(description="The position to continue at: `next` of the previous page, unchanged.")
]
Direction: TypeAlias = Literal["asc", "desc"]
Since: TypeAlias = Annotated[
    str | None,
    Query(
        description="Not before this time: `2026-03-01` or `2026-03-01T14:00+01:00`. UTC if it has no zone.",
        format="date-time",
    ),
]
Until: TypeAlias = Annotated[str | None, Query(description="Before this time.", format="date-time")]
Agent: TypeAlias = Annotated[str | None, Query(description="Only of this agent.")]
Project: TypeAlias = Annotated[
    str | None, Query(description="Only of this project: its path, or some of its folders.")
]
Text: TypeAlias = Annotated[
    str | None, Query(description="Only if the title or a message matches this query, as in `/api/search`.")
]
HasErrors: TypeAlias = Annotated[
    bool | None, Query(name="hasErrors", description="Only with a failed call, or only without.")
]
Model: TypeAlias = Annotated[str | None, Query(description="Only with a response of this model.")]
Tool: TypeAlias = Annotated[str | None, Query(description="Only with a call of this tool.")]
Pinned: TypeAlias = Annotated[
    bool | None,
    Query(description="Only pinned threads, or only others: `pinned` in the metadata is `true`."),
]
Active: TypeAlias = Annotated[
    bool | None, Query(description="Only threads with an active run, or only others.")
]
Tags: TypeAlias = Annotated[
    list[str] | None,
    Query(name="tag", description=f"Only threads with all these tags: `tags` in the metadata. {REPEATABLE}"),
]
Empty: TypeAlias = Annotated[
    bool | None,
    Query(description="Only threads without visible messages and without an active run, or only others."),
]
GitBranch: TypeAlias = Annotated[
    str | None, Query(description="Only sessions on this git branch: `gitBranch` in the metadata.")
]
Roles: TypeAlias = Annotated[
    list[str] | None, Query(description=f"Only these roles: {', '.join(ROLES)}. {REPEATABLE}")
]
Ids: TypeAlias = Annotated[list[str] | None, Query(description=f"Only with these ids. {REPEATABLE}")]


def moment_of(text: str | None, name: str) -> datetime | None:
    """The time in a parameter. It is in UTC if it has no zone."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Problem(
            400,
            f"{text[:80]!r} is not a time",
            where=f"query {name}",
            hint="write 2026-03-01 or 2026-03-01T14:00:00Z, and a + as %2B",
        ) from None
    return in_utc(moment if moment.tzinfo else moment.replace(tzinfo=UTC), f"query {name}")


def each_of(values: Sequence[str] | None) -> tuple[str, ...]:
    """The values of a parameter that is repeated, or has several values separated by commas."""
    return tuple(value for joined in values or () for value in joined.split(",") if value)


def chosen(values: Sequence[str] | None, choices: Sequence[T], name: str) -> tuple[T, ...]:
    """The values of a parameter that may have several of some choices."""
    known = {str(choice): choice for choice in choices}
    names = each_of(values)
    for value in names:
        if value not in known:
            raise Problem(
                400,
                f"{value[:80]!r} is not known",
                where=f"query {name}",
                hint=f"choose from {', '.join(known)}",
            )
    return tuple(known[value] for value in names)


def object_of(text: str | None, name: str) -> JsonObject | None:
    """The JSON object in a parameter."""
    value = None if text is None else loads(text)
    if text is not None and not is_object(value):
        raise Problem(
            400,
            f"{name} is {kind_of(value)}, not an object",
            where=f"query {name}",
            hint='write JSON such as {"topic":"lights"}',
        )
    return value
