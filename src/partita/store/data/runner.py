"""Running data migrations: batch by batch, resumable at any moment, told in a report."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import func, select

from partita.errors import StoreError
from partita.store.schema import messages
from partita.store.sql.transaction import Transaction
from partita.store.store import Store

from . import records
from .batches import migrate_next, verify_next
from .looking import look, rows_after, tally_of
from .migration import Migration
from .networks import NETWORK_STRINGS
from .plain_text import PLAIN_TEXT
from .records import Record
from .report import MigrationReport, Tally
from .stringified import STRINGIFIED
from .version4 import VERSION_4

Progress: TypeAlias = Callable[[int, int], None]
"""Called with how many messages were looked at, and how many there are."""

MIGRATIONS: dict[str, Migration] = {
    # In this order: texts become messages, their parts become today's, then strings inside parts are parsed.
    migration.name: migration
    for migration in (PLAIN_TEXT, VERSION_4, NETWORK_STRINGS, STRINGIFIED)
}


async def migrate(
    store: Store,
    names: Sequence[str] | None = None,
    *,
    dry_run: bool = False,
    batch_size: int = 200,
    per_second: float | None = None,
    verify: bool = True,
    again: bool = False,
    progress: Progress | None = None,
) -> list[MigrationReport]:
    """Bring stored messages to today's form, with all migrations or those that are named.

    Each batch is one transaction; a migration that was killed goes on where it was. One that is done looks
    at new messages only, unless it runs `again`. With `dry_run` nothing is written, and the report is the
    same. `per_second` is how many messages to look at in a second, at most.
    """
    if batch_size < 1 or (per_second is not None and per_second <= 0):
        raise StoreError("nothing would be done", hint="batch_size is 1 or more, per_second above 0")
    wanted = [_named(name) for name in names or MIGRATIONS]
    way = _Way(store, batch_size, verify, again, _Pace(per_second), progress)
    reports: list[MigrationReport] = []
    for number, migration in enumerate(wanted):
        record = await (_rehearse(way, migration, wanted[:number]) if dry_run else _run(way, migration))
        reports.append(report_of(migration, record, dry_run=dry_run))
    return reports


async def list_migrations(store: Store) -> list[MigrationReport]:
    """Every migration, and how far it has come."""
    return [
        report_of(migration, await store.read(records.find, migration.name))
        for migration in MIGRATIONS.values()
    ]


def report_of(migration: Migration, record: Record, *, dry_run: bool = False) -> MigrationReport:
    """What a record says of a migration."""
    fields = {name: getattr(record.tally, name) for name in Tally.__dataclass_fields__}
    return MigrationReport(
        name=migration.name, title=migration.title, state=record.state, dry_run=dry_run, **fields
    )


def _named(name: str) -> Migration:
    if name not in MIGRATIONS:
        raise StoreError(f"no migration is called {name!r}", hint=f"there are {', '.join(MIGRATIONS)}")
    return MIGRATIONS[name]


@dataclass(frozen=True, slots=True)
class _Way:
    """How a migration is run."""

    store: Store
    size: int
    verify: bool
    again: bool
    pace: "_Pace"
    progress: Progress | None

    async def told(self, seen: int, done: int, total: int) -> None:
        """Tell how far this is, and wait if it was too fast."""
        if self.progress is not None:
            self.progress(done, max(done, total))
        await self.pace.keep(seen)


async def _run(way: _Way, migration: Migration) -> Record:
    record, tally = await way.store.write(records.start, migration.name, again=way.again)
    total = tally.seen + await way.store.read(_count, record.position)
    state = record.state
    while state == "running":
        state, found = await way.store.write(migrate_next, migration, way.size, way.verify)
        tally = tally.plus(found)
        await way.told(found.seen, tally.seen, total)
    while way.verify:
        checked = await way.store.write(verify_next, migration)
        if checked is None:
            break
        tally = tally.plus(checked)
    return Record(record.position, state, tally)


async def _rehearse(way: _Way, migration: Migration, first: Sequence[Migration]) -> Record:
    """What a run would do. Earlier migrations of the same run are reckoned with."""
    known = await way.store.read(records.find, migration.name)
    position = 0 if way.again else known.position
    tally = known.tally if known.state == "running" and not way.again else Tally()
    total = tally.seen + await way.store.read(_count, position)
    seen = way.size
    while seen == way.size:
        found, seen, position = await way.store.read(_rehearse_next, migration, first, position, way.size)
        tally = tally.plus(found)
        await way.told(seen, tally.seen, total)
    return Record(position, known.state, tally)


def _rehearse_next(
    tx: Transaction, migration: Migration, first: Sequence[Migration], position: int, size: int
) -> tuple[Tally, int, int]:
    rows = rows_after(tx, position, size)
    return tally_of(look(tx, migration, rows, first)), len(rows), rows[-1].key if rows else position


def _count(tx: Transaction, position: int) -> int:
    query = select(func.count()).select_from(messages).where(messages.c.key > position, tx.owned(messages))
    number: int = tx.run(query).scalar_one()
    return number


class _Pace:
    """Waits, so that no more than so many messages are looked at in a second."""

    def __init__(self, per_second: float | None) -> None:
        self._per_second = per_second
        self._kept_until = asyncio.get_running_loop().time()

    async def keep(self, seen: int) -> None:
        """Wait as long as these messages should have taken."""
        if self._per_second is None:
            return
        now = asyncio.get_running_loop().time()
        due = self._kept_until + seen / self._per_second
        self._kept_until = max(now, due)
        if due > now:
            await asyncio.sleep(due - now)
