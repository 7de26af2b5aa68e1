"""Agents as `partita serve --agent` names them."""

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from partita.errors import AgentError

if TYPE_CHECKING:  # the runtime is loaded when a command needs it
    from partita.runtime.service import AgentService

DEMO = "demo"


def agents_of(names: Sequence[str]) -> "dict[str, AgentService]":
    """The agents of these names, by what they are called; all that are known when none is named."""
    if not names:
        return all_agents()
    found: dict[str, AgentService] = {}
    for name in names:
        agent = agent_of(name)
        found[name if agent.name in found else agent.name] = agent
    return found


def all_agents() -> "dict[str, AgentService]":
    """The demo agents, then every agent that can be asked here, then those that lack something."""
    from partita.demo.agent import demo_agent
    from partita.demo.network import demo_network
    from partita.runtime.known_agents import known_agents

    demos = (demo_agent(), demo_network())
    return {agent.name: agent for agent in demos} | known_agents()


def agent_of(name: str) -> "AgentService":
    """The agent of one name: one that `partita agents` lists, of another package, or `module:attribute`."""
    from partita.runtime.known_agents import KNOWN, NamedAgent
    from partita.runtime.registry import agent_names, get_agent

    kind, colon, rest = name.partition(":")
    if name == DEMO:
        from partita.demo.agent import demo_agent

        return demo_agent()
    known = next((one for one in KNOWN if one.name == name), None)
    if known is not None:
        return NamedAgent(name, get_agent(known.agent), known.description)
    if not colon or kind in agent_names():
        return get_agent(name)
    from partita.runtime.plugged.as_agent import as_agent

    return as_agent(_attribute(name, kind, rest))


def _attribute(name: str, module_name: str, path: str) -> Any:
    """What stands in a module: of this folder, too."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module_name)
    except Exception as error:
        if not _is_missing(error, module_name):
            raise _broken(name, error) from error
        from partita.runtime.registry import agent_names

        raise AgentError(
            f"no agent and no module {module_name!r}",
            where=name,
            hint=f"name a module that Python finds from here, or one of {_near(module_name, agent_names())}",
        ) from None
    for step in path.split("."):
        if not hasattr(found, step):
            raise AgentError(f"{module_name} has no {path!r}", where=name, hint="name it as module:attribute")
        found = getattr(found, step)
    return found


def _is_missing(error: Exception, module_name: str) -> bool:
    """Whether the module itself was not found, rather than something that it needs."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    return missing is not None and f"{module_name}.".startswith(f"{missing}.")


def _broken(name: str, error: Exception) -> AgentError:
    """What went wrong in a module of the user's, and on which line."""
    from traceback import extract_tb

    place = extract_tb(error.__traceback__)[-1]
    line = (
        (error.filename, error.lineno) if isinstance(error, SyntaxError) else (place.filename, place.lineno)
    )
    return AgentError(
        f"{name} cannot be loaded: {type(error).__name__}: {error}",
        where=f"{line[0]}:{line[1]}",
        hint="PARTITA_TRACEBACK=1 shows the traceback",
    )


def _near(word: str, known: Sequence[str]) -> str:
    return ", ".join(get_close_matches(word, known) or known)
