"""Parts of messages → content items that Codex keeps: texts and pictures."""

from collections.abc import Sequence
from typing import Final, assert_never

from partita.formats.codex.content import media_type_of
from partita.formats.codex.wire import AGENT
from partita.formats.session_losses import NO_PLACE, Losses
from partita.types.json import JsonObject, is_object
from partita.types.messages import UserPart
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    PartBase,
    ReasoningFilePart,
    TextPart,
    UnknownPart,
)

NO_FILES: Final = "Codex takes pictures, and no other files"
ONLY_STORED: Final = "its bytes are in a store"


def codex_notes(metadata: JsonObject | None) -> JsonObject:
    """What the metadata of a message or a part says of its record."""
    own = (metadata or {}).get(AGENT)
    return own if is_object(own) else {}


def lose_metadata(part: PartBase, path: str, losses: Losses) -> None:
    """Report the provider metadata of other providers."""
    for name, value in (part.provider_metadata or {}).items():
        if name != AGENT:
            losses.say(f"{path}.providerMetadata.{name}", value, NO_PLACE)


def user_blocks(parts: Sequence[UserPart], path: str, losses: Losses) -> list[JsonObject]:
    """What a user wrote, as far as Codex has a place for it."""
    blocks: list[JsonObject] = []
    for index, part in enumerate(parts):
        where = f"{path}.parts[{index}]"
        match part:
            case TextPart(text=text):
                losses.rest(part, where, "text", "state", "provider_metadata")
                lose_metadata(part, where, losses)
                blocks.append({"type": "input_text", "text": text, **codex_notes(part.provider_metadata)})
            case ImagePart() | FilePart():
                blocks += image_block(part, where, losses)
            case ForeignPart(format="codex", value=value) if is_object(value):
                blocks.append(value)
            case DataPart() | ReasoningFilePart() | ForeignPart() | UnknownPart():
                losses.whole(part, where, NO_PLACE)
            case _:
                assert_never(part)
    return blocks


def image_block(part: ImagePart | FilePart, path: str, losses: Losses) -> list[JsonObject]:
    """A picture."""
    if isinstance(part, FilePart) and not part.media_type.startswith("image/"):
        losses.whole(part, path, NO_FILES)
        return []
    if part.url.startswith("blob:"):
        losses.whole(part, path, ONLY_STORED)
        return []
    losses.rest(part, path, "url", "media_type", "provider_metadata")
    lose_metadata(part, path, losses)
    if isinstance(part, FilePart):
        losses.say(f"{path}.type", "file", "Codex calls it an image")
    if part.media_type != media_type_of(part.url):
        losses.say(f"{path}.mediaType", part.media_type, NO_PLACE)
    return [{"type": "input_image", "image_url": part.url, **codex_notes(part.provider_metadata)}]
