"""Errors as an end user sees them: a fixed text with a reference instead of the text of an exception.

The store and the log of a run hold the original. This module computes the other view, for live chunks and
for stored messages alike: both show the same text and the same reference. The server log has it too.
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from dataclasses import replace as replace_fields
from typing import Any, Final, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from partita.formats.mastra.network_payload import LEGACY_NETWORK, network_string
from partita.store.values import PartMatches, SearchHit, StoredPart
from partita.types.chunks import (
    ChildChunk,
    ChildMessage,
    Chunk,
    ErrorChunk,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    NetworkExecutionEnd,
    ToolInputError,
    ToolOutputChunk,
    ToolOutputError,
)
from partita.types.json import Json, dumps, is_object
from partita.types.messages import (
    ENDED,
    AssistantMessage,
    Message,
    NetworkExecution,
    NetworkResult,
    ToolCallPart,
    ToolMessage,
)
from partita.types.parts import ErrorJsonOutput, ErrorTextOutput, ToolOutput, ToolResultPart
from partita.types.threads import Run

from .log_context import reference_of
from .principal import Principal

T = TypeVar("T")

PUBLIC_ERRORS: Final = "publicErrors"
"""The member of the metadata of a message with error texts that end users may see, by the id of a run or a
tool call: those that `on_error` returned, and those that a client reported for its own tools."""


def sees_errors(principal: Principal) -> bool:
    """Whether a caller may see the text of exceptions. End users, role `chat`, see a reference instead."""
    return principal.may("logs")


def masked_text(what: str, id: str) -> str:
    """The text that replaces an error."""
    return f"The {what} failed. Reference: {reference_of(id)}"


def public_error(id: str, text: str) -> MessageMetadata:
    """The chunk that stores an error text for end users."""
    return MessageMetadata({PUBLIC_ERRORS: {id: text}})


def error_text(output: ToolOutput | None) -> str | None:
    """The text of an output that is an error; `None` for any other."""
    match output:
        case ErrorTextOutput(value=text):
            return text
        case ErrorJsonOutput(value=value):
            return dumps(value).decode()
        case _:
            return None


def failed_call(chunk: Chunk) -> tuple[str, str] | None:
    """The id of the tool call whose error a chunk reports, and the text of the error."""
    match chunk:
        case (
            ToolOutputError(tool_call_id=id, error_text=text)
            | ToolInputError(tool_call_id=id, error_text=text)
        ):
            return id, text
        case ToolOutputChunk(tool_call_id=id, output=output):
            text = error_text(output)
            return None if text is None else (id, text)
        case ChildChunk(chunk=inner):
            return failed_call(inner)
        case _:
            return None


class ErrorMask:
    """Replaces the errors in the chunks of a run, in order, or in one message."""

    def __init__(self, run_id: str, message_id: str) -> None:
        self._run_id = run_id
        self._message_id = message_id
        self._public: dict[str, str] = {}

    def chunk(self, chunk: Chunk) -> Chunk | None:
        """The chunk without the text of an exception; `None` if nothing of it is left."""
        match chunk:
            case MessageStart(message_id=message_id, message_metadata=metadata):
                self._message_id = message_id or self._message_id
                return replace(chunk, message_metadata=self.metadata(metadata))
            case MessageFinish(message_metadata=metadata):
                return replace(chunk, message_metadata=self.metadata(metadata))
            case MessageMetadata(message_metadata=metadata):
                masked = self.metadata(metadata)
                return replace(chunk, message_metadata=masked) if masked or not metadata else None
            case ErrorChunk():
                return ErrorChunk(self.run_error())
            case ToolOutputError() | ToolInputError():
                text = self.call_error(chunk.tool_call_id)
                return replace(chunk, error_text=text, provider_metadata=None, extra=None)
            case ToolOutputChunk(tool_call_id=id, output=output):
                return replace(chunk, output=self._output(id, output))
            case NetworkExecutionEnd(final_result=result) if result is not None:
                return replace(chunk, final_result=self._result(result))
            case ChildMessage(message=message):
                return replace(chunk, message=self.message(message))
            case ChildChunk(chunk=inner):
                return self._child(chunk, inner)
            case _:
                return chunk

    def _child(self, child: ChildChunk, inner: Chunk) -> ChildChunk | None:
        """A chunk of a sub-agent. Its errors have the reference of the message that it belongs to."""
        message_id = self._message_id
        masked = self.chunk(inner)
        self._message_id = message_id
        if masked is inner:
            return child
        return None if masked is None else replace(child, chunk=masked)

    def message(self, message: Message) -> Message:
        """The message without the texts of exceptions, in sub-agents' messages too."""
        if isinstance(message, ToolMessage):
            parts = tuple([self._result_part(part) for part in message.parts])
            return _with_content(message, parts=parts)
        if not isinstance(message, AssistantMessage):
            return message
        content = message.content
        metadata = self.metadata(content.metadata)
        parts = tuple([self._part(part) for part in content.parts])
        execution = content.network_execution
        masked = None if execution is None else self._execution(execution)
        text = content.content
        is_legacy = is_object(metadata) and LEGACY_NETWORK in metadata
        if is_legacy and masked is not None and masked is not execution:
            text = network_string(message.id, masked)
        return _with_content(message, metadata=metadata, parts=parts, network_execution=masked, content=text)

    def metadata(self, metadata: Json | UnsetType) -> Json | UnsetType:
        """Metadata without the reason why a run failed. Texts for end users are taken from it."""
        if not is_object(metadata):
            return metadata
        public = metadata.get(PUBLIC_ERRORS)
        if is_object(public):
            self._public |= {key: text for key, text in public.items() if isinstance(text, str)}
            metadata = {key: value for key, value in metadata.items() if key != PUBLIC_ERRORS}
        ended = metadata.get(ENDED)
        if is_object(ended) and ended.get("status") == "failed" and "reason" in ended:
            metadata = {**metadata, ENDED: {**ended, "reason": self.run_error()}}
        return metadata

    def run_error(self) -> str:
        """The text that says that the run failed."""
        return self._public.get(self._run_id) or masked_text("agent", self._run_id)

    def call_error(self, call_id: str) -> str:
        """The text that says that a tool call failed."""
        return self._public.get(call_id) or masked_text("tool", self._message_id)

    def _output(self, call_id: str, output: ToolOutput) -> ToolOutput:
        return output if error_text(output) is None else ErrorTextOutput(self.call_error(call_id))

    def _part(self, part: Any) -> Any:
        if not isinstance(part, ToolCallPart):
            return part
        children = tuple([self.message(child) for child in part.children])
        if _differs(children, part.children):
            part = replace(part, children=children)
        if part.output is None or error_text(part.output) is None:
            return part
        return replace(part, output=self._output(part.id, part.output), result_provider_metadata=None)

    def _result_part(self, part: Any) -> Any:
        if not isinstance(part, ToolResultPart) or error_text(part.output) is None:
            return part
        return replace(part, output=self._output(part.id, part.output), provider_metadata=None)

    def _execution(self, execution: NetworkExecution) -> NetworkExecution:
        result = execution.final_result
        masked = None if result is None else self._result(result)
        return execution if masked is result else replace(execution, final_result=masked)

    def _result(self, result: NetworkResult) -> NetworkResult:
        calls = tuple([self._part(call) for call in result.tool_calls])
        messages = tuple([self.message(message) for message in result.messages])
        error = None if result.error is None else masked_text("agent", self._message_id)
        same = not _differs(calls, result.tool_calls) and not _differs(messages, result.messages)
        if same and error == result.error:
            return result
        return replace(result, error=error, tool_calls=calls, messages=messages)


