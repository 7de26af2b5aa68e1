"""The parts of messages, except tool calls, which contain messages (see `messages`)."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from .json import Json, JsonObject
from .times import Timestamp
from .value import Extra, Value

PartState: TypeAlias = Literal["streaming", "done"]


class UrlCitationSource(Value, tag_field="sourceType", tag="url"):
    """A web page that a text cites."""

    id: str
    url: str
    title: str | None = None
    provider_metadata: JsonObject | None = None
    type: Literal["source"] | None = None


class DocumentCitationSource(Value, tag_field="sourceType", tag="document"):
    """A document that a text cites."""

    id: str
    media_type: str
    title: str
    filename: str | None = None
    provider_metadata: JsonObject | None = None
    type: Literal["source"] | None = None


class Citation(Value):
    """A range of a text and the source that it cites."""

    source: UrlCitationSource | DocumentCitationSource
    start_index: int | None = None
    end_index: int | None = None
    cited_text: str | None = None


class PartBase(Value, tag_field="type", kw_only=True):
    """The fields of every part. The provider metadata has signatures and redacted reasoning unchanged."""

    provider_metadata: JsonObject | None = None


class TextPart(PartBase, tag="text"):
    """Text for the user."""

    type: ClassVar[Literal["text"]] = "text"
    text: str
    state: PartState | None = None
    citations: tuple[Citation, ...] | None = None


class ReasoningPart(PartBase, tag="reasoning"):
    """Reasoning of the model. The type `thinking` is read as this, too."""

    type: ClassVar[Literal["reasoning"]] = "reasoning"
    text: str
    id: str | None = None
    state: PartState | None = None
    token_count: int | None = None


class ImagePart(PartBase, tag="image"):
    """An image. The url is `https:`, `data:` or `blob:sha256:…`."""

    type: ClassVar[Literal["image"]] = "image"
    url: str
    media_type: str | None = None
    name: str | None = None


class FilePart(PartBase, tag="file"):
    """A file. The url is `https:`, `data:` or `blob:sha256:…`."""

    type: ClassVar[Literal["file"]] = "file"
    url: str
    media_type: str
    filename: str | None = None
    provider_reference: dict[str, str] | None = (
        None  # file ids by provider; they take precedence over the url
    )


class ReasoningFilePart(PartBase, tag="reasoning-file"):
    """A file that the model generated while reasoning."""

    type: ClassVar[Literal["reasoning-file"]] = "reasoning-file"
    url: str
    media_type: str
    filename: str | None = None


class SourceUrlPart(PartBase, tag="source-url"):
    """A web page that the response is based on."""

    type: ClassVar[Literal["source-url"]] = "source-url"
    source_id: str
    url: str
    title: str | None = None


class SourceDocumentPart(PartBase, tag="source-document"):
    """A document that the response is based on."""

    type: ClassVar[Literal["source-document"]] = "source-document"
    source_id: str
    media_type: str
    title: str
    filename: str | None = None


class DataPart(PartBase, tag="data"):
    """Named data of the application. Data with the same name and id replaces it."""

    type: ClassVar[Literal["data"]] = "data"
    name: str
    data: Json | UnsetType = UNSET
    id: str | None = None


class StepStartPart(PartBase, tag="step-start"):
    """The start of a step (one model call)."""

    type: ClassVar[Literal["step-start"]] = "step-start"


class CustomPart(PartBase, tag="custom"):
    """Provider-specific content of kind `provider.kind`; its payload is in the provider metadata."""

    type: ClassVar[Literal["custom"]] = "custom"
    kind: str


class SteeringMessagePart(PartBase, tag="steering-message"):
    """What the user sent while the agent was running."""

    type: ClassVar[Literal["steering-message"]] = "steering-message"
    id: str
    parts: tuple["TextPart | FilePart | ForeignPart | UnknownPart", ...]


class ForeignPart(PartBase, tag="foreign"):
    """A part of another format that has no canonical equivalent, kept unchanged."""

    type: ClassVar[Literal["foreign"]] = "foreign"
    format: str
    value: Json


class UnknownPart(Value, tag_field="type", tag="__unknown__"):
    """A part of an unknown type, kept unchanged."""

    raw: Extra

    @property
    def type(self) -> str:
        """The type of the part as it was received."""
        return str(self.raw.get("type", ""))


# Outputs, states and approvals of tool calls.

ToolState: TypeAlias = Literal[
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
]
"""The state of a tool call, as in the AI SDK."""

Interruption: TypeAlias = Literal["aborted", "timeout", "lost"]
"""Why a call has no output: it was stopped, it timed out, or its process ended."""


class ToolOutputBase(Value, tag_field="type", kw_only=True):
    """The fields of every tool output."""

    provider_metadata: JsonObject | None = None


class TextOutput(ToolOutputBase, tag="text"):
    """Plain text."""

    type: ClassVar[Literal["text"]] = "text"
    value: str


class JsonOutput(ToolOutputBase, tag="json"):
    """Any JSON value."""

    type: ClassVar[Literal["json"]] = "json"
    value: Json


class ErrorTextOutput(ToolOutputBase, tag="error-text"):
    """The tool failed with an error text."""

    type: ClassVar[Literal["error-text"]] = "error-text"
    value: str


class ErrorJsonOutput(ToolOutputBase, tag="error-json"):
    """The tool failed with an error as JSON."""

    type: ClassVar[Literal["error-json"]] = "error-json"
    value: Json


class ExecutionDeniedOutput(ToolOutputBase, tag="execution-denied"):
    """The call was denied."""

    type: ClassVar[Literal["execution-denied"]] = "execution-denied"
    reason: str | None = None


ContentItem: TypeAlias = TextPart | ImagePart | FilePart | ForeignPart | UnknownPart


class ContentOutput(ToolOutputBase, tag="content"):
    """Text, images and files for the model."""

    type: ClassVar[Literal["content"]] = "content"
    value: tuple[ContentItem, ...]


class InterruptedOutput(ToolOutputBase, tag="interrupted"):
    """The call did not finish. Reporting a timeout as a denial would mislead the model."""

    type: ClassVar[Literal["interrupted"]] = "interrupted"
    reason: Interruption
    message: str | None = None


INTERRUPTIONS: Final[Mapping[Interruption, str]] = {
    "aborted": "it was stopped",
    "timeout": "it took too long",
    "lost": "its process went away",
}


def interruption_text(output: InterruptedOutput) -> str:
    """The text that models and clients receive for a call that did not finish."""
    text = f"The tool call was interrupted: {INTERRUPTIONS[output.reason]}."
    return text if output.message is None else f"{text} {output.message}"


ToolOutput: TypeAlias = (
    TextOutput
    | JsonOutput
    | ErrorTextOutput
    | ErrorJsonOutput
    | ExecutionDeniedOutput
    | ContentOutput
    | InterruptedOutput
)


class Approval(Value):
    """An approval request for a tool call, and the response if there is one."""

    id: str
    approved: bool | None = None
    reason: str | None = None
    request_reason: str | None = None
    is_automatic: bool | None = None
    signature: str | None = None
    descriptor: Json | UnsetType = UNSET
    input_schema_input: Json | UnsetType = UNSET  # `null` differs from absent
    responded_by: str | None = None
    responded_at: Timestamp | None = None


class ToolResultPart(Value, tag_field="type", tag="tool-result"):
    """The output of one call, where calls and results are separate (see `tool_results`)."""

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    id: str
    name: str
    output: ToolOutput
    provider_metadata: JsonObject | None = None
