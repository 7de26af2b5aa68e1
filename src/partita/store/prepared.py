"""Messages made ready to be written: all that takes time and no database, so that any process can do it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from partita.types.codec import encode
from partita.types.json import dumps
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage

from .blob_moves import BLOB, THRESHOLD, Move
from .derived import Derived, derive
from .search.text import SearchFields, fields_of
from .texts import required, storable

ROLES: dict[type[Any], str] = {
    SystemMessage: "system",
    UserMessage: "user",
    AssistantMessage: "assistant",
    ToolMessage: "tool",
}


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
    """A message made ready to be written to a thread: its own, unless another is named."""
    content = encode(message.content).decode()
    return Prepared(
        message,
        required(thread_id or message.thread_id, "thread id"),
        ROLES[type(message)],
        content,
        len(content) > THRESHOLD or BLOB in content,
        None if message.extra is None else dumps(dict(message.extra)).decode(),
        derive(message),
        fields_of(message),
    )


def check(message: Message) -> None:
    """Refuse ids that no database can hold."""
    required(message.id, "message id")
    storable(message.parent_id, "the parent id")
    storable(message.run_id, "the run id")
