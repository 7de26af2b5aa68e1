"""The state of an accumulator as a value: store it, and go on later as if nothing had happened.

A message alone is not enough: it does not say which chunk ids are open in it.
"""

from typing import Literal

import msgspec

from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, network_call
from partita.types.parts import ReasoningPart, TextPart
from partita.types.value import Value

from .partial_json import PartialJson
from .reducer import ChildThread
from .slots import BlockSlot, CallSlot, NetworkSlot, OpenInput, Slot
from .state import State


class InputCheckpoint(Value, kw_only=True):
    """The input of a call that is still being written."""

    text: str
    name: str
    dynamic: bool = False
    encoding: Literal["json", "text"] | None = None
    title: str | None = None
    tool_metadata: JsonObject | None = None
    feeds: int | None = None  # the place of the part that shows it
    hides_raw: bool = False


class ChildCheckpoint(Value, kw_only=True):
    """The growing message of a sub-agent, under the call at that place."""

    call: int
    checkpoint: "Checkpoint"


class Checkpoint(Value, kw_only=True):
    """A message that is still growing, and the places of what is open in it."""

    message: AssistantMessage
    fed: int = 0
    texts: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    reasonings: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    inputs: dict[str, InputCheckpoint] = msgspec.field(default_factory=dict[str, InputCheckpoint])
    children: tuple[ChildCheckpoint, ...] = ()
    network: "Checkpoint | None" = None  # of the message that grows in the network execution
    errors: tuple[str, ...] = ()
    finish_reason: str | None = None

    @classmethod
    def of(cls, state: State, fed: int = 0) -> "Checkpoint":
        """The checkpoint of a state."""
        places = {id(slot): place for place, slot in enumerate(state.slots)}
        return cls(
            message=state.snapshot(),
            fed=fed,
            texts=_places(state.texts, places),
            reasonings=_places(state.reasonings, places),
            inputs={call_id: _input_of(source, places) for call_id, source in state.inputs.items()},
            children=tuple(
                ChildCheckpoint(call=place, checkpoint=cls.of(slot.children.growing))
                for place, slot in enumerate(state.slots)
                if isinstance(slot, CallSlot)
                and isinstance(slot.children, ChildThread)
                and slot.children.growing is not None
            ),
            network=_growing_in(state.network),
            errors=tuple(state.errors),
            finish_reason=state.finish_reason,
        )

    def restore(self, state: State) -> None:
        """Open in `state`, which holds the message, what was open in it."""
        state.texts = {key: _reopen(state.slots, place) for key, place in self.texts.items()}
        state.reasonings = {key: _reopen(state.slots, place) for key, place in self.reasonings.items()}
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
    state.network.children = ChildThread(network_call(state.id), known[:-1], growing)


def _places(blocks: dict[str, BlockSlot], places: dict[int, int]) -> dict[str, int]:
    return {block_id: places[id(block)] for block_id, block in blocks.items()}


def _input_of(source: OpenInput, places: dict[int, int]) -> InputCheckpoint:
    slot = source.slot if source.slot is not None and source.slot.source is source else None
    return InputCheckpoint(
        text=source.text,
        name=source.name,
        dynamic=source.dynamic,
        encoding=source.encoding,
        title=source.title,
        tool_metadata=source.tool_metadata,
        feeds=None if slot is None else places.get(id(slot)),
        hides_raw=slot is not None and slot.hides_raw,
    )


def _reopen(slots: list[Slot], place: int) -> BlockSlot:
    part = slots[place].part
    assert isinstance(part, TextPart | ReasoningPart), "a checkpoint names the places of blocks"
    block = BlockSlot(part)
    slots[place] = block
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
    assert isinstance(slot, CallSlot), "a checkpoint names the places of calls"
    growing = State(child.checkpoint.message, state.rules)
    child.checkpoint.restore(growing)
    slot.children = ChildThread(slot.part.id, slot.part.children[:-1], growing)
