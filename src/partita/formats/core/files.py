"""Images and other files: their parts, URLs and names, and the names that APIs have for media types."""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from partita.types.data_url import OCTETS, data_url, media_kind, parse_data_url
from partita.types.json import Json, JsonObject
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart

AnyFile: TypeAlias = ImagePart | FilePart | ReasoningFilePart
FILES: Final = (ImagePart, FilePart, ReasoningFilePart)
"""The types of parts that are files."""

ANY_IMAGE: Final = "image/*"
"""The media type of an image that has none. The AI SDK uses the same."""

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


def file_part(url: str, media_type: str, filename: str | None = None) -> ImagePart | FilePart:
    """Return the part of a file: an `ImagePart` for an image without a name, else a `FilePart`."""
    if media_kind(media_type) == "image" and filename is None:
        return ImagePart(url, media_type=media_type)
    return FilePart(url, media_type, filename)


def is_image(part: AnyFile) -> bool:
    """Whether a part is an image."""
    return isinstance(part, ImagePart) or media_kind(part.media_type) == "image"


def file_name(part: AnyFile) -> str | None:
    """Return the name of a file."""
    return part.name if isinstance(part, ImagePart) else part.filename


def media_type_of(part: AnyFile) -> str:
    """Return the media type of a file: that of its data URL, or that of the part."""
    inline = parse_data_url(part.url)
    return (inline.media_type if inline else None) or part.media_type or ""


def file_url(data: str, media_type: str) -> str:
    """Return the URL of a file that is either base64 or a URL already."""
    return data if has_scheme(data) else data_url(data, media_type)


def guess_media_type(url: str, name: str | None) -> str:
    """Guess the media type of a file that comes without one, by its data URL or an extension."""
    scheme, _, rest = url.partition(":")
    is_data = scheme.lower() == "data"
    named = re.split("[;,]", rest, maxsplit=1)[0] if is_data else ""
    names = [name or ""] if is_data else [re.split("[?#]", url, maxsplit=1)[0], name or ""]
    guesses = (EXTENSIONS.get(each.rpartition(".")[2].lower()) for each in names)
    return named or next(filter(None, guesses), OCTETS)


class MediaFormats:
    """The names that an API has for media types, such as `png` and `mp3`."""

    def __init__(self, **formats: str) -> None:
        """`formats`: the names for each kind of media (`image`, `audio`, …), separated by spaces.

        A name may be followed by `=` and its media type, or the second half of it. If a name has several
        media types, the first is read; if a media type has several names, the first is written.
        """
        self._types: dict[tuple[str, str], str] = {}
        self._names: dict[str, str] = {}
        for kind, names in formats.items():
            for name, _, given in (one.partition("=") for one in names.split()):
                media_type = given if "/" in given else f"{kind}/{given or name}"
                self._types.setdefault((kind, name), media_type)
                self._names.setdefault(media_type, name)

    def media_type(self, kind: str, name: Json) -> str | None:
        """Return the media type of a name."""
        return self._types.get((kind, name)) if isinstance(name, str) else None

    def name(self, media_type: str) -> str | None:
        """Return the name of a media type, or `None` if the API does not accept it."""
        return self._names.get(media_type)


# OpenAI's `input_audio`, which Chat Completions and the Responses API have

# Only these, and only as data: https://platform.openai.com/docs/guides/audio
_SOUNDS: Final = MediaFormats(audio="wav wav=x-wav wav=wave mp3=mpeg mp3")


def read_sound(sound: JsonObject) -> FilePart | None:
    """Return the part of `{data, format}`, or `None` for an unknown format."""
    media_type, data = _SOUNDS.media_type("audio", sound.get("format")), sound.get("data")
    return FilePart(data_url(data, media_type), media_type) if media_type and isinstance(data, str) else None


def write_sound(media_type: str, data: str | None) -> JsonObject | None:
    """Return `{data, format}` for data in base64, or `None` for a media type that is not accepted."""
    form = _SOUNDS.name(media_type)
    return None if form is None or data is None else {"data": data, "format": form}
