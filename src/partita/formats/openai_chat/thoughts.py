"""Thoughts of an answer, in the fields or items in which a server wants them back."""

from typing import Final

from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array
from partita.types.parts import ReasoningPart

from .dialects import Dialect
from .looking import items, word
from .notes import SAID, THINKING
from .owning import own_of
from .texts import fields_in

NOT_OURS: Final = "reasoning goes back to the server it came from, and only to it"
NOT_WANTED: Final = "the server does not want its reasoning back"
OVER: Final = "the server wants reasoning back only while the turn is at work"
ELSEWHERE: Final = "the server takes reasoning in another field"
REASONINGS: Final = ("reasoning_content", "reasoning")
"""Fields with reasoning in words, the first that has some first."""

JOINED: Final = "an answer has one reasoning"


class Thoughts:
    """The thoughts of one answer while they are gathered."""

    def __init__(self, dialect: Dialect, losses: list[Loss], *, is_over: bool) -> None:
        self.are_items = False
        """Whether there are any that stand in the content."""
        self._dialect = dialect
        self._losses = losses
        self._is_over = is_over
        self._texts: list[str] = []
        self._details: list[Json] = []
        self._beside: dict[str, list[str]] = {}
        """Texts in the other fields in which the server had said them."""

    def add(self, part: ReasoningPart, place: str) -> JsonObject | None:
        """A thought; the item that it is, if it is one."""
        own, wanted = own_of(part.provider_metadata, self._dialect), self._dialect.reasoning
        if own is None or wanted is None:
            self._lose(place, part, NOT_WANTED if wanted is None else NOT_OURS)
            return None
        if self._is_over and self._dialect.replays == "turn":
            self._lose(place, part, OVER)
            return None
        details = own.get("reasoning_details")
        if wanted == "reasoning_details" and is_array(details):
            self._details += details
            self._repeat(part.text, own)
            return None
        if details:
            self._lose(f"{place}.providerMetadata.{self._dialect.namespace}", details, NOT_WANTED)
        if not part.text and THINKING not in own:
            return None
        self._texts.append(part.text)
        self._repeat(part.text, own)
        self._tell_form(own, place)
        if wanted != "thinking":
            return None
        self.are_items = True
        return _thinking(part.text, own)

    def fields(self) -> JsonObject:
        """The fields in which thoughts go back."""
        fields: JsonObject = {name: "".join(texts) for name, texts in self._beside.items()}
        match self._dialect.reasoning:
            case "reasoning_details":
                fields |= {"reasoning": "".join(self._texts)} if self._texts else {}
                return {**fields, "reasoning_details": self._details} if self._details else fields
            case "reasoning_content" | "reasoning" as field:
                return {**fields, field: "".join(self._texts)} if self._texts else fields
            case "thinking" | None:
                return fields

    def _repeat(self, text: str, own: JsonObject) -> None:
        for name in items(own.get(SAID)):
            if name in REASONINGS:
                self._beside.setdefault(name, []).append(text)

    def _tell_form(self, own: JsonObject, place: str) -> None:
        """Tell where thoughts become one, or stand elsewhere than they did."""
        wanted, field = self._dialect.reasoning, word(own, "field")
        written = "reasoning" if wanted == "reasoning_details" else wanted
        if field and field != written:
            path = f"{place}.providerMetadata.{self._dialect.namespace}.field"
            self._losses.append(Loss.of(path, field, ELSEWHERE, "changed"))
        if wanted != "thinking" and len(self._texts) > 1:
            self._losses.append(Loss(place, "where one reasoning ends", JOINED, "changed"))

    def _lose(self, place: str, value: Json, why: str) -> None:
        self._losses.append(Loss.of(place, value, why))


def _thinking(text: str, own: JsonObject) -> JsonObject:
    signed = {"signature": own["signature"]} if own.get("signature") else {}
    pieces = own.get(THINKING, [{"type": "text", "text": text}])
    return {"type": "thinking", "thinking": pieces, **signed, **fields_in(own)}
