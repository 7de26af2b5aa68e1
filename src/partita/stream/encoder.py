"""Chunks → server-sent events, in the words of the client that reads them.

`targets` says what single chunks look like to a release. Here is what takes a memory of the stream: texts
that are open when a step ends, the calls of release 5, and network executions, which a client sees as the
call of a dynamic tool, as it does in a stored message.
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
from partita.types.messages import NetworkExecution, failure_of, network_call, network_output

from .reduce_message import begun_execution
from .sse import DONE, comment
from .targets import BLOCKS_OUTLIVE_STEPS, CHUNKS, Target, Withheld, adapt

Expand: TypeAlias = Callable[[Any], Sequence[Chunk]]
BlockChunk: TypeAlias = TextStart | TextDelta | TextEnd | ReasoningStart | ReasoningDelta | ReasoningEnd
Ends: TypeAlias = tuple[type[TextStart | ReasoningStart], type[TextEnd | ReasoningEnd]]

NETWORK_KEY = "networkExecution"
"""Where the tool metadata of a call holds the network execution it stands for."""

NEXT_MESSAGE = "data-message"
"""The transient part that says where the next message of a run begins, to whom all of them are one."""

KEEP_ALIVE = comment("keep-alive")

_TEXT: Ends = (TextStart, TextEnd)
_REASONING: Ends = (ReasoningStart, ReasoningEnd)
BLOCKS: Mapping[type[BlockChunk], Ends] = {
    **dict.fromkeys((TextStart, TextDelta, TextEnd), _TEXT),
    **dict.fromkeys((ReasoningStart, ReasoningDelta, ReasoningEnd), _REASONING),
}
"""The chunks of a block, and what opens and closes one."""


class SseEncoder:
    """Chunks of one stream in, bytes for its client out. Without a target every chunk is written as it is.

    The bytes are whole events: they may be sent as they come, to any number of clients of that release.
    """

    def __init__(
        self,
        target: Target | str | int | None = None,
        *,
        one_message: bool = False,
        message_id: str | None = None,
    ) -> None:
        """With `one_message`, all that comes is one message to the client, which knows no second one.

        `message_id` is then the id that the client has for it, if it is not that of the first start.
        """
        self.target = Target.parse(str(target)) if isinstance(target, str | int) else target
        self._one_message = one_message
        self._message_id = message_id
        self.withheld: list[Withheld] = []
        """What the client was not told."""
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
            said = blocks.message_start(chunk)
            if not before and announced not in (None, chunk.message_id):
                return (*said[:-1], replace(chunk, message_id=announced), _next_message(network.message_id))
            if not before or not one_message:
                return said
            mark = () if network.message_id == before else (_next_message(network.message_id),)
            return (*said[:-1], *mark, *_without_start(chunk))

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
        """The events of a chunk, whose JSON may be at hand; no bytes if its client is not told of it."""
        if self.target is None or (_is_plain(chunk) and not self._blocks.cut):
            frames = _event(json or encode(chunk))
        else:
            frames = self._encode_for(self.target, chunk)
        self._count += 1
        return frames

    def encode_all(self, chunks: Iterable[tuple[Chunk, bytes]]) -> list[bytes]:
        """The events of each of these chunks, whose JSON is at hand."""
        if self.target is not None and self._blocks.cut:
            return [self.encode(chunk, json) for chunk, json in chunks]
        # Most are plain: to write those costs little more than to look at them.
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
        """Bytes that mean nothing, to send while nothing happens."""
        return KEEP_ALIVE

    def _encode_for(self, target: Target, chunk: Chunk) -> bytes:
        expand = self._expand.get(type(chunk))
        said: Sequence[Chunk] = (chunk,) if expand is None else expand(chunk)
        return b"".join([self._encode_one(target, item) for item in said])

    def _encode_one(self, target: Target, chunk: Chunk) -> bytes:
        adapted = adapt(chunk, target)
        for withheld in adapted.withheld:
            self.withheld.append(withheld._replace(chunk=self._count))
        chunks: Sequence[Chunk] = adapted.chunks
        if self._calls is not None:
            chunks = self._calls.settle(chunk, chunks)
        return b"".join([self._frame(item) for item in chunks])

    def _frame(self, chunk: Chunk) -> bytes:
        payload = encode(chunk)
        if b'"__proto__":' in payload or b'"constructor":' in payload:
            payload = self._without_forbidden_keys(payload)
        return _event(payload)

    def _without_forbidden_keys(self, payload: bytes) -> bytes:
        """The payload without the keys at which every client stops, lest they reach a prototype."""
        value = loads(payload)
        why = "JavaScript readers refuse this key"
        paths = [f"{value['type']}{path}" for path in _drop_forbidden_keys(value)]
        self.withheld.extend(Withheld(path, why, self._count) for path in paths)
        return dumps(value) if paths else payload


def _event(payload: bytes) -> bytes:
    return b"data: " + payload + b"\n\n"  # what `sse.frame` gives: JSON holds no line ends


def _next_message(message_id: str) -> Chunk:
    """The mark that a stored run has another message from here on, for a page that draws it like that."""
    return DataChunk(NEXT_MESSAGE, {"messageId": message_id}, transient=True)


def _without_start(chunk: MessageStart) -> Sequence[Chunk]:
    """What the start of a message says besides that it starts."""
    said = chunk.message_metadata
    return () if said is None or said is UNSET else (MessageMetadata(said),)


def _is_plain(chunk: Chunk) -> bool:
    """Whether a chunk is one of the many that every client knows: a delta and nothing else."""
    if isinstance(chunk, TextDelta | ReasoningDelta):
        return chunk.provider_metadata is None and chunk.extra is None
    return isinstance(chunk, ToolInputDelta) and chunk.extra is None


def _drop_forbidden_keys(value: Json) -> list[str]:
    """Take out what could reach a prototype in JavaScript; the paths of it."""
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
    if constructor is None:  # the first releases of 5 fail when they look into it
        del node["constructor"]
        dropped.append("constructor")
    elif is_object(constructor) and "prototype" in constructor:
        del constructor["prototype"]
        dropped.append("constructor.prototype")
    return dropped


class _Network:
    """Network executions as calls of a dynamic tool. The metadata of the call holds the whole of them."""

    def __init__(self) -> None:
        self.message_id = ""
        self._running: NetworkExecution | None = None

    def start(self, chunk: NetworkExecutionStart) -> Sequence[Chunk]:
        """What was chosen, as the input of a call."""
        network = begun_execution(chunk)
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
        """What came of it, as the output of the call. Nothing to say if none has started."""
        if self._running is None:
            return (chunk,)
        network = replace(self._running, final_result=chunk.final_result)
        failure = None if chunk.final_result is None else failure_of(chunk.final_result)
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
        return network_call(self.message_id)


class _Blocks:
    """Texts and reasoning for clients that forget what is open when a step ends.

    What is open is closed before, and opened anew by its next delta: such a client sees it in two parts.
    """

    def __init__(self) -> None:
        self.cut: set[tuple[Ends, str]] = set()
        self._open: dict[tuple[Ends, str], None] = {}
        self._message_id = ""

    def feed(self, chunk: BlockChunk) -> Sequence[Chunk]:
        """The chunk, after the start of a new part if the block was cut."""
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
        """The end, after those of the open blocks: a client would take them for unfinished for ever."""
        return (*self._close(), chunk)

    def _close(self) -> list[Chunk]:
        ends: list[Chunk] = [end(block_id) for (_, end), block_id in self._open]
        self._open.clear()
        return ends

    def step_reset(self, chunk: StepReset) -> Sequence[Chunk]:
        """The reset, at which a client that knows it forgets what is open."""
        self._open.clear()
        self.cut.clear()
        return (chunk,)


class _Calls:
    """Calls for release 5, which looks for them among the static or the dynamic ones alone."""

    def __init__(self) -> None:
        self._dynamic: dict[str, bool] = {}
        self._asked: dict[str, str] = {}  # calls by approval
        self._reasons: dict[str, str] = {}  # of denials, by call

    def settle(self, said: Chunk, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
        """What is sent for a chunk: outcomes of the kind of their call, denials with their reason."""
        self._remember(said)
        return [self._settled(said, chunk) for chunk in chunks]

    def _remember(self, chunk: Chunk) -> None:
        match chunk:
            case ToolInputStart(tool_call_id=call) | ToolInputAvailable(tool_call_id=call):
                self._dynamic[call] = bool(chunk.dynamic)
            case ToolInputError(tool_call_id=call):
                self._dynamic.setdefault(call, bool(chunk.dynamic))
            case ToolApprovalRequest(approval_id=approval, tool_call_id=call):
                self._asked[approval] = call
            case ToolApprovalResponse(approval_id=approval, reason=str(reason)) if approval in self._asked:
                self._reasons[self._asked[approval]] = reason
            case _:
                pass

    def _settled(self, said: Chunk, chunk: Chunk) -> Chunk:
        if not isinstance(chunk, ToolInputStart | ToolInputError | ToolOutputAvailable | ToolOutputError):
            return chunk
        call = chunk.tool_call_id
        if isinstance(said, ToolOutputDenied) and isinstance(chunk, ToolOutputError):
            chunk = replace(chunk, error_text=self._reasons.get(call, chunk.error_text))
        dynamic = self._dynamic.get(call, bool(chunk.dynamic))
        return chunk if dynamic == bool(chunk.dynamic) else replace(chunk, dynamic=dynamic or None)
