"""Agents of Pydantic AI, with a scripted model."""

import asyncio
from typing import Any

import pytest

from partita.errors import AgentError
from partita.formats.format import ToolSpec
from partita.runtime.adapters.as_agent import as_agent
from partita.runtime.service import InvokeOptions
from partita.runtime.session.session import Session
from partita.types.chunks import ToolApprovalRequest, ToolInputDelta
from partita.types.messages import UserMessage
from partita.types.parts import ExecutionDeniedOutput, FilePart, ReasoningPart, TextOutput
from partita.types.parts import TextPart as OurText
from tests.runtime.adapters.turns import THREAD, decide, ended_turn, run_turn


async def test_text(session: Session) -> None:
    from tests.runtime.adapters.pydantic_models import Model

    left = await run_turn(session, Model(["Hel", "lo"]).agent(), "Hi")
    assert (left.text, left.run.status, left.run.agent) == ("Hello", "completed", "poet")
    assert left.types.count("start") == left.types.count("start-step") == left.types.count("finish") == 1
    assert left.run.usage is not None
    assert left.run.usage.output_tokens
    assert b'"event_kind":"part_start"' in left.raw


async def test_reasoning_and_tools_in_several_steps(session: Session) -> None:
    from pydantic_ai.models.function import DeltaThinkingPart, DeltaToolCall

    from tests.runtime.adapters.pydantic_models import Model, Output, call, digger

    thought: list[Output] = [
        {0: DeltaThinkingPart(content="Hm", signature="sig")},
        {0: DeltaThinkingPart(content="m.")},
    ]
    calls: list[Output] = [
        {1: DeltaToolCall("dig", '{"dep', tool_call_id="c1")},
        {1: DeltaToolCall(json_args='th":2}')},
    ]
    model = Model([*thought, *calls], call("dig", '{"depth":3}', id="c2"), ["Done."])
    left = await run_turn(session, digger(model), "Dig")
    assert (left.text, left.types.count("start-step"), left.types.count("finish-step")) == ("Done.", 3, 3)
    assert [(one.input, one.output) for one in left.calls] == [
        ({"depth": 2}, TextOutput("dug 2")),
        ({"depth": 3}, TextOutput("dug 3")),
    ]
    deltas = [one.input_text_delta for one in left.chunks if isinstance(one, ToolInputDelta)]
    assert deltas[:2] == ['{"dep', 'th":2}']
    (reasoning,) = [part for part in left.message.parts if isinstance(part, ReasoningPart)]
    assert reasoning.text == "Hmm."
    metadata: Any = left.message.content.metadata
    assert len(metadata["steps"]) == 3


