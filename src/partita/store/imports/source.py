"""Where foreign rows are read from: a protocol, whichever database or dump it is."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from partita.types.json import JsonObject

from .report import Failure
from .system import Table, spelt

FETCHED = 50
"""How many rows are fetched at once."""

LARGE = 8 << 20
"""How many characters are read, and written, at once: one row may be as large as a thousand others."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A table that a source has."""

    name: str
    columns: tuple[str, ...]
    schema: str = ""
    types: Mapping[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name

    def column(self, name: str) -> str | None:
        """How a column is spelt here, if it is here."""
        return spelt(name, self.columns)

    def lacks(self, table: Table) -> list[str]:
        """The columns that it would need to be that table, and does not have."""
        return [name for name in (table.key, *table.needs) if self.column(name) is None]


class Keyed(NamedTuple):
    """A row, and the thread it belongs to: the bytes of its id, which is what rows are sorted by."""

    key: bytes
    row: JsonObject
    size: int = 0
    """About how many characters it has."""


def size_of(values: Iterable[object]) -> int:
    """About how many characters there are in the values of a row."""
    return sum(len(value) for value in values if isinstance(value, str | bytes))


def some(rows: Iterator[Keyed]) -> list[Keyed]:
    """The next rows, as many as are not too large together; none at the end."""
    taken: list[Keyed] = []
    size = 0
    while len(taken) < FETCHED and size < LARGE and (row := next(rows, None)) is not None:
        taken.append(row)
        size += row.size
    return taken


class Source(Protocol):
    """Tables to read, and only to read."""

    where: str

    async def tables(self) -> Sequence[Stored]:
        """The tables there are."""
        ...

    async def count(self, stored: Stored) -> int:
        """How many rows a table has."""
        ...

    def rows(self, table: Table, stored: Stored) -> AsyncGenerator[Sequence[Keyed], None]:
        """The rows of a table, some at a time: by thread, and in their thread in order."""
        ...

    def problems(self) -> Sequence[Failure]:
        """What could not even be read as a row."""
        ...

    async def close(self) -> None:
        """Let go of it. An error, if what was read cannot be trusted."""
        ...
