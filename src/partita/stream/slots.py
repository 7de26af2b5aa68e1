"""The parts of a message while it grows: each in a slot that knows how to settle into its value.

Deltas are put aside, O(1) each, and joined when someone looks.
"""

from typing import Literal, Protocol, TypeAlias

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from partita.types.json import Json, JsonObject, heal
from partita.types.messages import AssistantPart, Message, NetworkExecution, NetworkResult, ToolCallPart
from partita.types.parts import DataPart, ReasoningPart, TextPart

from .partial_json import PartialJson

_UNCHANGED: JsonObject = {}


def join(text: str, pieces: list[str]) -> str:
    """`text` and the pieces after it, healed where a piece ends between the halves of a surrogate pair."""
    added = "".join(pieces)
    if text and "\ud800" <= text[-1] <= "\udbff":
        return text[:-1] + heal(text[-1] + added)
    return text + heal(added)


class FixedSlot(Struct, eq=False):
    """A part that will not change."""

    part: AssistantPart

    def settle(self) -> AssistantPart:
        """The part as it is now."""
        return self.part


class BlockSlot(Struct, eq=False):
    """A text or a piece of reasoning that is being written."""

    part: TextPart | ReasoningPart
    pieces: list[str] = []
    changes: JsonObject | None = None  # of fields, put aside like the pieces

    def change(self, **fields: Json) -> None:
        """Put other fields aside."""
        self.changes = fields if self.changes is None else self.changes | fields

    def settle(self) -> TextPart | ReasoningPart:
        """The part with every piece and change so far."""
        if self.pieces:
            self.part = replace(
                self.part, text=join(self.part.text, self.pieces), **(self.changes or _UNCHANGED)
            )
            self.pieces.clear()
            self.changes = None
        elif self.changes is not None:
            self.part = replace(self.part, **self.changes)
            self.changes = None
        return self.part


class DataSlot(Struct, eq=False):
    """Data that a later chunk may replace."""

    part: DataPart

    def settle(self) -> DataPart:
        """The part as it is now."""
        return self.part


class OpenInput:
    """The input of a call while the model writes it, and what its start chunk said of the call."""

    __slots__ = ("_text", "dynamic", "encoding", "name", "slot", "title", "tool_metadata")

    def __init__(
        self,
        text: PartialJson,
        *,
        name: str,
        dynamic: bool,
        encoding: Literal["json", "text"] | None = None,
        title: str | None = None,
        tool_metadata: JsonObject | None = None,
    ) -> None:
        self._text = text
        self.name = name
        self.dynamic = dynamic
        self.encoding: Literal["json", "text"] | None = encoding
        self.title = title
        self.tool_metadata = tool_metadata
        self.slot: CallSlot | None = None

    def feed(self, delta: str) -> None:
        """Put the next piece aside."""
        self._text.feed(delta)

    @property
    def text(self) -> str:
        """The raw text so far."""
        return self._text.text

    def value(self) -> Json | UnsetType:
        """What the text so far amounts to."""
        return self.text if self.encoding == "text" else self._text.read().value


class Children(Protocol):
    """The messages of a sub-agent while they grow."""

    def messages(self) -> tuple[Message, ...]:
        """The messages as they are now."""
        ...


class CallSlot(Struct, eq=False):
    """A tool call. While `source` is set, its input is whatever that holds when someone looks."""

    part: ToolCallPart
    at: int
    source: OpenInput | None = None
    hides_raw: bool = False  # the first delta of a dynamic call in a new step leaves no raw text
    children: Children | None = None

    def settle(self) -> ToolCallPart:
        """The part with its input so far and its sub-agent's messages."""
        if self.source is not None:
            raw = UNSET if self.hides_raw else self.source.text
            self.part = replace(self.part, input=self.source.value(), raw_input=raw)
        if self.children is not None:
            self.part = replace(self.part, children=self.children.messages())
        return self.part

    def release(self) -> ToolCallPart:
        """Settle, and stop following the input: a later chunk has the word."""
        part = self.settle()
        self.source = None
        return part


class NetworkSlot(Struct, eq=False):
    """What a network chose, and the messages of what it chose while they grow."""

    execution: NetworkExecution
    children: Children | None = None

    def settle(self) -> NetworkExecution:
        """The execution with the messages so far."""
        if self.children is not None:
            result = self.execution.final_result or NetworkResult()
            result = replace(result, messages=self.children.messages())
            self.execution = replace(self.execution, final_result=result)
        return self.execution


Slot: TypeAlias = FixedSlot | BlockSlot | DataSlot | CallSlot
