"""Plain messages made to go the way of all others: with metadata that has nothing in it."""

from collections.abc import Iterable

from msgspec.structs import replace

from partita.formats.format import Dumped
from partita.formats.framework.plain import plain_text
from partita.formats.losses import Loss
from partita.types.messages import AssistantMessage, Message, UserMessage


def by_the_long_way(message: Message) -> Message:
    """The same message, but not plain."""
    if message.content.provider_metadata is not None:
        return message
    match message:
        case AssistantMessage(content=content):
            return replace(message, content=replace(content, provider_metadata={}))
        case UserMessage(content=asked) if plain_text(message) is not None:
            return replace(message, content=replace(asked, provider_metadata={}))
        case _:
            return message


def besides_the_way(dumped: Dumped) -> tuple[object, list[Loss]]:
    """What was written and what was told of it, but for the metadata that makes the way long."""
    return dumped.payload, list(_others(dumped.losses))


def _others(losses: Iterable[Loss]) -> Iterable[Loss]:
    return (
        loss for loss in losses if loss.what != "{}" or not loss.path.endswith(".content.providerMetadata")
    )
