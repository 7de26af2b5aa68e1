"""The state of a run that waits: stored with the run, not in the message, so that no client can change it."""

from collections.abc import Collection
from typing import Any

from agents import Agent, RunState
from agents.items import ToolApprovalItem

from partita.errors import AgentError
from partita.runtime.plugged.replies import is_allowed, reason_of
from partita.types.json import JsonObject, is_object
from partita.types.messages import ToolCallPart


def call_id_of(item: ToolApprovalItem) -> str:
    """The id of the call that asks: calls of hosted tools have no other than that of their item."""
    raw: Any = item.raw_item
    for name in ("call_id", "id"):
        found: Any = raw.get(name) if is_object(raw) else getattr(raw, name, None)
        if isinstance(found, str):
            return found
    raise AgentError("a call that asks has no id", where=f"tool {item.name}", hint="it cannot be answered")


def written(state: RunState[Any, Agent[Any]]) -> JsonObject:
    """A state as JSON. Of the context, only a mapping is in it."""
    return state.to_json(context_serializer=_nothing)


def _nothing(context: Any) -> dict[str, Any]:
    return {}


async def resumed(
    agent: Agent[Any],
    result: JsonObject | None,
    decided: Collection[ToolCallPart],
    outputs: Collection[str],
    context: Any,
) -> RunState[Any, Agent[Any]]:
    """The state that a run returned, with all decisions and the calls that have an output of the client."""
    known = None if result is None else result.get("state")
    if not is_object(known):
        raise AgentError(
            "the state of the run that asked is not there",
            hint="only the agent that asked can continue it; give an input to start a new run",
        )
    state = await RunState.from_json(agent, known, context_deserializer=lambda _: context)
    asking = {call_id_of(item): item for item in state.get_interruptions()}
    for call in decided:
        item = asking.get(call.id)
        if item is None:
            raise AgentError(f"call {call.id!r} does not ask any more", hint="ask the agent again")
        if is_allowed(call):
            state.approve(item)
        else:
            state.reject(item, rejection_message=reason_of(call))
    for call_id in outputs:
        if call_id in asking:
            state.approve(asking[call_id])
    return state
