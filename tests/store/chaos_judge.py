"""What a store must hold after its writers were killed: all that was acknowledged, and nothing by halves."""

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

Said: TypeAlias = Mapping[str, Any]
"""A line of a worker."""

OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'partita'
"""


async def judge(store: Store, work: str, said: Sequence[Said]) -> None:
    """Compare a store with what all its workers said so far."""
    await settle(store)
    match work:
        case "save":
            await judge_messages(store, said)
        case "append" | "seal":
            await judge_runs(store, said)
        case _:
            await judge_migrations(store, said)
    health = await check_store(store, full=True)
    assert health.healthy, [finding for check in health.checks for finding in check.findings]
    await store.read(_sound)


async def settle(store: Store) -> None:
    """Wait until a server has noticed that its clients are dead: what they sent may still be done."""
    others = 1
    while others:
        others = await store.read(lambda tx: 0 if tx.is_sqlite else tx.run(text(OTHERS)).scalar_one())
        await asyncio.sleep(0.01)


def _sound(tx: Transaction) -> None:
    if tx.is_sqlite:
        assert tx.sql("PRAGMA integrity_check").all() == [("ok",)]
        assert tx.sql("PRAGMA foreign_key_check").all() == []
    strays = "SELECT count(*) FROM parts WHERE message NOT IN (SELECT key FROM messages)"
    assert tx.sql(strays).scalar_one() == 0


async def judge_messages(store: Store, said: Sequence[Said]) -> None:
    """Batches are whole or absent, in the version that was acknowledged or a later one, without a gap."""
    tried, saved = _batches(said)
    expected = {(thread, batch) for thread, batch, _ in tried}
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
        for (where, batch, size), versions in tried.items():
            if where == thread:
                _judge_batch(found[batch], batch, size, versions, saved.get(batch))


def _batches(said: Sequence[Said]) -> tuple[dict[tuple[str, str, int], list[int]], dict[str, Any]]:
    """Which versions of each batch were tried, and of which we know that they were saved, with numbers."""
    tried: defaultdict[tuple[str, str, int], list[int]] = defaultdict(list)
    saved: dict[str, Any] = {}
    for line in said:
        match line:
            case {"trying": [thread, batch, size, version]}:
                tried[thread, batch, size].append(version)
            case {"saved": [_, batch, _, version, seqs]}:
                saved[batch] = (version, seqs)
            case _:
                pass
    return tried, saved


def _judge_batch(found: list[Message], batch: str, size: int, versions: list[int], saved: Any) -> None:
    assert len(found) in ((size,) if saved else (0, size)), f"{batch} has {len(found)} of {size}"
    if not found:
        return
    if saved:
        assert [message.seq for message in found] == saved[1]
    possible = [version for version in versions if not saved or version >= saved[0]]
    made = {version: [message_of(batch, place, version) for place in range(size)] for version in possible}
    contents = [message.content for message in found]
    assert contents in [[message.content for message in version] for version in made.values()], batch


async def judge_runs(store: Store, said: Sequence[Said]) -> None:
    """Logs hold every append once and whole, where it was said to be; runs are as far as was said."""
    places: defaultdict[str, dict[tuple[str, int], int | None]] = defaultdict(dict)
    known: dict[str, set[str]] = {"opened": set(), "finished": set(), "sealed": set()}
    for line in said:
        match line:
            case {"trying": [run_id, writer, number, size]}:
                places[run_id][writer, number] = None
            case {"appended": [run_id, writer, number, size, last]}:
                places[run_id][writer, number] = last - size + 1
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
        _judge_log(lines, places[run_id])


def _raw_lines(tx: Transaction, run_id: str) -> list[bytes]:
    return list(raw_lines(tx, run_id))


def _judge_log(lines: Sequence[bytes], places: Mapping[tuple[str, int], int | None]) -> None:
    seen: set[tuple[str, int]] = set()
    seq = 1
    while seq <= len(lines):
        writer, number, _, size = lines[seq - 1].split(b" ", 4)[:4]
        key, count = (writer.decode(), int(number)), int(size)
        assert key not in seen, f"{key} was appended twice"
        assert places[key] in (None, seq)
        whole = [raw_of(*key, place, count) for place in range(count)]
        assert list(lines[seq - 1 : seq - 1 + count]) == whole, f"{key} is not whole"
        seen.add(key)
        seq += count
    lost = [key for key, place in places.items() if place is not None and key not in seen]
    assert lost == []


async def judge_migrations(store: Store, said: Sequence[Said]) -> None:
    """Rows are as they were or as they should be; a migration is as far as it said, and ends well."""
    after = await migrated_forms()
    for name in MIGRATIONS:
        told = [line for line in said if name in (line.get("starting"), (line.get("seen") or [""])[0])]
        if told and "seen" in told[-1]:
            record = await store.read(progress.find, name)
            assert record.tally.seen >= told[-1]["seen"][1]
    done = Counter(line["migrated"][1] for line in said if "migrated" in line)
    rows = await store.read(lambda tx: tx.rows(select(messages.c.id, messages.c.content)))
    for row in rows:
        prefix, _, kind = row.id.split("/")
        assert row.content in after[kind][done[prefix] :], row.id
    waiting = sum(row.content != after[row.id.rpartition("/")[2]][-1] for row in rows)
    reports = await migrate(store)
    assert all(report.ok and report.state == "done" for report in reports)
    assert sum(report.changed for report in reports) >= waiting
    for row in await store.read(lambda tx: tx.rows(select(messages.c.id, messages.c.content))):
        assert row.content == after[row.id.rpartition("/")[2]][-1], row.id
    assert all(report.state == "done" for report in await list_migrations(store))


async def migrated_forms() -> dict[str, list[str]]:
    """The contents that a row of every kind has, one after the other, when nothing goes wrong."""
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
