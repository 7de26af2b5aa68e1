"""The state of a run that waits, as the agent's own name for the conversation: a session gives that back.

So it stands with the run in the store, not in the message: it holds calls that nobody else is to change.
"""

from collections.abc import Iterable
from typing import Any

from agents import Agent, RunState
from agents.items import ToolApprovalItem

from partita.errors import AgentError, DecodeError
from partita.runtime.plugged.agent_request import AgentRequest
from partita.runtime.plugged.replies import is_allowed, reason_of
from partita.types.json import Json, dumps, is_object, loads
from partita.types.messages import ToolCallPart


def call_id_of(item: ToolApprovalItem) -> str:
    """The id of the call that asks: calls of hosted tools have no other than that of their item."""
    raw: Any = item.raw_item
    for name in ("call_id", "id"):
        found: Any = raw.get(name) if is_object(raw) else getattr(raw, name, None)
        if isinstance(found, str):
            return found
    raise AgentError("a call that asks has no id", where=f"tool {item.name}", hint="it cannot be answered")


def kept(state: RunState[Any, Agent[Any]], message_id: str | None) -> str:
    """A state as a session keeps it, with the message whose calls wait. Of the context, only a mapping is."""
    return dumps({"messageId": message_id, "state": state.to_json(context_serializer=_nothing)}).decode()


def _nothing(context: Any) -> dict[str, Any]:
    return {}


async def resumed(
    agent: Agent[Any], request: AgentRequest, decided: Iterable[ToolCallPart], context: Any
) -> RunState[Any, Agent[Any]]:
    """The state that the decisions are about, with all of them in it."""
    state = await RunState.from_json(agent, _state_in(request), context_deserializer=lambda _: context)
    asking = {call_id_of(item): item for item in state.get_interruptions()}
    for call in decided:
        item = asking.get(call.id)
        if item is None:
            raise AgentError(f"call {call.id!r} does not ask any more", hint="ask the agent again")
        if is_allowed(call):
            state.approve(item)
        else:
            state.reject(item, rejection_message=reason_of(call))
    return state


def _state_in(request: AgentRequest) -> dict[str, Any]:
    """The state of the message at hand, if that is what the session has kept."""
    try:
        known: Json = loads(request.session_id or "null")
    except DecodeError:
        known = None
    if is_object(known) and known.get("messageId") == request.message_id and is_object(known.get("state")):
        state: dict[str, Any] = known["state"]
        return state
    raise AgentError(
        "the state of the run that asked is not there",
        where=f"message {request.message_id}",
        hint="only the agent that asked can continue it; give an input to start a new run",
    )
