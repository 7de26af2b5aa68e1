"""The doctor, on every engine: damage is found, what can be repaired is, and a healthy store has nothing."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.store.doctor.checks import CHECKS
from partita.store.doctor.examination import examine
from partita.store.doctor.report import CheckResult, Health
from partita.store.engines.engine import Engine
from partita.store.engines.sqlite import SqliteEngine
from partita.store.logs.appender import Appender
from partita.store.logs.run_log import LogEntry
from partita.store.opening import open_store, utc_now
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from tests.canonical import messages as any_message
from tests.store.emptying import in_empty_store, left_out
from tests.store.examples import answer, ask, failed, worked
from tests.store.older import CALL, everything, second, without_checks
from tests.tables import each_row

LONG = "word " * 10_000
Damage: TypeAlias = Callable[[Store], Awaitable[None]]


@pytest.fixture
async def filled(store: Store) -> Store:
    """A store with a bit of everything, and nothing wrong with it."""
    await fill(store)
    return store


async def filled_again(engine: Engine) -> Store:
    """Such a store on an empty engine; a new one, because it remembers the runs that it appends to."""
    store = Store(engine, clock=utc_now, appender=Appender(engine))
    await fill(store)
    return store


async def fill(store: Store) -> None:
    await store.threads.create("t1", title="The lighthouse", metadata={"topic": "height", "tags": []})
    await store.threads.create("t2")
    await store.messages.save(
        [ask("m1"), worked("m2", output=LONG), failed("m3"), ask("m4"), answer("m5")], thread_id="t1"
    )
    await store.messages.save([answer("m6", parent_id="m1")], thread_id="t1")
    await store.messages.save([ask("m1")], thread_id="t2")
    await store.runs.open("t1", id="r1", agent="keeper")
    for _ in range(3):
        await store.logs.append("r1", [LogEntry(datetime.now(UTC), None, b"line")] * 2)
    await store.runs.finish("r1")


def of_before(statement: str) -> Damage:
    """Damage from before roles and types were checked."""

    async def damage(store: Store) -> None:
        await store.write(without_checks, statement)

    return damage


def sql(*statements: str) -> Damage:
    """Damage done by statements that foreign keys allow."""

    async def damage(store: Store) -> None:
        def work(tx: Transaction) -> None:
            for statement in statements:
                own = statement.replace("{bytes}", "BLOB" if tx.is_sqlite else "BYTEA")
                tx.sql(own.replace("{log}", "log_tail" if tx.is_sqlite else "run_log"))

        await store.write(work)

    return damage


def torn(*statements: str) -> Damage:
    """Damage done by statements that foreign keys would not allow."""

    async def damage(store: Store) -> None:
        if isinstance(store.engine, SqliteEngine):
            await store.engine.autocommit(lambda c: c.exec_driver_sql("PRAGMA foreign_keys = OFF") and None)
            await sql(*statements)(store)
            await store.engine.autocommit(lambda c: c.exec_driver_sql("PRAGMA foreign_keys = ON") and None)
        else:
            await sql("SET LOCAL session_replication_role = replica", *statements)(store)

    return damage


def problems(health: Health) -> dict[str, int]:
    return {check.name: check.problems for check in health.checks if check.problems}


def result_of(health: Health, check: str) -> CheckResult:
    return next(result for result in health.checks if result.name == check)


def notices(health: Health) -> dict[str, int]:
    return {check.name: check.notices for check in health.checks if check.notices}


async def test_a_healthy_store_has_no_findings(filled: Store) -> None:
    before = await everything(filled)
    health = await examine(filled, full=True)
    assert (health.healthy, problems(health)) == (True, {})
    assert notices(health) == {"unsealed-runs": 1}
    assert await everything(filled) == before


async def test_a_sealed_run_is_no_notice(filled: Store) -> None:
    health = await examine(filled, repair=True, full=True)
    assert (health.repaired, notices(health)) == (1, {})
    assert [entry.raw for entry in await filled.logs.read("r1")] == [b"line"] * 6


REPAIRABLE: dict[str, tuple[Damage, str, str]] = {
    "flags": (sql("UPDATE messages SET has_errors = true WHERE id = 'm1'"), "derived", "has_errors"),
    "preview": (sql("UPDATE messages SET preview = 'nonsense' WHERE id = 'm2'"), "derived", "preview"),
    "part rows gone": (sql("DELETE FROM parts"), "derived", "rows of parts"),
    "part rows changed": (
        sql("UPDATE parts SET state = 'input-available', tool_name = 'x' WHERE call_id = 'c1'"),
        "derived",
        "rows of parts",
    ),
    "index entries gone": (sql("DELETE FROM search"), "derived", "index entry"),
    "titles not found": (sql("DELETE FROM search"), "titles", "not in the search index"),
    "labels gone": (sql("DELETE FROM thread_labels"), "labels", "labels"),
    "labels wrong": (sql("UPDATE thread_labels SET value = '1'"), "labels", "labels"),
    "too few messages counted": (sql("UPDATE threads SET message_count = 1"), "counters", "says 1 messages"),
    "errors counted wrong": (sql("UPDATE threads SET error_count = 7"), "counters", "7 errors"),
    "a number would be given twice": (sql("UPDATE threads SET next_seq = 2"), "counters", "again"),
    "the leaf is gone": (sql("UPDATE threads SET active_leaf_id = 'nowhere'"), "branches", "nowhere"),
    "no leaf": (sql("UPDATE threads SET active_leaf_id = NULL"), "branches", "nothing"),
    "all are active": (sql("UPDATE messages SET active = true"), "branches", "marked wrong"),
    "references forgotten": (sql("DELETE FROM blob_refs"), "blobs", "not known to be used"),
    "the run says too little": (sql("UPDATE runs SET last_seq = 3"), "log-ends", "ends at entry 6"),
    "parts without a message": (
        torn("DELETE FROM messages WHERE id = 'm4'", "UPDATE messages SET parent_id = 'm3' WHERE id = 'm5'"),
        "orphans",
        "rows of parts",
    ),
    "references without a message": (torn("DELETE FROM messages WHERE id = 'm2'"), "orphans", "references"),
    "messages without a thread": (torn("DELETE FROM threads WHERE id = 't1'"), "orphans", "messages of"),
    "runs without a thread": (torn("DELETE FROM threads WHERE id = 't1'"), "orphans", "runs of"),
    "labels without a thread": (torn("DELETE FROM threads WHERE id = 't1'"), "orphans", "labels of"),
    "entries without a message": (torn("DELETE FROM messages WHERE id = 'm4'"), "index", "index entry"),
    "entries without a thread": (torn("DELETE FROM threads WHERE id = 't1'"), "index", "title"),
}


@each_row("name", REPAIRABLE)
@in_empty_store
async def test_damage_that_can_be_repaired(engine: Engine, name: str) -> None:
    if left_out(engine, name):
        return
    damage, check, what = REPAIRABLE[name]
    filled = await filled_again(engine)
    await damage(filled)
    health = await examine(filled, full=True)
    found = result_of(health, check)
    assert any(what in finding.what for finding in found.findings), found.findings
    assert all(finding.hint for finding in found.findings)
    assert not health.healthy
    mended = await examine(filled, repair=True, full=True)
    assert problems(mended) == {}
    assert result_of(mended, check).repaired >= 1
    assert mended.healthy
    assert not any(result.repairable for result in mended.checks)  # there is nothing left to repair


MENDED_EXACTLY = ("flags", "part rows gone", "index entries gone", "labels gone", "too few messages counted",
                  "all are active", "references forgotten", "the run says too little")  # fmt: skip


@each_row("name", MENDED_EXACTLY)
@in_empty_store
async def test_a_repair_gives_back_what_was_there(engine: Engine, name: str) -> None:
    if left_out(engine, name):
        return
    filled = await filled_again(engine)
    await examine(filled, repair=True)  # seals the run
    before = await everything(filled)
    await REPAIRABLE[name][0](filled)
    assert await everything(filled) != before
    await examine(filled, repair=True, full=True)
    assert await everything(filled) == before


async def test_a_thread_that_is_made_again_has_its_messages(filled: Store) -> None:
    before = await filled.messages.list("t1")
    await torn("DELETE FROM threads WHERE id = 't1'")(filled)
    await examine(filled, repair=True)
    assert (await filled.messages.list("t1")).items == before.items
    thread = await filled.threads.get("t1")
    assert thread is not None
    assert (thread.message_count, thread.active_leaf_id, thread.title) == (6, "m6", None)
    await filled.messages.save([ask("m7")], thread_id="t1")


UNREPAIRABLE: dict[str, tuple[Damage, str, str]] = {
    "content that breaks off": (
        sql("UPDATE messages SET content = '{\"format\":2,\"pa' WHERE id = 'm1' AND thread_id = 't1'"),
        "contents",
        "cannot be read",
    ),
    "a content with moves that breaks off": (
        sql("UPDATE messages SET content = '{\"format\":2,\"pa' WHERE id = 'm2'"),
        "contents",
        "blobs does not fit",
    ),
    "an unknown type": (of_before("UPDATE messages SET type = 'v2' WHERE id = 'm4'"), "contents", "v2"),
    "an unknown role": (of_before("UPDATE messages SET role = 'ghost' WHERE id = 'm4'"), "contents", "ghost"),
    "a damaged extra": (sql("UPDATE messages SET extra = '[1' WHERE id = 'm4'"), "contents", "extra"),
    "damaged moves": (sql("UPDATE messages SET blobs = '[[[1],2]]' WHERE id = 'm2'"), "contents", "blobs"),
    "moves of another content": (
        sql("UPDATE messages SET content = '{\"parts\":[],\"format\":2}' WHERE id = 'm2'"),
        "contents",
        "blobs",
    ),
    "damaged metadata": (sql("UPDATE threads SET metadata = '{' WHERE id = 't2'"), "columns", "metadata"),
    "a damaged usage": (sql("UPDATE runs SET usage = '7'"), "columns", "usage"),
    "a missing blob": (
        torn("DELETE FROM blob_refs", "DELETE FROM blobs"),
        "blobs",
        "is missing",
    ),
    "bytes of another blob": (
        sql("UPDATE blobs SET encoding = 'plain', data = CAST('x' AS {bytes})"),
        "blob-bytes",
        "not those of its hash",
    ),
    "bytes that cannot be unpacked": (
        sql("UPDATE blobs SET encoding = 'zstd', data = CAST('x' AS {bytes})"),
        "blob-bytes",
        "cannot be unpacked",
    ),
    "a wrong size": (sql("UPDATE blobs SET size = 3"), "blob-bytes", "says 3"),
    "a gap in a log": (sql("DELETE FROM {log} WHERE first_seq = 3"), "log-gaps", "entries 3-4 are missing"),
    "a log that is cut": (sql("DELETE FROM {log} WHERE first_seq = 5"), "log-ends", "ends at entry 4"),
    "entries twice": (
        sql("UPDATE {log} SET last_seq = 4 WHERE first_seq = 1"),
        "log-gaps",
        "entry 3 is there twice",
    ),
    "a damaged block": (
        sql("UPDATE {log} SET data = CAST('x' AS {bytes}) WHERE first_seq = 3"),
        "log-blocks",
        "damaged",
    ),
    "a log without a run": (
        torn("INSERT INTO run_log VALUES ('', 'r9', 1, 1, 'plain', CAST('x' AS {bytes}))"),
        "orphans",
        "pieces of a log",
    ),
}


@each_row("name", UNREPAIRABLE)
@in_empty_store
async def test_damage_that_cannot_be_repaired_is_told_and_left(engine: Engine, name: str) -> None:
    if left_out(engine, name):
        return
    damage, check, what = UNREPAIRABLE[name]
    filled = await filled_again(engine)
    await damage(filled)
    health = await examine(filled, repair=True, full=True)
    found = result_of(health, check)
    assert any(what in finding.what and not finding.repairable for finding in found.findings), found.findings
    assert not health.healthy


async def test_findings_name_what_they_are_about(filled: Store) -> None:
    await of_before("UPDATE messages SET role = 'ghost' WHERE id = 'm4'")(filled)
    health = await examine(filled)
    (finding,) = result_of(health, "contents").findings
    assert (finding.thread_id, finding.message_id, finding.where) == ("t1", "m4", "thread t1, message m4")


OPEN = ToolCallPart(id="c8", name="ask", state="approval-requested", input={})


async def test_open_calls_are_told_unless_someone_may_answer(store: Store) -> None:
    await store.threads.create("t")
    await store.runs.open("t", id="r")
    await store.messages.save([ask("a"), AssistantMessage(id="b", content=[OPEN], run_id="r")], thread_id="t")
    assert notices(await examine(store)) == {}
    await store.runs.finish("r")
    assert notices(await examine(store))["open-calls"] == 1
    await store.messages.save([ask("c"), AssistantMessage(id="d", content=[OPEN])], thread_id="t")
    health = await examine(store, repair=True)
    assert notices(health) == {"open-calls": 1, "repeated-calls": 1}
    assert health.healthy


async def test_older_rows_are_no_damage(filled: Store) -> None:
    content = second(CALL).replace("'", "''")
    await sql(f"UPDATE messages SET content = '{content}' WHERE id = 'm5'")(filled)
    await sql("UPDATE messages SET content = 'Just words.' WHERE id = 'm4'")(filled)
    health = await examine(filled, repair=True)
    assert (health.healthy, notices(health)) == (True, {"contents": 2})
    contents = result_of(health, "contents")
    assert [finding.hint for finding in contents.findings] == [
        "partita migrate brings it to today's form"
    ] * 2


async def test_blobs_nobody_uses_go_after_a_day(url: str) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    async with open_store(url, clock=lambda: now) as store:
        await fill(store)
        await store.blobs.put(b"waiting")
        health = await examine(store, repair=True)
        assert notices(health) == {"unused-blobs": 1}
        now += timedelta(days=2)
        await sql("DELETE FROM blob_refs")(store)
        health = await examine(store, repair=True)
        assert (health.healthy, notices(health)) == (True, {})
        assert len((await everything(store))["blobs"]) == 1


async def test_a_run_whose_owner_went_away(url: str) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    async with open_store(url, clock=lambda: now) as store:
        await store.threads.create("t")
        await store.runs.open("t", id="r", lease_owner="worker-7", lease_seconds=30)
        assert (await examine(store)).healthy
        now += timedelta(seconds=31)
        health = await examine(store, repair=True)
        (found,) = result_of(health, "abandoned-runs").findings
        assert (found.run_id, "worker-7" in found.what) == ("r", True)


async def test_a_scoped_store_examines_its_own_rows_only(store: Store) -> None:
    for owner in ("u1", "u2"):
        await fill_scoped(store.scoped(owner))
    await sql(
        "UPDATE threads SET message_count = 9", "DELETE FROM parts", "UPDATE messages SET preview = 'x'"
    )(store)
    await examine(store.scoped("u1"), repair=True, full=True)
    assert (await examine(store.scoped("u1"), full=True)).healthy
    theirs = await examine(store.scoped("u2"), full=True)
    assert problems(theirs) == {"derived": 2, "counters": 1}
    found = [finding.resource_id for result in theirs.checks for finding in result.findings]
    assert set(found) == {"u2"}


async def fill_scoped(store: Store) -> None:
    await store.threads.create("t1", title="Mine")
    await store.messages.save([ask("m1"), worked("m2")], thread_id="t1")


async def test_a_sample_finds_what_is_everywhere(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.store.doctor.examination.MESSAGES_LOOKED_INTO", 2)
    await store.threads.create("t")
    await store.messages.save([ask(f"m{number}") for number in range(20)], thread_id="t")
    await sql("UPDATE messages SET preview = 'x'")(store)
    assert problems(await examine(store)) == {"derived": 2}
    assert problems(await examine(store, full=True)) == {"derived": 20}
    mended = await examine(store, repair=True)
    assert mended.repaired == 20
    assert (await examine(store, full=True)).healthy


async def test_many_findings_are_counted_and_a_hundred_kept(store: Store) -> None:
    await store.threads.create("t")
    await store.messages.save([ask(f"m{number}") for number in range(450)], thread_id="t")
    await of_before("UPDATE messages SET role = 'ghost'")(store)
    contents = result_of(await examine(store), "contents")
    assert (contents.problems, len(contents.findings)) == (450, 100)


async def test_progress_is_told(filled: Store) -> None:
    told: list[tuple[int, int]] = []
    await examine(filled, progress=lambda done, total: told.append((done, total)))
    assert told == [(number, len(CHECKS)) for number in range(1, len(CHECKS) + 1)]
    await examine(filled, repair=True, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (2 * len(CHECKS), 2 * len(CHECKS))


async def test_a_damaged_file_is_told(tmp_path: Any) -> None:
    path = tmp_path / "store.db"
    async with open_store(path) as store:
        await fill(store)
        await store.messages.save([ask(f"x{number}", LONG) for number in range(20)], thread_id="t2")
    data = bytearray(path.read_bytes())
    middle = len(data) // 4096 // 2 * 4096
    data[middle : middle + 8192] = b"\xff" * 8192
    path.write_bytes(data)
    async with open_store(path) as store:
        health = await examine(store, full=True)
    assert not health.healthy
    assert result_of(health, "file").problems


_ids = st.sampled_from([f"m{number}" for number in range(6)])
_saved = st.tuples(any_message(), _ids, st.none() | st.just("") | _ids)


@given(batches=st.lists(st.lists(_saved, max_size=4), max_size=3))
async def test_whatever_is_saved_is_healthy(batches: list[list[tuple[Message, str, str | None]]]) -> None:
    """A store that only we have written to has no damage, whatever follows what."""
    async with open_store("memory:") as store:
        await store.threads.create("t", title="Any")
        for batch in batches:
            fields = {"thread_id": None, "resource_id": None, "run_id": None}
            messages = [
                replace(message, id=name, parent_id=parent, **fields) for message, name, parent in batch
            ]
            await store.messages.save(messages, thread_id="t")
        assert problems(await examine(store, full=True)) == {}
