"""Everything that is neither text nor a tool call: the message itself, steps, files, sources, data."""

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import StreamError
from partita.types.chunks import (
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
    ReasoningFileChunk,
    SourceDocumentChunk,
    SourceUrlChunk,
    SteeringMessageChunk,
    StepFinish,
    StepReset,
    StepStart,
)
from partita.types.json import JsonObject
from partita.types.messages import NetworkExecution
from partita.types.parts import (
    CustomPart,
    DataPart,
    FilePart,
    ReasoningFilePart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
)
from partita.types.value import kept

from .metadata import merge_metadata
from .slots import NetworkSlot
from .state import State, empty_message


def message_start(state: State, chunk: MessageStart) -> bool:
    """Begin, or go on. Another id means another message: what came before is forgotten."""
    if chunk.message_id is not None and chunk.message_id != state.id:
        state.begin(empty_message(chunk.message_id, like=state.base))
        state.finish_reason = None
    changed = message_metadata(state, MessageMetadata(chunk.message_metadata))
    return changed or chunk.message_id is not None


def message_finish(state: State, chunk: MessageFinish) -> bool:
    """Note why the message ended, and merge its last metadata."""
    changed = message_metadata(state, MessageMetadata(chunk.message_metadata))
    if chunk.finish_reason is not None:
        state.finish_reason = chunk.finish_reason
    return changed


def message_abort(state: State, chunk: MessageAbort) -> bool:
    """Nothing changes: what came so far stays, and more may come."""
    return False


def message_metadata(state: State, chunk: MessageMetadata) -> bool:
    """Merge metadata."""
    if chunk.message_metadata is UNSET or chunk.message_metadata is None:
        return False
    state.metadata = merge_metadata(state.metadata, chunk.message_metadata)
    return True


def error(state: State, chunk: ErrorChunk) -> bool:
    """Report an error beside the message."""
    state.errors.append(chunk.error_text)
    return False


def step_start(state: State, chunk: StepStart) -> bool:
    """Mark where a model call begins; seen with the next change."""
    state.push(StepStartPart())
    return False


def step_finish(state: State, chunk: StepFinish) -> bool:
    """Mark nothing; older readers forget what is open."""
    if state.rules.step_end_closes_blocks:
        state.close_blocks()
    return False


def step_reset(state: State, chunk: StepReset) -> bool:
    """Forget the parts of the current step."""
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
    """Add what the user said in between."""
    state.push(SteeringMessagePart(chunk.id, chunk.parts))
    return True


def data(state: State, chunk: DataChunk) -> bool:
    """Add data, or replace what has the same name and id. Transient data leaves no trace."""
    if chunk.transient:
        return False
    slot = None if chunk.id is None else state.data.get((chunk.name, chunk.id))
    if slot is not None:
        slot.part = replace(slot.part, data=chunk.data)
        return True
    fields: JsonObject = dict(chunk.extra or {})
    if chunk.transient is not None:
        fields["transient"] = chunk.transient
    state.push(DataPart(chunk.name, chunk.data, chunk.id, extra=kept(fields, DataPart)))
    return True


def begun_execution(chunk: NetworkExecutionStart) -> NetworkExecution:
    """The execution that a chunk starts, without a result."""
    return NetworkExecution(
        chunk.primitive_type,
        chunk.primitive_id,
        chunk.selection_reason,
        chunk.input,
        iteration=chunk.iteration,
    )


def network_execution_start(state: State, chunk: NetworkExecutionStart) -> bool:
    """Record what a network chose and why. A message holds one execution; the same chunk may come again."""
    execution = begun_execution(chunk)
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
    """Note what came of the choice."""
    if state.network is None:
        raise StreamError(
            "network-execution-end without a start",
            hint="send network-execution-start first",
            chunk_type="network-execution-end",
        )
    network, result = state.network, chunk.final_result
    known = network.settle().final_result
    if result is not None and result.messages:
        network.children = None  # it says itself what came before
    elif result is not None and known is not None:
        result = replace(result, messages=known.messages)
    network.execution = replace(network.execution, final_result=result)
    return True
