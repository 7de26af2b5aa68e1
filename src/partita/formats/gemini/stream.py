"""The stream of a response → chunks. One response is one step of a message.

Each event is a response with the next parts. There is no event for the end, so the response is complete only
when the stream ends. Text and reasoning become deltas; all other parts are read like those of a request. Of
several candidates the first is the message; the others, and what is unknown, become data. Nothing makes the
decoder fail.

Source: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Final, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.formats.core.decoder import INTERRUPTED, Call, ResponseDecoder
from partita.formats.core.members import count_in, list_in, nonempty_text, object_in, text_in
from partita.formats.core.metadata import notes
from partita.formats.core.sources import source_chunk
from partita.formats.core.tool_text import as_text
from partita.types.chunks import (
    Chunk,
    DataChunk,
    FileChunk,
    ReasoningDelta,
    ReasoningFileChunk,
    TextDelta,
    ToolOutputAvailable,
)
from partita.types.json import Json, JsonObject, is_array, is_object, join_surrogates
from partita.types.messages import ToolCallPart
from partita.types.parts import FilePart, ReasoningFilePart
from partita.types.usage import Usage
from partita.types.value import Extra

from . import wire
from .arguments import ArgumentWriter
from .parts import (
    CALL_ID,
    FIELDS,
    MODEL,
    THOUGHT,
    CallIds,
    ServerCalls,
    add_server_result,
    own_notes,
    read_server_result,
)
from .sources import Sources
from .wire import NAME, SIGNATURE, parse_part

CANDIDATE: Final = "google-candidate"
"""The name of a data part that has another candidate."""

NO_TEXT: Final = "an error without a text"

RESPONSE: Final = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId", "error"})
"""Members of a response that have a place of their own. Others are kept in the metadata."""

KNOWN: Final = RESPONSE | {"promptFeedback"}
"""A response has at least one of these members."""

GROWING: Final = frozenset({"citationMetadata", "urlContextMetadata", "logprobsResult"})
"""Members of a candidate whose lists continue from event to event."""

INPUT: Final = ("args", "partialArgs", "willContinue")

STOP: Final = "STOP"

# https://ai.google.dev/api/generate-content#FinishReason, and `FinishReason` of the `google-genai` package
REASONS: Final[Mapping[str, str]] = {
    STOP: "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), "content-filter"),
    **dict.fromkeys(("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"), "content-filter"),
    **dict.fromkeys(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"), "error"),
}
"""Finish reasons by Google's; any other is `other`."""

NOT_BLOCKED: Final = frozenset({"BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"})
FEEDBACK: Final = "promptFeedback:"
"""The start of the raw finish reason of a blocked prompt: finish reasons have some of the same names."""


class Ending:
    """Why a response ended, as far as it is known. The last reason wins."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.block: str | None = None
        self.has_failed = False

    def read(self, response: JsonObject, candidate: Json) -> None:
        """Read the reasons of a response and its first candidate."""
        self.reason = text_in(candidate, "finishReason") or self.reason
        block = text_in(object_in(response, "promptFeedback"), "blockReason")
        self.block = self.block if not block or block in NOT_BLOCKED else block
        self.has_failed = self.has_failed or response.get("error") is not None

    @property
    def is_complete(self) -> bool:
        """Whether there was a reason."""
        return self.reason is not None or self.block is not None

    @property
    def raw(self) -> str | None:
        """Google's reason."""
        return self.reason if self.block is None else f"{FEEDBACK}{self.block}"

    def unified(self, *, has_calls: bool) -> str:
        """The finish reason. `STOP` does not show whether there are calls to run."""
        if self.has_failed:
            return "error"
        if self.block is not None:
            return "content-filter"
        if self.reason is None:
            return INTERRUPTED
        return "tool-calls" if self.reason == STOP and has_calls else REASONS.get(self.reason, "other")


