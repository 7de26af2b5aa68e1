"""Wire types of the Model Context Protocol: content blocks, results of tools, prompts and sampling.

Source: https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/2025-11-25/schema.ts
"""

from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType, field

from partita.formats.core.wire import Codec, UnknownVariant, Wire, always
from partita.types.json import JsonObject

NAME: Final = "mcp"
"""The format, and its namespace in provider metadata."""


class Block(Wire, tag_field="type", rename="camel", kw_only=True):
    """The base of all content blocks."""

    annotations: JsonObject | UnsetType = UNSET
    meta: JsonObject | UnsetType = field(default=UNSET, name="_meta")


class Text(Block, tag="text"):
    """A text."""

    text: str


class Image(Block, tag="image"):
    """An image, in base64."""

    data: str
    mime_type: str


class Audio(Block, tag="audio"):
    """Audio, in base64."""

    data: str
    mime_type: str


class ResourceLink(Block, tag="resource_link", kw_only=True):
    """A resource by its URI."""

    uri: str
    name: str
    mime_type: str | UnsetType = UNSET


class EmbeddedResource(Block, tag="resource"):
    """A resource whose contents are in the message: `text`, or `blob` in base64."""

    resource: JsonObject


class ToolUse(Block, tag="tool_use"):
    """A call of a tool, in sampling."""

    id: str
    name: str
    input: Any


class ToolResult(Block, tag="tool_result", kw_only=True):
    """The output of a tool, in sampling. Without `type` and `toolUseId` it is the result of `tools/call`."""

    tool_use_id: str
    content: "tuple[AnyBlock, ...]" = always(())
    structured_content: Any = UNSET
    is_error: bool | UnsetType = UNSET


class UnknownBlock(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A block of an unknown type."""


AnyBlock: TypeAlias = (
    Text | Image | Audio | ResourceLink | EmbeddedResource | ToolUse | ToolResult | UnknownBlock
)


class Message(Wire, rename="camel"):
    """A message of a prompt or of sampling."""

    role: Literal["user", "assistant"]
    content: AnyBlock | tuple[AnyBlock, ...]
    meta: JsonObject | UnsetType = field(default=UNSET, name="_meta")


class Tool(Wire, rename="camel"):
    """A tool that a model may call."""

    name: str
    input_schema: JsonObject
    description: str | UnsetType = UNSET


MESSAGE: Final[Codec[Message]] = Codec(Message)
BLOCKS: Final[Codec[tuple[AnyBlock, ...]]] = Codec(tuple[AnyBlock, ...])
TOOL: Final[Codec[Tool]] = Codec(Tool)
