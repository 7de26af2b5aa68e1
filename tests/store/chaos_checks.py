"""Checks of a store after its writers were killed: everything acknowledged is stored, nothing partially."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import select, text

from partita.store.connection import open_store
from partita.store.data_migrations import progress
from partita.store.data_migrations.runner import MIGRATIONS, list_migrations, migrate
from partita.store.doctor.doctor import check_store
from partita.store.logs.run_log import raw_lines
from partita.store.schema import messages, runs
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.messages import Message
from tests.store.chaos import OLD, THREADS, message_of, raw_of, write_old_rows

Report: TypeAlias = Mapping[str, Any]
"""A report of a worker."""

OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'partita'
"""


async def check_work(store: Store, work: str, reports: Sequence[Report]) -> None:
    """Compare a store with the reports of all its workers so far."""
    await settle(store)
    match work:
        case "save":
            await check_messages(store, reports)
        case "append" | "seal":
            await check_runs(store, reports)
        case _:
            await check_migrations(store, reports)
    health = await check_store(store, full=True)
    assert health.healthy, [finding for check in health.checks for finding in check.findings]
    await store.read(_check_integrity)


async def settle(store: Store) -> None:
    """Wait until a server has noticed that its clients are dead: it may still execute their requests."""
    others = 1
    while others:
        others = await store.read(lambda tx: 0 if tx.is_sqlite else tx.run(text(OTHERS)).scalar_one())
        await asyncio.sleep(0.01)


def _check_integrity(tx: Transaction) -> None:
    if tx.is_sqlite:
        assert tx.sql("PRAGMA integrity_check").all() == [("ok",)]
        assert tx.sql("PRAGMA foreign_key_check").all() == []
    strays = "SELECT count(*) FROM parts WHERE message NOT IN (SELECT key FROM messages)"
    assert tx.sql(strays).scalar_one() == 0


async def check_messages(store: Store, reports: Sequence[Report]) -> None:
    """Batches are complete or absent, in the acknowledged version or a later one, without gaps."""
    attempted, saved = _batches(reports)
    expected = {(thread, batch) for thread, batch, _ in attempted}
    for thread in THREADS:
        stored = await store.messages.list(thread, MessageFilter(branch="all"), limit=None)
        assert [message.seq for message in stored] == list(range(1, len(stored) + 1))
        row = await store.threads.get(thread)
        assert row is not None
        assert row.message_count == len(stored)
        found: defaultdict[str, list[Message]] = defaultdict(list)
        for message in stored:
            found[str(message.id).partition("/")[0]].append(message)
        assert {(thread, batch) for batch in found} <= expected
        for (where, batch, size), versions in attempted.items():
            if where == thread:
                _check_batch(found[batch], batch, size, versions, saved.get(batch))


def _batches(reports: Sequence[Report]) -> tuple[dict[tuple[str, str, int], list[int]], dict[str, Any]]:
    """The versions of each batch that were attempted, and those known to be saved, with numbers."""
    attempted: defaultdict[tuple[str, str, int], list[int]] = defaultdict(list)
    saved: dict[str, Any] = {}
    for line in reports:
        match line:
            case {"trying": [thread, batch, size, version]}:
                attempted[thread, batch, size].append(version)
            case {"saved": [_, batch, _, version, seqs]}:
                saved[batch] = (version, seqs)
            case _:
                pass
    return attempted, saved


def _check_batch(found: list[Message], batch: str, size: int, versions: list[int], saved: Any) -> None:
    assert len(found) in ((size,) if saved else (0, size)), f"{batch} has {len(found)} of {size}"
    if not found:
        return
    if saved:
        assert [message.seq for message in found] == saved[1]
    possible = [version for version in versions if not saved or version >= saved[0]]
    made = {version: [message_of(batch, place, version) for place in range(size)] for version in possible}
    contents = [message.content for message in found]
    assert contents in [[message.content for message in version] for version in made.values()], batch


