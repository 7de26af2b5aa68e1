"""Wire types of OpenTelemetry's conventions for generative AI, and the names of their attributes.

Source: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/model/gen-ai/gen-ai-input-messages.json
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.core.wire import Codec, UnknownVariant, Wire
from partita.types.json import JsonObject

NAME: Final = "otel-genai"
"""The format, and its namespace in provider metadata."""

INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
SYSTEM: Final = "gen_ai.system_instructions"
TOOLS: Final = "gen_ai.tool.definitions"
CONVERSATION: Final = "gen_ai.conversation.id"

USAGE: Final[Mapping[str, str]] = {
    "gen_ai.usage.input_tokens": "input_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cached_input_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "cache_write_tokens",
    "gen_ai.usage.reasoning.output_tokens": "reasoning_tokens",
}
"""Attributes that count tokens, and the fields of `Usage` for them."""


# Parts


class Part(Wire, tag_field="type", kw_only=True):
    """The base of all parts."""


class Text(Part, tag="text"):
    """A text."""

    content: str


class Reasoning(Part, tag="reasoning"):
    """Reasoning of the model."""

    content: str


class Thinking(Part, tag="thinking"):
    """Reasoning, as Pydantic AI names it: `ThinkingPart` in pydantic_ai/_otel_messages.py."""

    content: str


class ToolCall(Part, tag="tool_call", kw_only=True):
    """A call of a tool. Pydantic AI records calls of built-in tools so: pydantic_ai/_otel_messages.py."""

    id: str | UnsetType | None = UNSET
    name: str
    arguments: Any = UNSET


class ToolCallResponse(Part, tag="tool_call_response"):
    """The output of a tool. Pydantic AI names it `result`: pydantic_ai/_otel_messages.py."""

    id: str | UnsetType | None = UNSET
    name: str | UnsetType = UNSET
    response: Any = UNSET
    result: Any = UNSET


class ServerToolCall(Part, tag="server_tool_call", kw_only=True):
    """A call that the provider runs itself."""

    id: str | UnsetType | None = UNSET
    name: str
    server_tool_call: JsonObject


class ServerToolCallResponse(Part, tag="server_tool_call_response", kw_only=True):
    """The output of a call that the provider ran."""

    id: str | UnsetType | None = UNSET
    server_tool_call_response: JsonObject


class Media(Part, kw_only=True):
    """The base of all files. Pydantic AI omits the modality of documents: pydantic_ai/_otel_messages.py."""

    modality: str | UnsetType = UNSET
    mime_type: str | UnsetType | None = UNSET


class Blob(Media, tag="blob"):
    """A file whose bytes are in the message, in base64."""

    content: str


class Uri(Media, tag="uri"):
    """A file by its URI."""

    uri: str


class File(Media, tag="file"):
    """A file that a provider stores."""

    file_id: str


class Compaction(Part, tag="compaction"):
    """The provider's summary of the conversation so far."""

    id: str | UnsetType | None = UNSET
    content: str | UnsetType | None = UNSET


class UnknownPart(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A part of another type. The conventions allow any (`GenericPart`)."""


AnyPart: TypeAlias = (
    Text
    | Reasoning
    | Thinking
    | ToolCall
    | ToolCallResponse
    | ServerToolCall
    | ServerToolCallResponse
    | Blob
    | Uri
    | File
    | Compaction
    | UnknownPart
)


# Messages


class Message(Wire):
    """A message of any role."""

    role: str
    parts: tuple[AnyPart, ...]
    name: str | UnsetType | None = UNSET
    finish_reason: str | UnsetType | None = UNSET


class Event(Wire):
    """A log record that is one message, as version 1.28 to 1.36 of the conventions have it.

    Source: https://github.com/open-telemetry/semantic-conventions/blob/v1.36.0/docs/gen-ai/gen-ai-events.md
    """

    name: str | UnsetType = UNSET
    body: JsonObject | UnsetType = UNSET


class ToolDefinition(Wire, tag_field="type", tag="function"):
    """A tool that is a function."""

    name: str
    description: str | UnsetType = UNSET
    parameters: JsonObject | UnsetType = UNSET


MESSAGE: Final[Codec[Message]] = Codec(Message)
INSTRUCTIONS: Final[Codec[tuple[AnyPart, ...]]] = Codec(tuple[AnyPart, ...])
EVENT: Final[Codec[Event]] = Codec(Event)
TOOL: Final[Codec[ToolDefinition]] = Codec(ToolDefinition)
PART: Final[Codec[Any]] = Codec(AnyPart)
