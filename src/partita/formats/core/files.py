"""Images and other files as parts."""

from typing import Final, TypeAlias

from partita.types.data_url import kind_of_media, parse_data_url
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart

AnyFile: TypeAlias = ImagePart | FilePart | ReasoningFilePart
FILES: Final = (ImagePart, FilePart, ReasoningFilePart)
"""The types of parts that are files."""


def file_part(url: str, media_type: str, filename: str | None = None) -> ImagePart | FilePart:
    """The part of a file: an image has a part of its own, unless it has a name."""
    if kind_of_media(media_type) == "image" and filename is None:
        return ImagePart(url, media_type=media_type)
    return FilePart(url, media_type, filename)


def is_image(part: AnyFile) -> bool:
    """Whether a part is an image."""
    return isinstance(part, ImagePart) or kind_of_media(part.media_type) == "image"


def file_name(part: AnyFile) -> str | None:
    """The name of a file."""
    return part.name if isinstance(part, ImagePart) else part.filename


def media_type_of(part: AnyFile) -> str:
    """The media type of a file: the one in its data URL, or the one that the part has."""
    inline = parse_data_url(part.url)
    return (inline.media_type if inline else None) or part.media_type or ""