class _StreamedCall(NamedTuple):
    """A call whose arguments are being streamed."""

    call: Call
    noted: JsonObject
    arguments: ArgumentWriter


class _Text:
    """A text or a reasoning that is being streamed."""

    def __init__(self, id_: str, kind: Literal["text", "reasoning"]) -> None:
        self.id, self.kind = id_, kind
        self.noted: JsonObject = {}
        self.pieces: list[str] = []


class GeminiDecoder(ResponseDecoder):
    """Responses in, chunks out. One decoder reads one response."""

    def __init__(self, id_prefix: str = "gemini") -> None:
        """`id_prefix` starts the ids of calls that have none, in a response that has none either."""
        super().__init__(NAME, REASONS, read_usage)
        self._ids = CallIds(id_prefix)
        self._sources = Sources()
        self._server_calls = ServerCalls()
        self._results: dict[str, list[JsonObject]] = {}
        self._ending = Ending()
        self._is_body = False
        self._text: _Text | None = None
        self._texts = 0
        self._has_calls = False
        self._streamed: _StreamedCall | None = None

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks of one event; an array has several."""
        feed = super().feed
        return [chunk for response in (event if is_array(event) else [event]) for chunk in feed(response)]

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of a whole body, or of the error instead of one."""
        self._is_body = is_object(body)
        return [*self.feed(body), *self.finish()]

    # The response

    def _read(self, event: JsonObject) -> bool:
        if not event.keys() & KNOWN:
            return False
        self._emitter.start()
        self._id = nonempty_text(event.get("responseId")) or self._id
        self._ids.prefix = self._id or self._ids.prefix
        self._model = nonempty_text(event.get("modelVersion")) or self._model
        self._usage = object_in(event, "usageMetadata") or self._usage
        self._add_metadata(event, RESPONSE)
        self._ending.read(event, None)
        for index, candidate in enumerate(list_in(event, "candidates")):
            if is_object(candidate) and is_first(candidate, index):
                self._candidate(event, candidate)
            else:
                self._emitter.emit(DataChunk(f"data-{CANDIDATE}", candidate))
        if event.get("error") is not None:
            self._metadata["error"] = event["error"]
            self._emitter.error(error_text(event["error"]))
        return True

    def _end(self, *, is_body: bool = False) -> None:
        if not self._emitter.is_finished:
            self._stop = self._ending.raw
            reason = self._ending.unified(has_calls=self._has_calls)
            self._finish(reason, is_complete=self._ending.is_complete)

    def _close_all(self, reason: str) -> None:
        if self._ending.reason == STOP:
            self._end_arguments()
        self._close_text(is_last=True)

    def _candidate(self, response: JsonObject, candidate: JsonObject) -> None:
        self._add_metadata(candidate, frozenset({"content", "finishReason", "index"}))
        for source in self._sources.add(candidate):
            self._emitter.emit(source_chunk(source))
        content = object_in(candidate, "content")
        for part in list_in(content, "parts"):
            if not self._part(part):
                self._close_text()
                self._emit_unknown(part)
        unknown = {key: item for key, item in content.items() if key not in ("role", "parts")}
        if unknown:
            self._emit_unknown(unknown)
        self._ending.read(response, candidate)

    def _add_metadata(self, members: JsonObject, known: frozenset[str]) -> None:
        """Keep metadata of the response. A later value replaces an earlier one, unless it is empty."""
        for key, value in members.items():
            if key in known or value is None or value in ({}, []):
                continue
            before = self._metadata.get(key)
            if is_object(value) and is_object(before) and (key in GROWING or key == "groundingMetadata"):
                self._metadata[key] = _merged(before, value, lists_grow=key in GROWING)
            else:
                self._metadata[key] = value

    # Parts

    def _part(self, raw: Json) -> bool:
        """Read a part; whether it is known. One that is nested too deeply is not."""
        try:
            return self._known_part(raw)
        except DecodeError:
            return False

    def _known_part(self, raw: Json) -> bool:
        if is_object(raw) and is_object(raw.get("functionCall")) and not raw.get("text"):
            self._close_text()
            return self._call(raw, raw["functionCall"])
        block = parse_part(raw)
        if isinstance(block, wire.Text):
            self._piece(block)
            return True
        if isinstance(block, wire.CodeResult | wire.ToolResponse):
            self._close_text()
            return self._server_result(block)
        part = None if block is None else MODEL.read(block, self._ids)
        if isinstance(part, FilePart | ReasoningFilePart):
            self._close_text()
            chunk = FileChunk if isinstance(part, FilePart) else ReasoningFileChunk
            own = _live(part.provider_metadata)
            self._emitter.emit(chunk(part.url, part.media_type, {NAME: own} if own else None))
        elif isinstance(part, ToolCallPart):
            self._close_text()
            self._server_calls.add(part, part.id)
            call = Call(part.id, part.name, [], provider_executed=True, dynamic=part.dynamic or None)
            self._emitter.end_call(call, part.input, _live(part.call_provider_metadata))
        else:
            return raw == {}
        return True

    def _piece(self, block: wire.Text) -> None:
        """The next piece of a text. One without text and notes is skipped."""
        text, noted = block.text or "", own_notes(block)
        if not text and not noted.keys() - {THOUGHT}:
            return
        kind: Literal["text", "reasoning"] = "reasoning" if block.thought is True else "text"
        # A signed part is not joined with what follows. The last part of many streams is an empty text with
        # a signature, which signs the text before it.
        # https://ai.google.dev/gemini-api/docs/thought-signatures
        open_ = self._text
        is_apart = self._is_body and bool(text)
        if open_ is None or kind != open_.kind or SIGNATURE in open_.noted or is_apart:
            self._close_text()
            open_ = self._text = _Text(str(self._texts), kind)
            self._texts += 1
            start = self._emitter.start_text if kind == "text" else self._emitter.start_reasoning
            start(open_.id, dict(noted))
        open_.noted |= noted
        open_.pieces.append(text)
        metadata = {NAME: dict(open_.noted)} if noted.keys() - {THOUGHT} else None
        self._emitter.emit((TextDelta if kind == "text" else ReasoningDelta)(open_.id, text, metadata))

    def _close_text(self, *, is_last: bool = False) -> None:
        text, self._text = self._text, None
        if text is None:
            return
        whole = join_surrogates("".join(text.pieces))
        found = self._sources.citations(whole, is_last=is_last) if text.kind == "text" else ()
        self._emitter.end(text.id, citations=found or None)

    def _server_result(self, block: wire.CodeResult | wire.ToolResponse) -> bool:
        result = read_server_result(block)
        call_id = self._server_calls.find(result)
        if call_id is None:
            return False
        result.own.pop(FIELDS, None)
        own = add_server_result(self._results.setdefault(call_id, []), result, call_id)
        self._emitter.emit(ToolOutputAvailable(call_id, result.output, True, {NAME: own}))
        return True

    # Calls

    def _call(self, raw: JsonObject, call: JsonObject) -> bool:
        """A call, or a piece of its arguments; whether it is known."""
        name = text_in(call, "name")
        bare = {key: item for key, item in call.items() if key not in INPUT}
        block = parse_part({**raw, "functionCall": {**bare, "name": name}})
        if not isinstance(block, wire.Call):
            return False
        noted = own_notes(block, "functionCall", block.function_call.extra)
        if name:
            self._end_arguments()
            self._start_call(call, name, noted)
        elif self._streamed is None:
            return not call
        if self._streamed is None:
            return True
        streamed = self._streamed
        streamed.noted.update(noted)
        texts = [streamed.arguments.write(piece) for piece in list_in(call, "partialArgs")]
        written = "".join(text for text in texts if text is not None)
        if written:
            self._emitter.append_input(streamed.call.id, written)
        if call.get("args") is not None:
            self._end_arguments(call["args"])
        elif call.get("willContinue") is not True and not streamed.arguments.is_inside_text:
            self._end_arguments()  # the empty part that should end a call can be missing: seen in recordings
        return None not in texts

    def _start_call(self, call: JsonObject, name: str, noted: JsonObject) -> None:
        self._has_calls = True
        google_id, given = text_in(call, "id"), call.get("args")
        noted = {**noted, CALL_ID: google_id} if google_id else dict(noted)
        started = Call(self._ids.next(google_id), name, [])
        self._emitter.start_call(started, dict(noted))
        if given is None and (call.get("willContinue") is True or call.get("partialArgs") is not None):
            self._streamed = _StreamedCall(started, noted, ArgumentWriter())
            return
        if given is not None:
            with suppress(DecodeError):  # nested too deeply to be written
                self._emitter.append_input(started.id, as_text(given))
        self._emitter.end_call(
            started, UNSET if isinstance(given, str) else {} if given is None else given, noted
        )

    def _end_arguments(self, given: Json | UnsetType = UNSET) -> None:
        """The arguments that are being streamed are complete: `given`, or what was streamed."""
        streamed, self._streamed = self._streamed, None
        if streamed is None:
            return
        if given is UNSET:
            text, given = streamed.arguments.close()
            self._emitter.append_input(streamed.call.id, text)
        self._emitter.end_call(streamed.call, given, streamed.noted)


