"""Tools that the client runs: those of an agent, and those that come with a request."""

from collections.abc import Sequence
from typing import Final

from partita.errors import AgentError
from partita.formats.format import ToolSpec
from partita.runtime.service import AgentService
from partita.runtime.tools.toolset import Toolset

SUPPORT: Final = "supports_client_tools"
"""The attribute of a service that says whether it offers its model the tools in `Options.tools`."""


def declares_tools(agent: AgentService) -> bool:
    """Whether an agent says which tools it has. Of others, any call without an output may be the client's."""
    return isinstance(getattr(agent, "tools", None), Toolset)


def client_tools(agent: AgentService) -> frozenset[str]:
    """The tools of an agent that its clients run."""
    tools: object = getattr(agent, "tools", None)
    own = tools.values() if isinstance(tools, Toolset) else ()
    return frozenset(tool.name for tool in own if tool.function is None)


def server_tools(agent: AgentService) -> frozenset[str]:
    """The tools of an agent that the server runs, as far as the agent names them."""
    tools: object = getattr(agent, "tools", None)
    own = tools.values() if isinstance(tools, Toolset) else ()
    return frozenset(tool.name for tool in own if tool.function is not None)


def check_client_tools(agent: AgentService, tools: Sequence[ToolSpec]) -> None:
    """Refuse tools that come with a request if the agent would not offer them to its model."""
    if tools and not getattr(agent, SUPPORT, False):
        raise AgentError(
            f"agent {agent.name!r} takes no tools from a client",
            where=f"tool {tools[0].name}",
            hint="leave the tools out, or give them to the agent on the server",
        )
