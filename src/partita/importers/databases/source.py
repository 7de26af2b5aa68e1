"""The interface of sources of rows, and the search for the tables of a system."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from partita.errors import StoreError
from partita.types.json import JsonObject

from .report import Failure
from .system import Layout, System, Table, find_column

BATCH_ROWS: Final = 50
"""How many rows are fetched at once."""

BATCH_CHARACTERS: Final = 8 << 20
"""How many characters are read, and written, at once: one row may be as large as a thousand others."""

NAMES_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table that exists in a source."""

    name: str
    columns: tuple[str, ...]
    schema: str = ""
    types: Mapping[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name

    def column(self, name: str) -> str | None:
        """The spelling of a column in this table; `None` if it is missing."""
        return find_column(name, self.columns)

    def missing(self, table: Table) -> list[str]:
        """The columns that a table of a system must have and this one lacks."""
        return [name for name in (table.key, *table.needs) if self.column(name) is None]


class SourceRow(NamedTuple):
    """A row, and the id of its thread as bytes, which rows are sorted by."""

    key: bytes
    row: JsonObject
    size: int = 0
    """About how many characters it has."""


class Source(Protocol):
    """Tables, opened for reading only."""

    where: str

    async def tables(self) -> Sequence[SourceTable]:
        """All tables."""
        ...

    async def count(self, stored: SourceTable) -> int:
        """The number of rows of a table."""
        ...

    def rows(self, table: Table, stored: SourceTable) -> AsyncGenerator[Sequence[SourceRow], None]:
        """The rows of a table in batches, sorted by thread, and in a thread by time."""
        ...

    def problems(self) -> Sequence[Failure]:
        """What could not be read as a row."""
        ...

    async def close(self) -> None:
        """Close the source. Raises an error if it changed while it was read."""
        ...


def quoted(name: str) -> str:
    """A name, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def count_characters(values: Iterable[object]) -> int:
    """About how many characters the values of a row have."""
    return sum(len(value) for value in values if isinstance(value, str | bytes))


def next_batch(rows: Iterator[SourceRow]) -> list[SourceRow]:
    """The next rows, limited by number and size; an empty list at the end."""
    taken: list[SourceRow] = []
    size = 0
    while len(taken) < BATCH_ROWS and size < BATCH_CHARACTERS and (row := next(rows, None)) is not None:
        taken.append(row)
        size += row.size
    return taken


# Finding the tables of a system


@dataclass(frozen=True, slots=True)
class FoundLayout:
    """A layout, and the tables of the source by the names that they have in the layout."""

    layout: Layout
    tables: Mapping[str, SourceTable]
    place: tuple[str, str]
    """The schema and the prefix of the tables."""

    @property
    def message_tables(self) -> list[SourceTable]:
        """The tables with messages."""
        return [self.tables[table.name] for table in self.layout.tables if table.name in self.tables]


def find_layouts(
    system: System, existing: Sequence[SourceTable], where: str, chosen: str | None = None
) -> list[FoundLayout]:
    """Every layout whose tables exist; `chosen` is the schema or prefix, if there are several."""
    found = [each for layout in system.layouts for each in _places(layout, existing)]
    if chosen is not None:
        found = [each for each in found if chosen in each.place]
    if not found:
        raise StoreError(
            f"no tables of {system.title}" + (f" under {chosen!r}" if chosen else ""),
            where=where,
            hint=f"{_looked_for(system, existing)}; there are {_names(existing)}",
        )
    for layout in system.layouts:
        places = [each.place for each in found if each.layout is layout]
        if len(places) > 1:
            raise StoreError(
                f"{len(places)} times the tables of {layout.title}",
                where=where,
                hint="choose a schema or prefix: " + ", ".join(_place_name(place) for place in places),
            )
    return found


def _places(layout: Layout, existing: Sequence[SourceTable]) -> Iterable[FoundLayout]:
    """The layout, once for every schema and prefix with a table of messages."""
    for stored in existing:
        prefix = _prefix(stored, layout.messages, layout.prefixed)
        if prefix is None or stored.missing(layout.messages):
            continue
        by_name = {each.name.removeprefix(prefix): each for each in existing if each.schema == stored.schema}
        tables = {
            table.name: by_name[table.name]
            for table in layout.all_tables
            if table.name in by_name and not by_name[table.name].missing(table)
        }
        lookups = {name: by_name[name] for name in layout.lookups if name in by_name}
        yield FoundLayout(layout, {**lookups, **tables}, (stored.schema, prefix))


def _prefix(stored: SourceTable, table: Table, prefixed: bool) -> str | None:
    """The prefix before the name of the table; `None` if it is another table."""
    if stored.name == table.name:
        return ""
    return stored.name.removesuffix(table.name) if prefixed and stored.name.endswith(table.name) else None


def _looked_for(system: System, existing: Sequence[SourceTable]) -> str:
    """The tables that were looked for, with the missing columns of those that exist."""
    wanted: list[str] = []
    for layout in system.layouts:
        table = layout.messages
        missing = [stored.missing(table) for stored in existing if stored.name == table.name]
        wanted.append(f"{table.name} (without {', '.join(missing[0])})" if missing else table.name)
    return f"looked for {' or '.join(wanted)}"


def _names(existing: Sequence[SourceTable]) -> str:
    names = sorted(str(stored) for stored in existing)
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return (", ".join(names[:NAMES_SHOWN]) or "no tables at all") + more


def _place_name(place: tuple[str, str]) -> str:
    return " ".join(filter(None, place)) or "no prefix"
