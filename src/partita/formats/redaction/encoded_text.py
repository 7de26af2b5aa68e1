"""Encoded text: the view of a text without escapes and control codes, and the data URLs in it.

A secret may be percent-encoded, escaped in JSON or HTML, or interrupted by colours of a terminal and
characters without width. Secrets are searched in the view, where escapes are decoded and control codes
removed, and replaced in the text. The content of a data URL is decoded if it is text, and otherwise not
searched.
"""

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

_INVISIBLE: Final = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_ESCAPE_CHARACTER: Final = r"(?:\x1b|(?<!\\)\\{1,4}(?:u001[bB]|x1[bB]|033|e))"
_CODED: Final = re.compile(
    rf"(?P<control>{_ESCAPE_CHARACTER}(?:\[[0-?]{{0,32}}[ -/]{{0,4}}[@-~]"
    rf"|\][^\x07\x1b\r\n]{{0,256}}(?:\x07|\x1b\\)"
    rf"|[()][0-9A-B]|[=>78cDEHMNOZ])|[{_INVISIBLE}]++)"
    r"|(?<!\\)\\++(?:u(?P<code>[0-9A-Fa-f]{4})|(?P<letter>[\"'/nrtbf]))"
    r"|%(?:25){0,4}(?P<percent>[0-9A-Fa-f]{2})"
    r"|&(?:(?P<entity>quot|amp|lt|gt|apos)|#(?P<decimal>[0-9]{1,6})|#[xX](?P<hex>[0-9A-Fa-f]{1,5}));"
)
_CODES: Final = bytes(
    code not in b"\t\n\r" and (code < 32 or code == 127 or code in b"\\%&") for code in range(256)
)
"""For each ASCII character, whether an escape or a control code may begin with it."""

_NOT_SEEN: Final = re.compile(f"[{_INVISIBLE}]")
_LETTERS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "", "f": ""}
_SIMPLE: Final = {"\\n": "\n", "\\r": "\r", "\\t": "\t", '\\"': '"', "\\'": "'", "\\/": "/"}
"""The escapes that are the most frequent."""

_ENTITIES: Final = {"quot": '"', "amp": "&", "lt": "<", "gt": ">", "apos": "'"}


class View(NamedTuple):
    """A decoded text. From `places[i]` on, the view shows the text from `origins[i]` on.

    `widths[i]` is the number of characters of the text that encode the one at `places[i]`.
    """

    text: str
    places: list[int]
    origins: list[int]
    widths: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The part of the text that a part of the view shows."""
        if not self.places:
            return start, end
        return self._character(start)[0], self._character(end - 1)[1]

    def _character(self, place: int) -> tuple[int, int]:
        index = bisect_right(self.places, place) - 1
        if index < 0:
            return place, place + 1
        ahead = place - self.places[index]
        start = self.origins[index] + ahead
        return start, start + (1 if ahead else self.widths[index])


def view_of(text: str, data: bytes) -> View:
    """The view of a text; `data` is the text in ASCII."""
    pieces: list[str] = []
    places: list[int] = []
    origins: list[int] = []
    widths: list[int] = []
    done = length = 0
    for start in _candidates(text, data):
        if start < done:
            continue
        seen, end = _SIMPLE.get(text[start : start + 2]), start + 2
        if seen is None:
            found = _CODED.match(text, start)
            if found is None:
                continue
            seen, end = _decoded(found), found.end()
        pieces.append(text[done:start])
        length += start - done
        if seen:
            places.append(length)
            origins.append(start)
            widths.append(end - start)
            pieces.append(seen)
            length += 1
        places.append(length)
        origins.append(end)
        widths.append(1)
        done = end
    if not places:
        return View(text, [], [], [])
    pieces.append(text[done:])
    return View("".join(pieces), places, origins, widths)


def _candidates(text: str, data: bytes) -> list[int]:
    """Where an escape or an invisible character may be."""
    candidates: list[int] = []
    codes = data.translate(_CODES)
    place = codes.find(1)
    while place >= 0:
        candidates.append(place)
        place = codes.find(1, place + 1)
    if not text.isascii():
        candidates += (match.start() for match in _NOT_SEEN.finditer(text))
        candidates.sort()
    return candidates


def _decoded(found: re.Match[str]) -> str:
    """The character of an escape; empty for a control code."""
    match found.lastgroup:
        case "control":
            return ""
        case "code":
            return _character(int(found["code"], 16))
        case "percent":
            return _character(int(found["percent"], 16))
        case "letter":
            return _LETTERS.get(found["letter"], found["letter"])
        case "entity":
            return _ENTITIES[found["entity"]]
        case "decimal":
            return _character(int(found["decimal"]))
        case _:
            return _character(int(found["hex"], 16))


def _character(code: int) -> str:
    """A character; empty for one that is invisible."""
    character = chr(code) if code < 0x110000 else "?"
    return "" if _NOT_SEEN.match(character) else character


# Data URLs

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
    """The content of a data URL: its place, and its text if it is one."""

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
    """A text of the same length with spaces instead of the content of data URLs."""
    pieces: list[str] = []
    done = 0
    for url in urls:
        pieces += (text[done : url.start], _BLANK * (url.end - url.start))
        done = url.end
    return "".join((*pieces, text[done:]))