async def check_runs(store: Store, reports: Sequence[Report]) -> None:
    """Logs have every append once, complete and at the acknowledged position; so do statuses of runs."""
    positions: defaultdict[str, dict[tuple[str, int], int | None]] = defaultdict(dict)
    known: dict[str, set[str]] = {"opened": set(), "finished": set(), "sealed": set()}
    for line in reports:
        match line:
            case {"trying": [run_id, writer, number, size]}:
                positions[run_id][writer, number] = None
            case {"appended": [run_id, writer, number, size, last]}:
                positions[run_id][writer, number] = last - size + 1
            case _:
                for event, ids in known.items():
                    ids.update([line[event]] if event in line else [])
    rows = {row.id: row for row in await store.read(lambda tx: tx.rows(select(runs)))}
    assert known["opened"] <= rows.keys()
    assert all(rows[name].status == "completed" for name in known["finished"] | known["sealed"])
    assert all(rows[name].sealed for name in known["sealed"])
    for run_id, row in rows.items():
        lines = await store.read(_raw_lines, run_id)
        assert len(lines) == row.last_seq
        _check_log(lines, positions[run_id])


def _raw_lines(tx: Transaction, run_id: str) -> list[bytes]:
    return list(raw_lines(tx, run_id))


def _check_log(lines: Sequence[bytes], positions: Mapping[tuple[str, int], int | None]) -> None:
    found: set[tuple[str, int]] = set()
    seq = 1
    while seq <= len(lines):
        writer, number, _, size = lines[seq - 1].split(b" ", 4)[:4]
        key, count = (writer.decode(), int(number)), int(size)
        assert key not in found, f"{key} was appended twice"
        assert positions[key] in (None, seq)
        whole = [raw_of(*key, place, count) for place in range(count)]
        assert list(lines[seq - 1 : seq - 1 + count]) == whole, f"{key} is incomplete"
        found.add(key)
        seq += count
    lost = [key for key, place in positions.items() if place is not None and key not in found]
    assert lost == []


async def check_migrations(store: Store, reports: Sequence[Report]) -> None:
    """Rows are unchanged or migrated; a migration has the reported progress, and can be completed."""
    after = await migrated_forms()
    for name in MIGRATIONS:
        lines = [line for line in reports if name in (line.get("starting"), (line.get("seen") or [""])[0])]
        if lines and "seen" in lines[-1]:
            record = await store.read(progress.find, name)
            assert record.tally.seen >= lines[-1]["seen"][1]
    done = Counter(line["migrated"][1] for line in reports if "migrated" in line)
    rows = await store.read(lambda tx: tx.rows(select(messages.c.id, messages.c.content)))
    for row in rows:
        prefix, _, kind = row.id.split("/")
        assert row.content in after[kind][done[prefix] :], row.id
    waiting = sum(row.content != after[row.id.rpartition("/")[2]][-1] for row in rows)
    migrated = await migrate(store)
    assert all(report.ok and report.state == "done" for report in migrated)
    assert sum(report.changed for report in migrated) >= waiting
    for row in await store.read(lambda tx: tx.rows(select(messages.c.id, messages.c.content))):
        assert row.content == after[row.id.rpartition("/")[2]][-1], row.id
    assert all(report.state == "done" for report in await list_migrations(store))


async def migrated_forms() -> dict[str, list[str]]:
    """The contents that a row of each kind has after each migration."""
    forms: dict[str, list[str]] = {kind: [] for kind in OLD}
    async with open_store("memory:") as store:
        await store.threads.create("old")
        await write_old_rows(store, "form", 1)
        for names in ([], *([name] for name in MIGRATIONS)):
            if names:
                await migrate(store, names)
            for row in await store.read(lambda tx: tx.rows(select(messages.c.id, messages.c.content))):
                forms[row.id.rpartition("/")[2]].append(row.content)
    return forms
