"""The stream of a response → chunks.

Source: https://docs.claude.com/en/docs/build-with-claude/streaming
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.anthropic import FINISH_REASONS, usage_names
from partita.formats.core.codec import DELTAS
from partita.formats.core.decoder import Call, ResponseDecoder, StreamedBlock
from partita.formats.core.members import nonempty_text
from partita.formats.core.metadata import notes
from partita.formats.core.sources import source_chunk
from partita.formats.core.tool_text import as_text
from partita.formats.losses import REPLACED, Loss
from partita.types.chunks import (
    Chunk,
    CustomChunk,
    StepReset,
    ToolOutputAvailable,
    ToolOutputError,
)
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import TextPart
from partita.types.usage import Usage
from partita.types.value import Extra

from .parts import read_block
from .server_tools import MCP, RESULT_TYPE, Sources, is_result, read_server_result, result_type
from .wire import BLOCKS, MCP_RESULT, NAME

NO_MESSAGE: Final = "the body is neither a message nor an error"
UNNAMED: Final = "answer"
"""The id of a response that has none, in the ids of its sources."""

CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")

METADATA: Final[Mapping[str, str]] = {
    "stop_sequence": "stopSequence",
    "stop_details": "stopDetails",
    "context_management": "contextManagement",
    "request_id": "requestId",
}
"""Members of a response, and their names in the metadata. The others keep their names."""

_MEMBERS: Final[Mapping[str, Sequence[str]]] = {
    "ping": ("type",),
    "message_stop": ("type",),
    "content_block_start": ("type", "index", "content_block"),
    "content_block_delta": ("type", "index", "delta"),
    "content_block_stop": ("type", "index"),
}
"""The members of events whose other members are not read."""

_DELTAS: Final[Mapping[str, str]] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
    "citations_delta": "citation",
}
"""The only member of a delta, by its type."""

_CONSTANTS: Final[Mapping[str, str]] = {"type": "message", "role": "assistant"}

REPEATED: Final = "a later event repeats it"
STRANGE: Final = "it is not what every response has here"

HANDLED: Final = frozenset(
    {"type", "role", "content", "usage", "id", "model", "stop_reason", "delta", "message", "error"}
)
"""Members that are not metadata."""


class AnthropicDecoder(ResponseDecoder):
    """Events in, chunks out. One decoder reads one response."""

    def __init__(self, known_calls: Iterable[str] = ()) -> None:
        """`known_calls`: ids of calls in earlier steps of the message, whose results may come in this one."""
        super().__init__(NAME, FINISH_REASONS, read_usage)
        self._known = set(known_calls)
        self._replaced: list[str] = []
        self._first = 0  # the number of the first event of the response

    def _reset(self) -> None:
        super()._reset()
        self._answered: set[str] = set()
        self._sources = Sources(UNNAMED)
        self._values: dict[str, tuple[str, Json]] = {}  # of the response so far, and their paths
        self._started: dict[int, dict[str, tuple[str, Json]]] = {}  # the same of each block

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of a whole body, or of the error instead of one."""
        if is_object(body) and body.get("type") == "message":
            self._start(body)
        elif not (is_object(body) and "error" in body and self._error(body)):
            self._emit_unknown(body)
            self._fail(body, NO_MESSAGE)
        self._end(is_body=True)
        return self._emitter.take()

    def _read(self, event: JsonObject) -> bool:
        """Read an event; whether it is known."""
        kind = event.get("type")
        if kind is None and "error" in event:
            kind = "error"
        read = EVENTS.get(kind) if isinstance(kind, str) else None
        if read is None or (self._emitter.is_finished and kind != "ping"):
            return False
        is_known = read(self, event)
        if is_known and str(kind) in _MEMBERS:
            self._report_others(event, "", *_MEMBERS[str(kind)])
        return is_known

    # Events

    def _message_start(self, event: JsonObject) -> bool:
        message = event.get("message")
        if not is_object(message):
            return False
        self._start(message, "message.")
        self._read_members(event)
        return True

    def _body(self, event: JsonObject) -> bool:
        """A whole body where a stream was requested."""
        self._start(event)
        self._end(is_body=True)
        return True

    def _block_start(self, event: JsonObject) -> bool:
        index, raw = index_of(event), event.get("content_block")
        if index is None or not is_object(raw):
            return False
        path = f"$[{self._number}].content_block"
        given = {key: item for key, item in raw.items() if item not in (None, {})}
        self._started[index] = {key: (f"{path}.{key}", item) for key, item in given.items()}
        return self._open(index, raw)

    def _block_delta(self, event: JsonObject) -> bool:
        index, delta = index_of(event), event.get("delta")
        block = None if index is None else self._blocks.get(index)
        if block is None or not is_object(delta) or not self._append(block, delta):
            return False
        member = _DELTAS.get(str(delta.get("type")))
        if member is not None:
            self._report_others(delta, "delta.", "type", member)
        return True

    def _block_stop(self, event: JsonObject) -> bool:
        index = index_of(event)
        block = None if index is None else self._blocks.get(index)
        if block is not None:
            self._close(block)
        return block is not None

    def _message_delta(self, event: JsonObject) -> bool:
        delta = event.get("delta")
        if not is_object(delta):
            return False
        self._read_members(delta, "delta.")
        self._read_members(event)
        return True

    def _message_stop(self, event: JsonObject) -> bool:
        self._end()
        return True

    def _error(self, event: JsonObject) -> bool:
        self._fail(event, error_text(event.get("error")))
        self._read_members(event)
        return True

    def _ping(self, event: JsonObject) -> bool:
        return True

    # The response

    def _start(self, message: JsonObject, path: str = "") -> None:
        """Start a message, or read a complete one with its blocks. Another message replaces it."""
        other = nonempty_text(message.get("id"))
        if self._id is not None and other is not None and other != self._id:
            self._start_over()
        self._emitter.start()
        is_new, self._id = self._id is None, self._id or other
        self._sources.response = self._id or UNNAMED
        self._read_members(message, path)
        content = message.get("content", [])
        for key, usual in _CONSTANTS.items():
            if message.get(key, usual) != usual:
                self._report(f"{path}{key}", message[key], STRANGE, "lost")
        if not is_array(content):
            self._report(f"{path}content", content, STRANGE, "lost")
        for index, block in enumerate(content if is_array(content) and is_new else ()):
            if self._open(index, block, is_whole=True):
                self._close(self._blocks[index])
            else:
                self._emit_unknown(block)

    def _start_over(self) -> None:
        """Replace a message by another one that starts while it is open: a proxy has retried."""
        self._emitter.end_all()
        self._emitter.calls.clear()
        self._emitter.emit(StepReset())
        self._replaced.append(self._id or "")
        replaced = range(self._first, self._number)
        self.losses += [Loss(f"$[{at}]", f"an event of {self._id}", REPLACED) for at in replaced]
        self._first = self._number
        self._reset()

    def _read_members(self, members: JsonObject, path: str = "") -> None:
        """Read members of the response as a whole. Earlier values are reported as replaced."""
        usage = members.get("usage")
        self._model = nonempty_text(members.get("model")) or self._model
        self._stop = nonempty_text(members.get("stop_reason")) or self._stop
        self._usage = merge_counts(self._usage, usage)
        more = {key: item for key, item in members.items() if key not in HANDLED and item is not None}
        self._metadata |= {METADATA.get(key, key): item for key, item in more.items()}
        values = {
            key: members[key] for key in ("model", "stop_reason") if members.get(key) is not None
        } | more
        values |= {f"usage.{key}": item for key, item in usage.items()} if is_object(usage) else {}
        for key, item in values.items():
            before = self._values.get(key) if item is not None else None
            if before is not None:
                self.losses.append(Loss.of(*before, REPLACED if before[1] != item else REPEATED, "minor"))
            if item is not None:
                self._values[key] = f"$[{self._number}].{path}{key}", item

    def _fail(self, error: Json, text: str) -> None:
        self._errors.append(error)
        self._emitter.error(text)

    def _finish(self, reason: str, *, is_complete: bool = True) -> None:
        self._metadata |= {"replaced": self._replaced} if self._replaced else {}
        super()._finish(reason, is_complete=is_complete)

    def _close_all(self, reason: str) -> None:
        for block in list(self._blocks.values()):
            if block.call is None:
                self._close(block)
        self._end_calls(reason)
        for page in self._sources.cited_pages():
            self._emitter.emit(source_chunk(page))

    # Blocks

    def _open(self, index: int, raw: Json, *, is_whole: bool = False) -> bool:
        """Start a block; whether it is one. A block that is still open at its position ends."""
        if index in self._blocks:
            self._close(self._blocks[index])
        if not is_object(raw) or not isinstance(raw.get("type"), str):
            return False
        block = StreamedBlock(raw["type"], dict(raw), index)
        if is_result(raw):
            self._result(index, raw)
            block.is_ended = True
        elif block.kind == "text":
            self._emitter.start_text(str(index))
            if nonempty_text(raw.get("text")):
                self._emitter.append_text(str(index), raw["text"])
            citations = raw.get("citations")
            for number, citation in enumerate(citations if is_array(citations) else ()):
                self._cite(block, citation, number)
        elif block.kind in ("thinking", "redacted_thinking"):
            self._open_thinking(block)
        elif block.kind in CALLS:
            if not isinstance(raw.get("id"), str) or not isinstance(raw.get("name"), str):
                return False
            if raw["id"] not in self._calls:
                self._open_call(block, is_whole=is_whole)
        self._blocks[index] = block
        return True

    def _cite(self, block: StreamedBlock, citation: Json, number: int) -> None:
        """Emit the document that a citation refers to, as soon as it is cited."""
        if is_object(citation):
            document = self._sources.cited_document(citation, block.index, number)
            if document is not None:
                self._emitter.emit(source_chunk(document))

    def _open_thinking(self, block: StreamedBlock) -> None:
        id_, raw = str(block.index), block.raw
        opaque: JsonObject = {"redactedData": raw["data"]} if raw.get("data") is not None else {}
        self._emitter.start_reasoning(id_, opaque)
        if nonempty_text(raw.get("thinking")):
            self._emitter.append_reasoning(id_, raw["thinking"])
        if nonempty_text(raw.get("signature")):
            self._emitter.append_reasoning(id_, "", {**opaque, "signature": raw["signature"]})

    def _open_call(self, block: StreamedBlock, *, is_whole: bool) -> None:
        is_served, is_remote = block.kind != "tool_use", block.kind == "mcp_tool_use"
        raw = block.raw
        block.call = Call(raw["id"], raw["name"], [], is_served or None, is_remote or None)
        block.input = UNSET if raw.get("input") in (None, {}) else raw["input"]
        self._calls[raw["id"]] = block
        self._emitter.start_call(block.call)
        if is_whole and block.input is not UNSET:
            with suppress(DecodeError):  # nested too deeply
                self._emitter.append_input(raw["id"], dumps(raw["input"]).decode())

    def _append(self, block: StreamedBlock, delta: JsonObject) -> bool:
        """Append a delta to a block; whether it belongs there."""
        id_ = str(block.index)
        match delta:
            case {"type": "text_delta", "text": str(text)} if block.kind == "text":
                block.raw["text"] = f"{nonempty_text(block.raw.get('text')) or ''}{text}"
                if text:
                    self._emitter.append_text(id_, text)
            case {"type": "citations_delta", "citation": dict(citation)} if block.kind == "text":
                before = block.raw.get("citations")
                block.raw["citations"] = [*(before if is_array(before) else ()), citation]
                self._cite(block, citation, len(block.raw["citations"]) - 1)
            case {"type": "thinking_delta", "thinking": str(text)} if "thinking" in block.kind:
                block.raw["thinking"] = f"{nonempty_text(block.raw.get('thinking')) or ''}{text}"
                self._emitter.append_reasoning(id_, text)
            case {"type": "signature_delta", "signature": str(signature)} if "thinking" in block.kind:
                if signature:
                    block.raw["signature"] = signature
                    self._emitter.append_reasoning(id_, "", {"signature": signature})
            case {"type": "input_json_delta", "partial_json": str(text)} if block.call is not None:
                if block.is_ended:
                    return False
                if text.strip():
                    self._replace(block, "input")
                if text:
                    self._emitter.append_input(block.call.id, text)
            case {"type": "compaction_delta"} if block.kind == "compaction":
                members = {key: item for key, item in delta.items() if key != "type"}
                self._replace(block, *members)
                block.raw |= members
            case _ if block.is_ended or block.kind in ("text", "thinking", "redacted_thinking", *CALLS):
                return False
            case _:
                block.deltas.append(delta)
        return True

    def _replace(self, block: StreamedBlock, *names: str) -> None:
        """Report members that a block started with, and that its deltas replace."""
        begun = self._started.get(block.index, {})
        found = [begun.pop(name) for name in names if name in begun]
        self.losses += [Loss.of(*one, REPLACED, "minor") for one in found]

    def _close(self, block: StreamedBlock) -> None:
        self._blocks.pop(block.index, None)
        if block.call is not None:
            self._end_call(block, is_final=False)
        elif not block.is_ended:
            block.is_ended = True
            self._end_block(block)

    def _end_block(self, block: StreamedBlock) -> None:
        id_, raw = str(block.index), block.raw
        if block.kind == "text":
            raw.setdefault("text", "")
        part = self._read_block(raw)
        if isinstance(part, TextPart):
            self._emitter.end(id_, notes(part.provider_metadata, NAME), part.citations)
        elif self._emitter.is_open(id_):
            own = notes(part.provider_metadata, NAME)
            # The metadata of an end replaces earlier ones: it contains everything, or is left out.
            self._emitter.end(id_, own if own.keys() - {"signature", "redactedData"} else None)
        else:
            more: JsonObject = {DELTAS: block.deltas} if block.deltas else {}
            self._emitter.emit(CustomChunk(f"{NAME}.{block.kind}", {NAME: {**raw, **more}}))

    def _call_notes(self, block: StreamedBlock) -> JsonObject:
        part = self._read_block({**block.raw, "input": {}})
        return notes(part.call_provider_metadata, NAME) if isinstance(part, ToolCallPart) else {}

    def _read_block(self, raw: JsonObject) -> Any:
        return read_block(BLOCKS.read([raw])[0], self._sources)

    def _result(self, index: int, raw: JsonObject) -> None:
        """The result of a server tool. One whose call is not in this message is content of its own."""
        id_ = raw["tool_use_id"]
        block = self._calls.get(id_)
        if id_ in self._answered or (block is None and id_ not in self._known):
            self._emitter.emit(CustomChunk(f"{NAME}.{raw['type']}", {NAME: raw}))
        else:
            self._answered.add(id_)
            self._output(index, raw, block)
        for page in self._sources.add_result(raw):
            self._emitter.emit(source_chunk(page))

    def _output(self, index: int, raw: JsonObject, block: StreamedBlock | None) -> None:
        behind = 0 if block is None else index - block.index - 1
        result, is_remote = read_server_result(raw, behind), raw["type"] == MCP_RESULT
        own: JsonObject = {}
        if block is not None:
            self._end_call(block, is_final=True)
        if is_remote:
            own = {"type": MCP, "serverName": None if block is None else block.raw.get("server_name")}
        own |= result.metadata
        if block is not None and raw["type"] != result_type(block.raw["name"], own):
            own[RESULT_TYPE] = raw["type"]
        metadata: JsonObject | None = {NAME: own} if own else None
        dynamic = is_remote or None
        id_ = raw["tool_use_id"]
        if result.error is None:
            self._emitter.emit(ToolOutputAvailable(id_, result.value, True, metadata, dynamic=dynamic))
        else:
            self._emitter.emit(ToolOutputError(id_, result.error, True, metadata, dynamic=dynamic))


