"""Secrets in the chunks of a run. A secret may come in pieces: texts are searched as they were joined."""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.types.chunks import (
    ChildChunk,
    Chunk,
    FileChunk,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
)

from .redactor import Redactor
from .removal import Leaving
from .walking import redacted

Block: TypeAlias = tuple[str, ...]
"""What pieces of one text have in common."""


class RedactedChunks(NamedTuple):
    """Chunks without secrets, and which of them bore a secret, or a piece of one, in a text."""

    chunks: list[Chunk]
    torn: frozenset[int]


def redacted_chunks(chunks: Sequence[Chunk], redactor: Redactor, path: str) -> RedactedChunks:
    """The same chunks without secrets."""
    now = [redacted(_with_delta(chunk, ""), redactor, f"{path}[{at}]") for at, chunk in enumerate(chunks)]
    torn: set[int] = set()
    for places, seams in _texts(chunks):
        texts = [_delta(chunks[place]) for place in places]
        plain = redactor.joined(texts, f"{path}[{places[0]}]", seams)
        for place, was, text in zip(places, texts, plain, strict=True):
            now[place] = _with_delta(now[place], text)
            if was != text:
                torn.add(place)
    return RedactedChunks(now, frozenset(torn))


class _Text(NamedTuple):
    """Deltas of one text, and which of them begin another part that follows at once."""

    places: list[int]
    seams: list[int]


def _texts(chunks: Sequence[Chunk]) -> list[_Text]:
    """The texts that come in deltas. A secret may begin in one part and end in the next of the same type."""
    texts: list[_Text] = []
    by_block: dict[Block, _Text] = {}
    last: Block | None = None
    has_ended = False
    for index, chunk in enumerate(chunks):
        block = _block(chunk)
        if block is None:
            has_ended = has_ended or isinstance(chunk, ENDS)
            last = last if isinstance(chunk, BETWEEN) else None
            continue
        text = by_block.get(block)
        if text is None:
            if has_ended and last is not None and last[:-1] == block[:-1]:
                text = by_block[last]
                text.seams.extend([len(text.places)] if text.seams else [0, len(text.places)])
            else:
                text = _Text([], [])
                texts.append(text)
            by_block[block] = text
        text.places.append(index)
        last, has_ended = block, False
    return texts


def _block(chunk: Chunk) -> Block | None:
    match chunk:
        case TextDelta(id=id_):
            return ("text", id_)
        case ReasoningDelta(id=id_):
            return ("reasoning", id_)
        case ToolInputDelta(tool_call_id=id_):
            return ("input", id_)
        case ChildChunk(path=path, chunk=inner):
            block = _block(inner)
            return None if block is None else (*path, *block)
        case _:
            return None


def _delta(chunk: Chunk) -> str:
    match chunk:
        case TextDelta(delta=text) | ReasoningDelta(delta=text) | ToolInputDelta(input_text_delta=text):
            return text
        case ChildChunk(chunk=inner):
            return _delta(inner)
        case _:
            return ""


def _with_delta(chunk: Chunk, text: str) -> Chunk:
    match chunk:
        case TextDelta() | ReasoningDelta():
            return replace(chunk, delta=text)
        case ToolInputDelta():
            return replace(chunk, input_text_delta=text)
        case ChildChunk(chunk=inner):
            return replace(chunk, chunk=_with_delta(inner, text))
        case _:
            return chunk


ENDS: Final = (TextEnd, ReasoningEnd)
BETWEEN: Final = (*ENDS, TextStart, ReasoningStart)
"""What stands between two texts that follow each other at once."""

REASONING: Final = (ReasoningStart, ReasoningDelta, ReasoningEnd, ReasoningFileChunk)
FILES: Final = (FileChunk, ReasoningFileChunk)
NETWORK: Final = (NetworkExecutionStart, NetworkExecutionEnd)
CALLS: Final[frozenset[Leaving]] = frozenset({"tool-calls", "tool-outputs"})


def _has_calls(chunk: NetworkExecutionEnd) -> bool:
    """Whether the result of an execution may contain calls and their outputs."""
    result = chunk.final_result
    return result is not None and bool(result.tool_calls or result.messages or result.value is not UNSET)


def tells(chunk: Chunk, kinds: frozenset[Leaving]) -> bool:
    """Whether a chunk tells something of a kind that is left out."""
    name = type(chunk).__name__
    return (
        ("reasoning" in kinds and isinstance(chunk, REASONING))
        or ("files" in kinds and isinstance(chunk, FILES))
        or ("sub-agents" in kinds and (name.startswith("Child") or isinstance(chunk, NETWORK)))
        or ("tool-calls" in kinds and name.startswith("Tool"))
        or ("tool-outputs" in kinds and name.startswith("ToolOutput"))
        or (not CALLS.isdisjoint(kinds) and isinstance(chunk, NetworkExecutionEnd) and _has_calls(chunk))
        or (isinstance(chunk, ChildChunk) and tells(chunk.chunk, kinds))
    )
