"""Runs of the demo agents for an empty store: they can be replayed, and one waits for an approval."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from partita.runtime.service import AgentService
from partita.runtime.session.session import Session


class Turn(NamedTuple):
    """A prompt for an agent in a new thread."""

    thread_id: str
    title: str
    agent: str
    prompt: str


TURNS: Final = (
    Turn("demo-weather", "The weather in Vardø", "demo", "What is the weather like in Vardø?"),
    Turn("demo-horizon", "How far a lamp is seen", "demo", "Think: from how far away is the lamp seen?"),
    Turn("demo-team", "A survey by nested sub-agents", "demo", "Ask the team to survey the light."),
    Turn("demo-tide", "When can the boat come in?", "demo-network", "When can the boat come in at Vardø?"),
    Turn("demo-postcard", "A postcard that waits for approval", "demo", "Approve a postcard to Aunt Ragna?"),
)


async def run_turns(session: Session, agents: Mapping[str, AgentService]) -> int:
    """Run the turns one after the other, each to its end or to its approval request; return their number.

    Turns of unknown agents and turns whose thread exists are skipped.
    """
    count = 0
    for turn in TURNS:
        agent = agents.get(turn.agent)
        if agent is None or await session.store.threads.get(turn.thread_id) is not None:
            continue
        await session.store.threads.create(
            turn.thread_id, title=turn.title, agent=turn.agent, metadata={"demo": True}
        )
        run = await session.start(agent, turn.thread_id, turn.prompt)
        await session.wait(run.id)
        count += 1
    return count
