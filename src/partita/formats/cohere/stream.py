"""The stream of a response → chunks.

Source: https://docs.cohere.com/v2/docs/streaming, https://docs.cohere.com/v2/docs/tool-use-streaming
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from partita.formats.core.codec import DELTAS
from partita.formats.core.decoder import (
    BLOCK_ORDER,
    INTERRUPTED,
    NOT_STARTED,
    OTHER_VALUE,
    Call,
    ResponseDecoder,
    StreamedBlock,
)
from partita.formats.core.metadata import notes
from partita.formats.losses import UNREAD
from partita.types.chunks import CustomChunk
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import ReasoningPart, TextPart
from partita.types.usage import Usage, UsageNames
from partita.types.value import Extra

from .parts import PLAN, add_citation, read_block, read_call
from .wire import BLOCK, CALL, NAME

# https://docs.cohere.com/reference/chat#response.body.finish_reason. The last three occur in v1.
REASONS: Final[Mapping[str, str]] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool-calls",
    "ERROR": "error",
    "TIMEOUT": "error",
    "ERROR_TOXIC": "content-filter",
    "ERROR_LIMIT": "length",
    "USER_CANCEL": "other",
}
"""Finish reasons by those of the API; any other is `other`."""

# `tokens` counts what the model read and wrote, `billed_units` what is billed.
USAGE: Final = UsageNames(
    input=("tokens.input_tokens",), output=("tokens.output_tokens",), cached=("cached_tokens",)
)


class CohereDecoder(ResponseDecoder):
    """Converts the events of one response to chunks."""

    def __init__(self) -> None:
        super().__init__(NAME, REASONS, read_usage)
        self._plan: list[JsonObject] | None = None  # the citations of the tool plan that is being streamed
        self._counts = {"content": 0, "tool-call": 0, "citation": 0}
        self._has_ended = False

    def _read(self, event: JsonObject) -> bool:
        read = _EVENTS.get(str(event.get("type")))
        return read is not None and read(self, event)

    def _end(self, *, is_body: bool = False) -> None:
        self._end_plan()
        stop = self._stop or ""
        self._finish(REASONS.get(stop, "other") if self._has_ended else INTERRUPTED)

    # Events

    def _message_start(self, event: JsonObject) -> bool:
        self._emitter.start()
        message = _message(event)
        if isinstance(event.get("id"), str) and self._id is None:
            self._id = event["id"]
        elif event.get("id") is not None:
            self._report("id", event["id"], OTHER_VALUE)
        empty: JsonObject = {
            "role": "assistant",
            "content": [],
            "tool_plan": "",
            "tool_calls": [],
            "citations": [],
        }
        for key, item in message.items():
            if key not in empty or item != empty[key]:
                self._report(f"delta.message.{key}", item, UNREAD)
        self._report_others(event, "", "type", "id", "delta")
        return True

    def _content_start(self, event: JsonObject) -> bool:
        index, raw = event.get("index"), _message(event).get("content")
        if type(index) is not int or not is_object(raw) or not isinstance(raw.get("type"), str):
            return False
        self._end_plan()
        self._check(event, "content")
        if index in self._blocks:
            self._close(self._blocks[index])
        self._blocks[index] = block = StreamedBlock(str(raw["type"]), dict(raw), index)
        if block.kind == "text":
            self._emitter.start_text(str(index))
        elif block.kind == "thinking":
            self._emitter.start_reasoning(str(index))
        text = raw.get(block.kind)
        if isinstance(text, str) and text:
            block.raw[block.kind] = ""
            self._append(block, {block.kind: text})
        return True

    def _content_delta(self, event: JsonObject) -> bool:
        index, delta = event.get("index"), _message(event).get("content")
        block = self._blocks.get(index) if type(index) is int else None
        if block is None or not is_object(delta) or not self._append(block, delta):
            return False
        if event.get("logprobs") is not None:
            self._metadata["logprobs"] = [*self._metadata.get("logprobs", ()), event["logprobs"]]
        self._report_others(event, "", "type", "index", "delta", "logprobs")
        return True

    def _append(self, block: StreamedBlock, delta: JsonObject) -> bool:
        """Append a delta to a block. Returns whether it belongs there."""
        if block.kind not in ("text", "thinking"):
            block.deltas.append(delta)
            return True
        text = delta.get(block.kind)
        if not isinstance(text, str):
            return False
        self._report_others(delta, "delta.message.content.", block.kind)
        before = block.raw.get(block.kind)
        block.raw[block.kind] = f"{before if isinstance(before, str) else ''}{text}"
        if text:
            append = self._emitter.append_text if block.kind == "text" else self._emitter.append_reasoning
            append(str(block.index), text)
        return True

    def _content_end(self, event: JsonObject) -> bool:
        index = event.get("index")
        block = self._blocks.get(index) if type(index) is int else None
        self._report_others(event, "", "type", "index")
        if block is None:
            self._report("index", index, NOT_STARTED)
        else:
            self._close(block)
        return True

    def _plan_delta(self, event: JsonObject) -> bool:
        text = _message(event).get("tool_plan")
        if not isinstance(text, str):
            return False
        self._report_others(event, "", "type", "delta")
        if self._plan is None:
            self._plan = []
            self._emitter.start_reasoning(PLAN, {PLAN: True})
        if text:
            self._emitter.append_reasoning(PLAN, text)
        return True

    def _call_start(self, event: JsonObject) -> bool:
        index, raw = event.get("index"), _message(event).get("tool_calls")
        match raw:  # an object, although the name is plural
            case {"id": str(id_), "function": {"name": str(name)}}:
                pass
            case _:
                return False
        if (
            type(index) is not int
            or index in self._calls
            or any(one.raw["id"] == id_ for one in self._calls.values())
        ):
            return False
        self._end_plan()
        self._check(event, "tool-call")
        if raw.get("type", "function") != "function":
            self._report("delta.message.tool_calls.type", raw["type"], UNREAD)
        self._calls[index] = block = StreamedBlock("function", raw, index)
        block.call = Call(id_, name, [])
        self._emitter.start_call(block.call)
        text = raw["function"].get("arguments")
        if isinstance(text, str) and text:
            self._emitter.append_input(id_, text)
        return True

    def _call_delta(self, event: JsonObject) -> bool:
        index = event.get("index")
        call = self._calls.get(index) if type(index) is int else None
        match _message(event).get("tool_calls"):
            case {"function": {"arguments": str(text)}} if call is not None and not call.is_ended:
                self._report_others(event, "", "type", "index", "delta")
                if text:
                    self._emitter.append_input(call.raw["id"], text)
                return True
            case _:
                return False

    def _call_end(self, event: JsonObject) -> bool:
        index = event.get("index")
        call = self._calls.get(index) if type(index) is int else None
        self._report_others(event, "", "type", "index")
        if call is None or call.is_ended:
            self._report("index", index, NOT_STARTED)
        else:
            self._end_call(call, is_final=False)
        return True

    def _citation_start(self, event: JsonObject) -> bool:
        raw = _message(event).get("citations")  # one, although the name is plural
        if not is_object(raw):
            return False
        self._check(event, "citation")
        kind, index = raw.get("type", "TEXT_CONTENT"), raw.get("content_index")
        kinds = {"TEXT_CONTENT": "text", "THINKING_CONTENT": "thinking"}
        wanted = kinds.get(kind) if isinstance(kind, str) else None
        found = [one for one in self._blocks.values() if one.kind == wanted and index in (None, one.index)]
        if kind == "PLAN" and self._plan is not None:
            self._plan.append(raw)
        elif found:
            found[0].citations.append(raw)
        else:  # of a block that has ended
            self._metadata["citations"] = [*self._metadata.get("citations", ()), raw]
        return True

    def _citation_end(self, event: JsonObject) -> bool:
        self._report_others(event, "", "type", "index")
        if event.get("index") != self._counts["citation"] - 1:
            self._report("index", event.get("index"), NOT_STARTED)
        return True

    def _message_end(self, event: JsonObject) -> bool:
        delta = event.get("delta")
        if self._has_ended or not is_object(delta):
            return False
        self._emitter.start()
        self._has_ended = True
        stop, usage = delta.get("finish_reason"), delta.get("usage")
        self._stop = stop if isinstance(stop, str) else None
        self._usage = usage if is_object(usage) else {}
        if isinstance(delta.get("error"), str):  # errors have no event
            self._errors.append({"message": delta["error"]})
            self._emitter.error(delta["error"])
        known = ("finish_reason", "usage", "error")
        self._metadata |= {key: item for key, item in delta.items() if key not in known}
        if event.get("id") not in (None, self._id):
            self._report("id", event["id"], OTHER_VALUE)
        elif event.get("id") is not None:
            self._report("id", event["id"], "the first event has it too")
        self._report_others(event, "", "type", "id", "delta")
        return True

    def _check(self, event: JsonObject, kind: str) -> None:
        """Report an index that is not the next one. Blocks, calls and citations are counted separately."""
        self._report_others(event, "", "type", "index", "delta")
        if event.get("index") != self._counts[kind]:
            self._report("index", event.get("index"), BLOCK_ORDER)
        self._counts[kind] += 1

    # Ends of blocks

    def _end_plan(self) -> None:
        if self._plan is not None and self._emitter.is_open(PLAN):
            part = ReasoningPart("", provider_metadata={NAME: {PLAN: True}})
            for raw in self._plan:
                part = add_citation(part, raw)
            self._emitter.end(PLAN, notes(part.provider_metadata, NAME))

    def _close(self, block: StreamedBlock) -> None:
        self._blocks.pop(block.index, None)
        if block.kind in ("text", "thinking"):
            block.raw.setdefault(block.kind, "")
        part: Any = read_block(BLOCK.read(block.raw))
        if isinstance(part, TextPart | ReasoningPart):
            for raw in block.citations:
                part = add_citation(part, raw)
            citations = part.citations if isinstance(part, TextPart) else None
            self._emitter.end(str(block.index), notes(part.provider_metadata, NAME), citations)
        else:
            own = notes(part.provider_metadata, NAME)
            more: JsonObject = {DELTAS: block.deltas} if block.deltas else {}
            self._emitter.emit(CustomChunk(f"{NAME}.{block.kind}", {NAME: {**own, **more}}))

    def _read_input(self, text: str) -> Json:
        value = loads(text)
        return {} if value is None else value  # tools without parameters may be called with `null`

    def _call_notes(self, block: StreamedBlock) -> JsonObject:
        function = {**block.raw["function"], "arguments": "{}"}
        part = read_call(CALL.read({"type": "function", **block.raw, "function": function}))
        return notes(part.call_provider_metadata, NAME) if isinstance(part, ToolCallPart) else {}


def _message(event: JsonObject) -> JsonObject:
    return notes(notes(event, "delta"), "message")


def read_usage(raw: JsonObject) -> Usage:
    """Return the usage of a response, with what is billed."""
    billed = raw.get("billed_units")
    counts = USAGE.read({"tokens": billed}) if is_object(billed) else None
    paid = None if counts is None else {"input": counts.input_tokens, "output": counts.output_tokens}
    return replace(USAGE.read(raw), raw=raw, extra=None if paid is None else Extra({"billed": paid}))


_Read: TypeAlias = Callable[[CohereDecoder, JsonObject], bool]
_EVENTS: Final[Mapping[str, _Read]] = {
    "message-start": CohereDecoder._message_start,
    "content-start": CohereDecoder._content_start,
    "content-delta": CohereDecoder._content_delta,
    "content-end": CohereDecoder._content_end,
    "tool-plan-delta": CohereDecoder._plan_delta,
    "tool-call-start": CohereDecoder._call_start,
    "tool-call-delta": CohereDecoder._call_delta,
    "tool-call-end": CohereDecoder._call_end,
    "citation-start": CohereDecoder._citation_start,
    "citation-end": CohereDecoder._citation_end,
    "message-end": CohereDecoder._message_end,
}
EVENTS: Final = frozenset({*_EVENTS, "debug"})
"""The types of events."""
