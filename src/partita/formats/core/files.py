"""Images and other files as parts."""

import re
from collections.abc import Mapping
from typing import Final

from partita.types.data_url import OCTETS, data_url, kind_of_media
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart

EXTENSIONS: Final[Mapping[str, str]] = {
    **{name: f"image/{name}" for name in ("png", "jpeg", "gif", "webp", "avif", "bmp", "heic")},
    **{name: f"text/{name}" for name in ("csv", "html", "css", "xml")},
    **{name: f"application/{name}" for name in ("pdf", "json", "zip")},
    "jpg": "image/jpeg",
    "svg": "image/svg+xml",
    "txt": "text/plain",
    "md": "text/markdown",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "mp4": "video/mp4",
    "webm": "video/webm",
}
"""Media types by extension, of files that are common in chats.

`mimetypes` is not used because its table differs from machine to machine.
"""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def has_scheme(text: str) -> bool:
    """Whether a text is a URL. Base64 never contains a colon."""
    return _SCHEME.match(text) is not None


def file_url(data: str, media_type: str) -> str:
    """The URL of a file that is a URL already, or data in base64."""
    return data if has_scheme(data) else data_url(data, media_type)


def guess_media_type(url: str, name: str | None) -> str:
    """The media type that a data URL names, or that the extension of a URL or a file name implies."""
    scheme, _, rest = url.partition(":")
    if scheme.lower() == "data":
        named = re.split("[;,]", rest, maxsplit=1)[0]
        names = [name or ""]
    else:
        named = ""
        names = [re.split("[?#]", url, maxsplit=1)[0], name or ""]
    guesses = (EXTENSIONS.get(one.rpartition(".")[2].lower()) for one in names)
    return named or next(filter(None, guesses), OCTETS)


def file_part(url: str, media_type: str, filename: str | None = None) -> ImagePart | FilePart:
    """The part of a file: an image has a part of its own, unless it has a name."""
    if kind_of_media(media_type) == "image" and filename is None:
        return ImagePart(url, media_type=media_type)
    return FilePart(url, media_type, filename)


def is_image(part: ImagePart | FilePart | ReasoningFilePart) -> bool:
    """Whether a part is an image."""
    return isinstance(part, ImagePart) or kind_of_media(part.media_type) == "image"
