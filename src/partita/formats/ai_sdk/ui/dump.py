"""Names of `format` that Mastra's writers import."""

from collections.abc import Sequence

from partita.formats.format import Dumped
from partita.formats.losses import Loss
from partita.stream.rules import Version
from partita.types.json import Json, JsonObject
from partita.types.messages import Message, Part

from . import format as ui


def dump(messages: Sequence[Message], version: Version = 7) -> Dumped:
    """Messages as the list that `useChat` takes, without repairs."""
    return ui.dump(messages, version, repair=False)


def dump_part(part: Part, path: str, losses: list[Loss], version: Version) -> Json:
    """One part, or `None` when the version has nothing like it."""
    return ui.write_part(part, version)


def dump_message(message: Message, path: str, losses: list[Loss], version: Version) -> JsonObject:
    """One message."""
    return ui.write_message(message, path, version, None)


def dump_bare(part: Part) -> None:
    """No part: `dump_part` writes all of them."""
