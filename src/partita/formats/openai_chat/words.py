"""The texts, refusals and reasonings of an answer, one at a time, and what belongs to each."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from partita.formats.answers.outlet import Outlet
from partita.types.json import Json, JsonObject
from partita.types.parts import Citation

from .details import Details

Kind: TypeAlias = Literal["text", "refusal", "reasoning"]

NAMES: Final[Mapping[Kind, str]] = {"text": "txt", "refusal": "refusal", "reasoning": "reasoning"}
"""How the ids of each kind begin."""


class Words:
    """What the model says, in the order it says it."""

    def __init__(self, outlet: Outlet) -> None:
        self.has_refused = False
        self.details = Details()
        self.signature = ""
        """Mistral's, of the reasoning at hand."""
        self.field = ""
        """Where the reasoning at hand comes from: it tells that server's reasoning from all other."""
        self.logprobs: dict[Kind, list[Json]] = {"text": [], "refusal": []}
        self.extra: JsonObject = {}
        """What a server wants to have back with the text."""
        self.citations: list[Citation] = []
        self._outlet = outlet
        self._kind: Kind | None = None
        self._begun = dict.fromkeys(NAMES, 0)

    def say(self, kind: Kind, piece: str) -> None:
        """The next piece of a text, a refusal or a reasoning. Another kind ends the one before."""
        if not piece:
            return
        if self._kind != kind:
            self.end()
            if kind != "reasoning":
                self._show_details()
            self._begin(kind)
        if kind == "reasoning":
            self._outlet.reasoning(self._id(kind), piece)
        else:
            self._outlet.text(self._id(kind), piece)

    def make_room(self) -> None:
        """A call begins: the reasoning that led to it is whole, while a text may go on."""
        if self._kind in (None, "reasoning"):
            self.finish()

    def finish(self) -> None:
        """Nothing more is said, for now: close what is open and keep what was not told yet."""
        self.end()
        self._show_details()

    def end(self) -> None:
        """What is being said, if anything, is whole."""
        if self._kind is None:
            return
        kind, self._kind = self._kind, None
        cited = tuple(self.citations) if kind == "text" else ()
        self._outlet.end(self._id(kind), self._facts(kind), cited or None)
        if kind == "text":
            self.citations.clear()

    def _show_details(self) -> None:
        """Details of a reasoning without words, encrypted ones mostly, make a reasoning without words."""
        if self.details.are_pending:
            self._begin("reasoning")
            self.end()

    def _begin(self, kind: Kind) -> None:
        self._kind = kind
        self._begun[kind] += 1
        if kind == "reasoning":
            self._outlet.start_reasoning(self._id(kind))
        else:
            self.has_refused |= kind == "refusal"
            self._outlet.start_text(self._id(kind), {"refusal": True} if kind == "refusal" else None)

    def _id(self, kind: Kind) -> str:
        return f"{NAMES[kind]}-{self._begun[kind] - 1}"

    def _facts(self, kind: Kind) -> JsonObject:
        """What belongs to the part that ends."""
        if kind == "reasoning":
            facts: JsonObject = {"field": self.field, "signature": self.signature}
            facts["reasoning_details"] = self.details.take()
            self.field, self.signature = "", ""
        else:
            facts = {"refusal": kind == "refusal", "logprobs": self.logprobs[kind]}
            self.logprobs[kind] = []
        if kind == "text":
            facts |= self.extra
            self.extra = {}
        return {key: value for key, value in facts.items() if value}
