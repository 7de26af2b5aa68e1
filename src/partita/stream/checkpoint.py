"""The state of an accumulator as a value, which can be stored and continued later.

The message alone is not enough, because it does not contain the ids of open chunks.
"""

from typing import Literal

import msgspec

from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, network_call_id
from partita.types.parts import ReasoningPart, TextPart
from partita.types.value import Value

from .partial_json import PartialJson
from .reducer import ChildThread
from .state import BlockSlot, CallSlot, NetworkSlot, OpenInput, Slot, State


class InputCheckpoint(Value, kw_only=True):
    """The input of a call that is still being written."""

    text: str
    name: str
    dynamic: bool = False
    encoding: Literal["json", "text"] | None = None
    title: str | None = None
    tool_metadata: JsonObject | None = None
    feeds: int | None = None  # the index of the part that shows it
    hides_raw: bool = False


class ChildCheckpoint(Value, kw_only=True):
    """The unfinished message of a sub-agent, whose call is the part at that index."""

    call: int
    checkpoint: "Checkpoint"


class Checkpoint(Value, kw_only=True):
    """An unfinished message, and the indices of its open parts."""

    message: AssistantMessage
    fed: int = 0
    texts: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    reasonings: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    inputs: dict[str, InputCheckpoint] = msgspec.field(default_factory=dict[str, InputCheckpoint])
    children: tuple[ChildCheckpoint, ...] = ()
    network: "Checkpoint | None" = None  # of the unfinished message in the network execution
    errors: tuple[str, ...] = ()
    finish_reason: str | None = None

    @classmethod
    def of(cls, state: State, fed: int = 0) -> "Checkpoint":
        """The checkpoint of a state."""
        indices = {id(slot): index for index, slot in enumerate(state.slots)}
        return cls(
            message=state.snapshot(),
            fed=fed,
            texts=_open_indices(state.texts, indices),
            reasonings=_open_indices(state.reasonings, indices),
            inputs={call_id: _input_of(source, indices) for call_id, source in state.inputs.items()},
            children=tuple(
                ChildCheckpoint(call=index, checkpoint=cls.of(slot.children.growing))
                for index, slot in enumerate(state.slots)
                if isinstance(slot, CallSlot)
                and isinstance(slot.children, ChildThread)
                and slot.children.growing is not None
            ),
            network=_growing_in(state.network),
            errors=tuple(state.errors),
            finish_reason=state.finish_reason,
        )

    def restore(self, state: State) -> None:
        """Reopen the parts of the message in `state` that were open."""
        state.texts = {key: _reopen(state.slots, index) for key, index in self.texts.items()}
        state.reasonings = {key: _reopen(state.slots, index) for key, index in self.reasonings.items()}
        state.inputs = {
            call_id: _reopen_input(state, checkpoint) for call_id, checkpoint in self.inputs.items()
        }
        for child in self.children:
            _reopen_child(state, child)
        if self.network is not None:
            _reopen_network(state, self.network)
        state.errors = list(self.errors)
        state.finish_reason = self.finish_reason


def _growing_in(network: NetworkSlot | None) -> Checkpoint | None:
    thread = None if network is None else network.children
    if isinstance(thread, ChildThread) and thread.growing is not None:
        return Checkpoint.of(thread.growing)
    return None


def _reopen_network(state: State, checkpoint: Checkpoint) -> None:
    assert state.network is not None, "a checkpoint of a network is of one that began"
    growing = State(checkpoint.message, state.rules)
    checkpoint.restore(growing)
    result = state.network.execution.final_result
    known = () if result is None else result.messages
    state.network.children = ChildThread(network_call_id(state.id), known[:-1], growing)


def _open_indices(blocks: dict[str, BlockSlot], indices: dict[int, int]) -> dict[str, int]:
    return {block_id: indices[id(block)] for block_id, block in blocks.items()}


def _input_of(source: OpenInput, indices: dict[int, int]) -> InputCheckpoint:
    slot = source.slot if source.slot is not None and source.slot.source is source else None
    return InputCheckpoint(
        text=source.text,
        name=source.name,
        dynamic=source.dynamic,
        encoding=source.encoding,
        title=source.title,
        tool_metadata=source.tool_metadata,
        feeds=None if slot is None else indices.get(id(slot)),
        hides_raw=slot is not None and slot.hides_raw,
    )


def _reopen(slots: list[Slot], index: int) -> BlockSlot:
    part = slots[index].part
    assert isinstance(part, TextPart | ReasoningPart), "a checkpoint has the indices of blocks"
    block = BlockSlot(part)
    slots[index] = block
    return block


def _reopen_input(state: State, checkpoint: InputCheckpoint) -> OpenInput:
    source = OpenInput(
        PartialJson(checkpoint.text, state.rules.version),
        name=checkpoint.name,
        dynamic=checkpoint.dynamic,
        encoding=checkpoint.encoding,
        title=checkpoint.title,
        tool_metadata=checkpoint.tool_metadata,
    )
    slot = None if checkpoint.feeds is None else state.slots[checkpoint.feeds]
    if isinstance(slot, CallSlot):
        slot.source, slot.hides_raw, source.slot = source, checkpoint.hides_raw, slot
    return source


def _reopen_child(state: State, child: ChildCheckpoint) -> None:
    slot = state.slots[child.call]
    assert isinstance(slot, CallSlot), "a checkpoint has the indices of calls"
    growing = State(child.checkpoint.message, state.rules)
    child.checkpoint.restore(growing)
    slot.children = ChildThread(slot.part.id, slot.part.children[:-1], growing)
