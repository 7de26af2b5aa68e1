"""The outline of a thread, on every engine: its messages, their order, and their fields."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import astuple, replace

from partita.errors import NotFoundError
from partita.store.store import Store
from partita.store.threads.branches import Outline
from partita.types.codec import encode
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import ErrorTextOutput, ReasoningPart, StepStartPart, TextOutput, TextPart
from tests.tables import each_row

from .examples import assistant_message, tool_call_message, user_message
from .ledger import record_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
async def branches(store: Store) -> None:
    """Two responses to the first question, an internal message, and another thread."""
    store.clock = lambda: NOON
    await store.threads.create("t1")
    conversation = [
        user_message("m1", created_at=NOON - timedelta(hours=1)),
        assistant_message("a1", "Ein Leuchtturm, älter als das Fest: 🗼", parent_id="m1"),
        assistant_message("a2", parent_id="m1"),
        AssistantMessage(id="i1", content="Route it.", internal=True, parent_id="a2"),
        tool_call_message("w1", parent_id="i1"),
    ]
    await store.messages.save(conversation, thread_id="t1")
    bob = store.scoped("bob")
    await bob.threads.create("t2")
    await bob.messages.save([user_message("m1"), assistant_message("b1")], thread_id="t2")


async def of(store: Store, **options: Any) -> Outline:
    return await store.threads.outline("t1", **options)


BRANCHES: Mapping[str, tuple[dict[str, Any], list[str]]] = {
    "the active one": ({}, ["m1", "a2", "w1"]),
    "with internal messages": ({"internal": True}, ["m1", "a2", "i1", "w1"]),
    "another one": ({"through": "a1"}, ["m1", "a1"]),
    "through one in the middle": ({"through": "a2"}, ["m1", "a2", "w1"]),
    "through the first": ({"through": "m1", "internal": True}, ["m1", "a2", "i1", "w1"]),
}


@each_row(("options", "ids"), BRANCHES.values(), ids=BRANCHES)
async def test_a_branch(store: Store, options: dict[str, Any], ids: list[str]) -> None:
    assert [row.id for row in (await of(store, **options)).rows] == ids


async def test_the_fields_of_an_outline_row(store: Store) -> None:
    first, second, last = (await of(store)).rows
    assert astuple(first)[:5] == ("m1", 1, "user", "text", NOON - timedelta(hours=1))
    assert astuple(second)[:5] == ("a2", 3, "assistant", "text", NOON)
    assert astuple(last)[:4] == ("w1", 5, "assistant", "tool")
    assert last.size > first.size > len("How tall is the lighthouse?")


REASONING = ReasoningPart(text="Somebody has to measure it.")
TEXT = TextPart(text="I measure it.")
CALL = ToolCallPart(id="c1", name="Bash", state="output-available", input={}, output=TextOutput("41 m"))
FAILED = replace(CALL, id="c2", state="output-error", output=ErrorTextOutput("no tape"))
EDIT = replace(CALL, id="c3", name="apply_patch")
ASK = replace(CALL, id="c4", name="AskUserQuestion")
WAITING = replace(CALL, id="c5", state="approval-requested", output=None)
STEP = StepStartPart()


@each_row(
    ("parts", "expected"),
    [
        ([TEXT], (False, None, 0, 0, None, 0, 0)),
        ([STEP, REASONING, TEXT], (True, None, 0, 2, None, 0, 0)),
        ([STEP, TEXT, CALL], (False, {"command": 1}, 0, 0, 2, 0, 0)),
        ([REASONING, TEXT, CALL, EDIT], (True, {"command": 1, "edit": 1}, 0, 1, 2, 0, 0)),
        ([TEXT, CALL, TEXT], (False, {"command": 1}, 0, 0, None, 0, 1)),
        ([STEP, CALL, FAILED], (False, {"command": 2}, 1, 0, 0, 0, 0)),
        ([CALL, ASK], (False, {"command": 1, "question": 1}, 0, 1, None, 1, 1)),
        ([WAITING], (False, {"command": 1}, 0, 0, None, 0, 1)),
        ([replace(CALL, name="make coffee")], (False, {"other": 1}, 0, 0, 0, 0, 0)),
    ],
)
async def test_the_calls_of_a_message_and_where_its_texts_are(
    store: Store, parts: list[Any], expected: tuple[Any, ...]
) -> None:
    await store.messages.save([AssistantMessage(id="x1", content=parts)], thread_id="t1")
    row = (await of(store)).rows[-1]
    found = (row.reasoning, row.calls, row.failed, row.start, row.end, row.before, row.inside)
    assert found == expected


async def test_the_calls_of_a_sub_agent_are_not_those_of_the_message(store: Store) -> None:
    inner = AssistantMessage(id="inner", content=[FAILED, TEXT])
    outer = replace(CALL, name="Task", children=(inner,))
    await store.messages.save([AssistantMessage(id="x1", content=[outer])], thread_id="t1")
    row = (await of(store)).rows[-1]
    assert (row.calls, row.failed, row.has_errors, row.end) == ({"agent": 1}, 0, True, 0)


async def test_the_tokens_and_the_cost_of_a_message(store: Store) -> None:
    await store.usage.record([record_of("t1", key, message_id="a2") for key in ("k1", "k2")])
    _, row, other = (await of(store)).rows
    usage = await store.usage.of_thread("t1")
    assert row.tokens == usage.input_tokens + usage.output_tokens > 0
    assert (other.tokens, other.cost) == (0, None)


async def test_a_thread_runs_until_its_run_ends(store: Store) -> None:
    run = await store.runs.open("t1")
    assert (await of(store)).running
    await store.runs.finish(run.id)
    assert not (await of(store)).running


async def test_the_size_is_in_bytes(store: Store) -> None:
    for row in (await of(store, through="a1")).rows:
        message = await store.messages.get("t1", row.id)
        assert message is not None
        assert row.size == len(encode(message.content))


async def test_a_changed_message_has_another_version(store: Store) -> None:
    before = {row.id: row.version for row in (await of(store)).rows}
    store.clock = lambda: NOON + timedelta(microseconds=1)
    await store.messages.save([assistant_message("a2", "Fifty metres.")], thread_id="t1")
    after = {row.id: row.version for row in (await of(store)).rows}
    assert {name for name in before if before[name] != after[name]} == {"a2"}


@each_row(("options", "shown"), [({}, "a2"), ({"through": "a1"}, "a1")])
async def test_siblings_of_messages(store: Store, options: dict[str, Any], shown: str) -> None:
    assert (await of(store, **options)).siblings == {shown: ["a1", "a2"]}


async def test_siblings_of_roots(store: Store) -> None:
    await store.messages.save([user_message("m2", "Or the tower?", parent_id="")], thread_id="t1")
    found = await of(store)
    assert [row.id for row in found.rows] == ["m2"]
    assert found.siblings == {"m2": ["m1", "m2"]}


async def test_a_cycle_of_parents_ends_the_path(store: Store) -> None:
    await store.messages.save([user_message("m1", parent_id="w1")], thread_id="t1")
    assert {row.id for row in (await of(store, through="a2")).rows} == {"m1", "a2", "w1"}


async def test_models_are_ordered_by_responses(store: Store) -> None:
    used = {"k1": "small", "k2": "large", "k3": "large", "k4": "also"}
    await store.usage.record([record_of("t1", key, model=model) for key, model in used.items()])
    assert (await of(store)).models == ["large", "also", "small"]


async def test_the_outline_of_another_owner_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError, match="t1"):
        await of(store.scoped("bob"))
    with pytest.raises(NotFoundError, match="b1"):
        await of(store, through="b1")


async def test_a_thread_without_messages(store: Store) -> None:
    await store.threads.create("empty")
    assert await store.threads.outline("empty") == Outline([], {}, [], running=False, total=0)
