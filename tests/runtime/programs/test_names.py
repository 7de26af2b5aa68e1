"""Agents that are programs, by name."""

import pytest

from partita.errors import AgentError
from partita.runtime.programs.acp import AcpService
from partita.runtime.programs.claude_code import ClaudeCodeService
from partita.runtime.programs.codex import CodexService
from partita.runtime.registry import get_agent
from tests.tables import each_row

KINDS = {"claude-code": ClaudeCodeService, "codex": CodexService, "acp:gemini --experimental-acp": AcpService}


@each_row(("name", "kind"), KINDS.items(), ids=KINDS)
def test_names(name: str, kind: type[object]) -> None:
    agent = get_agent(name)
    assert type(agent) is kind
    assert agent.name == name.partition(":")[0]


WRONG = {
    "no command": ("acp:", "names no command"),
    "no colon": ("acp", "names no command"),
    "an open quote": ("acp:run 'it", "cannot be parsed"),
    "an argument of a program that takes none": ("codex:gpt-5", "takes nothing behind a colon"),
}


@each_row(("name", "message"), WRONG.values(), ids=WRONG)
def test_wrong_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        get_agent(name)
