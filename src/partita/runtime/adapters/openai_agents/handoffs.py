"""The agents that an agent can hand off to: found by name, and copied with the tools of the client."""

import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents import Agent, FunctionTool, Handoff
from agents.tool_context import ToolContext

from partita.errors import AgentError
from partita.formats.format import ToolSpec


def find_agent(start: Agent[Any], name: str | None) -> Agent[Any]:
    """The agent of a name among those reachable by handoffs; the first one if none has that name."""
    return next((agent for agent in _reachable(start) if agent.name == name), start)


def _reachable(start: Agent[Any]) -> Iterator[Agent[Any]]:
    found: dict[int, Agent[Any]] = {id(start): start}
    queue = [start]
    while queue:
        agent = queue.pop(0)
        yield agent
        for target in map(_target, agent.handoffs):
            if target is not None and id(target) not in found:
                found[id(target)] = target
                queue.append(target)


def _target(handoff: Agent[Any] | Handoff[Any, Any]) -> Agent[Any] | None:
    """The agent of a handoff, if it was made for one agent."""
    if not isinstance(handoff, Handoff):
        return handoff
    known: Any = None if handoff._agent_ref is None else handoff._agent_ref()
    return known


def client_tool(spec: ToolSpec, outputs: Mapping[str, Any]) -> FunctionTool:
    """A tool of the client: a call ends the run, and when the run continues, returns the client's output."""

    async def output(context: ToolContext[Any], arguments: str) -> Any:
        return outputs[context.tool_call_id]

    return FunctionTool(
        name=spec.name,
        description=spec.description or "",
        params_json_schema=spec.input_schema or {"type": "object", "properties": {}},
        on_invoke_tool=output,
        strict_json_schema=False,
        needs_approval=True,
    )


def with_tools(start: Agent[Any], tools: Sequence[FunctionTool]) -> Agent[Any]:
    """Copies of the agent, and of all that it can hand off to, with more tools."""
    copies: dict[int, Agent[Any]] = {}

    def copied(agent: Agent[Any]) -> Agent[Any]:
        known = copies.get(id(agent))
        if known is not None:
            return known
        taken = {tool.name for tool in agent.tools} & {tool.name for tool in tools}
        if taken:
            raise AgentError(
                f"agent {agent.name!r} already has a tool {min(taken)!r}",
                hint="rename the tool of the client",
            )
        copy = copies[id(agent)] = agent.clone(tools=[*agent.tools, *tools])
        copies[id(copy)] = copy
        copy.handoffs = [copied_handoff(one) for one in agent.handoffs]
        return copy

    def copied_handoff(handoff: Any) -> Any:
        if not isinstance(handoff, Handoff):
            return copied(handoff)
        target = _target(handoff)

        async def invoke(context: Any, arguments: str) -> Agent[Any]:
            return copied(await handoff.on_invoke_handoff(context, arguments))

        copy = replace(handoff, on_invoke_handoff=invoke)
        copy._agent_ref = None if target is None else weakref.ref(copied(target))
        return copy

    return copied(start) if tools else start
