"""The declaration of a system to import from: its tables, and how their rows become threads and messages.

A system is a module of this package (`mastra`, `cherry`, `smithers`) that defines `SYSTEM`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from partita.errors import StoreError
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.formats.rows import Row, read_moment
from partita.store.bulk.rows import RunRows
from partita.store.values import ConsumptionRecord
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message
from partita.types.threads import Thread

from .report import Failure

SYSTEMS: Final = ("mastra", "cherry", "smithers")
"""The names of the systems, which are the names of their modules."""

IMPORTED: Final = "imported"
"""The member of a thread's metadata that names the system, and holds columns that no field stores."""

Rows: TypeAlias = Mapping[str, Sequence[JsonObject]]
"""Rows by the name of their table."""

Lookups: TypeAlias = Mapping[str, Mapping[str, JsonObject]]
"""Rows of small tables, by table and id."""

_WORD_START = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a system. Columns have their camelCase names here; the database may use `snake_case`."""

    name: str
    key: str
    """The column with the thread id."""
    needs: tuple[str, ...] = ()
    """Columns that must exist. Without them it is an unrelated table of the same name."""
    times: tuple[str, ...] = ()
    """Columns with a time, by preference. The time orders the rows of a thread."""
    tie: str = ""
    """The column that orders rows of the same time; by default the order of insertion, if it is known."""


class ThreadContent(NamedTuple):
    """What the rows of a thread contain: messages, and runs and token usage if the system stores them."""

    messages: Sequence[Message]
    failures: Sequence[Failure] = ()
    losses: Sequence[Loss] = ()
    runs: Sequence[RunRows] = ()
    consumptions: Sequence[ConsumptionRecord] = ()


Enrich: TypeAlias = Callable[[Rows, Sequence[Message], Thread, Path | None], ThreadContent]
"""Adds runs and token usage to the messages of rows. The path is that of the source, if it is a file."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of one version of a system."""

    title: str
    threads: Table
    tables: tuple[Table, ...]
    """The tables with messages. The first must exist, the others are optional."""
    read_thread: Callable[[Row, Lookups], Thread]
    load: Callable[[Rows], Loaded]
    lookups: tuple[str, ...] = ()
    """Small tables that threads refer to."""
    whole: bool = False
    """Whether all rows of a thread must be read together. Otherwise a large thread is read in pieces."""
    prefixed: bool = False
    """Whether the names of the tables may have a prefix."""
    enrich: Enrich | None = None

    @property
    def messages(self) -> Table:
        """The table that must exist."""
        return self.tables[0]

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """Every table with rows of threads, the one that identifies the layout first."""
        return (*self.tables, *(() if self.threads in self.tables else (self.threads,)))


@dataclass(frozen=True, slots=True)
class System:
    """A system whose rows can be imported."""

    name: str
    title: str
    agent: str
    """The agent of threads that name none."""
    layouts: tuple[Layout, ...]


def get_system(name: str) -> System:
    """The system of that name; an error lists the names."""
    if name not in SYSTEMS:
        near = get_close_matches(name, SYSTEMS, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise StoreError(f"no system {name!r} to import from", hint=f"{guess}there are {', '.join(SYSTEMS)}")
    system: System = import_module(f".{name}", __package__).SYSTEM
    return system


def find_column(name: str, columns: Iterable[str]) -> str | None:
    """The spelling of a column, camelCase or `snake_case`, among these; `None` if it is missing."""
    existing = set(columns)
    snake = _WORD_START.sub("_", name).lower()
    return next((spelling for spelling in (name, snake) if spelling in existing), None)


def take_time(row: Row, *names: str) -> Json:
    """The first of these columns with a readable time. All readable ones are removed from the row."""
    found = None
    for name in names:
        moment = read_moment(row.get(name))
        if moment is not None:
            row.take(name)
            found = found or moment
    return found


def import_metadata(system: str, metadata: Json, left: JsonObject) -> JsonObject:
    """The metadata of a thread: its own, and under `imported` the system and the remaining columns."""
    own: JsonObject = {"from": system, **{key: value for key, value in left.items() if key != "from"}}
    if not is_object(metadata):
        return {IMPORTED: own if metadata is None else {**own, "metadata": metadata}}
    rest: JsonObject = {key: value for key, value in metadata.items() if key != IMPORTED}
    if IMPORTED in metadata:
        own["metadata"] = {IMPORTED: metadata[IMPORTED]}
    return {**rest, IMPORTED: own}
