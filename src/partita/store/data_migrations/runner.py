"""Run data migrations in batches. A migration that was interrupted continues with the next batch.

The changes of a batch and the progress are written in one transaction. Afterwards every batch is reread and
verified.
"""

import asyncio
import json
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Row, func, select, tuple_, update

from partita.errors import PartitaError, StoreError
from partita.store.messages import writer as message_writer
from partita.store.messages.prepared import prepare
from partita.store.schema import messages, threads
from partita.store.sql.transaction import Transaction, batched
from partita.store.store import Store
from partita.store.values import OnProgress
from partita.types.codec import encode
from partita.types.json import loads
from partita.types.messages import Message

from . import progress as saved_progress
from .json_strings import JSON_STRINGS
from .migration import NETWORK_STRINGS, PLAIN_TEXT, VERSION_4, Migration
from .progress import Batch, Progress
from .report import MigrationReport, State, Tally
from .results import Result, apply, next_rows, note_of, read_row, tally_of

MIGRATIONS: dict[str, Migration] = {
    # In this order: texts become messages, their parts current ones, then strings inside parts are parsed.
    migration.name: migration
    for migration in (PLAIN_TEXT, VERSION_4, NETWORK_STRINGS, JSON_STRINGS)
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
    progress: OnProgress | None = None,
) -> list[MigrationReport]:
    """Convert stored messages to the current form, with all migrations or the named ones.

    Each batch is one transaction, and a migration that was killed continues where it was. One that is done
    reads only new messages, unless it runs `again`. With `dry_run` nothing is written, and the report is the
    same. `per_second` limits the number of messages that are read in a second.
    """
    if batch_size < 1 or (per_second is not None and per_second <= 0):
        raise StoreError("nothing would be done", hint="batch_size is 1 or more, per_second above 0")
    migrations = [_find_migration(name) for name in names or MIGRATIONS]
    runner = _Runner(store, batch_size, verify, again, per_second, progress)
    reports: list[MigrationReport] = []
    for number, migration in enumerate(migrations):
        result = await (runner.dry_run(migration, migrations[:number]) if dry_run else runner.run(migration))
        reports.append(_report(migration, result, dry_run=dry_run))
    return reports


async def list_migrations(store: Store) -> list[MigrationReport]:
    """All migrations with their progress."""
    return [
        _report(migration, await store.read(saved_progress.find, migration.name))
        for migration in MIGRATIONS.values()
    ]


def _report(migration: Migration, result: Progress, *, dry_run: bool = False) -> MigrationReport:
    fields = {name: getattr(result.tally, name) for name in Tally.__dataclass_fields__}
    return MigrationReport(
        name=migration.name, title=migration.title, state=result.state, dry_run=dry_run, **fields
    )


def _find_migration(name: str) -> Migration:
    if name not in MIGRATIONS:
        raise StoreError(f"unknown migration {name!r}", hint=f"choose from {', '.join(MIGRATIONS)}")
    return MIGRATIONS[name]


class _Runner:
    """Runs migrations with the same options."""

    def __init__(
        self,
        store: Store,
        batch_size: int,
        verify: bool,
        again: bool,
        per_second: float | None,
        on_progress: OnProgress | None,
    ) -> None:
        self._store = store
        self._batch_size = batch_size
        self._verify = verify
        self._again = again
        self._per_second = per_second
        self._on_progress = on_progress
        self._next_start = asyncio.get_running_loop().time()

    async def run(self, migration: Migration) -> Progress:
        """Run a migration to its end."""
        start, tally = await self._store.write(saved_progress.start, migration.name, again=self._again)
        total = tally.seen + await self._store.read(_count, start.position)
        state = start.state
        while state == "running":
            state, batch = await self._store.write(migrate_next, migration, self._batch_size, self._verify)
            tally = tally.plus(batch)
            await self._after_batch(batch.seen, tally.seen, total)
        while self._verify:
            verified = await self._store.write(verify_next, migration)
            if verified is None:
                break
            tally = tally.plus(verified)
        return Progress(start.position, state, tally)

    async def dry_run(self, migration: Migration, earlier: Sequence[Migration]) -> Progress:
        """What `run` would do after the `earlier` migrations."""
        known = await self._store.read(saved_progress.find, migration.name)
        position = 0 if self._again else known.position
        tally = known.tally if known.state == "running" and not self._again else Tally()
        total = tally.seen + await self._store.read(_count, position)
        seen = self._batch_size
        while seen == self._batch_size:
            batch, seen, position = await self._store.read(
                _try_next, migration, earlier, position, self._batch_size
            )
            tally = tally.plus(batch, limited=False)
            await self._after_batch(seen, tally.seen, total)
        return Progress(position, known.state, tally)

    async def _after_batch(self, seen: int, done: int, total: int) -> None:
        """Report the progress, and wait as long as this many messages may take at least."""
        if self._on_progress is not None:
            self._on_progress(done, max(done, total))
        if self._per_second is None:
            return
        now = asyncio.get_running_loop().time()
        due = self._next_start + seen / self._per_second
        self._next_start = max(now, due)
        if due > now:
            await asyncio.sleep(due - now)


