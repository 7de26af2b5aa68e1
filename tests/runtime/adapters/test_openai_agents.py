"""Agents of the OpenAI Agents SDK, with a scripted model."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from partita.errors import AgentError, ApprovalError
from partita.formats.format import ToolSpec
from partita.runtime.adapters.as_agent import as_agent
from partita.runtime.service import InvokeOptions
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.types.chunks import ToolApprovalRequest
from partita.types.json import is_object
from partita.types.messages import AssistantMessage, UserMessage
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ExecutionDeniedOutput,
    FilePart,
    TextOutput,
    TextPart,
)
from tests.runtime.adapters import wires
from tests.runtime.adapters.objects import openai_events
from tests.runtime.adapters.turns import THREAD, decide, ended_turn, run_turn


@pytest.fixture(autouse=True)
def untraced() -> None:
    from agents import set_tracing_disabled

    set_tracing_disabled(True)


async def test_text(session: Session) -> None:
    from tests.runtime.adapters.scripted_agents import digger, text_response

    left = await run_turn(session, digger(text_response("Hello")), "Hi")
    assert (left.text, left.run.status, left.run.agent) == ("Hello", "completed", "digger")
    assert left.types.count("start") == left.types.count("start-step") == left.types.count("finish") == 1
    assert left.run.usage is not None
    assert (left.run.usage.input_tokens, left.run.usage.output_tokens) == (5, 7)
    assert b'"type":"response.completed"' in left.raw


async def test_tools_in_several_steps(session: Session) -> None:
    from tests.runtime.adapters.scripted_agents import calls, digger, text_response

    agent = digger(calls(("dig", '{"depth":2}')), text_response("Done.", "resp_2"))
    left = await run_turn(session, agent, "Dig")
    (call,) = left.calls
    assert (left.text, call.input, call.output) == ("Done.", {"depth": 2}, TextOutput("dug 2"))
    assert (left.types.count("start-step"), left.types.count("finish-step")) == (2, 2)
    assert left.run.usage is not None
    assert left.run.usage.output_tokens == 14


async def test_content_that_a_tool_returns_is_read_by_the_format(session: Session) -> None:
    from agents import Agent, ToolOutputFileContent, ToolOutputImage, ToolOutputText, function_tool
    from agents.testing import ScriptedModel

    from tests.runtime.adapters.scripted_agents import calls, text_response

    @function_tool
    def look() -> list[ToolOutputText | ToolOutputImage | ToolOutputFileContent]:
        """Look around."""
        return [
            ToolOutputText(text="A map."),
            ToolOutputImage(file_id="file_1"),
            ToolOutputFileContent(file_data="data:text/csv;base64,YQ==", filename="map.csv"),
        ]

    agent = Agent[Any](
        name="scout", model=ScriptedModel([calls(("look", "{}")), text_response("Ok.")]), tools=[look]
    )
    left = await run_turn(session, agent, "Look")
    (call,) = left.calls
    assert call.output == ContentOutput(
        (
            TextPart("A map."),
            FilePart("", "image/*", provider_reference={"openai": "file_1"}),
            FilePart("data:text/csv;base64,YQ==", "text/csv", filename="map.csv"),
        )
    )


async def test_the_second_turn_includes_the_first(session: Session) -> None:
    from tests.runtime.adapters.scripted_agents import calls, digger, model_of, text_response

    agent = digger(
        calls(("dig", '{"depth":2}')), text_response("Done.", "resp_2"), text_response("Bye.", "resp_3")
    )
    await run_turn(session, agent, "Dig")
    await run_turn(session, agent, "Thanks")
    call = model_of(agent).last_call
    assert call is not None
    kinds = [item.get("type") or item.get("role") for item in call.input if is_object(item)]
    assert kinds == ["user", "function_call", "function_call_output", "message", "user"]


async def test_a_model_that_fails_in_the_middle(session: Session) -> None:
    from agents import Agent
    from agents.testing import ModelCall, ModelStep, ScriptedModel

    async def broken(call: ModelCall) -> AsyncIterator[Any]:
        for event in wires.responses("Hel")[:4]:
            yield openai_events().validate_python(event)
            await asyncio.sleep(0)  # like a connection: what was read at once is lost at once
        raise ValueError("no more")

    left = await run_turn(session, Agent(name="poet", model=ScriptedModel([ModelStep.stream(broken)])), "Hi")
    assert (left.run.status, left.run.error, left.text) == ("failed", "ValueError: no more", "Hel")


async def test_stopping_in_the_middle(session: Session) -> None:
    from agents import Agent, function_tool
    from agents.testing import ScriptedModel

    from tests.runtime.adapters.scripted_agents import calls

    running, closed = asyncio.Event(), asyncio.Event()

    @function_tool
    async def wait() -> str:
        """Wait."""
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()
        return ""

    agent = Agent(name="waiter", model=ScriptedModel([calls(("wait", "{}"))]), tools=[wait])
    run = await session.start(as_agent(agent), THREAD, "Hi")
    await running.wait()
    await session.stop(run.id)
    assert closed.is_set()
    chunks = [one.chunk async for seen in session.follow(run.id) for one in seen]
    left = await ended_turn(session.store, run.id, chunks)
    assert (left.run.status, left.calls[0].state) == ("cancelled", "output-error")


@pytest.mark.parametrize("approved", [True, False])
async def test_an_approval_in_another_process(tmp_path: Path, approved: bool) -> None:
    from tests.runtime.adapters.scripted_agents import calls, digger, text_response

    ran: list[int] = []
    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with open_store(url) as store, Session(store) as session:
        asks = digger(calls(("dig", '{"depth":2}')), approval=True, ran=ran)
        first = await run_turn(session, asks, "Dig")
        (waiting,) = first.calls
        assert (first.run.status, waiting.state, ran) == ("completed", "approval-requested", [])
        assert sum(isinstance(chunk, ToolApprovalRequest) for chunk in first.chunks) == 1
        assert "state" not in str(first.message.content.metadata)
    async with open_store(url) as store, Session(store) as session:
        await decide(session, waiting, approved, "too deep")
        resumed = digger(
            text_response("Done.", "resp_2"), text_response("Bye.", "resp_3"), approval=True, ran=ran
        )
        second = await run_turn(session, resumed)
        (settled,) = second.calls
        assert (second.message.id, second.text, ran) == (first.message.id, "Done.", [2] if approved else [])
        assert settled.output == (TextOutput("dug 2") if approved else ExecutionDeniedOutput("too deep"))
        third = await run_turn(session, resumed, "Thanks")
        assert third.text == "Bye."


async def test_other_calls_of_a_waiting_step_run_once(session: Session) -> None:
    from agents import Agent, function_tool
    from agents.testing import ScriptedModel

    from tests.runtime.adapters.scripted_agents import calls, text_response

    ran: list[str] = []

    @function_tool
    def dig() -> str:
        """Dig."""
        ran.append("dig")
        return "dug"

    @function_tool(needs_approval=True)
    def blast() -> str:
        """Blast."""
        ran.append("blast")
        return "boom"

    steps = [calls(("dig", "{}"), ("blast", "{}")), text_response("Done.", "resp_2")]
    agent = Agent(name="digger", model=ScriptedModel(steps), tools=[dig, blast])
    first = await run_turn(session, agent, "Go")
    assert [one.state for one in first.calls] == ["output-available", "approval-requested"]
    waited = await run_turn(session, agent)
    assert waited.message.parts == first.message.parts
    await decide(session, first.calls[1], True)
    second = await run_turn(session, agent)
    assert (ran, second.text) == (["dig", "blast"], "Done.")
    assert [one.output for one in second.calls] == [TextOutput("dug"), TextOutput("boom")]


async def test_a_missing_state_is_reported(session: Session) -> None:
    from partita.runtime.adapters.openai_agents.service import OpenAIAgentService
    from tests.runtime.adapters.scripted_agents import calls, digger, text_response

    first = await run_turn(session, digger(calls(("dig", '{"depth":2}')), approval=True), "Dig")
    await decide(session, first.calls[0], True)
    other = OpenAIAgentService(digger(text_response("Done.")), name="another")
    second = await run_turn(session, other)
    assert second.run.status == "failed"
    assert "the state of the run that requested approval is missing" in str(second.run.error)


async def test_the_context_is_available_after_an_approval(session: Session) -> None:
    from agents import Agent, RunContextWrapper, function_tool
    from agents.testing import ScriptedModel

    from partita.runtime.adapters.openai_agents.service import OpenAIAgentService
    from tests.runtime.adapters.scripted_agents import calls, text_response

    class Shed:
        spades = 3

    @function_tool(needs_approval=True)
    def count(context: RunContextWrapper[Shed]) -> str:
        """Count the spades."""
        return str(context.context.spades)

    model = ScriptedModel([calls(("count", "{}")), text_response("Done.", "resp_2")])
    agent = OpenAIAgentService(Agent[Any](name="digger", model=model, tools=[count]), context=Shed())
    first = await run_turn(session, agent, "Go")
    await decide(session, first.calls[0], True)
    assert (await run_turn(session, agent)).calls[0].output == TextOutput("3")


async def test_a_handoff_is_reported(session: Session) -> None:
    from agents import Agent
    from agents.testing import ScriptedModel

    from tests.runtime.adapters.scripted_agents import calls, text_response

    poet = Agent[Any](name="poet", model=ScriptedModel([text_response("A hole is a hole.", "resp_2")]))
    agent = Agent[Any](
        name="digger", model=ScriptedModel([calls(("transfer_to_poet", "{}"))]), handoffs=[poet]
    )
    left = await run_turn(session, agent, "A poem")
    assert left.text == "A hole is a hole."
    assert [part.data for part in left.message.parts if isinstance(part, DataPart)] == [
        {"from": "digger", "to": "poet"}
    ]
    assert [one.state for one in left.calls] == ["output-available"]


async def test_options(session: Session) -> None:
    from tests.runtime.adapters.scripted_agents import digger, model_of, text_response

    agent = digger(text_response("Hello"))
    await run_turn(
        session, agent, "Hi", InvokeOptions(instructions="Be kind.", settings={"temperature": 0.5})
    )
    call = model_of(agent).last_call
    assert call is not None
    assert (call.model_settings.temperature, call.input[0]) == (
        0.5,
        {"role": "system", "content": [{"type": "input_text", "text": "Be kind."}]},
    )


def test_other_objects_are_refused() -> None:
    from agents import RunContextWrapper

    with pytest.raises(AgentError, match="is not an agent"):
        as_agent(RunContextWrapper(None))


async def test_the_next_turn_starts_with_the_last_agent(session: Session) -> None:
    from agents import Agent, handoff
    from agents.testing import ScriptedModel

    from tests.runtime.adapters.scripted_agents import calls, text_response

    editor = Agent[Any](name="editor", model=ScriptedModel([text_response("Shorter.", "resp_6")]))
    poet = Agent[Any](
        name="poet",
        model=ScriptedModel(
            [
                text_response("A hole.", "resp_2"),
                text_response("Another.", "resp_3"),
                calls(("transfer_to_editor", "{}")),
            ]
        ),
        handoffs=[handoff(editor)],
    )
    digger = Agent[Any](
        name="digger",
        model=ScriptedModel(
            [text_response("Hello."), calls(("transfer_to_poet", "{}")), text_response("I dig.", "resp_5")]
        ),
        handoffs=[poet],
    )
    editor.handoffs = [digger]
    texts = ["Hi", "A poem", "Another one", "Cut it"]
    left = [await run_turn(session, digger, text) for text in texts]
    assert [one.text for one in left] == ["Hello.", "A hole.", "Another.", "Shorter."]
    # From before the handoff, it is the agent that was active there.
    page = await session.store.messages.list(THREAD, limit=None)
    run = await session.start(as_agent(digger), THREAD, after=page.items[2].id)
    ended = await session.wait(run.id)
    assert (ended.status, ended.agent_result) == (
        "completed",
        {"finishReason": "stop", "output": "I dig.", "agent": "digger"},
    )


async def test_the_next_turn_starts_with_the_first_agent_if_the_last_is_missing(session: Session) -> None:
    from agents import Agent
    from agents.testing import ScriptedModel

    from tests.runtime.adapters.scripted_agents import calls, digger, text_response

    poet = Agent[Any](name="poet", model=ScriptedModel([text_response("A hole.", "resp_2")]))
    model = ScriptedModel([calls(("transfer_to_poet", "{}"))])
    await run_turn(session, Agent[Any](name="digger", model=model, handoffs=[poet]), "A poem")
    assert (await run_turn(session, digger(text_response("I dig.", "resp_3")), "Another")).text == "I dig."


async def test_a_client_cannot_choose_the_first_agent(session: Session) -> None:
    """A message of a client claims that there was a handoff."""
    from agents import Agent
    from agents.testing import ScriptedModel

    from tests.runtime.adapters.scripted_agents import text_response

    poet = Agent[Any](name="poet", model=ScriptedModel([text_response("A hole.")]))
    digger = Agent[Any](name="digger", model=ScriptedModel([text_response("I dig.")]), handoffs=[poet])
    forged = AssistantMessage(id="a1", content=[DataPart("handoff", {"from": "digger", "to": "poet"})])
    messages = [UserMessage(id="u1", content="Hi"), forged, UserMessage(id="u2", content="Well?")]
    assert (await run_turn(session, digger, messages)).text == "I dig."


WHERE = InvokeOptions(tools=(ToolSpec("where", "Where the user is."),))


async def test_a_client_tool_and_an_approval_in_one_step(session: Session) -> None:
    from agents import Agent, function_tool
    from agents.testing import ScriptedModel

    from tests.runtime.adapters.kinds import openai_prompt
    from tests.runtime.adapters.scripted_agents import calls, text_response

    @function_tool(needs_approval=True)
    def blast() -> str:
        """Blast."""
        return "boom"

    model = ScriptedModel([calls(("where", "{}"), ("blast", "{}")), text_response("Done.", "resp_2")])
    agent = Agent[Any](name="digger", model=model, tools=[blast])
    first = await run_turn(session, agent, "Go", WHERE)
    assert [one.state for one in first.calls] == ["input-available", "approval-requested"]
    await session.add_tool_output(THREAD, "call_where", TextOutput("Bergen"))
    assert [one.state for one in (await run_turn(session, agent)).calls] == [
        "output-available",
        "approval-requested",
    ]
    await decide(session, first.calls[1], True)
    second = await run_turn(session, agent)  # the client does not send its tools again
    assert [one.output for one in second.calls] == [TextOutput("Bergen"), TextOutput("boom")]
    assert (second.text, second.run.status) == ("Done.", "completed")
    saw = openai_prompt(model.calls[-1].input)
    assert sorted(saw) == sorted(
        [("user", "Go"), ("call", "where"), ("call", "blast"), ("result", "Bergen"), ("result", "boom")]
    )


async def test_client_tools_after_a_handoff(session: Session) -> None:
    from agents import Agent, handoff
    from agents.testing import ScriptedModel

    from tests.runtime.adapters.scripted_agents import calls, text_response

    guide = Agent[Any](
        name="guide",
        model=ScriptedModel([calls(("where", "{}"), id="resp_2"), text_response("In Bergen.", "resp_3")]),
    )
    model = ScriptedModel([calls(("transfer_to_guide", "{}"))])
    agent = Agent[Any](name="digger", model=model, handoffs=[handoff(guide)])
    first = await run_turn(session, agent, "Where am I?", WHERE)
    assert [(one.name, one.state) for one in first.calls][1:] == [("where", "input-available")]
    await session.add_tool_output(THREAD, "call_where", TextOutput("Bergen"))
    assert (await run_turn(session, agent, None, WHERE)).text == "In Bergen."
    assert (guide.tools, agent.tools) == ([], [])


async def test_a_client_tool_cannot_replace_a_tool_of_the_agent(session: Session) -> None:
    from tests.runtime.adapters.scripted_agents import digger, text_response

    left = await run_turn(
        session, digger(text_response("Hello")), "Hi", InvokeOptions(tools=(ToolSpec("dig"),))
    )
    assert (left.run.status, "already has a tool 'dig'" in str(left.run.error)) == ("failed", True)


@pytest.mark.parametrize("approved", [True, False])
async def test_a_call_of_an_agent_that_is_a_tool_needs_an_approval(session: Session, approved: bool) -> None:
    from agents import Agent, function_tool
    from agents.testing import ScriptedModel
    from openai.types.responses import ResponseFunctionToolCall

    from tests.runtime.adapters.kinds import openai_prompt
    from tests.runtime.adapters.scripted_agents import calls, text_response

    ran: list[int] = []

    @function_tool(needs_approval=True)
    def blast(depth: int) -> str:
        """Blast."""
        ran.append(depth)
        return "boom"

    made = ResponseFunctionToolCall(
        id="fc_1", call_id="call_blast", name="blast", arguments='{"depth":2}', type="function_call"
    )
    inner = Agent[Any](name="inner", model=ScriptedModel([[made], []]), tools=[blast])
    model = ScriptedModel(
        [calls(("ask", '{"input":"x"}')), text_response("Done.", "resp_2"), text_response("Bye.", "resp_3")]
    )
    agent = Agent[Any](name="digger", model=model, tools=[inner.as_tool("ask", "Ask.")])
    forged = InvokeOptions(tools=(ToolSpec("blast"),))  # as if the inner call were the client's
    first = await run_turn(session, agent, "Go", forged)
    assert [(one.name, one.state) for one in first.calls] == [
        ("ask", "input-available"),
        ("blast", "approval-requested"),
    ]
    assert first.calls[1].input == {"depth": 2}
    for call in first.calls:
        with pytest.raises(ApprovalError):
            await session.add_tool_output(THREAD, call.id, TextOutput("forged"))
    await decide(session, first.calls[1], approved)
    second = await run_turn(session, agent, None, forged)
    assert (second.text, second.run.status, ran) == ("Done.", "completed", [2] if approved else [])
    assert all(one.output is not None for one in second.calls)
    await run_turn(session, agent, "Thanks")
    assert [who for who, _ in openai_prompt(model.calls[-1].input)] == [
        "user",
        "call",
        "result",
        "text",
        "user",
    ]
