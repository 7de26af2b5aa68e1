"""The stream of a run for a `useChat` client, which results in the message that `dump_chat` writes."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from partita.stream.accumulator import Accumulator, close_message
from partita.stream.encoder import SseEncoder
from partita.stream.targets import Target
from partita.types.chunks import (
    ChildChunk,
    ChildMessage,
    Chunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    ToolInputAvailable,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import ErrorTextOutput, InterruptedOutput, Interruption, JsonOutput

from .chat import CHILDREN, chat_network_part, chat_tool_metadata

FOLDED: frozenset[type[Chunk]] = frozenset(
    {
        MessageStart,
        MessageFinish,
        MessageAbort,
        ErrorChunk,
        ToolInputStart,
        ToolInputAvailable,
        ToolInputError,
        ToolOutputDenied,
        ToolOutputAvailable,
        ToolOutputError,
        ToolOutputChunk,
        NetworkExecutionStart,
        NetworkExecutionEnd,
        ChildChunk,
        ChildMessage,
    }
)
"""Chunks that start or change messages of sub-agents, or that such messages are sent with."""

OUTPUTS = (ToolOutputAvailable, ToolOutputError, ToolOutputChunk)


class ChatEncoder:
    """Encodes the chunks of one run for a client, which receives them as one message."""

    def __init__(
        self,
        target: Target | str | int,
        *,
        message_id: str | None = None,
        continued: AssistantMessage | None = None,
    ) -> None:
        """`continued`: the message that the run continues; the client has it under `message_id`."""
        self._encoder = SseEncoder(target, one_message=True, message_id=message_id)
        assert self._encoder.target is not None, "there is a target"
        self._version = self._encoder.target.major
        self._fold = Accumulator(continued, lenient=True)
        self._message_id = "" if continued is None else continued.id
        self._network: ToolCallPart | None = None  # the network execution, as the client has it
        self._has_children = continued is not None
        self._interrupted: Interruption | None = None
        self._sent: dict[str, JsonObject | None] = {}  # tool metadata with messages, by call
        if continued is not None:
            network = continued.content.network_execution
            if network is not None:
                self._network = chat_network_part(continued.id, network, self._version)
            self._sent = {part.id: chat_tool_metadata(part, self._version) for part in self._calls()}

    def encode(self, chunk: Chunk, json: bytes | None = None) -> bytes:
        """Return the events of a chunk. `json`: its JSON, if available."""
        if type(chunk) not in FOLDED:
            return self._encoder.encode(chunk, json)
        return b"".join(
            [
                self._encoder.encode(one, json if one is chunk else None)
                for one in self._for_release(self._expanded(chunk))
            ]
        )

    def encode_all(self, chunks: Iterable[tuple[Chunk, bytes]]) -> list[bytes]:
        """Return the events of each of these chunks."""
        listed = list(chunks)
        if FOLDED.isdisjoint([type(chunk) for chunk, _ in listed]):
            return self._encoder.encode_all(listed)
        return [self.encode(chunk, json) for chunk, json in listed]

    def finish(self) -> bytes:
        """Return the events that end the stream."""
        rest = self._for_release(self._rest())
        return b"".join([self._encoder.encode(chunk) for chunk in rest]) + self._encoder.finish()

    def keep_alive(self) -> bytes:
        """Return a comment that keeps the connection open."""
        return self._encoder.keep_alive()

    def _snapshot(self) -> AssistantMessage:
        """Return the message as it is stored if the run ends now, without open parts."""
        return close_message(self._fold.snapshot(), self._interrupted)

    def _for_release(self, chunks: Sequence[Chunk]) -> Iterator[Chunk]:
        """Yield the chunks. Release 5 receives messages of sub-agents as metadata of the message."""
        for chunk in chunks:
            yield chunk
            if self._version == 5 and isinstance(chunk, OUTPUTS):
                children = (chunk.tool_metadata or {}).get(CHILDREN)
                if children is not None:
                    yield MessageMetadata({CHILDREN: {chunk.tool_call_id: children}})

    def _expanded(self, chunk: Chunk) -> Sequence[Chunk]:
        rest: Sequence[Chunk] = ()
        self._interrupted = _interruption(chunk) or self._interrupted
        if isinstance(chunk, MessageFinish | MessageAbort | ErrorChunk):
            rest = self._rest()
        elif isinstance(chunk, MessageStart) and chunk.message_id not in (None, self._message_id):
            rest = self._rest()
            self._message_id = chunk.message_id or ""
            self._network, self._has_children = None, False
            self._sent.clear()
        self._fold.feed(chunk)
        match chunk:
            case NetworkExecutionStart():
                return self._network_chunks()
            case NetworkExecutionEnd() if self._network is not None:
                return self._network_chunks()
            case ToolOutputAvailable(preliminary=True) | ToolOutputChunk(preliminary=True):
                return (chunk,)
            case ToolOutputAvailable() | ToolOutputError() | ToolOutputChunk():
                return (self._with_children(chunk),)
            case ChildChunk() | ChildMessage():
                self._has_children = True
                return (chunk,)
            case _:
                return (*rest, chunk)

    def _network_chunks(self) -> Sequence[Chunk]:
        """The network execution of the message so far, unless the client has it."""
        network = self._snapshot().content.network_execution
        if network is None:
            return ()
        part = chat_network_part(self._message_id, network, self._version)
        if part == self._network:
            return ()
        self._network = part
        match part.output:
            case JsonOutput(value=output):
                available = ToolOutputAvailable(
                    part.id,
                    output,
                    tool_metadata=part.tool_metadata,
                    dynamic=True,
                    preliminary=part.preliminary,
                )
                return (available,)
            case ErrorTextOutput(value=error):
                return (ToolOutputError(part.id, error, tool_metadata=part.tool_metadata, dynamic=True),)
            case _:
                call = ToolInputAvailable(
                    part.id, part.name, part.input, tool_metadata=part.tool_metadata, dynamic=True
                )
                return (call,)

    def _with_children(self, chunk: ToolOutputAvailable | ToolOutputError | ToolOutputChunk) -> Chunk:
        """Return the output of a call with the messages of its sub-agent."""
        part = next((part for part in self._calls() if part.id == chunk.tool_call_id), None)
        metadata = None if part is None else chat_tool_metadata(part, self._version)
        if metadata is None:
            return chunk
        self._sent[chunk.tool_call_id] = metadata
        return replace(chunk, tool_metadata=metadata)

    def _calls(self) -> list[ToolCallPart]:
        """Return the calls with messages of sub-agents, the last first."""
        if not self._has_children:
            return []
        parts = self._snapshot().parts
        return [part for part in reversed(parts) if isinstance(part, ToolCallPart) and part.children]

    def _rest(self) -> Sequence[Chunk]:
        """Return chunks for messages that the client lacks: they came after an output, or without one."""
        chunks: list[Chunk] = [] if self._network is None else [*self._network_chunks()]
        for part in reversed(self._calls()):
            metadata = chat_tool_metadata(part, self._version)
            if part.output is None or metadata == self._sent.get(part.id, part.tool_metadata):
                continue
            self._sent[part.id] = metadata
            chunks.append(
                ToolOutputChunk(
                    part.id,
                    part.output,
                    provider_metadata=part.result_provider_metadata,
                    tool_metadata=metadata,
                    preliminary=part.preliminary,
                )
            )
        return chunks


def _interruption(chunk: Chunk) -> Interruption | None:
    """Return how the run was interrupted, if the chunk has that."""
    match chunk:
        case ToolOutputChunk(output=InterruptedOutput(reason=reason)):
            return reason
        case MessageAbort():
            return "aborted"
        case ErrorChunk():
            return "lost"
        case _:
            return None
