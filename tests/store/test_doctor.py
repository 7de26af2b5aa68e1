"""The doctor on every engine: it finds and repairs damage, and finds nothing in a healthy store."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.store.connection import open_store, utc_now
from partita.store.doctor.doctor import CHECKS, check_store
from partita.store.doctor.report import CheckResult, Health
from partita.store.engines.engine import Engine
from partita.store.engines.sqlite import SqliteEngine
from partita.store.logs.appender import Appender
from partita.store.logs.run_log import LogEntry
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from tests.canonical import messages as any_message
from tests.store.emptying import in_empty_store, left_out
from tests.store.examples import assistant_message, failed_call_message, tool_call_message, user_message
from tests.store.old_rows import CALL, everything, second, without_checks
from tests.tables import each_row

LONG = "word " * 10_000
Damage: TypeAlias = Callable[[Store], Awaitable[None]]


@pytest.fixture
async def filled(store: Store) -> Store:
    """A store with rows in every table, without damage."""
    await fill(store)
    return store


async def filled_again(engine: Engine) -> Store:
    """Such a store on an emptied engine; a new `Store`, because its appender keeps state."""
    store = Store(engine, clock=utc_now, appender=Appender(engine))
    await fill(store)
    return store


async def fill(store: Store) -> None:
    await store.threads.create("t1", title="The lighthouse", metadata={"topic": "height", "tags": []})
    await store.threads.create("t2")
    await store.messages.save(
        [
            user_message("m1"),
            tool_call_message("m2", output=LONG),
            failed_call_message("m3"),
            user_message("m4"),
            assistant_message("m5"),
        ],
        thread_id="t1",
    )
    await store.messages.save([assistant_message("m6", parent_id="m1")], thread_id="t1")
    await store.messages.save([user_message("m1")], thread_id="t2")
    await store.runs.open("t1", id="r1", agent="keeper")
    for _ in range(3):
        await store.logs.append("r1", [LogEntry(datetime.now(UTC), None, b"line")] * 2)
    await store.runs.finish("r1")


def without_constraints(statement: str) -> Damage:
    """Damage that the constraints on roles and types would prevent."""

    async def damage(store: Store) -> None:
        await store.write(without_checks, statement)

    return damage


def sql(*statements: str) -> Damage:
    """Damage by statements that foreign keys allow."""

    async def damage(store: Store) -> None:
        def work(tx: Transaction) -> None:
            for statement in statements:
                own = statement.replace("{bytes}", "BLOB" if tx.is_sqlite else "BYTEA")
                tx.sql(own.replace("{log}", "log_tail" if tx.is_sqlite else "run_log"))

        await store.write(work)

    return damage


def with_keys_off(*statements: str) -> Damage:
    """Damage by statements that foreign keys do not allow."""

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
    health = await check_store(filled, full=True)
    assert (health.healthy, problems(health)) == (True, {})
    assert notices(health) == {"unsealed-runs": 1}
    assert await everything(filled) == before


async def test_a_sealed_run_has_no_notice(filled: Store) -> None:
    health = await check_store(filled, repair=True, full=True)
    assert (health.repaired, notices(health)) == (1, {})
    assert [entry.raw for entry in await filled.logs.read("r1")] == [b"line"] * 6


REPAIRABLE: dict[str, tuple[Damage, str, str]] = {
    "flags": (sql("UPDATE messages SET has_errors = true WHERE id = 'm1'"), "derived", "has_errors"),
    "preview": (sql("UPDATE messages SET preview = 'nonsense' WHERE id = 'm2'"), "derived", "preview"),
    "missing part rows": (sql("DELETE FROM parts"), "derived", "part rows"),
    "changed part rows": (
        sql("UPDATE parts SET state = 'input-available', tool_name = 'x' WHERE call_id = 'c1'"),
        "derived",
        "part rows",
    ),
    "missing index entries": (sql("DELETE FROM search"), "derived", "index entry"),
    "missing titles": (sql("DELETE FROM search"), "titles", "not in the search index"),
    "missing labels": (sql("DELETE FROM thread_labels"), "labels", "labels"),
    "labels wrong": (sql("UPDATE thread_labels SET value = '1'"), "labels", "labels"),
    "too few messages": (sql("UPDATE threads SET message_count = 1"), "counters", "counts 1 messages"),
    "wrong number of errors": (sql("UPDATE threads SET error_count = 7"), "counters", "7 errors"),
    "a number that exists already": (sql("UPDATE threads SET next_seq = 2"), "counters", "exists already"),
    "a missing leaf": (sql("UPDATE threads SET active_leaf_id = 'nowhere'"), "branches", "nowhere"),
    "no leaf": (sql("UPDATE threads SET active_leaf_id = NULL"), "branches", "no active leaf"),
    "all are active": (sql("UPDATE messages SET active = true"), "branches", "wrongly marked"),
    "references forgotten": (sql("DELETE FROM blob_refs"), "blobs", "the reference to blob"),
    "the run has too small a number": (sql("UPDATE runs SET last_seq = 3"), "log-ends", "ends at entry 6"),
    "parts without a message": (
        with_keys_off(
            "DELETE FROM messages WHERE id = 'm4'", "UPDATE messages SET parent_id = 'm3' WHERE id = 'm5'"
        ),
        "orphans",
        "part rows",
    ),
    "references without a message": (
        with_keys_off("DELETE FROM messages WHERE id = 'm2'"),
        "orphans",
        "references",
    ),
    "messages without a thread": (
        with_keys_off("DELETE FROM threads WHERE id = 't1'"),
        "orphans",
        "messages of",
    ),
    "runs without a thread": (with_keys_off("DELETE FROM threads WHERE id = 't1'"), "orphans", "runs of"),
    "labels without a thread": (with_keys_off("DELETE FROM threads WHERE id = 't1'"), "orphans", "labels of"),
    "entries without a message": (
        with_keys_off("DELETE FROM messages WHERE id = 'm4'"),
        "index",
        "index entry",
    ),
    "entries without a thread": (with_keys_off("DELETE FROM threads WHERE id = 't1'"), "index", "title"),
}


@each_row("name", REPAIRABLE)
@in_empty_store
async def test_damage_that_can_be_repaired(engine: Engine, name: str) -> None:
    if left_out(engine, name):
        return
    damage, check, what = REPAIRABLE[name]
    filled = await filled_again(engine)
    await damage(filled)
    health = await check_store(filled, full=True)
    found = result_of(health, check)
    assert any(what in finding.what for finding in found.findings), found.findings
    assert all(finding.hint for finding in found.findings)
    assert not health.healthy
    repaired = await check_store(filled, repair=True, full=True)
    assert problems(repaired) == {}
    assert result_of(repaired, check).repaired >= 1
    assert repaired.healthy
    assert not any(result.repairable for result in repaired.checks)


REPAIRED_EXACTLY = (
    "flags",
    "missing part rows",
    "missing index entries",
    "missing labels",
    "too few messages",
    "all are active",
    "references forgotten",
    "the run has too small a number",
)


@each_row("name", REPAIRED_EXACTLY)
@in_empty_store
async def test_a_repair_restores_the_original_rows(engine: Engine, name: str) -> None:
    if left_out(engine, name):
        return
    filled = await filled_again(engine)
    await check_store(filled, repair=True)  # seals the run
    before = await everything(filled)
    await REPAIRABLE[name][0](filled)
    assert await everything(filled) != before
    await check_store(filled, repair=True, full=True)
    assert await everything(filled) == before


async def test_a_thread_that_is_created_again_has_its_messages(filled: Store) -> None:
    before = await filled.messages.list("t1")
    await with_keys_off("DELETE FROM threads WHERE id = 't1'")(filled)
    await check_store(filled, repair=True)
    assert (await filled.messages.list("t1")).items == before.items
    thread = await filled.threads.get("t1")
    assert thread is not None
    assert (thread.message_count, thread.active_leaf_id, thread.title) == (len(before.items), "m6", None)
    await filled.messages.save([user_message("m7")], thread_id="t1")


UNREPAIRABLE: dict[str, tuple[Damage, str, str]] = {
    "truncated content": (
        sql("UPDATE messages SET content = '{\"format\":2,\"pa' WHERE id = 'm1' AND thread_id = 't1'"),
        "contents",
        "cannot be read",
    ),
    "truncated content with moves": (
        sql("UPDATE messages SET content = '{\"format\":2,\"pa' WHERE id = 'm2'"),
        "contents",
        "blobs does not fit",
    ),
    "an unknown type": (
        without_constraints("UPDATE messages SET type = 'v2' WHERE id = 'm4'"),
        "contents",
        "v2",
    ),
    "an unknown role": (
        without_constraints("UPDATE messages SET role = 'ghost' WHERE id = 'm4'"),
        "contents",
        "ghost",
    ),
    "a damaged extra": (sql("UPDATE messages SET extra = '[1' WHERE id = 'm4'"), "contents", "extra"),
    "damaged moves": (sql("UPDATE messages SET blobs = '[[[1],2]]' WHERE id = 'm2'"), "contents", "blobs"),
    "moves of another content": (
        sql("UPDATE messages SET content = '{\"parts\":[],\"format\":2}' WHERE id = 'm2'"),
        "contents",
        "blobs",
    ),
    "damaged metadata": (sql("UPDATE threads SET metadata = '{' WHERE id = 't2'"), "columns", "metadata"),
    "a damaged usage": (sql("UPDATE runs SET usage = '7'"), "columns", "usage"),
    "a missing blob": (with_keys_off("DELETE FROM blob_refs", "DELETE FROM blobs"), "blobs", "is missing"),
    "bytes of another blob": (
        sql("UPDATE blobs SET encoding = 'plain', data = CAST('x' AS {bytes})"),
        "blob-bytes",
        "do not match its hash",
    ),
    "bytes that cannot be decompressed": (
        sql("UPDATE blobs SET encoding = 'zstd', data = CAST('x' AS {bytes})"),
        "blob-bytes",
        "cannot be decompressed",
    ),
    "a wrong size": (sql("UPDATE blobs SET size = 3"), "blob-bytes", "instead of 3"),
    "a gap in a log": (sql("DELETE FROM {log} WHERE first_seq = 3"), "log-gaps", "entries 3-4 are missing"),
    "a truncated log": (sql("DELETE FROM {log} WHERE first_seq = 5"), "log-ends", "ends at entry 4"),
    "entries twice": (
        sql("UPDATE {log} SET last_seq = 4 WHERE first_seq = 1"),
        "log-gaps",
        "entry 3 exists twice",
    ),
    "a damaged block": (
        sql("UPDATE {log} SET data = CAST('x' AS {bytes}) WHERE first_seq = 3"),
        "log-blocks",
        "damaged",
    ),
    "a log without a run": (
        with_keys_off("INSERT INTO run_log VALUES ('', 'r9', 1, 1, 'plain', CAST('x' AS {bytes}))"),
        "orphans",
        "log rows",
    ),
}


@each_row("name", UNREPAIRABLE)
@in_empty_store
async def test_damage_that_cannot_be_repaired_is_reported_and_not_changed(engine: Engine, name: str) -> None:
    if left_out(engine, name):
        return
    damage, check, what = UNREPAIRABLE[name]
    filled = await filled_again(engine)
    await damage(filled)
    health = await check_store(filled, repair=True, full=True)
    found = result_of(health, check)
    assert any(what in finding.what and not finding.repairable for finding in found.findings), found.findings
    assert not health.healthy


async def test_findings_have_the_ids_of_their_rows(filled: Store) -> None:
    await without_constraints("UPDATE messages SET role = 'ghost' WHERE id = 'm4'")(filled)
    health = await check_store(filled)
    (finding,) = result_of(health, "contents").findings
    assert (finding.thread_id, finding.message_id, finding.where) == ("t1", "m4", "thread t1, message m4")


OPEN = ToolCallPart(id="c8", name="ask", state="approval-requested", input={})


async def test_open_calls_are_reported_unless_they_may_still_get_a_result(store: Store) -> None:
    await store.threads.create("t")
    await store.runs.open("t", id="r")
    await store.messages.save(
        [user_message("a"), AssistantMessage(id="b", content=[OPEN], run_id="r")], thread_id="t"
    )
    assert notices(await check_store(store)) == {}
    await store.runs.finish("r")
    assert notices(await check_store(store))["open-calls"] == 1
    await store.messages.save([user_message("c"), AssistantMessage(id="d", content=[OPEN])], thread_id="t")
    health = await check_store(store, repair=True)
    assert notices(health) == {"open-calls": 1, "repeated-calls": 1}
    assert health.healthy


async def test_rows_of_an_older_form_are_not_damage(filled: Store) -> None:
    content = second(CALL).replace("'", "''")
    await sql(f"UPDATE messages SET content = '{content}' WHERE id = 'm5'")(filled)
    await sql("UPDATE messages SET content = 'Just words.' WHERE id = 'm4'")(filled)
    health = await check_store(filled, repair=True)
    assert (health.healthy, notices(health)) == (True, {"contents": 2})
    contents = result_of(health, "contents")
    assert [finding.hint for finding in contents.findings] == [
        "partita migrate converts it to the current form"
    ] * 2


async def test_unused_blobs_are_deleted_after_a_day(url: str) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    async with open_store(url, clock=lambda: now) as store:
        await fill(store)
        await store.blobs.put(b"waiting")
        health = await check_store(store, repair=True)
        assert notices(health) == {"unused-blobs": 1}
        now += timedelta(days=2)
        await sql("DELETE FROM blob_refs")(store)
        health = await check_store(store, repair=True)
        assert (health.healthy, notices(health)) == (True, {})
        assert len((await everything(store))["blobs"]) == 1


async def test_an_active_run_with_an_expired_lease_is_reported(url: str) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    async with open_store(url, clock=lambda: now) as store:
        await store.threads.create("t")
        await store.runs.open("t", id="r", lease_owner="worker-7", lease_seconds=30)
        assert (await check_store(store)).healthy
        now += timedelta(seconds=31)
        health = await check_store(store, repair=True)
        (found,) = result_of(health, "abandoned-runs").findings
        assert (found.run_id, "worker-7" in found.what) == ("r", True)


async def test_only_the_rows_of_the_owner_of_a_scoped_store_are_checked(store: Store) -> None:
    for owner in ("u1", "u2"):
        await fill_scoped(store.scoped(owner))
    await sql(
        "UPDATE threads SET message_count = 9", "DELETE FROM parts", "UPDATE messages SET preview = 'x'"
    )(store)
    await check_store(store.scoped("u1"), repair=True, full=True)
    assert (await check_store(store.scoped("u1"), full=True)).healthy
    theirs = await check_store(store.scoped("u2"), full=True)
    assert problems(theirs) == {"derived": 2, "counters": 1}
    found = [finding.resource_id for result in theirs.checks for finding in result.findings]
    assert set(found) == {"u2"}


async def fill_scoped(store: Store) -> None:
    await store.threads.create("t1", title="Mine")
    await store.messages.save([user_message("m1"), tool_call_message("m2")], thread_id="t1")


async def test_without_full_a_sample_is_checked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.store.doctor.doctor.SAMPLED_MESSAGES", 2)
    await store.threads.create("t")
    await store.messages.save([user_message(f"m{number}") for number in range(20)], thread_id="t")
    await sql("UPDATE messages SET preview = 'x'")(store)
    assert problems(await check_store(store)) == {"derived": 2}
    assert problems(await check_store(store, full=True)) == {"derived": 20}
    repaired = await check_store(store, repair=True)
    assert repaired.repaired == 20
    assert (await check_store(store, full=True)).healthy


async def test_all_findings_are_counted_and_a_hundred_returned(store: Store) -> None:
    await store.threads.create("t")
    await store.messages.save([user_message(f"m{number}") for number in range(450)], thread_id="t")
    await without_constraints("UPDATE messages SET role = 'ghost'")(store)
    contents = result_of(await check_store(store), "contents")
    assert (contents.problems, len(contents.findings)) == (450, 100)


async def test_progress_is_reported(filled: Store) -> None:
    calls: list[tuple[int, int]] = []
    await check_store(filled, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(number, len(CHECKS)) for number in range(1, len(CHECKS) + 1)]
    await check_store(filled, repair=True, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (2 * len(CHECKS), 2 * len(CHECKS))


async def test_a_damaged_file_is_reported(tmp_path: Any) -> None:
    path = tmp_path / "store.db"
    async with open_store(path) as store:
        await fill(store)
        await store.messages.save([user_message(f"x{number}", LONG) for number in range(20)], thread_id="t2")
    data = bytearray(path.read_bytes())
    middle = len(data) // 4096 // 2 * 4096
    data[middle : middle + 8192] = b"\xff" * 8192
    path.write_bytes(data)
    async with open_store(path) as store:
        health = await check_store(store, full=True)
    assert not health.healthy
    assert result_of(health, "file").problems


_ids = st.sampled_from([f"m{number}" for number in range(6)])
_saved = st.tuples(any_message(), _ids, st.none() | st.just("") | _ids)


@given(batches=st.lists(st.lists(_saved, max_size=4), max_size=3))
async def test_a_store_is_healthy_after_any_saves(
    batches: list[list[tuple[Message, str, str | None]]],
) -> None:
    """Saving messages in any order damages nothing."""
    async with open_store("memory:") as store:
        await store.threads.create("t", title="Any")
        for batch in batches:
            fields = {"thread_id": None, "resource_id": None, "run_id": None}
            messages = [
                replace(message, id=name, parent_id=parent, **fields) for message, name, parent in batch
            ]
            await store.messages.save(messages, thread_id="t")
        assert problems(await check_store(store, full=True)) == {}
