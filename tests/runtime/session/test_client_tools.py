"""Calls that the client runs: the run ends, the client sends the output, the message continues."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec import UNSET, UnsetType

from partita.errors import ApprovalError
from partita.runtime.agent.agent import Agent
from partita.runtime.session.session import Session
from partita.runtime.tools.tool import client_tool, tool
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.chunks import ToolInputAvailable
from partita.types.json import Json
from partita.types.messages import AssistantMessage, text_of
from partita.types.parts import (
    ContentOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    JsonOutput,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests.runtime.agent.models import Model, calls_of, output_value, reply, summary_of
from tests.runtime.session.controlled_agent import checked_run

PICK = client_tool(
    "pick", "Let the user pick.", {"type": "object", "properties": {"from": {"type": "array"}}}
)
INPUT: Json = {"from": ["red", "blue"]}


class Client:
    """An agent whose tool the client runs."""

    def __init__(self, store: Store) -> None:
        self.model = Model(reply("Pick one.", ("pick", INPUT)), reply("Good choice."))
        self.agent = Agent(self.model, tools=[PICK], session=Session(store, heartbeat=0.2))
        self.store = store

    async def call(self) -> str:
        """The id of a call that waits for the client."""
        message = await self.agent.run("t1", "Which?")
        (call,) = calls_of(message)
        assert call.state == "input-available"
        return call.id

    async def stored(self) -> AssistantMessage:
        message = (await self.store.messages.list("t1")).items[-1]
        assert isinstance(message, AssistantMessage)
        return message


@pytest.fixture
async def client(store: Store) -> AsyncIterator[Client]:
    made = Client(store)
    yield made
    await made.agent.session.close()


OUTPUTS: dict[str, tuple[ToolOutput, str]] = {
    "text": (TextOutput("blue"), "output-available"),
    "JSON": (JsonOutput({"picked": "blue"}), "output-available"),
    "a JSON string": (JsonOutput("blue"), "output-available"),
    "content": (ContentOutput((TextPart("blue"),)), "output-available"),
    "a failure": (ErrorTextOutput("the window was closed"), "output-error"),
    "a refusal": (ExecutionDeniedOutput("no"), "output-denied"),
}


@pytest.mark.parametrize(("output", "state"), OUTPUTS.values(), ids=OUTPUTS)
async def test_the_message_continues_with_the_output_of_the_client(
    client: Client, output: ToolOutput, state: str
) -> None:
    call_id = await client.call()
    session = client.agent.session
    await session.add_tool_output("t1", call_id, output, tool_name="pick", input=INPUT)
    stored = await client.stored()
    (call,) = calls_of(stored)
    assert (call.state, call.output) == (state, output)
    continued = await client.agent.run("t1")
    assert (continued.id, text_of(continued)) == (stored.id, "Pick one.Good choice.")
    assert summary_of(client.model.prompts[1])[-1] == ("result", output_value(output))
    last = (await client.store.runs.list(RunFilter(thread_id="t1"))).items[0]
    assert (await checked_run(client.store, last.id, seed=stored)).message == continued


WRONG: dict[str, tuple[str, str | None, Json | UnsetType]] = {
    "another call": ("call-0", None, UNSET),
    "another tool": ("", "choose", UNSET),
    "another input": ("", None, {"from": ["green"]}),
}


@pytest.mark.parametrize(("call_id", "name", "input"), WRONG.values(), ids=WRONG)
async def test_an_output_that_does_not_match_the_call_changes_nothing(
    client: Client, call_id: str, name: str | None, input: Json | UnsetType
) -> None:
    known = await client.call()
    before = await client.stored()
    with pytest.raises(ApprovalError):
        await client.agent.session.add_tool_output(
            "t1", call_id or known, TextOutput("green"), tool_name=name, input=input
        )
    assert await client.stored() == before


async def test_one_of_several_concurrent_outputs_is_accepted(client: Client) -> None:
    call_id = await client.call()
    session = client.agent.session
    outputs = [session.add_tool_output("t1", call_id, TextOutput(f"{number}")) for number in range(4)]
    results = await asyncio.gather(*outputs, return_exceptions=True)
    assert results.count(None) == 1
    (call,) = calls_of(await client.stored())
    assert call.output == TextOutput(str(results.index(None)))
    with pytest.raises(ApprovalError, match="does not wait for an output: it is output-available"):
        await session.add_tool_output("t1", call_id, TextOutput("late"))


async def test_calls_that_need_approval_or_run_at_the_provider_accept_no_output(store: Store) -> None:
    @tool(approval="always")
    def launch() -> str:
        """Launch."""
        return "launched"

    events = reply(("launch", {}))
    searched = ToolInputAvailable("search", "search", {}, provider_executed=True)
    model = Model([*events[:2], searched, *events[2:]])
    async with Session(store) as session:
        message = await Agent(model, tools=[launch], session=session).run("t1", "Go")
        for call in calls_of(message):
            with pytest.raises(ApprovalError, match="does not wait for an output"):
                await session.add_tool_output("t1", call.id, TextOutput("done"))
        assert await store.messages.get("t1", message.id) == message


async def test_an_output_that_is_too_long_is_truncated(client: Client) -> None:
    call_id = await client.call()
    await client.agent.session.add_tool_output("t1", call_id, TextOutput("x" * 11_000_000))
    (call,) = calls_of(await client.stored())
    assert isinstance(call.output, TextOutput)
    assert len(call.output.value) < 10_001_000
    assert "left out" in call.output.value
