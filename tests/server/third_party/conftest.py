"""A server with agents that use tools, ask for approval, fail and never end; and the clients that call it."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from partita import Agent, tool
from partita.agents import AgentRequest
from partita.runtime.scripted import ScriptedService, as_script
from partita.runtime.service import InvokeOptions
from partita.server.app import asgi
from partita.store.store import Store
from partita.types.chunks import AgentStreamEvent, Chunk, ChunkEvent, MessageStart, TextDelta, TextStart
from partita.types.json import JsonObject, dumps, is_object, loads
from tests.node import node
from tests.server.clients.agents import ApprovalAgent
from tests.server.conftest import Serve, scripted, text_part

HERE = Path(__file__).parent
PYTHON = HERE / ".venv" / "bin" / "python"
"""The interpreter that has the Python clients: see `requirements.txt`."""

SHOW_MAP: JsonObject = {"type": "tool-call", "name": "show_map", "input": {"place": "Slettnes"}}


@tool
def look_up(tower: str) -> str:
    """Look up a tower."""
    return f"{tower}: 41"


@tool(approval="always")
def switch_off(name: str) -> str:
    """Switch a lamp off."""
    return f"{name} is off"


class Endless:
    """Sends text until it is stopped."""

    name = "endless"

    async def invoke(
        self, prompt: Any, *, options: InvokeOptions | None = None, **_: Any
    ) -> AsyncIterator[AgentStreamEvent]:
        """The same text, repeatedly."""
        start: list[Chunk] = [MessageStart("m1"), TextStart("0")]
        for chunk in start:
            yield ChunkEvent(chunk=chunk)
        while True:
            yield ChunkEvent(chunk=TextDelta("0", "on and "))
            await asyncio.sleep(0.01)


async def echo(request: AgentRequest) -> AsyncIterator[str]:
    """The instructions and the members of the body that the agent gets, as JSON."""
    yield dumps({"instructions": request.options.instructions, "body": request.body}).decode()


def agents() -> dict[str, Any]:
    """`guide` calls a tool of the client, `keeper` one that needs approval before."""
    off = {"type": "tool-call", "name": "switch_off", "input": {"name": "Bell"}}
    own = {"type": "tool-call", "name": "look_up", "input": {"tower": "Slettnes"}}
    gate = scripted([text_part("May I?"), off], [text_part("Done.")])
    keeper = scripted([text_part("May I?"), off], [text_part("Look."), SHOW_MAP], [text_part("Done.")])
    guide = scripted([text_part("Look."), SHOW_MAP], [text_part("There it is.")])
    thinker = scripted([{"type": "reasoning", "text": "Paint lasts."}, text_part("So that it is seen.")])
    reader = scripted([text_part("I look."), own], [text_part("Forty-one.")])
    usage = {"inputTokens": 11, "outputTokens": 7}
    counted = as_script({"scenes": [{"steps": [{"parts": [text_part("Forty-one.")], "usage": usage}]}]})
    return {
        "counted": ScriptedService(counted),
        "quick": scripted([text_part("Forty-one metres.")]),
        "keeper": Agent(keeper, tools=[switch_off], name="keeper"),
        "gate": Agent(gate, tools=[switch_off], name="gate"),
        "guide": Agent(guide, name="guide"),
        "reader": Agent(reader, tools=[look_up], name="reader"),
        "thinker": thinker,
        "echo": echo,
        "asking": ApprovalAgent(),
        "mute": scripted(),
        "endless": Endless(),
    }


@pytest.fixture
async def address(store: Store, serve: Serve) -> str:
    """The URL of the agents."""
    return await serve(asgi(agents(), store=store))


async def run_client(script: str, address: str) -> JsonObject:
    """The result of each scenario of a client. The server runs in this event loop."""
    path = HERE / script
    process = await asyncio.create_subprocess_exec(
        *(node() if path.suffix == ".mjs" else str(PYTHON), str(path), address),
        env={**os.environ, "NODE_ENV": "production", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, complaints = await process.communicate()
    assert process.returncode == 0, complaints.decode(errors="replace")[-4000:]
    outcomes: JsonObject = loads(out)
    thrown = {
        name: outcome["thrown"]
        for name, outcome in outcomes.items()
        if is_object(outcome) and "thrown" in outcome
    }
    assert not thrown, "\n".join(f"{name}: {stack}" for name, stack in thrown.items())
    return outcomes
