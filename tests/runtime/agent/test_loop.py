"""The agent loop: model, tools, model, until there is an answer, and what the model is sent each time."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress

import pytest

from partita.errors import AgentError
from partita.formats.format import ToolSpec
from partita.runtime.agent.agent import Agent
from partita.runtime.service import InvokeOptions
from partita.runtime.session.log_writer import REFUSED
from partita.runtime.tools.context import ToolContext
from partita.runtime.tools.runner import ToolRunner
from partita.runtime.tools.tool import Tool, tool
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.chunks import (
    Chunk,
    CompleteEvent,
    DataChunk,
    MessageFinish,
    MessageStart,
    RawEvent,
    StepStart,
    TextDelta,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
)
from partita.types.json import Json, is_object
from partita.types.messages import text_of
from partita.types.parts import ErrorTextOutput, InterruptedOutput, TextOutput
from partita.types.usage import Usage
from tests.runtime.agent.models import Model, Said, calls_of, failing, outcome, reply, seen
from tests.runtime.session.puppets import left_by
from tests.sampling import HUGE


@tool
def add(one: int, other: int) -> int:
    """The sum of two numbers."""
    return one + other


@tool
def fail() -> str:
    """Does not work."""
    raise ZeroDivisionError("by zero")


@pytest.fixture
async def agents(store: Store) -> AsyncIterator[list[Agent]]:
    """Agents to close at the end."""
    made: list[Agent] = []
    yield made
    for agent in made:
        await agent.session.close()


@pytest.fixture
def make(store: Store, agents: list[Agent]) -> "Maker":
    return Maker(store, agents)


class Maker:
    """Makes agents that share a store."""

    def __init__(self, store: Store, made: list[Agent]) -> None:
        self.store = store
        self._made = made

    def __call__(
        self, model: Model, *tools: Tool, max_steps: int = 20, runner: ToolRunner | None = None
    ) -> Agent:
        agent = Agent(model, tools=tools, store=self.store, max_steps=max_steps, runner=runner)
        self._made.append(agent)
        return agent


async def chunks_of(agent: Agent, thread_id: str = "t1", input: str | None = "Go") -> list[Chunk]:
    return [chunk async for chunk in agent.stream(thread_id, input)]


async def test_several_steps_make_one_message(make: Maker) -> None:
    model = Model(
        reply("Let me see.", ("add", {"one": 1, "other": 2}), usage=Usage(input_tokens=10, output_tokens=1)),
        reply(("add", {"one": 3, "other": 4}), usage=Usage(input_tokens=20, output_tokens=2)),
        reply("It is 7.", usage=Usage(input_tokens=30, output_tokens=3)),
    )
    agent = make(model, add)
    chunks = await chunks_of(agent)
    assert sum(isinstance(chunk, MessageStart) for chunk in chunks) == 1
    assert [chunk.finish_reason for chunk in chunks if isinstance(chunk, MessageFinish)] == ["stop"]
    first = [("user", "Go")]
    second = [*first, ("text", "Let me see."), ("call", "add"), ("result", 3)]
    assert [seen(asked) for asked in model.asked] == [
        first,
        second,
        [*second, ("call", "add"), ("result", 7)],
    ]
    assert [spec.name for spec in model.options[0].tools] == ["add"]
    (run,) = (await make.store.runs.list(RunFilter(thread_id="t1"))).items
    left = await left_by(make.store, run.id)
    total = Usage(input_tokens=60, output_tokens=6)
    assert (run.usage, left.message.content.usage) == (total, total)
    assert left.words == "Let me see.It is 7."
    said = left.message.content.metadata
    assert is_object(said)
    assert len(said["steps"]) == 3


async def test_calls_of_one_step_run_at_once(make: Maker) -> None:
    both = threading.Barrier(2, timeout=60)

    @tool
    def meet(name: str) -> str:
        """Waits for the other one."""
        both.wait()
        return f"met {name}"

    model = Model(reply(("meet", {"name": "a"}), ("meet", {"name": "b"})), reply("Done."))
    message = await make(model, meet).run("t1", "Go")
    assert [outcome(call.output) for call in calls_of(message)] == ["met a", "met b"]
    assert seen(model.asked[1])[-2:] == [("result", "met a"), ("result", "met b")]


async def test_preliminary_outputs_are_shown_and_the_last_one_stays(make: Maker) -> None:
    @tool
    async def climb() -> AsyncGenerator[str, None]:
        """Says how far it is."""
        for height in ("10 m", "20 m", "the top"):
            yield height

    model = Model(reply(("climb", {})), reply("Done."))
    chunks = await chunks_of(make(model, climb))
    outputs = [chunk for chunk in chunks if isinstance(chunk, ToolOutputAvailable)]
    assert [(chunk.output, chunk.preliminary) for chunk in outputs] == [
        ("10 m", True),
        ("20 m", True),
        ("the top", True),
        ("the top", None),
    ]
    (run,) = (await make.store.runs.list(RunFilter(thread_id="t1"))).items
    (call,) = calls_of((await left_by(make.store, run.id)).message)
    assert (call.output, call.preliminary) == (TextOutput("the top"), None)


async def test_the_limit_of_steps_ends_it_and_it_may_go_on(make: Maker) -> None:
    model = Model(*(reply(("add", {"one": number, "other": 1})) for number in range(3)), reply("Done."))
    agent = make(model, add, max_steps=2)
    message = await agent.run("t1", "Go")
    said = message.content.metadata
    assert is_object(said)
    assert (said["stoppedBy"], len(calls_of(message)), len(model.asked)) == ("step-limit", 2, 2)
    gone_on = await agent.run("t1")
    assert gone_on.id == message.id
    assert [outcome(call.output) for call in calls_of(gone_on)] == [1, 2, 3]
    assert text_of(gone_on) == "Done."
    said = gone_on.content.metadata
    assert is_object(said)
    assert "stoppedBy" not in said
    (last, _) = (await make.store.runs.list(RunFilter(thread_id="t1"))).items
    assert (await left_by(make.store, last.id, seed=message)).message == gone_on


WRONG: dict[str, tuple[tuple[str, Json], str]] = {
    "a tool that nobody knows": (("fly", {}), "fly"),
    "an input that does not fit": (("add", {"one": "x"}), "one"),
    "a tool that raises": (("fail", {}), "ZeroDivisionError: by zero"),
}


@pytest.mark.parametrize(("call", "told"), WRONG.values(), ids=WRONG)
async def test_what_goes_wrong_with_a_call_is_told_to_the_model(
    make: Maker, call: tuple[str, Json], told: str
) -> None:
    model = Model(reply(call), reply("I see."))
    message = await make(model, add, fail).run("t1", "Go")
    (part,) = calls_of(message)
    assert part.state == "output-error"
    assert isinstance(part.output, ErrorTextOutput)
    assert told in part.output.value
    assert text_of(message) == "I see."
    assert seen(model.asked[1])[-1] == ("result", outcome(part.output))


BAD_INPUT: dict[str, list[Chunk]] = {
    "refused": [ToolInputStart("c", "add"), ToolInputError("c", "add", "no JSON", "{oops")],
    "cut off": [ToolInputStart("c", "add"), ToolInputDelta("c", '{"one": 1, "oth')],
}


@pytest.mark.parametrize("written", BAD_INPUT.values(), ids=BAD_INPUT)
async def test_a_call_whose_input_never_was_one_is_told_to_the_model(
    make: Maker, written: list[Chunk]
) -> None:
    whole = reply("x")
    model = Model([MessageStart(), StepStart(), *written, *whole[-3:]], reply("I see."))
    message = await make(model, add).run("t1", "Go")
    (part,) = calls_of(message)
    assert part.state == "output-error"
    assert text_of(message) == "I see."
    assert [kind for kind, _ in seen(model.asked[1])] == ["user", "call", "result"]


async def test_a_tool_that_takes_too_long_is_told_as_that(make: Maker) -> None:
    @tool(timeout=0.05)
    async def wait() -> str:
        """Waits."""
        await asyncio.Event().wait()
        return "never"

    model = Model(reply(("wait", {})), reply("I see."))
    message = await make(model, wait).run("t1", "Go")
    (call,) = calls_of(message)
    assert isinstance(call.output, InterruptedOutput)
    assert call.output.reason == "timeout"
    assert text_of(message) == "I see."


async def test_a_huge_output_is_cut(make: Maker) -> None:
    @tool
    def flood() -> str:
        """Says a lot."""
        return "x" * HUGE

    model = Model(reply(("flood", {})), reply("A lot."))
    message = await make(model, flood, runner=ToolRunner(output_limit=100_000)).run("t1", "Go")
    (call,) = calls_of(message)
    assert isinstance(call.output, TextOutput)
    assert len(call.output.value) < 101_000
    assert f"{HUGE - 100_000} characters left out" in call.output.value
    assert text_of(message) == "A lot."


async def test_a_tool_that_does_not_hear_is_left_behind_when_the_run_is_stopped(make: Maker) -> None:
    runs, goes, gone = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @tool
    async def stubborn() -> str:
        """Does not hear."""
        runs.set()
        while not goes.is_set():
            with suppress(asyncio.CancelledError):
                await goes.wait()
        gone.set()
        return "late"

    model = Model(reply("So.", ("stubborn", {})))
    agent = make(model, stubborn, runner=ToolRunner(grace=0.05))
    run = await agent.start("t1", "Go")
    await runs.wait()
    stopped = await agent.session.stop(run.id, "enough")
    assert stopped.status == "cancelled"
    (call,) = calls_of((await left_by(make.store, run.id)).message)
    assert call.output == InterruptedOutput("aborted")
    goes.set()
    await gone.wait()


async def test_many_calls_are_stopped_at_once(make: Maker) -> None:
    """More than may wait to be told: nobody reads any more, and yet none hangs."""
    begun = asyncio.Semaphore(0)

    @tool
    async def wait(context: ToolContext) -> str:
        """Waits."""
        begun.release()
        await asyncio.Event().wait()
        return "never"

    number = 40
    calls: list[Said] = [("wait", {})] * number
    model = Model(reply(*calls))
    agent = make(model, wait, runner=ToolRunner(parallel=number))
    run = await agent.start("t1", "Go")
    for _ in range(number):
        await begun.acquire()
    await agent.session.stop(run.id)
    stopped = calls_of((await left_by(make.store, run.id)).message)
    assert [call.output for call in stopped] == [InterruptedOutput("aborted")] * number


async def test_a_model_that_fails_in_the_middle_keeps_what_it_said_and_took(make: Maker) -> None:
    usage = Usage(input_tokens=10, output_tokens=1)
    model = Model(reply(("add", {"one": 1, "other": 2}), usage=usage), failing("It is", "overloaded"))
    agent = make(model, add)
    run = await agent.session.wait((await agent.start("t1", "Go")).id)
    assert (run.status, run.error, run.usage) == ("failed", "overloaded", usage)
    left = await left_by(make.store, run.id)
    assert left.words == "It is"
    assert left.ended == {"status": "failed", "reason": "overloaded"}
    assert [outcome(call.output) for call in calls_of(left.message)] == [3]


async def test_a_chunk_that_does_not_fit_does_not_end_the_talk(make: Maker) -> None:
    whole = reply("Fine.")
    model = Model([*whole[:2], TextDelta("nowhere", "?"), *whole[2:]])
    agent = make(model)
    assert text_of(await agent.run("t1", "Go")) == "Fine."
    (run,) = (await make.store.runs.list(RunFilter(thread_id="t1"))).items
    log = [record.chunk for record in await make.store.logs.read(run.id)]
    assert sum(isinstance(chunk, DataChunk) and chunk.type == REFUSED for chunk in log) == 1


async def test_every_byte_of_the_model_is_kept(make: Maker) -> None:
    whole = reply("Fine.")
    model = Model([RawEvent(raw_text="a"), *whole[:-1], RawEvent(raw_text="b"), CompleteEvent(raw_text="c")])
    await make(model).run("t1", "Go")
    (run,) = (await make.store.runs.list(RunFilter(thread_id="t1"))).items
    raw = [record.raw for record in await make.store.logs.read(run.id) if record.raw is not None]
    assert b"".join(raw) == b"abc"


async def test_an_interrupted_call_is_mended_in_the_next_turn(make: Maker) -> None:
    runs = asyncio.Event()

    @tool
    async def wait() -> str:
        """Waits."""
        runs.set()
        await asyncio.Event().wait()
        return "never"

    model = Model(reply("So.", ("wait", {})), reply("Never mind."))
    agent = make(model, wait)
    run = await agent.start("t1", "Go")
    await runs.wait()
    await agent.session.stop(run.id)
    assert text_of(await agent.run("t1", "And now?")) == "Never mind."
    assert seen(model.asked[1]) == [
        ("user", "Go"),
        ("text", "So."),
        ("call", "wait"),
        ("result", "interrupted: aborted"),
        ("user", "And now?"),
    ]


async def test_a_call_that_was_cut_while_it_was_written_leaves_no_open_call_in_the_next_turn(
    make: Maker,
) -> None:
    cut = [*reply("So.")[:-3], ToolInputStart("c", "add"), ToolInputDelta("c", '{"one"')]
    model = Model([*cut, ConnectionError("gone")], reply("Never mind."))
    agent = make(model, add)
    run = await agent.session.wait((await agent.start("t1", "Go")).id)
    assert (run.status, run.error) == ("failed", "ConnectionError: gone")
    await agent.run("t1", "And now?")
    sent = seen(model.asked[1])
    talk = [(kind, said) for kind, said in sent if kind in ("user", "text")]
    assert talk == [("user", "Go"), ("text", "So."), ("user", "And now?")]
    kinds = [kind for kind, _ in sent]
    assert kinds.count("call") == kinds.count("result")


async def test_calls_that_the_provider_runs_are_not_ours(make: Maker) -> None:
    searched: list[Chunk] = [
        ToolInputAvailable("s", "search", {}, provider_executed=True),
        ToolOutputAvailable("s", "found", provider_executed=True),
    ]
    whole = reply("Found.")
    model = Model([*whole[:2], *searched, *whole[2:]])
    message = await make(model).run("t1", "Go")
    assert (text_of(message), len(model.asked)) == ("Found.", 1)


async def test_a_tool_knows_where_it_is_called(make: Maker) -> None:
    known: list[ToolContext] = []

    @tool
    def look(context: ToolContext) -> str:
        """Looks around."""
        known.append(context)
        return "seen"

    model = Model(reply(("look", {})), reply("Done."))
    message = await make(model, look).run("t1", "Go")
    (context,) = known
    (run,) = (await make.store.runs.list(RunFilter(thread_id="t1"))).items
    (call,) = calls_of(message)
    assert (context.thread_id, context.run_id, context.message_id) == ("t1", run.id, message.id)
    assert (context.tool_call_id, context.store) == (call.id, make.store)


async def test_an_agent_is_an_agent_of_others_without_a_store() -> None:
    model = Model(reply(("add", {"one": 1, "other": 2})), reply("3."))
    agent = Agent(model, tools=[add], instructions="Be brief.")
    events = [event async for event in agent.invoke("Go", options=InvokeOptions(settings={"warm": 1}))]
    assert isinstance(events[-1], CompleteEvent)
    assert model.options[0].instructions == "Be brief."
    assert model.options[0].settings == {"warm": 1}
    with pytest.raises(AgentError, match="has no store"):
        await agent.run("t1", "Go")
    with pytest.raises(AgentError, match="max_steps"):
        Agent(model, max_steps=0)


async def test_tools_that_a_turn_brings_along_are_the_clients(make: Maker) -> None:
    """What nobody has is an error that the model is told of; what the client brought waits for it."""
    agent = make(Model(reply(("show_map", {}), ("add", {"one": 1, "other": 2})), reply("There.")), add)
    options = InvokeOptions(tools=(ToolSpec(name="show_map"),))
    message = await agent.run("t1", "Where?", options=options)
    shown, added = calls_of(message)
    assert (shown.state, shown.output) == ("input-available", None)
    assert added.state == "output-available"
    await agent.session.add_tool_output("t1", shown.id, TextOutput("shown"))
    assert text_of(await agent.run("t1", options=options)) == "There."


async def test_a_client_cannot_take_a_tool_of_the_agent(make: Maker) -> None:
    agent = make(Model(reply(("add", {"one": 1, "other": 2})), reply("Three.")), add)
    message = await agent.run("t1", "?", options=InvokeOptions(tools=(ToolSpec(name="add"),)))
    assert text_of(message) == "Three."
