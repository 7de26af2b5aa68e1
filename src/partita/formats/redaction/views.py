"""A text as its reader sees it: escapes decoded, control codes gone, and where each character came from.

A secret may be written percent-encoded, escaped in JSON or HTML, or interrupted by colours of a terminal and
characters without width. Secrets are searched in the view, and replaced in the text.
"""

import re
from bisect import bisect_right
from typing import Final, NamedTuple

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
"""For each character of ASCII, whether something other than itself may begin with it."""

_NOT_SEEN: Final = re.compile(f"[{_INVISIBLE}]")
_LETTERS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "", "f": ""}
_SIMPLE: Final = {"\\n": "\n", "\\r": "\r", "\\t": "\t", '\\"': '"', "\\'": "'", "\\/": "/"}
"""The escapes that are the most frequent."""

_ENTITIES: Final = {"quot": '"', "amp": "&", "lt": "<", "gt": ">", "apos": "'"}


class View(NamedTuple):
    """What a reader sees. From `places[i]` on, the view shows the text from `origins[i]` on.

    `widths[i]` is how many characters of the text stand for the one at `places[i]`.
    """

    text: str
    places: list[int]
    origins: list[int]
    widths: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The part of the text that a part of the view stands for."""
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
            seen, end = _seen(found), found.end()
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
    """Where something may stand that is not seen as it is."""
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


def _seen(found: re.Match[str]) -> str:
    """The character that an escape stands for; none for a control code."""
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
    """One character, or none for what cannot be seen."""
    character = chr(code) if code < 0x110000 else "?"
    return "" if _NOT_SEEN.match(character) else character
