"""Partita's agent, with any model."""

from partita import Agent
from partita.agents import AgentService
from partita.store import Store
from partita.types import text_of

from .weather import weather


async def ask(model: str | AgentService, store: Store, question: str) -> str:
    """Run the agent in the thread "weather" of a store, and return its answer."""
    agent = Agent(model, tools=[weather], store=store, instructions="Answer in one sentence.")
    try:
        return text_of(await agent.run("weather", question))
    finally:
        await agent.session.close()
