"""Partita's agent, with whatever model it is given."""

from partita import Agent
from partita.agents import AgentService
from partita.store import Store
from partita.types import text_of

from .weather import weather


async def ask(model: str | AgentService, store: Store, question: str) -> str:
    """The answer; the run is stored, tools and all."""
    agent = Agent(model, tools=[weather], store=store, instructions="Answer in one sentence.")
    try:
        return text_of(await agent.run("weather", question))
    finally:
        await agent.session.close()