def mask_message(message: Message) -> Message:
    """A stored message as an end user sees it."""
    return ErrorMask(message.run_id or message.id, message.id).message(message)


def mask_run(run: Run) -> Run:
    """A run as an end user sees it."""
    if run.status != "failed" or run.error is None:
        return run
    return replace(run, error=masked_text("agent", run.id), agent_result=UNSET)


def mask_errors(value: T) -> T:
    """A value that was read from the store, with all messages and runs in it as an end user sees them."""
    masked: Any = _masked(value)
    return masked


def _masked(value: Any) -> Any:
    match value:
        case AssistantMessage() | ToolMessage():
            return mask_message(value)
        case Run():
            return mask_run(value)
        case dict():
            return {key: _masked(item) for key, item in value.items()}
        case list():
            return [_masked(item) for item in value]
        case tuple():
            items = [_masked(item) for item in value]
            make: Any = getattr(type(value), "_make", tuple)  # of a named tuple
            return make(items)
        case StoredPart(error=str()):
            return replace(value, error=masked_text("tool", value.message_id))
        case SearchHit(role="assistant" | "tool"):
            return replace(value, snippet="", highlights=())  # it may quote an error
        case PartMatches():
            return replace(value, words=())
        case Struct():
            return replace(value, **_changed(value, value.__struct_fields__))
        case _ if is_dataclass(value) and not isinstance(value, type):
            return replace_fields(value, **_changed(value, [one.name for one in fields(value) if one.init]))
        case _:
            return value


def _changed(value: Any, names: Sequence[str]) -> dict[str, Any]:
    pairs = [(name, getattr(value, name)) for name in names]
    return {name: masked for name, held in pairs if (masked := _masked(held)) is not held}


def _with_content(message: Any, **content: Any) -> Any:
    """The message with members of its content replaced; the same message if none of them differs."""
    held = message.content
    changed: dict[str, Any] = {}
    for name, value in content.items():
        old = getattr(held, name)
        if _differs(value, old) if isinstance(value, tuple) else value is not old:
            changed[name] = value
    return replace(message, content=replace(held, **changed)) if changed else message


def _differs(new: Sequence[object], old: Sequence[object]) -> bool:
    return any(one is not other for one, other in zip(new, old, strict=True))
