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
from partita.runtime.session.client_outputs import SERVER_CALLS
from partita.runtime.tools.chunks import chunk_of_output
from partita.types.chunks import Chunk, MessageMetadata, ToolInputAvailable
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


def shown(
    result: RunResultStreaming, seed: AssistantMessage | None, client_tools: Collection[str]
) -> list[Chunk]:
    """The nested calls that a run waits with, and which calls without an output the run itself continues."""
    calls = [part for part in (() if seed is None else seed.parts) if isinstance(part, ToolCallPart)]
    names = {call.id: call.name for call in calls if call.output is None}
    for item in result.new_items:
        call_id = _call_id(item.raw_item)
        if isinstance(item, ToolCallItem) and call_id is not None:
            names[call_id] = str(getattr(item.raw_item, "name", ""))
        elif isinstance(item, ToolCallOutputItem):
            names.pop(call_id or "", None)
    known = {call.id for call in calls} | names.keys()
    asking = {call_id_of(item): item for item in result.interruptions}
    chunks: list[Chunk] = [_call(id_, item) for id_, item in asking.items() if id_ not in known]
    on_server = [id_ for id_, name in names.items() if id_ not in asking and name not in client_tools]
    if asking and on_server:
        chunks.append(MessageMetadata({SERVER_CALLS: [*on_server]}))
    return chunks


def _call(call_id: str, item: ToolApprovalItem) -> Chunk:
    arguments = item.arguments
    try:
        given: Json = loads(arguments) if arguments else {}
    except DecodeError:
        given = arguments
    return ToolInputAvailable(call_id, item.name or "", given, provider_metadata=NESTED, dynamic=True)


def _call_id(raw: Any) -> str | None:
    found: Any = raw.get("call_id") if is_object(raw) else getattr(raw, "call_id", None)
    return found if isinstance(found, str) else None
