"""The stream vocabulary: the AI SDK's UI message chunks (7.0.169) and five of our own.

Ours are `network-execution-start`, `network-execution-end`, `tool-output-typed` for outputs that are more
than bare JSON, and two envelopes that address a sub-agent by the path of tool calls that lead to it: `child`
brings a chunk, `child-message` a whole message.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError

from .json import Json, JsonObject, is_object
from .messages import Message, NetworkResult, PrimitiveType
from .parts import Citation, FilePart, ForeignPart, TextPart, UnknownPart
from .tools import ToolOutput
from .value import Extra, Value

DATA_PREFIX = "data-"


class ChunkBase(Value, tag_field="type", gc=False):
    """What every chunk is: a value told apart by its `type`.

    Chunks come in great number and hold nothing that could hold them: the garbage collector need not look.
    """


class MessageStart(ChunkBase, tag="start"):
    """A message begins, or goes on under the same id."""

    message_id: str | None = None
    message_metadata: Json | UnsetType = UNSET


class MessageFinish(ChunkBase, tag="finish"):
    """The message is whole."""

    finish_reason: str | None = None
    message_metadata: Json | UnsetType = UNSET


class MessageAbort(ChunkBase, tag="abort"):
    """The work was stopped. What came so far stays."""

    reason: str | None = None


class MessageMetadata(ChunkBase, tag="message-metadata"):
    """Metadata to merge into the message."""

    message_metadata: Json | UnsetType = UNSET


class ErrorChunk(ChunkBase, tag="error"):
    """Something failed. It is reported beside the message, never inside it."""

    error_text: str


class StepStart(ChunkBase, tag="start-step"):
    """One model call begins."""


class StepFinish(ChunkBase, tag="finish-step"):
    """One model call has ended."""


class StepReset(ChunkBase, tag="reset-step"):
    """Forget what the current step has brought: it is tried again."""


class TextStart(ChunkBase, tag="text-start"):
    """A text begins."""

    id: str
    provider_metadata: JsonObject | None = None


class TextDelta(ChunkBase, tag="text-delta"):
    """The next piece of a text."""

    id: str
    delta: str
    provider_metadata: JsonObject | None = None


class TextEnd(ChunkBase, tag="text-end"):
    """A text is whole."""

    id: str
    provider_metadata: JsonObject | None = None
    citations: tuple[Citation, ...] | None = None


class ReasoningStart(ChunkBase, tag="reasoning-start"):
    """A piece of reasoning begins."""

    id: str
    provider_metadata: JsonObject | None = None


class ReasoningDelta(ChunkBase, tag="reasoning-delta"):
    """The next piece of reasoning."""

    id: str
    delta: str
    provider_metadata: JsonObject | None = None


class ReasoningEnd(ChunkBase, tag="reasoning-end"):
    """A piece of reasoning is whole. Signatures often come here."""

    id: str
    provider_metadata: JsonObject | None = None


class FileChunk(ChunkBase, tag="file"):
    """A file the model made."""

    url: str
    media_type: str
    provider_metadata: JsonObject | None = None


class ReasoningFileChunk(ChunkBase, tag="reasoning-file"):
    """A file the model made while reasoning."""

    url: str
    media_type: str
    provider_metadata: JsonObject | None = None


class SourceUrlChunk(ChunkBase, tag="source-url"):
    """A web page the answer rests on."""

    source_id: str
    url: str
    title: str | None = None
    provider_metadata: JsonObject | None = None


class SourceDocumentChunk(ChunkBase, tag="source-document"):
    """A document the answer rests on."""

    source_id: str
    media_type: str
    title: str
    filename: str | None = None
    provider_metadata: JsonObject | None = None


class CustomChunk(ChunkBase, tag="custom"):
    """Content of one provider."""

    kind: str
    provider_metadata: JsonObject | None = None


class SteeringMessageChunk(ChunkBase, tag="steering-message"):
    """What the user said while the agent was at work."""

    id: str
    parts: tuple[TextPart | FilePart | ForeignPart | UnknownPart, ...]


class ToolInputStart(ChunkBase, tag="tool-input-start"):
    """The model begins to write the input of a call."""

    tool_call_id: str
    tool_name: str
    provider_executed: bool | None = None
    provider_metadata: JsonObject | None = None
    tool_metadata: JsonObject | None = None
    dynamic: bool | None = None
    title: str | None = None
    input_encoding: Literal["json", "text"] | None = None


class ToolInputDelta(ChunkBase, tag="tool-input-delta"):
    """The next piece of a call's input, as text."""

    tool_call_id: str
    input_text_delta: str


class ToolInputAvailable(ChunkBase, tag="tool-input-available"):
    """The input of a call is whole."""

    tool_call_id: str
    tool_name: str
    input: Json | UnsetType = UNSET
    provider_executed: bool | None = None
    provider_metadata: JsonObject | None = None
    tool_metadata: JsonObject | None = None
    dynamic: bool | None = None
    title: str | None = None


class ToolInputError(ChunkBase, tag="tool-input-error"):
    """The input of a call is no good."""

    tool_call_id: str
    tool_name: str
    error_text: str
    input: Json | UnsetType = UNSET
    provider_executed: bool | None = None
    provider_metadata: JsonObject | None = None
    tool_metadata: JsonObject | None = None
    dynamic: bool | None = None
    title: str | None = None


