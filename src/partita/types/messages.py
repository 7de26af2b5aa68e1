"""Messages by role, and the values that contain messages: tool calls and network executions."""

from collections.abc import Callable, Sequence
from datetime import UTC
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    Required,
    TypeAlias,
    TypedDict,
    TypeGuard,
    Unpack,
    cast,
)

from msgspec import UNSET, UnsetType
from msgspec.structs import force_setattr, replace

from partita.errors import DecodeError

from .json import Json, JsonObject, dumps, is_object, kind_of
from .parts import (
    Approval,
    CustomPart,
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    Interruption,
    PartBase,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
    ToolOutput,
    ToolResultPart,
    ToolState,
    UnknownPart,
)
from .times import Timestamp, in_utc
from .usage import Usage
from .value import Extra, Value, always

MessageType: TypeAlias = Literal["text", "tool", "event"]
"""`event` is a notice such as compaction or interruption; the other types are derived from the parts."""

PrimitiveType: TypeAlias = Literal["agent", "workflow", "tool"]


class ToolCallPart(PartBase, tag="tool-call"):
    """A tool call and, if there is one, its output, merged as they are stored and shown."""

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    id: str
    name: str
    state: ToolState
    input: Json | UnsetType = UNSET
    raw_input: Json | UnsetType = (
        UNSET  # the text received while streaming, or the invalid input after an error
    )
    input_encoding: Literal["json", "text"] | None = None
    output: ToolOutput | None = None
    approval: Approval | None = None
    title: str | None = None
    dynamic: bool = False
    unavailable: bool = False  # the tool does not exist any more; the model does not receive its output
    provider_executed: bool | None = None
    preliminary: bool | None = None
    call_provider_metadata: JsonObject | None = None
    result_provider_metadata: JsonObject | None = None
    tool_metadata: JsonObject | None = None
    children: "tuple[Message, ...]" = ()
    result_message: "ToolMessage | None" = None  # the message that contained the output, without its parts


class NetworkResult(Value):
    """What the selected primitive returned, or why it failed.

    While it runs or waits for a client, only `messages` is set.
    """

    text: str | None = None
    tool_calls: tuple[ToolCallPart, ...] = ()
    messages: "tuple[Message, ...]" = ()
    value: Json | UnsetType = UNSET  # of a workflow or a tool, as it was returned
    error: str | None = None
    interrupted: Interruption | None = None  # it did not return


class NetworkExecution(Value):
    """One iteration of a network: what the router selected, why, and the result."""

    primitive_type: PrimitiveType
    primitive_id: str
    selection_reason: str | None = None
    input: Json | UnsetType = UNSET
    final_result: NetworkResult | None = None
    iteration: int | None = None


def network_call_id(message_id: str) -> str:
    """The id of the tool call that represents a network execution in formats that only have tool calls."""
    return f"{message_id}:network"


def network_output(execution: NetworkExecution) -> Json | UnsetType:
    """What the selected primitive returned: the text of an agent, the value of a workflow or a tool.

    `UNSET` while there is no result.
    """
    result = execution.final_result
    if result is None:
        return UNSET
    if result.value is UNSET or (execution.primitive_type == "agent" and result.text is not None):
        return result.text
    return result.value


def has_ended(execution: NetworkExecution) -> bool:
    """Whether an execution has a result. While it runs or waits for a client, it only has messages."""
    result = execution.final_result
    return result is not None and replace(result, messages=()) != NetworkResult()


def failure_text(result: NetworkResult) -> str | None:
    """Why an execution failed or was interrupted; `None` if it did not."""
    if result.error is None and result.interrupted is not None:
        return f"interrupted: {result.interrupted}"
    return result.error


def result_text(result: NetworkResult) -> str:
    """A result as text for a model: what was returned, and the failure if there is one."""
    text = result.text or ""
    if not text and result.value is not UNSET and result.value is not None:
        text = result.value if isinstance(result.value, str) else dumps(result.value).decode()
    failure = failure_text(result)
    return text if failure is None else f"{text}\n\nFailed: {failure}".lstrip()


