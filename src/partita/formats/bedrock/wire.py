"""Wire types of Amazon Bedrock Converse.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, and the service
model in `botocore` (`bedrock-runtime/2023-09-30`). Bytes are base64 in JSON.

Blocks have no `type`: the name of their only member is their type.
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal

from msgspec import UNSET, UnsetType

from partita.formats.core.wire import Codec, MemberUnion, Wire, always, kind_of
from partita.types.json import Json, JsonObject

NAME: Final = "bedrock"
"""The namespace in provider metadata. The AI SDK uses it too."""

FORMAT_NAME: Final = "bedrock-converse"


class Shape(Wire, rename="camel"):
    """The base of the wire types: members are in camelCase."""


class Block(Shape):
    """The base of blocks. Each has one member."""


class Text(Block):
    """A text. The API refuses an empty one: OpenHands/OpenHands#5722"""

    text: str


class Media(Shape):
    """An image, a video or audio: `bytes`, or an `s3Location`."""

    format: str
    source: JsonObject


class Document(Shape):
    """A document: `bytes`, `text`, an `s3Location`, or `content` in several texts."""

    name: str
    source: JsonObject
    format: str | UnsetType = UNSET


class ImageBlock(Block):
    """An image."""

    image: Media


class VideoBlock(Block):
    """A video."""

    video: Media


class AudioBlock(Block):
    """Audio."""

    audio: Media


class DocumentBlock(Block):
    """A document."""

    document: Document


class GuardBlock(Block):
    """A `text` or an `image` that a guardrail assesses."""

    guard_content: JsonObject


class ReasoningBlock(Block):
    """A `reasoningText` with its signature, or `redactedContent`."""

    reasoning_content: JsonObject


class CitationsBlock(Block):
    """Generated text, with the sources that it cites."""

    citations_content: JsonObject


class ToolUse(Shape):
    """A call. `type` is `server_tool_use` if Bedrock runs it.

    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
    """

    tool_use_id: str
    name: str
    input: Json
    type: str | UnsetType = UNSET


class ToolUseBlock(Block):
    """A call."""

    tool_use: ToolUse


class ToolResult(Shape):
    """The result of a call. No `status` means success.

    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html
    """

    tool_use_id: str
    content: tuple[JsonObject, ...]
    status: str | UnsetType = UNSET


class ToolResultBlock(Block):
    """A result: of the user, or of a server tool in the message of its call."""

    tool_result: ToolResult


BLOCKS: Final = MemberUnion(Block)
MEDIA: Final[Mapping[str, Callable[[Media], Wire]]] = {
    kind_of(type_): type_ for type_ in (ImageBlock, VideoBlock, AudioBlock)
}
"""The blocks of media by kind."""


class Message(Shape):
    """A message. `system` is a role in botocore's model since 2026: it may also change the tools."""

    role: Literal["user", "assistant", "system"]
    content: tuple[JsonObject, ...]


class Output(Shape):
    """The output of a response."""

    message: Message


class Response(Shape, kw_only=True):
    """The body of a response. It has no id, and does not name the model."""

    output: Output
    stop_reason: str | None = always(None)
    usage: JsonObject | UnsetType = UNSET


MESSAGE: Final[Codec[Message]] = Codec(Message)
RESPONSE: Final[Codec[Response]] = Codec(Response)
