"""Chunks → server-sent events for a release of the AI SDK.

`targets` adapts single chunks to a release. This module adapts what depends on earlier chunks: texts that are
open when a step ends, calls for release 5, and network executions, which a client receives as the call of a
dynamic tool, as in stored messages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageAbort,
    MessageMetadata,
    MessageStart,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepFinish,
    StepReset,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.codec import encode, to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.messages import NetworkExecution, failure_text, network_call_id, network_output

from .reducer import started_execution
from .sse import DONE, comment
from .targets import BLOCKS_OUTLIVE_STEPS, CHUNKS, Target, Withheld, adapt

Expand: TypeAlias = Callable[[Any], Sequence[Chunk]]
BlockChunk: TypeAlias = TextStart | TextDelta | TextEnd | ReasoningStart | ReasoningDelta | ReasoningEnd
Ends: TypeAlias = tuple[type[TextStart | ReasoningStart], type[TextEnd | ReasoningEnd]]

NETWORK_KEY = "networkExecution"
"""The key of the tool metadata that contains the network execution that a call represents."""

NEXT_MESSAGE = "data-message"
"""The transient data part that marks the start of the next message, for clients that receive one message."""

KEEP_ALIVE = comment("keep-alive")

_TEXT: Ends = (TextStart, TextEnd)
_REASONING: Ends = (ReasoningStart, ReasoningEnd)
BLOCKS: Mapping[type[BlockChunk], Ends] = {
    **dict.fromkeys((TextStart, TextDelta, TextEnd), _TEXT),
    **dict.fromkeys((ReasoningStart, ReasoningDelta, ReasoningEnd), _REASONING),
}
"""The chunk types of a block: its start, its deltas and its end."""


class SseEncoder:
    """Encodes the chunks of a stream for a target. Without a target, chunks are written unchanged.

    The results are complete events, which can be sent to any number of clients of that release.
    """

    def __init__(
        self,
        target: Target | str | int | None = None,
        *,
        one_message: bool = False,
        message_id: str | None = None,
    ) -> None:
        """With `one_message`, all messages of the stream are encoded as one message.

        `message_id` is then the id that the client knows it by, if it is not that of the first start.
        """
        self.target = Target.parse(str(target)) if isinstance(target, str | int) else target
        self._one_message = one_message
        self._message_id = message_id
        self.withheld: list[Withheld] = []
        """What the client did not receive."""
        self._count = 0
        self._expand: dict[type[Chunk], Expand] = {}
        self._blocks = _Blocks()
        self._calls: _Calls | None = None
        if self.target is not None:
            self._prepare(self.target)

    def _prepare(self, target: Target) -> None:
        network = _Network()
        blocks, one_message, announced = self._blocks, self._one_message, self._message_id

        def message_start(chunk: MessageStart) -> Sequence[Chunk]:
            before = network.message_id
            network.message_id = chunk.message_id or before
            converted = blocks.message_start(chunk)
            if not before and announced not in (None, chunk.message_id):
                return (
                    *converted[:-1],
                    replace(chunk, message_id=announced),
                    _next_message(network.message_id),
                )
            if not before or not one_message:
                return converted
            mark = () if network.message_id == before else (_next_message(network.message_id),)
            return (*converted[:-1], *mark, *_without_start(chunk))

        self._expand[MessageStart] = message_start
        if one_message:
            self._expand |= dict.fromkeys(BLOCKS, blocks.feed)
            self._expand |= dict.fromkeys((MessageAbort, ErrorChunk), blocks.message_end)
        self._expand[NetworkExecutionStart] = network.start
        self._expand[NetworkExecutionEnd] = network.end
        if not target.knows(BLOCKS_OUTLIVE_STEPS):
            self._expand |= dict.fromkeys(BLOCKS, blocks.feed)
            self._expand[StepFinish] = blocks.step_finish
            if target.knows(CHUNKS[StepReset]):
                self._expand[StepReset] = blocks.step_reset
        if target.major == 5:
            self._calls = _Calls()

    def encode(self, chunk: Chunk, json: bytes | None = None) -> bytes:
        """The events of a chunk; empty if the client does not receive it. `json`: its JSON, if available."""
        if self.target is None or (_is_plain(chunk) and not self._blocks.cut):
            frames = _event(json or encode(chunk))
        else:
            frames = self._encode_for(self.target, chunk)
        self._count += 1
        return frames

    def encode_all(self, chunks: Iterable[tuple[Chunk, bytes]]) -> list[bytes]:
        """The events of each of these chunks, which come with their JSON."""
        if self.target is not None and self._blocks.cut:
            return [self.encode(chunk, json) for chunk, json in chunks]
        # Most chunks need no adaptation.
        return [
            b"data: " + json + b"\n\n"
            if type(chunk) is TextDelta and chunk.provider_metadata is chunk.extra is None
            else self.encode(chunk, json)
            for chunk, json in chunks
        ]

    def finish(self) -> bytes:
        """The event that ends the stream."""
        return DONE

    def keep_alive(self) -> bytes:
        """A comment, which clients ignore, to keep the connection open."""
        return KEEP_ALIVE

    def _encode_for(self, target: Target, chunk: Chunk) -> bytes:
        expand = self._expand.get(type(chunk))
        converted: Sequence[Chunk] = (chunk,) if expand is None else expand(chunk)
        return b"".join([self._encode_one(target, item) for item in converted])

    def _encode_one(self, target: Target, chunk: Chunk) -> bytes:
        adapted = adapt(chunk, target)
        for withheld in adapted.withheld:
            self.withheld.append(withheld._replace(chunk=self._count))
        chunks: Sequence[Chunk] = adapted.chunks
        if self._calls is not None:
            chunks = self._calls.convert(chunk, chunks)
        return b"".join([self._frame(item) for item in chunks])

    def _frame(self, chunk: Chunk) -> bytes:
        payload = encode(chunk)
        if b'"__proto__":' in payload or b'"constructor":' in payload:
            payload = self._without_forbidden_keys(payload)
        return _event(payload)

    def _without_forbidden_keys(self, payload: bytes) -> bytes:
        """The payload without the keys that clients refuse, because they could change a prototype."""
        value = loads(payload)
        why = "JavaScript readers refuse this key"
        paths = [f"{value['type']}{path}" for path in _drop_forbidden_keys(value)]
        self.withheld.extend(Withheld(path, why, self._count) for path in paths)
        return dumps(value) if paths else payload


def _event(payload: bytes) -> bytes:
    return b"data: " + payload + b"\n\n"  # equals `sse.frame`, because JSON has no line breaks


def _next_message(message_id: str) -> Chunk:
    """The marker that another message of the run starts, for clients that show several messages."""
    return DataChunk(NEXT_MESSAGE, {"messageId": message_id}, transient=True)


def _without_start(chunk: MessageStart) -> Sequence[Chunk]:
    """The members of a start chunk except its id, as a metadata chunk."""
    converted = chunk.message_metadata
    return () if converted is None or converted is UNSET else (MessageMetadata(converted),)


def _is_plain(chunk: Chunk) -> bool:
    """Whether a chunk is a delta without other members, which every client accepts."""
    if isinstance(chunk, TextDelta | ReasoningDelta):
        return chunk.provider_metadata is None and chunk.extra is None
    return isinstance(chunk, ToolInputDelta) and chunk.extra is None


def _drop_forbidden_keys(value: Json) -> list[str]:
    """Remove keys that could change a prototype in JavaScript; return their paths."""
    dropped: list[str] = []
    pending = [("", value)]
    while pending:
        path, node = pending.pop()
        if is_object(node):
            dropped.extend(f"{path}.{key}" for key in _drop_members(node))
            pending.extend((f"{path}.{key}", item) for key, item in node.items())
        elif is_array(node):
            pending.extend((f"{path}[{index}]", item) for index, item in enumerate(node))
    return dropped


def _drop_members(node: JsonObject) -> list[str]:
    dropped: list[str] = []
    if "__proto__" in node:
        del node["__proto__"]
        dropped.append("__proto__")
    constructor = node.get("constructor", ...)
    if constructor is None:  # the first releases of 5 fail at null
        del node["constructor"]
        dropped.append("constructor")
    elif is_object(constructor) and "prototype" in constructor:
        del constructor["prototype"]
        dropped.append("constructor.prototype")
    return dropped


class _Network:
    """Network executions as calls of a dynamic tool. The metadata of the call has the whole execution."""

    def __init__(self) -> None:
        self.message_id = ""
        self._running: NetworkExecution | None = None

    def start(self, chunk: NetworkExecutionStart) -> Sequence[Chunk]:
        """The selection as the input of a call."""
        network = started_execution(chunk)
        call = ToolInputAvailable(
            self._call_id,
            chunk.primitive_type,
            {"primitiveId": chunk.primitive_id, "selectionReason": chunk.selection_reason},
            tool_metadata={NETWORK_KEY: to_json(network)},
            dynamic=True,
            extra=chunk.extra,
        )
        self._running = network
        return (call,)

    def end(self, chunk: NetworkExecutionEnd) -> Sequence[Chunk]:
        """The result as the output of the call; nothing if no execution has started."""
        if self._running is None:
            return (chunk,)
        network = replace(self._running, final_result=chunk.final_result)
        failure = None if chunk.final_result is None else failure_text(chunk.final_result)
        if failure is not None:
            metadata: JsonObject = {NETWORK_KEY: to_json(network)}
            return (ToolOutputError(self._call_id, failure, tool_metadata=metadata, dynamic=True),)
        output = ToolOutputAvailable(
            self._call_id,
            None if chunk.final_result is None else network_output(network),
            tool_metadata={NETWORK_KEY: to_json(network)},
            dynamic=True,
            extra=chunk.extra,
        )
        return (output,)

    @property
    def _call_id(self) -> str:
        return network_call_id(self.message_id)


class _Blocks:
    """Texts and reasoning for clients that close open blocks when a step ends.

    An open block is closed before the end of the step and started again by its next delta: such a client
    shows it as two parts.
    """

    def __init__(self) -> None:
        self.cut: set[tuple[Ends, str]] = set()
        self._open: dict[tuple[Ends, str], None] = {}
        self._message_id = ""

    def feed(self, chunk: BlockChunk) -> Sequence[Chunk]:
        """The chunk, after the start of a new block if the block was split."""
        ends = start, end = BLOCKS[type(chunk)]
        block = (ends, chunk.id)
        goes_on = block in self.cut and type(chunk) is not start
        self.cut.discard(block)
        if type(chunk) is not end:
            self._open[block] = None
        else:
            self._open.pop(block, None)
            if goes_on and chunk == end(chunk.id):
                return ()
        return (start(chunk.id), chunk) if goes_on else (chunk,)

    def step_finish(self, chunk: StepFinish) -> Sequence[Chunk]:
        """The end of the step, after those of the open blocks."""
        self.cut.update(self._open)
        return (*self._close(), chunk)

    def message_start(self, chunk: MessageStart) -> Sequence[Chunk]:
        """The start, after the ends of the open blocks if it is that of another message."""
        if chunk.message_id is None or chunk.message_id == self._message_id:
            return (chunk,)
        self._message_id = chunk.message_id
        self.cut.clear()
        return (*self._close(), chunk)

    def message_end(self, chunk: MessageAbort | ErrorChunk) -> Sequence[Chunk]:
        """The finish, after the ends of the open blocks, which would otherwise stay unfinished."""
        return (*self._close(), chunk)

    def _close(self) -> list[Chunk]:
        ends: list[Chunk] = [end(block_id) for (_, end), block_id in self._open]
        self._open.clear()
        return ends

    def step_reset(self, chunk: StepReset) -> Sequence[Chunk]:
        """The reset. A client that knows it drops the open blocks."""
        self._open.clear()
        self.cut.clear()
        return (chunk,)


class _Calls:
    """Calls for release 5, which searches only static or only dynamic calls."""

    def __init__(self) -> None:
        self._dynamic: dict[str, bool] = {}
        self._approval_calls: dict[str, str] = {}  # calls by approval
        self._reasons: dict[str, str] = {}  # of denials, by call

    def convert(self, original: Chunk, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
        """The chunks to send: results marked as dynamic if their call is, denials with their reason."""
        self._remember(original)
        return [self._converted(original, chunk) for chunk in chunks]

    def _remember(self, chunk: Chunk) -> None:
        match chunk:
            case ToolInputStart(tool_call_id=call) | ToolInputAvailable(tool_call_id=call):
                self._dynamic[call] = bool(chunk.dynamic)
            case ToolInputError(tool_call_id=call):
                self._dynamic.setdefault(call, bool(chunk.dynamic))
            case ToolApprovalRequest(approval_id=approval, tool_call_id=call):
                self._approval_calls[approval] = call
            case ToolApprovalResponse(approval_id=approval, reason=str(reason)) if (
                approval in self._approval_calls
            ):
                self._reasons[self._approval_calls[approval]] = reason
            case _:
                pass

    def _converted(self, original: Chunk, chunk: Chunk) -> Chunk:
        if not isinstance(chunk, ToolInputStart | ToolInputError | ToolOutputAvailable | ToolOutputError):
            return chunk
        call = chunk.tool_call_id
        if isinstance(original, ToolOutputDenied) and isinstance(chunk, ToolOutputError):
            chunk = replace(chunk, error_text=self._reasons.get(call, chunk.error_text))
        dynamic = self._dynamic.get(call, bool(chunk.dynamic))
        return chunk if dynamic == bool(chunk.dynamic) else replace(chunk, dynamic=dynamic or None)
