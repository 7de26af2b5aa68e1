"""Events of a run of Pydantic AI → chunks."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType
from pydantic_ai.messages import (
    BaseToolCallPart,
    FilePart,
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    NativeToolCallPart,
    NativeToolReturnPart,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPartDelta,
    ToolResultEvent,
)
from pydantic_ai.usage import RequestUsage, RunUsage

from partita.errors import DecodeError
from partita.formats.core.tool_text import parse_input
from partita.formats.pydantic_ai.format import USAGE
from partita.runtime.plugged.jsonable import as_json
from partita.runtime.tools.chunks import chunk_of_output
from partita.types.chunks import (
    Chunk,
    CustomChunk,
    FileChunk,
    MessageFinish,
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
    ToolOutputAvailable,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps
from partita.types.usage import Usage

from .parts import metadata_of, output_of, part_of

REASONS: Final[Mapping[str, str]] = {
    "content_filter": "content-filter",
    "tool_call": "tool-calls",
}
"""Finish reasons of ours by theirs; the others are the same."""


class Speaking:
    """Makes chunks of the events of one run. `history` gives the messages of the run so far."""

    def __init__(self, history: Callable[[], list[ModelMessage]]) -> None:
        self._history = history
        self._step: int | None = None  # how many answers there were when the one at hand began
        self._blocks = 0
        self._open: dict[int, str] = {}  # blocks and calls by the place of their part

    def chunks(self, event: Any) -> list[Chunk]:
        """The chunks that an event amounts to."""
        match event:
            case PartStartEvent():
                return [*self._stepped(), *self._start(event.index, event.part)]
            case PartDeltaEvent():
                return self._grow(event.index, event.delta)
            case PartEndEvent():
                return self._end(event.index, event.part)
            case ToolResultEvent():
                output = output_of(event.part, getattr(event, "content", None))
                return [*self.leave(), chunk_of_output(event.part.tool_call_id, output)]
            case _:
                return []

    def leave(self) -> list[Chunk]:
        """The end of the answer at hand, and what it says of itself."""
        number, self._step, self._open = self._step, None, {}
        answers = self._answers()
        if number is None:
            return []
        said = (
            MessageFinish("other", {"finishReason": "other"})
            if number >= len(answers)
            else told(answers[number])
        )
        return [StepFinish(), said]

    def _answers(self) -> list[ModelResponse]:
        return [message for message in self._history() if isinstance(message, ModelResponse)]

    def _stepped(self) -> list[Chunk]:
        """The beginning of another answer, if it is one."""
        number = len(self._answers())
        if number == self._step:
            return []
        left = self.leave()
        self._step = number
        return [*left, StepStart()]

    def _start(self, index: int, part: ModelResponsePart) -> list[Chunk]:
        self._blocks += 1
        block = f"part-{self._blocks}"
        match part:
            case TextPart():
                self._open[index] = block
                return [TextStart(block), *([TextDelta(block, part.content)] if part.content else [])]
            case ThinkingPart():
                self._open[index] = block
                return [
                    ReasoningStart(block),
                    *([ReasoningDelta(block, part.content)] if part.content else []),
                ]
            case BaseToolCallPart():
                self._open[index] = part.tool_call_id
                executed = True if isinstance(part, NativeToolCallPart) else None
                written = _written(part.args)
                begun = ToolInputStart(part.tool_call_id, part.tool_name, executed)
                return [begun, *([ToolInputDelta(part.tool_call_id, written)] if written else [])]
            case NativeToolReturnPart():
                output: Json = as_json(part.content)
                return [ToolOutputAvailable(part.tool_call_id, output, True, metadata_of(part))]
            case FilePart():
                return [FileChunk(part.content.data_uri, part.content.media_type, metadata_of(part))]
            case _:
                kept = part_of(part)
                return [CustomChunk(kept.kind, kept.provider_metadata)]

    def _grow(self, index: int, delta: Any) -> list[Chunk]:
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
                return [TextEnd(block, metadata_of(part))]
            case ThinkingPart() if block:
                return [ReasoningEnd(block, metadata_of(part))]
            case BaseToolCallPart():
                return [_whole(part)]
            case _:
                return []


def _whole(part: BaseToolCallPart[Any]) -> Chunk:
    """A call whose input is whole. Words that are no JSON are told so: the model will hear of it."""
    executed = True if isinstance(part, NativeToolCallPart) else None
    kept = metadata_of(part)
    given: Json | UnsetType = UNSET
    if isinstance(part.args, str):
        try:
            given = parse_input(part.args)
        except DecodeError as error:
            words = f"the input is no JSON: {error}"
            return ToolInputError(part.tool_call_id, part.tool_name, words, part.args, executed, kept)
    else:
        given = as_json(part.args or {})
    return ToolInputAvailable(part.tool_call_id, part.tool_name, given, executed, kept)


def _written(args: Any) -> str:
    """An input as it was written. One that came as a value is told when it is whole."""
    return args if isinstance(args, str) else dumps(as_json(args)).decode() if args else ""


def told(answer: ModelResponse) -> MessageFinish:
    """The end of an answer, and what it says of itself."""
    theirs = answer.finish_reason
    reason = REASONS.get(theirs or "", theirs) or ("tool-calls" if answer.tool_calls else "stop")
    said: JsonObject = {"finishReason": reason}
    for name, value in (
        ("model", answer.model_name),
        ("provider", answer.provider_name),
        ("responseId", answer.provider_response_id),
    ):
        if value is not None:
            said[name] = value
    usage = usage_of(answer.usage)
    return MessageFinish(reason, said if usage is None else {**said, "usage": to_json(usage)})


def usage_of(usage: RunUsage | RequestUsage) -> Usage | None:
    """What was consumed, if anything is known of it."""
    return USAGE.read(as_json(usage)) if usage.has_values() else None