def is_first(candidate: JsonObject, position: int) -> bool:
    """Whether a candidate is the message."""
    index = count_in(candidate, "index")
    return (position if index is None else index) == 0


def error_text(error: Json) -> str:
    """The text of an error, whatever its shape."""
    text = error if isinstance(error, str) else text_in(error, "message") or text_in(error, "status")
    try:
        return text or as_text(error) or NO_TEXT
    except DecodeError:
        return NO_TEXT


def _live(metadata: JsonObject | None) -> JsonObject:
    """The notes about a part, without how it was written."""
    return {key: item for key, item in notes(metadata, NAME).items() if key != FIELDS}


def _merged(known: JsonObject, more: JsonObject, *, lists_grow: bool) -> JsonObject:
    merged = {**known, **more}
    for key, value in more.items():
        before = known.get(key)
        if lists_grow and is_array(value) and is_array(before):
            merged[key] = [*before, *value]
    return merged


# Usage


def read_usage(metadata: JsonObject) -> Usage:
    """Token counts. Google counts tokens of tool results and of thoughts apart; here they are included.

    https://ai.google.dev/api/generate-content#UsageMetadata
    """
    tools, thoughts = count_in(metadata, "toolUsePromptTokenCount"), count_in(metadata, "thoughtsTokenCount")
    return Usage(
        input_tokens=_sum(count_in(metadata, "promptTokenCount"), tools),
        output_tokens=_sum(count_in(metadata, "candidatesTokenCount"), thoughts),
        total_tokens=count_in(metadata, "totalTokenCount"),
        reasoning_tokens=thoughts,
        cached_input_tokens=count_in(metadata, "cachedContentTokenCount"),
        raw=metadata,
        extra=None if tools is None else Extra({"toolUsePromptTokens": tools}),
    )


def write_usage(usage: Usage) -> JsonObject | None:
    """The counts of Google: `raw` if it is from there and was not changed since."""
    raw: Json = usage.raw
    if is_object(raw) and read_usage(raw) == usage:
        return raw
    output, thoughts = usage.output_tokens, usage.reasoning_tokens
    counts = {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": output if output is None or thoughts is None else max(output - thoughts, 0),
        "thoughtsTokenCount": thoughts,
        "cachedContentTokenCount": usage.cached_input_tokens,
        "totalTokenCount": usage.total_tokens,
    }
    return {key: count for key, count in counts.items() if count is not None} or None


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
