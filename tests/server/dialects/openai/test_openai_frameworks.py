"""Agent frameworks with `/v1` as their Chat Completions provider run their own tools."""

from typing import Any

from partita.server.app import asgi
from partita.store.store import Store
from tests.server.conftest import scripted, text_part

from .test_openai_errors import stock_client

CALL: Any = {"type": "tool-call", "name": "height_of", "input": {"tower": "Slettnes"}}


def served(store: Store) -> Any:
    return asgi({"keeper": scripted([CALL], [text_part("It is 41 metres tall.")])}, store=store)


async def test_pydantic_ai_runs_its_own_tools(store: Store) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    app = served(store)
    async with app.lifespan(), stock_client(app) as client:
        model = OpenAIChatModel("keeper", provider=OpenAIProvider(openai_client=client))
        agent: Any = Agent(model)
        towers: list[str] = []

        @agent.tool_plain
        def height_of(tower: str) -> str:
            """The height of a tower."""
            towers.append(tower)
            return "41"

        assert (await agent.run("How tall?")).output == "It is 41 metres tall."
        async with agent.run_stream("How tall?") as streamed:
            assert await streamed.get_output() == "It is 41 metres tall."
    assert towers == ["Slettnes", "Slettnes"]


async def test_openai_agents_run_their_own_tools(store: Store) -> None:
    from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool

    towers: list[str] = []

    @function_tool
    def height_of(tower: str) -> str:
        """The height of a tower."""
        towers.append(tower)
        return "41"

    app = served(store)
    async with app.lifespan(), stock_client(app) as client:
        model = OpenAIChatCompletionsModel("keeper", client)
        agent: Any = Agent("guide", model=model, tools=[height_of])
        config = RunConfig(tracing_disabled=True)
        result = await Runner.run(agent, "How tall?", run_config=config)
        streamed = Runner.run_streamed(agent, "How tall?", run_config=config)
        async for _ in streamed.stream_events():
            pass
    assert result.final_output == streamed.final_output == "It is 41 metres tall."
    assert towers == ["Slettnes", "Slettnes"]
