"""Runs that wait for approvals: their state, and the calls of agents that are used as tools.

A call of such an agent is not part of the response of the main agent. It is shown next to it, so that it can
be approved; models do not see it there. The call of the agent itself stays without an output until then: it
is not for the client to run.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

from agents import Agent, RunResultStreaming, RunState
from agents.items import ToolApprovalItem, ToolCallItem, ToolCallOutputItem
from msgspec.structs import replace

from partita.errors import AgentError
from partita.formats.core.members import parsed
from partita.runtime.adapters.frameworks import calls_in, decision_reason, is_approved
from partita.runtime.tools.outputs import chunk_of_output
from partita.types.chunks import Chunk, ToolInputAvailable
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.parts import ExecutionDeniedOutput, JsonOutput

# The state is stored with the run and not in the message, so that no client can change it.


def member(raw: Any, name: str) -> str | None:
    """A text member of an item, which is a dict or an object."""
    found: Any = raw.get(name) if is_object(raw) else getattr(raw, name, None)
    return found if isinstance(found, str) else None


def call_id_of(item: ToolApprovalItem) -> str:
    """The id of the call that needs approval. Calls of hosted tools have only that of their item."""
    found = member(item.raw_item, "call_id") or member(item.raw_item, "id")
    if found is None:
        hint = "it cannot be approved"
        raise AgentError("a call that needs approval has no id", where=f"tool {item.name}", hint=hint)
    return found


def state_json(result: RunResultStreaming) -> JsonObject:
    """The state of a run as JSON, without the context."""
    return result.to_state().to_json(context_serializer=lambda _: {})


async def resumed_state(
    agent: Agent[Any],
    result: JsonObject | None,
    decided: Collection[ToolCallPart],
    outputs: Collection[str],
    context: Any,
) -> RunState[Any, Agent[Any]]:
    """The state that a run returned, with all decisions; `outputs` are the calls that the client has run."""
    stored = None if result is None else result.get("state")
    if not is_object(stored):
        raise AgentError(
            "the state of the run that requested approval is missing",
            hint="only the agent that requested it can continue; give an input to start a new run",
        )
    state = await RunState.from_json(agent, stored, context_deserializer=lambda _: context)
    waiting = {call_id_of(item): item for item in state.get_interruptions()}
    for call in decided:
        item = waiting.get(call.id)
        if item is None:
            raise AgentError(f"call {call.id!r} no longer needs approval", hint="start a new run")
        if is_approved(call):
            state.approve(item)
        else:
            state.reject(item, rejection_message=decision_reason(call))
    for call_id in outputs:
        if call_id in waiting:
            state.approve(waiting[call_id])
    return state


# Calls of agents that are used as tools

NESTED: Final[JsonObject] = {"openai-agents": {"nested": True}}


def is_nested(call: ToolCallPart) -> bool:
    """Whether a call was made by an agent that is used as a tool."""
    return is_object(call.call_provider_metadata) and NESTED.items() <= call.call_provider_metadata.items()


def without_nested(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages as the models of the agent see them."""
    return tuple(_without_nested(one) if isinstance(one, AssistantMessage) else one for one in messages)


def _without_nested(message: AssistantMessage) -> AssistantMessage:
    kept = tuple(part for part in message.parts if not (isinstance(part, ToolCallPart) and is_nested(part)))
    return replace(message, content=replace(message.content, parts=kept))


def nested_outputs(decided: Collection[ToolCallPart]) -> list[Chunk]:
    """Outputs of nested calls that were decided: their real outputs are seen by their own agent only."""
    return [
        chunk_of_output(
            call.id, JsonOutput(True) if is_approved(call) else ExecutionDeniedOutput(decision_reason(call))
        )
        for call in decided
        if is_nested(call)
    ]


def nested_calls(result: RunResultStreaming, seed: AssistantMessage | None) -> dict[str, ToolApprovalItem]:
    """The nested calls that need approval and are not shown yet, by id."""
    known = {call.id for call in calls_in(seed)} | _calls_made(result).keys()
    waiting = {call_id_of(item): item for item in result.interruptions}
    return {call_id: item for call_id, item in waiting.items() if call_id not in known}


def server_calls(
    result: RunResultStreaming, seed: AssistantMessage | None, client_tools: Collection[str]
) -> list[str]:
    """The calls without an output that a run which waits will itself continue."""
    waiting = {call_id_of(item) for item in result.interruptions}
    open_calls = {call.id: call.name for call in calls_in(seed) if call.output is None} | _calls_made(result)
    outputs = (item for item in result.new_items if isinstance(item, ToolCallOutputItem))
    ended = {member(item.raw_item, "call_id") for item in outputs}
    return [
        call_id
        for call_id, name in open_calls.items()
        if waiting and call_id not in waiting | ended and name not in client_tools
    ]


def _calls_made(result: RunResultStreaming) -> dict[str, str]:
    """The names of the calls that the models of a run made, by id."""
    items = [item.raw_item for item in result.new_items if isinstance(item, ToolCallItem)]
    return {
        id_: str(getattr(raw, "name", "")) for raw in items if (id_ := member(raw, "call_id")) is not None
    }


def nested_call_chunk(item: ToolApprovalItem) -> Chunk:
    """The chunk that shows a nested call."""
    given = parsed(item.arguments) if item.arguments else {}
    return ToolInputAvailable(
        call_id_of(item), item.name or "", given, provider_metadata=NESTED, dynamic=True
    )
