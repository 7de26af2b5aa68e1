"""Data URLs and media types."""

from base64 import b64decode, b64encode
from binascii import Error
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

OCTETS: Final = "application/octet-stream"
PLAIN: Final = "text/plain"
PDF: Final = "application/pdf"


class InlineData(NamedTuple):
    """The content of a data URL: base64 data and the media type."""

    data: str
    media_type: str | None


def inline_data(url: str) -> InlineData | None:
    """The content of a data URL in exactly the form that `data_url` writes; `None` for any other URL."""
    if not url.startswith("data:"):
        return None
    head, comma, data = url[5:].partition(",")
    if not comma or not head.endswith(";base64"):
        return None
    media_type = head[: -len(";base64")]
    return InlineData(data, media_type or None)


class DataUrl(NamedTuple):
    """A data URL: its media type, and its data in base64 or percent-encoded."""

    media_type: str | None
    data: str
    is_base64: bool

    def base64(self) -> str | None:
        """The data in base64; `None` if it is not valid."""
        return None if self.is_base64 and not is_base64(self.data) else self.in_base64()

    def in_base64(self) -> str:
        """The data in base64, valid or not."""
        return self.data if self.is_base64 else b64encode(unquote_to_bytes(self.data)).decode()

    def text(self) -> str | None:
        """The data as text; `None` if it is not text in UTF-8."""
        try:
            raw = b64decode(self.data, validate=True) if self.is_base64 else unquote_to_bytes(self.data)
            return raw.decode()
        except ValueError:
            return None


def parse_data_url(url: str) -> DataUrl | None:
    """A data URL (RFC 2397); `None` for any other URL."""
    scheme, _, rest = url.partition(":")
    head, comma, data = rest.partition(",")
    if scheme.lower() != "data" or not comma:
        return None
    media_type, *parameters = head.split(";")
    return DataUrl(media_type or None, data, parameters[-1:] == ["base64"])


def data_url(data: str, media_type: str | None) -> str:
    """The URL of data in base64."""
    return f"data:{media_type or ''};base64,{data}"


def text_url(text: str, media_type: str = PLAIN) -> str:
    """The URL of a text."""
    return data_url(b64encode(text.encode("utf-8", "surrogatepass")).decode(), media_type)


def text_of_base64(data: str) -> str | None:
    """The text of base64 data, if it is UTF-8 and `text_url` would encode it in the same way."""
    try:
        text = b64decode(data, validate=True).decode()
    except (Error, ValueError):
        return None
    return text if b64encode(text.encode()).decode() == data else None


def media_kind(media_type: str) -> str:
    """`image`, `audio`, `video`, or `document` for any other media type."""
    kind = media_type.partition("/")[0]
    return kind if kind in {"image", "audio", "video"} else "document"


def is_base64(data: str) -> bool:
    """Whether a text is base64, without characters of other alphabets."""
    try:
        b64decode(data, validate=True)
    except (Error, ValueError):
        return False
    return True
