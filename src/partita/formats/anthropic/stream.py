"""The stream of a response → chunks. One response is one step of a message.

While a block is streamed, its text and its input become deltas. When it ends, it is read like the block of a
body, so that metadata, citations and results are the same. What is unknown becomes `data-anthropic-unknown`.
Nothing makes the decoder fail.

Source: https://docs.claude.com/en/docs/build-with-claude/streaming
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.formats.answers.outlet import INTERRUPTED, Call, Outlet
from partita.formats.core.codec import DELTAS
from partita.formats.core.metadata import notes
from partita.formats.core.tool_text import as_text
from partita.formats.losses import Loss
from partita.types.chunks import (
    Chunk,
    CustomChunk,
    DataChunk,
    SourceDocumentChunk,
    SourceUrlChunk,
    StepReset,
    ToolOutputAvailable,
    ToolOutputError,
)
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import SourceDocumentPart, SourceUrlPart, TextPart

from .parts import read_block
from .server_tools import MCP, RESULT_TYPE, Sources, is_result, read_server_result, result_type
from .usage import merged, read_usage
from .wire import BLOCKS, MCP_RESULT, NAME

UNKNOWN: Final = "data-anthropic-unknown"
UNPARSABLE: Final = "unparsable record"
NO_MESSAGE: Final = "the body is neither a message nor an error"
UNNAMED: Final = "answer"
"""Stands for the id of a response without one, in the ids of its sources."""

CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")

# https://docs.claude.com/en/api/handling-stop-reasons
REASONS: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
}
"""Finish reasons by stop reason; any other is `other`."""

CUT: Final = frozenset({"length", "content-filter", "error", INTERRUPTED})
"""Finish reasons after which an input that is not JSON was cut, and is not an error."""

SAID: Final[Mapping[str, str]] = {
    "stop_sequence": "stopSequence",
    "stop_details": "stopDetails",
    "context_management": "contextManagement",
    "request_id": "requestId",
}
"""Members of a response, and their names in the metadata. The others keep their names."""

HANDLED: Final = frozenset(
    {"type", "role", "content", "usage", "id", "model", "stop_reason", "delta", "message", "error"}
)
"""Members that are not metadata."""


class _Block:
    """A block that is being streamed: what it began with, grown by its deltas."""

    def __init__(self, raw: JsonObject, index: int) -> None:
        self.raw, self.index = dict(raw), index
        self.kind = str(raw["type"])
        self.call: Call | None = None
        self.is_ended = False
        self.unknown: list[JsonObject] = []


class AnthropicDecoder:
    """Events in, chunks out. One decoder reads one response."""

    def __init__(self, known_calls: Iterable[str] = ()) -> None:
        """`known_calls`: ids of calls in earlier steps of the message, whose results may come in this one."""
        self._outlet = Outlet(NAME)
        self._failures: list[Json] = []
        self._known = set(known_calls)
        self._replaced: list[str] = []
        self._reset()

    def _reset(self) -> None:
        self._id: str | None = None
        self._model: str | None = None
        self._stop: str | None = None
        self._usage: JsonObject = {}
        self._said: JsonObject = {}
        self._blocks: dict[int, _Block] = {}
        self._calls: dict[str, _Block] = {}
        self._answered: set[str] = set()
        self._sources = Sources(UNNAMED)

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks of one event. A text is a record that is not JSON."""
        if isinstance(event, str):
            self._outlet.error(UNPARSABLE)
        if not is_object(event) or not self._take(event):
            self._outlet.emit(DataChunk(UNKNOWN, event))
        return self._outlet.take()

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        self._end(is_cut=bool(self._failures))
        return self._outlet.take()

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of a whole body, or of the error instead of one."""
        if is_object(body) and body.get("type") == "message":
            self._begin(body)
        elif not (is_object(body) and "error" in body and self._error(body)):
            self._outlet.emit(DataChunk(UNKNOWN, body))
            self._fail(body, NO_MESSAGE)
        self._end()
        return self._outlet.take()

    def _take(self, event: JsonObject) -> bool:
        """Read an event; whether it is known."""
        kind = event.get("type")
        if kind is None and "error" in event:
            kind = "error"
        read = EVENTS.get(kind) if isinstance(kind, str) else None
        if read is None or self._outlet.is_finished:
            return kind == "ping"
        return read(self, event)

    # Events

    def _message_start(self, event: JsonObject) -> bool:
        message = event.get("message")
        if not is_object(message):
            return False
        self._begin(message)
        self._note(event)
        return True

    def _body(self, event: JsonObject) -> bool:
        """A whole body where a stream was requested."""
        self._begin(event)
        self._end()
        return True

    def _block_start(self, event: JsonObject) -> bool:
        index = index_of(event)
        return index is not None and self._open(index, event.get("content_block"))

    def _block_delta(self, event: JsonObject) -> bool:
        index, delta = index_of(event), event.get("delta")
        block = None if index is None else self._blocks.get(index)
        return block is not None and is_object(delta) and self._grow(block, delta)

    def _block_stop(self, event: JsonObject) -> bool:
        index = index_of(event)
        return index is not None and self._close(index)

    def _message_delta(self, event: JsonObject) -> bool:
        delta = event.get("delta")
        if not is_object(delta):
            return False
        self._note(delta)
        self._note(event)
        return True

    def _message_stop(self, event: JsonObject) -> bool:
        self._end(is_cut=bool(self._failures))
        return True

    def _error(self, event: JsonObject) -> bool:
        self._fail(event, error_text(event.get("error")))
        self._note(event)
        return True

    def _ping(self, event: JsonObject) -> bool:
        return True

    # The response

    def _begin(self, message: JsonObject) -> None:
        """A message begins, or it is whole and contains its blocks. Another message replaces it."""
        other = _text(message.get("id"))
        if self._id is not None and other is not None and other != self._id:
            self._start_over()
        self._outlet.begin()
        is_new, self._id = self._id is None, self._id or other
        self._sources.response = self._id or UNNAMED
        self._note(message)
        content = message.get("content")
        for index, block in enumerate(content if is_array(content) and is_new else ()):
            if self._open(index, block, is_whole=True):
                self._close(index)
            else:
                self._outlet.emit(DataChunk(UNKNOWN, block))

    def _start_over(self) -> None:
        """Another message begins while one is open: a proxy has retried. The first never ends."""
        self._outlet.end_all()
        self._outlet.calls.clear()
        self._outlet.emit(StepReset())
        self._replaced.append(self._id or "")
        self._reset()

    def _note(self, said: JsonObject) -> None:
        """Take what is said of the response as a whole."""
        self._model = _text(said.get("model")) or self._model
        self._stop = _text(said.get("stop_reason")) or self._stop
        self._usage = merged(self._usage, said.get("usage"))
        self._said |= {
            SAID.get(key, key): item for key, item in said.items() if key not in HANDLED and item is not None
        }

    def _fail(self, error: Json, text: str) -> None:
        self._failures.append(error)
        self._outlet.error(text)

    def _end(self, *, is_cut: bool = False) -> None:
        """Nothing more comes. `is_cut`: an error ended a stream, and not a request."""
        if self._outlet.is_finished:
            return
        reason = INTERRUPTED if self._stop is None else REASONS.get(self._stop, "other")
        if self._failures:
            reason = "error"
        for block in list(self._blocks.values()):
            if block.call is None:
                self._finish(block)
        for block in self._calls.values() if reason not in CUT else ():
            self._end_call(block, is_final=True)
        for page in self._sources.cited_pages():
            self._outlet.emit(_source_chunk(page))
        more: JsonObject = {"complete": False} if is_cut or reason == INTERRUPTED else {}
        more |= {"model": self._model} if self._model else {}
        more |= {"responseId": self._id} if self._id else {}
        own: JsonObject = dict(self._said)
        own |= {"errors": self._failures} if self._failures else {}
        own |= {"replaced": self._replaced} if self._replaced else {}
        more |= {NAME: own} if own else {}
        self._outlet.finish(reason, self._stop, read_usage(self._usage), more)

    # Blocks

    def _open(self, index: int, raw: Json, *, is_whole: bool = False) -> bool:
        """A block begins; whether it is one. A block that is still open at its position ends."""
        self._close(index)
        if not is_object(raw) or not isinstance(raw.get("type"), str):
            return False
        block = _Block(raw, index)
        if is_result(raw):
            self._result(index, raw)
            block.is_ended = True
        elif block.kind == "text":
            self._outlet.start_text(str(index))
            if _text(raw.get("text")):
                self._outlet.text(str(index), raw["text"])
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

    def _cite(self, block: _Block, citation: Json, number: int) -> None:
        """Emit the document that a citation refers to, as soon as it is cited."""
        if is_object(citation):
            document = self._sources.cited_document(citation, block.index, number)
            if document is not None:
                self._outlet.emit(_source_chunk(document))

    def _open_thinking(self, block: _Block) -> None:
        id_, raw = str(block.index), block.raw
        opaque: JsonObject = {"redactedData": raw["data"]} if raw.get("data") is not None else {}
        self._outlet.start_reasoning(id_, opaque)
        if _text(raw.get("thinking")):
            self._outlet.reasoning(id_, raw["thinking"])
        if _text(raw.get("signature")):
            self._outlet.reasoning(id_, "", {**opaque, "signature": raw["signature"]})

    def _open_call(self, block: _Block, *, is_whole: bool) -> None:
        is_served, is_remote = block.kind != "tool_use", block.kind == "mcp_tool_use"
        raw = block.raw
        block.call = Call(raw["id"], raw["name"], [], is_served or None, is_remote or None)
        self._calls[raw["id"]] = block
        self._outlet.start_call(block.call)
        if is_whole and raw.get("input") not in (None, {}):
            with suppress(DecodeError):  # nested too deeply
                self._outlet.grow_call(raw["id"], dumps(raw["input"]).decode())

    def _grow(self, block: _Block, delta: JsonObject) -> bool:
        """A block continues; whether such a delta belongs to it."""
        id_ = str(block.index)
        match delta:
            case {"type": "text_delta", "text": str(text)} if block.kind == "text":
                block.raw["text"] = f"{_text(block.raw.get('text')) or ''}{text}"
                if text:
                    self._outlet.text(id_, text)
            case {"type": "citations_delta", "citation": dict(citation)} if block.kind == "text":
                before = block.raw.get("citations")
                block.raw["citations"] = [*(before if is_array(before) else ()), citation]
                self._cite(block, citation, len(block.raw["citations"]) - 1)
            case {"type": "thinking_delta", "thinking": str(text)} if "thinking" in block.kind:
                block.raw["thinking"] = f"{_text(block.raw.get('thinking')) or ''}{text}"
                self._outlet.reasoning(id_, text)
            case {"type": "signature_delta", "signature": str(signature)} if "thinking" in block.kind:
                if signature:
                    block.raw["signature"] = signature
                    self._outlet.reasoning(id_, "", {"signature": signature})
            case {"type": "input_json_delta", "partial_json": str(text)} if block.call is not None:
                if block.is_ended:
                    return False
                if text:
                    self._outlet.grow_call(block.call.id, text)
            case {"type": "compaction_delta"} if block.kind == "compaction":
                block.raw |= {key: item for key, item in delta.items() if key != "type"}
            case _ if block.is_ended or block.kind in ("text", "thinking", "redacted_thinking", *CALLS):
                return False
            case _:
                block.unknown.append(delta)
        return True

    def _close(self, index: int) -> bool:
        """A block ends; whether there was one."""
        block = self._blocks.pop(index, None)
        if block is not None:
            self._finish(block)
        return block is not None

    def _finish(self, block: _Block) -> None:
        if block.call is not None:
            self._end_call(block, is_final=False)
        elif not block.is_ended:
            block.is_ended = True
            self._end_block(block)

    def _end_block(self, block: _Block) -> None:
        id_, raw = str(block.index), block.raw
        if block.kind == "text":
            raw.setdefault("text", "")
        part = self._read(block)
        if isinstance(part, TextPart):
            self._outlet.end(id_, notes(part.provider_metadata, NAME), part.citations)
        elif self._outlet.is_open(id_):
            own = notes(part.provider_metadata, NAME)
            # The metadata of an end replaces earlier ones: it contains everything, or is left out.
            self._outlet.end(id_, own if own.keys() - {"signature", "redactedData"} else None)
        else:
            more: JsonObject = {DELTAS: block.unknown} if block.unknown else {}
            self._outlet.emit(CustomChunk(f"{NAME}.{block.kind}", {NAME: {**raw, **more}}))

    def _end_call(self, block: _Block, *, is_final: bool) -> None:
        """The input of a call is complete if it is JSON. If not, that depends on how the response ends."""
        if block.is_ended or block.call is None:
            return
        text = "".join(block.call.pieces)
        given = block.raw.get("input")
        value: Json | UnsetType = UNSET if given is None or given == {} else given
        try:
            value = loads(text) if text.strip() else value
        except DecodeError:
            if not is_final:
                return
            value = UNSET
        if value is UNSET and not is_final and text.strip():
            return
        block.is_ended = True
        part = self._read(_call_block(block))
        metadata = notes(part.call_provider_metadata, NAME) if isinstance(part, ToolCallPart) else {}
        self._outlet.end_call(block.call, value, metadata)

    def _read(self, block: _Block) -> Any:
        return read_block(BLOCKS.read([block.raw])[0], self._sources)

    def _result(self, index: int, raw: JsonObject) -> None:
        """The result of a server tool. One whose call is not in this message is content of its own."""
        id_ = raw["tool_use_id"]
        block = self._calls.get(id_)
        if id_ in self._answered or (block is None and id_ not in self._known):
            self._outlet.emit(CustomChunk(f"{NAME}.{raw['type']}", {NAME: raw}))
        else:
            self._answered.add(id_)
            self._output(index, raw, block)
        for page in self._sources.add_result(raw):
            self._outlet.emit(_source_chunk(page))

    def _output(self, index: int, raw: JsonObject, block: _Block | None) -> None:
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
            self._outlet.emit(ToolOutputAvailable(id_, result.value, True, metadata, dynamic=dynamic))
        else:
            self._outlet.emit(ToolOutputError(id_, result.error, True, metadata, dynamic=dynamic))


def _call_block(block: _Block) -> _Block:
    """A call with an input, which its metadata do not depend on."""
    return _Block({**block.raw, "input": {}}, block.index)


def _source_chunk(part: SourceUrlPart | SourceDocumentPart) -> Chunk:
    if isinstance(part, SourceUrlPart):
        return SourceUrlChunk(part.source_id, part.url, part.title, part.provider_metadata)
    return SourceDocumentChunk(
        part.source_id, part.media_type, part.title, provider_metadata=part.provider_metadata
    )


def index_of(event: JsonObject) -> int | None:
    """The number of the block that an event is about."""
    index = event.get("index")
    return index if type(index) is int else None


def error_text(error: Json) -> str:
    """The text of an error, whatever its shape."""
    text = _text(error) or (_text(error.get("message")) if is_object(error) else None)
    try:
        return as_text(error) if text is None else text
    except DecodeError:
        return "an error without a text"


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


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


# What a stream contains and its message does not

REPLACED: Final = "a later event has replaced it"
REPEATED: Final = "a later event repeats it"
ANOTHER: Final = "another response has replaced it"
UNREAD: Final = "a message has no place for it"
STRANGE: Final = "it is not what every response has here"

_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    "ping": frozenset({"type"}),
    "message_stop": frozenset({"type"}),
    "content_block_start": frozenset({"type", "index", "content_block"}),
    "content_block_delta": frozenset({"type", "index", "delta"}),
    "content_block_stop": frozenset({"type", "index"}),
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
_NOT_SAID: Final = ("type", "role", "content", "delta", "message", "id", "usage", "error")


def replaced_losses(events: Sequence[Json]) -> list[Loss]:
    """What later events of a stream replace, and what is not read."""
    seen = _Seen()
    losses: list[Loss] = []
    for index, event in enumerate(events):
        if is_object(event):
            losses += seen.take(event, f"$[{index}]")
    return losses


def _strange(message: JsonObject, path: str) -> Iterator[Loss]:
    for key, usual in _CONSTANTS.items():
        if message.get(key, usual) != usual:
            yield Loss.of(f"{path}.{key}", message[key], STRANGE)
    content = message.get("content", [])
    if not is_array(content):
        yield Loss.of(f"{path}.content", content, STRANGE)


class _Seen:
    """What was said of the response so far, by name, and where; and of its blocks, by position."""

    def __init__(self) -> None:
        self._id: Json = None
        self._said: dict[str, tuple[str, Json]] = {}
        self._blocks: dict[int | None, tuple[str, JsonObject]] = {}
        self._events: list[tuple[str, JsonObject]] = []

    def take(self, event: JsonObject, path: str) -> Iterator[Loss]:
        match event:
            case {"type": "message_start", "message": dict()}:
                message: JsonObject = event["message"]
                yield from self._start(message.get("id"))
                yield from _strange(message, f"{path}.message")
                yield from self._note(message, f"{path}.message")
                yield from self._note(event, path)
            case {"type": "message_delta"}:
                delta = event.get("delta")
                yield from self._note(delta if is_object(delta) else {}, f"{path}.delta")
                yield from self._note(event, path)
            case {"type": "message"}:
                yield from _strange(event, path)
                yield from self._note(event, path)
            case {"type": str(kind)} if kind in _MEMBERS:
                yield from _unread(event, _MEMBERS[kind], path)
                yield from self._block(event, path)
            case _:
                pass
        self._events.append((path, event))

    def _start(self, id_: Json) -> Iterator[Loss]:
        """A response begins. One that was open and has another id never ends."""
        if self._id is not None and id_ is not None and id_ != self._id:
            yield from (Loss.of(path, event, ANOTHER) for path, event in self._events)
            self._said, self._blocks, self._events = {}, {}, []
        self._id = id_ if id_ is not None else self._id

    def _block(self, event: JsonObject, path: str) -> Iterator[Loss]:
        index, block, delta = index_of(event), event.get("content_block"), event.get("delta")
        if is_object(block):
            self._blocks[index] = f"{path}.content_block", block
        if not is_object(delta):
            return
        kind = delta.get("type")
        if isinstance(kind, str) and kind in _DELTAS:
            yield from _unread(delta, frozenset({"type", _DELTAS[kind]}), f"{path}.delta")
        start, begun = self._blocks.get(index, ("", {}))
        replaced: tuple[str, ...]
        match delta:
            case {"type": "input_json_delta", "partial_json": str(piece)} if piece.strip():
                replaced = ("input",)
            case {"type": "compaction_delta"}:
                replaced = tuple(key for key in delta if key != "type")
            case _:
                return
        for key in replaced:
            if begun.get(key) not in (None, {}):
                yield Loss.of(f"{start}.{key}", begun[key], REPLACED, "minor")
        self._blocks[index] = start, {key: item for key, item in begun.items() if key not in replaced}

    def _note(self, said: JsonObject, path: str) -> Iterator[Loss]:
        usage = said.get("usage")
        counts = {f"usage.{key}": item for key, item in usage.items()} if is_object(usage) else {}
        for key, item in {**{key: said[key] for key in said if key not in _NOT_SAID}, **counts}.items():
            if item is None:
                continue
            before = self._said.get(key)
            self._said[key] = f"{path}.{key}", item
            if before is not None:
                yield Loss.of(*before, REPLACED if before[1] != item else REPEATED, "minor")


def _unread(value: JsonObject, known: frozenset[str], path: str) -> Iterator[Loss]:
    for key, item in value.items():
        if key not in known:
            yield Loss.of(f"{path}.{key}", item, UNREAD, "minor")
