"""`partita agents`: the agents that can run here, and their sessions."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from partita.cli.main import cli
from partita.cli.serve_setup import find_agent
from partita.logs.sources.registry import AGENTS
from partita.runtime.registry import KNOWN_AGENTS
from partita.types.json import Json, loads
from tests.cli.test_serve import with_session


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with one session and one program, and no API keys."""
    keys = [key for known in KNOWN_AGENTS for key in known.keys]
    for name in (*keys, "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with_session(tmp_path)
    return tmp_path


def partita(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def listed() -> dict[str, Json]:
    result = partita("agents", "--json")
    assert result.exit_code == 0, result.output
    rows: list[Json] = [loads(line) for line in result.stdout_bytes.splitlines()]
    return {row["name"]: row for row in rows}


def test_agents_are_listed_with_what_they_need(home: Path) -> None:
    rows = listed()
    assert rows.keys() >= {"demo", *(known.name for known in KNOWN_AGENTS), *AGENTS}
    assert rows["anthropic"]["missing"] == "set ANTHROPIC_API_KEY"
    assert rows["anthropic"]["sessions"] is None
    assert rows["codex"] == {
        "name": "codex",
        "agent": "codex",
        "description": "Codex, on this machine.",
        "usable": False,
        "missing": "install codex",
        "places": [str(home / ".codex")],
        "sessions": 0,
    }
    assert rows["claude-code"]["usable"] is True
    assert rows["claude-code"]["sessions"] == 1
    assert rows["claude-code"]["places"] == [str(home / ".claude")]


def test_agent_is_usable_when_its_key_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    row = listed()["anthropic"]
    assert row["usable"] is True
    assert "k" not in {str(value) for value in row.values()}  # the key is not printed


def test_sessions_and_usable_agents_are_listed_first() -> None:
    sessions, _, served = partita("agents").stdout.partition("\n\nAgents that `partita serve` can run:\n")
    lines = [line.split() for line in sessions.splitlines()]
    assert "`partita import` reads" in sessions
    assert lines[2:5] == [
        ["agent", "sessions", "location"],
        ["claude-code", "1", "~/.claude"],
        ["codex", "0", "~/.codex", "(not", "found)"],
    ]
    usable = [line.split() for line in served.splitlines() if line]
    assert usable[:3] == [["agent", "usable", "here"], ["demo", "yes"], ["claude-code", "yes"]]
    assert ["codex", "no:", "install", "codex"] in usable


def test_tables_break_no_words_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = partita("agents").stdout
    assert "OPENROUTER_API_KEY" in text
    assert max(map(len, text.splitlines())) <= 60


def test_listed_agents_can_be_served_by_name() -> None:
    for known in KNOWN_AGENTS:
        if known.program is not None:
            assert find_agent(known.name).name == known.name


def test_folder_from_the_environment_is_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".claude").rename(home / "elsewhere")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    row = listed()["claude-code"]
    assert (row["places"], row["sessions"]) == ([str(home / "elsewhere")], 1)
