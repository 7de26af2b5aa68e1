"""What stands around the parts of a message, compared field by field."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Final, NamedTuple

from msgspec.structs import fields

from partita.types.json import Json
from partita.types.messages import (
    AssistantContent,
    Content,
    Message,
    MessageType,
    SystemContent,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
    derive_type,
    text_of,
)

_NAMES: Final = [
    (one.name, one.encode_name) for one in fields(UserMessage) if one.name not in {"extra", "content"}
]
_AROUND: Final = attrgetter(*(name for name, _ in _NAMES if name != "type"))
_BESIDE: Final = {
    type_: attrgetter(*(one.name for one in fields(type_) if one.name not in {"parts", "content", "format"}))
    for type_ in (SystemContent, UserContent, AssistantContent, ToolContent)
}


class Unlike(NamedTuple):
    """A field of a message that another has not, or has otherwise."""

    name: str
    value: Json
    is_there: bool


def are_alike(message: Message, again: Message) -> bool:
    """Whether two messages can be compared field by field: of one role, without anything unknown."""
    return (
        type(message) is type(again)
        and message.extra is None
        and again.extra is None
        and message.content.extra is None
        and again.content.extra is None
    )


def unlike(message: Message, again: Message) -> Iterator[Unlike]:
    """The fields around the content that do not arrive, in the order they are written."""
    type_ = type_after(message, again)
    if message.type == type_ and _AROUND(message) == _AROUND(again):
        return
    for name, written in _NAMES:
        value = getattr(message, name)
        other = type_ if name == "type" else getattr(again, name)
        if value != other and value is not None and value is not False:
            yield Unlike(written, value, other is not None and other is not False)


def type_after(message: Message, again: Message) -> MessageType:
    """The type of a message once it is read again with its parts."""
    if isinstance(message, ToolMessage):
        return "tool"
    return again.type if again.type == "event" else derive_type(message.parts)


def is_same_content(message: Message, again: Message) -> bool:
    """Whether nothing that the content says besides its parts is missing."""
    content, other = message.content, again.content
    return is_said_again(message, other) and _BESIDE[type(content)](content) == _BESIDE[type(other)](other)


def is_said_again(message: Message, other: Content) -> bool:
    """Whether the string of the content, if there is one, is that of the parts or of the other content."""
    said = message.content.content
    return said is None or said == other.content or said == text_of(message)
