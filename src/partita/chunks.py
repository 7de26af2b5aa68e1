"""The chunks of a stream, which `Accumulator` turns into messages."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .types.chunks import ChildChunk as ChildChunk
    from .types.chunks import ChildMessage as ChildMessage
    from .types.chunks import Chunk as Chunk
    from .types.chunks import CustomChunk as CustomChunk
    from .types.chunks import DataChunk as DataChunk
    from .types.chunks import ErrorChunk as ErrorChunk
    from .types.chunks import FileChunk as FileChunk
    from .types.chunks import MessageAbort as MessageAbort
    from .types.chunks import MessageFinish as MessageFinish
    from .types.chunks import MessageMetadata as MessageMetadata
    from .types.chunks import MessageStart as MessageStart
    from .types.chunks import NetworkExecutionEnd as NetworkExecutionEnd
    from .types.chunks import NetworkExecutionStart as NetworkExecutionStart
    from .types.chunks import ReasoningDelta as ReasoningDelta
    from .types.chunks import ReasoningEnd as ReasoningEnd
    from .types.chunks import ReasoningFileChunk as ReasoningFileChunk
    from .types.chunks import ReasoningStart as ReasoningStart
    from .types.chunks import SourceDocumentChunk as SourceDocumentChunk
    from .types.chunks import SourceUrlChunk as SourceUrlChunk
    from .types.chunks import SteeringMessageChunk as SteeringMessageChunk
    from .types.chunks import StepFinish as StepFinish
    from .types.chunks import StepReset as StepReset
    from .types.chunks import StepStart as StepStart
    from .types.chunks import TextDelta as TextDelta
    from .types.chunks import TextEnd as TextEnd
    from .types.chunks import TextStart as TextStart
    from .types.chunks import ToolApprovalRequest as ToolApprovalRequest
    from .types.chunks import ToolApprovalResponse as ToolApprovalResponse
    from .types.chunks import ToolInputAvailable as ToolInputAvailable
    from .types.chunks import ToolInputDelta as ToolInputDelta
    from .types.chunks import ToolInputError as ToolInputError
    from .types.chunks import ToolInputStart as ToolInputStart
    from .types.chunks import ToolOutputAvailable as ToolOutputAvailable
    from .types.chunks import ToolOutputChunk as ToolOutputChunk
    from .types.chunks import ToolOutputDenied as ToolOutputDenied
    from .types.chunks import ToolOutputError as ToolOutputError
    from .types.chunks import UnknownChunk as UnknownChunk

# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.types.chunks": (
        "ChildChunk",
        "ChildMessage",
        "Chunk",
        "CustomChunk",
        "DataChunk",
        "ErrorChunk",
        "FileChunk",
        "MessageAbort",
        "MessageFinish",
        "MessageMetadata",
        "MessageStart",
        "NetworkExecutionEnd",
        "NetworkExecutionStart",
        "ReasoningDelta",
        "ReasoningEnd",
        "ReasoningFileChunk",
        "ReasoningStart",
        "SourceDocumentChunk",
        "SourceUrlChunk",
        "SteeringMessageChunk",
        "StepFinish",
        "StepReset",
        "StepStart",
        "TextDelta",
        "TextEnd",
        "TextStart",
        "ToolApprovalRequest",
        "ToolApprovalResponse",
        "ToolInputAvailable",
        "ToolInputDelta",
        "ToolInputError",
        "ToolInputStart",
        "ToolOutputAvailable",
        "ToolOutputChunk",
        "ToolOutputDenied",
        "ToolOutputError",
        "UnknownChunk",
    ),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
