"""Graphs of LangGraph, with a scripted model."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from partita.errors import AgentError
from partita.formats.core.tool_text import DENIED, write_tool_text
from partita.runtime.adapters.as_agent import as_agent
from partita.runtime.service import InvokeOptions
from partita.runtime.session.session import Session
from partita.types.chunks import ToolApprovalRequest, ToolInputDelta
from partita.types.json import Json
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage, text_of
from partita.types.parts import (
    DataPart,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    TextOutput,
    TextPart,
)
from partita.types.tool_results import state_after
from tests.runtime.adapters.turns import THREAD, decide, ended_turn, run_turn
from tests.tables import each_row


async def test_text(session: Session) -> None:
    from langchain_core.messages import AIMessageChunk

    from tests.runtime.adapters.graphs import USAGE, Model, graph_of

    model = Model(responses=[["Hel", "lo", AIMessageChunk(content="", usage_metadata=USAGE)]])
    left = await run_turn(session, graph_of(model), "Hi")
    assert (left.text, left.run.status, left.run.agent) == ("Hello", "completed", "loop")
    assert left.types.count("start") == left.types.count("start-step") == left.types.count("finish") == 1
    assert left.types.count("text-delta") == 2
    assert left.run.usage is not None
    assert (left.run.usage.input_tokens, left.run.usage.output_tokens) == (5, 7)
    assert b'"mode":"messages"' in left.raw


async def test_reasoning_and_tools_in_several_steps(session: Session) -> None:
    from langchain_core.messages import AIMessageChunk

    from tests.runtime.adapters.graphs import Model, call, dig, graph_of

    thought = AIMessageChunk(content=[{"type": "reasoning", "reasoning": "Hm."}])
    model = Model(
        responses=[
            [thought, *call("dig", '{"dep', 'th":2}')],
            call("dig", '{"depth":200}', id="c2"),
            ["Done."],
        ]
    )
    left = await run_turn(session, graph_of(model, dig), "Dig")
    assert (left.text, left.types.count("start-step"), left.types.count("finish-step")) == ("Done.", 3, 3)
    assert [one.state for one in left.calls] == ["output-available", "output-error"]
    assert (left.calls[0].input, left.calls[0].output) == ({"depth": 2}, TextOutput("dug 2"))
    deltas = [one.input_text_delta for one in left.chunks if isinstance(one, ToolInputDelta)]
    assert deltas[:2] == ['{"dep', 'th":2}']
    assert [part.text for part in left.message.parts if isinstance(part, ReasoningPart)] == ["Hm."]


@pytest.mark.parametrize("has_checkpointer", [False, True], ids=["without memory", "with memory"])
async def test_the_second_turn_includes_the_first(session: Session, has_checkpointer: bool) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    from tests.runtime.adapters.graphs import Model, call, dig, graph_of

    model = Model(responses=[call("dig", '{"depth":2}'), ["Done."], ["Bye."]])
    graph = graph_of(model, dig, memory=InMemorySaver() if has_checkpointer else None)
    await run_turn(session, graph, "Dig")
    await run_turn(session, graph, "Thanks")
    prompt = model.prompts[-1]
    assert [message.type for message in prompt] == ["human", "ai", "tool", "ai", "human"]
    assert [message.text for message in prompt] == ["Dig", "", "dug 2", "Done.", "Thanks"]


async def test_reasoning_reaches_the_model_of_the_next_turn(session: Session) -> None:
    from langchain_core.messages import AIMessageChunk

    from tests.runtime.adapters.graphs import Model, graph_of

    thought = AIMessageChunk(content=[{"type": "reasoning", "reasoning": "A greeting."}])
    model = Model(responses=[[thought, "Hello"], ["Bye."]])
    graph = graph_of(model)
    await run_turn(session, graph, "Hi")
    await run_turn(session, graph, "Thanks")
    blocks = model.prompts[-1][1].content_blocks
    assert [block["type"] for block in blocks] == ["reasoning", "text"]
    assert blocks[0].get("reasoning") == "A greeting."


def test_refused_and_interrupted_calls_have_the_texts_of_all_formats() -> None:
    from langchain_core.messages import AIMessage, ToolMessage

    from partita.runtime.adapters.langgraph.checkpoints import history_of

    outputs = [ExecutionDeniedOutput(), ExecutionDeniedOutput("not today"), InterruptedOutput("timeout")]
    reasoning = ReasoningPart("Deep.", provider_metadata={"anthropic": {"signature": "c2ln"}})
    calls = [
        ToolCallPart(f"c{at}", "dig", state_after(output), {"depth": at}, output=output)
        for at, output in enumerate(outputs)
    ]
    searched = ToolCallPart(
        "s1", "search", "output-available", {}, output=TextOutput("rock"), provider_executed=True
    )
    message = AssistantMessage(id="a1", content=[reasoning, TextPart("I dig."), searched, *calls])
    question, response, *results = history_of([UserMessage(id="u1", content="Dig"), message])
    assert (question.id, question.content) == ("u1", "Dig")
    assert isinstance(response, AIMessage)
    assert response.content == [
        {"type": "thinking", "thinking": "Deep.", "signature": "c2ln"},
        {"type": "text", "text": "I dig."},
    ]
    assert [call["args"] for call in response.tool_calls] == [{"depth": 0}, {"depth": 1}, {"depth": 2}]
    expected = [write_tool_text(output).value for output in outputs]
    assert [one.content for one in results] == expected == [DENIED, "not today", expected[2]]
    assert {one.status for one in results if isinstance(one, ToolMessage)} == {"error"}


async def test_a_graph_without_its_checkpoints_gets_all_messages(session: Session) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    from tests.runtime.adapters.graphs import Model, graph_of

    await run_turn(session, graph_of(Model(responses=[["Hello"]]), memory=InMemorySaver()), "Hi")
    model = Model(responses=[["Bye."]])
    await run_turn(session, graph_of(model, memory=InMemorySaver()), "Thanks")
    assert [message.text for message in model.prompts[0]] == ["Hi", "Hello", "Thanks"]


async def test_a_model_that_fails_in_the_middle(session: Session) -> None:
    from tests.runtime.adapters.graphs import Model, graph_of

    left = await run_turn(session, graph_of(Model(responses=[["Hel", ValueError("no more")]])), "Hi")
    assert (left.run.status, left.run.error, left.text) == ("failed", "ValueError: no more", "Hel")


async def test_stopping_in_the_middle(session: Session) -> None:
    from langchain_core.tools import tool

    from tests.runtime.adapters.graphs import Model, call, graph_of

    running, closed = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()
        return ""

    run = await session.start(as_agent(graph_of(Model(responses=[call("wait", "{}")]), wait)), THREAD, "Hi")
    await running.wait()
    await session.stop(run.id)
    assert closed.is_set()
    chunks = [one.chunk async for seen in session.follow(run.id) for one in seen]
    left = await ended_turn(session.store, run.id, chunks)
    assert (left.run.status, left.calls[0].state) == ("cancelled", "output-error")


DECISIONS: dict[str, tuple[bool, str | None, Json]] = {
    "yes": (True, None, True),
    "approved with a reason": (True, "but gently", "but gently"),
    "no": (False, None, False),
    "denied with a reason": (False, "too loud", False),
}


@pytest.mark.parametrize(("approved", "reason", "resumed_with"), DECISIONS.values(), ids=DECISIONS)
async def test_an_interrupt_waits_for_a_decision(
    session: Session, approved: bool, reason: str | None, resumed_with: Json
) -> None:
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import interrupt

    from tests.runtime.adapters.graphs import node_of

    decisions: list[Any] = []

    def ask(state: Any) -> dict[str, Any]:
        decisions.append(interrupt({"blast": 2}))
        return {"messages": [AIMessage("Done.")]}

    graph = node_of(ask, InMemorySaver())
    first = await run_turn(session, graph, "Blast")
    (waiting,) = first.calls
    assert (first.run.status, waiting.state, waiting.dynamic) == ("completed", "approval-requested", True)
    assert (waiting.name, waiting.input, decisions) == ("interrupt", {"blast": 2}, [])
    assert [part.name for part in first.message.parts if isinstance(part, DataPart)] == ["interrupt"]
    assert sum(isinstance(chunk, ToolApprovalRequest) for chunk in first.chunks) == 1
    waited = await run_turn(session, graph)
    assert waited.message.parts == first.message.parts
    await decide(session, waiting, approved, reason)
    second = await run_turn(session, graph)
    (settled,) = second.calls
    assert (decisions, second.message.id, second.text) == ([resumed_with], first.message.id, "Done.")
    assert settled.output == (JsonOutput(resumed_with) if approved else ExecutionDeniedOutput(reason))


async def test_two_interrupts_of_one_node(session: Session) -> None:
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import interrupt

    from tests.runtime.adapters.graphs import node_of

    def ask(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(f"{interrupt('one')} {interrupt('two')}")]}

    graph = node_of(ask, InMemorySaver())
    for words in ("first", "second"):
        left = await run_turn(session, graph, "Go" if words == "first" else None)
        await decide(session, left.calls[-1], True, words)
    last = await run_turn(session, graph)
    assert (last.text, [one.input for one in last.calls]) == ("first second", ["one", "two"])


async def test_an_interrupt_with_a_schema_waits_for_an_output(session: Session) -> None:
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import interrupt

    from tests.runtime.adapters.graphs import node_of

    def ask(state: Any) -> dict[str, Any]:
        where = interrupt("Where?", response_schema={"type": "string"})
        return {"messages": [AIMessage(f"In {where}.")]}

    graph = node_of(ask, InMemorySaver())
    first = await run_turn(session, graph, "Go")
    assert [one.state for one in first.calls] == ["input-available"]
    await session.add_tool_output(THREAD, first.calls[0].id, TextOutput("Bergen"))
    assert (await run_turn(session, graph)).text == "In Bergen."


async def test_approvals_of_langchain_get_its_own_decisions(session: Session) -> None:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import interrupt

    from tests.runtime.adapters.graphs import node_of

    decisions: list[Any] = []

    def ask(state: Any) -> None:
        decisions.append(interrupt({"action_requests": [{"name": "a"}, {"name": "b"}], "review_configs": []}))

    graph = node_of(ask, InMemorySaver())
    first = await run_turn(session, graph, "Go")
    await decide(session, first.calls[0], False, "no")
    await run_turn(session, graph)
    assert decisions == [{"decisions": [{"type": "reject", "message": "no"}] * 2}]


@pytest.mark.parametrize("has_checkpointer", [False, True], ids=["without memory", "with memory"])
async def test_a_call_that_the_graph_leaves_to_the_client_waits_for_its_output(
    session: Session, has_checkpointer: bool
) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    from tests.runtime.adapters.graphs import Model, call, graph_of

    model = Model(responses=[call("where", "{}"), ["In Bergen."]])
    graph = graph_of(model, memory=InMemorySaver() if has_checkpointer else None)
    first = await run_turn(session, graph, "Where am I?")
    assert [one.state for one in first.calls] == ["input-available"]
    await session.add_tool_output(THREAD, "c1", TextOutput("Bergen"))
    assert (await run_turn(session, graph)).text == "In Bergen."
    assert [message.text for message in model.prompts[-1]] == ["Where am I?", "", "Bergen"]


async def test_an_interrupt_without_a_checkpointer_is_an_error(session: Session) -> None:
    from langgraph.types import interrupt

    from tests.runtime.adapters.graphs import node_of

    def ask(state: Any) -> None:
        interrupt("?")

    left = await run_turn(session, node_of(ask), "Go")
    assert left.run.status == "failed"
    assert "no checkpointer" in str(left.run.error)


async def test_custom_events_become_data_chunks(session: Session) -> None:
    from langchain_core.messages import AIMessage
    from langgraph.config import get_stream_writer

    from tests.runtime.adapters.graphs import node_of

    def respond(state: Any) -> dict[str, Any]:
        get_stream_writer()({"progress": 1})
        return {"messages": [AIMessage("Done.")]}

    left = await run_turn(session, node_of(respond), "Go")
    assert [(part.name, part.data) for part in left.message.parts if isinstance(part, DataPart)] == [
        ("custom", {"progress": 1})
    ]
    assert left.text == "Done."


async def test_two_models_stream_at_once(session: Session) -> None:
    from tests.runtime.adapters.graphs import GRAPH, START, Model

    one, two = Model(responses=[["a", "b", "c"]]), Model(responses=[["1", "2", "3"]])
    builder: Any = GRAPH.StateGraph(GRAPH.MessagesState)
    for name, model in (("one", one), ("two", two)):

        async def speak(state: Any, model: Any = model) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["messages"])]}

        builder.add_node(name, speak)
        builder.add_edge(START, name)
    left = await run_turn(session, builder.compile(), "Go")
    assert sorted(left.texts) == ["123", "abc"]


async def test_subgraphs(session: Session) -> None:
    from tests.runtime.adapters.graphs import Model, graph_of, node_of

    inner = graph_of(Model(responses=[["Hel", "lo"]]))
    left = await run_turn(session, node_of(inner), "Hi")
    assert (left.text, left.types.count("text-delta")) == ("Hello", 2)


def same(value: Any) -> Any:
    return value


def uncompiled() -> Any:
    from tests.runtime.adapters.graphs import GRAPH

    return GRAPH.StateGraph(GRAPH.MessagesState)


def runnable() -> Any:
    from langchain_core.runnables import RunnableLambda

    return RunnableLambda(same)


def without_messages() -> Any:
    from langchain_core.runnables import RunnableLambda

    from tests.runtime.adapters.graphs import GRAPH, START

    builder: Any = GRAPH.StateGraph(dict)
    builder.add_node("node", RunnableLambda(same))
    builder.add_edge(START, "node")
    return builder.compile()


NO_GRAPHS: dict[str, tuple[Callable[[], Any], str]] = {
    "not compiled": (uncompiled, "compile"),
    "a runnable": (runnable, "not a compiled graph"),
    "without messages": (without_messages, "messages"),
}


@each_row(("make", "why"), NO_GRAPHS.values(), ids=NO_GRAPHS)
def test_other_objects_are_refused(make: Callable[[], Any], why: str) -> None:
    thing = make()
    with pytest.raises(AgentError, match=why):
        as_agent(thing)


async def test_a_member_of_a_network_is_resumed(session: Session) -> None:
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import interrupt

    from partita.runtime.network.network import Network
    from tests.runtime.adapters.graphs import node_of
    from tests.runtime.network.test_waiting import DONE, route, scripted

    def ask(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(f"{interrupt('Sure?')}")]}

    member = as_agent(node_of(ask, InMemorySaver()))
    network = Network(scripted(route("agent", "guide", "Guide."), DONE), agents={"guide": member})
    run = await session.wait((await session.start(network, THREAD, "Go")).id)
    message = await session.store.messages.get(THREAD, run.message_id or "")
    assert message is not None
    (call,) = [part for part in message.parts if isinstance(part, ToolCallPart)]
    await decide(session, call, True, "Quite.")
    run = await session.wait((await session.start(network, THREAD)).id)
    assert (run.status, run.error) == ("completed", None)
    page = await session.store.messages.list(THREAD, limit=None)
    assert "Quite." in str(page.items[1])


async def test_an_interrupt_is_not_resumed_after_other_messages(session: Session) -> None:
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import interrupt

    from tests.runtime.adapters.graphs import node_of

    ran: list[Any] = []

    def ask(state: Any) -> dict[str, Any]:
        if len(state["messages"]) > 1:
            ran.append(interrupt("Sure?"))
        return {"messages": [AIMessage("Done.")]}

    graph = node_of(ask, InMemorySaver())
    first = await run_turn(session, graph, "My secret is 7.")
    waits = await run_turn(session, graph, "Go")
    await session.store.messages.delete(THREAD, [first.message.id])
    await decide(session, waits.calls[0], True)
    left = await run_turn(session, graph)
    assert (left.run.status, ran) == ("failed", [])
    assert "no checkpoint has both the interrupt" in str(left.run.error)


RESERVED: dict[str, dict[str, Any]] = {
    "the thread": {"thread_id": "of another owner"},
    "a checkpoint": {"checkpoint_id": "1"},
    "a namespace": {"checkpoint_ns": "x"},
}


@each_row("configurable", RESERVED.values(), ids=RESERVED)
@each_row("settings", [True, False], ids=["in the settings", "in the config"])
async def test_a_request_cannot_choose_the_state_of_a_graph(
    session: Session, configurable: dict[str, Any], settings: bool
) -> None:
    from tests.runtime.adapters.graphs import Model, graph_of

    model = Model(responses=[["Hello"]])
    given = {"configurable": configurable}
    agent = as_agent(graph_of(model), config=None if settings else given)
    left = await run_turn(session, agent, "Hi", InvokeOptions(settings=given if settings else {}))
    assert (left.run.status, model.prompts) == ("failed", [])
    assert next(iter(configurable)) in str(left.run.error)


async def test_config_and_context_are_those_of_the_request(session: Session) -> None:
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableConfig
    from langgraph.runtime import Runtime

    from partita.runtime.service import conversation_key
    from tests.runtime.adapters.graphs import GRAPH, START

    def respond(state: Any, config: RunnableConfig, runtime: Runtime[Any]) -> dict[str, Any]:
        known = config.get("configurable", {})
        seen.append([known[name] for name in ("tenant", "thread_id", "owner", "partita_thread_id")])
        return {"messages": [AIMessage(f"For {runtime.context['user']}.")]}

    seen: list[Any] = []
    builder: Any = GRAPH.StateGraph(GRAPH.MessagesState, context_schema=dict)
    builder.add_node("node", respond)
    builder.add_edge(START, "node")
    agent = as_agent(
        builder.compile(),
        config=lambda request: {"configurable": {"tenant": request.text}},
        context=lambda request: {"user": request.owner},
    )
    run = await session.start(agent, THREAD, "Hi", resource_id="ada")
    await session.wait(run.id)
    message = await session.store.scoped("ada").messages.get(THREAD, run.message_id or "")
    assert message is not None
    assert text_of(message) == "For ada."
    assert seen == [["Hi", conversation_key("ada", THREAD), "ada", THREAD]]


async def test_the_other_channels_are_those_of_the_branch(session: Session) -> None:
    """Two models stream at once, and another channel counts the turns of the branch."""
    import operator
    from typing import Annotated

    from langgraph.checkpoint.memory import InMemorySaver

    from tests.runtime.adapters.graphs import GRAPH, START, Model

    class State(GRAPH.MessagesState):
        turns: Annotated[int, operator.add]

    counts: list[int] = []
    builder: Any = GRAPH.StateGraph(State)
    models = [Model(responses=[["a", "b", "c"]] * 4), Model(responses=[["1", "2", "3"]] * 4)]
    for number, model in enumerate(models):

        async def speak(state: Any, model: Any = model, number: int = number) -> dict[str, Any]:
            if number == 0:
                counts.append(state.get("turns", 0))
            return {"messages": [await model.ainvoke(state["messages"])], "turns": 1 - number}

        builder.add_node(f"node{number}", speak)
        builder.add_edge(START, f"node{number}")
    graph = builder.compile(checkpointer=InMemorySaver())
    await run_turn(session, graph, "One")
    await run_turn(session, graph, "Two")
    page = await session.store.messages.list(THREAD, limit=None)
    await session.wait((await session.start(as_agent(graph), THREAD, after=page.items[2].id)).id)
    await run_turn(session, graph, "Three")
    assert counts == [0, 1, 1, 2]
