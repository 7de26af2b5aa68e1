"""Wire types of Cohere's chat API, version 2.

Source: https://docs.cohere.com/reference/chat, https://docs.cohere.com/reference/chat-stream, and the types
of the `cohere` package.
"""

from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.core.wire import Codec, UnknownVariant, Wire
from partita.types.json import JsonObject

NAME: Final = "cohere"
"""The format, and its namespace in provider metadata. The AI SDK uses it too."""


class Block(Wire, tag_field="type"):
    """The base of blocks."""


class Text(Block, tag="text"):
    """A text."""

    text: str


class Thinking(Block, tag="thinking"):
    """Reasoning. It is not signed: https://docs.cohere.com/docs/reasoning"""

    thinking: str


class Image(Block, tag="image_url"):
    """An image, with `url` (https or data) and `detail`."""

    image_url: JsonObject


class Document(Block, tag="document"):
    """A document in the result of a tool: `data`, and an `id` for citations."""

    document: JsonObject


class Function(Wire):
    """The function of a call. Arguments are JSON text."""

    name: str
    arguments: str


class Call(Block, tag="function"):
    """A call."""

    id: str
    function: Function


class UnknownBlock(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A block of an unknown type."""


ContentBlock: TypeAlias = Text | Thinking | Image | Document | UnknownBlock
Content: TypeAlias = str | tuple[ContentBlock, ...]


class Message(Wire, tag_field="role"):
    """The base of messages."""


class System(Message, tag="system"):
    """Instructions. "system turn must be the first in the list": https://docs.cohere.com/reference/errors"""

    content: Content


class User(Message, tag="user"):
    """A prompt."""

    content: Content


class Assistant(Message, tag="assistant"):
    """A step of the model. `tool_plan` is what non-reasoning models write before their calls.

    https://docs.cohere.com/v2/docs/tool-use-overview
    """

    content: Content | UnsetType | None = UNSET
    tool_plan: str | UnsetType | None = UNSET
    tool_calls: tuple[Call | UnknownBlock, ...] | UnsetType | None = UNSET
    citations: list[Any] | UnsetType | None = UNSET


class Tool(Message, tag="tool"):
    """The result of one call. Errors are not marked: an error is content."""

    tool_call_id: str
    content: Content


class UnknownMessage(UnknownVariant, tag_field="role", tag="__unknown__"):
    """A message of an unknown role."""


AnyMessage: TypeAlias = System | User | Assistant | Tool | UnknownMessage


class Response(Wire, kw_only=True):
    """The body of a response. It does not name the model."""

    id: str | UnsetType = UNSET
    finish_reason: str | UnsetType | None = UNSET
    message: Assistant
    usage: JsonObject | UnsetType | None = UNSET


MESSAGE: Final[Codec[AnyMessage]] = Codec(AnyMessage)
CALL: Final[Codec[Call | UnknownBlock]] = Codec(Call | UnknownBlock)
BLOCK: Final[Codec[ContentBlock]] = Codec(ContentBlock)
RESPONSE: Final[Codec[Response]] = Codec(Response)
