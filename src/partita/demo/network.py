"""A scripted network: a router that delegates to a tool and an agent."""

from typing import Final

from partita.runtime.network.network import Network
from partita.runtime.scripted import ScriptedService, as_script
from partita.types.json import Json, JsonObject

from .scenes import call, reasoning, scene, step, text

NAME: Final = "demo-network"
DESCRIPTION: Final = "A scripted router that delegates to an agent and a tool. No API key, no network access."

ROUTER: Final[JsonObject] = {
    "scenes": [
        scene(
            None,
            step(
                reasoning("First the times of the tides."),
                call(
                    "route",
                    primitiveType="tool",
                    primitiveId="tide_table",
                    input={"harbour": "Vardø"},
                    selectionReason="The tide table has the times.",
                ),
            ),
            step(
                call(
                    "route",
                    primitiveType="agent",
                    primitiveId="pilot",
                    input="High water is at 05:12 and 17:40. When shall we sail, and why?",
                    selectionReason="The pilot knows the sound.",
                ),
            ),
            step(
                call(
                    "finish",
                    answer="Sail at **16:50**, fifty minutes before high water, with the last of the flood.",
                )
            ),
        )
    ]
}

PILOT: Final[JsonObject] = {
    "scenes": [
        scene(
            None,
            step(
                reasoning("The flood sets east through the sound until high water."),
                text("Leave fifty minutes before high water: the stream carries you through the narrows."),
            ),
        )
    ]
}


def tide_table(harbour: str) -> dict[str, Json]:
    """Get the tides of a harbour. The result is always the same.

    Args:
        harbour: The name of the harbour.
    """
    return {"harbour": harbour, "highWater": ["05:12", "17:40"], "lowWater": ["11:25", "23:50"]}


def demo_network() -> Network:
    """Return the demo network."""
    pilot = ScriptedService(as_script(PILOT), name="pilot")
    router = ScriptedService(as_script(ROUTER), name="router")
    return Network(router, agents={"pilot": pilot}, tools=[tide_table], name=NAME, description=DESCRIPTION)
