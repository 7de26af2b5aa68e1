"""Statistics of tools, runs and threads, on every engine, compared with numbers added up by hand."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.errors import NotFoundError
from partita.store.sql.transaction import Transaction
from partita.store.stats.measures import MAX_IDS
from partita.store.stats.rankings import RunOrder, ThreadOrder
from partita.store.store import Store
from partita.store.values import StatFilter
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import ErrorTextOutput, ExecutionDeniedOutput, InterruptedOutput, TextOutput
from partita.types.usage import Usage
from tests.store.examples import user_message
from tests.store.ledger import NOON, record_of
from tests.tables import each_row

DAY = timedelta(days=1)


@pytest.fixture
async def filled(store: Store) -> Store:
    """Three threads of two agents, two days, three tools, three runs."""
    await store.threads.create("red", title="Red", agent="claude", project="/red")
    await store.threads.create("blue", title="Blue", agent="codex", project="/blue")
    await store.threads.create("quiet")
    calls = [
        ToolCallPart("c1", "read", "output-available", {}, output=TextOutput("done")),
        ToolCallPart("c2", "read", "output-error", {}, output=ErrorTextOutput("gone")),
        ToolCallPart("c3", "run", "output-denied", {}, output=ExecutionDeniedOutput()),
    ]
    later = [
        ToolCallPart("c4", "read", "output-available", {}, output=TextOutput("done")),
        ToolCallPart("c5", "run", "output-error", {}, output=InterruptedOutput("aborted")),
        ToolCallPart("c6", "ask", "output-available", {}, output=TextOutput("done")),
    ]
    await store.messages.save(
        [user_message("m1", created_at=NOON), AssistantMessage(id="m2", content=calls, created_at=NOON)],
        thread_id="red",
    )
    await store.messages.save(
        [AssistantMessage(id="b1", content=later, created_at=NOON + DAY)], thread_id="blue"
    )
    await store.messages.save([user_message("q1", created_at=NOON)], thread_id="quiet")
    await store.usage.record(
        [
            record_of("red", "a", 10, message_id="m2", run_id="first", model="large", cost=1.0),
            record_of("red", "b", 30, minute=1, message_id="inner", model="small", cost=0.5, agent="helper"),
            record_of("blue", "x", 5, minute=24 * 60, message_id="b1", model="large", cost=0.25),
        ]
    )
    await store.write(_times, {"c1": 2, "c2": 4, "c4": 9, "c5": 1})
    await _runs(store)
    return store


def _times(tx: Transaction, seconds: dict[str, float]) -> None:
    for call, took_seconds in seconds.items():
        ends = tx.instant(NOON), tx.instant(NOON + timedelta(seconds=took_seconds))
        tx.sql("UPDATE parts SET started_at = ?, ended_at = ? WHERE call_id = ?", (*ends, call))


async def _runs(store: Store) -> None:
    for name, thread, model in (
        ("first", "red", "large"),
        ("second", "blue", None),
        ("open", "red", "small"),
    ):
        await store.runs.open(thread, id=name, model=model, agent="keeper" if name == "open" else None)
    await store.runs.finish("first")
    await store.runs.fail("second", "broke", usage=Usage(input_tokens=70, output_tokens=700), cost=0.75)

    def set_times(tx: Transaction) -> None:
        for name, begun, seconds in (
            ("first", NOON, 3),
            ("second", NOON + DAY, 60),
            ("open", NOON + DAY, None),
        ):
            ended = None if seconds is None else tx.instant(begun + timedelta(seconds=seconds))
            start = tx.instant(begun)
            tx.sql(
                "UPDATE runs SET created_at = ?, started_at = ?, finished_at = ? WHERE id = ?",
                (start, start, ended, name),
            )

    await store.write(set_times)


async def test_statistics_count_runs(filled: Store) -> None:
    assert [(stat.key, stat.runs, stat.seconds) for stat in await filled.stats.totals()] == [((), 3, 63.0)]
    by_day = [(stat.key[0], stat.runs, stat.seconds) for stat in await filled.stats.totals(by="day")]
    assert by_day == [("2026-03-01", 1, 3.0), ("2026-03-02", 2, 60.0)]
    by_agent = {stat.key[0]: stat.runs for stat in await filled.stats.totals(by="agent")}
    assert by_agent == {"claude": 1, "codex": 1, "keeper": 1, "helper": 0, None: 0}
    by_model = {stat.key[0]: stat.runs for stat in await filled.stats.totals(by="model")}
    assert by_model == {"large": 1, "small": 1, None: 1}
    assert {stat.runs for stat in await filled.stats.totals(by="tool")} == {0}
    (large,) = await filled.stats.totals(StatFilter(model="large"))
    assert large.runs == 1


async def test_statistics_count_runs_that_did_not_complete(filled: Store) -> None:
    for name in ("stopped", "lost"):
        await filled.runs.open("blue", id=name, model="small")
    await filled.runs.cancel("stopped")
    await filled.runs.interrupt("lost", "The process ended.")
    by_model = {
        stat.key[0]: (stat.runs, stat.failed_runs, stat.interrupted_runs)
        for stat in await filled.stats.totals(by="model")
    }
    assert by_model == {"large": (1, 0, 0), "small": (3, 0, 2), None: (1, 1, 0)}


async def test_a_thread_of_several_measures_is_counted_once(store: Store) -> None:
    """One thread has messages only, one usage only, one runs only."""
    for thread in ("talk", "ledger", "run"):
        await store.threads.create(thread)
    await store.messages.save([user_message("m1", created_at=NOON)], thread_id="talk")
    await store.usage.record([record_of("ledger", "a")])
    await store.runs.open("run", id="r1")
    (stat,) = await store.stats.totals(with_ids=True)
    assert (stat.threads, stat.thread_ids) == (3, ("talk", "ledger", "run"))
    (unnamed,) = await store.stats.totals()
    assert (unnamed.threads, unnamed.thread_ids) == (3, None)


async def test_the_ids_of_too_many_threads_are_left_out(store: Store) -> None:
    for number in range(MAX_IDS + 1):
        await store.threads.create(f"t{number}", project="few" if number else "one")
    await store.usage.record([record_of(f"t{number}", f"k{number}") for number in range(MAX_IDS + 1)])
    (stat,) = await store.stats.totals(with_ids=True)
    assert (stat.threads, stat.thread_ids) == (MAX_IDS + 1, None)
    named = {stat.key[0]: stat.thread_ids for stat in await store.stats.totals(by="project", with_ids=True)}
    assert named["one"] == ("t0",)
    assert len(named["few"] or ()) == MAX_IDS


# Calls, errors, denied, interrupted; timed, total, median, 95 %, longest; threads and those with errors.
TOOLS: dict[str, tuple[dict[str, Any], dict[str, tuple[Any, ...]]]] = {
    "all": (
        {},
        {
            "read": (3, 1, 0, 0, 3, 15.0, 4.0, 9.0, 9.0, ("red", "blue"), ("red",)),
            "run": (2, 0, 1, 1, 1, 1.0, 1.0, 1.0, 1.0, ("red", "blue"), ()),
            "ask": (1, 0, 0, 0, 0, None, None, None, None, ("blue",), ()),
        },
    ),
    "since": (
        {"since": NOON + DAY},
        {
            "ask": (1, 0, 0, 0, 0, None, None, None, None, ("blue",), ()),
            "read": (1, 0, 0, 0, 1, 9.0, 9.0, 9.0, 9.0, ("blue",), ()),
            "run": (1, 0, 0, 1, 1, 1.0, 1.0, 1.0, 1.0, ("blue",), ()),
        },
    ),
    "until, of an agent": (
        {"until": NOON + DAY, "agent": "claude"},
        {
            "read": (2, 1, 0, 0, 2, 6.0, 2.0, 4.0, 4.0, ("red",), ("red",)),
            "run": (1, 0, 1, 0, 0, None, None, None, None, ("red",), ()),
        },
    ),
    "of a project": ({"project": "/green"}, {}),
    "of a model": ({"model": "small"}, {}),
}


@each_row(("options", "expected"), TOOLS.values(), ids=TOOLS)
async def test_tools(filled: Store, options: dict[str, Any], expected: dict[str, tuple[Any, ...]]) -> None:
    found = await filled.stats.tools(StatFilter(**options))
    shown = {
        stat.tool: (
            *(stat.calls, stat.errors, stat.denied, stat.interrupted),
            *(stat.timed, stat.total_seconds, stat.median_seconds, stat.p95_seconds, stat.longest_seconds),
            *(stat.thread_ids, stat.failing_thread_ids),
        )
        for stat in found
    }
    assert list(shown.items()) == list(expected.items())
    assert [(stat.threads, stat.failing_threads) for stat in found] == [
        (len(row[-2]), len(row[-1])) for row in expected.values()
    ]


async def test_tools_add_up_to_the_statistics(filled: Store) -> None:
    tools = {stat.tool: (stat.calls, stat.errors, stat.threads) for stat in await filled.stats.tools()}
    assert tools == {
        stat.key[0]: (stat.tool_calls, stat.tool_errors, stat.threads)
        for stat in await filled.stats.totals(by="tool")
    }


@settings(max_examples=20)
@given(seconds=st.lists(st.integers(0, 1000), min_size=1, max_size=40))
async def test_percentiles_are_the_nearest_rank(store: Store, seconds: list[int]) -> None:
    calls = [
        ToolCallPart(f"c{number}", "run", "output-available", {}, output=TextOutput("done"))
        for number in range(len(seconds))
    ]
    await store.threads.delete("t")
    await store.threads.create("t")
    await store.messages.save([AssistantMessage(id="m", content=calls)], thread_id="t")
    await store.write(_times, {f"c{number}": one for number, one in enumerate(seconds)})
    (stat,) = await store.stats.tools()
    ranked = sorted(seconds)
    assert stat.median_seconds == ranked[-(-len(ranked) * 50 // 100) - 1]
    assert stat.p95_seconds == ranked[-(-len(ranked) * 95 // 100) - 1]
    assert (stat.longest_seconds, stat.total_seconds) == (ranked[-1], sum(ranked))


RUNS: dict[RunOrder, list[str]] = {
    "cost": ["first", "second", "open"],
    "duration": ["second", "first", "open"],
    "tokens": ["second", "first", "open"],
}


@each_row("order", RUNS)
async def test_runs_are_ranked_by_consumption(filled: Store, order: RunOrder) -> None:
    assert [run.id for run in await filled.stats.runs(order=order)] == RUNS[order]
    assert [run.id for run in await filled.stats.runs(order=order, limit=1)] == RUNS[order][:1]


async def test_the_consumption_of_a_run(filled: Store) -> None:
    first, second, unfinished = await filled.stats.runs()
    assert (first.cost, first.input_tokens, first.output_tokens, first.seconds) == (1.0, 100, 10, 3.0)
    assert (first.thread_id, first.title, first.agent, first.model) == ("red", "Red", "claude", "large")
    assert (second.cost, second.input_tokens, second.output_tokens) == (0.75, 70, 700)
    assert (second.status, second.seconds, second.created_at) == ("failed", 60.0, NOON + DAY)
    assert (unfinished.cost, unfinished.seconds, unfinished.input_tokens) == (None, None, 0)


async def test_a_run_has_its_question(store: Store) -> None:
    """The first prompt and its id; without one, the first message that is shown."""
    await store.threads.create("t")
    await store.runs.open("t", id="asked")
    await store.runs.finish("asked")
    await store.runs.open("t", id="continued")
    await store.messages.save(
        [
            AssistantMessage(id="setup", content="Ready.", internal=True, run_id="asked"),
            AssistantMessage(id="greeting", content="Hello.", run_id="asked"),
            user_message("question", "Mend the lamp,\nplease.", run_id="asked"),
            user_message("second", "And the boat.", run_id="asked"),
            AssistantMessage(id="more", content="Then the bell.", run_id="continued"),
        ],
        thread_id="t",
    )
    found = {run.id: (run.message_id, run.question) for run in await store.stats.runs()}
    assert found == {"asked": ("question", "Mend the lamp, please."), "continued": ("more", None)}


async def test_threads_without_a_title_are_named_by_a_prompt(store: Store) -> None:
    await store.threads.create("t")
    await store.messages.save([user_message("m", "Paint the boat.")], thread_id="t")
    await store.runs.open("t", id="r")
    (thread,) = await store.stats.threads()
    (run,) = await store.stats.runs()
    assert (thread.title, run.title) == ("Paint the boat.", "Paint the boat.")


async def test_durations_of_runs_are_added_up(filled: Store) -> None:
    assert [stat.seconds for stat in await filled.stats.totals()] == [63.0]
    by_day = await filled.stats.totals(by="day")
    assert [(stat.key[0], stat.seconds) for stat in by_day] == [("2026-03-01", 3.0), ("2026-03-02", 60.0)]
    by_model = {stat.key[0]: stat.seconds for stat in await filled.stats.totals(by="model")}
    assert by_model == {"large": 3.0, "small": 0.0, None: 60.0}


async def test_a_run_does_not_cost_more_because_of_a_fork(filled: Store) -> None:
    await filled.threads.create("fork")
    await filled.usage.record([record_of("fork", "a", 10, run_id="first", model="large", cost=1.0)])
    costs = {run.id: run.cost for run in await filled.stats.runs()}
    assert costs["first"] == 1.0


async def test_only_some_measures_are_computed(filled: Store) -> None:
    (everything,) = await filled.stats.totals()
    (without_calls,) = await filled.stats.totals(measures=["messages", "usage", "runs"])
    assert without_calls == replace(everything, tool_calls=0, tool_errors=0, denied=0, interrupted=0)
    (only_messages,) = await filled.stats.totals(measures=["messages"])
    assert (only_messages.threads, only_messages.messages, only_messages.responses) == (3, 4, 0)


FILTERED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "since": ({"since": NOON + DAY}, ["second", "open"]),
    "until": ({"until": NOON + DAY}, ["first"]),
    "agent": ({"agent": "keeper"}, ["open"]),
    "project": ({"project": "/blue"}, ["second"]),
    "model": ({"model": "large"}, ["first"]),
}


@each_row(("options", "expected"), FILTERED.values(), ids=FILTERED)
async def test_runs_can_be_filtered(filled: Store, options: dict[str, Any], expected: list[str]) -> None:
    assert [run.id for run in await filled.stats.runs(StatFilter(**options))] == expected


THREADS: dict[ThreadOrder, list[str]] = {
    "cost": ["red", "blue", "quiet"],
    "tokens": ["red", "blue", "quiet"],
    "duration": ["blue", "red", "quiet"],
    "errors": ["red", "blue", "quiet"],
    "messages": ["red", "blue", "quiet"],
}


@each_row("order", THREADS)
async def test_threads_are_ranked_by_consumption(filled: Store, order: ThreadOrder) -> None:
    found = await filled.stats.threads(order=order)
    assert [one.id for one in found] == THREADS[order]
    (red,) = (one for one in found if one.id == "red")
    assert (red.title, red.agent, red.project) == ("Red", "claude", "/red")
    assert (red.messages, red.runs, red.seconds) == (2, 2, 3.0)
    assert (red.input_tokens, red.output_tokens) == (200, 40)
    assert (red.cost, red.tool_calls, red.tool_errors) == (1.5, 3, 1)
    assert [one.id for one in await filled.stats.threads(order=order, limit=2)] == THREADS[order][:2]


async def test_threads_add_up_to_the_total(filled: Store) -> None:
    questions: list[dict[str, Any]] = [{}, {"since": NOON + DAY}, {"agent": "claude"}, {"model": "large"}]
    for options in questions:
        (total,) = await filled.stats.totals(StatFilter(**options))
        found = await filled.stats.threads(StatFilter(**options))
        assert len(found) == total.threads
        assert sum(one.cost or 0 for one in found) == (total.cost or 0)
        for name in (
            "messages",
            "runs",
            "seconds",
            "input_tokens",
            "output_tokens",
            "tool_calls",
            "tool_errors",
        ):
            assert sum(getattr(one, name) for one in found) == getattr(total, name), name


async def test_the_growth_of_a_thread(filled: Store) -> None:
    first, second = await filled.stats.growth("red")
    assert (first.message_id, first.seq, first.time) == ("m2", 2, NOON)
    assert (first.input_tokens, first.output_tokens, first.cost) == (100, 10, 1.0)
    assert (first.total_tokens, first.total_cost) == (110, 1.0)
    assert (second.message_id, second.seq, second.agent, second.model) == ("inner", None, "helper", "small")
    assert (second.total_tokens, second.total_cost) == (240, 1.5)
    assert await filled.stats.growth("quiet") == ()
    with pytest.raises(NotFoundError):
        await filled.stats.growth("nowhere")


async def test_growth_includes_shared_and_unpriced_responses(store: Store) -> None:
    for thread in ("t", "fork"):
        await store.threads.create(thread)
    await store.usage.record([record_of("t", "a", cost=None), record_of("fork", "a", cost=None)])
    for thread in ("t", "fork"):
        (point,) = await store.stats.growth(thread)
        assert (point.total_tokens, point.total_cost) == (110, None)


async def test_an_owner_sees_only_their_statistics(store: Store) -> None:
    for owner in ("ada", "bob"):
        mine = store.scoped(owner)
        await mine.threads.create("t", title=owner)
        call = ToolCallPart("c", f"tool-of-{owner}", "output-available", {}, output=TextOutput("done"))
        await mine.messages.save([AssistantMessage(id="m", content=[call])], thread_id="t")
        await mine.runs.open("t", id="r")
        cost = 1.0 if owner == "ada" else 2.0
        await mine.usage.record([record_of("t", "k", message_id="m", run_id="r", cost=cost)])
    for owner, cost in (("ada", 1.0), ("bob", 2.0)):
        mine = store.scoped(owner)
        assert [stat.tool for stat in await mine.stats.tools()] == [f"tool-of-{owner}"]
        assert [(run.title, run.cost) for run in await mine.stats.runs()] == [(owner, cost)]
        assert [(one.title, one.cost) for one in await mine.stats.threads()] == [(owner, cost)]
        assert [point.cost for point in await mine.stats.growth("t")] == [cost]
    assert len(await store.stats.runs()) == len(await store.stats.threads()) == 2