def index_of(event: JsonObject) -> int | None:
    """The number of the block that an event is about."""
    index = event.get("index")
    return index if type(index) is int else None


def error_text(error: Json) -> str:
    """The text of an error, whatever its shape."""
    text = nonempty_text(error) or (nonempty_text(error.get("message")) if is_object(error) else None)
    try:
        return as_text(error) if text is None else text
    except DecodeError:
        return "an error without a text"


# Usage. Input that was cached, or written to the cache, is counted separately:
# https://docs.claude.com/en/api/messages#response-usage

USAGE: Final = usage_names()

BILLED: Final = ("message", "compaction")
"""The passes of a response that are billed as this model's."""

FALLBACK: Final = "fallback_message"
"""A pass of another model that took over: the counts of the response are those of that pass."""


def merge_counts(before: JsonObject, after: Json) -> JsonObject:
    """Counts, replaced by newer ones; a newer null does not replace a count."""
    if not is_object(after):
        return before
    return before | {key: item for key, item in after.items() if item is not None or key not in before}


def read_usage(raw: JsonObject) -> Usage | None:
    """The usage of a response; `None` if there are no counts."""
    if not raw:
        return None
    usage = USAGE.read(raw)
    return replace(
        usage,
        cached_input_tokens=usage.cached_input_tokens or 0,
        cache_write_tokens=usage.cache_write_tokens or 0,
        raw=raw,
        extra=_billed(raw.get("iterations")),
    )


def _billed(iterations: Json) -> Extra | None:
    """What is billed if a response took several passes: the outer counts are those of the last."""
    passes = [one for one in iterations if is_object(one)] if is_array(iterations) else []
    if any(one.get("type") == FALLBACK for one in passes):
        return None
    paid = [USAGE.read(one) for one in passes if one.get("type") in BILLED]
    if not paid:
        return None
    sums = {
        "input": sum(one.input_tokens or 0 for one in paid),
        "output": sum(one.output_tokens or 0 for one in paid),
    }
    return Extra({"billed": sums})


_Read: TypeAlias = Callable[[AnthropicDecoder, JsonObject], bool]
EVENTS: Final[Mapping[str, _Read]] = {
    "message_start": AnthropicDecoder._message_start,
    "content_block_start": AnthropicDecoder._block_start,
    "content_block_delta": AnthropicDecoder._block_delta,
    "content_block_stop": AnthropicDecoder._block_stop,
    "message_delta": AnthropicDecoder._message_delta,
    "message_stop": AnthropicDecoder._message_stop,
    "message": AnthropicDecoder._body,
    "error": AnthropicDecoder._error,
    "ping": AnthropicDecoder._ping,
}
"""The function that reads an event, by its type."""
