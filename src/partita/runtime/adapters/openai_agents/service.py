"""Agents of the OpenAI Agents SDK."""

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from agents import Agent, FunctionTool, ModelSettings, RunConfig, Runner, RunResultStreaming
from agents.items import HandoffOutputItem, RunItem, ToolCallOutputItem
from agents.stream_events import RawResponsesStreamEvent, RunItemStreamEvent, StreamEvent

from partita.errors import AgentError
from partita.formats.core.metadata import SERVER_CALLS
from partita.formats.format import ToolSpec
from partita.formats.openai_agents.format import FORMAT
from partita.runtime.adapters.agent_request import AgentRequest, value_for
from partita.runtime.adapters.frameworks import (
    as_json,
    calls_in,
    earlier_runs,
    is_approved,
    pending_calls,
    read_ahead,
    with_line,
)
from partita.runtime.adapters.service import FunctionService
from partita.runtime.agent.calls import WAITING
from partita.runtime.tools.outputs import chunk_of_output, output_text
from partita.store.ids import new_id
from partita.types.chunks import (
    Chunk,
    CompleteEvent,
    DataChunk,
    MessageFinish,
    MessageMetadata,
    ToolApprovalRequest,
)
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import ExecutionDeniedOutput, JsonOutput, TextOutput, ToolOutput, ToolResultPart

from .handoffs import client_tool, find_agent, with_tools
from .interruptions import (
    call_id_of,
    is_nested,
    member,
    nested_call_chunk,
    nested_calls,
    nested_outputs,
    resumed_state,
    server_calls,
    state_json,
    without_nested,
)

RESPONSES: Final = "openai-responses"

HANDOFF: Final = "data-handoff"
"""The type of the chunk that reports a handoff from one agent to another."""


class OpenAIAgentService(FunctionService):
    """An agent of the Agents SDK. The events of its models are decoded as those of the Responses API.

    Calls that need approval, and calls of the client's tools, end the run. Its state is stored with it, and
    continued once all of them have a response. A turn starts with the agent that the last one ended with.
    """

    def __init__(self, agent: Agent[Any], *, name: str | None = None, context: Any = None) -> None:
        """`context` is passed to the tools of the agent, or a function of the request that returns it."""
        super().__init__(name or agent.name, self._stream, RESPONSES)
        self._agent = agent
        self._context = context

    async def _stream(self, request: AgentRequest) -> AsyncGenerator[object]:
        async with aclosing(earlier_runs(request, self.name)) as runs:
            last = await anext(runs, None)
        earlier = None if last is None else last.result
        waited = earlier if last is not None and last.message.id == request.message_id else None
        seed = request.continued
        pending = pending_calls(seed)
        if pending.waiting:
            yield MessageFinish(WAITING)
            yield CompleteEvent(agent_result=waited or {})
            return
        outputs = {call.id: output_text(call.output) for call in calls_in(seed) if call.output is not None}
        tools = _client_tools(request, waited, outputs)
        names = {tool.name for tool in tools}
        root = with_tools(self._agent, tools)
        named = None if earlier is None else earlier.get("agent")
        agent = find_agent(root, named if isinstance(named, str) else None)
        async with value_for(self._context, request) as context:
            seen = replace(request, messages=without_nested(request.messages))
            given: Any = seen.to(RESPONSES)["input"]
            if pending.decided:
                run_by_client = [
                    call.id
                    for call in calls_in(seed)
                    if call.output is not None and call.name in names and not is_nested(call)
                ]
                given = await resumed_state(root, waited, pending.decided, run_by_client, context)
                agent = root  # the state names the agent that requested the approval
                for chunk in nested_outputs(pending.decided):
                    yield chunk
            denied = {call.id for call in pending.decided if not is_approved(call)}
            async with _run(agent, given, context, request) as result:
                async with aclosing(read_ahead(result.stream_events())) as events:
                    async for event in events:
                        for item in _items(event, denied, outputs):
                            yield item
                nested = nested_calls(result, seed)
                for call in nested.values():
                    yield nested_call_chunk(call)
                for call in result.interruptions:
                    if call.name not in names or call_id_of(call) in nested:
                        yield ToolApprovalRequest(new_id(), call_id_of(call))
                if on_server := server_calls(result, seed, names):
                    yield MessageMetadata({SERVER_CALLS: on_server})
                yield CompleteEvent(agent_result=_result(result, names))


