"""Claude Code as an agent: the program `claude`, spoken to over its pipes."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from partita.formats.agent_decoder import Decoding
from partita.runtime.client_tools import check_client_tools
from partita.runtime.service import Options, Prompt
from partita.types.events import AgentStreamEvent
from partita.types.json import Json, dumps, is_array

from .claude_talk import ClaudeTalk
from .conversation import converse
from .dialogue import safe_name
from .process import Launch, Patience, environment_with
from .prompts import request_of

FLAGS: Final = (
    *("-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose"),
    *("--include-partial-messages", "--permission-prompt-tool", "stdio"),
)

NESTED: Final = ("CLAUDECODE",)
"""Variables that make the program refuse to start inside another of its kind."""


def _listed(value: Json) -> str:
    return ",".join(str(item) for item in value) if is_array(value) else str(value)


def _as_json(value: Json) -> str:
    return value if isinstance(value, str) else dumps(value).decode()


SETTINGS: Final[Mapping[str, tuple[str, Callable[[Json], str]]]] = {
    "permissionMode": ("--permission-mode", str),
    "allowedTools": ("--allowedTools", _listed),
    "disallowedTools": ("--disallowedTools", _listed),
    "maxTurns": ("--max-turns", str),
    "maxBudgetUsd": ("--max-budget-usd", str),
    "systemPrompt": ("--system-prompt", str),
    "fallbackModel": ("--fallback-model", str),
    "effort": ("--effort", str),
    "addDirs": ("--add-dir", _listed),
    "mcpConfig": ("--mcp-config", _as_json),
    "settings": ("--settings", _as_json),
    "settingSources": ("--setting-sources", _listed),
    "agents": ("--agents", _as_json),
}
"""Settings that are heeded, the option each is, and how its value is written."""


class ClaudeCodeService:
    """Claude Code. Whatever it leaves running is ended with it."""

    name = "claude-code"
    supports_client_tools = False  # it has tools of its own, and MCP servers in its settings

    def __init__(self, command: Sequence[str] = ("claude",), *, patience: Patience | None = None) -> None:
        """`command` is the program and what comes before our own options."""
        self._command = tuple(command)
        self._patience = patience or Patience()

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one turn; `session_id` is a session of Claude Code to go on with."""
        given = options or Options()
        check_client_tools(self, given.tools)
        request = request_of(prompt, goes_on=session_id is not None)
        command = [*self._command, *FLAGS, *_arguments(session_id, given)]
        return converse(
            self.name,
            Launch(command, cwd, environment_with(given.environment, NESTED)),
            ClaudeTalk(request, session_id, given.desk),
            Decoding("claude-code-stream", "lines"),
            self._patience,
        )


def _arguments(session_id: str | None, options: Options) -> list[str]:
    """Options of the command line. Each is one word with its value, so that no value can pose as another."""
    words: list[str] = []
    if session_id is not None:
        words.append(f"--resume={safe_name(session_id, 'session id')}")
    if options.model is not None:
        words.append(f"--model={options.model}")
    if options.instructions is not None:
        words.append(f"--append-system-prompt={options.instructions}")
    for name, (flag, write) in SETTINGS.items():
        value = options.settings.get(name)
        if value is not None:
            words.append(f"{flag}={write(value)}")
    return words
