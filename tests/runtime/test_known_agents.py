"""Agents that are known by name: which can be asked, and what the others lack."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from partita.cli.serve_setup import agents_of
from partita.runtime import registry
from partita.runtime.registry import KNOWN_AGENTS, UnavailableAgent, get_agent
from partita.types.chunks import ErrorEvent


def missing(environment: Mapping[str, str], programs: tuple[str, ...] = ()) -> dict[str, str | None]:
    """What each known agent lacks."""
    found = registry.known_agents(environment, lambda name: f"/bin/{name}" if name in programs else None)
    return {name: getattr(agent, "missing", None) for name, agent in found.items()}


def test_without_anything_all_say_what_is_missing() -> None:
    assert missing({}) == {
        "anthropic": "set ANTHROPIC_API_KEY",
        "openai": "set OPENAI_API_KEY",
        "gemini": "set GEMINI_API_KEY",
        "openrouter": "set OPENROUTER_API_KEY",
        "mistral": "set MISTRAL_API_KEY",
        "deepseek": "set DEEPSEEK_API_KEY",
        "groq": "set GROQ_API_KEY",
        "xai": "set XAI_API_KEY",
        "claude-code": "install claude",
        "codex": "install codex",
        "gemini-cli": "install gemini",
        "opencode": "install opencode",
    }


FOUND: dict[str, tuple[dict[str, str], tuple[str, ...], list[str]]] = {
    "a key": ({"ANTHROPIC_API_KEY": "k"}, (), ["anthropic"]),
    "an empty key is none": ({"ANTHROPIC_API_KEY": ""}, (), []),
    "another name of a key": ({"GOOGLE_API_KEY": "k"}, (), ["gemini"]),
    "a server that speaks Chat Completions": ({"GROQ_API_KEY": "k"}, (), ["groq"]),
    "programs": ({}, ("claude", "opencode"), ["claude-code", "opencode"]),
    "both": ({"OPENAI_API_KEY": "k"}, ("codex",), ["openai", "codex"]),
}


@pytest.mark.parametrize(("environment", "programs", "usable"), FOUND.values(), ids=FOUND)
def test_what_is_there_can_be_asked_and_comes_first(
    environment: dict[str, str],
    programs: tuple[str, ...],
    usable: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    told = missing(environment, programs)
    assert [name for name, lack in told.items() if lack is None] == usable
    assert list(told)[: len(usable)] == usable
    assert len(told) == len(KNOWN_AGENTS)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> None:
        return None

    monkeypatch.setattr(registry, "find_spec", nothing)
    assert missing({"ANTHROPIC_API_KEY": "k"})["anthropic"] == "pip install 'partita[anthropic]'"


def test_a_known_agent_has_its_name_words_and_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    agent = registry.known_agents({"OPENAI_API_KEY": "k"}, lambda _: None)["openai"]
    assert (agent.name, getattr(agent, "model", None)) == ("openai", "gpt-5")
    assert getattr(agent, "description", "").startswith("GPT")


async def test_an_agent_that_is_missing_says_so_when_asked() -> None:
    events = [event async for event in UnavailableAgent("codex", "install codex").invoke("hello")]
    assert events == [ErrorEvent(message="codex is not available: install codex", name="unavailable")]


@pytest.mark.parametrize("known", KNOWN_AGENTS, ids=lambda known: known.name)
def test_the_registry_knows_them_all(known: registry.KnownAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in known.keys:
        monkeypatch.setenv(key, "k")
    assert get_agent(known.agent).name


def test_a_server_without_names_has_the_demo_first_and_all_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for known in KNOWN_AGENTS:
        for key in known.keys:
            monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("MISTRAL_API_KEY", "k")
    (tmp_path / "codex").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    agents = agents_of([])
    assert list(agents)[:4] == ["demo", "demo-network", "mistral", "codex"]
    assert [name for name, agent in agents.items() if not hasattr(agent, "missing")] == list(agents)[:4]
    assert list(agents_of(["demo"])) == ["demo"]
