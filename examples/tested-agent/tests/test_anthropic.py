"""Anthropic's API, served from recordings."""

import pytest
from anthropic import Anthropic
from partita.testing import Replay

from weather_agent import with_anthropic


@pytest.mark.parametrize("streamed", [True, False])
def test_a_tool_is_called_and_the_answer_uses_it(partita_replay: Replay, streamed: bool) -> None:
    name = "anthropic_streamed" if streamed else "anthropic"
    endpoint = partita_replay.endpoint(name, provider="anthropic")
    with Anthropic(base_url=endpoint.base_url, api_key=endpoint.api_key) as client:
        answer = with_anthropic.ask(client, "How is the weather in Bergen?", streamed=streamed)
    assert answer == "In Bergen it is rain, 9 degrees."