class ToolApprovalRequest(ChunkBase, tag="tool-approval-request"):
    """May this call run?"""

    approval_id: str
    tool_call_id: str
    approval_descriptor: Json | UnsetType = UNSET
    input_schema_input: Json | UnsetType = UNSET
    reason: str | None = None
    is_automatic: bool | None = None
    signature: str | None = None


class ToolApprovalResponse(ChunkBase, tag="tool-approval-response"):
    """The answer to an approval request."""

    approval_id: str
    approved: bool
    reason: str | None = None
    provider_executed: bool | None = None
    provider_metadata: JsonObject | None = None


class ToolOutputAvailable(ChunkBase, tag="tool-output-available"):
    """What the tool gave back; a preliminary output is followed by another."""

    tool_call_id: str
    output: Json | UnsetType = UNSET
    provider_executed: bool | None = None
    provider_metadata: JsonObject | None = None
    tool_metadata: JsonObject | None = None
    dynamic: bool | None = None
    preliminary: bool | None = None


class ToolOutputError(ChunkBase, tag="tool-output-error"):
    """The tool failed."""

    tool_call_id: str
    error_text: str
    provider_executed: bool | None = None
    provider_metadata: JsonObject | None = None
    tool_metadata: JsonObject | None = None
    dynamic: bool | None = None


class ToolOutputDenied(ChunkBase, tag="tool-output-denied"):
    """The call was not allowed to run."""

    tool_call_id: str


class ToolOutputChunk(ChunkBase, tag="tool-output-typed"):
    """What came of a call, typed: content to look at, a refusal and its reason, an interruption."""

    tool_call_id: str
    output: ToolOutput
    provider_executed: bool | None = None
    provider_metadata: JsonObject | None = None
    tool_metadata: JsonObject | None = None
    preliminary: bool | None = None


class NetworkExecutionStart(ChunkBase, tag="network-execution-start"):
    """A network has chosen what runs next."""

    primitive_type: PrimitiveType
    primitive_id: str
    selection_reason: str | None = None
    input: Json | UnsetType = UNSET
    iteration: int | None = None


class NetworkExecutionEnd(ChunkBase, tag="network-execution-end"):
    """What the chosen primitive gave back."""

    final_result: NetworkResult | None = None


class ChildMessage(ChunkBase, tag="child-message"):
    """A whole message of a sub-agent: the prompt it was given, for one."""

    path: tuple[str, ...]
    message: Message


class DataChunk(Value):
    """Data of the application. Its type is open: `data-NAME`."""

    type: str
    data: Json | UnsetType = UNSET
    id: str | None = None
    transient: bool | None = None

    def __post_init__(self) -> None:
        if self.type[:5] != DATA_PREFIX:
            raise DecodeError(
                f"a data chunk of type {self.type!r}",
                where="$.type",
                hint=f"call it {DATA_PREFIX + self.type!r}",
                expected="data-NAME",
                found=self.type,
            )

    @property
    def name(self) -> str:
        """What stands after `data-`."""
        return self.type[5:]


class UnknownChunk(Value, tag_field="type", tag="__unknown__"):
    """A chunk whose type this version does not know, kept whole."""

    raw: Extra

    @property
    def type(self) -> str:
        """The type it came with."""
        return str(self.raw.get("type", ""))


class ChildChunk(ChunkBase, tag="child"):
    """A chunk for the message of a sub-agent, found by the calls that lead to it."""

    path: tuple[str, ...]
    chunk: "ChunkField"


TaggedChunk: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | ToolInputDelta
    | MessageStart
    | MessageFinish
    | MessageAbort
    | MessageMetadata
    | ErrorChunk
    | StepStart
    | StepFinish
    | StepReset
    | TextStart
    | TextEnd
    | ReasoningStart
    | ReasoningEnd
    | FileChunk
    | ReasoningFileChunk
    | SourceUrlChunk
    | SourceDocumentChunk
    | CustomChunk
    | SteeringMessageChunk
    | ToolInputStart
    | ToolInputAvailable
    | ToolInputError
    | ToolApprovalRequest
    | ToolApprovalResponse
    | ToolOutputAvailable
    | ToolOutputError
    | ToolOutputDenied
    | ToolOutputChunk
    | NetworkExecutionStart
    | NetworkExecutionEnd
    | ChildChunk
    | ChildMessage
    | UnknownChunk
)
"""The chunks whose tag is fixed: those that msgspec can tell apart."""

Chunk: TypeAlias = TaggedChunk | DataChunk

# As a field. msgspec is not told of data chunks: it stops at them, and `reading` takes over.
if TYPE_CHECKING:
    ChunkField: TypeAlias = Chunk
else:
    ChunkField = TaggedChunk


def starts_internal(start: MessageStart) -> bool:
    """Whether the message that starts is internal, such as a router's turn: stored, and not shown."""
    metadata: Json = start.message_metadata
    return is_object(metadata) and metadata.get("internal") is True


def type_of(chunk: Chunk) -> str:
    """The type of a chunk on the wire."""
    return chunk.type if isinstance(chunk, DataChunk | UnknownChunk) else str(chunk.__struct_config__.tag)
