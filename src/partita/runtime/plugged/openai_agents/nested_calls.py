"""Calls of an agent that is used as a tool, and that need an approval.

Such a call is not in the answer of the agent that is talked to. It is shown beside it, so that it can be
approved; the models do not see it there. The call of the tool itself stays without an output until then: it
is not the client's to run.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

from agents import RunResultStreaming
from agents.items import ToolApprovalItem, ToolCallItem, ToolCallOutputItem
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.runtime.plugged.replies import is_allowed, reason_of
from partita.runtime.tools.chunks import chunk_of_output
from partita.types.chunks import Chunk, ToolInputAvailable
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.tools import ExecutionDeniedOutput, JsonOutput

from .state import call_id_of

NESTED: Final[JsonObject] = {"openai-agents": {"nested": True}}


def is_nested(call: ToolCallPart) -> bool:
    """Whether a call was made by an agent that is used as a tool."""
    return is_object(call.call_provider_metadata) and NESTED.items() <= call.call_provider_metadata.items()


def without_nested(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages as the models of the agent see them."""
    return tuple(_without(one) if isinstance(one, AssistantMessage) else one for one in messages)


def _without(message: AssistantMessage) -> AssistantMessage:
    kept = tuple(part for part in message.parts if not (isinstance(part, ToolCallPart) and is_nested(part)))
    return replace(message, content=replace(message.content, parts=kept))


def outputs_of(decided: Collection[ToolCallPart]) -> list[Chunk]:
    """What becomes of nested calls that were decided: only the agent that made them sees their outputs."""
    return [
        chunk_of_output(
            call.id, JsonOutput(True) if is_allowed(call) else ExecutionDeniedOutput(reason_of(call))
        )
        for call in decided
        if is_nested(call)
    ]


def nested_calls(result: RunResultStreaming, seed: AssistantMessage | None) -> dict[str, ToolApprovalItem]:
    """The nested calls that a run waits with and that are not shown yet, by id."""
    known = _calls_in(seed).keys() | _calls_made(result).keys()
    asking = {call_id_of(item): item for item in result.interruptions}
    return {call_id: item for call_id, item in asking.items() if call_id not in known}


def server_calls(
    result: RunResultStreaming, seed: AssistantMessage | None, client_tools: Collection[str]
) -> list[str]:
    """The calls without an output that a run which waits will itself continue."""
    asking = {call_id_of(item) for item in result.interruptions}
    open_calls = {**_calls_in(seed, ended=False), **_calls_made(result)}
    ended = {_call_id(item.raw_item) for item in result.new_items if isinstance(item, ToolCallOutputItem)}
    return [
        call_id
        for call_id, name in open_calls.items()
        if asking and call_id not in asking | ended and name not in client_tools
    ]


def _calls_in(seed: AssistantMessage | None, *, ended: bool = True) -> dict[str, str]:
    """The names of the calls in a message by id, with or without those that have an output."""
    calls = [part for part in (() if seed is None else seed.parts) if isinstance(part, ToolCallPart)]
    return {call.id: call.name for call in calls if ended or call.output is None}


def _calls_made(result: RunResultStreaming) -> dict[str, str]:
    """The names of the calls that the models of a run made, by id."""
    items = [item.raw_item for item in result.new_items if isinstance(item, ToolCallItem)]
    return {id_: str(getattr(raw, "name", "")) for raw in items if (id_ := _call_id(raw)) is not None}


def shown(item: ToolApprovalItem) -> Chunk:
    """The chunk that shows a nested call."""
    arguments = item.arguments
    try:
        given: Json = loads(arguments) if arguments else {}
    except DecodeError:
        given = arguments
    return ToolInputAvailable(
        call_id_of(item), item.name or "", given, provider_metadata=NESTED, dynamic=True
    )


def _call_id(raw: Any) -> str | None:
    found: Any = raw.get("call_id") if is_object(raw) else getattr(raw, "call_id", None)
    return found if isinstance(found, str) else None
