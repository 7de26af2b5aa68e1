"""What a tool gave back, how far a call has come, and who allowed it."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from .json import Json, JsonObject
from .parts import FilePart, ForeignPart, ImagePart, TextPart, UnknownPart
from .times import Moment
from .value import Value

ToolState: TypeAlias = Literal[
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
]
"""How far a tool call has come, in the AI SDK's words."""

Interruption: TypeAlias = Literal["aborted", "timeout", "lost"]
"""Why a call never gave an output: someone stopped it, it took too long, or its process went away."""


class ToolOutputBase(Value, tag_field="type", kw_only=True):
    """What every tool output may carry."""

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
    """The tool failed and said so in words."""

    type: ClassVar[Literal["error-text"]] = "error-text"
    value: str


class ErrorJsonOutput(ToolOutputBase, tag="error-json"):
    """The tool failed and said so in JSON."""

    type: ClassVar[Literal["error-json"]] = "error-json"
    value: Json


class ExecutionDeniedOutput(ToolOutputBase, tag="execution-denied"):
    """Someone did not allow the call."""

    type: ClassVar[Literal["execution-denied"]] = "execution-denied"
    reason: str | None = None


ContentItem: TypeAlias = TextPart | ImagePart | FilePart | ForeignPart | UnknownPart


class ContentOutput(ToolOutputBase, tag="content"):
    """Text, images and files, for the model to look at."""

    type: ClassVar[Literal["content"]] = "content"
    value: tuple[ContentItem, ...]


class InterruptedOutput(ToolOutputBase, tag="interrupted"):
    """The call never ended. A timeout reported as a refusal would mislead the model."""

    type: ClassVar[Literal["interrupted"]] = "interrupted"
    reason: Interruption
    message: str | None = None


INTERRUPTIONS: Final[Mapping[Interruption, str]] = {
    "aborted": "it was stopped",
    "timeout": "it took too long",
    "lost": "its process went away",
}


def interruption_text(output: InterruptedOutput) -> str:
    """The text that models and pages receive for a call that never ended."""
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
    """The question whether a call may run, and the answer once there is one."""

    id: str
    approved: bool | None = None
    reason: str | None = None
    request_reason: str | None = None
    is_automatic: bool | None = None
    signature: str | None = None
    descriptor: Json | UnsetType = UNSET
    input_schema_input: Json | UnsetType = UNSET  # its presence says something, even when it is null
    responded_by: str | None = None
    responded_at: Moment | None = None


class ToolResultPart(Value, tag_field="type", tag="tool-result"):
    """The output of one call, in the model's view, where calls and results stand apart."""

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    id: str
    name: str
    output: ToolOutput
    provider_metadata: JsonObject | None = None