def unlisted_calls(result: NetworkResult) -> tuple[ToolCallPart, ...]:
    """The calls of a result that its messages do not contain."""
    if not result.tool_calls or not result.messages:
        return result.tool_calls
    known = {
        part.id for message in result.messages for part in message.parts if isinstance(part, ToolCallPart)
    }
    return tuple(call for call in result.tool_calls if call.id not in known)


SystemPart: TypeAlias = TextPart | DataPart | ForeignPart | UnknownPart
UserPart: TypeAlias = (
    TextPart | ImagePart | FilePart | ReasoningFilePart | DataPart | ForeignPart | UnknownPart
)
AssistantPart: TypeAlias = (
    TextPart
    | ReasoningPart
    | ToolCallPart
    | StepStartPart
    | ImagePart
    | FilePart
    | ReasoningFilePart
    | SourceUrlPart
    | SourceDocumentPart
    | DataPart
    | CustomPart
    | SteeringMessagePart
    | ForeignPart
    | UnknownPart
)
ToolPart: TypeAlias = ToolResultPart | ForeignPart | UnknownPart
Part: TypeAlias = SystemPart | UserPart | AssistantPart | ToolPart


class ContentBase(Value, kw_only=True):
    """The fields of the content of every role, except its parts."""

    format: Literal[2] = always(2)
    content: str | None = None  # a plain-text copy that some clients send; kept if received
    metadata: Json | UnsetType = UNSET
    provider_metadata: JsonObject | None = None


class SystemContent(ContentBase):
    """The content of a system message."""

    parts: tuple[SystemPart, ...]


class UserContent(ContentBase):
    """The content of a user message."""

    parts: tuple[UserPart, ...]


class AssistantContent(ContentBase):
    """The content of an assistant message."""

    parts: tuple[AssistantPart, ...]
    usage: Usage | None = None
    network_execution: NetworkExecution | None = None


class ToolContent(ContentBase):
    """The content of a tool message."""

    parts: tuple[ToolPart, ...]


# On the wire and in constructors, the content may also be a string or a list of parts. Type checkers see
# the type that a message has after construction.
if TYPE_CHECKING:
    _SystemContent = SystemContent
    _UserContent = UserContent
    _AssistantContent = AssistantContent
    _ToolContent = ToolContent
else:
    _SystemContent = SystemContent | str | tuple[SystemPart, ...]
    _UserContent = UserContent | str | tuple[UserPart, ...]
    _AssistantContent = AssistantContent | str | tuple[AssistantPart, ...]
    _ToolContent = ToolContent | tuple[ToolPart, ...]


class Envelope(TypedDict, total=False):
    """The fields of a message except its content, as constructors take them."""

    id: Required[str]
    thread_id: str | None
    type: MessageType
    created_at: Timestamp | None
    resource_id: str | None
    parent_id: str | None
    run_id: str | None
    seq: int | None
    internal: bool
    extra: Extra | None


# The default of `type`. `__post_init__` replaces it by the type that is derived from the parts, so the cast
# is never visible.
_UNDERIVED = cast("MessageType", object())


class MessageBase(Value, tag_field="role", kw_only=True):
    """The fields of a message except its content."""

    id: str
    thread_id: str | None = None
    type: MessageType = always(_UNDERIVED)
    created_at: Timestamp | None = None
    resource_id: str | None = None
    parent_id: str | None = None
    run_id: str | None = None
    seq: int | None = None
    internal: bool = False


def _normalize(content_type: "type[Content]") -> "Callable[[Message], None]":
    """Convert shorthand content, derive the type, and convert the time to UTC."""

    def normalize(message: "Message") -> None:
        if type(message.content) is not content_type:
            force_setattr(message, "content", content_type(parts=_as_parts(message.content, message.id)))
        if message.type is _UNDERIVED:
            force_setattr(message, "type", derive_type(message.content.parts))
        if message.created_at is not None and message.created_at.tzinfo is not UTC:
            force_setattr(message, "created_at", in_utc(message.created_at, "$.createdAt"))

    return normalize


