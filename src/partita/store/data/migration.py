"""What a data migration is: a name, and a pure function from a stored message to a better one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.losses import Loss
from partita.store.encoding import CONTENTS
from partita.store.messages.prepared import TYPES
from partita.types.messages import Content, Message, derive_type


class StoredRow(NamedTuple):
    """The row of a message, as migrations look at it."""

    owner: str
    thread_id: str
    id: str
    role: str
    text: str  # what the content column holds, large values put back


class Changed(NamedTuple):
    """A message as it should be stored, what was done to it, and what could not be carried."""

    message: Message
    done: str
    losses: tuple[Loss, ...] = ()


Change: TypeAlias = Callable[[Message, StoredRow], Changed | None]
"""The better message; `None` when there is nothing to do, as there is for what it gave before.

The message is the row as it is read today: older shapes are read as what they are. What cannot be changed
raises a `PartitaError`, and stays as it is.
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One thing to put right in what is stored."""

    name: str
    title: str
    change: Change


def with_content(message: Message, content: Content) -> Message:
    """The message with another content of its role, and the type that this content makes it."""
    type_ = message.type if message.type == "event" else derive_type(content.parts)
    changed: Message = replace(message, content=content, type=type_)  # pyright: ignore[reportArgumentType] # of its role
    return changed


def type_lost(message: Message) -> tuple[Loss, ...]:
    """The loss of a type that is none of ours: other systems have words of their own there."""
    if message.type in TYPES:
        return ()
    return (Loss.of("$.type", message.type, "it is told by the parts"),)


def is_today(row: StoredRow) -> bool:
    """Whether a row can be read without regard to older shapes. Single parts of it may still be older."""
    try:
        CONTENTS[row.role].decode(row.text)
    except DecodeError:
        return False
    return True
