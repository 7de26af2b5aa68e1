"""Text and reasoning: a start, pieces, an end."""

from partita.errors import StreamError
from partita.types.chunks import (
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.parts import ReasoningPart, TextPart

from .slots import BlockSlot
from .state import State


def text_start(state: State, chunk: TextStart) -> bool:
    """Open a text. One that is open under the same id stays as it is, for good."""
    block = BlockSlot(TextPart("", state="streaming", provider_metadata=chunk.provider_metadata))
    state.texts[chunk.id] = block
    state.push_block(block)
    return True


def reasoning_start(state: State, chunk: ReasoningStart) -> bool:
    """Open a piece of reasoning."""
    part = ReasoningPart("", id=chunk.id, state="streaming", provider_metadata=chunk.provider_metadata)
    block = BlockSlot(part)
    state.reasonings[chunk.id] = block
    state.push_block(block)
    return True


def block_delta(state: State, chunk: TextDelta | ReasoningDelta) -> bool:
    """Put the next piece of a text or a reasoning aside."""
    blocks = state.texts if type(chunk) is TextDelta else state.reasonings
    block = blocks.get(chunk.id)
    if block is None:
        raise _not_open(chunk)
    block.pieces.append(chunk.delta)
    if chunk.provider_metadata is not None:
        block.change(provider_metadata=chunk.provider_metadata)
    return True


def block_end(state: State, chunk: TextEnd | ReasoningEnd) -> bool:
    """Close a text or a reasoning."""
    blocks = state.texts if type(chunk) is TextEnd else state.reasonings
    block = blocks.pop(chunk.id, None)
    if block is None:
        raise _not_open(chunk)
    block.change(state="done")
    if chunk.provider_metadata is not None:
        block.change(provider_metadata=chunk.provider_metadata)
    if isinstance(chunk, TextEnd) and chunk.citations is not None and state.rules.citations:
        block.change(citations=chunk.citations)
    return True


def _not_open(chunk: TextDelta | TextEnd | ReasoningDelta | ReasoningEnd) -> StreamError:
    type_ = str(chunk.__struct_config__.tag)
    kind = type_.partition("-")[0]
    return StreamError(
        f"{type_} for {chunk.id!r}, which is not open",
        hint=f"send {kind}-start with id {chunk.id!r} first, and nothing for it after its {kind}-end",
        chunk_type=type_,
        chunk_id=chunk.id,
    )
