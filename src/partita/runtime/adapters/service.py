"""Functions as agents: everything a function yields → the events of one message.

A function may yield texts, chunks, events, and raw events of a provider, in any order. `OutputReader` reads
each of them, and `MessageStream` makes one message of the chunks: one start, one finish, steps around
content, and nothing left open.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing
from inspect import isawaitable
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import AgentError
from partita.formats.call_decoder import AGENT_MESSAGE
from partita.formats.core.decoder import INTERRUPTED
from partita.runtime.agent.calls import INPUT_CUT, WAITING
from partita.runtime.failures import error_description, report_failure
from partita.runtime.model_calls import ResponseMerger
from partita.runtime.service import InvokeOptions, Prompt
from partita.runtime.tools.tool import check_client_tools
from partita.types.chunks import (
    AgentStreamEvent,
    CancelledEvent,
    Chunk,
    ChunkBase,
    ChunkEvent,
    CompleteEvent,
    CustomChunk,
    DataChunk,
    ErrorChunk,
    ErrorEvent,
    EventBase,
    FileChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    RawEvent,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    SourceDocumentChunk,
    SourceUrlChunk,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
    UnknownChunk,
)
from partita.types.json import Json, JsonObject, is_object, kind_of
from partita.types.usage import Usage

from .agent_request import AgentRequest, request_of
from .raw_events import RawEventReader, raw_event

# Chunks → the chunks of one message.

CONTENT: Final = (
    TextStart,
    ReasoningStart,
    ToolInputStart,
    ToolInputAvailable,
    ToolInputError,
    FileChunk,
    ReasoningFileChunk,
    SourceUrlChunk,
    SourceDocumentChunk,
    CustomChunk,
)
"""Chunks that need a step around them."""

OUTPUTS: Final = (ToolOutputError, ToolOutputDenied, ToolOutputAvailable, ToolOutputChunk)


class MessageStream:
    """Makes one message of chunks, of plain texts, and of responses of models."""

    def __init__(self) -> None:
        self._responses = ResponseMerger()
        self._is_in_step = False
        self._text_id: str | None = None  # of the block that plain texts are appended to
        self._text_count = 0
        self._blocks: dict[str, type[TextEnd] | type[ReasoningEnd]] = {}  # that are open
        self._inputs: dict[str, str] = {}  # names of the tools whose input is not complete
        self._waiting: set[str] = set()  # calls without an output
        self._ends_with_text = False  # plain text follows the last response of a model

    @property
    def usage(self) -> Usage | None:
        """The usage of all responses."""
        return self._responses.usage

    def text(self, text: str) -> list[Chunk]:
        """The chunks for a plain text. Texts in sequence form one block."""
        chunks: list[Chunk] = []
        if self._text_id is None:
            self._text_count += 1
            self._text_id = f"words-{self._text_count}"
            chunks += [*self._start_step(), TextStart(self._text_id)]
        self._ends_with_text = True
        return self._note([*chunks, TextDelta(self._text_id, text)])

    def chunk(self, chunk: Chunk) -> list[Chunk]:
        """The chunks for a chunk. A further start becomes metadata; a finish is kept for the end."""
        match chunk:
            case MessageStart():
                return _start_metadata(chunk)
            case MessageFinish():
                self._responses.chunk(chunk)
                self._ends_with_text = False
                return []
            case StepStart():
                return self._note([*self.end_step(), chunk])
            case StepFinish():
                return self.end_step()
            case _:
                is_content = isinstance(chunk, CONTENT)
                return self._note([*self._end_text(), *self._start_step(), chunk] if is_content else [chunk])

    def response_chunk(self, chunk: Chunk) -> Chunk | None:
        """A chunk of a response as the message has it; `None` if it is left out."""
        if isinstance(chunk, MessageFinish):
            self._ends_with_text = False
        merged = self._responses.chunk(chunk)
        self._note([] if merged is None else [merged])
        return merged

    def end_step(self) -> list[Chunk]:
        """End the step, if one is open."""
        return [*self._end_text(), *(self._note([StepFinish()]) if self._is_in_step else [])]

    def finish(self) -> list[Chunk]:
        """The chunks that end all that is open, and the finish of the message."""
        finish = self._finish()
        chunks = self._end_text()
        chunks += self._note([end(block) for block, end in self._blocks.items()])
        chunks += self._note(
            [ToolInputError(call_id, name, INPUT_CUT) for call_id, name in self._inputs.items()]
        )
        return [*chunks, *self.end_step(), finish]

    @property
    def is_cut(self) -> bool:
        """Whether the message ends with a response that was cut off."""
        last = self._responses.steps[-1] if self._responses.steps else {}
        is_cut = last.get("complete") is False or last.get("finishReason") == INTERRUPTED
        return is_cut and not self._ends_with_text

    def _finish(self) -> MessageFinish:
        if self._waiting:
            return self._responses.finish(WAITING)
        # A log that is decoded a second time takes the reason of an only response from that response.
        steps = self._responses.steps
        return self._responses.finish(
            "stop" if len(steps) != 1 and (self._ends_with_text or not steps) else None
        )

    def _start_step(self) -> list[Chunk]:
        return [] if self._is_in_step else self._note([StepStart()])

    def _end_text(self) -> list[Chunk]:
        text_id, self._text_id = self._text_id, None
        return self._note([] if text_id is None else [TextEnd(text_id)])

    def _note(self, chunks: list[Chunk]) -> list[Chunk]:
        """The same chunks; what they open and end is noted."""
        for chunk in chunks:
            match chunk:
                case StepStart() | StepFinish():
                    self._is_in_step = isinstance(chunk, StepStart)
                case TextStart(id=id):
                    self._blocks[id] = TextEnd
                case ReasoningStart(id=id):
                    self._blocks[id] = ReasoningEnd
                case TextEnd(id=id) | ReasoningEnd(id=id):
                    self._blocks.pop(id, None)
                case ToolInputStart(tool_call_id=id):
                    self._inputs[id] = chunk.tool_name
                case ToolInputAvailable(tool_call_id=id):
                    self._inputs.pop(id, None)
                    if not chunk.provider_executed:
                        self._waiting.add(id)
                case ToolInputError(tool_call_id=id):
                    self._inputs.pop(id, None)
                case _ if isinstance(chunk, OUTPUTS):
                    self._waiting.discard(chunk.tool_call_id)
                case _:
                    pass
        return chunks


def _start_metadata(start: MessageStart) -> list[Chunk]:
    """The metadata of a start that is left out because the message has started."""
    metadata: Json = start.message_metadata
    id_: JsonObject = {} if start.message_id is None else {AGENT_MESSAGE: start.message_id}
    if metadata is UNSET or metadata is None:
        return [MessageMetadata(id_)] if id_ else []
    return [MessageMetadata({**metadata, **id_} if is_object(metadata) else metadata)]


# Everything a function yields → events.

Item: TypeAlias = str | Chunk | AgentStreamEvent
"""What a function may yield besides raw events."""

Ending: TypeAlias = ErrorEvent | CompleteEvent | CancelledEvent

RESPONSE_CUT: Final = "the response was cut off"
ACCEPTED: Final = "text, chunks, events, or raw events of a provider: dicts, bytes, objects of its package"


class OutputReader:
    """Reads what a function yields, item by item."""

    def __init__(self, name: str, message_id: str | None, format_name: str | None) -> None:
        self._name = name
        self._message_id = message_id
        self._message = MessageStream()
        self._raw = RawEventReader(format_name)
        self._held: list[Item] = []  # items within a provider's response, which is recorded without a gap
        self._failure: ErrorEvent | None = None  # of the provider; something that follows it clears it
        self.ending: Ending | None = None
        """The event with which the function has ended the message."""

    def start(self) -> list[AgentStreamEvent]:
        """The start of the message."""
        return [ChunkEvent(chunk=MessageStart(self._message_id))]

    def feed(self, item: object) -> list[AgentStreamEvent]:
        """The events for an item."""
        if isinstance(item, str | ChunkBase | DataChunk | UnknownChunk | EventBase):
            return self._feed(item)  # type: ignore[arg-type]  # every chunk and event has one of these bases
        if isinstance(item, bytes | bytearray):
            return self._feed_raw(bytes(item))
        event = raw_event(item)
        if event is None:
            raise AgentError(f"an agent cannot yield {kind_of(item)}", hint=f"yield {ACCEPTED}")
        return self._feed_raw(event) if event else []

    def finish(self) -> list[AgentStreamEvent]:
        """The events that end the message, and the last event."""
        events = self._end_response()
        cut = ErrorEvent(message=RESPONSE_CUT, name="cut") if self._message.is_cut else None
        match self.ending or self._failure or cut:
            case ErrorEvent() | CancelledEvent() as ending:
                return [*events, ending]
            case None | CompleteEvent() as ending:
                return [*events, *self._complete(ending or CompleteEvent())]

    def fail(self, error: Exception) -> list[AgentStreamEvent]:
        """The events that end a message whose function raised."""
        return [
            *self._end_response(),
            ErrorEvent(message=error_description(error), name=type(error).__name__),
        ]

    def _complete(self, ending: CompleteEvent) -> list[AgentStreamEvent]:
        usage = ending.usage or self._message.usage
        *chunks, finish = self._message.finish()
        assert isinstance(finish, MessageFinish), "a message ends with its finish"
        result: JsonObject = {"finishReason": finish.finish_reason}
        given: Json = {} if ending.agent_result is UNSET else ending.agent_result
        complete = replace(
            ending,
            agent_type=ending.agent_type or self._name,
            agent_result=result | given if is_object(given) else given,
            usage=usage,
        )
        return [*map(_event, chunks), _event(finish), complete]

    def _feed(self, item: Item) -> list[AgentStreamEvent]:
        if self._raw.is_in_response:
            self._held.append(item)
            return []
        return [*self._read_response(self._raw.end()), *self._read(item)]

    def _read(self, item: Item) -> list[AgentStreamEvent]:
        self._failure = None
        match item:
            case str():
                return [*map(_event, self._message.text(item))] if item else []
            case ChunkEvent(chunk=chunk):
                return _with_raw(item, self._message.chunk(chunk))
            case RawEvent():
                return [item]
            case ErrorEvent() | CompleteEvent() | CancelledEvent():
                self.ending = item
                return []
            case _:
                return [*map(_event, self._message.chunk(item))]

    def _feed_raw(self, event: bytes | JsonObject) -> list[AgentStreamEvent]:
        self._failure = None
        before = self._message.end_step() if self._raw.is_idle else []
        decoded = self._raw.feed_bytes(event) if isinstance(event, bytes) else self._raw.feed(event)
        events = [*map(_event, before), *self._read_response(decoded)]
        if self._held and not self._raw.is_in_response:
            events += self._end_response()
        return events

    def _end_response(self) -> list[AgentStreamEvent]:
        """The end of the provider's response, and the items that were yielded within it."""
        events = self._read_response(self._raw.end())
        held, self._held = self._held, []
        return [*events, *(event for item in held for event in self._read(item))]

    def _read_response(self, decoded: list[AgentStreamEvent]) -> list[AgentStreamEvent]:
        """Events of a provider's response as the message has them."""
        events: list[AgentStreamEvent] = []
        for event in decoded:
            if not isinstance(event, ChunkEvent):
                events.append(event)
                continue
            if isinstance(event.chunk, ErrorChunk):
                self._failure = ErrorEvent(message=event.chunk.error_text, name="provider")
            elif isinstance(event.chunk, MessageAbort):
                self._failure = ErrorEvent(message=f"{RESPONSE_CUT}: {event.chunk.reason}", name="cut")
            chunk = self._message.response_chunk(event.chunk)
            events += _with_raw(event, [] if chunk is None else [chunk])
        return events


