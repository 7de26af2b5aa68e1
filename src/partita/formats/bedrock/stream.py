"""The events of ConverseStream → chunks.

An event is `{name: payload}`, as in the AWS SDKs. A response ends with its stream: the order of the last
events is not documented.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from partita.formats.core.codec import DELTAS, behind_note
from partita.formats.core.decoder import (
    BLOCK_ORDER,
    NOT_STARTED,
    OTHER_VALUE,
    Call,
    ResponseDecoder,
    StreamedBlock,
)
from partita.formats.core.metadata import add_notes, notes
from partita.formats.losses import UNREAD
from partita.types.chunks import (
    CustomChunk,
    FileChunk,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputError,
)
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ErrorTextOutput,
    FilePart,
    JsonOutput,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolResultPart,
)
from partita.types.usage import Usage, UsageNames

from .parts import SERVER, read_block
from .wire import NAME

INDEX: Final = "contentBlockIndex"

# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html
REASONS: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filtered": "content-filter",
    "guardrail_intervened": "content-filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
"""Finish reasons by stop reason; any other is `other`."""

# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
# The second names of cached input occur in logs: https://github.com/BerriAI/litellm/issues/31693
USAGE: Final = UsageNames(
    input=("inputTokens",),
    output=("outputTokens",),
    cached=("cacheReadInputTokens", "cacheReadInputTokenCount"),
    cache_write=("cacheWriteInputTokens", "cacheWriteInputTokenCount"),
    total=("totalTokens",),
    excludes_cache=True,
)

PADDING: Final = "padding against traffic analysis"


def _whole(block: StreamedBlock) -> JsonObject:
    """Return a block as in the body of a response. `raw` is the value of its only member."""
    data = None if block.data is None else b64encode(block.data).decode()
    match block.kind:
        case "text" if block.citations:
            content: list[Json] = [{"text": block.raw}]
            return {"citationsContent": {"content": content, "citations": block.citations}}
        case "reasoningContent" if data is not None:
            text = {"reasoningText": block.raw} if block.raw else {}
            return {block.kind: {**text, "redactedContent": data}}
        case "reasoningContent":
            return {block.kind: {"reasoningText": {"text": "", **block.raw}}}
        case "image" if data is not None:
            return {block.kind: {**block.raw, "source": {"bytes": data}}}
        case _:
            return {block.kind: block.raw}


class BedrockDecoder(ResponseDecoder):
    """Converts the events of one response to chunks."""

    def __init__(self) -> None:
        super().__init__(NAME, REASONS, read_usage)
        self._answered: set[str] = set()
        self._opened = 0

    def _read(self, event: JsonObject) -> bool:
        """Read an event. Returns whether it is known."""
        name, payload = next(iter(event.items()), ("", None))
        if len(event) != 1 or not is_object(payload):
            return False
        if "p" in payload:  # seen by the AI SDK, which deletes it
            self._report(f"{name}.p", payload["p"], PADDING)
            payload = {key: item for key, item in payload.items() if key != "p"}
        if name.endswith("Exception"):
            self._errors.append(event)
            self._emitter.error(error_text(payload) or name)
            return True
        read = _EVENTS.get(name)
        return read is not None and read(self, payload, name)

    # Events

    def _message_start(self, payload: JsonObject, name: str) -> bool:
        self._emitter.start()
        if payload.get("role", "assistant") != "assistant":
            self._report(f"{name}.role", payload["role"], UNREAD, "lost")
        return self._add_metadata(payload, name, "role")

    def _message_stop(self, payload: JsonObject, name: str) -> bool:
        stop = payload.get("stopReason")
        if self._stop is not None or not isinstance(stop, str):
            return False
        self._stop = stop
        return self._add_metadata(payload, name, "stopReason")

    def _usage_event(self, payload: JsonObject, name: str) -> bool:
        usage = payload.get("usage")
        if self._usage or not is_object(usage):
            return False
        self._usage = usage
        return self._add_metadata(payload, name, "usage")

    def _add_metadata(self, payload: JsonObject, name: str, *known: str) -> bool:
        """Keep the other members of an event as metadata of the response."""
        for key, item in payload.items():
            if key in known:
                continue
            if key in self._metadata:
                self._report(f"{name}.{key}", item, OTHER_VALUE)
            self._metadata.setdefault(key, item)
        return True

    def _block_start(self, payload: JsonObject, name: str) -> bool:
        index, start = payload.get(INDEX), payload.get("start")
        if type(index) is not int or not is_object(start) or len(start) > 1:
            return False
        kind: str = next(iter(start), "text")  # compatible servers send `{}` before a text
        value: Any = start.get(kind, "")
        if kind in ("toolUse", "toolResult", "image") and not is_object(value):
            return False
        if kind == "toolUse" and not (
            isinstance(value.get("toolUseId"), str) and isinstance(value.get("name"), str)
        ):
            return False
        self._report_others(payload, f"{name}.", INDEX, "start")
        if index in self._blocks:
            self._close(self._blocks[index])
        block = self._open(kind, dict(value) if is_object(value) else value, index, name)
        if kind == "text":
            self._emitter.start_text(str(index))
        if kind == "toolUse" and value["toolUseId"] not in self._calls:
            block.call = Call(value["toolUseId"], value["name"], [], value.get("type") == SERVER or None)
            self._calls[value["toolUseId"]] = block
            self._emitter.start_call(block.call)
        if kind == "toolResult":
            block.raw["content"] = []
        return True

    def _block_delta(self, payload: JsonObject, name: str) -> bool:
        index, delta = payload.get(INDEX), payload.get("delta")
        if type(index) is not int or not is_object(delta) or len(delta) != 1:
            return False
        block = self._blocks.get(index)
        match delta:
            # Texts and reasoning have no start event.
            case {"text": str()} | {"citation": {}} if block is None:
                block = self._open("text", "", index, name)
            case {"reasoningContent": {**inner}} if block is None and inner.keys() <= _REASONING:
                block = self._open("reasoningContent", {}, index, name)
            case _:
                pass
        if block is None or not self._append(block, delta):
            return False
        self._report_others(payload, f"{name}.", INDEX, "delta")
        return True

    def _block_stop(self, payload: JsonObject, name: str) -> bool:
        index = payload.get(INDEX)
        if type(index) is not int:
            return False
        self._report_others(payload, f"{name}.", INDEX)
        if index in self._blocks:
            self._close(self._blocks[index])
        else:
            self._report(f"{name}.{INDEX}", index, NOT_STARTED)
        return True

    # Blocks

    def _open(self, kind: str, value: Any, index: int, name: str) -> StreamedBlock:
        if index != self._opened:
            self._report(f"{name}.{INDEX}", index, BLOCK_ORDER)
        self._opened += 1
        self._blocks[index] = block = StreamedBlock(kind, value, index)
        return block

    def _append(self, block: StreamedBlock, delta: JsonObject) -> bool:
        """Append a delta to a block. Returns whether it belongs there."""
        id_ = str(block.index)
        match delta:
            case {"text": str(text)} if block.kind == "text":
                block.raw += text
                self._emitter.start_text(id_)
                if text:
                    self._emitter.append_text(id_, text)
            case {"citation": {**citation}} if block.kind == "text":
                block.citations.append(citation)
                self._emitter.start_text(id_)
            case {"reasoningContent": {**inner}} if block.kind == "reasoningContent":
                return len(inner) == 1 and self._append_reasoning(block, *next(iter(inner.items())))
            case {"toolUse": {"input": str(text), **rest}} if block.call is not None and not rest:
                if text:
                    self._emitter.append_input(block.call.id, text)
            case {"toolResult": [*content]} if block.kind == "toolResult":
                block.raw["content"] += content
            case {"image": {"source": {"bytes": str(data), **rest}, **more}} if block.kind == "image":
                return not rest and not more and _add_bytes(block, data)
            case {"image": {"error": error, **rest}} if block.kind == "image" and not rest:
                block.raw["error"] = error
            case _ if block.kind in _KNOWN and (block.kind != "toolUse" or block.call is not None):
                return False
            case _:
                block.deltas.append(delta)
        return True

    def _append_reasoning(self, block: StreamedBlock, key: str, value: Json) -> bool:
        id_ = str(block.index)
        if key not in _REASONING or not isinstance(value, str):
            return False
        self._emitter.start_reasoning(id_)
        if key == "redactedContent":
            return _add_bytes(block, value)
        block.raw[key] = block.raw.get(key, "") + value
        if key == "text" and value:
            self._emitter.append_reasoning(id_, value)
        elif key == "signature":
            self._emitter.append_reasoning(id_, "", {"signature": block.raw["signature"]})
        return True

    def _close(self, block: StreamedBlock) -> None:
        self._blocks.pop(block.index, None)
        if block.call is not None:
            self._end_call(block, is_final=False)
            return
        id_, raw = str(block.index), _whole(block)
        part = read_block(raw, "assistant", {})
        match part:
            case TextPart():
                self._emitter.end(id_, notes(part.provider_metadata, NAME), part.citations)
            case ReasoningPart():
                own = notes(part.provider_metadata, NAME)
                # The metadata of an end replaces earlier ones: it contains everything, or is left out.
                self._emitter.end(id_, own if own.keys() != {"signature"} else None)
            case FilePart():
                self._emitter.emit(FileChunk(part.url, part.media_type, part.provider_metadata))
            case ToolResultPart() if part.id in self._calls and part.id not in self._answered:
                self._output(part, block.index)
            case _:
                more: JsonObject = {DELTAS: block.deltas} if block.deltas else {}
                self._emitter.emit(CustomChunk(f"{NAME}.{block.kind}", {NAME: {**raw, **more}}))

    def _call_notes(self, block: StreamedBlock) -> JsonObject:
        part = read_block({"toolUse": {**block.raw, "input": {}}}, "assistant", {})
        return notes(part.call_provider_metadata, NAME) if isinstance(part, ToolCallPart) else {}

    def _output(self, result: ToolResultPart, index: int) -> None:
        """Emit the result of a server tool."""
        call = self._calls[result.id]
        self._answered.add(result.id)
        self._end_call(call, is_final=True)
        metadata = add_notes(result.provider_metadata, NAME, behind_note(index - call.index - 1))
        output = result.output
        match output:
            case TextOutput() | JsonOutput():
                self._emitter.emit(ToolOutputAvailable(result.id, output.value, True, metadata))
            case ErrorTextOutput():
                self._emitter.emit(ToolOutputError(result.id, output.value, True, metadata))
            case _:
                self._emitter.emit(ToolOutputChunk(result.id, output, True, metadata))


_KNOWN: Final = ("text", "reasoningContent", "toolUse", "toolResult", "image")
_REASONING: Final = frozenset({"text", "signature", "redactedContent"})


def _add_bytes(block: StreamedBlock, data: str) -> bool:
    """Add bytes to a block. Each delta is padded separately, so the base64 texts cannot be joined.

    https://github.com/anomalyco/opencode/pull/46283
    """
    try:
        block.data = (block.data or b"") + b64decode(data, validate=True)
    except ValueError:
        return False
    return True


def read_usage(raw: JsonObject) -> Usage:
    """Return the usage of a response, with the object that it was read from."""
    return replace(USAGE.read(raw), raw=raw)


def error_text(error: JsonObject) -> str | None:
    """Return the text of an error, or `None` if it has none. `botocore` reads all of these names."""
    names = [name for name in ("message", "Message", "__type") if isinstance(error.get(name), str)]
    return error[names[0]] if names else None


_Read: TypeAlias = Callable[[BedrockDecoder, JsonObject, str], bool]
_EVENTS: Final[Mapping[str, _Read]] = {
    "messageStart": BedrockDecoder._message_start,
    "contentBlockStart": BedrockDecoder._block_start,
    "contentBlockDelta": BedrockDecoder._block_delta,
    "contentBlockStop": BedrockDecoder._block_stop,
    "messageStop": BedrockDecoder._message_stop,
    "metadata": BedrockDecoder._usage_event,
}
EVENTS: Final = frozenset(
    {
        *_EVENTS,
        "internalServerException",
        "modelStreamErrorException",
        "validationException",
        "throttlingException",
        "serviceUnavailableException",
    }
)
"""The names of events."""
