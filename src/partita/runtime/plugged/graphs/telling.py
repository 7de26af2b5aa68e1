"""Messages that a graph streams → chunks. Several models may speak at once: each message is told apart."""

from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.messages.ai import add_ai_message_chunks

from partita.errors import DecodeError
from partita.formats.core.tool_text import parse_input
from partita.runtime.tools.chunks import chunk_of_output
from partita.types.chunks import (
    Chunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
)
from partita.types.json import JsonObject

from .answers import blocks_of, piece_of, told
from .outputs import output_of


@dataclass(slots=True)
class Call:
    """A call while its input is written."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Speech:
    """One message of a model while it comes."""

    node: str
    pieces: list[AIMessageChunk] = field(default_factory=list[AIMessageChunk])
    block: tuple[str, str] | None = None
    """The kind and the id of the block that is open."""
    calls: dict[Any, Call] = field(default_factory=dict[Any, Call])


class Speaking:
    """Makes chunks of the messages of one run."""

    def __init__(self, known_calls: set[str]) -> None:
        """`known_calls` are those of the message that the run goes on with."""
        self._known = known_calls
        self._speeches: dict[str, Speech] = {}
        self._told: set[str] = set()
        self._blocks = 0

    def chunks(self, message: BaseMessage, node: str) -> list[Chunk]:
        """The chunks that a message, or a piece of one, amounts to."""
        if isinstance(message, AIMessage):
            return self._hear(message, node)
        if isinstance(message, ToolMessage) and message.tool_call_id in self._known:
            return [chunk_of_output(message.tool_call_id, output_of(message))]
        return []

    def leave(self, node: str | None = None) -> list[Chunk]:
        """The ends of the messages that a node, or any, has begun."""
        over = [name for name, speech in self._speeches.items() if node in (None, speech.node)]
        return [chunk for name in over for chunk in self._end(name)]

    def _hear(self, message: AIMessage, node: str) -> list[Chunk]:
        name = message.id or node
        if name in self._told:
            return []
        begun = [] if self._speeches else [StepStart()]
        speech = self._speeches.setdefault(name, Speech(node))
        is_piece = isinstance(message, AIMessageChunk)
        piece = message if isinstance(message, AIMessageChunk) else piece_of(message)
        speech.pieces.append(piece)
        chunks = [chunk for block in blocks_of(piece) for chunk in self._block(speech, block)]
        is_last = not is_piece or piece.chunk_position == "last"
        return [*begun, *chunks, *(self._end(name) if is_last else [])]

    def _block(self, speech: Speech, block: JsonObject) -> list[Chunk]:
        match block:
            case {"type": "text", "text": str(text)} if text:
                return [*self._opened(speech, "text"), TextDelta(_open(speech), text)]
            case {"type": "reasoning", "reasoning": str(text)} if text:
                return [*self._opened(speech, "reasoning"), ReasoningDelta(_open(speech), text)]
            case {"type": "tool_call_chunk"}:
                return [*_closed(speech), *self._write(speech, block)]
            case _:
                return []

    def _opened(self, speech: Speech, kind: str) -> list[Chunk]:
        if speech.block is not None and speech.block[0] == kind:
            return []
        closed = _closed(speech)
        self._blocks += 1
        block = f"block-{self._blocks}"
        speech.block = (kind, block)
        return [*closed, TextStart(block) if kind == "text" else ReasoningStart(block)]

    def _write(self, speech: Speech, block: JsonObject) -> list[Chunk]:
        """The next piece of a call. Only the first brings its id and name; its place tells the others."""
        place = block.get("id") if block.get("index") is None else block["index"]
        chunks: list[Chunk] = []
        match block:
            case {"id": str(call_id), "name": str(tool)} if place not in speech.calls:
                speech.calls[place] = Call(call_id, tool)
                self._known.add(call_id)
                chunks.append(ToolInputStart(call_id, tool))
            case _:
                pass
        call, args = speech.calls.get(place), block.get("args")
        if call is not None and isinstance(args, str) and args:
            call.pieces.append(args)
            chunks.append(ToolInputDelta(call.id, args))
        return chunks

    def _end(self, name: str) -> list[Chunk]:
        speech = self._speeches.pop(name)
        self._told.add(name)
        chunks = [*_closed(speech), *(_whole(call) for call in speech.calls.values())]
        left: list[Chunk] = [] if self._speeches else [StepFinish()]
        return [
            *chunks,
            *left,
            told(add_ai_message_chunks(speech.pieces[0], *speech.pieces[1:]), bool(speech.calls)),
        ]


def _open(speech: Speech) -> str:
    assert speech.block is not None, "a block is opened before it is written to"
    return speech.block[1]


def _closed(speech: Speech) -> list[Chunk]:
    block, speech.block = speech.block, None
    if block is None:
        return []
    return [TextEnd(block[1]) if block[0] == "text" else ReasoningEnd(block[1])]


def _whole(call: Call) -> Chunk:
    words = "".join(call.pieces)
    try:
        return ToolInputAvailable(call.id, call.name, parse_input(words))
    except DecodeError as error:
        return ToolInputError(call.id, call.name, f"the input is no JSON: {error}", words)