def _event(chunk: Chunk) -> ChunkEvent:
    return ChunkEvent(chunk=chunk)


def _with_raw(event: ChunkEvent, chunks: list[Chunk]) -> list[AgentStreamEvent]:
    """Chunks as events, the first with the raw data of `event`; without chunks, the raw data alone."""
    if chunks:
        return [replace(event, chunk=chunks[0]), *map(_event, chunks[1:])]
    if event.raw_text is None and event.raw_agent_message is UNSET:
        return []
    return [RawEvent(raw_agent_message=event.raw_agent_message, raw_text=event.raw_text)]


class FunctionService:
    """An agent that is a function of an `AgentRequest`; see `as_agent`."""

    supports_client_tools = True  # a function finds them in its request

    def __init__(
        self, name: str, function: Callable[[AgentRequest], Any], format_name: str | None = None
    ) -> None:
        """`format_name` is the format of raw events; without it, that is detected."""
        self.name = name
        self._function = function
        self._format_name = format_name

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncGenerator[AgentStreamEvent]:
        """The events of one response."""
        request = request_of(prompt, cwd, session_id, options)
        check_client_tools(self, request.options.tools)
        return self._events(request)

    async def _events(self, request: AgentRequest) -> AsyncGenerator[AgentStreamEvent]:
        reader = OutputReader(self.name, request.message_id, self._format_name)
        for event in reader.start():
            yield event
        async with aclosing(_items(self._function, request)) as items:
            while reader.ending is None:
                try:
                    item = await anext(items)
                except StopAsyncIteration:
                    break
                except Exception as error:  # of the function: it ends the response
                    report_failure(error)
                    for event in reader.fail(error):
                        yield event
                    return
                for event in reader.feed(item):
                    yield event
        for event in reader.finish():
            yield event


async def _items(function: Callable[[AgentRequest], Any], request: AgentRequest) -> AsyncGenerator[object]:
    """What a function yields or returns. It may be a coroutine, and return a stream or a context manager."""
    async with AsyncExitStack() as stack:
        result = function(request)
        if isawaitable(result):
            result = await result
        if hasattr(result, "__aenter__") and not hasattr(result, "__aiter__"):
            result = await stack.enter_async_context(
                result
            )  # a vendor's stream that is opened by `async with`
        if not hasattr(result, "__aiter__"):
            if type(result) in (list, tuple, set) or hasattr(result, "__next__"):
                hint = f"write `async def` and `yield`, or return {ACCEPTED}"
                raise AgentError(f"the function returned {kind_of(result)}", hint=hint)
            if result is not None:
                yield result
            return
        stream: AsyncIterator[object] = aiter(result)
        stack.push_async_callback(_close, stream, result)
        async for item in stream:
            yield item


async def _close(*streams: Any) -> None:
    """Close a stream. Packages call the method `aclose` or `close`, and have it on either object."""
    for stream in streams:
        close = getattr(stream, "aclose", None) or getattr(stream, "close", None)
        if close is not None:
            closing = close()
            if isawaitable(closing):
                await closing
            return
