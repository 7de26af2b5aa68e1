"""`reasoning_details`: what OpenRouter and others want to have back, whole and in order.

A stream cuts them in pieces that say the same type and index; sent back, they have to be whole again.
"""

from collections.abc import Mapping
from typing import Final

from partita.types.json import Json, JsonObject

from .looking import count, is_empty, objects, word

JOINED: Final[Mapping[str, str]] = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Types that come in pieces, and the field that grows. Encrypted data comes whole."""

TELLING: Final = ("text", "summary", "data", "signature")
"""Fields of which one must say something for a detail to be worth keeping."""


class Detail:
    """One detail while its pieces come."""

    __slots__ = ("fields", "pieces")

    def __init__(self, fields: JsonObject) -> None:
        self.fields = dict(fields)
        self.pieces: list[str] = []

    @property
    def type(self) -> str:
        """The type it came with."""
        return word(self.fields, "type")

    def goes_on_with(self, piece: JsonObject) -> bool:
        """Whether `piece` is the next piece of it."""
        index, known = count(piece, "index"), count(self.fields, "index")
        is_same = word(piece, "type") == self.type and index == known
        return is_same and self.type in JOINED and word(piece, "id") in ("", word(self.fields, "id"))

    def add(self, piece: JsonObject) -> None:
        """The next piece. A field that says nothing leaves what was said."""
        grown = JOINED[self.type]
        self.pieces.append(word(piece, grown))
        said = {key: value for key, value in piece.items() if key != grown and not is_empty(value)}
        self.fields.update(said)

    def whole(self) -> JsonObject:
        """The detail with all its pieces."""
        if not any(self.pieces):
            return self.fields
        grown = JOINED[self.type]
        return {**self.fields, grown: word(self.fields, grown) + "".join(self.pieces)}


class Details:
    """The details of the reasoning at hand."""

    def __init__(self) -> None:
        self._details: list[Detail] = []
        self.are_pending = False
        """Whether there are any that say something."""

    def hear(self, raw: Json, *, whole: bool) -> None:
        """Add what a delta brings, or a whole message, whose details are never pieces of one."""
        for item in objects(raw):
            last = self._details[-1] if self._details and not whole else None
            if last is not None and last.goes_on_with(item):
                last.add(item)
            else:
                self._details.append(Detail(item))
            self.are_pending |= any(word(item, key) for key in TELLING)

    def take(self) -> list[JsonObject]:
        """All of them, whole, if they say something. The next ones belong to another reasoning."""
        taken = [detail.whole() for detail in self._details] if self.are_pending else []
        self._details, self.are_pending = [], False
        return taken


def visible_text(raw: Json) -> str:
    """The words in details: only for servers that send them nowhere else."""
    return "".join(word(item, JOINED.get(word(item, "type"), "")) for item in objects(raw))
