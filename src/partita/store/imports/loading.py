"""Rows of a thread → messages made ready to be written, whatever is wrong with some of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.store.prepared import Prepared, check, prepare
from partita.store.sessions.rows import RunRows
from partita.store.values import ConsumptionRecord
from partita.types.json import JsonObject
from partita.types.messages import Message
from partita.types.threads import Thread

from .report import Failure, failure
from .system import Layout, Rows

_PLACE = re.compile(r"\$(?:\.(?P<table>\w+))?\[(?P<index>\d+)\]")


@dataclass(slots=True)
class Reading:
    """A thread while its rows are read: what must be known from one piece of it to the next."""

    thread: Thread
    updates: bool
    """Whether its messages tell when it was last changed, for it does not itself."""
    rows: int = 0
    ids: set[str] = field(default_factory=set[str])


class Read(NamedTuple):
    """The messages of some rows, and what became of the rest."""

    messages: Sequence[Message]
    failures: Sequence[Failure] = ()
    losses: Sequence[Loss] = ()
    runs: Sequence[RunRows] = ()
    consumptions: Sequence[ConsumptionRecord] = ()


def load_rows(layout: Layout, rows: Rows, reading: Reading, source: Path | None = None) -> Read:
    """The messages of rows. One that cannot be read does not stop the others."""
    if not rows:
        return Read(())
    named = {table: [_with_id(row, table, reading) for row in found] for table, found in rows.items()}
    failures: list[Failure] = []
    try:
        loaded = layout.load(named)
    except PartitaError as error:
        if layout.whole:
            return Read((), [failure(layout.messages.name, reading.thread.id, error)])
        table = layout.messages.name
        named = {table: _readable(layout, table, named[table], failures)}
        loaded = layout.load(named) if named[table] else Loaded(())
    losses = [_placed(loss, layout.messages.name, named) for loss in loaded.losses]
    messages = _unique(loaded.messages, reading, losses)
    if layout.follow is None:
        return Read(messages, failures, losses)
    found = layout.follow(named, messages, reading.thread, source)
    return Read(found.messages, failures, [*losses, *found.losses], found.runs, found.consumptions)


def make_ready(
    messages: Iterable[Message], table: str, thread_id: str, owner: str | None
) -> tuple[list[Prepared], list[Failure]]:
    """The messages as they are written, and those that no database can hold."""
    ready: list[Prepared] = []
    failures: list[Failure] = []
    for message in messages:
        owned = replace(message, thread_id=thread_id, resource_id=owner or None, seq=None)
        try:
            check(owned)
            ready.append(prepare(owned, thread_id))
        except PartitaError as error:
            failures.append(failure(table, message.id, error))
    return ready, failures


def _with_id(row: JsonObject, table: str, reading: Reading) -> JsonObject:
    """A row with an id that is text. One without gets the one of its place in the thread."""
    reading.rows += 1
    id_ = row.get("id")
    if isinstance(id_, str) and id_:
        return row
    has_number = isinstance(id_, int) and not isinstance(id_, bool)
    return {**row, "id": str(id_) if has_number else f"{table}-{reading.rows}"}


def _readable(
    layout: Layout, table: str, rows: Sequence[JsonObject], failures: list[Failure]
) -> list[JsonObject]:
    """The rows that can be read by themselves."""
    good: list[JsonObject] = []
    for row in rows:
        try:
            layout.load({table: [row]})
        except PartitaError as error:
            failures.append(failure(table, row["id"], error))
        else:
            good.append(row)
    return good


def _unique(messages: Iterable[Message], reading: Reading, losses: list[Loss]) -> list[Message]:
    """The messages, each with an id of its own: of two with one id, neither may overwrite the other."""
    result: list[Message] = []
    for message in messages:
        id_, number = message.id, 1
        while id_ in reading.ids:
            number += 1
            id_ = f"{message.id}:{number}"
        if id_ != message.id:
            losses.append(Loss(id_, message.id, "another message of the thread has that id"))
        reading.ids.add(id_)
        result.append(message if id_ == message.id else replace(message, id=id_))
    return result


def _placed(loss: Loss, table: str, rows: Rows) -> Loss:
    """A loss that names its row, not the row's place among those that were read with it."""
    match = _PLACE.match(loss.path)
    found = rows.get(match["table"] or table) if match else None
    if match is None or found is None or int(match["index"]) >= len(found):
        return loss
    id_ = found[int(match["index"])]["id"]
    return loss._replace(path=f"{match['table'] or table}[{id_}]{loss.path[match.end() :]}")
