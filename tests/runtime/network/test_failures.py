"""Failures inside networks: reported to the router, stored with the execution, counted, and shown."""

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

Json = dict[str, Any]


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with await open_store("sqlite:///:memory:") as opened:
        yield opened


@tool
def divide(by: int) -> Json:
    """Divide a hundred."""
    return {"quotient": 100 // by}


def call(name: str, given: Json) -> Json:
    return {"parts": [{"type": "tool-call", "name": name, "input": given}]}


def route(kind: str, id: str, given: object) -> Json:
    return call(
        "route", {"primitiveType": kind, "primitiveId": id, "input": given, "selectionReason": "it fits"}
    )


DONE = call("finish", {"answer": "All done."})


class Router:
    """A scripted router that remembers what it was sent."""

    name = "router"

    def __init__(self, *steps: Json) -> None:
        self._script = ScriptedService(as_script({"scenes": [{"steps": list(steps)}]}))
        self.seen: list[list[Message]] = []

    def invoke(self, prompt: Prompt, **how: Any) -> AsyncIterator[Any]:
        assert not isinstance(prompt, str)
        self.seen.append(list(prompt))
        return self._script.invoke(prompt, **how)

    @property
    def last_output(self) -> object:
        """What came of its last choice."""
        (part,) = [part for part in self.seen[-1][-1].parts if isinstance(part, ToolCallPart)]
        return part.output


def scripted(*steps: Json) -> ScriptedService:
    return ScriptedService(as_script({"scenes": [{"steps": list(steps)}]}))


async def run(store: Store, network: Network) -> None:
    async with Session(store) as session:
        begun = await session.start(network, "t", "Go.")
        assert (await session.wait(begun.id)).status == "completed"


async def executed(store: Store) -> AssistantMessage:
    """The message of the first execution."""
    page = await store.messages.list("t", limit=None)
    return next(one for one in page.items if isinstance(one, AssistantMessage))


def result(message: AssistantMessage) -> NetworkResult:
    execution = message.content.network_execution
    assert execution is not None
    assert execution.final_result is not None
    return execution.final_result


def shown(message: AssistantMessage) -> Json:
    """The execution as a page shows it."""
    dump = get_format("ai-sdk-ui-v7").dump
    assert dump is not None
    return next(part for part in dump([message]).payload[0]["parts"] if part["type"] == "dynamic-tool")


async def failed_threads(store: Store) -> list[str]:
    return [one.id for one in (await store.threads.list(ThreadFilter(has_errors=True))).items]


@pytest.mark.parametrize("kind", ["tool", "workflow"])
async def test_a_function_that_raises(store: Store, kind: str) -> None:
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
    assert shown(message)["state"] == "output-error"
    assert "ZeroDivisionError" in shown(message)["errorText"]
    assert await failed_threads(store) == ["t"]
    assert len((await store.messages.find_parts(PartFilter(tool="divide", has_error=True))).items) == 1


@pytest.mark.parametrize("kind", ["tool", "workflow"])
async def test_a_value_stays_a_value(store: Store, kind: str) -> None:
    router = Router(route(kind, "divide", {"by": 4}), DONE)
    network = Network(
        router, tools=[divide] if kind == "tool" else (), workflows=[divide] if kind == "workflow" else ()
    )
    await run(store, network)
    message = await executed(store)
    assert result(message).value == {"quotient": 25}
    (listed,) = result(message).tool_calls
    assert (listed.name, listed.input, listed.state) == ("divide", {"by": 4}, "output-available")
    assert shown(message)["output"] == {"quotient": 25}
    assert await failed_threads(store) == []


async def test_an_agent_that_fails_after_some_text(store: Store) -> None:
    bad = scripted({"parts": [{"type": "text", "text": "I tr"}], "error": "no ink"})
    router = Router(route("agent", "bad", "Write."), DONE)
    await run(store, Network(router, agents={"bad": bad}))
    message = await executed(store)
    assert (result(message).text, result(message).error) == ("I tr", "no ink")
    assert isinstance(router.last_output, ErrorTextOutput)
    assert "no ink" in router.last_output.value
    assert "I tr" in router.last_output.value
    assert shown(message)["state"] == "output-error"
    assert shown(message)["errorText"] == "no ink"
    assert await failed_threads(store) == ["t"]


async def test_a_failure_deep_inside_is_counted(store: Store) -> None:
    divider = Agent(
        scripted(call("divide", {"by": 0}), {"parts": [{"type": "text", "text": "Hm."}]}), tools=[divide]
    )
    inner = Network(Router(route("agent", "divider", "Divide."), DONE), agents={"divider": divider})
    await run(store, Network(Router(route("agent", "inner", "Divide."), DONE), agents={"inner": inner}))
    assert result(await executed(store)).error is None
    assert await failed_threads(store) == ["t"]
    assert len((await store.messages.find_parts(PartFilter(tool="divide", has_error=True))).items) == 1


async def test_the_calls_of_an_agent_are_listed(store: Store) -> None:
    divider = Agent(
        scripted(call("divide", {"by": 5}), {"parts": [{"type": "text", "text": "20."}]}), tools=[divide]
    )
    await run(store, Network(Router(route("agent", "divider", "Divide."), DONE), agents={"divider": divider}))
    (listed,) = result(await executed(store)).tool_calls
    assert (listed.name, listed.input, listed.output) == ("divide", {"by": 5}, listed.output)
    assert len((await store.messages.find_parts(PartFilter(tool="divide"))).items) == 1


class Endless:
    """An agent that is in the middle of a text, and of a call, until it is stopped."""

    name = "endless"

    async def invoke(self, prompt: Prompt, **how: Any) -> AsyncIterator[Any]:
        yield ChunkEvent(chunk=MessageStart())
        yield ChunkEvent(chunk=TextStart("t"))
        yield ChunkEvent(chunk=TextDelta("t", "On and on"))
        yield ChunkEvent(chunk=ToolInputStart("c", "divide"))
        await asyncio.Event().wait()


def endless() -> Network:
    inner = Network(Router(route("agent", "endless", "Go."), DONE), agents={"endless": Endless()})
    return Network(Router(route("agent", "inner", "Go."), DONE), agents={"inner": inner})


async def streaming(session: Session, run_id: str) -> None:
    """Wait until the innermost agent is at work."""
    while True:
        (*_, last) = (await session.progress(await _run(session, run_id))).messages
        if last.content.network_execution is not None and "divide" in str(last.content.network_execution):
            return
        await asyncio.sleep(0.01)


async def _run(session: Session, run_id: str) -> Any:
    return await session.store.runs.get(run_id)


def check_interrupted(message: AssistantMessage, how: str, status: str) -> None:
    """Nothing is open in an execution, at any depth, and each one has a reason."""
    assert result(message).interrupted == how
    assert shown(message)["state"] == "output-error"
    assert message.content.metadata["ended"]["status"] == status  # type: ignore[index]
    (inner,) = [
        one for one in result(message).messages if isinstance(one, AssistantMessage) and not one.internal
    ]
    assert result(inner).interrupted == how
    (*_, innermost) = result(inner).messages
    text, cut = innermost.parts
    assert text == TextPart("On and on", state="done")
    assert isinstance(cut, ToolCallPart)
    assert (cut.state, cut.output) == ("output-error", InterruptedOutput(how))  # type: ignore[arg-type]


async def test_a_network_that_is_stopped(store: Store) -> None:
    async with Session(store) as session:
        begun = await session.start(endless(), "t", "Go.")
        await streaming(session, begun.id)
        await session.stop(begun.id, "enough")
    check_interrupted(await executed(store), "aborted", "cancelled")


async def test_a_network_whose_process_is_lost(store: Store) -> None:
    async with Session(store, lease=0.01, heartbeat=3600, recover=False, grace=0.1) as lost:
        begun = await lost.start(endless(), "t", "Go.")
        await streaming(lost, begun.id)
        await asyncio.sleep(0.02)
        async with Session(store, heartbeat=0.02) as other:
            async with asyncio.timeout(10):
                while (await _run(other, begun.id)).finished_at is None:
                    await asyncio.sleep(0.02)
    check_interrupted(await executed(store), "lost", "interrupted")
    assert await failed_threads(store) == ["t"]


async def test_a_nested_network_leaves_no_message_twice_and_none_empty(store: Store) -> None:
    poet = scripted({"parts": [{"type": "text", "text": "Swans."}]})
    inner = Network(Router(route("agent", "poet", "Write."), DONE), agents={"poet": poet})
    outer = Network(Router(route("agent", "inner", "Write."), DONE), agents={"inner": inner})
    async with Session(store) as session:
        begun = await session.start(outer, "t", "Go.")
        seen = [one.chunk async for some in session.follow(begun.id) for one in some]
        await session.wait(begun.id)
    nested = result(await executed(store)).messages
    assert len({one.id for one in nested}) == len(nested)
    assert all(
        one.parts or (isinstance(one, AssistantMessage) and one.content.network_execution) for one in nested
    )
    assert [one.internal for one in nested] == [False, True, False, True, False]
    assert result(await executed(store)).text == "All done."
    assert "route" not in str(seen)  # turns of routers are not sent to clients


class Named:
    """An agent that chooses the id of its message."""

    name = "named"

    async def invoke(self, prompt: Prompt, **how: Any) -> AsyncIterator[Any]:
        yield ChunkEvent(chunk=MessageStart("my-own"))
        yield ChunkEvent(chunk=TextStart("t"))
        yield ChunkEvent(chunk=TextDelta("t", "Mine."))
        yield ChunkEvent(chunk=MessageFinish("stop"))
        yield CompleteEvent()


async def test_an_agent_may_choose_the_id_of_its_message(store: Store) -> None:
    await run(store, Network(Router(route("agent", "named", "Go."), DONE), agents={"named": Named()}))
    _, answer = result(await executed(store)).messages
    assert (answer.id, text_of(answer)) == ("my-own", "Mine.")


async def test_the_calls_of_a_router_are_answered(store: Store) -> None:
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
