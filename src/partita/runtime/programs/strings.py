"""Agents that are programs, by a string: `claude-code`, `codex`, `acp:COMMAND WITH ARGUMENTS`."""

import shlex
from collections.abc import Callable, Mapping
from typing import Final

from partita.errors import AgentError
from partita.runtime.service import AgentService

from .acp import AcpService
from .claude_code import ClaudeCodeService
from .codex import CodexService

ACP: Final = "acp"

KNOWN: Final[Mapping[str, Callable[[], AgentService]]] = {
    "claude-code": ClaudeCodeService,
    "codex": CodexService,
}


def program_agent(name: str) -> AgentService | None:
    """The agent that a string names; `None` if it names none of this kind."""
    if name in KNOWN:
        return KNOWN[name]()
    kind, colon, command = name.partition(":")
    if kind != ACP:
        return None
    hint = "write acp:COMMAND, as in a shell"
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise AgentError(f"the command of {name!r} cannot be read: {error}", hint=hint) from None
    if not colon or not words:
        raise AgentError(f"{name!r} names no command", hint=hint)
    return AcpService(words)


def make(name: str, rest: str) -> AgentService:
    """The service that the registry of agents asks for."""
    agent = program_agent(f"{name}:{rest}" if rest or name == ACP else name)
    if agent is None:
        raise AgentError(f"{name} takes nothing behind a colon", where=f"{name}:{rest}", hint=f"write {name}")
    return agent
