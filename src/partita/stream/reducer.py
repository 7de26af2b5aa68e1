"""The effect of each chunk on the message: a table of handlers. It is also applied to sub-agents."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import StreamError
from partita.types import chunks as c
from partita.types.chunks import (
    ChildChunk,
    ChildMessage,
    Chunk,
    CustomChunk,
    DataChunk,
    ErrorChunk,
    FileChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    SourceDocumentChunk,
    SourceUrlChunk,
    SteeringMessageChunk,
    StepFinish,
    StepReset,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    starts_internal,
)
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, Message, NetworkExecution, network_call_id
from partita.types.parts import (
    CustomPart,
    DataPart,
    FilePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
)
from partita.types.value import keep_fields

from .state import RULES, BlockSlot, CallSlot, NetworkSlot, Rules, State, Version, empty_message
from .tool_handlers import (
    tool_approval_request,
    tool_approval_response,
    tool_input_available,
    tool_input_delta,
    tool_input_error,
    tool_input_start,
    tool_output,
    tool_output_available,
    tool_output_denied,
    tool_output_error,
)

# Text and reasoning


def text_start(state: State, chunk: TextStart) -> bool:
    """Open a text. An open text with the same id receives no more deltas."""
    block = BlockSlot(TextPart("", state="streaming", provider_metadata=chunk.provider_metadata))
    state.texts[chunk.id] = block
    state.push_block(block)
    return True


def reasoning_start(state: State, chunk: ReasoningStart) -> bool:
    """Open a reasoning."""
    part = ReasoningPart("", id=chunk.id, state="streaming", provider_metadata=chunk.provider_metadata)
    block = BlockSlot(part)
    state.reasonings[chunk.id] = block
    state.push_block(block)
    return True


def block_delta(state: State, chunk: TextDelta | ReasoningDelta) -> bool:
    """Add a piece to a text or a reasoning."""
    blocks = state.texts if type(chunk) is TextDelta else state.reasonings
    block = blocks.get(chunk.id)
    if block is None:
        raise _not_open(chunk)
    block.pieces.append(chunk.delta)
    if chunk.provider_metadata is not None:
        block.change(provider_metadata=chunk.provider_metadata)
    return True


def block_end(state: State, chunk: TextEnd | ReasoningEnd) -> bool:
    """Close a text or a reasoning."""
    blocks = state.texts if type(chunk) is TextEnd else state.reasonings
    block = blocks.pop(chunk.id, None)
    if block is None:
        raise _not_open(chunk)
    block.change(state="done")
    if chunk.provider_metadata is not None:
        block.change(provider_metadata=chunk.provider_metadata)
    if isinstance(chunk, TextEnd) and chunk.citations is not None and state.rules.citations:
        block.change(citations=chunk.citations)
    return True


def _not_open(chunk: TextDelta | TextEnd | ReasoningDelta | ReasoningEnd) -> StreamError:
    type_ = str(chunk.__struct_config__.tag)
    kind = type_.partition("-")[0]
    return StreamError(
        f"{type_} for {chunk.id!r}, which is not open",
        hint=f"send {kind}-start with id {chunk.id!r} first, and nothing for it after its {kind}-end",
        chunk_type=type_,
        chunk_id=chunk.id,
    )


# Metadata is merged as the AI SDK does it in JavaScript, including values of unusual types.

UNSAFE_KEYS = frozenset({"__proto__", "constructor", "prototype"})


def merge_metadata(base: Json | UnsetType, update: Json) -> Json:
    """`update` merged into `base`: objects recursively; other values are replaced."""
    if base is UNSET or base is None:
        return update
    return _merge(base, update)


def _merge(base: Json, update: Json) -> JsonObject:
    result = dict(_members(base))
    for key, value in _members(update):
        if key in UNSAFE_KEYS:
            continue
        if not isinstance(base, (dict, list)):
            raise StreamError(
                "metadata is not an object, so nothing can be merged into it",
                hint="let the first metadata of a message be an object",
            )
        old = result.get(key)
        result[key] = _merge(old, value) if is_object(old) and is_object(value) else value
    return result


def _members(value: Json) -> Iterator[tuple[str, Json]]:
    """The members of a value that is spread in JavaScript: those of arrays and strings are numbered."""
    if is_object(value):
        yield from value.items()
    elif is_array(value):
        yield from ((str(index), item) for index, item in enumerate(value))
    elif isinstance(value, str):
        # JavaScript counts UTF-16 units.
        halves = value.encode("utf-16-le", "surrogatepass")
        for index in range(0, len(halves), 2):
            yield str(index // 2), halves[index : index + 2].decode("utf-16-le", "surrogatepass")


# The message itself, steps, files, sources, data


def message_start(state: State, chunk: MessageStart) -> bool:
    """Start or continue the message. If the id differs, the previous message is dropped."""
    if chunk.message_id is not None and chunk.message_id != state.id:
        state.begin(empty_message(chunk.message_id, like=state.base))
        state.finish_reason = None
    changed = message_metadata(state, MessageMetadata(chunk.message_metadata))
    return changed or chunk.message_id is not None


def message_finish(state: State, chunk: MessageFinish) -> bool:
    """Set the finish reason and merge metadata."""
    changed = message_metadata(state, MessageMetadata(chunk.message_metadata))
    if chunk.finish_reason is not None:
        state.finish_reason = chunk.finish_reason
    return changed


def message_abort(state: State, chunk: MessageAbort) -> bool:
    """Change nothing: the parts so far stay, and more chunks may follow."""
    return False


def message_metadata(state: State, chunk: MessageMetadata) -> bool:
    """Merge metadata."""
    if chunk.message_metadata is UNSET or chunk.message_metadata is None:
        return False
    state.metadata = merge_metadata(state.metadata, chunk.message_metadata)
    return True


def error(state: State, chunk: ErrorChunk) -> bool:
    """Add an error, which is not part of the message."""
    state.errors.append(chunk.error_text)
    return False


def step_start(state: State, chunk: StepStart) -> bool:
    """Add a step start, which becomes visible with the next change."""
    state.push(StepStartPart())
    return False


def step_finish(state: State, chunk: StepFinish) -> bool:
    """End the step; older readers close its open blocks."""
    if state.rules.step_end_closes_blocks:
        state.close_blocks()
    return False


def step_reset(state: State, chunk: StepReset) -> bool:
    """Remove the parts of the current step."""
    return state.drop_step()


def file(state: State, chunk: FileChunk) -> bool:
    """Add a file."""
    metadata = chunk.provider_metadata if state.rules.file_metadata else None
    state.push(FilePart(chunk.url, chunk.media_type, provider_metadata=metadata))
    return True


def reasoning_file(state: State, chunk: ReasoningFileChunk) -> bool:
    """Add a file of the reasoning."""
    state.push(ReasoningFilePart(chunk.url, chunk.media_type, provider_metadata=chunk.provider_metadata))
    return True


def source_url(state: State, chunk: SourceUrlChunk) -> bool:
    """Add a source."""
    metadata = chunk.provider_metadata
    state.push(SourceUrlPart(chunk.source_id, chunk.url, chunk.title, provider_metadata=metadata))
    return True


def source_document(state: State, chunk: SourceDocumentChunk) -> bool:
    """Add a source."""
    state.push(
        SourceDocumentPart(
            chunk.source_id,
            chunk.media_type,
            chunk.title,
            chunk.filename,
            provider_metadata=chunk.provider_metadata,
        )
    )
    return True


def custom(state: State, chunk: CustomChunk) -> bool:
    """Add content of one provider."""
    state.push(CustomPart(chunk.kind, provider_metadata=chunk.provider_metadata))
    return True


def steering_message(state: State, chunk: SteeringMessageChunk) -> bool:
    """Add a message that the user sent in between."""
    state.push(SteeringMessagePart(chunk.id, chunk.parts))
    return True


def data(state: State, chunk: DataChunk) -> bool:
    """Add data, or replace data with the same name and id. Transient data is ignored."""
    if chunk.transient:
        return False
    slot = None if chunk.id is None else state.data.get((chunk.name, chunk.id))
    if slot is not None:
        slot.part = replace(slot.part, data=chunk.data)
        return True
    fields: JsonObject = dict(chunk.extra or {})
    if chunk.transient is not None:
        fields["transient"] = chunk.transient
    state.push(DataPart(chunk.name, chunk.data, chunk.id, extra=keep_fields(fields, DataPart)))
    return True


def started_execution(chunk: NetworkExecutionStart) -> NetworkExecution:
    """The execution that a chunk starts, without a result."""
    return NetworkExecution(
        chunk.primitive_type,
        chunk.primitive_id,
        chunk.selection_reason,
        chunk.input,
        iteration=chunk.iteration,
    )


def network_execution_start(state: State, chunk: NetworkExecutionStart) -> bool:
    """Start a network execution. A message has one execution; the same chunk may be repeated."""
    execution = started_execution(chunk)
    if state.network is None:
        state.network = NetworkSlot(execution)
        return True
    if replace(state.network.execution, final_result=None) == execution:
        return False
    raise StreamError(
        f"a second network-execution-start, for {chunk.primitive_type} {chunk.primitive_id!r}",
        hint="each execution is a message of its own: send a start with another id before it",
        chunk_type="network-execution-start",
        chunk_id=chunk.primitive_id,
    )


def network_execution_end(state: State, chunk: NetworkExecutionEnd) -> bool:
    """Set the result of the network execution."""
    if state.network is None:
        raise StreamError(
            "network-execution-end without a start",
            hint="send network-execution-start first",
            chunk_type="network-execution-end",
        )
    network, result = state.network, chunk.final_result
    known = network.value().final_result
    if result is not None and result.messages:
        network.children = None  # the result has its own messages
    elif result is not None and known is not None:
        result = replace(result, messages=known.messages)
    network.execution = replace(network.execution, final_result=result)
    return True


Handler: TypeAlias = Callable[[State, Any], bool]


def ignore(state: State, chunk: Chunk) -> bool:
    """Ignore a chunk that the reader of this version does not know."""
    return False


def reduce(state: State, chunk: Chunk) -> bool:
    """Apply a chunk; return whether the message changed."""
    return handlers_of(state.rules.version).get(type(chunk), ignore)(state, chunk)


@cache
def handlers_of(version: Version) -> Mapping[type[Chunk], Handler]:
    """The table of one version, without the chunks it does not know."""
    ignored = RULES[version].ignored
    return {type_: handler for type_, handler in HANDLERS.items() if type_ not in ignored}


class ChildThread:
    """The messages of a sub-agent. The last one may be unfinished."""

    def __init__(self, name: str, messages: tuple[Message, ...], growing: State | None = None) -> None:
        self._name = name  # the id of the call, from which ids of messages without one are derived
        self._whole = list(messages)
        self.growing = growing

    def messages(self) -> tuple[Message, ...]:
        """The current messages."""
        return (*self._whole, *([self.growing.snapshot()] if self.growing else ()))

    def feed(self, chunk: Chunk, rules: Rules) -> bool:
        """Apply a chunk to the last message, or to a new one that it starts."""
        state = self.growing
        starts = chunk.message_id if isinstance(chunk, MessageStart) else None
        if state is None or (starts is not None and starts != state.id):
            message = self._next(starts)
            if isinstance(chunk, MessageStart) and starts_internal(chunk):
                message = replace(message, internal=True)
            state = State(message, rules)
        changed = reduce(state, chunk)
        if state is not self.growing:
            self._finish_current()
            if self._whole and self._whole[-1].id == state.id:
                self._whole.pop()
            self.growing = state
        return changed

    def append(self, message: Message) -> None:
        """Add a whole message at the end."""
        self._finish_current()
        self._whole.append(message)

    def _finish_current(self) -> None:
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
    """Add a whole message to the messages of a sub-agent."""
    parent, rest = _descend(state, chunk.path)
    thread = _thread_of(parent, chunk.path[0])
    if rest:
        thread.feed(ChildMessage(rest, chunk.message), state.rules)
    else:
        thread.append(chunk.message)
    parent.children = thread
    return True


def _descend(state: State, path: tuple[str, ...]) -> tuple[CallSlot | NetworkSlot, tuple[str, ...]]:
    """The first element of a path (a call or the network execution), and the rest of the path."""
    parent = state.call_anywhere(path[0]) if path else None
    if parent is None and state.network is not None and path and path[0] == network_call_id(state.id):
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


# A handler returns whether the message changed.
HANDLERS: Mapping[type[Chunk], Handler] = {
    c.MessageStart: message_start,
    c.MessageFinish: message_finish,
    c.MessageAbort: message_abort,
    c.MessageMetadata: message_metadata,
    c.ErrorChunk: error,
    c.StepStart: step_start,
    c.StepFinish: step_finish,
    c.StepReset: step_reset,
    c.TextStart: text_start,
    c.TextDelta: block_delta,
    c.TextEnd: block_end,
    c.ReasoningStart: reasoning_start,
    c.ReasoningDelta: block_delta,
    c.ReasoningEnd: block_end,
    c.FileChunk: file,
    c.ReasoningFileChunk: reasoning_file,
    c.SourceUrlChunk: source_url,
    c.SourceDocumentChunk: source_document,
    c.CustomChunk: custom,
    c.SteeringMessageChunk: steering_message,
    c.DataChunk: data,
    c.ToolInputStart: tool_input_start,
    c.ToolInputDelta: tool_input_delta,
    c.ToolInputAvailable: tool_input_available,
    c.ToolInputError: tool_input_error,
    c.ToolApprovalRequest: tool_approval_request,
    c.ToolApprovalResponse: tool_approval_response,
    c.ToolOutputAvailable: tool_output_available,
    c.ToolOutputError: tool_output_error,
    c.ToolOutputDenied: tool_output_denied,
    c.ToolOutputChunk: tool_output,
    c.NetworkExecutionStart: network_execution_start,
    c.NetworkExecutionEnd: network_execution_end,
    c.ChildChunk: child_chunk,
    c.ChildMessage: child_message,
}
