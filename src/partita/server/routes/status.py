"""The agents of the server, its health, and metrics."""

from inspect import cleandoc
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace
from starlette.responses import Response

from partita.extras import needs
from partita.runtime.service import AgentService
from partita.runtime.tools.tool import Tool, toolset_of
from partita.server.callers import ActingCaller, Caller
from partita.server.endpoints import ResponseSpec, get
from partita.server.problems import Problem
from partita.server.responses import Listing
from partita.types.json import JsonObject


class ToolInfo(msgspec.Struct, rename="camel", omit_defaults=True):
    """A tool that an agent may call."""

    name: str
    description: str | None = None
    input_schema: Annotated[JsonObject | None, Meta(description="A JSON schema.")] = None
    runs_on_client: Annotated[bool, Meta(description="Whether the client runs it, and sends its output.")] = (
        False
    )
    approval: Annotated[
        str | None,
        Meta(description="Whether a call needs approval: `never`, `always`, or `depends` on its input."),
    ] = None


class AgentInfo(msgspec.Struct, rename="camel", omit_defaults=True):
    """An agent."""

    name: Annotated[str, Meta(description="Its name on this server: `agent` in a chat.")]
    kind: Annotated[str, Meta(description="Its own name, which is stored with its runs.")]
    is_default: Annotated[bool, Meta(description="Whether it responds if a chat names no agent.")] = False
    description: str | None = None
    model: Annotated[str | None, Meta(description="Its model, if it is known.")] = None
    tools: Annotated[list[ToolInfo] | None, Meta(description="Its tools, if they are known.")] = None
    available: Annotated[bool, Meta(description="Whether it can be used.")] = True
    missing: Annotated[
        str | None,
        Meta(description="What is required to use it: `set ANTHROPIC_API_KEY`, `install claude`."),
    ] = None


@get("/api/agents", tags=["agents"], summary="List the agents")
async def list_agents(caller: ActingCaller) -> Listing[AgentInfo]:
    """The agents, the default first. An agent that cannot be used yet has `missing`. The role `chat` does
    not see models and tools.
    """
    agents = caller.state.agents.by_name
    default = next(iter(agents), None)
    listed = (_agent_info(name, agent, name == default) for name, agent in agents.items())
    if not caller.principal.may("logs"):  # the configuration of an agent is not for users of its chat
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
    """The attribute `description` of an agent, not the docstring of its class."""
    text: object = getattr(agent, "description", None)
    return cleandoc(text) if isinstance(text, str) and text.strip() else None


def _tools(agent: AgentService) -> list[ToolInfo] | None:
    tools = toolset_of(agent)
    return None if tools is None else [_tool(tool) for tool in tools.values()]


def _tool(tool: Tool) -> ToolInfo:
    return ToolInfo(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        runs_on_client=tool.function is None,
        approval=tool.approval if isinstance(tool.approval, str) else "depends",
    )


class Health(msgspec.Struct, rename="camel"):
    """The server works."""

    status: str = "ok"


@get("/healthz", tags=["health"], summary="Check whether the process is alive")
async def get_health() -> Health:
    """Responds while the process runs. It does not use the store."""
    return Health()


@get("/readyz", tags=["health"], summary="Check whether requests can be served")
async def get_readiness(caller: Caller) -> Health:
    """Reads and writes a row of the store. If that fails, or takes longer than a second, the response is 503.
    A result is reused for a second.
    """
    if not await caller.state.readiness.check():
        raise Problem(
            503,
            "the store cannot be written",
            hint="check that its database runs and has space; see the log of the server",
            headers={"retry-after": "1"},
        )
    return Health()


@get(
    "/metrics",
    tags=["health"],
    summary="Get metrics for Prometheus",
    responses={200: ResponseSpec("The metrics.", media_type="text/plain")},
)
async def get_metrics(caller: Caller) -> Response:
    """Metrics of requests, streams, runs and the process, in the text format of Prometheus.

    It requires the extra `telemetry`; without it, the response is 501.
    """
    with needs("partita[telemetry]", "/metrics"):
        from partita.server.prometheus import CONTENT_TYPE, exposition
    text = exposition(caller.state.metrics)
    return Response(text, headers={"content-type": CONTENT_TYPE, "cache-control": "no-store"})
