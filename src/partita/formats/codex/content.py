"""Content items of messages and of outputs → parts."""

from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import SystemPart, UserPart
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart
from partita.types.tools import ContentItem

from .fields import AGENT, found, text

TEXTS: Final = frozenset({"input_text", "output_text", "text", "inputText"})
IMAGES: Final = frozenset({"input_image", "image", "inputImage"})


def blocks_of(content: Json) -> list[Json]:
    """The items of a content; a bare text is one of them."""
    if is_array(content):
        return content
    return [] if content is None else [content]


def text_in(block: Json) -> str | None:
    """The text of a text item."""
    if isinstance(block, str):
        return block
    if is_object(block) and _is(block, TEXTS):
        return text(block, "text")
    return None


def words_of(content: Json) -> str:
    """All the texts of a content, joined: what the events say of it."""
    return "".join(words for block in blocks_of(content) if (words := text_in(block)) is not None)


def user_parts(content: Json) -> tuple[UserPart, ...]:
    """What a user's message is made of."""
    return tuple(part_of(block) for block in blocks_of(content))


def system_parts(content: Json) -> tuple[SystemPart, ...]:
    """What instructions are made of: texts, and anything else kept whole."""
    blocks = blocks_of(content)
    return tuple(ForeignPart(AGENT, block) if text_in(block) is None else _text(block) for block in blocks)


def parts_of_output(content: list[Json]) -> tuple[ContentItem, ...]:
    """What an output for the model to look at is made of."""
    return tuple(part_of(block) for block in content)


def part_of(block: Json) -> TextPart | ImagePart | FilePart | ForeignPart:
    """An item as a part; one of an unknown kind is kept whole."""
    if text_in(block) is not None:
        return _text(block)
    if is_object(block) and _is(block, IMAGES):
        return image_of(block) or ForeignPart(AGENT, block)
    return ForeignPart(AGENT, block)


def image_of(block: JsonObject) -> ImagePart | None:
    """An image: a url, or as MCP has it, the data and its type."""
    url, data = text(block, "image_url") or text(block, "url"), text(block, "data")
    media_type = text(block, "mime_type")
    if url is None and data is not None:
        url = data if data.startswith("data:") else f"data:{media_type or 'image/png'};base64,{data}"
    if url is None:
        return None
    names = ("image_url", "imageUrl", "url", "data", "mime_type", "mimeType")
    return ImagePart(url, media_type or media_type_of(url), provider_metadata=_rest(block, *names))


def media_type_of(url: str) -> str | None:
    """The type that a `data:` url names."""
    if not url.startswith("data:"):
        return None
    return url[5:200].partition(",")[0].partition(";")[0] or None


def agent_words(item: JsonObject) -> str:
    """The words of an answer, be they bare or a content."""
    bare = text(item, "text")
    if bare is not None:
        return bare
    blocks = (block.get("text") for block in blocks_of(found(item, "content")) if is_object(block))
    return "".join(words for words in blocks if isinstance(words, str))


def _is(block: JsonObject, kinds: frozenset[str]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind in kinds


def _text(block: Json) -> TextPart:
    return TextPart(text_in(block) or "", provider_metadata=_rest(block, "text"))


def _rest(block: Json, *names: str) -> JsonObject | None:
    """The fields of an item beside its type and its content."""
    if not is_object(block):
        return None
    rest = {name: value for name, value in block.items() if name != "type" and name not in names and value}
    return {AGENT: rest} if rest else None
