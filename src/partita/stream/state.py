"""The state of an unfinished message: its slots, its open blocks, and indices of its calls.

The cost of a chunk does not depend on the length of the message.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from partita.types.chunks import (
    Chunk,
    CustomChunk,
    ReasoningFileChunk,
    SteeringMessageChunk,
    StepReset,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolOutputDenied,
)
from partita.types.json import Json, JsonObject, join_surrogates
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    MessageType,
    NetworkExecution,
    NetworkResult,
    ToolCallPart,
)
from partita.types.parts import DataPart, ReasoningPart, StepStartPart, TextPart

from .partial_json import PartialJson

# The differences of the readers of AI SDK 5, 6 and 7 (releases 5.0.277, 6.0.326, 7.0.169).

Version: TypeAlias = Literal[5, 6, 7]


@dataclass(frozen=True, slots=True)
class Rules:
    """How one major version reads a stream. The defaults are those of the newest."""

    version: Version = 7
    ignored: frozenset[type[Chunk]] = frozenset()
    step_end_closes_blocks: bool = False  # a delta after it is an error
    bad_input_is_raw: bool = False  # of a static call: `rawInput` holds it, not `input`
    citations: bool = True
    approval_reasons: bool = True  # `reason` and `isAutomatic` of an approval request
    outputs_match_kind: bool = False  # static and dynamic calls are searched separately
    renames: bool = True  # a later name of a static call replaces the first
    describes_calls: bool = True  # titles, tool metadata, input encodings
    result_metadata: bool = True  # metadata of outputs is separate from that of calls
    file_metadata: bool = True


_SEVEN_ONLY: frozenset[type[Chunk]] = frozenset(
    {CustomChunk, ReasoningFileChunk, SteeringMessageChunk, StepReset, ToolApprovalResponse}
)

SEVEN = Rules()
SIX = Rules(
    version=6,
    ignored=_SEVEN_ONLY,
    step_end_closes_blocks=True,
    bad_input_is_raw=True,
    citations=False,
    approval_reasons=False,
)
FIVE = Rules(
    version=5,
    ignored=_SEVEN_ONLY | {ToolApprovalRequest, ToolOutputDenied},
    step_end_closes_blocks=True,
    bad_input_is_raw=True,
    citations=False,
    approval_reasons=False,
    outputs_match_kind=True,
    renames=False,
    describes_calls=False,
    result_metadata=False,
    file_metadata=False,
)

RULES: dict[Version, Rules] = {5: FIVE, 6: SIX, 7: SEVEN}


# The slots of an unfinished message, one for each part.
#
# Deltas are appended in O(1) and joined when the part is read.

_UNCHANGED: JsonObject = {}


def join_pieces(text: str, pieces: list[str]) -> str:
    """`text` and the pieces after it, with surrogate pairs joined that were split between pieces."""
    added = "".join(pieces)
    if text and "\ud800" <= text[-1] <= "\udbff":
        return text[:-1] + join_surrogates(text[-1] + added)
    return text + join_surrogates(added)


class FixedSlot(Struct, eq=False):
    """A part that will not change."""

    part: AssistantPart

    def value(self) -> AssistantPart:
        """The current part."""
        return self.part


class BlockSlot(Struct, eq=False):
    """An open text or reasoning."""

    part: TextPart | ReasoningPart
    pieces: list[str] = []
    changes: JsonObject | None = None  # of other fields

    def change(self, **fields: Json) -> None:
        """Change other fields."""
        self.changes = fields if self.changes is None else self.changes | fields

    def value(self) -> TextPart | ReasoningPart:
        """The part with all pieces and changes so far."""
        if self.pieces:
            self.part = replace(
                self.part, text=join_pieces(self.part.text, self.pieces), **(self.changes or _UNCHANGED)
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

    def value(self) -> DataPart:
        """The current part."""
        return self.part


class OpenInput:
    """The input of a call while it is streaming, and the members of its start chunk."""

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
        """Add the next piece."""
        self._text.feed(delta)

    @property
    def text(self) -> str:
        """The raw text so far."""
        return self._text.text

    def value(self) -> Json | UnsetType:
        """The value of the text so far."""
        return self.text if self.encoding == "text" else self._text.read().value


class Children(Protocol):
    """The messages of a sub-agent, which may be unfinished."""

    def messages(self) -> tuple[Message, ...]:
        """The current messages."""
        ...


class CallSlot(Struct, eq=False):
    """A tool call. While `source` is set, its input is read from it."""

    part: ToolCallPart
    at: int
    source: OpenInput | None = None
    hides_raw: bool = False  # the first delta of a dynamic call in a new step leaves no raw text
    children: Children | None = None

    def value(self) -> ToolCallPart:
        """The part with its input so far and its sub-agent's messages."""
        if self.source is not None:
            raw = UNSET if self.hides_raw else self.source.text
            self.part = replace(self.part, input=self.source.value(), raw_input=raw)
        if self.children is not None:
            self.part = replace(self.part, children=self.children.messages())
        return self.part

    def release(self) -> ToolCallPart:
        """Set the part to its current value, and stop reading the input from `source`."""
        part = self.value()
        self.source = None
        return part


class NetworkSlot(Struct, eq=False):
    """A network execution, and its messages while they are unfinished."""

    execution: NetworkExecution
    children: Children | None = None

    def value(self) -> NetworkExecution:
        """The execution with the messages so far."""
        if self.children is not None:
            result = self.execution.final_result or NetworkResult()
            result = replace(result, messages=self.children.messages())
            self.execution = replace(self.execution, final_result=result)
        return self.execution


