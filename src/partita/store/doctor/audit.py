"""The audit: structures that are stored as JSON in a string, counted by where they stand, with samples."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Row, select

from partita.errors import PartitaError
from partita.store.data.looking import read
from partita.store.data.stringified import Condition, Kind, Stringified, unfold
from partita.store.schema import messages
from partita.store.sql.transaction import Transaction
from partita.store.store import Store

from .pages import page
from .report import AuditEntry, Cursor, Sample

SAMPLES = 3
SHOWN = 80
"""How many samples of a kind are kept, and how many characters of each."""


class _Counts:
    """Counts and samples, by kind, condition and migration."""

    def __init__(self) -> None:
        self._entries: dict[tuple[Kind, Condition, str | None], tuple[int, int, list[Sample]]] = {}

    def add(self, row: Row[Any], found: Sequence[Stringified]) -> None:
        """Count what one message holds."""
        for key in dict.fromkeys((one.kind, one.condition, one.migration) for one in found):
            mine = [one for one in found if (one.kind, one.condition, one.migration) == key]
            count, in_messages, samples = self._entries.get(key, (0, 0, []))
            samples.extend(_sample(row, one) for one in mine[: SAMPLES - len(samples)])
            self._entries[key] = (count + len(mine), in_messages + 1, samples)

    def entries(self) -> Iterator[AuditEntry]:
        """All of them: what can be migrated first, then the most frequent."""
        ordered = sorted(self._entries.items(), key=lambda item: (item[0][2] is None, -item[1][0]))
        for (kind, condition, migration), (count, in_messages, samples) in ordered:
            yield AuditEntry(
                kind=kind,
                condition=condition,
                migration=migration,
                count=count,
                messages=in_messages,
                samples=tuple(samples),
            )


def _sample(row: Row[Any], one: Stringified) -> Sample:
    text = one.text if len(one.text) <= SHOWN else f"{one.text[: SHOWN - 1]}…"
    return Sample(
        thread_id=row.thread_id,
        message_id=row.id,
        path=one.path,
        text=text,
        resource_id=row.owner or None,
    )


async def audit(store: Store) -> tuple[AuditEntry, ...]:
    """Every structure in a string, in all messages that can be read. The checks find the others."""
    counts = _Counts()
    cursor: Cursor | None = ()
    while cursor is not None:
        cursor = await store.read(_audit_next, cursor, counts)
    return tuple(counts.entries())


def _audit_next(tx: Transaction, after: Cursor, counts: _Counts) -> Cursor | None:
    rows, more = page(tx, select(messages).where(tx.owned(messages)), (messages.c.key,), after)
    for row in rows:
        try:
            message, stored = read(tx, row)
        except PartitaError:
            continue
        found = unfold(message, stored).found
        if found:
            counts.add(row, found)
    return more
