"""Wire types of LangChain's messages, as `messages_to_dict` writes the `data` of each, and content blocks.

Blocks are the standard ones of version 1. Those of providers, which older code has, are in `native.py`.

Sources: https://reference.langchain.com/python/langchain/messages and `messages/content.py` of langchain-core
"""

from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.core.wire import Codec, UnknownVariant, Wire, always
from partita.types.json import Json, JsonObject

NAME: Final = "langchain"
"""The format, and its namespace in provider metadata."""

Text_: TypeAlias = str | UnsetType


# Content blocks


class Block(Wire, tag_field="type", kw_only=True):
    """The base of all blocks."""

    id: str | UnsetType | None = UNSET
    index: int | str | UnsetType = UNSET
    extras: JsonObject | UnsetType = UNSET


class Text(Block, tag="text"):
    """A text with its annotations."""

    text: str
    annotations: list[Any] | UnsetType = UNSET


class Reasoning(Block, tag="reasoning"):
    """Reasoning. `encrypted_content` is OpenAI's: `_explode_reasoning` in block_translators/openai.py."""

    reasoning: Text_ = UNSET
    encrypted_content: Text_ = UNSET


class Media(Block, kw_only=True):
    """A file: its URL, its bytes in base64, or its id at a provider."""

    url: Text_ = UNSET
    base64: Text_ = UNSET
    file_id: Text_ = UNSET
    mime_type: Text_ = UNSET


class Image(Media, tag="image"):
    """An image."""


class Audio(Media, tag="audio"):
    """Audio."""


class Video(Media, tag="video"):
    """A video."""


class File(Media, tag="file"):
    """Any other file."""


class PlainText(Media, tag="text-plain", kw_only=True):
    """A text file."""

    text: Text_ = UNSET
    title: Text_ = UNSET
    context: Text_ = UNSET


class ToolCall(Block, tag="tool_call", kw_only=True):
    """A call that the application runs. `tool_calls` has it as well."""

    name: str
    args: JsonObject
    id: str | None = always(None)


class InvalidToolCall(Block, tag="invalid_tool_call", kw_only=True):
    """A call whose arguments could not be parsed. `invalid_tool_calls` has it as well."""

    name: str | None = always(None)
    args: str | None = always(None)
    id: str | None = always(None)
    error: str | None = always(None)


class ServerToolCall(Block, tag="server_tool_call", kw_only=True):
    """A call that the provider runs."""

    id: str
    name: str
    args: JsonObject


class ServerToolResult(Block, tag="server_tool_result", kw_only=True):
    """The result of a call that the provider ran."""

    tool_call_id: str
    status: str
    output: Json = UNSET


class NonStandard(Block, tag="non_standard", kw_only=True):
    """A block of a provider."""

    value: JsonObject


class UnknownBlock(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A block of an unknown type."""


AnyBlock: TypeAlias = (
    Text
    | Reasoning
    | Image
    | Audio
    | Video
    | File
    | PlainText
    | ToolCall
    | InvalidToolCall
    | ServerToolCall
    | ServerToolResult
    | NonStandard
    | UnknownBlock
)


# Calls next to the content


class CallEntry(Wire, kw_only=True):
    """A call in `tool_calls`."""

    name: str
    args: JsonObject
    id: str | None = always(None)
    type: str = always("tool_call")


class InvalidCallEntry(Wire, kw_only=True):
    """A call in `invalid_tool_calls`."""

    name: str | None = always(None)
    args: str | None = always(None)
    id: str | None = always(None)
    error: str | None = always(None)
    type: str = always("invalid_tool_call")


# Messages


class Message(Wire, tag_field="type", kw_only=True):
    """Members of all messages."""

    content: (
        str | tuple[str | AnyBlock, ...] | None
    )  # LangChain refuses `None`, which OpenAI's messages with only calls have
    additional_kwargs: JsonObject | None = always({})
    response_metadata: JsonObject | None = always({})
    name: str | None = always(None)
    id: str | None = always(None)
    example: bool | UnsetType = UNSET  # langchain-core before 1.0: `AIMessage.example`


class System(Message, tag="system"):
    """Instructions."""


class Human(Message, tag="human"):
    """A message of the user."""


class Ai(Message, tag="ai", kw_only=True):
    """A response of a model."""

    tool_calls: tuple[CallEntry, ...] | None = always(())
    invalid_tool_calls: tuple[InvalidCallEntry, ...] | None = always(())
    usage_metadata: JsonObject | None = always(None)


class Tool(Message, tag="tool", kw_only=True):
    """The result of a call."""

    tool_call_id: str
    artifact: Json = always(None)
    status: str = always("success")


class Chat(Message, tag="chat", kw_only=True):
    """A message of any role."""

    role: str


class UnknownMessage(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A message of an unknown type, such as a request to remove another."""


MESSAGE: Final[Codec[Any]] = Codec(System | Human | Ai | Tool | Chat | UnknownMessage)
BLOCK: Final[Codec[Any]] = Codec(AnyBlock)
