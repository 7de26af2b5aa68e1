"""OpenAI's two APIs, served from recordings."""

from openai import OpenAI
from partita.testing import Replay

from weather_agent import with_openai_chat, with_openai_responses


def test_a_tool_is_called_and_the_answer_uses_it(partita_replay: Replay) -> None:
    endpoint = partita_replay.endpoint("openai_chat", provider="openai")
    with OpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key) as client:
        answer = with_openai_chat.ask(client, "How is the weather in Bergen?")
    assert answer == "In Bergen it is rain, 9 degrees."


def test_an_answer_comes_in_pieces(partita_replay: Replay) -> None:
    endpoint = partita_replay.endpoint("openai_chat_streamed", provider="openai")
    with OpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key) as client:
        pieces = list(with_openai_chat.stream(client, "Say hello."))
    assert len(pieces) > 1
    assert "".join(pieces) == "Hello from the weather desk."


def test_responses_with_a_client_that_finds_its_way_alone(partita_replay: Replay) -> None:
    partita_replay.endpoint("openai_responses", provider="openai", set_environment=True)
    with OpenAI() as client:
        answer = with_openai_responses.ask(client, "How is the weather in Tromsø?")
    assert answer == "In Tromsø it is snow, -4 degrees."
