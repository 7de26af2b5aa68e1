"""`partita fixture`: recordings of stored runs, replayed as a model and as an API."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from partita.runtime.agent.agent import Agent
from partita.runtime.providers.service import ProviderService
from partita.runtime.providers.vendors import AnthropicService, OpenAIChatService
from partita.runtime.recordings.recording import Recording, read_recording
from partita.runtime.scripted import ScriptedService
from partita.runtime.service import AgentService
from partita.store.connection import open_store
from partita.store.store import Store
from partita.testing import RecordingError, Replay
from partita.types.json import JsonObject, dumps, is_object, loads
from partita.types.messages import AssistantMessage, text_of
from tests.cli.sample_store import fill, partita
from tests.runtime.replay.example_runs import SCRIPT, weather
from tests.testing.fake_provider import fake_provider

QUESTION = "My key is sk-test-1234567890abcdef. How is the weather in Bergen?"
MAKERS: dict[str, Callable[[str], ProviderService[Any]]] = {
    "anthropic": lambda address: AnthropicService("claude-sonnet-5", base_url=address, api_key="k"),
    "openai": lambda address: OpenAIChatService("gpt-5-mini", base_url=f"{address}/v1", api_key="k"),
}


def look(city: str) -> str:
    """The weather of a city."""
    return "rain, 9 degrees"


look.__name__ = "weather"


def make_agent(model: AgentService, store: Store) -> Agent:
    return Agent(model, tools=[look], store=store, instructions="Be brief.")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with a run of each model, each in its own thread."""

    async def work(opened: Store) -> None:
        with fake_provider() as address:
            for name, make in MAKERS.items():
                service = make(address)
                agent = make_agent(service, opened)
                await agent.run(name, QUESTION)
                await service.aclose()
                await agent.session.close()
        agent = Agent(ScriptedService(SCRIPT), tools=[weather], store=opened)
        await agent.run("scripted", "weather?")
        await agent.session.close()

    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, work)
    return path


def run_in(store: str, thread: str) -> str:
    line = partita(store, "runs", "--json", "--thread", thread).stdout_bytes.splitlines()[0]
    return str(loads(line)["id"])


def record(store: str, thread: str, folder: Path, *options: str) -> Recording:
    path = folder / f"{thread}.json"
    result = partita(store, "fixture", run_in(store, thread), "-o", str(path), *options)
    assert result.exit_code == 0, result.stderr
    return read_recording(path)


@pytest.mark.parametrize("name", MAKERS)
def test_recording_contains_the_run_without_secrets(store: str, tmp_path: Path, name: str) -> None:
    recording = record(store, name, tmp_path)
    text = (tmp_path / f"{name}.json").read_text()
    assert "sk-test" not in text
    assert "[redacted: api key 1]" in text
    assert (recording.origin.kind, recording.origin.id) == ("run", run_in(store, name))
    assert [one.request is not None and one.response is not None for one in recording.exchanges] == [True] * 2
    last = recording.exchanges[-1].request
    assert last is not None
    assert is_object(last.body)
    assert b"rain, 9 degrees" in dumps(last.body)
    assert b"Be brief." in dumps(last.body)
    assert recording.messages[0]["role"] == "user"


@pytest.mark.parametrize("name", MAKERS)
def test_recording_serves_as_a_model(store: str, tmp_path: Path, name: str) -> None:
    record(store, name, tmp_path)

    async def ask(question: str) -> AssistantMessage:
        with Replay(tmp_path) as replay:
            async with open_store("memory:") as opened:
                agent = make_agent(replay.model(name), opened)
                try:
                    return await agent.run("t", question)
                finally:
                    await agent.session.close()

    assert text_of(asyncio.run(ask(QUESTION))) == "In Bergen it is rain, 9 degrees."
    with pytest.raises(RecordingError, match=r"weather in Berge.* → .*weather in Os") as caught:
        asyncio.run(ask(QUESTION.replace("Bergen", "Oslo")))
    assert "sk-test" not in str(caught.value)


@pytest.mark.parametrize("name", MAKERS)
def test_recording_serves_as_an_api(store: str, tmp_path: Path, name: str) -> None:
    recording = record(store, name, tmp_path)
    with Replay(tmp_path) as replay:
        endpoint = replay.endpoint(name)
        for exchange in recording.exchanges:
            assert exchange.request is not None
            assert exchange.response is not None
            address = endpoint.base_url + exchange.request.path
            with urlopen(Request(address, data=dumps(exchange.request.body))) as response:
                assert response.read() == b"".join(exchange.response.pieces)


def test_recording_of_a_run_without_an_api_serves_as_a_model_only(store: str, tmp_path: Path) -> None:
    path = tmp_path / "scripted.json"
    result = partita(store, "fixture", run_in(store, "scripted"), "-o", str(path))
    assert "usable as a model only" in result.stderr
    with Replay(tmp_path) as replay:
        with pytest.raises(RecordingError, match="as a model only"):
            replay.endpoint("scripted")
        with pytest.raises(RecordingError, match="as a model only"):
            replay.endpoint("scripted", provider="openai")

    async def ask() -> AssistantMessage:
        with Replay(tmp_path) as replay:
            async with open_store("memory:") as opened:
                agent = Agent(replay.model("scripted"), tools=[weather], store=opened)
                try:
                    return await agent.run("t", "weather?")
                finally:
                    await agent.session.close()

    assert text_of(asyncio.run(ask())) == "It is sunny in Oslo, and it will stay so."


def test_recording_is_written_to_stdout_or_reported_as_json(store: str, tmp_path: Path) -> None:
    run = run_in(store, "openai")
    result = partita(store, "fixture", run, "--replace", "Bergen")
    assert result.exit_code == 0, result.output
    assert loads(result.stdout_bytes)["partita"] == "recording/1"
    assert "Bergen" not in result.stdout
    assert "partita: 2 responses of run" in result.stderr
    path = tmp_path / "new" / "one.json"
    report: JsonObject = loads(partita(store, "fixture", run, "-o", str(path), "--json").stdout_bytes)
    assert report["answers"] == 2
    assert report["endpoint"] is True
    assert report["file"] == str(path)
    assert [one["mark"] for one in report["replaced"]] == ["[redacted: api key 1]"]
    assert partita(store, "fixture", run, "--json").exit_code == 2


def test_other_file_is_not_overwritten(store: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text("{}")
    result = partita(store, "fixture", "last", "-o", str(path))
    assert result.exit_code == 1
    assert "is not a recording" in result.stderr
    assert path.read_text() == "{}"
    assert partita(store, "fixture", "nonesuch").exit_code == 1


def test_recording_of_a_thread_has_the_responses_of_its_runs(store: str) -> None:
    thread = "openai"
    result = partita(store, "fixture", thread)
    recording = loads(result.stdout_bytes)
    assert (recording["origin"]["kind"], recording["origin"]["id"]) == ("thread", thread)
    of_run = loads(partita(store, "fixture", run_in(store, "openai")).stdout_bytes)
    assert recording["exchanges"] == of_run["exchanges"]
    assert f"partita: 2 responses of thread {thread}" in result.stderr
