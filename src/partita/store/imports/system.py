"""What a foreign system is: the tables it keeps its messages in, and how rows become threads and messages."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.formats.rows import Row, read_moment
from partita.store.sessions.rows import RunRows
from partita.store.values import ConsumptionRecord
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message
from partita.types.threads import Thread

IMPORTED = "imported"
"""The member of a thread's metadata that says where it is from, with what no field has a place for."""

Rows: TypeAlias = Mapping[str, Sequence[JsonObject]]
"""Rows by the name of their table."""

Lookups: TypeAlias = Mapping[str, Mapping[str, JsonObject]]
"""Rows of small tables, by table and id."""

_HUMP = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is read. Columns go by their camelCase names; `snake_case` in the database will do."""

    name: str
    key: str
    """The column that names the thread of a row."""
    needs: tuple[str, ...] = ()
    """Columns without which it is somebody else's table of that name."""
    moments: tuple[str, ...] = ()
    """Columns that say when, the first that has a value counts: the order of the rows in their thread."""
    tie: str = ""
    """The column that decides when they say the same; else the order of insertion, if the source knows it."""


class Followed(NamedTuple):
    """What rows lead to besides their messages: runs with their logs, and what was consumed."""

    messages: Sequence[Message]
    losses: Sequence[Loss] = ()
    runs: Sequence[RunRows] = ()
    consumptions: Sequence[ConsumptionRecord] = ()


Follow: TypeAlias = Callable[[Rows, Sequence[Message], Thread, Path | None], Followed]
"""Makes that of rows, their messages and their thread. The path is that of the source, if it is a file."""


@dataclass(frozen=True, slots=True)
class Layout:
    """One generation of a system's tables."""

    title: str
    threads: Table
    tables: tuple[Table, ...]
    """What messages are made of. The first table must be there, the others may."""
    read_thread: Callable[[Row, Lookups], Thread]
    load: Callable[[Rows], Loaded]
    lookups: tuple[str, ...] = ()
    """Small tables that threads refer to."""
    whole: bool = False
    """Whether all rows of a thread must be read at once. Else each row is a message, or part of the last."""
    prefixed: bool = False
    """Whether the names of the tables may have a prefix."""
    follow: Follow | None = None
    """What rows lead to besides their messages."""

    @property
    def messages(self) -> Table:
        """The table that must be there."""
        return self.tables[0]

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """Every table with rows of threads, the most telling first."""
        return (*self.tables, *(() if self.threads in self.tables else (self.threads,)))


@dataclass(frozen=True, slots=True)
class System:
    """A system whose rows can be imported."""

    name: str
    title: str
    agent: str
    """Whose threads they are, where no agent is named."""
    layouts: tuple[Layout, ...]


def snake(name: str) -> str:
    """A camelCase name in `snake_case`."""
    return _HUMP.sub("_", name).lower()


def spelt(name: str, columns: Iterable[str]) -> str | None:
    """How a column is spelt among these, if it is among them."""
    there = set(columns)
    return next((spelling for spelling in (name, snake(name)) if spelling in there), None)


def taken_moment(row: Row, *names: str) -> Json:
    """The first of these columns that names a moment. All of them are taken; one that is unreadable stays."""
    found = None
    for name in names:
        moment = read_moment(row.get(name))
        if moment is not None:
            row.take(name)
            found = found or moment
    return found


def origin(system: str, metadata: Json, left: JsonObject) -> JsonObject:
    """The metadata of a thread: its own, and under `imported` the system and whatever has no place."""
    own: JsonObject = {"from": system, **{key: value for key, value in left.items() if key != "from"}}
    if not is_object(metadata):
        return {IMPORTED: own if metadata is None else {**own, "metadata": metadata}}
    rest: JsonObject = {key: value for key, value in metadata.items() if key != IMPORTED}
    if IMPORTED in metadata:
        own["metadata"] = {IMPORTED: metadata[IMPORTED]}
    return {**rest, IMPORTED: own}
