"""Rows of several tables, each sorted by thread, put together thread by thread."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass

from partita.types.json import JsonObject

from .locating import Found
from .source import LARGE, Keyed, Source
from .system import Rows, Table


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of one thread, or all of them; and the thread's own row, if it has one."""

    key: bytes
    thread: JsonObject | None
    rows: Rows
    first: bool


class Cursor:
    """A table, one batch at a time."""

    def __init__(self, batches: AsyncGenerator[Sequence[Keyed], None]) -> None:
        self._batches = batches
        self._ahead: list[Keyed] = []  # the next row is the last
        self._ended = False

    async def key(self) -> bytes | None:
        """The thread of the next row; `None` at the end."""
        while not self._ahead and not self._ended:
            batch = await anext(self._batches, None)
            self._ended = batch is None
            self._ahead = list(reversed(batch or ()))
        return self._ahead[-1].key if self._ahead else None

    async def take(self, key: bytes, most: int | None = None) -> list[JsonObject]:
        """The next rows of a thread, and with them the tool results that follow: they belong to a call."""
        rows: list[JsonObject] = []
        size = 0
        while await self.key() == key:
            is_enough = most is not None and (len(rows) >= most or size >= LARGE)
            if is_enough and self._ahead[-1].row.get("role") != "tool":
                break
            taken = self._ahead.pop()
            rows.append(taken.row)
            size += taken.size
        return rows


async def pieces(source: Source, found: Found, size: int) -> AsyncGenerator[Piece, None]:
    """All rows of a layout: thread by thread, those of a large thread in pieces of about that size."""
    layout = found.layout
    async with AsyncExitStack() as stack:

        async def cursor(table: Table) -> Cursor:
            batches = source.rows(table, found.tables[table.name])
            return Cursor(await stack.enter_async_context(aclosing(batches)))

        threads = await cursor(layout.threads) if layout.threads.name in found.tables else None
        tables = {table.name: await cursor(table) for table in layout.tables if table.name in found.tables}
        cursors = [*tables.values(), *([threads] if threads else [])]
        while keys := [key for each in cursors if (key := await each.key()) is not None]:
            key = min(keys)
            own = await threads.take(key) if threads else []
            first = True
            while first or any([await each.key() == key for each in tables.values()]):
                rows = await _taken(tables, key, None if layout.whole else size)
                yield Piece(key, own[-1] if own else None, rows, first)
                first = False


async def _taken(tables: Mapping[str, Cursor], key: bytes, most: int | None) -> Rows:
    taken = {name: await each.take(key, most) for name, each in tables.items()}
    return {name: rows for name, rows in taken.items() if rows}
