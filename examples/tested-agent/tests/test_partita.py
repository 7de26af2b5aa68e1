"""Partita's agent: its model is a recording, its tools run for real."""

from partita import open_store
from partita.testing import Replay

from weather_agent import with_partita


async def test_the_recording_is_the_model(partita_replay: Replay) -> None:
    model = partita_replay.model("agent", live="anthropic:claude-sonnet-5")
    async with open_store("memory:") as store:
        answer = await with_partita.ask(model, store, "How is the weather in Bergen?")
    assert answer == "In Bergen it is rain, 9 degrees."
