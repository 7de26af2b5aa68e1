"""Gemini's API, served from recordings."""

from google.genai import Client
from google.genai.types import HttpOptions
from partita.testing import Endpoint, Replay

from weather_agent import with_gemini


def connect(endpoint: Endpoint) -> Client:
    return Client(api_key=endpoint.api_key, http_options=HttpOptions(base_url=endpoint.base_url))


def test_a_tool_is_called_and_the_answer_uses_it(partita_replay: Replay) -> None:
    client = connect(partita_replay.endpoint("gemini", provider="gemini"))
    assert with_gemini.ask(client, "How is the weather in Bergen?") == "In Bergen it is rain, 9 degrees."
    client.close()


def test_an_answer_comes_in_pieces(partita_replay: Replay) -> None:
    client = connect(partita_replay.endpoint("gemini_streamed", provider="gemini"))
    pieces = list(with_gemini.stream(client, "Say hello."))
    assert len(pieces) > 1
    assert "".join(pieces) == "Hello from the weather desk."
    client.close()
