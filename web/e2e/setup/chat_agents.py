"""Agents for the tests of chats: `--agent web.e2e.setup.chat_agents:letters`."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from partita import Agent
from partita.demo.scenes import call, scene, step, text
from partita.demo.tools import send_postcard
from partita.runtime.scripted import ScriptedService, as_script
from partita.runtime.service import InvokeOptions, Prompt
from partita.types.chunks import AgentStreamEvent
from partita.types.json import JsonObject


def _scripted(name: str, *scenes: JsonObject) -> ScriptedService:
    return ScriptedService(as_script({"scenes": list(scenes)}), name=name)


def _postcard(to: str) -> JsonObject:
    return call("send_postcard", to=to, text="All is well.")


letters: Final = Agent(
    _scripted(
        "letters",
        scene(
            None,
            step(_postcard("Ragna"), _postcard("Odd"), pause=0),
            step(text("Both letters are settled."), pause=0),
        ),
    ),
    tools=[send_postcard],
    name="letters",
)
"""Asks for two approvals at once."""


class UnreliableModel:
    """A model whose connection fails for the first request after a start."""

    name = "unreliable"
    model = "scripted"

    def __init__(self) -> None:
        self._model = _scripted(self.name, scene(None, step(text("Now I can hear you."), pause=0)))
        self._has_failed = False

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """Fail once, then respond."""
        if not self._has_failed:
            self._has_failed = True
            raise ConnectionError("no connection to the model")
        async for event in self._model.invoke(prompt, cwd=cwd, session_id=session_id, options=options):
            yield event


unreliable: Final = Agent(UnreliableModel(), name="unreliable")
"""Fails once."""
