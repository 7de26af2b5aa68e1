"""Events of a run of Pydantic AI → chunks. Parts and outputs are read by the format `pydantic-ai`."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from pydantic_ai.messages import (
    BaseToolCallPart,
    BaseToolReturnPart,
    BinaryContent,
    FilePart,
    FileUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    NativeToolCallPart,
    NativeToolReturnPart,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextContent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPartDelta,
    ToolResultEvent,
    UploadedFile,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage, RunUsage

from partita.formats.core.metadata import add_notes
from partita.formats.core.tool_text import as_text, read_tool_text
from partita.formats.pydantic_ai.format import USAGE, load
from partita.formats.pydantic_ai.parts import OUTCOMES
from partita.formats.pydantic_ai.wire import NAME
from partita.runtime.adapters.frameworks import as_json, input_chunk, response_finish
from partita.runtime.tools.outputs import chunk_of_output
from partita.types.chunks import (
    Chunk,
    CustomChunk,
    FileChunk,
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
    ToolInputStart,
    ToolOutputAvailable,
)
from partita.types.json import Json, JsonObject, dumps, is_array
from partita.types.messages import ToolCallPart
from partita.types.parts import ContentOutput, CustomPart, ForeignPart, ReasoningPart, ToolOutput
from partita.types.usage import Usage

# Parts of responses, and what tools return.

CONTENT: Final = (str, BinaryContent, FileUrl, TextContent, UploadedFile)
"""What a tool can show a model besides values."""


def _read(message: ModelMessage) -> tuple[Any, ...]:
    (read,) = load(ModelMessagesTypeAdapter.dump_python([message], mode="json")).messages
    return read.parts


def _part_of(part: Any) -> Any:
    """A part of a response. One that the format does not know is kept whole, as a custom part."""
    if isinstance(part, NativeToolReturnPart):
        return _read(ModelResponse([NativeToolCallPart(part.tool_name, {}, part.tool_call_id), part]))[0]
    read = _read(ModelResponse([part]))[0]
    if isinstance(read, ForeignPart):
        return CustomPart(f"{NAME}.{part.part_kind}", provider_metadata={NAME: read.value})
    return read


def _metadata(part: Any) -> JsonObject | None:
    """The provider metadata of a part: signatures, ids, and what else only Pydantic AI needs."""
    read = _part_of(part)
    if isinstance(read, ToolCallPart):
        is_return = isinstance(part, NativeToolReturnPart)
        return read.result_provider_metadata if is_return else read.call_provider_metadata
    metadata: JsonObject | None = read.provider_metadata
    if isinstance(read, ReasoningPart) and read.id is not None:
        return add_notes(metadata, NAME, {"id": read.id})  # reasoning that is streamed has no id
    return metadata


def output_of(
    part: BaseToolReturnPart[Any], content: str | Sequence[UserContent] | None = None
) -> ToolOutput:
    """What a tool returned, and the `content` that it shows the model besides."""
    if part.outcome != "success":
        return read_tool_text(OUTCOMES[part.outcome], part.model_response_str(wrap_if_error=False))
    if part.files or content:
        shown = [content] if isinstance(content, str) else list(content or ())
        items = [*(part.content if is_array(part.content) else [part.content]), *shown]
        prompt: list[Any] = [item if isinstance(item, CONTENT) else as_text(as_json(item)) for item in items]
        return ContentOutput(_read(ModelRequest([UserPromptPart(prompt)])))
    return read_tool_text("success", as_json(part.content))


def usage_of(usage: RunUsage | RequestUsage) -> Usage | None:
    """The usage, if anything is known."""
    return USAGE.read(as_json(usage)) if usage.has_values() else None


# Events


class RunStream:
    """Makes chunks of the events of one run."""

    def __init__(self, history: Callable[[], list[ModelMessage]]) -> None:
        """`history` returns the messages of the run so far."""
        self._history = history
        self._response: int | None = None  # the index of the response that is being streamed
        self._block_count = 0
        self._open: dict[int, str] = {}  # ids of blocks and calls, by the index of their part

    def chunks(self, event: Any) -> list[Chunk]:
        """The chunks for an event."""
        match event:
            case PartStartEvent():
                return [*self._start_response(), *self._start(event.index, event.part)]
            case PartDeltaEvent():
                return self._append(event.index, event.delta)
            case PartEndEvent():
                return self._end(event.index, event.part)
            case ToolResultEvent():
                output = output_of(event.part, getattr(event, "content", None))
                return [*self.end_response(), chunk_of_output(event.part.tool_call_id, output)]
            case _:
                return []

    def end_response(self) -> list[Chunk]:
        """End the response that is being streamed, if there is one."""
        index, self._response, self._open = self._response, None, {}
        if index is None:
            return []
        responses = self._responses()
        if index >= len(responses):
            return [StepFinish(), response_finish("other", False, None)]
        response = responses[index]
        finish = response_finish(
            response.finish_reason,
            bool(response.tool_calls),
            usage_of(response.usage),
            model=response.model_name,
            provider=response.provider_name,
            responseId=response.provider_response_id,
        )
        return [StepFinish(), finish]

    def _responses(self) -> list[ModelResponse]:
        return [message for message in self._history() if isinstance(message, ModelResponse)]

    def _start_response(self) -> list[Chunk]:
        """The start of a response, unless a part belongs to the same one as before."""
        index = len(self._responses())
        if index == self._response:
            return []
        ended = self.end_response()
        self._response = index
        return [*ended, StepStart()]

    def _start(self, index: int, part: ModelResponsePart) -> list[Chunk]:
        self._block_count += 1
        block = f"part-{self._block_count}"
        match part:
            case TextPart():
                self._open[index] = block
                return [TextStart(block), *([TextDelta(block, part.content)] if part.content else [])]
            case ThinkingPart():
                self._open[index] = block
                text = [ReasoningDelta(block, part.content)] if part.content else []
                return [ReasoningStart(block), *text]
            case BaseToolCallPart():
                id_ = self._open[index] = part.tool_call_id
                args = part.args if isinstance(part.args, str) else dumps(as_json(part.args)).decode()
                text = [ToolInputDelta(id_, args)] if part.args else []
                return [ToolInputStart(id_, part.tool_name, _is_native(part)), *text]
            case NativeToolReturnPart():
                output: Json = as_json(part.content)
                return [ToolOutputAvailable(part.tool_call_id, output, True, _metadata(part))]
            case FilePart():
                return [FileChunk(part.content.data_uri, part.content.media_type, _metadata(part))]
            case _:
                kept = _part_of(part)
                return [CustomChunk(kept.kind, kept.provider_metadata)]

    def _append(self, index: int, delta: Any) -> list[Chunk]:
        block = self._open.get(index)
        match delta:
            case TextPartDelta() if block and delta.content_delta:
                return [TextDelta(block, delta.content_delta)]
            case ThinkingPartDelta() if block and delta.content_delta:
                return [ReasoningDelta(block, delta.content_delta)]
            case ToolCallPartDelta() if block and isinstance(delta.args_delta, str) and delta.args_delta:
                return [ToolInputDelta(block, delta.args_delta)]
            case _:
                return []

    def _end(self, index: int, part: ModelResponsePart) -> list[Chunk]:
        block = self._open.pop(index, None)
        match part:
            case TextPart() if block:
                return [TextEnd(block, _metadata(part))]
            case ThinkingPart() if block:
                return [ReasoningEnd(block, _metadata(part))]
            case BaseToolCallPart():
                call = (part.tool_call_id, part.tool_name)
                executed, metadata = _is_native(part), _metadata(part)
                if isinstance(part.args, str):
                    return [input_chunk(*call, part.args, executed, metadata)]
                return [ToolInputAvailable(*call, as_json(part.args or {}), executed, metadata)]
            case _:
                return []


def _is_native(part: BaseToolCallPart[Any]) -> bool | None:
    """Whether the provider runs a call: `None` if not, as in chunks."""
    return True if isinstance(part, NativeToolCallPart) else None
