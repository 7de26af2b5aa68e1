"""The agent loop: which messages the model receives, how tools run, and how a response ends."""

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
from tests.runtime.agent.models import (
    Model,
    ReplyPart,
    calls_of,
    failing_reply,
    output_value,
    reply,
    summary_of,
)
from tests.runtime.session.controlled_agent import checked_run
from tests.sampling import HUGE


@tool
def add(one: int, other: int) -> int:
    """The sum of two numbers."""
    return one + other


@tool
def fail() -> str:
    """Always fail."""
    raise ZeroDivisionError("by zero")


@pytest.fixture
async def agents(store: Store) -> AsyncIterator[list[Agent]]:
    """Agents to close at the end."""
    made: list[Agent] = []
    yield made
    for agent in made:
        await agent.session.close()


@pytest.fixture
def make(store: Store, agents: list[Agent]) -> "AgentFactory":
    return AgentFactory(store, agents)


class AgentFactory:
    """Creates agents that share a store, and closes them at the end."""

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


async def test_several_steps_make_one_message(make: AgentFactory) -> None:
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
    assert [summary_of(prompt) for prompt in model.prompts] == [
        first,
        second,
        [*second, ("call", "add"), ("result", 7)],
    ]
    assert [spec.name for spec in model.options[0].tools] == ["add"]
    (run,) = (await make.store.runs.list(RunFilter(thread_id="t1"))).items
    result = await checked_run(make.store, run.id)
    total = Usage(input_tokens=60, output_tokens=6)
    assert (run.usage, result.message.content.usage) == (total, total)
    assert result.text == "Let me see.It is 7."
    metadata = result.message.content.metadata
    assert is_object(metadata)
    assert len(metadata["steps"]) == 3


async def test_calls_of_one_step_run_in_parallel(make: AgentFactory) -> None:
    both = threading.Barrier(2, timeout=60)

    @tool
    def meet(name: str) -> str:
        """Wait for the other call."""
        both.wait()
        return f"met {name}"

    model = Model(reply(("meet", {"name": "a"}), ("meet", {"name": "b"})), reply("Done."))
    message = await make(model, meet).run("t1", "Go")
    assert [output_value(call.output) for call in calls_of(message)] == ["met a", "met b"]
    assert summary_of(model.prompts[1])[-2:] == [("result", "met a"), ("result", "met b")]


async def test_preliminary_outputs_are_streamed_and_the_last_output_is_stored(make: AgentFactory) -> None:
    @tool
    async def climb() -> AsyncGenerator[str, None]:
        """Report each height."""
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
    (call,) = calls_of((await checked_run(make.store, run.id)).message)
    assert (call.output, call.preliminary) == (TextOutput("the top"), None)


async def test_the_step_limit_ends_the_run_and_the_next_run_continues_the_message(make: AgentFactory) -> None:
    model = Model(*(reply(("add", {"one": number, "other": 1})) for number in range(3)), reply("Done."))
    agent = make(model, add, max_steps=2)
    message = await agent.run("t1", "Go")
    metadata = message.content.metadata
    assert is_object(metadata)
    assert (metadata["stoppedBy"], len(calls_of(message)), len(model.prompts)) == ("step-limit", 2, 2)
    continued = await agent.run("t1")
    assert continued.id == message.id
    assert [output_value(call.output) for call in calls_of(continued)] == [1, 2, 3]
    assert text_of(continued) == "Done."
    metadata = continued.content.metadata
    assert is_object(metadata)
    assert "stoppedBy" not in metadata
    (last, _) = (await make.store.runs.list(RunFilter(thread_id="t1"))).items
    assert (await checked_run(make.store, last.id, seed=message)).message == continued


FAILED_CALLS: dict[str, tuple[tuple[str, Json], str]] = {
    "an unknown tool": (("fly", {}), "fly"),
    "an input that does not fit": (("add", {"one": "x"}), "one"),
    "a tool that raises": (("fail", {}), "ZeroDivisionError: by zero"),
}


@pytest.mark.parametrize(("call", "error"), FAILED_CALLS.values(), ids=FAILED_CALLS)
async def test_a_failed_call_is_reported_to_the_model(
    make: AgentFactory, call: tuple[str, Json], error: str
) -> None:
    model = Model(reply(call), reply("I see."))
    message = await make(model, add, fail).run("t1", "Go")
    (part,) = calls_of(message)
    assert part.state == "output-error"
    assert isinstance(part.output, ErrorTextOutput)
    assert error in part.output.value
    assert text_of(message) == "I see."
    assert summary_of(model.prompts[1])[-1] == ("result", output_value(part.output))


