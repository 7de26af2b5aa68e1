"""Known agents: which are available, and what the others need."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from partita.cli.serve_setup import find_agents
from partita.runtime import registry
from partita.runtime.registry import KNOWN_AGENTS, UnavailableAgent, get_agent
from partita.types.chunks import ErrorEvent


def missing_by_agent(environment: Mapping[str, str], programs: tuple[str, ...] = ()) -> dict[str, str | None]:
    """What each known agent needs."""
    found = registry.known_agents(environment, lambda name: f"/bin/{name}" if name in programs else None)
    return {name: getattr(agent, "missing", None) for name, agent in found.items()}


def test_every_agent_names_what_is_missing() -> None:
    assert missing_by_agent({}) == {
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
    "an empty key": ({"ANTHROPIC_API_KEY": ""}, (), []),
    "an alternative variable": ({"GOOGLE_API_KEY": "k"}, (), ["gemini"]),
    "a server with Chat Completions": ({"GROQ_API_KEY": "k"}, (), ["groq"]),
    "programs": ({}, ("claude", "opencode"), ["claude-code", "opencode"]),
    "both": ({"OPENAI_API_KEY": "k"}, ("codex",), ["openai", "codex"]),
}


@pytest.mark.parametrize(("environment", "programs", "usable"), FOUND.values(), ids=FOUND)
def test_available_agents_come_first(
    environment: dict[str, str],
    programs: tuple[str, ...],
    usable: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = missing_by_agent(environment, programs)
    assert [name for name, missing in found.items() if missing is None] == usable
    assert list(found)[: len(usable)] == usable
    assert len(found) == len(KNOWN_AGENTS)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> None:
        return None

    monkeypatch.setattr(registry, "find_spec", nothing)
    assert missing_by_agent({"ANTHROPIC_API_KEY": "k"})["anthropic"] == "pip install 'partita[anthropic]'"


def test_a_known_agent_has_a_name_a_description_and_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    agent = registry.known_agents({"OPENAI_API_KEY": "k"}, lambda _: None)["openai"]
    assert (agent.name, getattr(agent, "model", None)) == ("openai", "gpt-5")
    assert getattr(agent, "description", "").startswith("GPT")


async def test_an_unavailable_agent_reports_what_is_missing() -> None:
    events = [event async for event in UnavailableAgent("codex", "install codex").invoke("hello")]
    assert events == [ErrorEvent(message="codex is not available: install codex", name="unavailable")]


@pytest.mark.parametrize("known", KNOWN_AGENTS, ids=lambda known: known.name)
def test_the_registry_creates_every_known_agent(
    known: registry.KnownAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in known.keys:
        monkeypatch.setenv(key, "k")
    assert get_agent(known.agent).name


def test_a_server_without_agent_names_has_the_demo_and_all_known_agents(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for known in KNOWN_AGENTS:
        for key in known.keys:
            monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("MISTRAL_API_KEY", "k")
    (tmp_path / "codex").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    agents = find_agents([])
    assert list(agents)[:4] == ["demo", "demo-network", "mistral", "codex"]
    assert [name for name, agent in agents.items() if not hasattr(agent, "missing")] == list(agents)[:4]
    assert list(find_agents(["demo"])) == ["demo"]
