"""What a data migration is, and the three that convert whole contents. `json_strings` has the fourth."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.losses import Loss
from partita.formats.mastra.network import structured
from partita.store.encoding import CONTENTS
from partita.store.messages.legacy_content import upgrade
from partita.store.messages.prepared import TYPES
from partita.types.codec import to_json
from partita.types.json import loads
from partita.types.messages import AssistantMessage, Content, Message, derive_type


class StoredRow(NamedTuple):
    """The row of a message as migrations see it."""

    owner: str
    thread_id: str
    id: str
    role: str
    text: str  # the content column, with large values put back


class Change(NamedTuple):
    """A message as it should be stored, a description of the change, and what could not be carried over."""

    message: Message
    done: str
    losses: tuple[Loss, ...] = ()


ChangeMessage: TypeAlias = Callable[[Message, StoredRow], Change | None]
"""Returns the changed message; `None` if there is nothing to change, as in a message that it has changed.

The message is the row as it is read now, in which older shapes are converted already. A message that cannot
be changed raises a `PartitaError` and stays as it is.
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One kind of change to stored messages."""

    name: str
    title: str
    change: ChangeMessage


def with_content(message: Message, content: Content) -> Message:
    """The message with another content of its role, and the type that follows from the content."""
    type_ = message.type if message.type == "event" else derive_type(content.parts)
    changed: Message = replace(message, content=content, type=type_)  # pyright: ignore[reportArgumentType] # of its role
    return changed


def _type_losses(message: Message) -> tuple[Loss, ...]:
    """The loss of a type that is not one of ours: other systems have types of their own."""
    if message.type in TYPES:
        return ()
    return (Loss.of("$.type", message.type, "the type follows from the parts"),)


def is_current(row: StoredRow) -> bool:
    """Whether a row can be read without conversion. Single parts of it may still be of an older form."""
    try:
        CONTENTS[row.role].decode(row.text)
    except DecodeError:
        return False
    return True


# Plain text, or a JSON string, in the content column.

_DONE = {
    "plain text": "plain text converted to a message with one part, marked as reconstructed",
    "string": "content decoded from a JSON string",
}


def _convert_text(message: Message, row: StoredRow) -> Change | None:
    """The message with the text as its only part, or with the content that the string holds."""
    if is_current(row):
        return None
    upgraded = upgrade(row.role, row.text)
    done = _DONE.get(upgraded.shape)
    if done is None:
        return None
    losses = (*upgraded.losses, *_type_losses(message))
    return Change(with_content(message, upgraded.content), done, losses)


PLAIN_TEXT = Migration("plain-text", "Plain text as a message, marked as reconstructed", _convert_text)


# Content of version 4 of the AI SDK, whole or in single parts.

MEMBER_OF_VERSION_4 = re.compile(
    r'"(tool-invocation|source|reasoning|details|mimeType|data|toolInvocations|experimental_attachments)"'
)
"""Any content of the current format that has something of version 4 contains one of these."""


def _convert_version_4(message: Message, row: StoredRow) -> Change | None:
    """The message with current parts."""
    if not MEMBER_OF_VERSION_4.search(row.text) and is_current(row):
        return None
    upgraded = upgrade(row.role, row.text)
    if upgraded.shape == "damaged":
        raise ConversionError("the content is damaged", hint="partita doctor shows what is wrong")
    if upgraded.shape != "version 4" or to_json(upgraded.content) == loads(row.text):
        return None
    changed = with_content(message, upgraded.content)
    losses = (*upgraded.losses, *_type_losses(message))
    return Change(changed, "version 4 content converted to current parts", losses)


VERSION_4 = Migration("version-4-content", "Version 4 content as current parts", _convert_version_4)


# Results of Mastra's agent networks that were stored as JSON in a text part.


def _parse_network(message: Message, row: StoredRow) -> Change | None:
    """The message with the results of networks as structure."""
    changed = structured(message)
    if changed is None:
        return None
    network = changed.content.network_execution if isinstance(changed, AssistantMessage) else None
    if network is None:
        return Change(changed, "internal message of a network, marked as internal")
    return Change(changed, f"network result of {network.primitive_type} {network.primitive_id}")


NETWORK_STRINGS = Migration(
    "network-strings", "Network results as structure instead of JSON in a text", _parse_network
)
