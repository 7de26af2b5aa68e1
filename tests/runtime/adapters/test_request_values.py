"""Dependencies, context and config of agents: values, or functions of the request."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from partita.errors import AgentError
from partita.runtime.adapters.agent_request import AgentRequest, value_for
from partita.runtime.adapters.as_agent import as_agent
from partita.runtime.principal import Principal
from partita.runtime.service import InvokeOptions
from partita.runtime.session.session import Session
from partita.server.app import asgi
from partita.types.messages import UserMessage
from partita.types.parts import TextOutput
from tests.runtime.adapters.turns import run_turn
from tests.tables import each_row

REQUEST = AgentRequest(
    messages=(UserMessage(id="u1", content="Hi"),), options=InvokeOptions(caller=Principal("ada", "write"))
)

closed: list[str] = []


class Callable:
    """A value that is callable, but is not called."""

    def __call__(self, request: AgentRequest) -> str:
        return "called"


async def async_value(request: AgentRequest) -> str:
    return f"for {request.caller.resource_id}"


async def generator(request: AgentRequest) -> AsyncGenerator[str]:
    try:
        yield await async_value(request)
    finally:
        closed.append("closed")


def prefixed(prefix: str, request: AgentRequest) -> str:
    return f"{prefix} {request.caller.resource_id}"


CALLABLE = Callable()
GIVEN: dict[str, tuple[Any, object]] = {
    "a value": (7, 7),
    "none": (None, None),
    "a callable value": (CALLABLE, CALLABLE),
    "a function": (lambda request: f"for {request.caller.resource_id}", "for ada"),
    "an async function": (async_value, "for ada"),
    "a partial": (partial(prefixed, "for"), "for ada"),
    "an async generator": (generator, "for ada"),
    "an async context manager": (asynccontextmanager(generator), "for ada"),
    "a method": (CALLABLE.__call__, "called"),
}


@each_row(("given", "expected"), GIVEN.values(), ids=GIVEN)
async def test_kinds_of_values(given: Any, expected: object) -> None:
    closed.clear()
    async with value_for(given, REQUEST) as value:
        assert value == expected
        assert closed == []
    assert closed == (["closed"] if "generator" in repr(given) else [])


@each_row("fails", [False, True], ids=["completed", "failed"])
async def test_a_generator_cleans_up_when_the_run_has_ended(session: Session, fails: bool) -> None:
    from pydantic_ai import RunContext

    from tests.runtime.adapters.pydantic_models import Model, call

    closed.clear()
    model = Model(call("who", "{}"), [ValueError("no more")] if fails else ["Done."])
    agent = model.agent(deps_type=str)

    @agent.tool
    def who(context: RunContext[str]) -> str:
        """Who asks."""
        return f"{context.deps}, {len(closed)} closed"

    options = InvokeOptions(caller=Principal("ada", "write"))
    left = await run_turn(session, as_agent(agent, deps=generator), "Who am I?", options)
    assert left.calls[0].output == TextOutput("for ada, 0 closed")
    assert (left.run.status, closed) == ("failed" if fails else "completed", ["closed"])


async def test_the_context_of_an_openai_agent(session: Session) -> None:
    from agents import Agent, RunContextWrapper, function_tool, set_tracing_disabled
    from agents.testing import ScriptedModel

    from tests.runtime.adapters.scripted_agents import calls, text_response

    set_tracing_disabled(True)

    @function_tool
    def who(context: RunContextWrapper[str]) -> str:
        """Who asks."""
        return context.context

    agent = Agent[Any](
        name="digger",
        model=ScriptedModel([calls(("who", "{}")), text_response("Done.", "resp_2")]),
        tools=[who],
    )
    options = InvokeOptions(caller=Principal("ada", "write"))
    left = await run_turn(session, as_agent(agent, context=async_value), "Who am I?", options)
    assert left.calls[0].output == TextOutput("for ada")


async def test_a_function_that_fails_fails_the_run(session: Session) -> None:
    from tests.runtime.adapters.pydantic_models import Model

    def broken(request: AgentRequest) -> str:
        raise ValueError("no database")

    left = await run_turn(session, as_agent(Model(["Hi"]).agent(), deps=broken), "Hi")
    assert (left.run.status, left.run.error) == ("failed", "ValueError: no database")


def pydantic_agent() -> Any:
    from tests.runtime.adapters.pydantic_models import Model

    return Model().agent()


async def function(request: AgentRequest) -> str:
    return "Hello"


def plain_generator(request: AgentRequest) -> Any:
    yield 1


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "deps for a function": (lambda: function, {"deps": 1}, "`deps` is for agents of Pydantic AI, not for"),
    "deps for a name": (lambda: "acp:cat", {"deps": 1}, "`deps` is for agents of Pydantic AI"),
    "config for Pydantic AI": (pydantic_agent, {"config": {}}, "`config` is for agents of LangGraph"),
    "context for Pydantic AI": (pydantic_agent, {"context": 1}, "the OpenAI Agents SDK and LangGraph"),
    "a generator": (pydantic_agent, {"deps": plain_generator}, "is a generator"),
    "several agents": (lambda: {"a": function}, {"deps": 1}, "`deps` is for one agent"),
}


@each_row(("make", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_values_for_other_agents_are_refused(
    tmp_path: Path, make: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(AgentError, match=message):
        asgi(make(), store=tmp_path / "store.db", **options)
