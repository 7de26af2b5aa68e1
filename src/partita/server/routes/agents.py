"""The agents that this server can ask."""

from inspect import cleandoc
from typing import Annotated, Final

import msgspec
from litestar import get
from litestar.types import ControllerRouterHandler
from msgspec import Meta
from msgspec.structs import replace

from partita.runtime.service import AgentService
from partita.runtime.tools.tool import Tool
from partita.runtime.tools.toolset import Toolset
from partita.server.hub import Caller
from partita.server.replies import Listing, Reply
from partita.types.json import JsonObject

from .parameters import routes_for_callers


class ToolInfo(msgspec.Struct, rename="camel", omit_defaults=True):
    """A tool that an agent may call."""

    name: str
    description: str | None = None
    input_schema: Annotated[JsonObject | None, Meta(description="A JSON schema.")] = None
    runs_on_client: Annotated[bool, Meta(description="Whether the client runs it, and gives its output.")] = (
        False
    )
    approval: Annotated[
        str | None, Meta(description="Who must allow a call: `never`, `always`, or `depends` on its input.")
    ] = None


class AgentInfo(msgspec.Struct, rename="camel", omit_defaults=True):
    """An agent, by the name that it is asked for with."""

    name: Annotated[str, Meta(description="What to say as `agent` in a chat.")]
    kind: Annotated[str, Meta(description="What it calls itself: runs are stored under this name.")]
    is_default: Annotated[bool, Meta(description="Whether it is asked when none is named.")] = False
    description: str | None = None
    model: Annotated[str | None, Meta(description="The model that answers, if it says.")] = None
    tools: Annotated[list[ToolInfo] | None, Meta(description="Its tools, if it says.")] = None
    available: Annotated[bool, Meta(description="Whether it can be asked.")] = True
    missing: Annotated[
        str | None, Meta(description="What is to be done first: `set ANTHROPIC_API_KEY`, `install claude`.")
    ] = None


@get("/api/agents", tags=["agents"], summary="The agents there are")
async def list_agents(caller: Caller) -> Reply[Listing[AgentInfo]]:
    """In the order they were given; the first is asked when a chat names none. Agents that are known but
    cannot be asked here yet say what is missing. The role `chat` does not see models and tools.
    """
    agents = caller.hub.agents.by_name
    default = next(iter(agents), None)
    listed = (_told(name, agent, name == default) for name, agent in agents.items())
    if not caller.principal.may("logs"):  # how an agent is made is not for the users of its chat
        listed = (replace(one, model=None, tools=None, missing=None) for one in listed)
    return Reply(Listing(tuple(listed)))


def _told(name: str, agent: AgentService, is_default: bool) -> AgentInfo:
    model: object = getattr(agent, "model", None)
    missing: object = getattr(agent, "missing", None)
    return AgentInfo(
        name=name,
        kind=agent.name,
        is_default=is_default,
        description=_description(agent),
        model=model if isinstance(model, str) else None,
        tools=_tools(agent),
        available=missing is None,
        missing=missing if isinstance(missing, str) else None,
    )


def _description(agent: AgentService) -> str | None:
    """What the agent says of itself; what its class says is about any agent of its kind."""
    said: object = getattr(agent, "description", None)
    return cleandoc(said) if isinstance(said, str) and said.strip() else None


def _tools(agent: AgentService) -> list[ToolInfo] | None:
    tools: object = getattr(agent, "tools", None)
    return [_tool(tool) for tool in tools.values()] if isinstance(tools, Toolset) else None


def _tool(tool: Tool) -> ToolInfo:
    return ToolInfo(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        runs_on_client=tool.function is None,
        approval=tool.approval if isinstance(tool.approval, str) else "depends",
    )


AGENTS: Final[list[ControllerRouterHandler]] = [routes_for_callers(list_agents)]
