"""Tool calls in completions, usage, and the list of models, with OpenAI's client."""

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
from tests.server.conftest import scripted, text_part
from tests.tables import each_row

from .test_openai_errors import stock_client

HELLO: Any = {"role": "user", "content": "Where am I?"}
MAP: Any = {"type": "function", "function": {"name": "show_map", "parameters": {"type": "object"}}}
WHERE_CALL: Any = {"type": "tool-call", "name": "where", "input": {}}
WHERE = client_tool("where", "Where the user is.", {"type": "object", "properties": {}})
WHERE_AGAIN: Any = {"type": "function", "function": {"name": "where", "parameters": {"type": "object"}}}
USED: Any = {"inputTokens": 7, "outputTokens": 5, "totalTokens": 12}


class RecordingModel(ScriptedService):
    """A model that records its requests."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(as_script({"scenes": [{"steps": list(steps)}]}))
        self.requests: list[tuple[Any, InvokeOptions | None]] = []

    async def invoke(self, prompt: Prompt, **how: Any) -> AsyncIterator[AgentStreamEvent]:
        self.requests.append((prompt, how.get("options")))
        async for event in super().invoke(prompt, **how):
            yield event


def routed(kind: str, id: str) -> Any:
    given = {"primitiveType": kind, "primitiveId": id, "input": "Guide.", "selectionReason": "it fits"}
    return {"parts": [{"type": "tool-call", "name": "route", "input": given}], "usage": USED}


def finished(text: str) -> Any:
    return {"parts": [{"type": "tool-call", "name": "finish", "input": {"answer": text}}], "usage": USED}


def network(*steps: Any, tools: Any = ()) -> Network:
    guide = Agent(RecordingModel(*steps), tools=tools, name="guide")
    return Network(RecordingModel(routed("agent", "guide"), finished("All done.")), agents={"guide": guide})


def interrupted_graph() -> Any:
    from langchain_core.tools import tool
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import interrupt

    from tests.runtime.adapters.graphs import Model, call, graph_of

    @tool
    def blast(depth: int) -> str:
        """Blast a hole."""
        return str(interrupt({"depth": depth}))

    return graph_of(Model(responses=[call("blast", '{"depth": 2}')] * 4), blast, memory=InMemorySaver())


def left_by_graph() -> Any:
    from tests.runtime.adapters.graphs import Model, call, graph_of

    return graph_of(Model(responses=[call("where", "{}")] * 4))


def asks(text: str, name: str) -> Any:
    return {"parts": [text_part(text), {"type": "tool-call", "name": name, "input": {}}]}


SHOWN: dict[str, tuple[Any, list[str]]] = {
    "a network whose agent asks the client": (
        lambda: network({"parts": [WHERE_CALL]}, tools=[WHERE]),
        ["where"],
    ),
    "a finished network": (lambda: network({"parts": [text_part("Near.")]}), []),
    "a graph that was interrupted inside a tool": (interrupted_graph, []),
    "a graph that leaves a call to the client": (left_by_graph, ["where"]),
    "an agent that declares the tool": (
        lambda: Agent(RecordingModel(asks("So?", "where")), tools=[WHERE]),
        ["where"],
    ),
}


@each_row("make, names", SHOWN.values(), ids=SHOWN)
async def test_a_completion_has_calls_of_client_tools_only(store: Store, make: Any, names: list[str]) -> None:
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
async def test_the_result_of_a_declared_client_tool_is_passed_on(store: Store, kept: Any, again: Any) -> None:
    model = RecordingModel(asks("So?", "where"), {"parts": [text_part("In Bergen.")]})
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
    assert "Bergen" in str(model.requests[-1][0]), "the request to the model has the result"


async def test_client_tools_are_not_passed_on_with_tool_choice_none(store: Store) -> None:
    model = RecordingModel({"parts": [text_part("Here.")]})
    app = asgi({"agent": model}, store=store)
    async with app.lifespan(), stock_client(app) as client:
        for choice, offered in (("none", []), ("auto", ["show_map"])):
            await client.chat.completions.create(
                model="agent",
                messages=[HELLO],
                tools=[MAP],
                tool_choice=choice,  # type: ignore[arg-type] # both are choices
            )
            options = model.requests[-1][1]
            assert options is not None
            assert [tool.name for tool in options.tools] == offered


USAGES: dict[str, tuple[Any, int]] = {
    "known": (lambda: RecordingModel({"parts": [text_part("Near.")], "usage": USED}), 12),
    "unknown": (lambda: scripted([text_part("Near.")]), 0),
    "sum of all members of a network": (lambda: network({"parts": [text_part("Near.")], "usage": USED}), 36),
}


@each_row("make, total", USAGES.values(), ids=USAGES)
async def test_requested_usage_is_in_the_last_chunk(store: Store, make: Any, total: int) -> None:
    app = asgi({"agent": make()}, store=store)
    request: Any = {"model": "agent", "messages": [HELLO], "stream": True}
    async with app.lifespan(), stock_client(app) as client:
        for kept in ({}, {"metadata": {"thread_id": f"t-{total}"}}):
            with_usage: Any = {**kept, "stream_options": {"include_usage": True}}
            pieces = [one async for one in await client.chat.completions.create(**request, **with_usage)]
            assert pieces[-1].choices == []
            assert pieces[-1].usage is not None
            assert pieces[-1].usage.total_tokens == total
            assert all(one.usage is None for one in pieces[:-1])
        plain = [one async for one in await client.chat.completions.create(**request)]
        assert all(one.usage is None and one.choices for one in plain)
        request["stream"] = False
        whole = await client.chat.completions.create(**request)
        assert whole.usage is not None
        assert whole.usage.total_tokens == total


async def test_models_are_the_available_agents(store: Store) -> None:
    import openai

    agents = {
        "quick": scripted([text_part("Yes.")]),
        "claude": UnavailableAgent("claude", "set ANTHROPIC_API_KEY"),
    }
    app = asgi(agents, store=store)
    async with app.lifespan(), stock_client(app) as client:
        assert [one.id async for one in client.models.list()] == ["quick"]
        assert (await client.models.retrieve("quick")).id == "quick"
        with pytest.raises(openai.NotFoundError) as unknown:
            await client.models.retrieve("gpt-none")
    assert unknown.value.code == "model_not_found"
