"""Responses of the model: which records make one message, and what it consumed.

A response is what the model said between two inputs: it begins with its first item or event, and ends where
outputs, other people's words or another turn begin. Its token count comes before its items (2025), after them
or after the outputs of its calls (2026), so the count goes to the last response that has none.
"""

from typing import NamedTuple

from msgspec.structs import replace

from partita.formats.transcript import Consumption
from partita.types.chunks import (
    Chunk,
    DataChunk,
    MessageMetadata,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantContent, AssistantMessage

from .fields import AGENT
from .telling import Telling, name_of
from .tokens import Count


class Response:
    """One message of the model, as far as it has come."""

    __slots__ = ("blocks", "counted", "filled", "id", "over")

    def __init__(self, id: str) -> None:
        self.id = id
        self.blocks = 0
        self.filled = False  # whether items came for it, not events alone
        self.counted = False
        self.over = False


class Early(NamedTuple):
    """A count that came before its response."""

    message: AssistantMessage
    consumption: Consumption
    copied: bool
    line: int


class Responses:
    """The response at hand."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._last: Response | None = None
        self._early: Early | None = None

    @property
    def is_open(self) -> bool:
        """Whether a response is under way."""
        return self._last is not None and not self._last.over

    def at_hand(self, record: JsonObject) -> Response:
        """The response that a record belongs to; a new one, if it is the first of it."""
        if self._last is not None and not self._last.over:
            return self._last
        early, self._early = self._early, None
        if early is None:
            return self._open(self._message(record))
        return self._open_counted(early, early.message)

    def text(self, response: Response, words: str, metadata: JsonObject | None) -> None:
        """Words for the reader."""
        block = self._block(response)
        self.grow(response, TextStart(block, metadata), TextDelta(block, words), TextEnd(block))

    def reasoning(self, response: Response, words: str, metadata: JsonObject | None) -> None:
        """Words the model wrote for itself; without words there may still be what only the provider reads."""
        block = self._block(response)
        self.grow(response, ReasoningStart(block, metadata))
        if words:
            self.grow(response, ReasoningDelta(block, words))
        self.grow(response, ReasoningEnd(block))

    def data(self, response: Response, kind: str, data: Json) -> None:
        """Something the model made that has no part of its own."""
        self.grow(response, DataChunk(f"data-{name_of(kind)}", data))

    def grow(self, response: Response, *chunks: Chunk) -> None:
        """Chunks of a response."""
        self._telling.teller.grow(response.id, *chunks)

    def count(self, count: Count, record: JsonObject) -> None:
        """What a response consumed: the last one, if it has no count yet, else one that is still to come."""
        telling = self._telling
        lineage = telling.lineage
        key = f"{AGENT}:{telling.turn_id or lineage.origin or ''}:{count.at}"
        consumption = Consumption(key, "", telling.model, count.usage, telling.time, telling.provider)
        response = self._last
        if response is None or response.counted:
            self.end()
            self._early = Early(self._message(record), consumption, lineage.copied, telling.teller.line)
            return
        self._consume(response, consumption, lineage.copied)
        response.over = response.over or response.filled

    def end(self) -> None:
        """Something else than the model speaks."""
        self._settle_early()
        if self._last is not None:
            self._last.over = True

    def close(self) -> None:
        """The turn is over: nothing belongs to the last response any more."""
        self._settle_early()
        if self._last is not None:
            self._telling.teller.close(self._last.id)
            self._last = None

    def _message(self, record: JsonObject) -> AssistantMessage:
        """The message that begins with a record."""
        telling = self._telling
        metadata = telling.metadata()
        if telling.model is not None:
            metadata = {"model": telling.model, **metadata}
        content = AssistantContent(parts=(), metadata=metadata)
        return AssistantMessage(
            id=telling.new_id(record, "assistant"), created_at=telling.time, content=content
        )

    def _open(self, message: AssistantMessage) -> Response:
        self._telling.teller.open(message)
        response = self._last = Response(message.id)
        self.grow(response, StepStart())
        return response

    def _open_counted(self, early: Early, message: AssistantMessage) -> Response:
        with self._telling.teller.as_of(early.line):
            response = self._open(message)
            self._consume(response, early.consumption, early.copied)
        return response

    def _settle_early(self) -> None:
        """A count whose response left no items, a compaction for one: a hidden message of its own has it."""
        early, self._early = self._early, None
        if early is not None:
            self._open_counted(early, replace(early.message, internal=True))

    def _consume(self, response: Response, consumption: Consumption, copied: bool) -> None:
        response.counted = True
        if copied:  # it was counted where the history comes from
            copy: JsonObject = {AGENT: {"copiedUsage": consumption.usage.raw}}
            self.grow(response, MessageMetadata(copy))
        else:
            self._telling.teller.consume(replace(consumption, message_id=response.id))

    @staticmethod
    def _block(response: Response) -> str:
        response.blocks += 1
        return str(response.blocks - 1)
