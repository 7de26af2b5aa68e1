"""Agents that are known by name, and what each needs to be used: a key, a package, a program.

Only the environment, the installed packages and the path are looked at. Nobody is asked.
"""

import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from partita.types.events import AgentStreamEvent, ErrorEvent

from .registry import get_agent
from .service import AgentService, Options, Prompt

Which: TypeAlias = Callable[[str], str | None]
"""Where a program is, if it is anywhere."""


class Known(NamedTuple):
    """An agent that may be there."""

    name: str
    """What it is called among the agents of a server."""
    agent: str
    """What the registry makes it of."""
    description: str
    keys: tuple[str, ...] = ()
    """Variables of the environment, one of which holds its key."""
    module: str | None = None
    """The package that speaks to it; our extra has the name of the provider."""
    extra: str | None = None
    program: str | None = None


def _provider(name: str, model: str, title: str, *keys: str, extra: str, module: str) -> Known:
    return Known(
        name, f"{name}:{model}", f"{title}, over its API.", keys or (_key(name),), module=module, extra=extra
    )


def _key(name: str) -> str:
    return f"{name.upper()}_API_KEY"


def _compatible(name: str, model: str, title: str) -> Known:
    return _provider(name, model, title, extra="openai", module="openai")


KNOWN: Final = (
    _provider("anthropic", "claude-sonnet-4-5", "Claude", extra="anthropic", module="anthropic"),
    _provider("openai", "gpt-5", "GPT", extra="openai", module="openai"),
    _provider(
        "gemini",
        "gemini-2.5-pro",
        "Gemini",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        extra="gemini",
        module="google.genai",
    ),
    _compatible("openrouter", "openrouter/auto", "Any model, by OpenRouter"),
    _compatible("mistral", "mistral-large-latest", "Mistral"),
    _compatible("deepseek", "deepseek-chat", "DeepSeek"),
    _compatible("groq", "llama-3.3-70b-versatile", "Llama, by Groq"),
    _compatible("xai", "grok-4", "Grok"),
    Known("claude-code", "claude-code", "Claude Code, on this machine.", program="claude"),
    Known("codex", "codex", "Codex, on this machine.", program="codex"),
    Known(
        "gemini-cli", "acp:gemini --experimental-acp", "The Gemini CLI, on this machine.", program="gemini"
    ),
    Known("opencode", "acp:opencode acp", "opencode, on this machine.", program="opencode"),
)
"""Providers with a model of each that suits most, and programs. What is found first is shown first."""


class UnavailableAgent:
    """An agent that cannot be asked: it only says what is missing."""

    def __init__(self, name: str, missing: str, description: str | None = None) -> None:
        self.name = name
        self.missing = missing
        self.description = description

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """What is missing, as an error."""
        yield ErrorEvent(message=f"{self.name} cannot be asked: {self.missing}", name="unavailable")


class NamedAgent:
    """An agent under a name of its own, with words about it."""

    def __init__(self, name: str, agent: AgentService, description: str) -> None:
        self.name = name
        self.description = description
        self.model: object = getattr(agent, "model", None)
        self._agent = agent

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one answer."""
        return self._agent.invoke(prompt, cwd=cwd, session_id=session_id, options=options)


def missing_for(
    known: Known, environment: Mapping[str, str] = os.environ, which: Which = shutil.which
) -> str | None:
    """What is to be done before an agent can be asked; `None` when it can."""
    if known.program is not None:
        return None if which(known.program) else f"install {known.program}"
    if not any(environment.get(key) for key in known.keys):
        return f"set {known.keys[0]}"
    if known.module is not None and not _is_installed(known.module):
        return f"pip install 'partita[{known.extra}]'"
    return None


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is not there
        return False


def known_agents(
    environment: Mapping[str, str] = os.environ, which: Which = shutil.which
) -> dict[str, AgentService]:
    """Every known agent by its name: those that can be asked, then those that cannot yet."""
    usable: dict[str, AgentService] = {}
    greyed: dict[str, AgentService] = {}
    for known in KNOWN:
        missing = missing_for(known, environment, which)
        if missing is None:
            usable[known.name] = NamedAgent(known.name, get_agent(known.agent), known.description)
        else:
            greyed[known.name] = UnavailableAgent(known.name, missing, known.description)
    return usable | greyed
