"""Messages made ready to be written: all that takes time and no database, so that any process can do it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias, get_args

from partita.errors import StoreError
from partita.types.messages import (
    AssistantMessage,
    Message,
    MessageType,
    SystemMessage,
    ToolMessage,
    UserMessage,
)

from .blob_moves import BLOB, THRESHOLD, Move
from .derived import Derived, derive
from .encoding import encode_content, encode_json
from .search.text import SearchFields, fields_of
from .texts import required, storable

ROLES: dict[type[Any], str] = {
    SystemMessage: "system",
    UserMessage: "user",
    AssistantMessage: "assistant",
    ToolMessage: "tool",
}
TYPES: tuple[str, ...] = get_args(MessageType)


CallTimes: TypeAlias = tuple[datetime | None, datetime | None]
"""When a call began, and when it ended."""


class MovedValues(NamedTuple):
    """Large values that were taken out of a content: where they were, and hash, bytes and type of each."""

    moves: tuple[Move, ...]
    values: tuple[tuple[str, bytes, str | None], ...]


class Prepared(NamedTuple):
    """A message and everything derived from it, before a transaction is opened for it."""

    message: Message
    thread_id: str
    role: str
    content: str
    large: bool  # may hold values that move to blobs, or references to some
    extra: str | None
    derived: Derived
    fields: SearchFields
    times: Mapping[str, CallTimes] | None = None  # of its calls, when the source tells them
    moved: "MovedValues | None" = None  # when large values were taken out of the content already


def prepare(message: Message, thread_id: str | None) -> Prepared:
    """A message ready to be written to its thread, which is `thread_id` if the message names none.

    A message of another thread, and one that would not be read back as it is, is refused.
    """
    if thread_id and message.thread_id and message.thread_id != thread_id:
        raise StoreError(
            f"message {message.id!r} belongs to thread {message.thread_id!r}, not to {thread_id!r}",
            where="$.threadId",
            hint="to copy it, give the copy the other thread_id, or None",
        )
    role = ROLES[type(message)]
    try:
        content = encode_content(role, message.content)
        extra = None if message.extra is None else encode_json(dict(message.extra), "$")
    except StoreError as error:
        error.what = f"message {message.id!r} cannot be stored: {error.what}"
        raise
    return Prepared(
        message,
        required(thread_id or message.thread_id, "thread id"),
        role,
        content,
        len(content) > THRESHOLD or BLOB in content,
        extra,
        derive(message),
        fields_of(message),
    )


def check(message: Message) -> None:
    """Refuse types that do not exist, and ids that no database can hold."""
    if message.type not in TYPES:
        raise StoreError(
            f"{message.type!r:.80} is not a type of message",
            where="$.type",
            hint=f"one of {', '.join(TYPES)}",
        )
    required(message.id, "message id")
    storable(message.parent_id, "the parent id")
    storable(message.run_id, "the run id")
