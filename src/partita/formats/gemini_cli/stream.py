"""The output of Gemini CLI with `--output-format stream-json` → chunks of one message.

Source: `packages/core/src/output/types.ts` in https://github.com/google-gemini/gemini-cli. Other events
(the prompt, warnings, unknown events) becomes data. A step ends when all its calls have results
and the model continues.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from partita.formats.core.members import text_or, without
from partita.formats.format import Format
from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageFinish,
    MessageStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolOutputChunk,
)
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import ErrorTextOutput, TextOutput

from .content import KEY

Reader: TypeAlias = Callable[[JsonObject], list[Chunk]]

FINISHED: Final = {"success": "stop", "error": "error"}


class GeminiStreamDecoder:
    """Decodes the events of one message."""

    def __init__(self) -> None:
        self._texts = 0
        self._is_text_open = self._is_step_open = self._had_results = False
        self._open_calls: set[str] = set()
        self._calls: dict[str, str] = {}  # by their ids in the stream: those in the message
        self._readers: Mapping[Json, Reader] = {
            "init": self._init,
            "message": self._message,
            "tool_use": self._call,
            "tool_result": self._result,
            "error": self._error,
            "result": self._finish,
        }

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks of one event."""
        type_ = event.get("type") if is_object(event) else None
        reader = self._readers.get(type_) if isinstance(type_, str) else None
        if reader is None or not is_object(event):
            return [DataChunk("data-gemini-unknown", event)]
        return reader(event)

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        closing: list[Chunk] = self._text_end()
        if self._is_step_open:
            self._is_step_open = False
            closing.append(StepFinish())
        return closing

    def _init(self, event: JsonObject) -> list[Chunk]:
        own = {"sessionId": event.get("session_id"), "startedAt": event.get("timestamp")}
        return [MessageStart(None, {"model": event.get("model"), KEY: own})]

    def _message(self, event: JsonObject) -> list[Chunk]:
        content = event.get("content")
        if event.get("role") != "assistant" or not isinstance(content, str):
            return [DataChunk("data-gemini-message", without(event, "type"))]
        chunks = self._step()
        if not self._is_text_open:
            self._is_text_open = True
            self._texts += 1
            chunks.append(TextStart(str(self._texts)))
        chunks.append(TextDelta(str(self._texts), content))
        return chunks if event.get("delta") is True else chunks + self._text_end()

    def _call(self, event: JsonObject) -> list[Chunk]:
        call, name = event.get("tool_id"), text_or(event.get("tool_name"), "unknown")
        if not isinstance(call, str):
            return [DataChunk("data-gemini-call", without(event, "type"))]
        chunks = [*self._step(), *self._text_end()]
        own = self._unique_id(call)
        self._open_calls.add(call)
        return [*chunks, ToolInputAvailable(own, name, event.get("parameters"))]

    def _unique_id(self, call: str) -> str:
        """The id of a call in the message: one that is reused after its result gets a number."""
        known = self._calls.get(call)
        if known is None or call in self._open_calls:
            return self._calls.setdefault(call, call)
        own, number = known, 1
        while own in self._calls.values():
            number += 1
            own = f"{call}_{number}"
        self._calls[call] = own
        return own

    def _result(self, event: JsonObject) -> list[Chunk]:
        call = event.get("tool_id")
        if not isinstance(call, str) or call not in self._calls:
            return [DataChunk("data-gemini-result", without(event, "type"))]
        self._open_calls.discard(call)
        self._had_results = True
        text, error = event.get("output"), event.get("error")
        error_text = error.get("message") if is_object(error) else None
        if event.get("status") == "error":
            output: TextOutput | ErrorTextOutput = ErrorTextOutput(text_or(error_text, text_or(text, "")))
        else:
            output = TextOutput(text_or(text, ""))
        own = {"status": event.get("status"), "error": error} if error is not None else None
        return [ToolOutputChunk(self._calls[call], output, tool_metadata={KEY: own} if own else None)]

    def _error(self, event: JsonObject) -> list[Chunk]:
        message = event.get("message")
        if event.get("severity") == "warning" or not isinstance(message, str):
            return [DataChunk("data-gemini-warning", without(event, "type"))]
        return [ErrorChunk(message)]

    def _finish(self, event: JsonObject) -> list[Chunk]:
        """The result: its error, if it has one, and its statistics."""
        chunks = self.finish()
        error = event.get("error")
        if is_object(error) and isinstance(message := error.get("message"), str):
            chunks.append(ErrorChunk(message))
        own = without(event, "type", "timestamp")
        status = event.get("status")
        reason = FINISHED.get(status, "other") if isinstance(status, str) else None
        return [*chunks, MessageFinish(reason, {KEY: own})]

    def _step(self) -> list[Chunk]:
        """Begin a step, unless the current one has no results."""
        chunks: list[Chunk] = []
        if self._is_step_open and self._had_results and not self._open_calls:
            chunks += self.finish()
        if not self._is_step_open:
            self._is_step_open = True
            self._had_results = False
            chunks.append(StepStart())
        return chunks

    def _text_end(self) -> list[Chunk]:
        if not self._is_text_open:
            return []
        self._is_text_open = False
        return [TextEnd(str(self._texts))]


FORMAT = Format("gemini-cli-stream", "Gemini CLI stream-json", decoder=GeminiStreamDecoder)
