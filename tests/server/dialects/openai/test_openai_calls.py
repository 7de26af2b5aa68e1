"""Whose calls a completion shows, what it says of usage, and which agents are models: by OpenAI's client."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from partita import Agent
from partita.agents import Network
from partita.runtime.registry import UnavailableAgent
from partita.runtime.scripted import ScriptedService, as_script
from partita.runtime.service import InvokeOptions, Prompt
from partita.runtime.tools.tool import client_tool
from partita.server.app import asgi
from partita.store.store import Store
from partita.types.chunks import AgentStreamEvent
from tests.server.conftest import says, scripted
from tests.tables import each_row

from .test_openai_errors import stock_client

HELLO: Any = {"role": "user", "content": "Where am I?"}
MAP: Any = {"type": "function", "function": {"name": "show_map", "parameters": {"type": "object"}}}
WHERE_CALL: Any = {"type": "tool-call", "name": "where", "input": {}}
WHERE = client_tool("where", "Where the user is.", {"type": "object", "properties": {}})
WHERE_AGAIN: Any = {"type": "function", "function": {"name": "where", "parameters": {"type": "object"}}}
USED: Any = {"inputTokens": 7, "outputTokens": 5, "totalTokens": 12}


class Recorded(ScriptedService):
    """A model that keeps what it was asked."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(as_script({"scenes": [{"steps": list(steps)}]}))
        self.asked: list[tuple[Any, InvokeOptions | None]] = []

    async def invoke(self, prompt: Prompt, **how: Any) -> AsyncIterator[AgentStreamEvent]:
        self.asked.append((prompt, how.get("options")))
        async for event in super().invoke(prompt, **how):
            yield event


def routed(kind: str, id: str) -> Any:
    given = {"primitiveType": kind, "primitiveId": id, "input": "Guide.", "selectionReason": "it fits"}
    return {"parts": [{"type": "tool-call", "name": "route", "input": given}], "usage": USED}


def finished(text: str) -> Any:
    return {"parts": [{"type": "tool-call", "name": "finish", "input": {"answer": text}}], "usage": USED}


def network(*steps: Any, tools: Any = ()) -> Network:
    guide = Agent(Recorded(*steps), tools=tools, name="guide")
    return Network(Recorded(routed("agent", "guide"), finished("All done.")), agents={"guide": guide})


def interrupted_graph() -> Any:
    from langchain_core.tools import tool
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import interrupt

    from tests.runtime.adapters.graphs import Model, call, graph_of

    @tool
    def blast(depth: int) -> str:
        """Blast a hole."""
        return str(interrupt({"depth": depth}))

    return graph_of(Model(answers=[call("blast", '{"depth": 2}')] * 4), blast, memory=InMemorySaver())


def left_by_graph() -> Any:
    from tests.runtime.adapters.graphs import Model, call, graph_of

    return graph_of(Model(answers=[call("where", "{}")] * 4))


def asks(text: str, name: str) -> Any:
    return {"parts": [says(text), {"type": "tool-call", "name": name, "input": {}}]}


SHOWN: dict[str, tuple[Any, list[str]]] = {
    "a network whose agent asks the client": (
        lambda: network({"parts": [WHERE_CALL]}, tools=[WHERE]),
        ["where"],
    ),
    "a network at its end": (lambda: network({"parts": [says("Near.")]}), []),
    "a graph that was interrupted inside a tool": (interrupted_graph, []),
    "a graph that leaves a call to the client": (left_by_graph, ["where"]),
    "an agent that declares the tool": (
        lambda: Agent(Recorded(asks("So?", "where")), tools=[WHERE]),
        ["where"],
    ),
}


@each_row("make, names", SHOWN.values(), ids=SHOWN)
async def test_only_calls_of_the_client_are_shown(store: Store, make: Any, names: list[str]) -> None:
    app = asgi({"agent": make()}, store=store)
    async with app.lifespan(), stock_client(app) as client:
        for kept in ({}, {"metadata": {"thread_id": f"t-{id(make)}"}}):
            body: Any = {"model": "agent", "messages": [HELLO], **kept}
            whole = (await client.chat.completions.create(**body)).choices[0]
            if kept:
                kept["metadata"]["thread_id"] += "-stream"
            async with client.chat.completions.stream(**body) as stream:
                streamed = (await stream.get_final_completion()).choices[0]
            for choice in (whole, streamed):
                assert [one.function.name for one in choice.message.tool_calls or []] == names
                assert choice.finish_reason == ("tool_calls" if names else "stop")
                assert "route" not in str(choice.message.content)


