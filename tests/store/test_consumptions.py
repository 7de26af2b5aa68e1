"""The ledger: what responses of models consumed, on every engine."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from partita.errors import ConflictError, NotFoundError, StoreError
from partita.store.connection import open_store
from partita.store.doctor.doctor import check_store
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.threads import copies as copying
from partita.store.threads import rows as threads
from partita.store.usage import record_usage
from partita.store.values import ConsumptionRecord, StatFilter, UsageTotals
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import TextOutput
from tests.store.emptying import in_empty_store
from tests.store.examples import assistant_message, user_message
from tests.store.ledger import NOON, NaiveLedger, counted, record_of, sums
from tests.store.old_rows import everything
from tests.store.test_doctor import problems, sql, with_keys_off
from tests.tables import each_row

THREADS = ("t1", "t2", "t3")
Work: TypeAlias = Callable[[Transaction], Any]


@pytest.fixture
async def ledger(store: Store) -> Store:
    """A store with three threads."""
    await fill(store)
    return store


async def fill(store: Store) -> None:
    for thread in THREADS:
        await store.threads.create(thread)


async def total(store: Store) -> UsageTotals:
    """The totals of all threads."""
    (stat,) = await store.stats.totals()
    fields = {name: value for name, value in asdict(stat).items() if name in UsageTotals.__struct_fields__}
    return UsageTotals(**fields)


# Batches of (thread, key, output, minute); where each response is then counted; output in all, and of t1.
RULES: dict[str, tuple[list[list[tuple[str, str, int, int]]], dict[str, str], int, int]] = {
    "nothing": ([], {}, 0, 0),
    "responses add up": ([[("t1", "a", 5, 0), ("t1", "b", 6, 1)]], {"a": "t1", "b": "t1"}, 11, 11),
    "recorded twice: the larger record counts": (
        [[("t1", "a", 5, 0)], [("t1", "a", 9, 0)]],
        {"a": "t1"},
        9,
        9,
    ),
    "a smaller record changes nothing": ([[("t1", "a", 9, 0)], [("t1", "a", 5, 0)]], {"a": "t1"}, 9, 9),
    "the same in one batch": ([[("t1", "a", 9, 0), ("t1", "a", 5, 0)]], {"a": "t1"}, 9, 9),
    "a fork is counted once": ([[("t1", "a", 5, 0)], [("t2", "a", 5, 0)]], {"a": "t1"}, 5, 5),
    "a fork in the same batch": ([[("t1", "a", 5, 0), ("t2", "a", 5, 0)]], {"a": "t1"}, 5, 5),
    "the first thread stays": ([[("t3", "a", 5, 0)], [("t1", "a", 5, 0)]], {"a": "t3"}, 5, 5),
    "the larger one of two copies": ([[("t1", "a", 5, 0)], [("t2", "a", 7, 9)]], {"a": "t2"}, 7, 5),
    "the earlier one of equal records": ([[("t1", "a", 5, 9)], [("t2", "a", 5, 0)]], {"a": "t2"}, 5, 5),
    "a growing row becomes the counted one": (
        [[("t1", "a", 5, 0), ("t2", "a", 7, 0)], [("t1", "a", 8, 0)]],
        {"a": "t1"},
        8,
        8,
    ),
    "a row that becomes later is no longer counted": (
        [[("t1", "a", 5, 0), ("t2", "a", 5, 3)], [("t1", "a", 5, 6)]],
        {"a": "t2"},
        5,
        5,
    ),
}


@each_row(("batches", "where", "output", "of_first"), RULES.values(), ids=RULES)
@in_empty_store
async def test_which_record_of_a_response_is_counted(
    store: Store,
    batches: list[list[tuple[str, str, int, int]]],
    where: dict[str, str],
    output: int,
    of_first: int,
) -> None:
    await fill(store)
    for batch in batches:
        await store.usage.record(
            [record_of(thread, key, tokens, minute=minute) for thread, key, tokens, minute in batch]
        )
    assert await counted(store) == where
    assert (await total(store)).output_tokens == output
    assert (await store.usage.of_thread("t1")).output_tokens == of_first


async def test_a_later_record_of_the_same_size_replaces_the_earlier(ledger: Store) -> None:
    await ledger.usage.record([record_of("t1", "a", model="old", cost=1.0)])
    await ledger.usage.record([record_of("t1", "a", model="new")])
    assert [stat.key for stat in await ledger.stats.totals(by="model")] == [("new",)]
    assert await total(ledger) == sums([record_of("t1", "a")])


async def test_all_fields_of_a_record_are_stored(ledger: Store) -> None:
    one = ConsumptionRecord(
        thread_id="t1",
        key="msg_1:req_1",
        message_id="m1",
        run_id="r1",
        agent="claude",
        provider="anthropic",
        model="claude-x",
        time=NOON,
        input_tokens=1,
        cached_input_tokens=2,
        cache_write_tokens=3,
        output_tokens=4,
        reasoning_tokens=5,
        cost=0.25,
        price={"perMillion": {"input": 3.0}},
    )
    await ledger.usage.record([one])
    (row,) = (await everything(ledger))["consumptions"]
    price = b'{"perMillion":{"input":3.0}}'.decode()
    expected = ("", "t1", one.key, True, "m1", "r1", "claude", "anthropic", "claude-x", NOON)
    assert row == (*expected, 1, 2, 3, 4, 5, 0.25, price)


async def test_the_default_time_is_now(url: str) -> None:
    async with open_store(url, clock=lambda: NOON) as store:
        await store.threads.create("t1")
        await store.usage.record([record_of("t1", "a", time=None)])
        assert [stat.key for stat in await store.stats.totals(by="day")] == [("2026-03-01",)]


async def test_an_unknown_cost_is_not_zero(ledger: Store) -> None:
    await ledger.usage.record([record_of("t1", "a"), record_of("t1", "b")])
    usage = await ledger.usage.of_thread("t1")
    assert (usage.cost, usage.unpriced) == (None, 2)
    await ledger.usage.record([record_of("t1", "c", cost=0.5), record_of("t1", "d", cost=0.0)])
    usage = await ledger.usage.of_thread("t1")
    assert (usage.cost, usage.unpriced, usage.responses) == (0.5, 2, 4)


WRONG: dict[str, tuple[ConsumptionRecord, type[StoreError], str]] = {
    "an unknown thread": (record_of("t9", "a"), NotFoundError, "no thread 't9'"),
    "no thread": (record_of("", "a"), StoreError, "no thread id"),
    "no key": (record_of("t1", ""), StoreError, "no key"),
    "a negative count": (record_of("t1", "a", -1), StoreError, "output_tokens is -1"),
    "a count that is too large": (record_of("t1", "a", 2**63), StoreError, "too large"),
    "no number": (record_of("t1", "a", cost=float("nan")), StoreError, "the cost is nan"),
    "a negative cost": (record_of("t1", "a", cost=-0.01), StoreError, "the cost is -0.01"),
    "a text with a NUL": (record_of("t1", "a", model="\x00"), StoreError, "the model holds a NUL"),
}


@each_row(("wrong", "error", "what"), WRONG.values(), ids=WRONG)
async def test_an_invalid_record_is_refused_and_nothing_is_written(
    ledger: Store, wrong: ConsumptionRecord, error: type[StoreError], what: str
) -> None:
    with pytest.raises(error, match=what):
        await ledger.usage.record([record_of("t1", "good"), wrong])
    assert await total(ledger) == sums([])


async def test_the_usage_of_an_unknown_thread(ledger: Store) -> None:
    with pytest.raises(NotFoundError):
        await ledger.usage.of_thread("t9")
    with pytest.raises(NotFoundError):
        await ledger.stats.totals(StatFilter(thread_id="t9"))


# Deleting, copying


async def test_shared_responses_of_a_deleted_thread_are_counted_elsewhere(ledger: Store) -> None:
    await ledger.usage.record([record_of("t1", "a", 9), record_of("t1", "b", 1)])
    await ledger.usage.record([record_of("t2", "a", 7, minute=5), record_of("t3", "a", 7)])
    await ledger.threads.delete("t1")
    assert await counted(ledger) == {"a": "t3"}
    assert (await total(ledger)).output_tokens == 7
    await ledger.threads.delete("t3")
    await ledger.threads.delete("t2")
    assert await total(ledger) == sums([])
    assert (await everything(ledger))["consumptions"] == []


async def test_usage_of_deleted_messages_is_kept(ledger: Store) -> None:
    await ledger.messages.save([user_message("m1"), assistant_message("m2")], thread_id="t1")
    await ledger.usage.record([record_of("t1", "a", message_id="m2")])
    await ledger.messages.delete("t1", ["m2"])
    assert (await total(ledger)).output_tokens == 10


async def with_sub_agent(store: Store) -> None:
    """A thread whose second response has a sub-agent, and the usage of the three responses."""
    call = ToolCallPart(
        "c1",
        "task",
        "output-available",
        {},
        output=TextOutput("done"),
        children=(assistant_message("inner"),),
    )
    conversation = [
        user_message("m1"),
        assistant_message("m2"),
        AssistantMessage(id="m3", content=[call]),
        assistant_message("m4"),
    ]
    await store.messages.save(conversation, thread_id="t1")
    places = {"a": "m2", "b": "m3", "b2": "inner", "c": "m4", "d": None}
    await store.usage.record([record_of("t1", key, message_id=place) for key, place in places.items()])


async def test_a_clone_has_the_same_usage_and_adds_nothing(ledger: Store) -> None:
    await with_sub_agent(ledger)
    before = await total(ledger)
    await ledger.threads.clone("t1", new_id="copy")
    assert await ledger.usage.of_thread("copy") == await ledger.usage.of_thread("t1")
    assert await total(ledger) == before
    assert set((await counted(ledger)).values()) == {"t1"}
    await ledger.threads.delete("t1")
    assert await total(ledger) == before


async def test_a_fork_has_the_usage_of_its_messages(ledger: Store) -> None:
    await with_sub_agent(ledger)
    await ledger.threads.fork("t1", "m3", new_id="copy")
    assert (await ledger.usage.of_thread("copy")).responses == 3
    assert (await total(ledger)).responses == 5
    await ledger.threads.delete("t1")
    assert sorted(await counted(ledger)) == ["a", "b", "b2"]


# Owners


async def test_the_same_response_of_two_owners_is_counted_for_each(store: Store) -> None:
    ada, bob = store.scoped("ada"), store.scoped("bob")
    for mine in (ada, bob):
        await mine.threads.create("t1")
        await mine.usage.record([record_of("t1", "a")])
    assert (await total(ada), await total(bob)) == (sums([record_of("t1", "a")]),) * 2
    assert (await total(store)).responses == 2
    with pytest.raises(ConflictError, match="several owners"):
        await store.usage.record([record_of("t1", "b")])
    with pytest.raises(ConflictError, match="several owners"):
        await store.usage.of_thread("t1")
    await store.usage.record([record_of("t1", "b")], resource_id="ada")
    assert (await total(ada)).responses == 2
    assert (await total(bob)).responses == 1


async def test_usage_of_other_owners_is_neither_visible_nor_changed(store: Store) -> None:
    ada, bob = store.scoped("ada"), store.scoped("bob")
    await ada.threads.create("t1")
    await ada.usage.record([record_of("t1", "a")])
    for attempt in (
        bob.usage.record([record_of("t1", "a", 99)]),
        bob.usage.record([record_of("t1", "a", 99)], resource_id="ada"),
        bob.usage.of_thread("t1"),
        bob.stats.totals(StatFilter(thread_id="t1")),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    await bob.threads.delete("t1")
    assert await total(bob) == sums([])
    assert await total(ada) == sums([record_of("t1", "a")])


# Concurrent writers


async def test_concurrent_records_of_the_same_responses(store: Store) -> None:
    names = [f"t{number}" for number in range(8)]
    for thread in names:
        await store.threads.create(thread)
    keys = [f"k{number}" for number in range(20)]

    async def write(thread: str) -> None:
        for key in keys if int(thread[1:]) % 2 else reversed(keys):
            await store.usage.record([record_of(thread, key, int(thread[1:]))])

    await asyncio.gather(*map(write, names))
    assert await counted(store) == dict.fromkeys(keys, "t7")
    assert (await total(store)).output_tokens == 7 * len(keys)


async def test_concurrent_records_and_deletions(store: Store) -> None:
    names = [f"t{number}" for number in range(8)]
    for thread in names:
        await store.threads.create(thread)
    await store.usage.record([record_of(thread, "k", 9) for thread in names[:4]])

    async def write(thread: str) -> None:
        await store.usage.record([record_of(thread, "k", 5), record_of(thread, f"own-{thread}", 1)])

    await asyncio.gather(
        *(
            work
            for pair in zip(names[:4], names[4:], strict=True)
            for work in (store.threads.delete(pair[0]), write(pair[1]))
        )
    )
    assert sorted(await counted(store)) == ["k", *(f"own-{thread}" for thread in names[4:])]
    assert (await total(store)).output_tokens == 9
    assert (await check_store(store)).healthy


IN_BETWEEN: dict[str, tuple[Work, Work, dict[str, str]]] = {
    "recorded while its thread is deleted": (
        lambda tx: record_usage(tx, [record_of("t2", "a", 5)]),
        lambda tx: threads.delete_thread(tx, "t1"),
        {"a": "t2"},
    ),
    "deleted while it is recorded": (
        lambda tx: threads.delete_thread(tx, "t1"),
        lambda tx: record_usage(tx, [record_of("t2", "a", 5)]),
        {"a": "t2"},
    ),
    "copied while it is deleted": (
        lambda tx: copying.clone(tx, "t1", new_id="copy"),
        lambda tx: threads.delete_thread(tx, "t1"),
        {"a": "copy"},
    ),
    "recorded by two at once": (
        lambda tx: record_usage(tx, [record_of("t2", "b", 5)]),
        lambda tx: record_usage(tx, [record_of("t3", "b", 7)]),
        {"a": "t1", "b": "t3"},
    ),
}


@pytest.mark.parametrize(("first", "second", "expected"), IN_BETWEEN.values(), ids=IN_BETWEEN)
async def test_two_concurrent_transactions(
    postgres_url: str, first: Work, second: Work, expected: dict[str, str]
) -> None:
    """On a server: the first transaction has written but not committed when the second one starts."""
    written = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slowly(tx: Transaction) -> None:
        first(tx)
        loop.call_soon_threadsafe(written.set)
        tx.sql("SELECT pg_sleep(0.3)")

    async with open_store(postgres_url) as store:
        for thread in THREADS:
            await store.threads.create(thread)
        await store.usage.record([record_of("t1", "a", 9)])
        waiting = asyncio.create_task(store.write(slowly))
        await written.wait()
        await store.write(second)
        await waiting
        assert await counted(store) == expected
        assert (await check_store(store)).healthy


# The doctor, and rebuilding

DAMAGE = {
    "no row is counted": (sql("UPDATE consumptions SET counted = false"), "ledger", 2),
    "the wrong row is counted": (
        sql(
            "UPDATE consumptions SET counted = false WHERE key = 'a'",
            "UPDATE consumptions SET counted = true WHERE key = 'a' AND thread_id = 't2'",
        ),
        "ledger",
        1,
    ),
    "the thread is missing": (with_keys_off("DELETE FROM threads WHERE id = 't1'"), "orphans", 1),
}


@each_row("name", DAMAGE)
@in_empty_store
async def test_the_doctor_repairs_the_ledger(store: Store, name: str) -> None:
    damage, check, findings = DAMAGE[name]
    await fill(store)
    await store.usage.record([record_of("t1", "a", 9), record_of("t2", "a", 7), record_of("t2", "b", 1)])
    await damage(store)
    assert problems(await check_store(store)).get(check) == findings
    repaired = await check_store(store, repair=True)
    assert problems(repaired) == {}
    gone = name == "the thread is missing"
    assert await counted(store) == {"a": "t2" if gone else "t1", "b": "t2"}


async def test_an_unreadable_price_is_reported(ledger: Store) -> None:
    await ledger.usage.record([record_of("t1", "a", price={"x": 1})])
    await sql("UPDATE consumptions SET price = 'nonsense'")(ledger)
    health = await check_store(ledger)
    (finding,) = next(check for check in health.checks if check.name == "columns").findings
    assert (finding.what, finding.thread_id) == ("the column price of consumption a is damaged", "t1")


async def test_rebuild_repairs_the_ledger(ledger: Store) -> None:
    await ledger.usage.record([record_of("t1", "a", 9), record_of("t2", "a", 7), record_of("t2", "b", 1)])
    await sql("UPDATE consumptions SET counted = false")(ledger)
    await ledger.rebuild()
    assert await counted(ledger) == {"a": "t1", "b": "t2"}


async def test_a_scoped_doctor_checks_only_its_ledger(store: Store) -> None:
    for owner in ("ada", "bob"):
        await store.scoped(owner).threads.create("t1")
        await store.scoped(owner).usage.record([record_of("t1", "a")])
    await sql("UPDATE consumptions SET counted = false")(store)
    await check_store(store.scoped("ada"), repair=True)
    assert await counted(store.scoped("ada")) == {"a": "t1"}
    assert problems(await check_store(store.scoped("bob"))) == {"ledger": 1}


# Random operations

RECORDS = st.builds(
    record_of,
    st.sampled_from([*THREADS, "copy"]),
    st.sampled_from("abcd"),
    st.integers(0, 3),
    minute=st.integers(0, 2),
    input_tokens=st.integers(0, 50),
    cached_input_tokens=st.integers(0, 50),
    reasoning_tokens=st.integers(0, 5),
    cost=st.none() | st.integers(0, 8).map(lambda eighths: eighths / 8),
)
STEPS = st.one_of(
    st.lists(RECORDS, min_size=1, max_size=6),
    st.lists(RECORDS, min_size=1, max_size=6),
    st.sampled_from([("delete", thread) for thread in (*THREADS, "copy")]),
    st.sampled_from([("clone", thread) for thread in THREADS]),
)
_owners = count(1)


@given(steps=st.lists(STEPS, max_size=12))
async def test_totals_are_those_of_a_naive_ledger(
    store: Store, steps: list[Sequence[ConsumptionRecord] | tuple[str, str]]
) -> None:
    mine = store.scoped(f"owner-{next(_owners)}")
    naive = NaiveLedger()
    there: set[str] = set(THREADS)
    for thread in THREADS:
        await mine.threads.create(thread)
    for step in steps:
        match step:
            case ("delete", str(thread)):
                await mine.threads.delete(thread)
                naive.delete(thread)
                there.discard(thread)
            case ("clone", str(thread)):
                if thread in there and "copy" not in there:
                    await mine.threads.clone(thread, new_id="copy")
                    naive.clone(thread, "copy")
                    there.add("copy")
            case batch:
                known = [
                    one for one in batch if isinstance(one, ConsumptionRecord) and one.thread_id in there
                ]
                await mine.usage.record(known)
                naive.record(known)
    assert await total(mine) == naive.total()
    assert await counted(mine) == naive.counted
    for thread in there:
        assert await mine.usage.of_thread(thread) == naive.of_thread(thread)


async def test_the_responses_of_a_thread_are_listed_oldest_first(ledger: Store) -> None:
    later, earlier = record_of("t1", "a", minute=1, cost=0.5, model="sonata-1"), record_of("t1", "b")
    other = record_of("t2", "c")
    await ledger.usage.record([later, earlier, other])
    assert await ledger.usage.responses("t1") == (earlier, later)
    with pytest.raises(NotFoundError):
        await ledger.usage.responses("t9")
