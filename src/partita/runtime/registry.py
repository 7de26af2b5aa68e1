"""Agents by name: built in, of other packages, and models of formats that have an HTTP API.

Other packages add agents through the entry point group `partita.agents`, and formats through
`partita.formats`. A name is `NAME` or `NAME:ARGUMENT`. Each agent has its own kind of argument: a model, a
command, a run.
"""

import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from partita.errors import AgentError
from partita.extras import install_command
from partita.formats.registry import api_formats
from partita.types.chunks import AgentStreamEvent, ErrorEvent

from .service import AgentService, InvokeOptions, Prompt

ENTRY_POINTS: Final = "partita.agents"

AgentFactory: TypeAlias = Callable[[str], AgentService]
"""Makes an agent of the argument in its name; `""` if there is none."""

PROVIDERS: Final = "partita.runtime.providers.registry"

BUILTIN: Final[Mapping[str, str]] = {
    **dict.fromkeys(("openai", "openai-chat", "anthropic", "gemini"), PROVIDERS),
    **dict.fromkeys(("ollama", "openrouter", "deepseek", "groq", "mistral", "vllm", "xai"), PROVIDERS),
    "claude-code": "partita.runtime.programs.claude_code",
    "codex": "partita.runtime.programs.codex",
    "acp": "partita.runtime.programs.acp",
    "replay": "partita.runtime.replay.service",
    "scripted": "partita.runtime.scripted",
}
"""The modules of the built-in agents. Each has `make(name, argument)`, and is imported when it is needed."""


def agent_names() -> tuple[str, ...]:
    """The names of all agents, without arguments."""
    return tuple(sorted({*BUILTIN, *_plugins(), *api_formats()}))


def get_agent(name: str) -> AgentService:
    """The agent of a name such as `anthropic:claude-sonnet-4-5`, `claude-code` or `scripted:turns.json`."""
    kind, _, argument = name.partition(":")
    if kind in BUILTIN:
        builtin: AgentService = import_module(BUILTIN[kind]).make(kind, argument)
        return builtin
    entry = _plugins().get(kind)
    if entry is not None:
        return _factory(entry)(argument)
    if kind in api_formats():
        model: AgentService = import_module(PROVIDERS).make(kind, argument)
        return model
    near = get_close_matches(kind, agent_names(), n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise AgentError(f"no agent {kind!r}", where=name, hint=f"{hint}there are {', '.join(agent_names())}")


def _factory(entry: EntryPoint) -> AgentFactory:
    """The object of an entry point. Only that of the requested agent is loaded."""
    try:
        found: AgentFactory = entry.load()
    except Exception as error:  # the code of another package may raise anything
        package = entry.dist.name if entry.dist else entry.module
        raise AgentError(
            f"the agent {entry.name!r} cannot be loaded: {type(error).__name__}: {error}",
            where=entry.value,
            hint=f"fix or uninstall the package {package}",
        ) from error
    return found


@cache
def _plugins() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS) if entry.name not in BUILTIN}


# Known agents, and what each needs: a key, a package, a program. Only the environment, the installed
# packages and the path are examined.

Which: TypeAlias = Callable[[str], str | None]
"""Returns the path of a program, or `None`, as `shutil.which`."""


class KnownAgent(NamedTuple):
    """An agent that may be available."""

    name: str
    """The name of the agent on a server."""
    agent: str
    """The name of the agent in the registry."""
    description: str
    keys: tuple[str, ...] = ()
    """Environment variables, one of which has the API key."""
    module: str | None = None
    """The package of the vendor."""
    extra: str | None = None
    """The extra of this package that installs it."""
    program: str | None = None


def _provider(name: str, model: str, title: str, *keys: str, extra: str, module: str) -> KnownAgent:
    return KnownAgent(
        name, f"{name}:{model}", f"{title}, over its API.", keys or (_key(name),), module=module, extra=extra
    )


def _key(name: str) -> str:
    return f"{name.upper()}_API_KEY"


def _compatible(name: str, model: str, title: str) -> KnownAgent:
    return _provider(name, model, title, extra="openai", module="openai")


KNOWN_AGENTS: Final = (
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
    KnownAgent("claude-code", "claude-code", "Claude Code, on this machine.", program="claude"),
    KnownAgent("codex", "codex", "Codex, on this machine.", program="codex"),
    KnownAgent(
        "gemini-cli", "acp:gemini --experimental-acp", "The Gemini CLI, on this machine.", program="gemini"
    ),
    KnownAgent("opencode", "acp:opencode acp", "opencode, on this machine.", program="opencode"),
)
"""Providers, each with a model for general use, and programs. The first available one is shown first."""


class UnavailableAgent:
    """An agent that cannot be used: it only reports what is missing."""

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
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """An error that names what is missing."""
        yield ErrorEvent(message=f"{self.name} is not available: {self.missing}", name="unavailable")


class NamedAgent:
    """An agent with another name, and a description."""

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
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one response."""
        return self._agent.invoke(prompt, cwd=cwd, session_id=session_id, options=options)


def missing_for(
    known: KnownAgent, environment: Mapping[str, str] = os.environ, which: Which = shutil.which
) -> str | None:
    """What has to be done before an agent can be used; `None` if nothing."""
    if known.program is not None:
        return None if which(known.program) else f"install {known.program}"
    if not any(environment.get(key) for key in known.keys):
        return f"set {known.keys[0]}"
    if known.module is not None and not _is_installed(known.module):
        return install_command(f"partita[{known.extra}]")
    return None


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is not installed
        return False


def known_agents(
    environment: Mapping[str, str] = os.environ, which: Which = shutil.which
) -> dict[str, AgentService]:
    """Every known agent by name: those that are available, then the others."""
    available: dict[str, AgentService] = {}
    unavailable: dict[str, AgentService] = {}
    for known in KNOWN_AGENTS:
        missing = missing_for(known, environment, which)
        if missing is None:
            available[known.name] = NamedAgent(known.name, get_agent(known.agent), known.description)
        else:
            unavailable[known.name] = UnavailableAgent(known.name, missing, known.description)
    return available | unavailable
