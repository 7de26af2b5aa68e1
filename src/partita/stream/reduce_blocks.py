"""Text and reasoning: a start, pieces, an end."""

from msgspec.structs import replace

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


def text_delta(state: State, chunk: TextDelta) -> bool:
    """Put the next piece of a text aside."""
    block = state.texts.get(chunk.id)
    if block is None:
        raise _not_open("text", "delta", chunk.id)
    block.pieces.append(chunk.delta)
    if chunk.provider_metadata is not None:
        block.part = replace(block.part, provider_metadata=chunk.provider_metadata)
    return True


def text_end(state: State, chunk: TextEnd) -> bool:
    """Close a text."""
    block = state.texts.pop(chunk.id, None)
    if block is None:
        raise _not_open("text", "end", chunk.id)
    _close(block, chunk)
    if chunk.citations is not None and state.rules.citations:
        block.part = replace(block.part, citations=chunk.citations)
    return True


def reasoning_start(state: State, chunk: ReasoningStart) -> bool:
    """Open a piece of reasoning."""
    part = ReasoningPart("", id=chunk.id, state="streaming", provider_metadata=chunk.provider_metadata)
    block = BlockSlot(part)
    state.reasonings[chunk.id] = block
    state.push_block(block)
    return True


def reasoning_delta(state: State, chunk: ReasoningDelta) -> bool:
    """Put the next piece of reasoning aside."""
    block = state.reasonings.get(chunk.id)
    if block is None:
        raise _not_open("reasoning", "delta", chunk.id)
    block.pieces.append(chunk.delta)
    if chunk.provider_metadata is not None:
        block.part = replace(block.part, provider_metadata=chunk.provider_metadata)
    return True


def reasoning_end(state: State, chunk: ReasoningEnd) -> bool:
    """Close a piece of reasoning."""
    block = state.reasonings.pop(chunk.id, None)
    if block is None:
        raise _not_open("reasoning", "end", chunk.id)
    _close(block, chunk)
    return True


def _close(block: BlockSlot, chunk: TextEnd | ReasoningEnd) -> None:
    metadata = chunk.provider_metadata
    kept = block.part.provider_metadata if metadata is None else metadata
    block.part = replace(block.part, state="done", provider_metadata=kept)


def _not_open(kind: str, event: str, id: str) -> StreamError:
    return StreamError(
        f"{kind}-{event} for {id!r}, which is not open",
        hint=f"send {kind}-start with id {id!r} first, and nothing for it after its {kind}-end",
        chunk_type=f"{kind}-{event}",
        chunk_id=id,
    )
