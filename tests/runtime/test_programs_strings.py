"""Programs by a string."""

import pytest

from partita.errors import AgentError
from partita.runtime.programs.acp import AcpService
from partita.runtime.programs.claude_code import ClaudeCodeService
from partita.runtime.programs.codex import CodexService
from partita.runtime.programs.strings import program_agent
from tests.tables import each_row

KNOWN = {"claude-code": ClaudeCodeService, "codex": CodexService, "acp:gemini --experimental-acp": AcpService}


@each_row(("name", "kind"), KNOWN.items(), ids=KNOWN)
def test_a_string_names_a_program(name: str, kind: type[object]) -> None:
    agent = program_agent(name)
    assert type(agent) is kind
    assert agent is not None
    assert agent.name == name.partition(":")[0]


def test_other_strings_name_none() -> None:
    assert program_agent("anthropic:some-model") is None


WRONG = {"no command": "acp:", "no colon": "acp", "an open quote": "acp:run 'it"}


@each_row("name", WRONG.values(), ids=WRONG)
def test_a_string_without_a_command_is_refused(name: str) -> None:
    with pytest.raises(AgentError, match="command"):
        program_agent(name)
