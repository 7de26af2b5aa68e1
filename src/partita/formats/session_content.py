"""The content of a tool output as the blocks of a session file."""

from collections.abc import Callable, Iterable, Sequence
from typing import assert_never

from partita.types.json import JsonObject
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart, UnknownPart
from partita.types.tools import ContentItem

from .session_losses import NO_PLACE, Losses


def content_blocks(
    items: Sequence[ContentItem],
    path: str,
    losses: Losses,
    *,
    text_blocks: Callable[[str], Iterable[JsonObject]],
    file_blocks: Callable[[ImagePart | FilePart, str, Losses], Iterable[JsonObject]],
) -> list[JsonObject]:
    """The blocks of all items. What they cannot hold is added to `losses`."""
    blocks: list[JsonObject] = []
    for index, item in enumerate(items):
        where = f"{path}.value[{index}]"
        match item:
            case TextPart(text=text):
                losses.rest(item, where, "text", "state")
                blocks += text_blocks(text)
            case ImagePart() | FilePart():
                blocks += file_blocks(item, where, losses)
            case ForeignPart() | UnknownPart():
                losses.whole(item, where, NO_PLACE)
            case _:
                assert_never(item)
    return blocks
