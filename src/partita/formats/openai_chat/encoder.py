"""Chunks → `chat.completion.chunk` objects, and the `chat.completion` that they form.

All steps of an agent form one response: the texts of all steps, with an empty line between them,
and the calls that the client has to run. Calls that have an output at the end are not sent.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, Protocol, TypeAlias

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.formats.core.metadata import network_path, server_calls
from partita.formats.losses import NO_PLACE, Loss, Severity
from partita.types.chunks import (
    Chunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads

from .response import REASONS
from .stream import write_usage

TextChunk: TypeAlias = TextStart | TextDelta | TextEnd | ReasoningStart | ReasoningDelta | ReasoningEnd
InputChunk: TypeAlias = ToolInputStart | ToolInputDelta | ToolInputAvailable | ToolInputError

METADATA: Final = frozenset({"finishReason", "rawFinishReason", "usage", "model", "responseId"})
"""Metadata that a response has members for."""

NO_USAGE: Final = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
PARAGRAPH: Final = "\n\n"
OTHER_COUNTS: Final = "the counts of another API"

NOT_SENT: Final = {
    "provider_metadata": "providerMetadata",
    "tool_metadata": "toolMetadata",
    "dynamic": "dynamic",
    "title": "title",
    "input_encoding": "inputEncoding",
}
"""Fields that calls of the API have no members for."""


class ChatEncoder:
    """Encodes the chunks of one response as objects of a stream."""

    def __init__(
        self,
        *,
        id: str | None = None,
        model: str | None = None,
        created: int = 0,
        usage: bool = True,
        zero_usage: bool = False,
        live: Collection[str] | None = None,
        only_live: bool = False,
    ) -> None:
        """With `usage`, the last object has the usage; with `zero_usage`, also if it is unknown.

        Calls of the tools in `live` are sent while they are streamed, all others at the end if they have no
        output; with `only_live`, of those only the ones that a network repeats for its client.
        Without `live`, all are sent while they are streamed.
        """
        self._id = id
        self._model = model
        self._created = created
        self._wants_usage = usage
        self._zero_usage = zero_usage
        self._losses: list[Loss] = []
        self._number = 0
        self._is_started = False
        self._texts: dict[str, str] = {}  # open texts: the member of a delta that they are sent in
        self._has_text = False
        self._needs_space = False
        self._calls = _Calls(self.report_loss, live, only_live=only_live)
        self._metadata: JsonObject = {}
        self._reason: str | None = None
        self._has_failed = False
        self._is_aborted = False

    @property
    def losses(self) -> Sequence[Loss]:
        """The losses so far. A path begins with the number of the chunk."""
        return self._losses

    def report_loss(self, name: str, value: Json, why: str = NO_PLACE, severity: Severity = "lost") -> None:
        """Report a member of the current chunk that is not sent."""
        member = f".{name}" if name else ""
        self._losses.append(Loss.of(f"$[{self._number}]{member}", value, why, severity))

    def feed(self, chunk: Chunk) -> list[Json]:
        """The objects of a chunk."""
        if isinstance(chunk, MessageStart):
            self._name(chunk)
        events = [*self._start(), *self._encode(chunk)]
        self._number += 1
        return events

    def finish(self) -> list[Json]:
        """The objects that close the response: calls that wait, the finish reason, the usage."""
        if self._has_failed:
            return []
        events = self._start()
        if not self._is_aborted:  # otherwise the agent was stopped before it could run its calls
            events += [self._object({"tool_calls": [piece]}) for piece in self._calls.held()]
        events.append(self._object({}, self._finish_reason()))
        usage = self._usage()
        if usage is not None and self._wants_usage:
            events.append({**self._object(None), "usage": usage})
        elif usage is not None:
            why = "the client did not request it"
            self.report_loss("messageMetadata.usage", self._metadata.get("usage"), why, "minor")
        return events

    def _start(self) -> list[Json]:
        if self._is_started:
            return []
        self._is_started = True
        return [self._object({"role": "assistant", "content": ""})]

    def _usage(self) -> JsonObject | None:
        given = self._metadata.get("usage")
        usage = write_usage(given)
        if "usage" in self._metadata and self._wants_usage:
            raw = given.get("raw") if is_object(given) else given
            if raw is not None and raw != usage:
                name = "content.metadata.usage"
                self.report_loss(f"{name}.raw" if is_object(given) else name, raw, OTHER_COUNTS)
        return dict(NO_USAGE) if usage is None and self._zero_usage else usage

    def _object(self, delta: JsonObject | None, reason: str | None = None) -> JsonObject:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {
            "id": self._id or "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model or "unknown",
            "choices": [] if delta is None else [choice],
        }

    def _name(self, chunk: MessageStart) -> None:
        """Use the id and the model of a message, unless others were given."""
        if self._id is None and chunk.message_id is not None:
            self._id = f"chatcmpl-{chunk.message_id}"
        elif chunk.message_id is not None and self._id != f"chatcmpl-{chunk.message_id}":
            self.report_loss("messageId", chunk.message_id, "a response has one id")
        model = chunk.message_metadata.get("model") if is_object(chunk.message_metadata) else None
        if self._model is None and isinstance(model, str):
            self._model = model

    def _encode(self, chunk: Chunk) -> list[Json]:
        match chunk:
            case TextDelta() | TextStart() | TextEnd():
                self._report_metadata(chunk)
                return self._text(chunk)
            case ReasoningDelta() | ReasoningStart() | ReasoningEnd():
                self._report_metadata(chunk)
                delta = chunk.delta if isinstance(chunk, ReasoningDelta) else ""
                return [self._object({"reasoning_content": delta})] if delta else []
            case ToolInputStart() | ToolInputDelta() | ToolInputAvailable() | ToolInputError():
                return [self._object({"tool_calls": [piece]}) for piece in self._calls.encode(chunk)]
            case ToolOutputAvailable() | ToolOutputError() | ToolOutputDenied() | ToolOutputChunk():
                self._calls.set_output(chunk.tool_call_id)
                self.report_loss("", to_json(chunk), "a response ends before the results of its calls")
            case ToolApprovalRequest():
                self._calls.exclude(chunk.tool_call_id)
                self.report_loss("", to_json(chunk), "the call needs an approval: it is not for the client")
            case SourceUrlChunk():
                self.report_loss("sourceId", chunk.source_id, "a citation has no id", "minor")
                page = {"url": chunk.url, "title": chunk.title or "", "start_index": 0, "end_index": 0}
                return [self._object({"annotations": [{"type": "url_citation", "url_citation": page}]})]
            case MessageStart() | MessageMetadata() | MessageFinish():
                self._note(chunk)
            case ErrorChunk():
                self._has_failed = True
                error = {"message": chunk.error_text, "type": "server_error", "param": None, "code": None}
                return [{"error": error}]
            case MessageAbort():
                self._is_aborted = True
                self.report_loss("", "abort", "a response that was stopped has ended", "changed")
                if chunk.reason is not None:
                    self.report_loss("reason", chunk.reason)
            case StepStart() | StepFinish():
                pass
            case _:
                self.report_loss("", to_json(chunk))
        return []

    def _report_metadata(self, chunk: TextChunk) -> None:
        metadata = chunk.provider_metadata
        if metadata is not None and not _is_refusal(metadata):
            self.report_loss("providerMetadata", metadata)
        if isinstance(chunk, TextEnd) and chunk.citations is not None:
            self.report_loss("citations", to_json(chunk.citations))

    def _text(self, chunk: TextStart | TextDelta | TextEnd) -> list[Json]:
        match chunk:
            case TextStart():
                self._texts[chunk.id] = "refusal" if _is_refusal(chunk.provider_metadata) else "content"
                self._needs_space = self._has_text
            case TextDelta() if chunk.delta:
                delta = chunk.delta
                if self._needs_space:
                    self._needs_space = False
                    self.report_loss("delta", PARAGRAPH, "a text begins after another one", "repaired")
                    delta = PARAGRAPH + delta
                self._has_text = True
                return [self._object({self._texts.get(chunk.id, "content"): delta})]
            case TextEnd():
                self._texts.pop(chunk.id, None)
            case _:
                pass
        return []

    def _note(self, chunk: MessageStart | MessageMetadata | MessageFinish) -> None:
        metadata = chunk.message_metadata
        if is_object(metadata):
            self._metadata |= metadata
            self._calls.hide(server_calls(metadata))
            if rest := {name: value for name, value in metadata.items() if name not in METADATA}:
                self.report_loss("messageMetadata", rest)
        elif metadata is not UNSET and metadata is not None:
            self.report_loss("messageMetadata", metadata)
        if isinstance(chunk, MessageFinish):
            self._reason = chunk.finish_reason

    def _finish_reason(self) -> str:
        if self._calls.has_pending:
            return "tool_calls"
        reason = self._reason
        if reason is None or reason == "tool-calls":
            return "stop"
        if reason not in REASONS:
            self.report_loss("finishReason", reason, "the API has no such finish reason", "changed")
        return REASONS.get(reason, "stop")


def _is_refusal(metadata: JsonObject | None) -> bool:
    """Whether metadata only marks a text as a refusal."""
    values = list((metadata or {}).values())
    return len(values) == 1 and is_object(values[0]) and values[0] == {"refusal": True}


class _ReportLoss(Protocol):
    def __call__(self, name: str, value: Json, why: str = ..., severity: Severity = ...) -> None:
        """Report a member of the current chunk that is not sent."""
        ...


class _Call:
    """A call: its tool, its arguments so far, and its number among the calls that are sent."""

    def __init__(self, name: str, index: int | None) -> None:
        self.name = name
        self.index = index
        self.pieces: list[str] = []
        self.is_answered = False
        self.is_copy = False


class _Calls:
    """The calls of one response. Those of `live` tools are sent as they are streamed, others at the end."""

    def __init__(
        self, report_loss: _ReportLoss, live: Collection[str] | None, *, only_live: bool = False
    ) -> None:
        self._report_loss = report_loss
        self._live = live
        self._only_live = only_live
        self._calls: dict[str, _Call] = {}
        self._sent = 0
        self._served: set[str] = set()
        self._hidden: set[str] = set()

    @property
    def has_pending(self) -> bool:
        """Whether a call that was sent has no output."""
        return any(call.index is not None and not call.is_answered for call in self._calls.values())

    def set_output(self, id: str) -> None:
        """Note that a call has its output."""
        if id in self._calls:
            self._calls[id].is_answered = True

    def exclude(self, id: str) -> None:
        """Note that a call needs an approval, so that it is not sent."""
        if id in self._calls and self._calls[id].index is None:
            self._calls[id].is_answered = True

    def hide(self, ids: Iterable[str]) -> None:
        """Note that the agent runs these calls, so that they are not sent."""
        self._hidden.update(ids)

    def encode(self, chunk: InputChunk) -> Iterator[JsonObject]:
        """Return the deltas of calls in a chunk."""
        id_ = chunk.tool_call_id
        if isinstance(chunk, ToolInputDelta):
            call = self._calls.get(id_)
            if call is not None:
                yield from self._append(call, chunk.input_text_delta)
            elif id_ not in self._served:
                self._report_loss(
                    "inputTextDelta", chunk.input_text_delta, "the input of its call is not open"
                )
            return
        for field, name in NOT_SENT.items():
            value = getattr(chunk, field, None)
            if value is not None:
                self._report_loss(name, value)
        if chunk.provider_executed:
            self._served.add(id_)
            self._report_loss("", id_, "the provider runs it itself")
            return
        call = self._calls.get(id_)
        if call is None:
            call, pieces = self._start(id_, chunk.tool_name, network_path(chunk.provider_metadata))
            yield from pieces
        if not isinstance(chunk, ToolInputStart):
            yield from self._complete(call, chunk.input)
        if isinstance(chunk, ToolInputError):
            call.is_answered = True
            self._report_loss("errorText", chunk.error_text)

    def held(self) -> Iterator[JsonObject]:
        """Return the calls of the client that were not sent and have no output."""
        for id_, call in self._calls.items():
            is_hidden = id_ in self._hidden or (self._only_live and not call.is_copy)
            if call.index is None and not call.is_answered and not is_hidden:
                call.index = self._sent
                self._sent += 1
                yield _piece(call.index, id_, call.name, "".join(call.pieces))

    def _start(self, id_: str, name: str, path: Sequence[str]) -> tuple[_Call, list[JsonObject]]:
        self.hide(path)
        if path or (self._live is not None and name not in self._live):
            call = self._calls[id_] = _Call(name, None)
            call.is_copy = bool(path)
            return call, []
        call = self._calls[id_] = _Call(name, self._sent)
        self._sent += 1
        return call, [_piece(self._sent - 1, id_, name, "")]

    def _append(self, call: _Call, delta: str) -> list[JsonObject]:
        if not delta:
            return []
        call.pieces.append(delta)
        return [] if call.index is None else [{"index": call.index, "function": {"arguments": delta}}]

    def _complete(self, call: _Call, value: Json | UnsetType) -> list[JsonObject]:
        """Return the input of a call, unless it was sent as deltas."""
        text = "".join(call.pieces)
        if value is UNSET:
            return []
        if not text:
            return self._append(call, value if isinstance(value, str) else dumps(value).decode())
        if not _is_text_of(text, value):
            self._report_loss("input", value, "its pieces have another value")
        return []


def _piece(index: int, id_: str, name: str, arguments: str) -> JsonObject:
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": id_, "type": "function", "function": function}


def _is_text_of(text: str, value: Json) -> bool:
    if text == value:
        return True
    try:
        return bool(loads(text) == value)
    except DecodeError:
        return False


def completion_of(events: Iterable[Json]) -> JsonObject:
    """Return the response that the objects of a stream form, for a client that does not stream.

    A stream that failed is `{"error": …}`.
    """
    body: JsonObject = {}
    texts: dict[str, list[str]] = {}
    calls: dict[int, JsonObject] = {}
    arguments: dict[int, list[str]] = {}
    annotations: list[Json] = []
    reason = None
    for event in events:
        if "error" in event:
            return {"error": event["error"]}
        body = body or {name: event[name] for name in ("id", "created", "model")}
        if is_object(event.get("usage")):
            body["usage"] = event["usage"]
        for choice in event["choices"]:
            reason = choice["finish_reason"] or reason
            delta: JsonObject = choice["delta"]
            for name in ("content", "refusal", "reasoning_content"):
                if isinstance(piece := delta.get(name), str):
                    texts.setdefault(name, []).append(piece)
            for piece in delta.get("tool_calls", ()):
                calls.setdefault(
                    piece["index"],
                    {name: piece[name] for name in ("id", "type", "function") if name in piece},
                )
                arguments.setdefault(piece["index"], []).append(piece["function"]["arguments"])
            found = delta.get("annotations")
            annotations += found if is_array(found) else []
    message: JsonObject = {"role": "assistant", "content": "".join(texts.get("content", ())) or None}
    message["refusal"] = "".join(texts.get("refusal", ())) or None
    if reasoning := "".join(texts.get("reasoning_content", ())):
        message["reasoning_content"] = reasoning
    if annotations:
        message["annotations"] = annotations
    if calls:
        message["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": "".join(arguments[index])}}
            for index, call in sorted(calls.items())
        ]
    elif message["content"] is None and message["refusal"] is None:
        message["content"] = ""
    choice = {"index": 0, "message": message, "finish_reason": reason or "stop", "logprobs": None}
    return {**body, "object": "chat.completion", "choices": [choice]}
