"""What a person said → the content of a user message."""

from collections.abc import Sequence
from typing import Final, assert_never

from partita.formats.losses import Loss
from partita.types.json import JsonObject
from partita.types.messages import UserPart
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    TextPart,
    UnknownPart,
)

from .attachments import media_item
from .dialects import Dialect
from .notes import CONTENT
from .owning import own_item, own_of
from .texts import is_plain, text_content, text_item

NOT_FOR_MODELS: Final = "data of the application is not for the model"
NOT_TAKEN: Final = "the API takes no such part"


def user_content(
    parts: Sequence[UserPart],
    path: str,
    places: Sequence[str],
    dialect: Dialect,
    losses: list[Loss],
    notes: JsonObject,
) -> str | list[JsonObject]:
    """What a person said: text, or a list of items where there is more or it came in one."""
    is_list = notes.get(CONTENT) == "list"
    match parts:
        case (TextPart(text=text, provider_metadata=None),) if not is_list:
            return text
        case _:
            pass
    found = [
        _item(part, place, dialect, losses, keeps_empty=is_list)
        for part, place in zip(parts, places, strict=True)
    ]
    items = [item for item in found if item is not None]
    if is_list or not is_plain(items):
        return items
    return text_content([item["text"] for item in items], path, dialect, losses)


def _item(
    part: UserPart, place: str, dialect: Dialect, losses: list[Loss], *, keeps_empty: bool
) -> JsonObject | None:
    match part:
        case TextPart(text=text):
            own = own_of(part.provider_metadata, dialect)
            return text_item(text, own) if text or keeps_empty else None
        case ImagePart() | FilePart() | ReasoningFilePart():
            item = media_item(part, dialect)
            if not isinstance(item, str):
                return item
            losses.append(Loss.of(place, part, item))
        case DataPart():
            losses.append(Loss.of(place, part, NOT_FOR_MODELS))
        case ForeignPart():
            own_value = own_item(part, dialect)
            if own_value is not None:
                return own_value
            losses.append(Loss.of(place, part, NOT_TAKEN))
        case UnknownPart():
            losses.append(Loss.of(place, part, NOT_TAKEN))
        case _:
            assert_never(part)
    return None