BAD_INPUT: dict[str, list[Chunk]] = {
    "refused": [ToolInputStart("c", "add"), ToolInputError("c", "add", "no JSON", "{oops")],
    "cut off": [ToolInputStart("c", "add"), ToolInputDelta("c", '{"one": 1, "oth')],
}


@pytest.mark.parametrize("input_chunks", BAD_INPUT.values(), ids=BAD_INPUT)
async def test_a_call_with_invalid_json_input_is_reported_to_the_model(
    make: AgentFactory, input_chunks: list[Chunk]
) -> None:
    events = reply("x")
    model = Model([MessageStart(), StepStart(), *input_chunks, *events[-3:]], reply("I see."))
    message = await make(model, add).run("t1", "Go")
    (part,) = calls_of(message)
    assert part.state == "output-error"
    assert text_of(message) == "I see."
    assert [kind for kind, _ in summary_of(model.prompts[1])] == ["user", "call", "result"]


async def test_a_timeout_of_a_tool_is_reported_to_the_model(make: AgentFactory) -> None:
    @tool(timeout=0.05)
    async def wait() -> str:
        """Wait."""
        await asyncio.Event().wait()
        return "never"

    model = Model(reply(("wait", {})), reply("I see."))
    message = await make(model, wait).run("t1", "Go")
    (call,) = calls_of(message)
    assert isinstance(call.output, InterruptedOutput)
    assert call.output.reason == "timeout"
    assert text_of(message) == "I see."


async def test_a_huge_output_is_truncated(make: AgentFactory) -> None:
    @tool
    def flood() -> str:
        """Return a long text."""
        return "x" * HUGE

    model = Model(reply(("flood", {})), reply("A lot."))
    message = await make(model, flood, runner=ToolRunner(output_limit=100_000)).run("t1", "Go")
    (call,) = calls_of(message)
    assert isinstance(call.output, TextOutput)
    assert len(call.output.value) < 101_000
    assert f"{HUGE - 100_000} characters left out" in call.output.value
    assert text_of(message) == "A lot."


async def test_a_tool_that_ignores_its_cancellation_is_abandoned_when_the_run_is_stopped(
    make: AgentFactory,
) -> None:
    running, released, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @tool
    async def uncancellable() -> str:
        """Ignore cancellation."""
        running.set()
        while not released.is_set():
            with suppress(asyncio.CancelledError):
                await released.wait()
        ended.set()
        return "late"

    model = Model(reply("So.", ("uncancellable", {})))
    agent = make(model, uncancellable, runner=ToolRunner(grace=0.05))
    run = await agent.start("t1", "Go")
    await running.wait()
    stopped = await agent.session.stop(run.id, "enough")
    assert stopped.status == "cancelled"
    (call,) = calls_of((await checked_run(make.store, run.id)).message)
    assert call.output == InterruptedOutput("aborted")
    released.set()
    await ended.wait()


async def test_many_calls_are_stopped_together(make: AgentFactory) -> None:
    """There are more calls than fit the queue of outputs, and its reader has stopped: no call may hang."""
    started = asyncio.Semaphore(0)

    @tool
    async def wait(context: ToolContext) -> str:
        """Wait."""
        started.release()
        await asyncio.Event().wait()
        return "never"

    number = 40
    calls: list[ReplyPart] = [("wait", {})] * number
    model = Model(reply(*calls))
    agent = make(model, wait, runner=ToolRunner(parallel=number))
    run = await agent.start("t1", "Go")
    for _ in range(number):
        await started.acquire()
    await agent.session.stop(run.id)
    stopped = calls_of((await checked_run(make.store, run.id)).message)
    assert [call.output for call in stopped] == [InterruptedOutput("aborted")] * number


async def test_a_failing_model_keeps_its_text_and_usage(make: AgentFactory) -> None:
    usage = Usage(input_tokens=10, output_tokens=1)
    model = Model(reply(("add", {"one": 1, "other": 2}), usage=usage), failing_reply("It is", "overloaded"))
    agent = make(model, add)
    run = await agent.session.wait((await agent.start("t1", "Go")).id)
    assert (run.status, run.error, run.usage) == ("failed", "overloaded", usage)
    result = await checked_run(make.store, run.id)
    assert result.text == "It is"
    assert result.ending == {"status": "failed", "reason": "overloaded"}
    assert [output_value(call.output) for call in calls_of(result.message)] == [3]


async def test_an_invalid_chunk_does_not_end_the_run(make: AgentFactory) -> None:
    events = reply("Fine.")
    model = Model([*events[:2], TextDelta("nowhere", "?"), *events[2:]])
    agent = make(model)
    assert text_of(await agent.run("t1", "Go")) == "Fine."
    (run,) = (await make.store.runs.list(RunFilter(thread_id="t1"))).items
    log = [record.chunk for record in await make.store.logs.read(run.id)]
    assert sum(isinstance(chunk, DataChunk) and chunk.type == REFUSED for chunk in log) == 1


