"""Files of ours ↔ files of Pydantic AI."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic_ai.messages import (
    AudioUrl,
    BinaryContent,
    DocumentUrl,
    FileUrl,
    ImageUrl,
    TextContent,
    UploadedFile,
    UserContent,
    VideoUrl,
)

from partita.runtime.plugged.jsonable import as_json
from partita.types.json import dumps, is_array
from partita.types.messages import UserPart
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart, TextPart
from partita.types.tools import ContentItem

URLS: Final[Mapping[str, type[ImageUrl] | type[AudioUrl] | type[VideoUrl] | type[DocumentUrl]]] = {
    "image": ImageUrl,
    "audio": AudioUrl,
    "video": VideoUrl,
}
BASE64: Final = ";base64,"


def file_of(url: str, media_type: str | None, name: str | None) -> UserContent:
    """A file for a model to look at; of one that is only kept here, its name."""
    if url.startswith("data:") and BASE64 in url:
        return BinaryContent.from_data_uri(url)
    if not url.startswith(("http:", "https:")):
        return f"[file {name or media_type or 'without a name'}, which cannot be sent]"
    kind = URLS.get((media_type or "image/*").partition("/")[0], DocumentUrl)
    return kind(url, media_type=None if media_type in (None, "image/*") else media_type)


def content_of(parts: Iterable[UserPart | ContentItem]) -> list[UserContent]:
    """What a user said, or a tool gave back to look at."""
    content: list[UserContent] = []
    for part in parts:
        match part:
            case TextPart():
                content.append(part.text)
            case ImagePart():
                content.append(file_of(part.url, part.media_type or "image/*", part.name))
            case FilePart() | ReasoningFilePart():
                content.append(file_of(part.url, part.media_type, part.filename))
            case _:
                pass
    return content


def items_of(content: Any) -> tuple[ContentItem, ...]:
    """What a tool of Pydantic AI gave back to look at."""
    many: Iterable[Any] = content if is_array(content) else [content]
    return tuple(_item(item) for item in many)


def _item(item: Any) -> ContentItem:
    if isinstance(item, BinaryContent):
        return FilePart(item.data_uri, item.media_type)
    if isinstance(item, FileUrl):
        return FilePart(item.url, item.media_type)
    if isinstance(item, TextContent):
        return TextPart(item.content)
    if isinstance(item, UploadedFile):
        reference: dict[str, str] = {item.provider_name: item.file_id}
        return FilePart("", item.media_type, provider_reference=reference)
    value = as_json(item)
    return TextPart(value if isinstance(value, str) else dumps(value).decode())