Slot: TypeAlias = FixedSlot | BlockSlot | DataSlot | CallSlot


DataKey: TypeAlias = tuple[str, str]


class State:
    """An unfinished message. Only the handlers of `reducer` and `tool_handlers` change it."""

    def __init__(self, message: AssistantMessage, rules: Rules) -> None:
        self.rules = rules
        self.finish_reason: str | None = None
        self.errors: list[str] = []
        self.begin(message)

    def begin(self, message: AssistantMessage) -> None:
        """Start from `message`, and drop the state of the previous message."""
        self.base = message
        self.id = message.id
        self.metadata: Json | UnsetType = message.content.metadata
        network = message.content.network_execution
        self.network = None if network is None else NetworkSlot(network)
        self.usage = message.content.usage  # not in any chunk; set by the caller if known
        self.slots: list[Slot] = []
        self.step = 0  # the index of the first part of the current step
        self.calls: dict[str, list[CallSlot]] = {}
        self.data: dict[DataKey, DataSlot] = {}
        self.close_blocks()
        self.inputs: dict[str, OpenInput] = {}
        if message.content.parts:
            for part in message.content.parts:
                self.push(part)
            self._reopen_inputs()

    def close_blocks(self) -> None:
        """Close open texts and reasonings without changing their parts."""
        self.texts: dict[str, BlockSlot] = {}
        self.reasonings: dict[str, BlockSlot] = {}

    def push(self, part: AssistantPart) -> None:
        """Add a part at the end."""
        match part:
            case ToolCallPart():
                call = CallSlot(part, len(self.slots))
                self.slots.append(call)
                self.calls.setdefault(part.id, []).append(call)
            case DataPart():
                data = DataSlot(part)
                self.slots.append(data)
                if part.id is not None:
                    self.data.setdefault((part.name, part.id), data)
            case StepStartPart():
                self.slots.append(FixedSlot(part))
                self.step = len(self.slots)
            case _:
                self.slots.append(FixedSlot(part))

    def push_block(self, block: BlockSlot) -> None:
        """Add an open text or reasoning."""
        self.slots.append(block)

    def call_in_step(self, call_id: str, dynamic: bool | None = None) -> CallSlot | None:
        """The first call with that id (and kind, if given) in the current step."""
        found = None
        for call in reversed(self.calls.get(call_id, ())):
            if call.at < self.step:
                break
            if dynamic is None or call.part.dynamic == dynamic:
                found = call
        return found

    def call_anywhere(self, call_id: str, dynamic: bool | None = None) -> CallSlot | None:
        """The first call with that id in the current step, otherwise the newest one in the message."""
        found = self.call_in_step(call_id, dynamic)
        if found is not None:
            return found
        calls = reversed(self.calls.get(call_id, ()))
        return next((call for call in calls if dynamic is None or call.part.dynamic == dynamic), None)

    def call_by_approval(self, approval_id: str) -> CallSlot | None:
        """The first call with that approval id."""
        for slot in self.slots:
            if isinstance(slot, CallSlot) and slot.part.approval and slot.part.approval.id == approval_id:
                return slot
        return None

    def drop_step(self) -> bool:
        """Remove the parts of the current step and close open blocks; return whether there were parts."""
        dropped = self.slots[self.step :]
        del self.slots[self.step :]
        for slot in dropped:
            self._forget(slot)
        self.close_blocks()
        self.inputs.clear()
        return bool(dropped)

    def snapshot(self) -> AssistantMessage:
        """The current message."""
        parts = tuple([slot.value() for slot in self.slots])
        content = replace(
            self.base.content,
            parts=parts,
            content=self._convenience(parts),
            metadata=self.metadata,
            usage=self.usage,
            network_execution=None if self.network is None else self.network.value(),
        )
        return replace(self.base, id=self.id, content=content, type=self._type())

    def _convenience(self, parts: tuple[AssistantPart, ...]) -> str | None:
        """The plain-text copy of a continued message, if it still equals the text of the parts."""
        text = self.base.content.content
        return text if text is None or parts == self.base.content.parts else None

    def _type(self) -> MessageType:
        if self.base.type == "event":
            return "event"
        return "tool" if self.calls and any(self.calls.values()) else "text"

    def _forget(self, slot: Slot) -> None:
        if isinstance(slot, CallSlot):
            self.calls[slot.part.id].remove(slot)
        elif isinstance(slot, DataSlot) and slot.part.id is not None:
            key = (slot.part.name, slot.part.id)
            if self.data.get(key) is slot:
                del self.data[key]

    def _reopen_inputs(self) -> None:
        """Reopen the streaming inputs in the last step of a continued message."""
        for slot in self.slots[self.step :]:
            if isinstance(slot, CallSlot) and slot.part.state == "input-streaming":
                self.inputs[slot.part.id] = self._reopened(slot.part)

    def _reopened(self, part: ToolCallPart) -> OpenInput:
        described = self.rules.describes_calls
        return OpenInput(
            PartialJson(part.raw_input if isinstance(part.raw_input, str) else "", self.rules.version),
            name=part.name,
            dynamic=part.dynamic,
            encoding=part.input_encoding if described else None,
            title=part.title if described else None,
            tool_metadata=part.tool_metadata if described else None,
        )


def empty_message(id: str, like: AssistantMessage | None = None) -> AssistantMessage:
    """A message without parts, in the thread and run of `like`."""
    content = AssistantContent(parts=())
    if like is None:
        return AssistantMessage(id=id, content=content)
    return AssistantMessage(
        id=id,
        content=content,
        thread_id=like.thread_id,
        resource_id=like.resource_id,
        run_id=like.run_id,
        internal=like.internal,
    )
