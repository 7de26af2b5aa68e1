"""A text or a piece of reasoning while it comes: as pieces, as a whole, or as both.

The pieces stream in, and the whole block follows (or comes first, or comes alone). A passage knows what has
been told of it, so nothing is told twice and nothing is left out.
"""

from typing import Final, Literal, TypeAlias

from partita.formats.claude_code.blocks import citations_of
from partita.formats.claude_code.wire import ANTHROPIC, CLAUDE_CODE
from partita.types.chunks import (
    Chunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.json import Json, JsonObject

from .looking import same

Kind: TypeAlias = Literal["text", "reasoning"]
State: TypeAlias = Literal["open", "due", "ended"]
"""`due`: all words are there, and the end waits for the whole block, which may bring a signature."""

KINDS: Final[dict[str, Kind]] = {"text": "text", "thinking": "reasoning", "redacted_thinking": "reasoning"}
WORDS: Final[dict[str, str]] = {"text": "text", "thinking": "thinking"}
"""By the type of a block: what it is, and which field holds its words."""


class Passage:
    """What has been told of a text or a reasoning, and what its end will say."""

    __slots__ = ("_citations", "_heard", "_length", "_pieces", "confirmed", "fields", "id", "kind", "state")

    def __init__(self, id: str, kind: Kind) -> None:
        self.id = id
        self.kind: Kind = kind
        self.state: State = "open"
        self.confirmed = False  # the whole block has come
        self.fields: JsonObject = {}  # what the provider says beside the words
        self._citations: list[Json] = []
        self._pieces: list[str] = []
        self._length = 0  # how many characters were told
        self._heard = 0  # how many of them came as pieces

    @property
    def words(self) -> str:
        """Everything told so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def start(self) -> Chunk:
        """The chunk that opens it."""
        metadata: JsonObject | None = {ANTHROPIC: dict(self.fields)} if self.fields else None
        return TextStart(self.id, metadata) if self.kind == "text" else ReasoningStart(self.id, metadata)

    def hear(self, piece: str) -> str:
        """What a streamed piece adds to what was told: all of it, unless the whole block was there before."""
        known = self._length - self._heard
        self._heard += len(piece)
        return piece if known <= 0 else piece[known:]

    def tell(self, words: str) -> Chunk:
        """The chunk that brings the next words."""
        self._pieces.append(words)
        self._length += len(words)
        self.state = "open"
        return TextDelta(self.id, words) if self.kind == "text" else ReasoningDelta(self.id, words)

    def cite(self, citation: Json) -> None:
        """Note a citation, told at the end."""
        self._citations.append(citation)

    @property
    def waits(self) -> bool:
        """Whether the whole block may still bring what the end must say: a signature."""
        return self.kind == "reasoning" and "signature" not in self.fields and not self.confirmed

    def end(self, *, aborted: bool = False) -> Chunk | None:
        """The chunk that closes it, once."""
        if self.state == "ended":
            return None
        self.state = "ended"
        fields = {**self.fields, "citations": self._citations} if self._citations else self.fields
        metadata: JsonObject = {ANTHROPIC: fields} if fields else {}
        if aborted:
            metadata[CLAUDE_CODE] = {"aborted": True}
        if self.kind == "reasoning":
            return ReasoningEnd(self.id, metadata or None)
        return TextEnd(self.id, metadata or None, citations_of(self._citations, self.id))

    def knows(self, fields: JsonObject, citations: list[Json]) -> bool:
        """Whether its end says, or said, all that a whole block says beside the words."""
        known = all(same(self.fields.get(key), value) for key, value in fields.items())
        return known and (not citations or same(citations, self._citations))

    def confirm(self, words: str, fields: JsonObject, citations: list[Json]) -> str:
        """The whole block has come: take what it says beside the words, and give the words not told yet."""
        self.confirmed = True
        self.fields.update(fields)
        self._citations = citations or self._citations
        told = self.words
        return words[len(told) :] if words.startswith(told) else ""

    def is_of(self, words: str, fields: JsonObject) -> bool:
        """Whether a whole block is this passage, as far as it was told."""
        told = self.words
        if words == told and (words or self.state != "ended" or same(fields, self.fields)):
            return True
        signature = fields.get("signature") or fields.get("redactedData")
        if signature is not None and signature in (
            self.fields.get("signature"),
            self.fields.get("redactedData"),
        ):
            return True
        if self.state == "open" and words.startswith(told):
            return True
        return bool(told) and words.strip() == told.strip()
