"""What a message is so far: its slots, what is still open in it, and where to find a call.

Lookups cost what they find, not what the message holds, so a chunk stays cheap in a long message.
"""

from typing import TypeAlias

from msgspec import UnsetType
from msgspec.structs import replace

from partita.types.json import Json
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    MessageType,
    ToolCallPart,
)
from partita.types.parts import DataPart, StepStartPart

from .partial_json import PartialJson
from .rules import Rules
from .slots import BlockSlot, CallSlot, DataSlot, FixedSlot, NetworkSlot, OpenInput, Slot

DataKey: TypeAlias = tuple[str, str]


class State:
    """The message so far. Only the functions of the `reduce_…` modules change it."""

    def __init__(self, message: AssistantMessage, rules: Rules) -> None:
        self.rules = rules
        self.finish_reason: str | None = None
        self.errors: list[str] = []
        self.begin(message)

    def begin(self, message: AssistantMessage) -> None:
        """Take `message` as what there is so far, and forget everything else about the one before."""
        self.base = message
        self.id = message.id
        self.metadata: Json | UnsetType = message.content.metadata
        network = message.content.network_execution
        self.network = None if network is None else NetworkSlot(network)
        self.usage = message.content.usage  # no chunk tells it; who knows it sets it
        self.slots: list[Slot] = []
        self.step = 0  # where the parts of the current step begin
        self.calls: dict[str, list[CallSlot]] = {}
        self.data: dict[DataKey, DataSlot] = {}
        self.close_blocks()
        self.inputs: dict[str, OpenInput] = {}
        if message.content.parts:
            for part in message.content.parts:
                self.push(part)
            self._reopen_inputs()

    def close_blocks(self) -> None:
        """Forget which texts and reasonings are open. Their parts stay as they are."""
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
        """Add a text or a reasoning that is still being written."""
        self.slots.append(block)

    def call_in_step(self, call_id: str, dynamic: bool | None = None) -> CallSlot | None:
        """The first call of that id in the current step, of that kind if one is asked for."""
        found = None
        for call in reversed(self.calls.get(call_id, ())):
            if call.at < self.step:
                break
            if dynamic is None or call.part.dynamic == dynamic:
                found = call
        return found

    def call_anywhere(self, call_id: str, dynamic: bool | None = None) -> CallSlot | None:
        """The first call of that id in the current step, else the newest in the message."""
        found = self.call_in_step(call_id, dynamic)
        if found is not None:
            return found
        calls = reversed(self.calls.get(call_id, ()))
        return next((call for call in calls if dynamic is None or call.part.dynamic == dynamic), None)

    def call_by_approval(self, approval_id: str) -> CallSlot | None:
        """The first call that waits for, or had, that approval."""
        for slot in self.slots:
            if isinstance(slot, CallSlot) and slot.part.approval and slot.part.approval.id == approval_id:
                return slot
        return None

    def drop_step(self) -> bool:
        """Remove the parts of the current step and close everything; whether there were any."""
        dropped = self.slots[self.step :]
        del self.slots[self.step :]
        for slot in dropped:
            self._forget(slot)
        self.close_blocks()
        self.inputs.clear()
        return bool(dropped)

    def snapshot(self) -> AssistantMessage:
        """The message as it is now."""
        parts = tuple([slot.settle() for slot in self.slots])
        content = replace(
            self.base.content,
            parts=parts,
            content=self._convenience(parts),
            metadata=self.metadata,
            usage=self.usage,
            network_execution=None if self.network is None else self.network.settle(),
        )
        return replace(self.base, id=self.id, content=content, type=self._type())

    def _convenience(self, parts: tuple[AssistantPart, ...]) -> str | None:
        """The convenience string of a continued message, as long as it says what the parts say."""
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
        """Go on with the inputs that were being written in the last step of a continued message."""
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
    """A message without parts, in the same thread and of the same run as `like`."""
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
