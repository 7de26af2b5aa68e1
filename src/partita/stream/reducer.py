"""What each chunk does to the message so far: one table. Sub-agents use it again, under their call."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from msgspec.structs import replace

from partita.errors import StreamError
from partita.types import chunks as c
from partita.types.chunks import ChildChunk, ChildMessage, Chunk, MessageStart, starts_internal
from partita.types.messages import AssistantMessage, Message, network_call

from . import reduce_blocks, reduce_message, reduce_tools
from .rules import RULES, Rules, Version
from .slots import CallSlot, NetworkSlot
from .state import State, empty_message

Handler: TypeAlias = Callable[[State, Any], bool]


def pass_over(state: State, chunk: Chunk) -> bool:
    """Do nothing: the reader of this version does not know the chunk."""
    return False


def reduce(state: State, chunk: Chunk) -> bool:
    """Apply one chunk; whether the message changed for those who watch it."""
    return handlers_of(state.rules.version).get(type(chunk), pass_over)(state, chunk)


@cache
def handlers_of(version: Version) -> Mapping[type[Chunk], Handler]:
    """The table of one version, without the chunks it does not know."""
    ignored = RULES[version].ignored
    return {type_: handler for type_, handler in HANDLERS.items() if type_ not in ignored}


class ChildThread:
    """The messages of a sub-agent; the last one may still be growing."""

    def __init__(self, name: str, messages: tuple[Message, ...], growing: State | None = None) -> None:
        self._name = name  # the id of the call, from which ids are made for messages that bring none
        self._whole = list(messages)
        self.growing = growing

    def messages(self) -> tuple[Message, ...]:
        """The messages as they are now."""
        return (*self._whole, *([self.growing.snapshot()] if self.growing else ()))

    def feed(self, chunk: Chunk, rules: Rules) -> bool:
        """Apply a chunk to the growing message, or to a new one that it starts."""
        state = self.growing
        starts = chunk.message_id if isinstance(chunk, MessageStart) else None
        if state is None or (starts is not None and starts != state.id):
            message = self._next(starts)
            if isinstance(chunk, MessageStart) and starts_internal(chunk):
                message = replace(message, internal=True)
            state = State(message, rules)
        changed = reduce(state, chunk)
        if state is not self.growing:
            self._settle()
            if self._whole and self._whole[-1].id == state.id:
                self._whole.pop()
            self.growing = state
        return changed

    def append(self, message: Message) -> None:
        """Add a whole message at the end."""
        self._settle()
        self._whole.append(message)

    def _settle(self) -> None:
        if self.growing is not None:
            self._whole.append(self.growing.snapshot())
            self.growing = None

    def _next(self, starts: str | None) -> AssistantMessage:
        last = self._whole[-1] if self._whole and self.growing is None else None
        if isinstance(last, AssistantMessage) and starts in (None, last.id):
            return last
        return empty_message(starts or f"{self._name}/{len(self.messages()) + 1}")


def child_chunk(state: State, chunk: ChildChunk) -> bool:
    """Apply a chunk to the message of a sub-agent."""
    parent, rest = _descend(state, chunk.path)
    inner = ChildChunk(rest, chunk.chunk) if rest else chunk.chunk
    thread = _thread_of(parent, chunk.path[0])
    changed = thread.feed(inner, state.rules)
    parent.children = thread
    return changed


def child_message(state: State, chunk: ChildMessage) -> bool:
    """Add a whole message to a sub-agent's thread."""
    parent, rest = _descend(state, chunk.path)
    thread = _thread_of(parent, chunk.path[0])
    if rest:
        thread.feed(ChildMessage(rest, chunk.message), state.rules)
    else:
        thread.append(chunk.message)
    parent.children = thread
    return True


def _descend(state: State, path: tuple[str, ...]) -> tuple[CallSlot | NetworkSlot, tuple[str, ...]]:
    """What a path begins with, a call or the network execution, and the rest of the path."""
    parent = state.call_anywhere(path[0]) if path else None
    if parent is None and state.network is not None and path and path[0] == network_call(state.id):
        return state.network, path[1:]
    if parent is None:
        raise StreamError(
            f"no tool call {path[0]!r} for a sub-agent" if path else "a sub-agent's path is empty",
            hint="send the call first; the path lists the calls from the outermost to the innermost",
            chunk_type="child",
            chunk_id="/".join(path),
        )
    return parent, path[1:]


def _thread_of(parent: CallSlot | NetworkSlot, name: str) -> ChildThread:
    if isinstance(parent.children, ChildThread):
        return parent.children
    if isinstance(parent, CallSlot):
        return ChildThread(parent.part.id, parent.part.children)
    result = parent.execution.final_result
    return ChildThread(name, () if result is None else result.messages)


# What each chunk does. A handler gives whether the message changed for those who watch it.
HANDLERS: Mapping[type[Chunk], Handler] = {
    c.MessageStart: reduce_message.message_start,
    c.MessageFinish: reduce_message.message_finish,
    c.MessageAbort: reduce_message.message_abort,
    c.MessageMetadata: reduce_message.message_metadata,
    c.ErrorChunk: reduce_message.error,
    c.StepStart: reduce_message.step_start,
    c.StepFinish: reduce_message.step_finish,
    c.StepReset: reduce_message.step_reset,
    c.TextStart: reduce_blocks.text_start,
    c.TextDelta: reduce_blocks.block_delta,
    c.TextEnd: reduce_blocks.block_end,
    c.ReasoningStart: reduce_blocks.reasoning_start,
    c.ReasoningDelta: reduce_blocks.block_delta,
    c.ReasoningEnd: reduce_blocks.block_end,
    c.FileChunk: reduce_message.file,
    c.ReasoningFileChunk: reduce_message.reasoning_file,
    c.SourceUrlChunk: reduce_message.source_url,
    c.SourceDocumentChunk: reduce_message.source_document,
    c.CustomChunk: reduce_message.custom,
    c.SteeringMessageChunk: reduce_message.steering_message,
    c.DataChunk: reduce_message.data,
    c.ToolInputStart: reduce_tools.tool_input_start,
    c.ToolInputDelta: reduce_tools.tool_input_delta,
    c.ToolInputAvailable: reduce_tools.tool_input_available,
    c.ToolInputError: reduce_tools.tool_input_error,
    c.ToolApprovalRequest: reduce_tools.tool_approval_request,
    c.ToolApprovalResponse: reduce_tools.tool_approval_response,
    c.ToolOutputAvailable: reduce_tools.tool_output_available,
    c.ToolOutputError: reduce_tools.tool_output_error,
    c.ToolOutputDenied: reduce_tools.tool_output_denied,
    c.ToolOutputChunk: reduce_tools.tool_output,
    c.NetworkExecutionStart: reduce_message.network_execution_start,
    c.NetworkExecutionEnd: reduce_message.network_execution_end,
    c.ChildChunk: child_chunk,
    c.ChildMessage: child_message,
}
