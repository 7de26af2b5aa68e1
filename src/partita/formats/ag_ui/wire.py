"""Wire types of AG-UI messages, and names that messages and events share.

Source: https://docs.ag-ui.com/concepts/messages, https://ag-ui.com/spec/1.0/schema.json (the models of the
Python package `ag_ui` are generated from it).
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.core.wire import Codec, UnknownVariant, Wire, always
from partita.types.json import Json, JsonObject

NAME: Final = "ag-ui"
"""The format."""

NAMESPACE: Final = "agUi"
"""Its namespace in provider metadata."""

# Members of messages and events
AGENT: Final = "subagentRunId"
ENCRYPTED: Final = "encryptedValue"
MESSAGE_ID: Final = "messageId"
PARENT: Final = "parentMessageId"

MAX_DEPTH: Final = 32
"""The maximum depth of nested sub-agents. Deeper ones are treated as if no call started them."""


class Base(Wire, rename="camel", kw_only=True):
    """The base of all wire types, with camelCase names."""


# Parts of contents


class Source(Base, tag_field="type", kw_only=True):
    """The source of the data of a file."""

    value: str
    mime_type: str | UnsetType = UNSET


class DataSource(Source, tag="data", kw_only=True):
    """Data in the message, in base64."""

    mime_type: str


class UrlSource(Source, tag="url"):
    """A URL."""


class FileSource(Source, tag="file"):
    """A file that a provider stores: `value` is its id."""

    provider: str | UnsetType = UNSET


class UnknownSource(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A source of an unknown type."""


AnySource: TypeAlias = DataSource | UrlSource | FileSource | UnknownSource


class Part(Base, tag_field="type", kw_only=True):
    """The base of all parts."""

    id: str | UnsetType = UNSET
    metadata: JsonObject | UnsetType = UNSET


class Text(Part, tag="text", kw_only=True):
    """A text."""

    text: str


class Media(Part, kw_only=True):
    """A file. By convention its name is in `metadata.filename`."""

    source: AnySource


class Image(Media, tag="image"):
    """An image."""


class Audio(Media, tag="audio"):
    """Audio."""


class Video(Media, tag="video"):
    """A video."""


class Document(Media, tag="document"):
    """Any other file."""


class Binary(Part, tag="binary", kw_only=True):
    """Any file, as it was written before version 1.0 (`BinaryInputContent` in ag_ui/core/deprecated.py)."""

    mime_type: str
    data: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    filename: str | UnsetType = UNSET


class UnknownPart(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A part of an unknown type."""


AnyPart: TypeAlias = Text | Image | Audio | Video | Document | Binary | UnknownPart
CONTENT: Final[Codec[tuple[AnyPart, ...]]] = Codec(tuple[AnyPart, ...])


# Messages


class Message(Base, tag_field="role", kw_only=True):
    """Members of all messages. `encryptedValue` is opaque data of a provider that clients send back."""

    id: str
    subagent_run_id: str | UnsetType = UNSET
    encrypted_value: str | UnsetType = UNSET
    metadata: JsonObject | UnsetType = UNSET


class Authored(Message, kw_only=True):
    """A message whose author may have a name."""

    name: str | UnsetType = UNSET


class System(Authored, tag="system", kw_only=True):
    """Instructions."""

    content: str


class Developer(Authored, tag="developer", kw_only=True):
    """Instructions of the developer."""

    content: str


class User(Authored, tag="user", kw_only=True):
    """A message of the user."""

    content: str | tuple[AnyPart, ...]


class Function(Base, kw_only=True):
    """The function of a call, and its arguments as JSON text."""

    name: str
    arguments: str


class ToolCall(Base, kw_only=True):
    """A call of a tool."""

    id: str
    type: str = always("function")
    function: Function
    encrypted_value: str | UnsetType = UNSET
    metadata: JsonObject | UnsetType = UNSET


class Assistant(Authored, tag="assistant", kw_only=True):
    """A message of the assistant: one text, then calls."""

    content: str | UnsetType | None = UNSET
    tool_calls: tuple[ToolCall, ...] | UnsetType | None = UNSET


class Tool(Message, tag="tool", kw_only=True):
    """The result of one call."""

    tool_call_id: str
    content: str | tuple[AnyPart, ...]
    error: str | UnsetType = UNSET


class Reasoning(Message, tag="reasoning", kw_only=True):
    """Reasoning, which is a separate message before the response."""

    content: str


class Activity(Message, tag="activity", kw_only=True):
    """Progress for display. It is not sent to models."""

    activity_type: str | UnsetType = UNSET
    content: Json | UnsetType = UNSET


AnyMessage: TypeAlias = System | Developer | User | Assistant | Tool | Reasoning | Activity

ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "reasoning", "activity"})
MESSAGE: Final[Codec[AnyMessage]] = Codec(AnyMessage)
STRING: Final[Codec[str]] = Codec(str)
CHECKED: Final[Mapping[str, Codec[Any]]] = {"content": STRING, "toolCalls": Codec(tuple[ToolCall, ...])}
"""Optional members of assistant messages, and the types that they must have."""
