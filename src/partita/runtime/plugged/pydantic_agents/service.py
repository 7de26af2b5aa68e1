"""The service for agents of Pydantic AI."""

from collections.abc import AsyncGenerator
from typing import Any, Final

from pydantic_ai import AgentRunResultEvent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.capabilities import ReinjectSystemPrompt
from pydantic_ai.tools import ToolApproved, ToolDefinition, ToolDenied
from pydantic_ai.toolsets import ExternalToolset

from partita.errors import AgentError
from partita.formats.core.tool_text import DENIED
from partita.runtime.agent.loop import WAITING
from partita.runtime.plugged.agent_request import AgentRequest
from partita.runtime.plugged.jsonable import as_json, as_line
from partita.runtime.plugged.replies import Replies, is_allowed, reason_of, replies_in
from partita.runtime.plugged.request_values import value_for
from partita.runtime.plugged.service import PluggedService
from partita.runtime.plugged.spoken import spoken
from partita.runtime.service import Options
from partita.store.ids import new_id
from partita.types.chunks import Chunk, MessageFinish, ToolApprovalRequest
from partita.types.events import AgentStreamEvent, CompleteEvent
from partita.types.json import JsonObject, is_array

from .history import history_of
from .telling import Speaking, usage_of

NAME: Final = "pydantic-ai"


class PydanticAgentService(PluggedService):
    """An agent of Pydantic AI. Calls that need leave, or that the client runs, end the run and wait."""

    def __init__(self, agent: AbstractAgent[Any, Any], *, name: str | None = None, deps: Any = None) -> None:
        """`deps` are what the tools of the agent are given, or a function of the request that gives them."""
        super().__init__(name or agent.name or NAME, self._said)
        self._agent = agent
        self._deps = deps

    async def _said(self, request: AgentRequest) -> AsyncGenerator[Chunk | AgentStreamEvent]:
        replies = replies_in(request.continued)
        if replies.waiting:
            yield MessageFinish(WAITING)
            return
        async with (
            value_for(self._deps, request) as deps,
            self._agent.run_stream_events(deps=deps, **self._run(request, replies)) as events,
        ):
            speaking = Speaking(events.all_messages)
            async for event in events:
                raw = as_line(event)
                if isinstance(event, AgentRunResultEvent):
                    for said in spoken([*speaking.leave(), *_questions(event.result.output)], raw):
                        yield said
                    yield CompleteEvent(
                        agent_result=_result(event.result.output), usage=usage_of(event.result.usage)
                    )
                else:
                    for said in spoken(speaking.chunks(event), raw):
                        yield said

    def _run(self, request: AgentRequest, replies: Replies) -> dict[str, Any]:
        """The arguments of a run."""
        options = request.options
        run: dict[str, Any] = {
            "message_history": history_of(request.messages, {call.id for call in replies.decided}),
            "conversation_id": request.conversation_key,
            "capabilities": [ReinjectSystemPrompt(id=None)],
            "infer_name": False,
        }
        if replies.decided:
            run["deferred_tool_results"] = _results(replies)
        output_type = self._output_type()
        if output_type is not None:
            run["output_type"] = output_type
        return {**run, **_heeded(options)}

    def _output_type(self) -> Any:
        """What the run may end with: besides what the agent says, calls that wait. `None`: as it says."""
        known: Any = self._agent.output_type
        kinds: list[Any] = known if is_array(known) else [known]
        # Validators expect the agent's own type: with them, the package refuses any other.
        is_fixed = bool(getattr(self._agent, "_output_validators", ()))
        return None if is_fixed or DeferredToolRequests in kinds else [known, DeferredToolRequests]


def plug(thing: Any, name: str | None, **how: Any) -> PydanticAgentService:
    """The service of an agent of Pydantic AI."""
    kind: type[Any] = AbstractAgent  # of anything: what it is an agent of cannot be told from it
    if not isinstance(thing, kind):
        raise AgentError(f"{type(thing).__qualname__} of Pydantic AI is no agent", hint="give an Agent")
    return PydanticAgentService(thing, name=name, **how)


def _heeded(options: Options) -> dict[str, Any]:
    run: dict[str, Any] = {}
    if options.model is not None:
        run["model"] = options.model
    if options.instructions is not None:
        run["instructions"] = options.instructions
    if options.settings:
        run["model_settings"] = dict(options.settings)
    if options.tools:
        told = [
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=tool.input_schema or {"type": "object", "properties": {}},
            )
            for tool in options.tools
        ]
        run["toolsets"] = [ExternalToolset[Any](told)]
    return run


def _results(replies: Replies) -> DeferredToolResults:
    return DeferredToolResults(
        approvals={
            call.id: ToolApproved() if is_allowed(call) else ToolDenied(reason_of(call) or DENIED)
            for call in replies.decided
        }
    )


def _questions(output: Any) -> list[Chunk]:
    """The questions that a run ended with, if it did."""
    if not isinstance(output, DeferredToolRequests):
        return []
    return [ToolApprovalRequest(new_id(), call.tool_call_id) for call in output.approvals]


def _result(output: Any) -> JsonObject:
    return (
        {"finishReason": WAITING} if isinstance(output, DeferredToolRequests) else {"output": as_json(output)}
    )
