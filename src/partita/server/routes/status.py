"""Health and numbers, for those who look after the server."""

from inspect import cleandoc
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace
from starlette.responses import Response

from partita.extras import needs
from partita.runtime.service import AgentService
from partita.runtime.tools.tool import Tool, Toolset
from partita.server.callers import ActingCaller, Caller
from partita.server.endpoints import ResponseSpec, get
from partita.server.problems import Problem
from partita.server.responses import Listing
from partita.types.json import JsonObject

# The agents that this server can ask.


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
async def list_agents(caller: ActingCaller) -> Listing[AgentInfo]:
    """In the order they were given; the first is asked when a chat names none. Agents that are known but
    cannot be asked here yet say what is missing. The role `chat` does not see models and tools.
    """
    agents = caller.state.agents.by_name
    default = next(iter(agents), None)
    listed = (_agent_info(name, agent, name == default) for name, agent in agents.items())
    if not caller.principal.may("logs"):  # how an agent is made is not for the users of its chat
        listed = (replace(one, model=None, tools=None, missing=None) for one in listed)
    return Listing(tuple(listed))


def _agent_info(name: str, agent: AgentService, is_default: bool) -> AgentInfo:
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


class Health(msgspec.Struct, rename="camel"):
    """That all is well."""

    status: str = "ok"


@get("/healthz", tags=["health"], summary="Is the process alive?")
async def get_health() -> Health:
    """Answers as long as the process does; it asks nothing of the store."""
    return Health()


@get("/readyz", tags=["health"], summary="Can requests be answered?")
async def get_readiness(caller: Caller) -> Health:
    """Reads and writes a row of the store. If that fails, or takes longer than a second: 503. A result counts
    for a second.
    """
    if not await caller.state.readiness.check():
        raise Problem(
            503,
            "the store cannot be written",
            hint="look whether its database runs and has space, and at the log of the server",
            headers={"retry-after": "1"},
        )
    return Health()


@get(
    "/metrics",
    tags=["health"],
    summary="Numbers for Prometheus",
    responses={200: ResponseSpec("As asked for.", media_type="text/plain")},
)
async def get_metrics(caller: Caller) -> Response:
    """Requests, streams, runs and the process itself, in the text format of Prometheus.

    Needs the extra `telemetry`; without it: 501.
    """
    with needs("partita[telemetry]", "/metrics"):
        from partita.server.prometheus import CONTENT_TYPE, exposition
    text = exposition(caller.state.metrics)
    return Response(text, headers={"content-type": CONTENT_TYPE, "cache-control": "no-store"})
