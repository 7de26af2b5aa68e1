"""Leaves out chosen messages, parts and chunks. A mark replaces each; copies elsewhere are removed too."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.files import FILES
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
)
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkExecution,
    NetworkResult,
    Part,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    unlisted_calls,
)
from partita.types.parts import (
    ContentOutput,
    FilePart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolResultPart,
)

P = TypeVar("P", bound=Part)

Leaving: TypeAlias = Literal["reasoning", "tool-outputs", "tool-calls", "files", "system", "sub-agents"]

LABELS: Final[dict[Leaving, str]] = {
    "reasoning": "reasoning",
    "tool-outputs": "the output of a tool",
    "tool-calls": "a tool call",
    "files": "a file",
    "system": "a system message",
    "sub-agents": "the messages of a sub-agent",
}
A_MESSAGE: Final = "a message"
A_PART: Final = "a part"


def mark_of(what: str) -> str:
    """Return the text that replaces something that was left out."""
    return f"[left out: {what}]"


@dataclass(frozen=True)
class Choice:
    """What to leave out: kinds, messages by id, and parts by the id of their message and their path in it."""

    kinds: frozenset[Leaving] = frozenset()
    messages: frozenset[str] = frozenset()
    parts: frozenset[tuple[str, str]] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.kinds or self.messages or self.parts)


@dataclass
class Remover:
    """Removes the chosen messages and parts, and counts them."""

    choice: Choice
    counts: Counter[str] = field(default_factory=Counter[str])

    def messages(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return the messages, with marks instead of whatever was left out."""
        return tuple(self._message(message, message.id, "") for message in messages)

    def _leave(self, what: str) -> str:
        self.counts[what] += 1
        return mark_of(what)

    def _message(self, message: Message, owner: str, path: str) -> Message:
        if message.id in self.choice.messages:
            return self._emptied(message, A_MESSAGE)
        if isinstance(message, SystemMessage) and "system" in self.choice.kinds:
            return self._emptied(message, LABELS["system"])
        before = self.counts.total()
        parts = tuple(
            self._part(part, owner, f"{path}{index}") for index, part in enumerate(message.content.parts)
        )
        content = replace(message.content, parts=parts)
        if isinstance(message, AssistantMessage):
            content = self._without_network(content, owner, path)
        if self.counts.total() == before:
            return message
        return replace(message, content=_bare(content), extra=None)

    def _emptied(self, message: Message, what: str) -> Message:
        """The envelope of a message, and a mark. Results of tools stay results, so that calls have them."""
        mark = self._leave(what)
        parts: tuple[Any, ...] = (TextPart(mark),)
        if isinstance(message, ToolMessage):
            results = [part for part in message.parts if isinstance(part, ToolResultPart)]
            parts = tuple(
                ToolResultPart(id=part.id, name=part.name, output=TextOutput(value=mark)) for part in results
            )
        content = _bare(replace(message.content, parts=parts))
        if isinstance(message, AssistantMessage):
            content = replace(content, network_execution=None)
        return replace(
            message, content=content, type="text" if message.type == "tool" else message.type, extra=None
        )

    def _without_network(self, content: Any, owner: str, path: str) -> Any:
        execution = content.network_execution
        if execution is None:
            return content
        if "sub-agents" not in self.choice.kinds:
            result = execution.final_result
            changed = None if result is None else self._result(execution, result, owner, f"{path}network.")
            return replace(content, network_execution=replace(execution, final_result=changed))
        mark = self._leave(LABELS["sub-agents"])
        emptied = replace(
            execution, final_result=NetworkResult(text=mark), input=UNSET, selection_reason=None, extra=None
        )
        return replace(content, network_execution=emptied)

    def _result(
        self, execution: NetworkExecution, result: NetworkResult, owner: str, path: str
    ) -> NetworkResult:
        """Return a result without the chosen messages and calls."""
        before = self.counts.total()
        if self.choice.kinds & {"tool-outputs", "tool-calls"} and execution.primitive_type != "agent":
            return NetworkResult(text=self._leave(LABELS["tool-outputs"]))
        messages = tuple(
            self._message(message, owner, f"{path}messages.{index}.")
            for index, message in enumerate(result.messages)
        )
        apart = [
            self._part(call, owner, f"{path}calls.{index}")
            for index, call in enumerate(unlisted_calls(result))
        ]
        if self.counts.total() == before:
            return result
        calls = tuple(part for part in apart if isinstance(part, ToolCallPart))
        return replace(result, messages=messages, tool_calls=calls, extra=None)

    def _part(self, part: Any, owner: str, path: str) -> Any:
        kinds = self.choice.kinds
        if (owner, path) in self.choice.parts:
            return self._replaced(part, A_PART)
        match part:
            case ReasoningPart() if "reasoning" in kinds:
                return TextPart(self._leave(LABELS["reasoning"]))
            case FilePart() | ImagePart() | ReasoningFilePart() if "files" in kinds:
                return TextPart(self._leave(LABELS["files"]))
            case ToolCallPart() if "tool-calls" in kinds:
                return TextPart(self._leave(LABELS["tool-calls"]))
            case ToolCallPart():
                return self._call(part, owner, path)
            case ToolResultPart() if kinds & {"tool-outputs", "tool-calls"}:
                return self._replaced(part, LABELS["tool-outputs"])
            case ToolResultPart():
                return replace(part, output=self._output(part.output))
            case _:
                return part

    def _replaced(self, part: Any, what: str) -> Any:
        """A mark for a part; that of a result is a result."""
        mark = self._leave(what)
        if isinstance(part, ToolResultPart):
            return ToolResultPart(id=part.id, name=part.name, output=TextOutput(value=mark))
        return TextPart(mark)

    def _call(self, call: ToolCallPart, owner: str, path: str) -> ToolCallPart:
        kinds = self.choice.kinds
        if call.children:
            call = replace(call, children=self._children(call, owner, path))
        if call.output is None:
            return call
        if "tool-outputs" not in kinds:
            return replace(call, output=self._output(call.output))
        return replace(
            call,
            output=TextOutput(value=self._leave(LABELS["tool-outputs"])),
            result_provider_metadata=None,
            tool_metadata=None,
            result_message=None,
            extra=None,
        )

    def _children(self, call: ToolCallPart, owner: str, path: str) -> tuple[Message, ...]:
        if "sub-agents" in self.choice.kinds:
            mark = self._leave(LABELS["sub-agents"])
            return (AssistantMessage(id=f"{call.id}:left-out", content=[TextPart(mark)]),)
        return tuple(
            self._message(message, owner, f"{path}.children.{index}.")
            for index, message in enumerate(call.children)
        )

    def _output(self, output: Any) -> Any:
        """An output, without the files in it."""
        if "files" not in self.choice.kinds or not isinstance(output, ContentOutput):
            return output
        items = tuple(
            TextPart(self._leave(LABELS["files"])) if isinstance(item, FILES) else item
            for item in output.value
        )
        return output if items == output.value else replace(output, value=items)


