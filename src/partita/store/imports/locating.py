"""Which generation of a system's tables a source holds, and where."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from partita.errors import StoreError

from .source import Stored
from .system import Layout, System, Table

SHOWN = 20


@dataclass(frozen=True, slots=True)
class Found:
    """A layout, and the tables of the source that make it up, by the names they have in the layout."""

    layout: Layout
    tables: Mapping[str, Stored]
    place: tuple[str, str]
    """The schema and the prefix of the tables."""

    @property
    def sources(self) -> list[Stored]:
        """The tables that messages are made of."""
        return [self.tables[table.name] for table in self.layout.tables if table.name in self.tables]


def locate(system: System, there: Sequence[Stored], where: str, chosen: str | None = None) -> list[Found]:
    """Every layout that a source holds; of several places only the chosen one, by its schema or prefix."""
    found = [each for layout in system.layouts for each in _places(layout, there)]
    if chosen is not None:
        found = [each for each in found if chosen in each.place]
    if not found:
        raise StoreError(
            f"no tables of {system.title}" + (f" under {chosen!r}" if chosen else ""),
            where=where,
            hint=f"{_looked_for(system, there)}; there are {_names(there)}",
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


def _places(layout: Layout, there: Sequence[Stored]) -> Iterable[Found]:
    """The layout, once for every schema and prefix under which its messages are there."""
    for stored in there:
        prefix = _prefix(stored, layout.messages, layout.prefixed)
        if prefix is None or stored.lacks(layout.messages):
            continue
        by_name = {each.name.removeprefix(prefix): each for each in there if each.schema == stored.schema}
        tables = {
            table.name: by_name[table.name]
            for table in layout.all_tables
            if table.name in by_name and not by_name[table.name].lacks(table)
        }
        lookups = {name: by_name[name] for name in layout.lookups if name in by_name}
        yield Found(layout, {**lookups, **tables}, (stored.schema, prefix))


def _prefix(stored: Stored, table: Table, prefixed: bool) -> str | None:
    """What stands before the name of the table; `None` if it is another table."""
    if stored.name == table.name:
        return ""
    return stored.name.removesuffix(table.name) if prefixed and stored.name.endswith(table.name) else None


def _looked_for(system: System, there: Sequence[Stored]) -> str:
    """The tables that were looked for; of one that is there, what it lacks."""
    wanted: list[str] = []
    for layout in system.layouts:
        table = layout.messages
        lacking = [stored.lacks(table) for stored in there if stored.name == table.name]
        wanted.append(f"{table.name} (without {', '.join(lacking[0])})" if lacking else table.name)
    return f"looked for {' or '.join(wanted)}"


def _names(there: Sequence[Stored]) -> str:
    names = sorted(str(stored) for stored in there)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (", ".join(names[:SHOWN]) or "no tables at all") + more


def _place_name(place: tuple[str, str]) -> str:
    return " ".join(filter(None, place)) or "no prefix"
