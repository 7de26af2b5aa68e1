"""The service for agents of the OpenAI Agents SDK."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from agents import Agent, ModelSettings, RunConfig, Runner, RunResultStreaming
from agents.stream_events import RawResponsesStreamEvent, RunItemStreamEvent, StreamEvent

from partita.errors import AgentError
from partita.runtime.agent.loop import WAITING
from partita.runtime.plugged.agent_request import AgentRequest
from partita.runtime.plugged.ahead import read_ahead
from partita.runtime.plugged.jsonable import as_json, as_line
from partita.runtime.plugged.replies import is_allowed, replies_in
from partita.runtime.plugged.service import PluggedService
from partita.runtime.plugged.spoken import spoken
from partita.runtime.service import Options
from partita.store.ids import new_id
from partita.types.chunks import MessageFinish, ToolApprovalRequest
from partita.types.events import CompleteEvent
from partita.types.json import JsonObject

from .state import call_id_of, kept, resumed
from .telling import chunks_of, line_of

RESPONSES = "openai-responses"


class OpenAIAgentService(PluggedService):
    """An agent of the Agents SDK. What its models say is read as answers of the Responses API.

    Calls that need leave end the run; its state is kept by the session, and gone on with once they have it.
    """

    def __init__(self, agent: Agent[Any], *, name: str | None = None, context: Any = None) -> None:
        """`context` is what the tools of the agent are given."""
        super().__init__(name or agent.name, self._said, RESPONSES)
        self._agent = agent
        self._context = context

    async def _said(self, request: AgentRequest) -> AsyncGenerator[object]:
        replies = replies_in(request.continued)
        if replies.waiting:
            yield MessageFinish(WAITING)
            yield CompleteEvent(agent_result={"sessionId": request.session_id or ""})
            return
        denied = {call.id for call in replies.decided if not is_allowed(call)}
        given: Any = (
            await resumed(self._agent, request, replies.decided, self._context)
            if replies.decided
            else request.to(RESPONSES)["input"]
        )
        async with self._run(given, request) as result:
            async with aclosing(read_ahead(result.stream_events())) as events:
                async for event in events:
                    for said in _things(event, denied):
                        yield said
            for item in result.interruptions:
                yield ToolApprovalRequest(new_id(), call_id_of(item))
            yield CompleteEvent(agent_result=_result(result, request))

    @asynccontextmanager
    async def _run(self, given: Any, request: AgentRequest) -> AsyncGenerator[RunResultStreaming]:
        """A run, which is over at the end of the block."""
        result = Runner.run_streamed(
            self._agent, given, context=self._context, run_config=_config(request.options, request.thread_id)
        )
        try:
            yield result
        finally:
            task = result.run_loop_task
            if task is not None and not task.done():
                result.cancel()
                await asyncio.gather(task, return_exceptions=True)


def plug(thing: Any, name: str | None) -> OpenAIAgentService:
    """The service of an agent of the Agents SDK."""
    kind: type[Any] = Agent  # of anything: what it is an agent of cannot be told from it
    if not isinstance(thing, kind):
        raise AgentError(f"{type(thing).__qualname__} of the Agents SDK is no agent", hint="give an Agent")
    return OpenAIAgentService(thing, name=name)


def _things(event: StreamEvent, denied: set[str]) -> list[object]:
    """What an event says: a model's own event as it is, chunks for what the run does."""
    if isinstance(event, RawResponsesStreamEvent):
        return [event.data]
    if isinstance(event, RunItemStreamEvent):
        return [*spoken(chunks_of(event.item, denied), as_line(line_of(event.item, event.name)))]
    told = {"type": event.type, "agent": event.new_agent.name}
    return [*spoken([], as_line(told))]


def _config(options: Options, thread_id: str | None) -> RunConfig:
    settings = ModelSettings(**options.settings) if options.settings else None
    return RunConfig(model=options.model, model_settings=settings, group_id=thread_id)


def _result(result: RunResultStreaming, request: AgentRequest) -> JsonObject:
    """What a run came to. The session keeps its state, if it waits; else there is none to keep."""
    if result.interruptions:
        return {"finishReason": WAITING, "sessionId": kept(result.to_state(), request.message_id)}
    return {"output": as_json(result.final_output), "agent": result.last_agent.name, "sessionId": ""}
