"""Usage statistics, on every engine: the same numbers for every grouping."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from itertools import count
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.errors import DecodeError, StoreError
from partita.store.sql.transaction import Transaction
from partita.store.stats.stats import usage_stats
from partita.store.store import Store
from partita.store.threads.lists import list_summaries
from partita.store.values import GroupBy, StatFilter, UsageStat
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.parts import (
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    TextOutput,
    ToolOutput,
    ToolState,
)
from tests.store.engines import in_memory_and_in_a_file
from tests.store.examples import assistant_message, user_message
from tests.store.ledger import NOON, record_of, sums
from tests.tables import each_row

DAY = timedelta(days=1)


def call(id: str, tool: str, output: ToolOutput | None = None, *children: Message) -> ToolCallPart:
    """A successful call, or one with the given output."""
    states: dict[type, ToolState] = {
        ErrorTextOutput: "output-error",
        InterruptedOutput: "output-error",
        ExecutionDeniedOutput: "output-denied",
    }
    given = TextOutput("done") if output is None else output
    state = states.get(type(given), "output-available")
    return ToolCallPart(id, tool, state, {}, output=given, children=children)


def message_with_calls(id: str, at: datetime, *calls: ToolCallPart) -> Message:
    """A message with calls."""
    return AssistantMessage(id=id, content=list(calls), created_at=at)


@pytest.fixture
async def filled(store: Store) -> Store:
    """Two projects and two agents on two days; a sub-agent; a fork that repeats the first response."""
    await store.threads.create("red", agent="claude", project="/red")
    await store.threads.create("fork", agent="claude", project="/red")
    await store.threads.create("blue", agent="codex", project="/blue")
    await store.threads.create("plain")
    inner = message_with_calls("inner", NOON, call("i1", "read"), call("i2", "read", ErrorTextOutput("gone")))
    first = message_with_calls(
        "m2", NOON, call("c1", "task", None, inner), call("c2", "run", ErrorTextOutput("broke"))
    )
    await store.messages.save([user_message("m1", created_at=NOON), first], thread_id="red")
    await store.messages.save(
        [
            user_message("m1", created_at=NOON),
            first,
            message_with_calls("m3", NOON + DAY, call("c3", "run", ExecutionDeniedOutput())),
            assistant_message("note", internal=True, created_at=NOON + 5 * DAY),
        ],
        thread_id="fork",
    )
    stopped = call("c4", "run", InterruptedOutput("aborted")), call("c5", "run", InterruptedOutput("timeout"))
    await store.messages.save([message_with_calls("b1", NOON + DAY, *stopped)], thread_id="blue")
    await store.messages.save([user_message("p1", created_at=NOON)], thread_id="plain")
    await store.usage.record(
        [
            record_of("red", "a", 10, message_id="m2", model="large", cost=1.0, cached_input_tokens=60),
            record_of("red", "a2", 1, message_id="inner", model="small", cost=0.25),
            record_of("fork", "a", 10, message_id="m2", model="large", cost=1.0, cached_input_tokens=60),
            record_of(
                "fork", "b", 20, minute=24 * 60, message_id="m3", model="large", cost=2.0, reasoning_tokens=5
            ),
            record_of("blue", "x", 40, minute=24 * 60, message_id="b1", model="other", agent="helper"),
        ]
    )
    return store


def brief(stat: UsageStat) -> tuple[Any, ...]:
    """Threads, messages, responses, output, cost, unpriced; calls, errors, denied, interrupted."""
    consumed = (stat.threads, stat.messages, stat.responses, stat.output_tokens, stat.cost, stat.unpriced)
    return (*consumed, stat.tool_calls, stat.tool_errors, stat.denied, stat.interrupted)


# Options and expected rows: the key, then the values of `brief`.
async def totals(store: Store, options: dict[str, Any]) -> tuple[UsageStat, ...]:
    """The statistics for the options and the filter."""
    grouping = {name: options[name] for name in ("by", "zone", "with_ids") if name in options}
    rest = {name: value for name, value in options.items() if name not in grouping}
    return await store.stats.totals(StatFilter(**rest), **grouping)


QUESTIONS: dict[str, tuple[dict[str, Any], list[tuple[tuple[str | None, ...], tuple[Any, ...]]]]] = {
    "all": ({}, [((), (4, 7, 4, 71, 3.25, 1, 7, 2, 1, 2))]),
    "by day": (
        {"by": "day"},
        [
            (("2026-03-01",), (3, 5, 2, 11, 1.25, 0, 4, 2, 0, 0)),
            (("2026-03-02",), (2, 2, 2, 60, 2.0, 1, 3, 0, 1, 2)),
        ],
    ),
    "by week": (
        {"by": "week"},
        [
            (("2026-02-23",), (3, 5, 2, 11, 1.25, 0, 4, 2, 0, 0)),
            (("2026-03-02",), (2, 2, 2, 60, 2.0, 1, 3, 0, 1, 2)),
        ],
    ),
    "by month": ({"by": "month"}, [(("2026-03",), (4, 7, 4, 71, 3.25, 1, 7, 2, 1, 2))]),
    "by project": (
        {"by": "project"},
        [
            (("/red",), (2, 5, 3, 31, 3.25, 0, 5, 2, 1, 0)),
            (("/blue",), (1, 1, 1, 40, None, 1, 2, 0, 0, 2)),
            ((None,), (1, 1, 0, 0, None, 0, 0, 0, 0, 0)),
        ],
    ),
    "by agent": (
        {"by": "agent"},
        [
            (("claude",), (2, 5, 3, 31, 3.25, 0, 5, 2, 1, 0)),
            (("helper",), (1, 0, 1, 40, None, 1, 0, 0, 0, 0)),
            (("codex",), (1, 1, 0, 0, None, 0, 2, 0, 0, 2)),
            ((None,), (1, 1, 0, 0, None, 0, 0, 0, 0, 0)),
        ],
    ),
    "by model": (
        {"by": "model"},
        [
            (("large",), (2, 0, 2, 30, 3.0, 0, 3, 1, 1, 0)),
            (("small",), (1, 0, 1, 1, 0.25, 0, 0, 0, 0, 0)),
            (("other",), (1, 0, 1, 40, None, 1, 2, 0, 0, 2)),
            ((None,), (1, 0, 0, 0, None, 0, 2, 1, 0, 0)),
        ],
    ),
    "by tool": (
        {"by": "tool"},
        [
            (("run",), (3, 0, 0, 0, None, 0, 4, 1, 1, 2)),
            (("read",), (1, 0, 0, 0, None, 0, 2, 1, 0, 0)),
            (("task",), (1, 0, 0, 0, None, 0, 1, 0, 0, 0)),
        ],
    ),
    "by day and model": (
        {"by": ("day", "model")},
        [
            (("2026-03-01", "large"), (1, 0, 1, 10, 1.0, 0, 2, 1, 0, 0)),
            (("2026-03-01", "small"), (1, 0, 1, 1, 0.25, 0, 0, 0, 0, 0)),
            (("2026-03-01", None), (1, 0, 0, 0, None, 0, 2, 1, 0, 0)),
            (("2026-03-02", "large"), (1, 0, 1, 20, 2.0, 0, 1, 0, 1, 0)),
            (("2026-03-02", "other"), (1, 0, 1, 40, None, 1, 2, 0, 0, 2)),
        ],
    ),
    "by agent and tool": (
        {"by": ("agent", "tool"), "project": "/red"},
        [
            (("claude", "read"), (1, 0, 0, 0, None, 0, 2, 1, 0, 0)),
            (("claude", "run"), (2, 0, 0, 0, None, 0, 2, 1, 1, 0)),
            (("claude", "task"), (1, 0, 0, 0, None, 0, 1, 0, 0, 0)),
        ],
    ),
    "since": ({"since": NOON + DAY}, [((), (2, 2, 2, 60, 2.0, 1, 3, 0, 1, 2))]),
    "until": ({"until": NOON + DAY}, [((), (3, 5, 2, 11, 1.25, 0, 4, 2, 0, 0))]),
    "of a project": ({"project": "/blue"}, [((), (1, 1, 1, 40, None, 1, 2, 0, 0, 2))]),
    "of an agent": ({"agent": "claude"}, [((), (2, 5, 3, 31, 3.25, 0, 5, 2, 1, 0))]),
    "of a model": ({"model": "large"}, [((), (2, 0, 2, 30, 3.0, 0, 3, 1, 1, 0))]),
    "everything in a thread": ({"thread_id": "fork"}, [((), (1, 3, 2, 30, 3.0, 0, 5, 2, 1, 0))]),
    "of a thread by day": (
        {"thread_id": "fork", "by": "day"},
        [
            (("2026-03-01",), (1, 2, 1, 10, 1.0, 0, 4, 2, 0, 0)),
            (("2026-03-02",), (1, 1, 1, 20, 2.0, 0, 1, 0, 1, 0)),
        ],
    ),
    "of nothing": ({"project": "/green"}, [((), (0, 0, 0, 0, None, 0, 0, 0, 0, 0))]),
    "of no thread by day": ({"project": "/green", "by": "day"}, []),
    "in another zone": (
        {"by": "day", "zone": timezone(timedelta(hours=12)), "agent": "claude"},
        [
            (("2026-03-02",), (2, 4, 2, 11, 1.25, 0, 4, 2, 0, 0)),
            (("2026-03-03",), (1, 1, 1, 20, 2.0, 0, 1, 0, 1, 0)),
        ],
    ),
}


@each_row(("options", "expected"), QUESTIONS.values(), ids=QUESTIONS)
async def test_statistics(
    filled: Store, options: dict[str, Any], expected: list[tuple[tuple[str | None, ...], tuple[Any, ...]]]
) -> None:
    assert [(stat.key, brief(stat)) for stat in await totals(filled, options)] == expected


async def test_an_empty_store_has_a_row_of_zeros(store: Store) -> None:
    (stat,) = await store.stats.totals()
    assert brief(stat) == (0, 0, 0, 0, None, 0, 0, 0, 0, 0)
    assert await store.stats.totals(by=("day", "tool")) == ()


async def test_a_row_has_all_counts(filled: Store) -> None:
    (stat,) = await filled.stats.totals(StatFilter(project="/red"))
    counts = (stat.input_tokens, stat.cached_input_tokens, stat.cache_write_tokens, stat.reasoning_tokens)
    assert counts == (300, 60, 0, 5)


async def test_repeated_groupings_are_ignored(filled: Store) -> None:
    assert await filled.stats.totals(by=("day", "total", "day")) == await filled.stats.totals(by="day")


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "three at once": ({"by": ("day", "model", "tool")}, StoreError, "by 2 things at most"),
    "an unknown grouping": (
        {"by": "colour"},
        StoreError,
        "cannot be grouped by 'colour'.*choose from total, day",
    ),
    "a time without a zone": ({"since": datetime(2026, 1, 1)}, DecodeError, "without a zone"),  # noqa: DTZ001
    "a text with a NUL": ({"model": "\x00"}, StoreError, "NUL"),
}


@each_row(("options", "error", "what"), REFUSED.values(), ids=REFUSED)
async def test_invalid_options_are_refused(
    store: Store, options: dict[str, Any], error: type[Exception], what: str
) -> None:
    with pytest.raises(error, match=what):
        await totals(store, options)


async def test_an_owner_sees_only_their_statistics(store: Store) -> None:
    for owner, calls in (("ada", 1), ("bob", 2)):
        mine = store.scoped(owner)
        await mine.threads.create("t", project="/p")
        await mine.messages.save(
            [message_with_calls(f"m{number}", NOON, call("c", "run")) for number in range(calls)],
            thread_id="t",
        )
        await mine.usage.record([record_of("t", f"k{number}") for number in range(calls)])
    for scope, expected in (
        (store.scoped("ada"), (1, 1, 1, 1)),
        (store.scoped("bob"), (1, 2, 2, 2)),
        (store, (2, 3, 3, 3)),
    ):
        (stat,) = await scope.stats.totals(by="project")
        assert (stat.threads, stat.messages, stat.responses, stat.tool_calls) == expected


async def test_a_call_is_counted_with_the_first_response_of_its_message(store: Store) -> None:
    """A message of several responses, and a fork that has more of the second one."""
    for thread in ("t1", "t2"):
        await store.threads.create(thread)
        await store.messages.save(
            [message_with_calls("turn", NOON, call("c1", "run"), call("c2", "run"))], thread_id=thread
        )
        responses = [("k1", 5, "large"), ("k2", 5 if thread == "t1" else 9, "small")]
        await store.usage.record(
            [
                record_of(thread, key, output, message_id="turn", model=model)
                for key, output, model in responses
            ]
        )
    (stat,) = await store.stats.totals()
    assert (stat.output_tokens, stat.tool_calls) == (14, 2)
    assert [(stat.key, stat.tool_calls) for stat in await store.stats.totals(by="model")] == [
        (("small",), 0),
        (("large",), 2),
    ]


async def test_calls_without_a_response_in_the_ledger_are_counted_in_their_thread(store: Store) -> None:
    for thread in ("t1", "t2"):
        await store.threads.create(thread)
        await store.messages.save([message_with_calls("m1", NOON, call("c1", "run"))], thread_id=thread)
    (stat,) = await store.stats.totals()
    assert stat.tool_calls == 2


async def test_usage_after_midnight_has_its_thread(store: Store) -> None:
    await store.threads.create("t")
    await store.messages.save([user_message("m1", created_at=NOON)], thread_id="t")
    await store.usage.record([record_of("t", "a", minute=13 * 60)])
    assert [(stat.key[0], stat.threads, stat.messages) for stat in await store.stats.totals(by="day")] == [
        ("2026-03-01", 1, 1),
        ("2026-03-02", 1, 0),
    ]


@in_memory_and_in_a_file
async def test_statistics_do_not_read_messages(store: Store) -> None:
    """SQLite stores long messages in the rows: a full scan would read the whole file."""

    def compute(tx: Transaction) -> None:
        usage_stats(tx, StatFilter(since=NOON), by=("day", "tool"))
        usage_stats(tx, by="project")

    for scope in (store, store.scoped("ada")):
        found = [plan for plan in await scope.read(plans_of, compute) if " m " in f"{plan} "]
        assert found
        assert all("USING COVERING INDEX" in plan for plan in found), found


@in_memory_and_in_a_file
async def test_summaries_do_not_read_messages_of_other_threads(store: Store) -> None:
    await store.threads.create("untitled")
    await store.messages.save([user_message("m1")], thread_id="untitled")
    found = [plan for plan in await store.read(plans_of, list_summaries) if plan.startswith("SEARCH m ")]
    assert found
    assert all("thread_id=?" in plan or "rowid=?" in plan for plan in found), found


def plans_of(tx: Transaction, function: Callable[[Transaction], object]) -> list[str]:
    """The lines of the query plans of what a function executes as text."""
    plans: list[str] = []
    run = tx.sql

    def explained(text: str, parameters: tuple[Any, ...] = ()) -> Any:
        if text.lstrip().startswith("SELECT"):
            plans.extend(row.detail for row in run(f"EXPLAIN QUERY PLAN {text}", parameters))
        return run(text, parameters)

    watched = RecordingTransaction(tx.connection, tx.owner, tx.now)
    watched.execute = explained  # type: ignore[method-assign] # to record its statements
    function(watched)
    return plans


class RecordingTransaction(Transaction):
    """A transaction that records its statements."""

    def execute(self, text: str, parameters: tuple[Any, ...] = ()) -> Any:
        """Execute a statement; tests replace this method."""
        raise NotImplementedError

    def sql(self, text: str, parameters: tuple[Any, ...] = ()) -> Any:
        """Record and execute a statement."""
        return self.execute(text, parameters)


# For random conversations, the rows of every grouping add up to the same total.

CONVERSATIONS = st.lists(
    st.tuples(
        st.sampled_from(["red", "blue", "grey"]),
        st.integers(0, 80),  # hours
        st.sampled_from(["large", "small", None]),
        st.lists(st.sampled_from(["read", "run", "ask"]), max_size=3),
        st.none() | st.integers(0, 8),
    ),
    max_size=12,
)
_owners = count(1)


@settings(max_examples=25)
@given(conversations=CONVERSATIONS, by=st.lists(st.sampled_from(get_args(GroupBy)), min_size=1, max_size=2))
async def test_the_rows_add_up_to_the_total(
    store: Store, conversations: list[Any], by: Sequence[GroupBy]
) -> None:
    mine = store.scoped(f"owner-{next(_owners)}")
    for thread, project in (("red", "/one"), ("blue", "/two"), ("grey", None)):
        await mine.threads.create(thread, project=project, agent=thread[0])
    records = [
        record_of(
            thread, f"k{number}", number, minute=hours * 60, model=model, message_id=f"m{number}", cost=cost
        )
        for number, (thread, hours, model, _, cost) in enumerate(conversations)
    ]
    await mine.usage.record(records)
    for number, (thread, hours, _, tools, _) in enumerate(conversations):
        calls = [call(f"c{place}", tool) for place, tool in enumerate(tools)]
        message = message_with_calls(f"m{number}", NOON + timedelta(hours=hours), *calls)
        await mine.messages.save([message], thread_id=thread)
    rows = await mine.stats.totals(by=by)
    expected = sums(records)
    assert sum(stat.tool_calls for stat in rows) == sum(len(tools) for *_, tools, _ in conversations)
    if "tool" not in by:
        assert sum(stat.output_tokens for stat in rows) == expected.output_tokens
        assert sum(stat.responses for stat in rows) == expected.responses
        assert sum(stat.cost or 0 for stat in rows) == (expected.cost or 0)
        assert sum(stat.unpriced for stat in rows) == expected.unpriced
    if not {"tool", "model"} & set(by):
        assert sum(stat.messages for stat in rows) == len(conversations)
