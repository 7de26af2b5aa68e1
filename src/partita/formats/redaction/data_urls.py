"""Data URLs in a text. Their content is decoded if it is a text, and otherwise not searched."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

_DATA_URL: Final = re.compile(
    r"data:(?P<type>[A-Za-z0-9.+-]{0,60}/?[A-Za-z0-9.+-]{0,100})(?P<options>(?:;[^,;\s\"'<>]{0,100}){0,5}),",
    re.IGNORECASE,
)
_TEXT: Final = re.compile(
    r"(?:text/.*|application/(?:json|xml|javascript|x-sh|yaml|x-yaml|toml|sql|x-ndjson)|.*\+(?:json|xml))?",
    re.IGNORECASE,
)
_BODY: Final = re.compile(r"(?:[A-Za-z0-9+/_-]|\\{1,4}/|%2[BbFf])*+(?:=|%3[Dd]){0,2}")
_BLANK: Final = " "


class DataUrl(NamedTuple):
    """The content of a data URL: where it stands, and its text if it is one."""

    start: int
    end: int
    text: str | None
    is_base64: bool

    def encoded(self, text: str) -> str:
        """Another text in the same encoding."""
        return base64.b64encode(text.encode(errors="replace")).decode() if self.is_base64 else quote(text)


def data_urls(text: str) -> Iterator[DataUrl]:
    """The data URLs of a text whose content is encoded."""
    place = text.find("data:")
    while place >= 0:
        match = _DATA_URL.match(text, place)
        if match is not None and (url := _content(text, match)) is not None:
            yield url
            place = text.find("data:", url.end)
        else:
            place = text.find("data:", place + 1)


def _content(text: str, match: re.Match[str]) -> DataUrl | None:
    start = match.end()
    is_text = _TEXT.fullmatch(match["type"]) is not None
    if ";base64" not in match["options"].lower():
        if not is_text or match.start():
            return None
        try:
            return DataUrl(start, len(text), unquote(text[start:], errors="strict"), is_base64=False)
        except UnicodeDecodeError:
            return None
    body = _BODY.match(text, start)
    end = start if body is None else body.end()
    if not is_text:
        return DataUrl(start, end, None, is_base64=True)
    try:
        decoded = base64.b64decode(unquote(text[start:end]), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return DataUrl(start, end, decoded, is_base64=True)


def without_content(text: str, urls: list[DataUrl]) -> str:
    """A text of the same length with nothing in the place of the content of data URLs."""
    pieces: list[str] = []
    done = 0
    for url in urls:
        pieces += (text[done : url.start], _BLANK * (url.end - url.start))
        done = url.end
    return "".join((*pieces, text[done:]))
