"""How much an answer may hold."""

from collections.abc import Sequence
from typing import Annotated, Final, TypeAlias, TypeVar

from msgspec import Meta

from partita.types.json import dumps

T = TypeVar("T")

USUAL: Final = 20_000
LEAST: Final = 1_000
MOST: Final = 200_000

MaxChars: TypeAlias = Annotated[
    int,
    Meta(ge=LEAST, le=MOST, description="About how many characters the answer may have."),
]


def size_of(value: object) -> int:
    """How many characters a value takes, as JSON."""
    return len(dumps(value).decode(errors="replace"))


def how_many_fit(values: Sequence[object], room: int) -> int:
    """How many values, from the first on, fit into so many characters; the first one always does."""
    used = 0
    for count, value in enumerate(values):
        used += size_of(value) + 1
        if used > room and count:
            return count
    return len(values)


def fitting(values: Sequence[T], room: int) -> Sequence[T]:
    """As many values, from the first on, as fit."""
    return values[: how_many_fit(values, room)]
