"""Data URLs, and what kind of thing a media type stands for."""

from base64 import b64decode, b64encode
from binascii import Error
from typing import Final, NamedTuple

OCTETS: Final = "application/octet-stream"
PLAIN: Final = "text/plain"


class Inline(NamedTuple):
    """What a data URL holds: bytes in base64, and the type it names."""

    data: str
    media_type: str | None


def inline_of(url: str) -> Inline | None:
    """The data of a data URL in base64 that is spelt as `data_url` spells it."""
    if not url.startswith("data:"):
        return None
    head, comma, data = url[5:].partition(",")
    if not comma or not head.endswith(";base64"):
        return None
    media_type = head[: -len(";base64")]
    return Inline(data, media_type or None)


def data_url(data: str, media_type: str | None) -> str:
    """The URL of data in base64."""
    return f"data:{media_type or ''};base64,{data}"


def text_url(text: str, media_type: str = PLAIN) -> str:
    """The URL of a text."""
    return data_url(b64encode(text.encode("utf-8", "surrogatepass")).decode(), media_type)


def text_in(data: str) -> str | None:
    """The text that data in base64 holds, if it is text and this is the one way to spell it."""
    try:
        text = b64decode(data, validate=True).decode()
    except (Error, ValueError):
        return None
    return text if b64encode(text.encode()).decode() == data else None


def kind_of_media(media_type: str) -> str:
    """`image`, `audio`, `video`, or `document` for all else."""
    kind = media_type.partition("/")[0]
    return kind if kind in {"image", "audio", "video"} else "document"


def is_base64(data: str) -> bool:
    """Whether a text is base64, without characters of other alphabets."""
    try:
        b64decode(data, validate=True)
    except (Error, ValueError):
        return False
    return True