async def test_every_byte_of_the_model_is_stored(make: AgentFactory) -> None:
    events = reply("Fine.")
    model = Model([RawEvent(raw_text="a"), *events[:-1], RawEvent(raw_text="b"), CompleteEvent(raw_text="c")])
    await make(model).run("t1", "Go")
    (run,) = (await make.store.runs.list(RunFilter(thread_id="t1"))).items
    raw = [record.raw for record in await make.store.logs.read(run.id) if record.raw is not None]
    assert b"".join(raw) == b"abc"


async def test_an_interrupted_call_is_completed_for_the_model_in_the_next_turn(make: AgentFactory) -> None:
    running = asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        running.set()
        await asyncio.Event().wait()
        return "never"

    model = Model(reply("So.", ("wait", {})), reply("Never mind."))
    agent = make(model, wait)
    run = await agent.start("t1", "Go")
    await running.wait()
    await agent.session.stop(run.id)
    assert text_of(await agent.run("t1", "And now?")) == "Never mind."
    assert summary_of(model.prompts[1]) == [
        ("user", "Go"),
        ("text", "So."),
        ("call", "wait"),
        ("result", "interrupted: aborted"),
        ("user", "And now?"),
    ]


async def test_a_call_with_cut_input_leaves_no_open_call_in_the_next_turn(
    make: AgentFactory,
) -> None:
    cut = [*reply("So.")[:-3], ToolInputStart("c", "add"), ToolInputDelta("c", '{"one"')]
    model = Model([*cut, ConnectionError("gone")], reply("Never mind."))
    agent = make(model, add)
    run = await agent.session.wait((await agent.start("t1", "Go")).id)
    assert (run.status, run.error) == ("failed", "ConnectionError: gone")
    await agent.run("t1", "And now?")
    sent = summary_of(model.prompts[1])
    texts = [(kind, text) for kind, text in sent if kind in ("user", "text")]
    assert texts == [("user", "Go"), ("text", "So."), ("user", "And now?")]
    kinds = [kind for kind, _ in sent]
    assert kinds.count("call") == kinds.count("result")


async def test_calls_that_the_provider_runs_are_not_run_here(make: AgentFactory) -> None:
    searched: list[Chunk] = [
        ToolInputAvailable("s", "search", {}, provider_executed=True),
        ToolOutputAvailable("s", "found", provider_executed=True),
    ]
    events = reply("Found.")
    model = Model([*events[:2], *searched, *events[2:]])
    message = await make(model).run("t1", "Go")
    assert (text_of(message), len(model.prompts)) == ("Found.", 1)


async def test_a_tool_receives_the_context_of_its_call(make: AgentFactory) -> None:
    contexts: list[ToolContext] = []

    @tool
    def look(context: ToolContext) -> str:
        """Look around."""
        contexts.append(context)
        return "seen"

    model = Model(reply(("look", {})), reply("Done."))
    message = await make(model, look).run("t1", "Go")
    (context,) = contexts
    (run,) = (await make.store.runs.list(RunFilter(thread_id="t1"))).items
    (call,) = calls_of(message)
    assert (context.thread_id, context.run_id, context.message_id) == ("t1", run.id, message.id)
    assert (context.tool_call_id, context.store) == (call.id, make.store)


async def test_an_agent_without_a_store_can_be_invoked_as_a_service() -> None:
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


async def test_the_client_runs_the_tools_of_its_request(make: AgentFactory) -> None:
    """The call of an unknown tool is an error that the model receives; that of the client's tool waits."""
    agent = make(Model(reply(("show_map", {}), ("add", {"one": 1, "other": 2})), reply("There.")), add)
    options = InvokeOptions(tools=(ToolSpec(name="show_map"),))
    message = await agent.run("t1", "Where?", options=options)
    shown, added = calls_of(message)
    assert (shown.state, shown.output) == ("input-available", None)
    assert added.state == "output-available"
    await agent.session.add_tool_output("t1", shown.id, TextOutput("shown"))
    assert text_of(await agent.run("t1", options=options)) == "There."


async def test_a_tool_of_the_agent_is_not_replaced_by_one_of_the_client(make: AgentFactory) -> None:
    agent = make(Model(reply(("add", {"one": 1, "other": 2})), reply("Three.")), add)
    message = await agent.run("t1", "?", options=InvokeOptions(tools=(ToolSpec(name="add"),)))
    assert text_of(message) == "Three."