class SystemMessage(MessageBase, tag="system", kw_only=True):
    """Instructions to the model."""

    role: ClassVar[Literal["system"]] = "system"
    content: _SystemContent

    if TYPE_CHECKING:

        def __init__(
            self, *, content: SystemContent | str | Sequence[SystemPart], **envelope: Unpack[Envelope]
        ) -> None: ...

    else:
        __post_init__ = _normalize(SystemContent)

    @property
    def parts(self) -> tuple[SystemPart, ...]:
        """The parts of the content."""
        return self.content.parts


class UserMessage(MessageBase, tag="user", kw_only=True):
    """A message of the user."""

    role: ClassVar[Literal["user"]] = "user"
    content: _UserContent

    if TYPE_CHECKING:

        def __init__(
            self, *, content: UserContent | str | Sequence[UserPart], **envelope: Unpack[Envelope]
        ) -> None: ...

    else:
        __post_init__ = _normalize(UserContent)

    @property
    def parts(self) -> tuple[UserPart, ...]:
        """The parts of the content."""
        return self.content.parts


class AssistantMessage(MessageBase, tag="assistant", kw_only=True):
    """A message of the assistant: texts, reasoning, tool calls, files."""

    role: ClassVar[Literal["assistant"]] = "assistant"
    content: _AssistantContent

    if TYPE_CHECKING:

        def __init__(
            self, *, content: AssistantContent | str | Sequence[AssistantPart], **envelope: Unpack[Envelope]
        ) -> None: ...

    else:
        __post_init__ = _normalize(AssistantContent)

    @property
    def parts(self) -> tuple[AssistantPart, ...]:
        """The parts of the content."""
        return self.content.parts


class ToolMessage(MessageBase, tag="tool", kw_only=True):
    """Results of tools, separate from their calls."""

    role: ClassVar[Literal["tool"]] = "tool"
    content: _ToolContent

    if TYPE_CHECKING:

        def __init__(
            self, *, content: ToolContent | Sequence[ToolPart], **envelope: Unpack[Envelope]
        ) -> None: ...

    else:
        __post_init__ = _normalize(ToolContent)

    @property
    def parts(self) -> tuple[ToolPart, ...]:
        """The parts of the content."""
        return self.content.parts


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage
CanonicalMessage: TypeAlias = Message
Content: TypeAlias = SystemContent | UserContent | AssistantContent | ToolContent


def _as_parts(content: object, message_id: str) -> tuple[Any, ...]:
    if isinstance(content, str):
        return (TextPart(content),)
    if _is_sequence(content):
        return tuple(content)
    raise DecodeError(
        f"content of message {message_id!r} is {kind_of(content)}",
        where="$.content",
        hint="give a string, a list of parts, or the content of this role",
        expected="string, array or content",
        found=kind_of(content),
    )


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence)


def derive_type(parts: Sequence[Part]) -> MessageType:
    """`tool` if a part is a tool call or result, otherwise `text`. An `event` is never derived."""
    return "text" if TOOL_PARTS.isdisjoint(map(type, parts)) else "tool"


TOOL_PARTS = frozenset({ToolCallPart, ToolResultPart})


def text_of(message: Message) -> str:
    """The text parts of a message, joined."""
    return "".join(part.text for part in message.content.parts if isinstance(part, TextPart))


ENDED: Final = "ended"
"""The member of the metadata of a message with the end of its run, unless that completed."""


def ending_in(content: Content) -> JsonObject | None:
    """The end of the run of a message, `{status, reason?}`; `None` if it completed."""
    metadata: Json = content.metadata
    ended = metadata.get(ENDED) if is_object(metadata) else None
    return ended if is_object(ended) else None


def network_text(message: "AssistantMessage") -> str | None:
    """The text that a model receives for the network execution of a message, in addition to its parts.

    It is the text of the result or its value as JSON, and its failure; `None` when the parts have that text.
    """
    execution = message.content.network_execution
    result = None if execution is None else execution.final_result
    if result is None:
        return None
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    if result.text and texts and failure_text(result) is None:
        return None
    text = result_text(result)
    return None if not text or text in texts else text
