"""Failures in networks: what is stored, what the router receives, and how a network is interrupted."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from partita import (
    Agent,
    AssistantMessage,
    ErrorTextOutput,
    InterruptedOutput,
    Message,
    Session,
    TextPart,
    ToolCallPart,
    get_format,
    open_store,
    tool,
)
from partita.agents import ChunkEvent, CompleteEvent, Network, Prompt, ScriptedService, as_script
from partita.chunks import MessageFinish, MessageStart, TextDelta, TextStart, ToolInputStart
from partita.store import Store
from partita.store.values import MessageFilter, PartFilter, ThreadFilter
from partita.types import NetworkResult, text_of

JsonDict = dict[str, Any]


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with await open_store("sqlite:///:memory:") as opened:
        yield opened


@tool
def divide(by: int) -> JsonDict:
    """Divide a hundred."""
    return {"quotient": 100 // by}


def call(name: str, given: JsonDict) -> JsonDict:
    return {"parts": [{"type": "tool-call", "name": name, "input": given}]}


def route(kind: str, id: str, given: object) -> JsonDict:
    return call(
        "route", {"primitiveType": kind, "primitiveId": id, "input": given, "selectionReason": "it fits"}
    )


DONE = call("finish", {"answer": "All done."})


class Router:
    """A scripted router that keeps the prompts that it receives."""

    name = "router"

    def __init__(self, *steps: JsonDict) -> None:
        self._script = ScriptedService(as_script({"scenes": [{"steps": list(steps)}]}))
        self.prompts: list[list[Message]] = []

    def invoke(self, prompt: Prompt, **options: Any) -> AsyncIterator[Any]:
        assert not isinstance(prompt, str)
        self.prompts.append(list(prompt))
        return self._script.invoke(prompt, **options)

    @property
    def last_output(self) -> object:
        """The output of its last choice."""
        (part,) = [part for part in self.prompts[-1][-1].parts if isinstance(part, ToolCallPart)]
        return part.output


def scripted(*steps: JsonDict) -> ScriptedService:
    return ScriptedService(as_script({"scenes": [{"steps": list(steps)}]}))


async def run(store: Store, network: Network) -> None:
    async with Session(store) as session:
        started = await session.start(network, "t", "Go.")
        assert (await session.wait(started.id)).status == "completed"


async def executed(store: Store) -> AssistantMessage:
    """The message of the first execution."""
    page = await store.messages.list("t", limit=None)
    return next(one for one in page.items if isinstance(one, AssistantMessage))


def result(message: AssistantMessage) -> NetworkResult:
    execution = message.content.network_execution
    assert execution is not None
    assert execution.final_result is not None
    return execution.final_result


def ui_part(message: AssistantMessage) -> JsonDict:
    """The execution as a part of a UI message."""
    dump = get_format("ai-sdk-ui-v7").dump
    assert dump is not None
    return next(part for part in dump([message]).payload[0]["parts"] if part["type"] == "dynamic-tool")


async def failed_threads(store: Store) -> list[str]:
    return [one.id for one in (await store.threads.list(ThreadFilter(has_errors=True))).items]


@pytest.mark.parametrize("kind", ["tool", "workflow"])
async def test_an_exception_of_a_function_is_the_error_of_the_execution(store: Store, kind: str) -> None:
    router = Router(route(kind, "divide", {"by": 0}), DONE)
    network = Network(
        router, tools=[divide] if kind == "tool" else (), workflows=[divide] if kind == "workflow" else ()
    )
    await run(store, network)
    message = await executed(store)
    assert "ZeroDivisionError" in (result(message).error or "")
    (failed,) = result(message).tool_calls
    assert (failed.name, failed.input, failed.state) == ("divide", {"by": 0}, "output-error")
    assert isinstance(router.last_output, ErrorTextOutput)
    assert "ZeroDivisionError" in router.last_output.value
    assert ui_part(message)["state"] == "output-error"
    assert "ZeroDivisionError" in ui_part(message)["errorText"]
    assert await failed_threads(store) == ["t"]
    assert len((await store.messages.find_parts(PartFilter(tool="divide", has_error=True))).items) == 1


@pytest.mark.parametrize("kind", ["tool", "workflow"])
async def test_the_value_of_a_function_is_the_value_of_the_execution(store: Store, kind: str) -> None:
    router = Router(route(kind, "divide", {"by": 4}), DONE)
    network = Network(
        router, tools=[divide] if kind == "tool" else (), workflows=[divide] if kind == "workflow" else ()
    )
    await run(store, network)
    message = await executed(store)
    assert result(message).value == {"quotient": 25}
    (listed,) = result(message).tool_calls
    assert (listed.name, listed.input, listed.state) == ("divide", {"by": 4}, "output-available")
    assert ui_part(message)["output"] == {"quotient": 25}
    assert await failed_threads(store) == []


async def test_a_failing_agent_keeps_its_text_and_error(store: Store) -> None:
    failing = scripted({"parts": [{"type": "text", "text": "I tr"}], "error": "no ink"})
    router = Router(route("agent", "failing", "Write."), DONE)
    await run(store, Network(router, agents={"failing": failing}))
    message = await executed(store)
    assert (result(message).text, result(message).error) == ("I tr", "no ink")
    assert isinstance(router.last_output, ErrorTextOutput)
    assert "no ink" in router.last_output.value
    assert "I tr" in router.last_output.value
    assert ui_part(message)["state"] == "output-error"
    assert ui_part(message)["errorText"] == "no ink"
    assert await failed_threads(store) == ["t"]


async def test_a_failed_call_in_a_nested_network_is_counted(store: Store) -> None:
    divider = Agent(
        scripted(call("divide", {"by": 0}), {"parts": [{"type": "text", "text": "Hm."}]}), tools=[divide]
    )
    inner = Network(Router(route("agent", "divider", "Divide."), DONE), agents={"divider": divider})
    await run(store, Network(Router(route("agent", "inner", "Divide."), DONE), agents={"inner": inner}))
    assert result(await executed(store)).error is None
    assert await failed_threads(store) == ["t"]
    assert len((await store.messages.find_parts(PartFilter(tool="divide", has_error=True))).items) == 1


async def test_an_execution_lists_the_calls_of_its_agent(store: Store) -> None:
    divider = Agent(
        scripted(call("divide", {"by": 5}), {"parts": [{"type": "text", "text": "20."}]}), tools=[divide]
    )
    await run(store, Network(Router(route("agent", "divider", "Divide."), DONE), agents={"divider": divider}))
    (listed,) = result(await executed(store)).tool_calls
    assert (listed.name, listed.input, listed.output) == ("divide", {"by": 5}, listed.output)
    assert len((await store.messages.find_parts(PartFilter(tool="divide"))).items) == 1


class Endless:
    """An agent with an open text and an open call until it is stopped."""

    name = "endless"

    async def invoke(self, prompt: Prompt, **options: Any) -> AsyncIterator[Any]:
        yield ChunkEvent(chunk=MessageStart())
        yield ChunkEvent(chunk=TextStart("t"))
        yield ChunkEvent(chunk=TextDelta("t", "To be continued"))
        yield ChunkEvent(chunk=ToolInputStart("c", "divide"))
        await asyncio.Event().wait()


def endless() -> Network:
    inner = Network(Router(route("agent", "endless", "Go."), DONE), agents={"endless": Endless()})
    return Network(Router(route("agent", "inner", "Go."), DONE), agents={"inner": inner})


async def streaming(session: Session, run_id: str) -> None:
    """Wait until the innermost agent has started its call."""
    while True:
        (*_, last) = (await session.progress(await _run(session, run_id))).messages
        if last.content.network_execution is not None and "divide" in str(last.content.network_execution):
            return
        await asyncio.sleep(0.01)


async def _run(session: Session, run_id: str) -> Any:
    return await session.store.runs.get(run_id)


def check_interrupted(message: AssistantMessage, options: str, status: str) -> None:
    """Check that no part of an execution is open, at any depth, and that each has a reason."""
    assert result(message).interrupted == options
    assert ui_part(message)["state"] == "output-error"
    assert message.content.metadata["ended"]["status"] == status  # type: ignore[index]
    (inner,) = [
        one for one in result(message).messages if isinstance(one, AssistantMessage) and not one.internal
    ]
    assert result(inner).interrupted == options
    (*_, innermost) = result(inner).messages
    text, cut = innermost.parts
    assert text == TextPart("To be continued", state="done")
    assert isinstance(cut, ToolCallPart)
    assert (cut.state, cut.output) == ("output-error", InterruptedOutput(options))  # type: ignore[arg-type]


async def test_a_stopped_network_is_closed(store: Store) -> None:
    async with Session(store) as session:
        started = await session.start(endless(), "t", "Go.")
        await streaming(session, started.id)
        await session.stop(started.id, "enough")
    check_interrupted(await executed(store), "aborted", "cancelled")


async def test_a_network_of_a_lost_process_is_closed(store: Store) -> None:
    async with Session(store, lease=0.01, heartbeat=3600, recover=False, grace=0.1) as lost:
        started = await lost.start(endless(), "t", "Go.")
        await streaming(lost, started.id)
        await asyncio.sleep(0.02)
        async with Session(store, heartbeat=0.02) as other:
            async with asyncio.timeout(10):
                while (await _run(other, started.id)).finished_at is None:
                    await asyncio.sleep(0.02)
    check_interrupted(await executed(store), "lost", "interrupted")
    assert await failed_threads(store) == ["t"]


async def test_the_messages_of_a_nested_network_are_unique_and_not_empty(store: Store) -> None:
    poet = scripted({"parts": [{"type": "text", "text": "Swans."}]})
    inner = Network(Router(route("agent", "poet", "Write."), DONE), agents={"poet": poet})
    outer = Network(Router(route("agent", "inner", "Write."), DONE), agents={"inner": inner})
    async with Session(store) as session:
        started = await session.start(outer, "t", "Go.")
        chunks = [one.chunk async for some in session.follow(started.id) for one in some]
        await session.wait(started.id)
    nested = result(await executed(store)).messages
    assert len({one.id for one in nested}) == len(nested)
    assert all(
        one.parts or (isinstance(one, AssistantMessage) and one.content.network_execution) for one in nested
    )
    assert [one.internal for one in nested] == [False, True, False, True, False]
    assert result(await executed(store)).text == "All done."
    assert "route" not in str(chunks)  # turns of routers are not sent to clients


class Named:
    """An agent that chooses the id of its message."""

    name = "named"

    async def invoke(self, prompt: Prompt, **options: Any) -> AsyncIterator[Any]:
        yield ChunkEvent(chunk=MessageStart("my-own"))
        yield ChunkEvent(chunk=TextStart("t"))
        yield ChunkEvent(chunk=TextDelta("t", "Mine."))
        yield ChunkEvent(chunk=MessageFinish("stop"))
        yield CompleteEvent()


async def test_an_agent_can_choose_the_id_of_its_message(store: Store) -> None:
    await run(store, Network(Router(route("agent", "named", "Go."), DONE), agents={"named": Named()}))
    _, response = result(await executed(store)).messages
    assert (response.id, text_of(response)) == ("my-own", "Mine.")


async def test_every_call_of_a_router_gets_an_output(store: Store) -> None:
    unknown = route("agent", "painter", "Paint.")
    both = {
        "parts": [*route("tool", "divide", {"by": 2})["parts"], *route("tool", "divide", {"by": 3})["parts"]]
    }
    await run(store, Network(Router(unknown, both, DONE), tools=[divide]))
    everything = (await store.messages.list("t", MessageFilter(internal=None), limit=None)).items
    turns = [one for one in everything if one.internal]
    states = [[part.state for part in one.parts if isinstance(part, ToolCallPart)] for one in turns]
    assert states == [["output-error"], ["output-available", "output-error"], ["output-available"]]
    ids = {one.id for one in everything}
    for turn in turns[1:]:
        outputs = [part.output for part in turn.parts if isinstance(part, ToolCallPart)]
        assert outputs[0].value["messageId"] in ids  # type: ignore[union-attr,index]
