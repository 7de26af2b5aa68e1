"""Images and other files as parts."""

from partita.types.data_url import kind_of_media
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart


def file_part(url: str, media_type: str, filename: str | None = None) -> ImagePart | FilePart:
    """The part of a file: an image has a part of its own, unless it has a name."""
    if kind_of_media(media_type) == "image" and filename is None:
        return ImagePart(url, media_type=media_type)
    return FilePart(url, media_type, filename)


def is_image(part: ImagePart | FilePart | ReasoningFilePart) -> bool:
    """Whether a part is an image."""
    return isinstance(part, ImagePart) or kind_of_media(part.media_type) == "image"
