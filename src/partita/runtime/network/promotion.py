"""Calls within an execution that wait for a client, repeated in the execution's own message ("promoted").

A client can only respond to calls of the message itself: `useChat` sees no others, and approvals and outputs
are stored with them. So a call that waits in a nested message is added to the outer one, under the same ids,
with the path to the original. The result of the original is then reported for both.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from partita.formats.core.metadata import KEY, NETWORK_PATH, network_path
from partita.runtime.agent.calls import open_calls
from partita.runtime.run_fold import RunFold
from partita.runtime.tools.outputs import chunk_of_output
from partita.types.chunks import (
    Chunk,
    StepStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.json import Json
from partita.types.messages import AssistantMessage, ToolCallPart

WAITING: Final = frozenset({"approval-requested", "input-available"})
"""States of calls that wait for a client once their agent has stopped."""


def waiting_calls(message: AssistantMessage) -> list[ToolCallPart]:
    """The calls of a message's last step that wait for a client."""
    return [call for call in open_calls(message) if call.state in WAITING]


def promoted_path(call: ToolCallPart) -> tuple[str, ...]:
    """The path to the original of a promoted call; empty for any other call."""
    return network_path(call.call_provider_metadata)


class Promotion:
    """The promoted calls of one execution."""

    def __init__(self, path: str, resumed: AssistantMessage | None = None) -> None:
        """`path` is the call that represents the execution; `resumed` is the message that it continues."""
        self._path = path
        self._open = set[str]() if resumed is None else {call.id for call in open_calls(resumed)}
        self._approvals: set[str] = set()
        self._has_step = False
        self.is_used = bool(resumed is not None and any(map(_is_promoted, resumed.parts)))
        """Whether the message contains a promoted call."""

    def promote(self, calls: Sequence[ToolCallPart]) -> list[Chunk]:
        """The chunks that add calls to the message, except for those that were added before.

        They are in a step of their own: a client continues once all calls of the last step have a response,
        and the execution itself, which it sees as a call too, has none.
        """
        new = [call for call in calls if call.id not in self._open]
        chunks: list[Chunk] = [StepStart()] if new and not self._has_step else []
        for call in new:
            self._open.add(call.id)
            chunks += self._copy(call)
        self._has_step = self._has_step or bool(new)
        self.is_used = self.is_used or bool(new)
        return chunks

    def _copy(self, call: ToolCallPart) -> list[Chunk]:
        path: list[Json] = [self._path, *promoted_path(call)]
        copied: list[Chunk] = [
            ToolInputAvailable(
                call.id,
                call.name,
                {} if call.input is UNSET else call.input,
                provider_metadata={KEY: {NETWORK_PATH: path}},
                tool_metadata=call.tool_metadata,
                dynamic=call.dynamic or None,
                title=call.title,
            )
        ]
        approval = call.approval
        if call.state == "approval-requested" and approval is not None:
            self._approvals.add(approval.id)
            copied.append(
                ToolApprovalRequest(
                    approval.id,
                    call.id,
                    approval_descriptor=approval.descriptor,
                    input_schema_input=approval.input_schema_input,
                    reason=approval.request_reason,
                    is_automatic=approval.is_automatic,
                    signature=approval.signature,
                )
            )
        return copied

    def follow(self, chunk: Chunk, nested: RunFold | None = None) -> list[Chunk]:
        """What a chunk of the nested messages adds to this one: approval requests, decisions, outputs."""
        match chunk:
            case ToolApprovalRequest(tool_call_id=call_id) if nested is not None:
                waiting = waiting_calls(nested.snapshot()[-1])
                return self.promote([call for call in waiting if call.id == call_id])
            case ToolApprovalResponse(approval_id=approval_id) if approval_id in self._approvals:
                return [chunk]
            case ToolOutputAvailable(preliminary=True) | ToolOutputChunk(preliminary=True):
                return [chunk] if chunk.tool_call_id in self._open else []
            case ToolOutputAvailable() | ToolOutputChunk() | ToolOutputError() | ToolOutputDenied():
                if chunk.tool_call_id not in self._open:
                    return []
                self._open.discard(chunk.tool_call_id)
                return [chunk]
            case _:
                return []


def nested_replies(message: AssistantMessage, nested: AssistantMessage) -> list[Chunk]:
    """The decisions and outputs of promoted calls, for the originals in the nested message."""
    promoted = {part.id: part for part in message.parts if isinstance(part, ToolCallPart)}
    replies: list[Chunk] = []
    for call in open_calls(nested):
        match promoted.get(call.id):
            case ToolCallPart(state="approval-responded", approval=approval) if approval is not None:
                replies.append(ToolApprovalResponse(approval.id, bool(approval.approved), approval.reason))
            case ToolCallPart(output=output) if output is not None:
                replies.append(chunk_of_output(call.id, output))
            case _:
                pass
    return replies


def _is_promoted(part: object) -> bool:
    return isinstance(part, ToolCallPart) and bool(promoted_path(part))
