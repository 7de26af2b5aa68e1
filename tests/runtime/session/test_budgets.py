"""Budgets of runs and of owners: steps, tokens, cost, and concurrent runs, over all processes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from partita import Agent, BudgetError, Session, as_agent, tool
from partita.agents import AgentRequest, Budget, Budgets
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.chunks import Chunk, StepFinish, StepStart, TextDelta, TextEnd, TextStart
from partita.types.messages import ToolCallPart
from partita.types.usage import Usage
from tests.runtime.agent.models import Model, reply
from tests.runtime.engines import on_both_engines
from tests.store.empty_store import empty_store
from tests.tables import each_row

STEP = Usage(input_tokens=900, output_tokens=100)  # 0.0042 USD by the price of claude-sonnet-4-5


@tool
def look() -> str:
    """Look."""
    return "Nothing."


def busy(steps: int) -> Agent:
    """An agent that calls its model this many times, with 1,000 tokens each."""
    model = Model(*[reply(("look", {}), usage=STEP) for _ in range(steps - 1)], reply("Done.", usage=STEP))
    model.model = "claude-sonnet-4-5"
    return Agent(model, tools=[look], name="busy")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(empty_store(tmp_path, "partita.db")) as opened:
        yield opened


REACHED = [
    (Budget(steps=3), 3, "a run may use 3 steps"),
    (Budget(tokens=2_500), 3, "a run may use 2500 tokens and has used 3000"),
    (Budget(cost=0.008), 2, "a run may cost 0.01 USD and has cost 0.0084"),
]


@each_row(("budget", "steps", "reason"), REACHED)
async def test_a_run_ends_when_its_budget_is_used_up(
    store: Store, budget: Budget, steps: int, reason: str
) -> None:
    agent = busy(9)
    async with Session(store, budgets=Budgets(run=budget)) as session:
        thread_id = f"t {reason}"
        run = await session.start(agent, thread_id, "Look around.")
        ended = await session.wait(run.id)
    assert (ended.status, ended.error) == ("cancelled", f"the budget is used up: {reason}")
    (_, response) = (await store.messages.list(thread_id)).items
    outputs = [part for part in response.parts if isinstance(part, ToolCallPart) and part.output is not None]
    assert len(outputs) == steps


async def test_a_run_that_uses_exactly_its_budget_completes(store: Store) -> None:
    async with Session(store, budgets=Budgets(run=Budget(steps=3, tokens=3_000))) as session:
        run = await session.start(busy(3), "t1", "Look around.")
        assert (await session.wait(run.id)).status == "completed"


async def test_a_function_agent_is_stopped_at_its_next_step(store: Store) -> None:
    async def endless(request: AgentRequest) -> AsyncIterator[Chunk]:
        for number in range(100):
            yield StepStart()
            yield TextStart(str(number))
            yield TextDelta(str(number), "More.")
            yield TextEnd(str(number))
            yield StepFinish()
            await asyncio.sleep(0)

    async with Session(store, budgets=Budgets(run=Budget(steps=5))) as session:
        run = await session.start(as_agent(endless), "t1", "Go.")
        ended = await session.wait(run.id)
    assert ended.status == "cancelled"
    (_, response) = (await store.messages.list("t1")).items
    assert 5 <= sum(part.type == "text" for part in response.parts) <= 8


OWNER = [Budget(steps=4), Budget(tokens=4_000), Budget(cost=0.0165)]


@each_row("budget", OWNER)
async def test_processes_share_the_budget_of_an_owner(tmp_path: Path, budget: Budget) -> None:
    url = empty_store(tmp_path, f"{budget}.db")
    budgets = Budgets(owner=budget, period=10_000_000)
    async with open_store(url) as one, open_store(url) as other:
        async with Session(one.scoped("ada"), budgets=budgets) as first:
            run = await first.start(busy(2), "t1", "Look.")
            assert (await first.wait(run.id)).status == "completed"
        async with Session(other.scoped("ada"), budgets=budgets) as second:
            run = await second.start(busy(9), "t2", "Look.")
            ended = await second.wait(run.id)
            assert ended.status == "cancelled"
            assert "this owner may" in (ended.error or "")
            with pytest.raises(BudgetError) as caught:
                await second.start(busy(1), "t3", "Look.")
            assert caught.value.retry_after > 1
            # Another owner has its own budget, and so has the next period.
            run = await second.start(busy(1), "t3", "Look.", resource_id="bob")
            assert (await second.scoped("bob").wait(run.id)).status == "completed"
        later = Budgets(owner=budget, period=7_000_000)
        async with Session(other.scoped("ada"), budgets=later) as third:
            run = await third.start(busy(1), "t4", "Look.")
            assert (await third.wait(run.id)).status == "completed"


@on_both_engines
async def test_processes_share_the_limit_of_concurrent_runs(url: str) -> None:
    ends = asyncio.Event()

    async def waiting(request: AgentRequest) -> AsyncIterator[str]:
        await ends.wait()
        yield "Done."

    agent, budgets = as_agent(waiting), Budgets(concurrent_runs=3)
    started: list[str] = []

    async def start(session: Session, thread: str, owner: str) -> None:
        with suppress(BudgetError):
            await session.start(agent, thread, "Go.", resource_id=owner)
            started.append(owner)

    async with (
        open_store(url) as one,
        open_store(url) as other,
        Session(one, budgets=budgets) as first,
        Session(other, budgets=budgets) as second,
    ):
        await asyncio.gather(
            *(start((first, second)[number % 2], f"t{number}", "ada") for number in range(8))
        )
        assert started == ["ada"] * 3
        await start(first, "t1", "bob")
        assert started[3:] == ["bob"]
        ends.set()