@asynccontextmanager
async def _run(
    agent: Agent[Any], given: Any, context: Any, request: AgentRequest
) -> AsyncGenerator[RunResultStreaming]:
    """A run, which is stopped at the end of the block."""
    options = request.options
    settings = ModelSettings(**options.settings) if options.settings else None
    config = RunConfig(model=options.model, model_settings=settings, group_id=request.conversation_key)
    result = Runner.run_streamed(agent, given, context=context, run_config=config)
    try:
        yield result
    finally:
        task = result.run_loop_task
        if task is not None and not task.done():
            result.cancel()
            await asyncio.gather(task, return_exceptions=True)


def create_service(thing: Any, name: str | None, **values: Any) -> OpenAIAgentService:
    """The service for an agent of the Agents SDK."""
    kind: type[Any] = Agent  # its type parameter cannot be known here
    if not isinstance(thing, kind):
        raise AgentError(
            f"{type(thing).__qualname__} of the Agents SDK is not an agent", hint="give an Agent"
        )
    return OpenAIAgentService(thing, name=name, **values)


def _client_tools(
    request: AgentRequest, waited: JsonObject | None, outputs: dict[str, str]
) -> list[FunctionTool]:
    """The tools of the client, and those that it had when the run that is continued stopped."""
    specs = {tool.name: tool for tool in request.options.tools}
    known: Json = None if waited is None else waited.get("clientTools")
    earlier = known if is_array(known) else []
    names = [*specs, *(name for name in earlier if isinstance(name, str) and name not in specs)]
    return [client_tool(specs.get(name) or ToolSpec(name), outputs) for name in names]


def _result(result: RunResultStreaming, client_tools: set[str]) -> JsonObject:
    """What a run returned: the agent that it ended with, and its state if it waits."""
    agent = result.last_agent.name
    if result.interruptions:
        waits: JsonObject = {"finishReason": WAITING, "agent": agent, "state": state_json(result)}
        return {**waits, "clientTools": sorted(client_tools)} if client_tools else waits
    return {"output": as_json(result.final_output), "agent": agent}


# Events of a run


def _items(event: StreamEvent, denied: Collection[str], known: Collection[str]) -> list[object]:
    """The raw event of a model as it is, or events for what the run does.

    `denied` are calls that were not approved; calls that are `known` have their outputs already.
    """
    if isinstance(event, RawResponsesStreamEvent):
        return [event.data]
    if isinstance(event, RunItemStreamEvent):
        chunks = [
            chunk
            for chunk in _chunks(event.item, denied)
            if getattr(chunk, "tool_call_id", None) not in known
        ]
        line = {"type": "run_item_stream_event", "name": event.name, "item": as_json(event.item.raw_item)}
        return [*with_line(chunks, line)]
    return [*with_line([], {"type": event.type, "agent": event.new_agent.name})]


def _chunks(item: RunItem, denied: Collection[str]) -> list[Chunk]:
    match item:
        case ToolCallOutputItem():
            return _output_chunks(item.raw_item, item.output, denied)
        case HandoffOutputItem():
            handoff = {"from": item.source_agent.name, "to": item.target_agent.name}
            return [*_output_chunks(item.raw_item, handoff, denied), DataChunk(HANDOFF, handoff)]
        case _:
            return []


def _output_chunks(raw: Any, output: Any, denied: Collection[str]) -> list[Chunk]:
    call_id = member(raw, "call_id")
    if call_id is None:
        return []
    if call_id in denied:
        return [chunk_of_output(call_id, ExecutionDeniedOutput(output if isinstance(output, str) else None))]
    return [chunk_of_output(call_id, _output_of(raw, output))]


def _output_of(raw: Any, output: Any) -> ToolOutput:
    """What a tool returned: the content for the model, as the format `openai-agents` reads it, or a value."""
    if is_object(raw) and is_array(raw.get("output")) and raw["output"]:
        assert FORMAT.load is not None, "the format reads items"
        for message in FORMAT.load([as_json(raw)]).messages:
            for part in message.parts:
                if isinstance(part, ToolResultPart):
                    return part.output
    value = as_json(output)
    return TextOutput(value) if isinstance(value, str) else JsonOutput(value)