async def test_the_second_turn_includes_the_first(session: Session) -> None:
    from pydantic_ai.messages import (
        SystemPromptPart,
        TextPart,
        ThinkingPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models.function import DeltaThinkingPart, DeltaToolCall

    from tests.runtime.adapters.pydantic_models import Model, digger

    model = Model(
        [
            {0: DeltaThinkingPart(content="Hm.", signature="sig")},
            {1: DeltaToolCall("dig", '{"depth":2}', tool_call_id="c1")},
        ],
        ["Done."],
        ["Bye."],
    )
    agent = digger(model)
    await run_turn(session, agent, "Dig")
    await run_turn(session, agent, "Thanks")
    prompt = model.prompts[-1]
    parts = [part for message in prompt for part in message.parts]
    assert [type(part) for part in parts] == [
        SystemPromptPart,
        UserPromptPart,
        ThinkingPart,
        ToolCallPart,
        ToolReturnPart,
        TextPart,
        UserPromptPart,
    ]
    thought, made, returned = parts[2], parts[3], parts[4]
    assert isinstance(thought, ThinkingPart)
    assert (thought.content, thought.signature) == ("Hm.", "sig")
    assert isinstance(made, ToolCallPart)
    assert (made.args_as_dict(), made.tool_call_id) == ({"depth": 2}, "c1")
    assert isinstance(returned, ToolReturnPart)
    assert returned.content == "dug 2"
    assert model.requests[-1].instructions == "Be brief."


async def test_files_are_shown_to_the_model(session: Session) -> None:
    from pydantic_ai.messages import BinaryContent, ModelRequest, UserPromptPart

    from tests.runtime.adapters.pydantic_models import Model

    model = Model(["A dot."])
    question = UserMessage(
        id="u1", content=[OurText("What is it?"), FilePart("data:image/png;base64,AAAA", "image/png")]
    )
    await run_turn(session, model.agent(), question)
    (request,) = model.prompts[0]
    assert isinstance(request, ModelRequest)
    (part,) = request.parts
    assert isinstance(part, UserPromptPart)
    words, picture = list(part.content)
    assert words == "What is it?"
    assert isinstance(picture, BinaryContent)
    assert picture.data == b"\0\0\0"


async def test_a_tool_that_requests_a_retry(session: Session) -> None:
    from tests.runtime.adapters.pydantic_models import Model, call, digger

    model = Model(call("dig", '{"depth":200}'), call("dig", '{"depth":2}', id="c2"), ["Done."])
    left = await run_turn(session, digger(model), "Dig")
    assert [one.state for one in left.calls] == ["output-error", "output-available"]
    assert (left.text, left.run.status) == ("Done.", "completed")


async def test_a_model_that_fails_in_the_middle(session: Session) -> None:
    from tests.runtime.adapters.pydantic_models import Model

    left = await run_turn(session, Model(["Hel", ValueError("no more")]).agent(), "Hi")
    assert (left.run.status, left.run.error, left.text) == ("failed", "ValueError: no more", "Hel")


async def test_stopping_in_the_middle(session: Session) -> None:
    from tests.runtime.adapters.pydantic_models import Model, call

    running, closed = asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        """Wait."""
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()
        return ""

    agent = Model(["Wait. ", *call("wait", "{}")]).agent()
    agent.tool_plain(wait)
    run = await session.start(as_agent(agent), THREAD, "Hi")
    await running.wait()
    await session.stop(run.id)
    assert closed.is_set()
    chunks = [one.chunk async for seen in session.follow(run.id) for one in seen]
    left = await ended_turn(session.store, run.id, chunks)
    assert (left.run.status, left.text, left.calls[0].state) == ("cancelled", "Wait. ", "output-error")


@pytest.mark.parametrize("approved", [True, False])
async def test_approvals(session: Session, approved: bool) -> None:
    from tests.runtime.adapters.pydantic_models import Model, call, digger

    ran: list[int] = []

    def blast(depth: int) -> str:
        """Blast a hole."""
        ran.append(depth)
        return "boom"

    agent = digger(Model(call("blast", '{"depth":2}'), ["Done."]), blast, approval=True)
    first = await run_turn(session, agent, "Blast")
    (waiting,) = first.calls
    assert (first.run.status, waiting.state, ran) == ("completed", "approval-requested", [])
    assert sum(isinstance(chunk, ToolApprovalRequest) for chunk in first.chunks) == 1
    await decide(session, waiting, approved, "too loud")
    second = await run_turn(session, agent)
    (settled,) = second.calls
    assert (second.message.id, second.text, ran) == (first.message.id, "Done.", [2] if approved else [])
    assert settled.output == (TextOutput("boom") if approved else ExecutionDeniedOutput("too loud"))
    assert settled.state == ("output-available" if approved else "output-denied")


async def test_other_calls_of_a_waiting_step_run_once(session: Session) -> None:
    from pydantic_ai.models.function import DeltaToolCall

    from tests.runtime.adapters.pydantic_models import Model

    ran: list[str] = []
    model = Model(
        [
            {0: DeltaToolCall("dig", "{}", tool_call_id="c1")},
            {1: DeltaToolCall("blast", "{}", tool_call_id="c2")},
        ],
        ["Done."],
    )
    agent = model.agent()

    def note_dig() -> None:
        ran.append("dig")

    def note_blast() -> None:
        ran.append("blast")

    agent.tool_plain(name="dig")(note_dig)
    agent.tool_plain(name="blast", requires_approval=True)(note_blast)
    first = await run_turn(session, agent, "Go")
    assert [one.state for one in first.calls] == ["output-available", "approval-requested"]
    await decide(session, first.calls[1], True)
    second = await run_turn(session, agent)
    assert (ran, second.text) == (["dig", "blast"], "Done.")
    assert len([one for one in second.types if one == "tool-output-available"]) == 1


async def test_continuing_while_a_call_waits_changes_nothing(session: Session) -> None:
    from tests.runtime.adapters.pydantic_models import Model, call, digger

    agent = digger(Model(call("dig", '{"depth":2}')), approval=True)
    first = await run_turn(session, agent, "Dig")
    second = await run_turn(session, agent)
    assert (second.run.status, second.calls[0].state) == ("completed", "approval-requested")
    assert second.message.parts == first.message.parts


async def test_client_tools(session: Session) -> None:
    from pydantic_ai.messages import ToolReturnPart

    from tests.runtime.adapters.pydantic_models import Model, call

    model = Model(call("where", "{}"), ["In Bergen."])
    options = InvokeOptions(tools=(ToolSpec("where", "Where the user is."),))
    first = await run_turn(session, model.agent(), "Where am I?", options)
    assert [one.state for one in first.calls] == ["input-available"]
    await session.add_tool_output(THREAD, "c1", TextOutput("Bergen"))
    second = await run_turn(session, model.agent(), None, options)
    assert (second.text, second.calls[0].output) == ("In Bergen.", TextOutput("Bergen"))
    returned = model.prompts[-1][-1].parts[-1]
    assert isinstance(returned, ToolReturnPart)
    assert returned.content == "Bergen"


async def test_an_output_that_is_not_text(session: Session) -> None:
    from tests.runtime.adapters.pydantic_models import Hole, Model, call

    model = Model(call("final_result", '{"depth":4}'))
    left = await run_turn(session, model.agent(output_type=Hole), "Dig")
    assert (left.run.status, left.calls[0].input, left.calls[0].state) == (
        "completed",
        {"depth": 4},
        "output-available",
    )


async def test_an_agent_with_a_validator(session: Session) -> None:
    from pydantic_ai import ModelRetry

    from tests.runtime.adapters.pydantic_models import Model

    agent = Model(["Hm."], ["Hello"]).agent()

    @agent.output_validator
    def check(output: Any) -> Any:
        if output == "Hm.":
            raise ModelRetry("say more")
        return output

    left = await run_turn(session, agent, "Hi")
    assert (left.texts, left.types.count("start-step")) == (["Hm.", "Hello"], 2)


async def test_the_packages_own_test_model(session: Session) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    from tests.runtime.adapters.pydantic_models import dig

    agent = Agent(TestModel())
    agent.tool_plain(dig)
    left = await run_turn(session, agent, "Dig")
    assert (left.run.status, left.run.agent, left.calls[0].state) == (
        "completed",
        "pydantic-ai",
        "output-available",
    )


async def test_options(session: Session) -> None:
    from tests.runtime.adapters.pydantic_models import Model

    model = Model(["Hello"])
    options = InvokeOptions(instructions="Be kind.", settings={"temperature": 0.5})
    await run_turn(session, model.agent(), "Hi", options)
    assert (model.requests[0].instructions, model.requests[0].model_settings) == (
        "Be kind.",
        {"temperature": 0.5},
    )


def test_other_objects_are_refused() -> None:
    from pydantic_ai.messages import ModelResponse

    with pytest.raises(AgentError, match="is not an agent"):
        as_agent(ModelResponse([]))
