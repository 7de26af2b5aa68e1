"""Stream chunks: the AI SDK's UI message chunks (7.0.169) and five more.

The five are `network-execution-start`, `network-execution-end`, `tool-output-typed` for outputs that are more
than JSON, and two envelopes for sub-agents, which are addressed by the path of tool calls that lead to them:
`child` contains a chunk, `child-message` a whole message.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError

from .json import Json, JsonObject, dumps, is_object
from .messages import Message, NetworkResult, PrimitiveType
from .parts import Citation, FilePart, ForeignPart, TextPart, ToolOutput, UnknownPart
from .usage import Usage
from .value import Extra, Value

DATA_PREFIX = "data-"


class ChunkBase(Value, tag_field="type", gc=False):
    """The base class of chunks.

    Chunks are numerous and never part of a reference cycle, so the garbage collector does not track them.
    """


class MessageStart(ChunkBase, tag="start"):
    """A message starts, or continues if it has the id of the current one."""

    message_id: str | None = None
    message_metadata: Json | UnsetType = UNSET


class MessageFinish(ChunkBase, tag="finish"):
    """The message is complete."""

    finish_reason: str | None = None
    message_metadata: Json | UnsetType = UNSET


class MessageAbort(ChunkBase, tag="abort"):
    """The stream was aborted. The parts so far stay in the message."""

    reason: str | None = None


class MessageMetadata(ChunkBase, tag="message-metadata"):
    """Metadata to merge into the message."""

    message_metadata: Json | UnsetType = UNSET


class ErrorChunk(ChunkBase, tag="error"):
    """An error. It is not part of the message."""

    error_text: str


class StepStart(ChunkBase, tag="start-step"):
    """A step (one model call) starts."""


class StepFinish(ChunkBase, tag="finish-step"):
    """A step is complete."""


class StepReset(ChunkBase, tag="reset-step"):
    """Remove the parts of the current step, because it is retried."""


class TextStart(ChunkBase, tag="text-start"):
    """A text starts."""

    id: str
    provider_metadata: JsonObject | None = None


class TextDelta(ChunkBase, tag="text-delta"):
    """The next piece of a text."""

    id: str
    delta: str
    provider_metadata: JsonObject | None = None


class TextEnd(ChunkBase, tag="text-end"):
    """A text is complete."""

    id: str
    provider_metadata: JsonObject | None = None
    citations: tuple[Citation, ...] | None = None


class ReasoningStart(ChunkBase, tag="reasoning-start"):
    """A reasoning starts."""

    id: str
    provider_metadata: JsonObject | None = None


class ReasoningDelta(ChunkBase, tag="reasoning-delta"):
    """The next piece of a reasoning."""

    id: str
    delta: str
    provider_metadata: JsonObject | None = None


class ReasoningEnd(ChunkBase, tag="reasoning-end"):
    """A reasoning is complete. Signatures often arrive here."""

    id: str
    provider_metadata: JsonObject | None = None


class FileChunk(ChunkBase, tag="file"):
    """A file that the model generated."""

    url: str
    media_type: str
    provider_metadata: JsonObject | None = None


class ReasoningFileChunk(ChunkBase, tag="reasoning-file"):
    """A file that the model generated while reasoning."""

    url: str
    media_type: str
    provider_metadata: JsonObject | None = None


class SourceUrlChunk(ChunkBase, tag="source-url"):
    """A web page that the response is based on."""

    source_id: str
    url: str
    title: str | None = None
    provider_metadata: JsonObject | None = None


class SourceDocumentChunk(ChunkBase, tag="source-document"):
    """A document that the response is based on."""

    source_id: str
    media_type: str
    title: str
    filename: str | None = None
    provider_metadata: JsonObject | None = None


class CustomChunk(ChunkBase, tag="custom"):
    """Provider-specific content."""

    kind: str
    provider_metadata: JsonObject | None = None


class SteeringMessageChunk(ChunkBase, tag="steering-message"):
    """What the user sent while the agent was running."""

    id: str
    parts: tuple[TextPart | FilePart | ForeignPart | UnknownPart, ...]


class ToolInputStart(ChunkBase, tag="tool-input-start"):
    """The input of a call starts."""

    tool_call_id: str
    tool_name: str
    provider_executed: bool | None = None
    provider_metadata: JsonObject | None = None
    tool_metadata: JsonObject | None = None
    dynamic: bool | None = None
    title: str | None = None
    input_encoding: Literal["json", "text"] | None = None


class ToolInputDelta(ChunkBase, tag="tool-input-delta"):
    """The next piece of the input of a call, as text."""

    tool_call_id: str
    input_text_delta: str


class ToolInputAvailable(ChunkBase, tag="tool-input-available"):
    """The input of a call is complete."""

    tool_call_id: str
    tool_name: str
    input: Json | UnsetType = UNSET
    provider_executed: bool | None = None
    provider_metadata: JsonObject | None = None
    tool_metadata: JsonObject | None = None
    dynamic: bool | None = None
    title: str | None = None


class ToolInputError(ChunkBase, tag="tool-input-error"):
    """The input of a call is invalid."""

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
    """A call needs approval."""

    approval_id: str
    tool_call_id: str
    approval_descriptor: Json | UnsetType = UNSET
    input_schema_input: Json | UnsetType = UNSET
    reason: str | None = None
    is_automatic: bool | None = None
    signature: str | None = None


class ToolApprovalResponse(ChunkBase, tag="tool-approval-response"):
    """The response to an approval request."""

    approval_id: str
    approved: bool
    reason: str | None = None
    provider_executed: bool | None = None
    provider_metadata: JsonObject | None = None


class ToolOutputAvailable(ChunkBase, tag="tool-output-available"):
    """The output of a tool. A preliminary output is followed by another."""

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
    """The call was denied."""

    tool_call_id: str


class ToolOutputChunk(ChunkBase, tag="tool-output-typed"):
    """A typed output: content, a denial with its reason, or an interruption."""

    tool_call_id: str
    output: ToolOutput
    provider_executed: bool | None = None
    provider_metadata: JsonObject | None = None
    tool_metadata: JsonObject | None = None
    preliminary: bool | None = None


class NetworkExecutionStart(ChunkBase, tag="network-execution-start"):
    """A network has selected the primitive that runs next."""

    primitive_type: PrimitiveType
    primitive_id: str
    selection_reason: str | None = None
    input: Json | UnsetType = UNSET
    iteration: int | None = None


class NetworkExecutionEnd(ChunkBase, tag="network-execution-end"):
    """The result of the selected primitive."""

    final_result: NetworkResult | None = None


class ChildMessage(ChunkBase, tag="child-message"):
    """A whole message of a sub-agent, such as its prompt."""

    path: tuple[str, ...]
    message: Message


class DataChunk(Value):
    """Data of the application, of type `data-NAME`."""

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
        """The name after `data-`."""
        return self.type[5:]


class UnknownChunk(Value, tag_field="type", tag="__unknown__"):
    """A chunk of an unknown type, kept unchanged."""

    raw: Extra

    @property
    def type(self) -> str:
        """The type of the chunk as it was received."""
        return str(self.raw.get("type", ""))


class ChildChunk(ChunkBase, tag="child"):
    """A chunk for the message of a sub-agent. `path` has the ids of the calls that lead to it."""

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
"""The chunks with a fixed tag, which msgspec can distinguish."""

Chunk: TypeAlias = TaggedChunk | DataChunk

# The type of fields. msgspec refuses data chunks, which the slow path of `codec` then reads.
if TYPE_CHECKING:
    ChunkField: TypeAlias = Chunk
else:
    ChunkField = TaggedChunk


def starts_internal(start: MessageStart) -> bool:
    """Whether the message that starts is internal (stored, not shown), such as a turn of a router."""
    metadata: Json = start.message_metadata
    return is_object(metadata) and metadata.get("internal") is True


def type_of(chunk: Chunk) -> str:
    """The type of a chunk on the wire."""
    return chunk.type if isinstance(chunk, DataChunk | UnknownChunk) else str(chunk.__struct_config__.tag)


# The events of an agent service.


class EventBase(Value, tag_field="type", kw_only=True, gc=False):
    """The base class of events. An event may have the message of the agent that caused it."""

    raw_agent_message: Json | UnsetType = UNSET
    raw_text: str | None = None  # the bytes with their framing; see `raw_bytes`


class ChunkEvent(EventBase, tag="chunk"):
    """A chunk."""

    chunk: ChunkField


class ErrorEvent(EventBase, tag="error"):
    """The agent failed."""

    message: str
    name: str | None = None
    details: Json | UnsetType = UNSET


class CompleteEvent(EventBase, tag="complete"):
    """The agent has completed."""

    agent_type: str | None = None
    agent_result: Json | UnsetType = UNSET
    usage: Usage | None = None


class CancelledEvent(EventBase, tag="cancelled"):
    """The agent was stopped."""

    reason: str | None = None


class RawEvent(EventBase, tag="raw"):
    """A message of the agent without a chunk, such as a ping."""


AgentStreamEvent: TypeAlias = ChunkEvent | RawEvent | ErrorEvent | CompleteEvent | CancelledEvent


def raw_text(data: bytes) -> str:
    """Bytes as text. Bytes that are not UTF-8 are kept as lone surrogates."""
    return data.decode(errors="surrogateescape")


def raw_bytes(event: AgentStreamEvent) -> bytes | None:
    """The bytes that caused an event; if they are unknown, its message as JSON."""
    if event.raw_text is not None:
        return event.raw_text.encode(errors="surrogateescape")
    return None if event.raw_agent_message is UNSET else dumps(event.raw_agent_message)
