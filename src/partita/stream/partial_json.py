"""Incomplete JSON text → value, by the repair rules of `parsePartialJson` in the npm package `ai`.

`PartialJson` keeps the scan between reads, so a stream of deltas is scanned once however often it is read.
While all that comes belongs to one open string, as it does when an agent writes a file, the value is not
even parsed again.

One difference is on purpose: JavaScript parses any depth, here a value nested about a thousand levels
deep is a failed parse.
"""

from typing import Literal, TypeAlias

import msgspec

from partita.errors import DecodeError
from partita.types.json import Json, heal

from .json_repair import Repair
from .open_string import OpenString
from .secure_json import secure_loads

_WHITESPACE = " \t\n\r"
_BRACKETS = {"{": "}", "[": "]", '"': '"'}

ParseState: TypeAlias = Literal["undefined-input", "successful-parse", "repaired-parse", "failed-parse"]


class Parsed(msgspec.Struct, frozen=True):
    """What a text so far amounts to; `value` is `UNSET` when it amounts to nothing."""

    state: ParseState
    value: Json = msgspec.UNSET


class PartialJson:
    """JSON text that arrives in deltas, and its value whenever somebody asks."""

    def __init__(self, text: str = "", version: int = 7) -> None:
        self._text = heal(text)
        self._deltas: list[str] = []
        self._repair = Repair(version)
        self._parsed: Parsed | None = None
        self._growing: OpenString | None = None

    def feed(self, delta: str) -> None:
        """Take the next piece of text; it is not looked at before the next read."""
        self._deltas.append(delta)
        self._parsed = None

    @property
    def text(self) -> str:
        """The text so far."""
        if self._deltas:
            self._take("".join(self._deltas))
        return self._text

    def read(self) -> Parsed:
        """The value of the text so far; the very same one until the next delta, so do not change it."""
        if self._parsed is None:
            if self._deltas:
                self._take("".join(self._deltas))
            self._parsed = self._grown() or self._parse()
        return self._parsed

    def _take(self, added: str) -> None:
        self._deltas.clear()
        if self._growing is not None and not self._growing.take(added):
            self._growing = None
        # The seam is healed too: a delta may end between the halves of a surrogate pair.
        last = self._text[-1:]
        if "\ud800" <= last <= "\udbff":
            self._text = self._text[:-1] + heal(last + added)
        else:
            self._text += heal(added)

    def _grown(self) -> Parsed | None:
        """The value, if all that came since the last one was parsed went into its open string."""
        if self._growing is None:
            return None
        self._repair.skip(len(self._text))
        return Parsed("repaired-parse", self._growing.value())

    def _parse(self) -> Parsed:
        text = self._text
        if _may_be_whole(text):
            try:
                return Parsed("successful-parse", secure_loads(text))
            except DecodeError:
                pass
        self._repair.scan(text)
        try:
            value = secure_loads(self._repair.apply(text))
        except DecodeError:
            return Parsed("failed-parse")
        if self._repair.is_in_string(text):
            self._growing = OpenString.find(value, self._repair.strings)
        return Parsed("repaired-parse", value)


def parse_partial_json(text: str | None, version: int = 7) -> Parsed:
    """The value of JSON text that may stop anywhere, as `ai` of that major version reads it."""
    return Parsed("undefined-input") if text is None else PartialJson(text, version).read()


def _may_be_whole(text: str) -> bool:
    """Whether the first and the last character let `text` be complete JSON. Most prefixes fail here."""
    first, last = text.lstrip(_WHITESPACE)[:1], text.rstrip(_WHITESPACE)[-1:]
    return _BRACKETS.get(first, last) == last
