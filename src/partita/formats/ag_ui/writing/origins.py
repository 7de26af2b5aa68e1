"""Where words of others came in: messages of results, and what users say in between."""

from msgspec import UNSET

from partita.formats.ag_ui.content import write_content
from partita.formats.ag_ui.losses import NO_PLACE, Losses
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import ToolMessage
from partita.types.parts import SteeringMessagePart


def origin_of(origin: ToolMessage, path: str, losses: Losses) -> JsonObject:
    """What the message that a result came in says besides it."""
    losses.envelope(origin, path, "internal")
    losses.rest(origin.content, f"{path}.content", "format", "parts", "metadata")
    metadata = origin.content.metadata
    if metadata is not UNSET and not is_object(metadata):
        losses.say(f"{path}.content.metadata", metadata, NO_PLACE)
    for number, kept in enumerate(origin.parts):
        losses.whole(kept, f"{path}.content.parts[{number}]")
    return {"metadata": metadata} if is_object(metadata) else {}


def words_of(part: SteeringMessagePart) -> list[Json] | None:
    """What a user said in between, if all of it can be told."""
    losses = Losses()
    written = write_content(part.parts, "$", losses)
    return None if losses.told or part.extra or part.provider_metadata else written
