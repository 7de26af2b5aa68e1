"""Agents of other packages."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from partita.errors import AgentError
from partita.runtime import registry
from partita.runtime.registry import agent_names, get_agent
from partita.runtime.scripted import ScriptedService, as_script

PARROT = ScriptedService(as_script({"scenes": []}))


def make_parrot(rest: str) -> ScriptedService:
    return PARROT


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that works and one that cannot be imported."""
    values = {"broken": "no_such_module:make", "parrot": f"{__name__}:make_parrot"}
    entries = EntryPoints([EntryPoint(name, value, registry.ENTRY_POINTS) for name, value in values.items()])
    monkeypatch.setattr(registry, "entry_points", entries.select)
    registry._plugins.cache_clear()  # pyright: ignore[reportPrivateUsage] # the installed packages changed
    yield
    monkeypatch.undo()
    registry._plugins.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_a_broken_plugin_does_not_affect_other_agents() -> None:
    assert get_agent("parrot:polly") is PARROT
    assert {"broken", "parrot", "scripted"} <= {*agent_names()}


def test_a_broken_plugin_is_reported_when_it_is_requested() -> None:
    with pytest.raises(AgentError, match="No module named 'no_such_module'") as raised:
        get_agent("broken")
    assert raised.value.where == "no_such_module:make"
    assert "uninstall" in raised.value.hint
