"""Agents by name: ours, and those of other packages: through the entry point group `partita.agents`, and the
models of formats that have an HTTP API (`partita.formats`).

A name is `NAME` or `NAME:REST`; what the rest means is the agent's own business: a model, a command, a run.
"""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Final, TypeAlias

from partita.errors import AgentError
from partita.formats.registry import api_formats

from .service import AgentService

ENTRY_POINTS: Final = "partita.agents"

Maker: TypeAlias = Callable[[str], AgentService]
"""Makes an agent of what stands behind the colon in its name: nothing, if there is none."""

PROVIDERS: Final = "partita.runtime.providers.strings"

OWN: Final[Mapping[str, str]] = {
    **dict.fromkeys(("openai", "openai-chat", "anthropic", "gemini"), PROVIDERS),
    **dict.fromkeys(("ollama", "openrouter", "deepseek", "groq", "mistral", "vllm", "xai"), PROVIDERS),
    **dict.fromkeys(("claude-code", "codex", "acp"), "partita.runtime.programs.strings"),
    "replay": "partita.runtime.replay.service",
    "scripted": "partita.runtime.scripted.strings",
}
"""The modules that make our own agents: each has `make(name, rest)`. They are imported when asked for."""


def agent_names() -> tuple[str, ...]:
    """Every name there is an agent for."""
    return tuple(sorted({*OWN, *_foreign(), *api_formats()}))


def get_agent(name: str) -> AgentService:
    """The agent of a name such as `anthropic:claude-sonnet-4-5`, `claude-code` or `scripted:turns.json`."""
    kind, _, rest = name.partition(":")
    if kind in OWN:
        made: AgentService = import_module(OWN[kind]).make(kind, rest)
        return made
    entry = _foreign().get(kind)
    if entry is None and kind in api_formats():
        provided: AgentService = import_module(PROVIDERS).make(kind, rest)
        return provided
    if entry is None:
        near = get_close_matches(kind, agent_names(), n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise AgentError(f"no agent {kind!r}", where=name, hint=f"{hint}there are {', '.join(agent_names())}")
    return _maker(entry)(rest)


def _maker(entry: EntryPoint) -> Maker:
    """What makes the agents of an entry point. Only the one that is asked for is loaded."""
    try:
        found: Maker = entry.load()
    except Exception as error:  # code of others may fail in any way
        package = entry.dist.name if entry.dist else entry.module
        raise AgentError(
            f"the agent {entry.name!r} cannot be loaded: {type(error).__name__}: {error}",
            where=entry.value,
            hint=f"fix or uninstall the package {package}",
        ) from error
    return found


@cache
def _foreign() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS) if entry.name not in OWN}
