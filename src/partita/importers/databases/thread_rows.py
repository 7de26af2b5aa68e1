"""Rows of several tables, collected thread by thread, and loaded as messages."""

import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.store.messages.prepared import Prepared, check, prepare
from partita.types.json import JsonObject
from partita.types.messages import Message
from partita.types.threads import Thread

from .report import Failure
from .source import BATCH_CHARACTERS, FoundLayout, Source, SourceRow
from .system import Layout, Rows, Table, ThreadContent

_ROW_PATH = re.compile(r"\$(?:\.(?P<table>\w+))?\[(?P<index>\d+)\]")


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one thread, all or some of them, and the thread's own row, if it has one."""

    key: bytes
    thread: JsonObject | None
    rows: Rows
    first: bool


@dataclass(slots=True)
class ThreadState:
    """What is known of a thread from one of its pieces to the next."""

    thread: Thread
    updates: bool
    """Whether `updated_at` comes from the messages, because the thread's row has none."""
    rows: int = 0
    ids: set[str] = field(default_factory=set[str])


async def read_pieces(source: Source, found: FoundLayout, size: int) -> AsyncGenerator[Piece, None]:
    """All rows of a layout, thread by thread; a large thread in pieces of about `size` rows.

    Every table is sorted by thread, so reading them side by side needs the memory of one piece.
    """
    layout = found.layout
    async with AsyncExitStack() as stack:

        async def cursor(table: Table) -> _Cursor:
            batches = source.rows(table, found.tables[table.name])
            return _Cursor(await stack.enter_async_context(aclosing(batches)))

        threads = await cursor(layout.threads) if layout.threads.name in found.tables else None
        tables = {table.name: await cursor(table) for table in layout.tables if table.name in found.tables}
        cursors = [*tables.values(), *([threads] if threads else [])]
        while keys := [key for each in cursors if (key := await each.key()) is not None]:
            key = min(keys)
            own = await threads.take(key) if threads else []
            first = True
            while first or any([await each.key() == key for each in tables.values()]):
                rows = await _take(tables, key, None if layout.whole else size)
                yield Piece(key, own[-1] if own else None, rows, first)
                first = False


class _Cursor:
    """The rows of a table, read batch by batch."""

    def __init__(self, batches: AsyncGenerator[Sequence[SourceRow], None]) -> None:
        self._batches = batches
        self._ahead: list[SourceRow] = []  # reversed: the next row is the last
        self._ended = False

    async def key(self) -> bytes | None:
        """The thread of the next row; `None` at the end."""
        while not self._ahead and not self._ended:
            batch = await anext(self._batches, None)
            self._ended = batch is None
            self._ahead = list(reversed(batch or ()))
        return self._ahead[-1].key if self._ahead else None

    async def take(self, key: bytes, limit: int | None = None) -> list[JsonObject]:
        """The next rows of a thread. Tool results are never separated from the call before them."""
        rows: list[JsonObject] = []
        size = 0
        while await self.key() == key:
            is_enough = limit is not None and (len(rows) >= limit or size >= BATCH_CHARACTERS)
            if is_enough and self._ahead[-1].row.get("role") != "tool":
                break
            taken = self._ahead.pop()
            rows.append(taken.row)
            size += taken.size
        return rows


async def _take(tables: Mapping[str, _Cursor], key: bytes, limit: int | None) -> Rows:
    taken = {name: await each.take(key, limit) for name, each in tables.items()}
    return {name: rows for name, rows in taken.items() if rows}


def load_rows(layout: Layout, rows: Rows, state: ThreadState, source: Path | None = None) -> ThreadContent:
    """The content of rows. A row that cannot be read does not stop the others."""
    if not rows:
        return ThreadContent(())
    named = {table: [_with_id(row, table, state) for row in found] for table, found in rows.items()}
    failures: list[Failure] = []
    try:
        loaded = layout.load(named)
    except PartitaError as error:
        if layout.whole:
            return ThreadContent((), [Failure.of(layout.messages.name, state.thread.id, error)])
        table = layout.messages.name
        named = {table: _readable(layout, table, named[table], failures)}
        loaded = layout.load(named) if named[table] else Loaded(())
    losses = [_with_row_id(loss, layout.messages.name, named) for loss in loaded.losses]
    messages = _unique(loaded.messages, state, losses)
    if layout.enrich is None:
        return ThreadContent(messages, failures, losses)
    content = layout.enrich(named, messages, state.thread, source)
    return content._replace(failures=failures, losses=[*losses, *content.losses])


def prepare_messages(
    messages: Iterable[Message], table: str, thread_id: str, owner: str | None
) -> tuple[list[Prepared], list[Failure]]:
    """Messages ready to be written, and a failure for each that the database cannot store."""
    ready: list[Prepared] = []
    failures: list[Failure] = []
    for message in messages:
        owned = replace(message, thread_id=thread_id, resource_id=owner or None, seq=None)
        try:
            check(owned)
            ready.append(prepare(owned, thread_id))
        except PartitaError as error:
            failures.append(Failure.of(table, message.id, error))
    return ready, failures


def _with_id(row: JsonObject, table: str, state: ThreadState) -> JsonObject:
    """A row with an id that is text. A row without one gets its number in the thread."""
    state.rows += 1
    id_ = row.get("id")
    if isinstance(id_, str) and id_:
        return row
    has_number = isinstance(id_, int) and not isinstance(id_, bool)
    return {**row, "id": str(id_) if has_number else f"{table}-{state.rows}"}


def _readable(
    layout: Layout, table: str, rows: Sequence[JsonObject], failures: list[Failure]
) -> list[JsonObject]:
    """The rows that can be loaded one by one; the others are added to the failures."""
    good: list[JsonObject] = []
    for row in rows:
        try:
            layout.load({table: [row]})
        except PartitaError as error:
            failures.append(Failure.of(table, row["id"], error))
        else:
            good.append(row)
    return good


def _unique(messages: Iterable[Message], state: ThreadState, losses: list[Loss]) -> list[Message]:
    """Messages with unique ids: a second message of the same id must not overwrite the first."""
    result: list[Message] = []
    for message in messages:
        id_, number = message.id, 1
        while id_ in state.ids:
            number += 1
            id_ = f"{message.id}:{number}"
        if id_ != message.id:
            losses.append(Loss(id_, message.id, "another message of the thread has that id"))
        state.ids.add(id_)
        result.append(message if id_ == message.id else replace(message, id=id_))
    return result


def _with_row_id(loss: Loss, table: str, rows: Rows) -> Loss:
    """The loss with the id of its row in the path, instead of the index among the rows of this piece."""
    match = _ROW_PATH.match(loss.path)
    found = rows.get(match["table"] or table) if match else None
    if match is None or found is None or int(match["index"]) >= len(found):
        return loss
    id_ = found[int(match["index"])]["id"]
    return loss._replace(path=f"{match['table'] or table}[{id_}]{loss.path[match.end() :]}")
