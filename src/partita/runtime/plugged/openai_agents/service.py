"""The service for agents of the OpenAI Agents SDK."""

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

from agents import Agent, FunctionTool, ModelSettings, RunConfig, Runner, RunResultStreaming
from agents.stream_events import RawResponsesStreamEvent, RunItemStreamEvent, StreamEvent

from partita.errors import AgentError
from partita.formats.core.metadata import SERVER_CALLS
from partita.formats.format import ToolSpec
from partita.runtime.agent.loop import WAITING
from partita.runtime.plugged.agent_request import AgentRequest
from partita.runtime.plugged.ahead import read_ahead
from partita.runtime.plugged.jsonable import as_json, as_line
from partita.runtime.plugged.replies import is_allowed, replies_in
from partita.runtime.plugged.request_values import value_for
from partita.runtime.plugged.run_results import EarlierRun, earlier_runs
from partita.runtime.plugged.service import PluggedService
from partita.runtime.plugged.spoken import spoken
from partita.runtime.tools.output_text import output_text
from partita.store.ids import new_id
from partita.types.chunks import MessageFinish, MessageMetadata, ToolApprovalRequest
from partita.types.events import CompleteEvent
from partita.types.json import Json, JsonObject, is_array
from partita.types.messages import AssistantMessage, ToolCallPart

from .handoffs import client_tool, find_agent, with_tools
from .nested_calls import is_nested, nested_calls, outputs_of, server_calls, shown, without_nested
from .state import call_id_of, resumed, written
from .telling import chunks_of, line_of

RESPONSES = "openai-responses"


class OpenAIAgentService(PluggedService):
    """An agent of the Agents SDK. What its models say is read as answers of the Responses API.

    Calls that need an approval, and calls of the client's tools, end the run. Its state is stored with it,
    and continued once all have their replies. A turn begins with the agent that the last one ended with.
    """

    def __init__(self, agent: Agent[Any], *, name: str | None = None, context: Any = None) -> None:
        """`context` is what the tools of the agent are given, or a function of the request that gives it."""
        super().__init__(name or agent.name, self._said, RESPONSES)
        self._agent = agent
        self._context = context

    async def _said(self, request: AgentRequest) -> AsyncGenerator[object]:
        last = await _last_run(request, self.name)
        replies = replies_in(request.continued)
        result = None if last is None else last.result
        asked = result if last is not None and last.answer.id == request.message_id else None
        if replies.waiting:
            yield MessageFinish(WAITING)
            yield CompleteEvent(agent_result=asked or {})
            return
        outputs = _outputs(request.continued)
        tools = _client_tools(request, asked, outputs)
        root = with_tools(self._agent, tools)
        named = None if result is None else result.get("agent")
        agent = find_agent(root, named if isinstance(named, str) else None)
        denied = {call.id for call in replies.decided if not is_allowed(call)}
        async with value_for(self._context, request) as context:
            seen = replace(request, messages=without_nested(request.messages))
            given: Any = seen.to(RESPONSES)["input"]
            if replies.decided:
                on_client = _client_calls(request.continued, {tool.name for tool in tools})
                given = await resumed(root, asked, replies.decided, on_client, context)
                agent = root  # the state names the agent that asked
                for chunk in outputs_of(replies.decided):
                    yield chunk
            async with _run(agent, given, context, request) as result:
                async with aclosing(read_ahead(result.stream_events())) as events:
                    async for event in events:
                        for said in _things(event, denied, outputs):
                            yield said
                names = {tool.name for tool in tools}
                nested = nested_calls(result, request.continued)
                for item in nested.values():
                    yield shown(item)
                for item in result.interruptions:
                    if item.name not in names or call_id_of(item) in nested:
                        yield ToolApprovalRequest(new_id(), call_id_of(item))
                on_server = server_calls(result, request.continued, names)
                if on_server:
                    yield MessageMetadata({SERVER_CALLS: on_server})
                yield CompleteEvent(agent_result=_result(result, names))


@asynccontextmanager
async def _run(
    agent: Agent[Any], given: Any, context: Any, request: AgentRequest
) -> AsyncGenerator[RunResultStreaming]:
    """A run, which is over at the end of the block."""
    result = Runner.run_streamed(agent, given, context=context, run_config=_config(request))
    try:
        yield result
    finally:
        task = result.run_loop_task
        if task is not None and not task.done():
            result.cancel()
            await asyncio.gather(task, return_exceptions=True)


def plug(thing: Any, name: str | None, **how: Any) -> OpenAIAgentService:
    """The service of an agent of the Agents SDK."""
    kind: type[Any] = Agent  # of anything: what it is an agent of cannot be told from it
    if not isinstance(thing, kind):
        raise AgentError(f"{type(thing).__qualname__} of the Agents SDK is no agent", hint="give an Agent")
    return OpenAIAgentService(thing, name=name, **how)


def _things(event: StreamEvent, denied: Collection[str], known: Collection[str]) -> list[object]:
    """What an event says: a model's own event as it is, chunks for what the run does.

    Calls that are `denied` were not allowed; those that are `known` have their outputs already.
    """
    if isinstance(event, RawResponsesStreamEvent):
        return [event.data]
    if isinstance(event, RunItemStreamEvent):
        chunks = chunks_of(event.item, denied)
        new = [chunk for chunk in chunks if getattr(chunk, "tool_call_id", None) not in known]
        return [*spoken(new, as_line(line_of(event.item, event.name)))]
    told = {"type": event.type, "agent": event.new_agent.name}
    return [*spoken([], as_line(told))]


def _config(request: AgentRequest) -> RunConfig:
    options = request.options
    settings = ModelSettings(**options.settings) if options.settings else None
    return RunConfig(model=options.model, model_settings=settings, group_id=request.conversation_key)


async def _last_run(request: AgentRequest, name: str) -> EarlierRun | None:
    """The newest run of the branch that the agent completed."""
    async with aclosing(earlier_runs(request, name)) as runs:
        return await anext(runs, None)


def _outputs(seed: AssistantMessage | None) -> dict[str, str]:
    """The outputs in the message that the run continues, as text, by call."""
    calls = [part for part in (() if seed is None else seed.parts) if isinstance(part, ToolCallPart)]
    return {call.id: output_text(call.output) for call in calls if call.output is not None}


def _client_calls(seed: AssistantMessage | None, names: Collection[str]) -> list[str]:
    """The calls of the client's tools in a message that have an output."""
    calls = [part for part in (() if seed is None else seed.parts) if isinstance(part, ToolCallPart)]
    return [
        call.id for call in calls if call.output is not None and call.name in names and not is_nested(call)
    ]


def _client_tools(
    request: AgentRequest, asked: JsonObject | None, outputs: dict[str, str]
) -> list[FunctionTool]:
    """The tools of the client, and those that it had when the run that is continued asked."""
    specs = {tool.name: tool for tool in request.options.tools}
    known: Json = None if asked is None else asked.get("clientTools")
    earlier = known if is_array(known) else []
    names = [*specs, *(name for name in earlier if isinstance(name, str) and name not in specs)]
    return [client_tool(specs.get(name) or ToolSpec(name), outputs) for name in names]


def _result(result: RunResultStreaming, client_tools: set[str]) -> JsonObject:
    """What a run returned: the agent that it ended with, and its state if it waits."""
    agent = result.last_agent.name
    if result.interruptions:
        waits: JsonObject = {"finishReason": WAITING, "agent": agent, "state": written(result.to_state())}
        return {**waits, "clientTools": sorted(client_tools)} if client_tools else waits
    return {"output": as_json(result.final_output), "agent": agent}
