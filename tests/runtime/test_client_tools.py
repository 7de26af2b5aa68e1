"""Tools of a request are offered to the model or refused, but never ignored."""

from collections.abc import Callable
from typing import Any

import pytest

from partita.errors import AgentError
from partita.formats.format import ToolSpec
from partita.runtime.adapters.agent_request import AgentRequest
from partita.runtime.adapters.as_agent import as_agent
from partita.runtime.agent.agent import Agent
from partita.runtime.network.network import Network
from partita.runtime.registry import get_agent
from partita.runtime.scripted import Script, ScriptedService
from partita.runtime.service import AgentService, InvokeOptions
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from tests.runtime.agent.models import Model, reply
from tests.tables import each_row

OPTIONS = InvokeOptions(tools=(ToolSpec("where", "Where the user is."),))


class CustomService:
    """A service that does not declare support for tools of a request."""

    name = "own"
    invoke = Model().invoke


def graph() -> AgentService:
    from tests.runtime.adapters.graphs import Model as GraphModel
    from tests.runtime.adapters.graphs import graph_of

    return as_agent(graph_of(GraphModel(responses=[["Hello"]])))


REFUSED: dict[str, Callable[[], AgentService]] = {
    "a custom service": CustomService,
    "a graph": graph,
    "ACP": lambda: get_agent("acp:cat"),
    "Claude Code": lambda: get_agent("claude-code"),
    "Codex": lambda: get_agent("codex"),
    "an agent whose model is a program": lambda: Agent("claude-code"),
    "a network with a program": lambda: Network(
        ScriptedService(Script(scenes=())), agents={"coder": get_agent("codex")}
    ),
}


@each_row("make", REFUSED.values(), ids=REFUSED)
async def test_an_agent_that_does_not_support_them_refuses_tools_of_a_request(
    make: Callable[[], AgentService],
) -> None:
    async with open_store("memory:") as store, Session(store) as session:
        with pytest.raises(AgentError, match="takes no tools from a client"):
            await session.start(make(), "t1", "Hi", options=OPTIONS)
        assert (await store.runs.list()).items == ()


async def test_tools_of_a_request_reach_the_model_of_an_agent() -> None:
    model = Model(reply("Hello"))
    async with open_store("memory:") as store, Session(store) as session:
        await session.wait((await session.start(Agent(model), "t1", "Hi", options=OPTIONS)).id)
    assert [tool.name for tool in model.options[0].tools] == ["where"]


async def test_a_function_receives_the_tools_in_its_request() -> None:
    async def poet(request: AgentRequest) -> str:
        payload: Any = request.to("openai-chat")
        return f"{[tool.name for tool in request.options.tools]} {len(payload['tools'])}"

    async with open_store("memory:") as store, Session(store) as session:
        run = await session.wait((await session.start(as_agent(poet), "t1", "Hi", options=OPTIONS)).id)
        assert "['where'] 1" in str(await store.messages.get("t1", run.message_id or ""))


def test_an_agent_with_a_program_as_model_refuses_tools() -> None:
    def dig() -> str:
        """Dig."""
        return "dug"

    with pytest.raises(AgentError, match="claude-code has tools of its own"):
        Agent("claude-code", tools=[dig])