def _bare(content: Any) -> Any:
    """Return a content without members that may repeat its parts."""
    return replace(content, content=None, metadata=UNSET, provider_metadata=None, extra=None)


# Chunks

REASONING_CHUNKS: Final = (ReasoningStart, ReasoningDelta, ReasoningEnd, ReasoningFileChunk)
FILE_CHUNKS: Final = (FileChunk, ReasoningFileChunk)
NETWORK_CHUNKS: Final = (NetworkExecutionStart, NetworkExecutionEnd)
CALLS: Final[frozenset[Leaving]] = frozenset({"tool-calls", "tool-outputs"})


def _has_calls(chunk: NetworkExecutionEnd) -> bool:
    """Whether the result of an execution may contain calls and their outputs."""
    result = chunk.final_result
    return result is not None and bool(result.tool_calls or result.messages or result.value is not UNSET)


def is_left_out(chunk: Chunk, kinds: frozenset[Leaving]) -> bool:
    """Whether a chunk is of a kind that is left out."""
    name = type(chunk).__name__
    return (
        ("reasoning" in kinds and isinstance(chunk, REASONING_CHUNKS))
        or ("files" in kinds and isinstance(chunk, FILE_CHUNKS))
        or ("sub-agents" in kinds and (name.startswith("Child") or isinstance(chunk, NETWORK_CHUNKS)))
        or ("tool-calls" in kinds and name.startswith("Tool"))
        or ("tool-outputs" in kinds and name.startswith("ToolOutput"))
        or (not CALLS.isdisjoint(kinds) and isinstance(chunk, NetworkExecutionEnd) and _has_calls(chunk))
        or (isinstance(chunk, ChildChunk) and is_left_out(chunk.chunk, kinds))
    )
