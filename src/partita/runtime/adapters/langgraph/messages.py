"""Messages that a graph streams → chunks. Several models may stream at once, each its own message."""

from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage, messages_to_dict
from langchain_core.messages.ai import add_ai_message_chunks

from partita.formats.langchain.format import load
from partita.formats.langchain.parts import USAGE
from partita.runtime.adapters.frameworks import as_json, input_chunk, response_finish
from partita.runtime.tools.outputs import chunk_of_output
from partita.types.chunks import (
    Chunk,
    MessageFinish,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputStart,
)
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.parts import ToolOutput, ToolResultPart

# Messages of LangChain


def _blocks_of(piece: AIMessageChunk) -> list[JsonObject]:
    """The content blocks of a piece, in the form that LangChain has for all providers."""
    found: Any = piece.content_blocks
    blocks: list[JsonObject] = [block for block in found if is_object(block)]
    reasoning: Json = piece.additional_kwargs.get("reasoning_content")
    if isinstance(reasoning, str) and not any(block.get("type") == "reasoning" for block in blocks):
        blocks.insert(0, {"type": "reasoning", "reasoning": reasoning})
    return blocks


def _as_piece(message: AIMessage) -> AIMessageChunk:
    """A complete message as its only piece."""
    if isinstance(message, AIMessageChunk):
        return message
    calls: list[Any] = [
        {
            "type": "tool_call_chunk",
            "name": call["name"],
            "args": dumps(as_json(call["args"])).decode(),
            "id": call["id"],
            "index": index,
        }
        for index, call in enumerate(message.tool_calls)
    ]
    content: Any = message.content
    return AIMessageChunk(
        content=content,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
        tool_call_chunks=calls,
        id=message.id,
    )


def _finish(message: AIMessage, has_calls: bool) -> MessageFinish:
    metadata: JsonObject = message.response_metadata
    model: Json = metadata.get("model_name") or metadata.get("model")
    counts: Json = as_json(message.usage_metadata)
    return response_finish(
        metadata.get("finish_reason") or metadata.get("stop_reason"),
        has_calls,
        USAGE.read(counts) if is_object(counts) else None,
        model=model if isinstance(model, str) else None,
    )


def output_of(message: ToolMessage) -> ToolOutput:
    """The output of a call, as the format `langchain` reads it."""
    (read,) = load(as_json(messages_to_dict([message]))).messages
    (result,) = read.parts
    assert isinstance(result, ToolResultPart)
    return result.output


# Chunks


@dataclass(slots=True)
class OpenCall:
    """A call whose input is being streamed."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class OpenMessage:
    """A message of a model that is being streamed."""

    node: str
    pieces: list[AIMessageChunk] = field(default_factory=list[AIMessageChunk])
    block: tuple[str, str] | None = None
    """The kind and the id of the open block."""
    calls: dict[Any, OpenCall] = field(default_factory=dict[Any, OpenCall])

    def end_block(self) -> list[Chunk]:
        """End the open block, if there is one."""
        block, self.block = self.block, None
        if block is None:
            return []
        return [TextEnd(block[1]) if block[0] == "text" else ReasoningEnd(block[1])]


class MessageStreams:
    """Makes chunks of the messages of one run."""

    def __init__(self, known_calls: set[str]) -> None:
        """`known_calls` are the ids of those in the message that the run continues."""
        self._known_calls = known_calls
        self._open: dict[str, OpenMessage] = {}  # by id
        self._ended: set[str] = set()
        self._block_count = 0

    def chunks(self, message: BaseMessage, node: str) -> list[Chunk]:
        """The chunks for a message of a node, or for a piece of one."""
        if isinstance(message, AIMessage):
            return self._append(message, node)
        if isinstance(message, ToolMessage) and message.tool_call_id in self._known_calls:
            return [chunk_of_output(message.tool_call_id, output_of(message))]
        return []

    def end(self, node: str | None = None) -> list[Chunk]:
        """End the messages of a node, or of all nodes."""
        ending = [id_ for id_, message in self._open.items() if node in (None, message.node)]
        return [chunk for id_ in ending for chunk in self._end(id_)]

    def _append(self, message: AIMessage, node: str) -> list[Chunk]:
        id_ = message.id or node
        if id_ in self._ended:
            return []
        chunks: list[Chunk] = [] if self._open else [StepStart()]
        open_message = self._open.setdefault(id_, OpenMessage(node))
        piece = _as_piece(message)
        open_message.pieces.append(piece)
        for block in _blocks_of(piece):
            chunks += self._append_block(open_message, block)
        is_last = piece is not message or piece.chunk_position == "last"
        return [*chunks, *(self._end(id_) if is_last else [])]

    def _append_block(self, message: OpenMessage, block: JsonObject) -> list[Chunk]:
        match block:
            case {"type": "text", "text": str(text)} if text:
                started, id_ = self._start_block(message, "text")
                return [*started, TextDelta(id_, text)]
            case {"type": "reasoning", "reasoning": str(text)} if text:
                started, id_ = self._start_block(message, "reasoning")
                return [*started, ReasoningDelta(id_, text)]
            case {"type": "tool_call_chunk"}:
                return [*message.end_block(), *self._append_call(message, block)]
            case _:
                return []

    def _start_block(self, message: OpenMessage, kind: str) -> tuple[list[Chunk], str]:
        """The chunks that start a block, unless one of this kind is open; and its id."""
        if message.block is not None and message.block[0] == kind:
            return [], message.block[1]
        ended = message.end_block()
        self._block_count += 1
        id_ = f"block-{self._block_count}"
        message.block = (kind, id_)
        return [*ended, TextStart(id_) if kind == "text" else ReasoningStart(id_)], id_

    def _append_call(self, message: OpenMessage, block: JsonObject) -> list[Chunk]:
        """The next piece of a call. Only the first has its id and name; the others have its index."""
        index = block.get("id") if block.get("index") is None else block["index"]
        chunks: list[Chunk] = []
        match block:
            case {"id": str(call_id), "name": str(tool)} if index not in message.calls:
                message.calls[index] = OpenCall(call_id, tool)
                self._known_calls.add(call_id)
                chunks.append(ToolInputStart(call_id, tool))
            case _:
                pass
        call, args = message.calls.get(index), block.get("args")
        if call is not None and isinstance(args, str) and args:
            call.pieces.append(args)
            chunks.append(ToolInputDelta(call.id, args))
        return chunks

    def _end(self, id_: str) -> list[Chunk]:
        message = self._open.pop(id_)
        self._ended.add(id_)
        chunks = message.end_block()
        chunks += [input_chunk(call.id, call.name, "".join(call.pieces)) for call in message.calls.values()]
        if not self._open:
            chunks.append(StepFinish())
        whole = add_ai_message_chunks(message.pieces[0], *message.pieces[1:])
        return [*chunks, _finish(whole, bool(message.calls))]