def _try_next(
    tx: Transaction, migration: Migration, earlier: Sequence[Migration], position: int, limit: int
) -> tuple[Tally, int, int]:
    """The tally of the next messages, their number, and the key of the last one."""
    rows = next_rows(tx, position, limit)
    return (
        tally_of(apply(tx, migration, rows, earlier), limited=False),
        len(rows),
        rows[-1].key if rows else position,
    )


def _count(tx: Transaction, position: int) -> int:
    query = select(func.count()).select_from(messages).where(messages.c.key > position, tx.owned(messages))
    number: int = tx.run(query).scalar_one()
    return number


# One batch


class Step(NamedTuple):
    """The state of a migration after a batch, and the tally of the batch."""

    state: State
    tally: Tally


def migrate_next(tx: Transaction, migration: Migration, limit: int, verify: bool) -> Step:
    """Change the next messages and save the progress. A batch that is not full is the last one."""
    known = saved_progress.find(tx, migration.name, lock=True)
    rows = next_rows(tx, known.position, limit)
    results = _write(tx, apply(tx, migration, rows))
    last = rows[-1].key if rows else known.position
    state: State = "running" if len(rows) == limit else "done"
    tally = tally_of(results)
    saved_progress.save(tx, migration.name, Progress(last, state, known.tally.plus(tally)))
    if verify and rows:
        digests = {one.row.key: _digest(one.change.message) for one in results if one.change is not None}
        failed = [one.row.key for one in results if one.error]
        saved_progress.add_batch(tx, migration.name, known.position, last, digests, failed)
    return Step(state, tally)


def _digest(message: Message) -> str:
    """A hash of the content. Unknown members may be in another order when they are reread."""
    content = json.dumps(loads(encode(message.content)), sort_keys=True)
    return sha256(content.encode()).hexdigest()[:32]


def _write(tx: Transaction, results: list[Result]) -> list[Result]:
    """Write the changed messages. One that the store refuses has failed; the others are written."""
    changed = [one for one in results if one.change is not None]
    if not changed:
        return results
    times = _thread_times(tx, changed)
    refused = _save(tx, changed)
    for thread in times:  # the time of the last message stays
        tx.run(
            update(threads)
            .where(threads.c.owner == thread.owner, threads.c.id == thread.id)
            .values(updated_at=thread.updated_at)
        )
    return [
        one._replace(change=None, error=refused[one.row.key]) if one.row.key in refused else one
        for one in results
    ]


def _thread_times(tx: Transaction, changed: Sequence[Result]) -> list[Row[Any]]:
    ids = {(one.row.owner, one.row.thread_id) for one in changed}
    query = select(threads.c.owner, threads.c.id, threads.c.updated_at)
    return [
        row
        for batch in batched(sorted(ids), 200)
        for row in tx.rows(query.where(tuple_(threads.c.owner, threads.c.id).in_(batch)))
    ]


def _save(tx: Transaction, changed: Sequence[Result]) -> dict[int, str]:
    """Save messages together, or one by one if that is refused. Returns the errors of refused ones by key."""
    refused: dict[int, str] = {}
    by_owner = sorted(changed, key=lambda one: (one.row.owner, one.row.key))
    for owner, group in groupby(by_owner, key=lambda one: one.row.owner):
        results = list(group)
        if _try_save(tx, owner, results) is None:
            continue
        for one in results:
            error = _try_save(tx, owner, [one])
            if error is not None:
                refused[one.row.key] = str(error)
    return refused


def _try_save(tx: Transaction, owner: str, results: Sequence[Result]) -> PartitaError | None:
    """Save messages of an owner. If the store refuses one, none is saved and the error is returned."""
    savepoint = tx.connection.begin_nested()
    try:
        prepared = [
            prepare(one.change.message, one.row.thread_id) for one in results if one.change is not None
        ]
        message_writer.save(Transaction(tx.connection, owner, tx.now), prepared)
    except PartitaError as error:
        savepoint.rollback()
        return error
    except BaseException:
        savepoint.rollback()
        raise
    savepoint.commit()
    return None


def verify_next(tx: Transaction, migration: Migration) -> Tally | None:
    """Reread and verify the next batch; `None` if all are verified."""
    known = saved_progress.find(tx, migration.name, lock=True)
    batch = saved_progress.next_batch(tx, migration.name)
    if batch is None:
        return None
    within = (messages.c.key > batch.after, messages.c.key <= batch.through, tx.owned(messages))
    rows = tx.rows(select(messages).where(*within).order_by(messages.c.key))
    faults = [note_of(row, what) for row in rows if (what := _fault(tx, migration, batch, row)) is not None]
    tally = Tally().plus(Tally(verified=len(rows), wrong=len(faults), faults=tuple(faults)))
    saved_progress.save(tx, migration.name, known._replace(tally=known.tally.plus(tally)))
    saved_progress.delete_batch(tx, batch)
    return tally


def _fault(tx: Transaction, migration: Migration, batch: Batch, row: Row[Any]) -> str | None:
    """What is wrong with a migrated message."""
    if row.key in batch.failed:
        return None  # it is among the failures
    expected = batch.digests.get(row.key)
    if expected is not None and row.updated_at != batch.written_at:
        expected = None  # it was changed since then
    (result,) = apply(tx, migration, [row])
    if result.error:
        return result.error
    if result.change is not None:
        return "the migration would change it again"
    if expected is not None and _digest(read_row(tx, row)[0]) != expected:
        return "the stored content is not the one that was written"
    return None