@pytest.mark.parametrize("kept", [{}, {"metadata": {"thread_id": "t"}}], ids=["stateless", "a thread"])
@pytest.mark.parametrize("again", [[], [WHERE_AGAIN]], ids=["declared", "declared again"])
async def test_a_tool_that_the_agent_declares_is_answered(store: Store, kept: Any, again: Any) -> None:
    model = Recorded(asks("So?", "where"), {"parts": [says("In Bergen.")]})
    app = asgi({"agent": Agent(model, tools=[WHERE])}, store=store)
    more: Any = {**kept, **({"tools": again} if again else {})}
    async with app.lifespan(), stock_client(app) as client:
        first = await client.chat.completions.create(model="agent", messages=[HELLO], **more)
        (call,) = first.choices[0].message.tool_calls or []
        messages: list[Any] = [
            HELLO,
            first.choices[0].message.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": call.id, "content": "Bergen"},
        ]
        last = await client.chat.completions.create(model="agent", messages=messages, **more)
    assert last.choices[0].message.content == "In Bergen."
    assert last.choices[0].finish_reason == "stop"
    assert "Bergen" in str(model.asked[-1][0]), "the result is in what the model is asked"


async def test_tools_of_the_client_are_not_offered_if_it_chooses_none(store: Store) -> None:
    model = Recorded({"parts": [says("Here.")]})
    app = asgi({"agent": model}, store=store)
    async with app.lifespan(), stock_client(app) as client:
        for choice, offered in (("none", []), ("auto", ["show_map"])):
            await client.chat.completions.create(
                model="agent",
                messages=[HELLO],
                tools=[MAP],
                tool_choice=choice,  # type: ignore[arg-type] # both are choices
            )
            options = model.asked[-1][1]
            assert options is not None
            assert [tool.name for tool in options.tools] == offered


USAGES: dict[str, tuple[Any, int]] = {
    "known": (lambda: Recorded({"parts": [says("Near.")], "usage": USED}), 12),
    "unknown": (lambda: scripted([says("Near.")]), 0),
    "of all members of a network": (lambda: network({"parts": [says("Near.")], "usage": USED}), 36),
}


@each_row("make, total", USAGES.values(), ids=USAGES)
async def test_usage_comes_last_whenever_it_is_asked_for(store: Store, make: Any, total: int) -> None:
    app = asgi({"agent": make()}, store=store)
    asked: Any = {"model": "agent", "messages": [HELLO], "stream": True}
    async with app.lifespan(), stock_client(app) as client:
        for kept in ({}, {"metadata": {"thread_id": f"t-{total}"}}):
            with_usage: Any = {**kept, "stream_options": {"include_usage": True}}
            pieces = [one async for one in await client.chat.completions.create(**asked, **with_usage)]
            assert pieces[-1].choices == []
            assert pieces[-1].usage is not None
            assert pieces[-1].usage.total_tokens == total
            assert all(one.usage is None for one in pieces[:-1])
        plain = [one async for one in await client.chat.completions.create(**asked)]
        assert all(one.usage is None and one.choices for one in plain)
        asked["stream"] = False
        whole = await client.chat.completions.create(**asked)
        assert whole.usage is not None
        assert whole.usage.total_tokens == total


async def test_models_are_the_agents_that_can_answer(store: Store) -> None:
    import openai

    agents = {
        "quick": scripted([says("Yes.")]),
        "claude": UnavailableAgent("claude", "set ANTHROPIC_API_KEY"),
    }
    app = asgi(agents, store=store)
    async with app.lifespan(), stock_client(app) as client:
        assert [one.id async for one in client.models.list()] == ["quick"]
        assert (await client.models.retrieve("quick")).id == "quick"
        with pytest.raises(openai.NotFoundError) as unknown:
            await client.models.retrieve("gpt-none")
    assert unknown.value.code == "model_not_found"
